// Defines the capabilities of a testbed for selectors: NIC, CPU and labels.
import { z } from 'zod';
import { expected } from '../model/units.ts';
import { closed, text, wholeNumber } from './fields.ts';
import { keywords, selectorWord } from './testbed-selector.ts';

export type Capabilities = {
  nic?: { vendor?: string; model?: string; gigabits?: number; driver?: string };
  cpu?: { model?: string; cores?: number };
  labels: string[];
};

/** Absent: unknown. */
export type WithCapabilities = { capabilities?: Capabilities };

const words = (what: string) => text(/^(?=.*[a-zA-Z0-9])\P{C}{1,63}$/u, what);

export const speed = text(
  /^(?:1|2\.5|5|10|25|40|50|100|200|400) ?Gbit\/s$/,
  'a speed of Ethernet like 10 Gbit/s',
).transform(Number.parseFloat);

const nic = closed({
  vendor: words('a vendor like Chelsio').exactOptional(),
  model: words('a model like T540-CR, a number in quotes').exactOptional(),
  speed: speed.exactOptional(),
  driver: words('a driver like cxgbe').exactOptional(),
}).transform(({ speed, ...rest }) => ({
  ...rest,
  ...(speed !== undefined && { gigabits: speed }),
}));

const cpu = closed({
  model: words('a model like Xeon E5-2650').exactOptional(),
  cores: wholeNumber(1, 4096).exactOptional(),
});

const label = text(selectorWord, 'a word like quiet').refine((word) => !keywords.includes(word.toLowerCase()), {
  error: expected(`a word other than ${keywords.join(', ')}`),
});

const labels = z
  .array(label, { error: expected('a list like [quiet, release]') })
  .refine((list) => new Set(list).size === list.length, 'a label is in this list twice');

export const capabilityKeys = {
  nic: nic.optional().describe("The DUT's network card, for selectors like `mellanox and 25G`."),
  cpu: cpu.optional().describe("The DUT's processor, for selectors like `cores>=8`."),
  labels: labels.optional().describe('Your own labels, for selectors like `not release`.'),
};

type WrittenCapabilities = {
  nic?: NonNullable<Capabilities['nic']> | undefined;
  cpu?: NonNullable<Capabilities['cpu']> | undefined;
  labels?: string[] | undefined;
};

export function withCapabilities<Testbed extends WrittenCapabilities>({
  nic,
  cpu,
  labels,
  ...rest
}: Testbed): Omit<Testbed, keyof WrittenCapabilities> & WithCapabilities {
  if (nic === undefined && cpu === undefined && labels === undefined) return rest;
  const capabilities: Capabilities = {
    ...(nic !== undefined && { nic }),
    ...(cpu !== undefined && { cpu }),
    labels: labels ?? [],
  };
  return { ...rest, capabilities };
}
