// Which testbeds are the same by what is configured: those over which the cells of one gate may be split.
import type { Generator } from '../config/freebsd-testbed.ts';
import type { Config, TestbedConfig } from '../config/schema.ts';
import { driversOf } from '../words/freebsd-port.ts';
import { UsageError } from '../words/usage-error.ts';
import { fitFor, testbedsFor } from './wishes.ts';

type Chosen = {
  /** Names, in the configuration's order. */
  testbeds: string[];
  /** Sentences on those that would do, and are not the same as the first. */
  leftOut: string[];
};

/**
 * What a gate may be measured on: any of these, or where cells are split all of them together. Throws a `UsageError` where
 * there is none.
 */
export const chosenFor = (config: Config, wish?: string): Chosen =>
  config.split === true
    ? sameAmong(config, wish)
    : { testbeds: testbedsFor(config, wish), leftOut: [] };

/**
 * The testbeds of a wish that are the same as the first of them; an empty wish is for all of the configuration, and the
 * name of one for that one alone. Throws a `UsageError` where else there are no two.
 */
function sameAmong(config: Config, wish = ''): Chosen {
  const names = wish.trim() === '' ? fitFor(config) : testbedsFor(config, wish);
  const [first = '', ...others] = names;
  if (first === wish.trim()) return { testbeds: [first], leftOut: [] };
  const differing = others.flatMap((name) => {
    const what = differenceOf(config.testbeds[first], config.testbeds[name]);
    return what === undefined ? [] : [{ name, why: notTheSame(name, what, first) }];
  });
  const out = new Set(differing.map(({ name }) => name));
  const testbeds = names.filter((name) => !out.has(name));
  const leftOut = differing.map(({ why }) => why);
  if (testbeds.length > 1) return { testbeds, leftOut };
  const why = leftOut.length === 0 ? 'No other testbed would do.' : leftOut.join(' ');
  throw new UsageError(
    `Cells cannot be split where only ${first} is to measure: ask without \`split\`, or for a wish that two testbeds fulfil. ${why}`,
  );
}

/** The testbeds over which cells could be split that are measured on the one of this name, itself among them. */
export const sameAs = ({ testbeds }: Config, name: string): string[] =>
  Object.keys(testbeds).filter(
    (other) => differenceOf(testbeds[name], testbeds[other]) === undefined,
  );

export const notTheSame = (name: string, what: string, first: string): string =>
  `${name} takes no part: not the same as ${first}, by ${what}.`;

/** What is not the same of two testbeds, in a few words; undefined where all is that numbers depend on. */
function differenceOf(
  one: TestbedConfig | undefined,
  other: TestbedConfig | undefined,
): string | undefined {
  if (one === undefined || other === undefined) return 'configuration';
  const facts = factsOf(other);
  return factsOf(one).find(([, value], index) => facts[index]?.[1] !== value)?.[0];
}

/** Facts as texts to compare. Addresses, power and console may be others: they change no number. */
function factsOf(testbed: TestbedConfig): [what: string, value: string][] {
  const { capabilities } = testbed;
  const shared: [string, string][] = [
    ['kind', testbed.kind],
    ['card', JSON.stringify(capabilities?.nic)],
    ['processor', JSON.stringify(capabilities?.cpu)],
  ];
  if (testbed.kind !== 'freebsd') return shared;
  const { dut, senders, receiver, builder, waive = {} } = testbed;
  const ports = [dut.ingress, dut.egress].map(({ interface: name, ...rest }) => [
    driversOf(name),
    rest,
  ]);
  const generators = [...senders, receiver].map((generator: Generator) => [
    driversOf(generator.interface),
    generator.threads,
  ]);
  return [
    ...shared,
    ['ports', JSON.stringify(ports)],
    ['generators', JSON.stringify(generators)],
    ['boot method', dut.boot.method],
    ['kernel', JSON.stringify([builder?.recipe, builder?.relink])],
    ['list of waived settings', JSON.stringify(Object.keys(waive).toSorted())],
  ];
}
