// Which testbeds the cells of one gate are split over: those that are the same as the first, by what is configured.
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { chosenFor } from '../../src/inventory/same.ts';
import { UsageError } from '../../src/words/usage-error.ts';

type Rack = { port?: string; speed?: string; threads?: number; rest?: string };

const rack = (
  number: number,
  { port = 'cxl', speed = '10 Gbit/s', threads = 2, rest = '' }: Rack,
) => `
  rack-${number}:
    kind: freebsd
    dut: { host: dut-${number}, ingress: { interface: ${port}0, speed: ${speed} }, egress: { interface: ${port}1 } }
    senders: [{ host: tx-${number}, interface: cxl0, threads: ${threads}, mac: "00:07:43:00:0${number}:01", inet4: 198.18.0.110 }]
    receiver: { host: rx-${number}, interface: cxl1, mac: "00:07:43:00:0${number}:02", inet4: 198.19.0.110 }
    builder: { host: builder }
    labels: [rack]
    ${rest}`;

const lab = (racks: readonly Rack[], more = 'split: true') =>
  parseConfig(
    `testbeds:${racks.map((one, index) => rack(index + 1, one)).join('')}
traffic: { measure: 60 s, runsPerBlast: 1 }
${more}
`,
    { path: 'ppsgate.yml', home: '/home/me' },
  );

test.each(['', 'rack', 'rack-1 or rack-2', 'freebsd and 10G'])(
  'all that differ by their addresses alone are the same: "%s"',
  (wish) => {
    expect(chosenFor(lab([{}, {}]), wish)).toEqual({ testbeds: ['rack-1', 'rack-2'], leftOut: [] });
  },
);

test.each<[string, Rack]>([
  ['ports', { port: 'mce' }],
  ['ports', { speed: '40 Gbit/s' }],
  ['generators', { threads: 4 }],
  ['card', { rest: 'nic: { model: T580-LP-CR }' }],
  ['processor', { rest: 'cpu: { cores: 4 }' }],
])('one whose %s differ is left out, and that is told: %j', (what, other) => {
  expect(chosenFor(lab([{}, other, {}]), 'rack')).toEqual({
    testbeds: ['rack-1', 'rack-3'],
    leftOut: [`rack-2 takes no part: not the same as rack-1, by ${what}.`],
  });
});

test('a testbed that is named measures alone', () => {
  expect(chosenFor(lab([{}, {}]), 'rack-2').testbeds).toEqual(['rack-2']);
});

test('a wish that no two testbeds of a kind fulfil is refused', () => {
  expect(() => chosenFor(lab([{}, { port: 'mce' }]), 'rack')).toThrow(UsageError);
  expect(() => chosenFor(lab([{}, { port: 'mce' }]), 'rack')).toThrow(
    'Cells cannot be split where only rack-1 is to measure: ask without `split`, or for a wish that two testbeds fulfil. rack-2 takes no part: not the same as rack-1, by ports.',
  );
  expect(() => chosenFor(lab([{}, { port: 'mce' }]), 'mellanox or mce')).toThrow(
    'only rack-2 is to measure',
  );
});

test('a configuration with one testbed cannot ask for it', () => {
  expect(() => lab([{}])).toThrow(
    'expected several testbeds over which cells are split, found one',
  );
});

test('without it any testbed of the wish will do, whatever it is', () => {
  const mixed = lab([{}, { port: 'mce' }], '');
  expect(chosenFor(mixed, 'rack')).toEqual({ testbeds: ['rack-1', 'rack-2'], leftOut: [] });
  expect(chosenFor(mixed)).toEqual({ testbeds: ['rack-1'], leftOut: [] });
});
