// Selects the testbeds of a selector and the machines of each; reports when there is none.
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { namingStyles } from '../../src/config/parameters.ts';
import type { Config } from '../../src/config/schema.ts';
import { parseSelector, selectorCalled, selectorsOf, testbedsFor } from '../../src/config/select-testbeds.ts';
import { machinesOf } from '../../src/lab/machines.ts';
import { UsageError } from '../../src/model/usage-error.ts';

const freebsd = (mac: string, port: string, speed: string, rest: string) => `
    kind: freebsd
    dut: { host: DUT-${mac}.lab, ingress: { interface: ${port}0, speed: ${speed} }, egress: { interface: ${port}1 } }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:00:${mac}:01", inet4: 198.18.0.110 }]
    receiver: { host: TX, interface: cxl1, mac: "00:07:43:00:${mac}:02", inet4: 198.19.0.110 }
    builder: { host: builder }
    ${rest}`;

const inventory = `
testbeds:
  hp-t540: ${freebsd('01', 'cxl', '10 Gbit/s', 'labels: [release, quiet]')}
    nic: { vendor: Chelsio, model: T540-CR }
    cpu: { model: "Intel(R) Xeon(R) CPU E5-2650 @ 2.00GHz", cores: 8 }
  xeon-40g: ${freebsd('02', 'mce', '40 Gbit/s', 'nic: { vendor: Mellanox Technologies }')}
  rcc-ve: ${freebsd('03', 'igb', '1 Gbit/s', 'cpu: { cores: 4 }')}
  rack-4:
    kind: linux
    sender: { host: "2001:DB8:0::10", interface: tx0, cpu: 0 }
    dut: { host: "fe80::11%Eth0", port: 2222, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: 192.0.2.12, interface: rx0 }
    nic: { speed: 25 Gbit/s, driver: mlx5 }
`;

const read = (text: string): Config => parseConfig(text, { path: 'ppsgate.yml', home: '/home/me' });

const lab = read(`${inventory}
traffic: { measure: 60 s, runsPerTrial: 1 }`);

test.each([
  ['chelsio', ['hp-t540']],
  ['Mellanox and 40G', ['xeon-40g']],
  ['technologies', ['xeon-40g']],
  ['t540-cr', ['hp-t540']],
  ['xeon and e5-2650', ['hp-t540']],
  ['freebsd', ['hp-t540', 'xeon-40g', 'rcc-ve']],
  ['linux', ['rack-4']],
  ['freebsd and not release', ['xeon-40g', 'rcc-ve']],
  ['25G or 10G', ['hp-t540', 'rack-4']],
  ['RCC-VE or hp-t540', ['hp-t540', 'rcc-ve']],
  ['cores>=4', ['hp-t540', 'rcc-ve']],
  ['cores>=8', ['hp-t540']],
  ['mlx5', ['rack-4']],
  ['cxgbe', ['hp-t540']],
  ['cxl', ['hp-t540']],
  ['mlx5en', ['xeon-40g']],
  ['igb', ['rcc-ve']],
  ['1G', ['rcc-ve']],
])('%s is for %j', (selector, names) => {
  expect(testbedsFor(lab, selector)).toEqual(names);
});

test('without a selector it is the first testbed', () => {
  expect(testbedsFor(lab)).toEqual(['hp-t540']);
  expect(testbedsFor(lab, ' ')).toEqual(['hp-t540']);
});

const embedded = (...names: string[]) =>
  read(`testbeds: { ${names.map((name) => `${name}: { kind: embedded-linux }`).join(', ')} }`);

test('the name of a testbed selects it alone, even if the word is also a property', () => {
  const config = embedded('other', 'linux', 'A', 'a', 'not');
  for (const name of ['linux', 'A', 'a', 'not']) expect(testbedsFor(config, name)).toEqual([name]);
  expect(testbedsFor(config, 'LINUX')).toEqual(['other', 'linux', 'A', 'a', 'not']);
});

function refusalOf(config: Config, selector?: string): string {
  try {
    return `for ${testbedsFor(config, selector).join(', ')}`;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

const two = read(`
testbeds:
  here: { kind: embedded-linux, nic: { vendor: Chelsio, speed: 40 Gbit/s } }
  there: { kind: embedded-linux, nic: { vendor: chelsio } }`);
const known = 'known here are here, embedded-linux, linux, chelsio, 40G, there';

test.each([
  ['chelsoi', `No testbed of the configuration is "chelsoi": ${known}; did you mean \`chelsio\`?`],
  ['there and 40G', `No testbed of the configuration is "there and 40G": ${known}.`],
  ['not linux', `No testbed of the configuration is "not linux": ${known}.`],
])('where nothing is %s, the words that are known are told', (selector, sentence) => {
  expect(refusalOf(two, selector)).toBe(sentence);
});

test('a testbed that cannot do what is configured is passed over', () => {
  const config = { ...lab, scenarios: ['pf-stateful'] };
  expect(testbedsFor(config, '25G or 10G')).toEqual(['hp-t540']);
});

test('if no testbed fits, the first one gives the reason', () => {
  const config = { ...lab, scenarios: ['nftables-stateful'] };
  const reason = /^`scenarios` on hp-t540: expected one of forwarding, .* found "nftables-stateful"/;
  expect(refusalOf(config)).toMatch(reason);
  expect(refusalOf(config, '10G or 40G')).toMatch(reason);
  expect(refusalOf(config, 'rcc-ve')).toMatch(/^`scenarios` on rcc-ve: /);
  expect(refusalOf(config, 'arm64')).toMatch(/^No testbed/);
});

test('a selector that cannot be read is refused', () => {
  expect(() => parseSelector('chelsio 10G')).toThrow(UsageError);
  expect(parseSelector('chelsio')).toEqual([[{ kind: 'word', word: 'chelsio', wanted: true }]]);
});

const configured = { ...lab, each: ['chelsio', 'mellanox'] };

test.each([
  ['what is configured', configured, {}, ['chelsio', 'mellanox']],
  ['what is asked for each time', configured, { each: '1G, 25G' }, ['1G', '25G']],
  ['the one that is asked for', configured, { testbed: 'rcc-ve', each: '1G' }, ['rcc-ve']],
  ['what is configured where the texts are empty', configured, { testbed: '', each: '' }, ['chelsio', 'mellanox']],
  ['the first where nothing is said', lab, {}, ['']],
])('a patch is judged on %s', (_what, config, texts, selectors) => {
  expect(selectorsOf(config, texts, namingStyles.flag)).toEqual(selectors);
});

function machines(name: string, config = lab): string[] {
  const testbed = config.testbeds[name];
  if (testbed === undefined) throw new Error(`there is no ${name}`);
  return machinesOf(testbed, 'CI-1');
}

test('a lease reserves the DUT, the senders and the receiver, each once, and no builder', () => {
  expect(machines('hp-t540')).toEqual(['dut-01.lab:22', 'tx:22']);
});

test('an address of IPv6 is the same however it is written, and its port is not part of it', () => {
  expect(machines('rack-4')).toEqual(['[fe80::11%eth0]:2222', '[2001:db8::10]:22', '192.0.2.12:22']);
});

test('the embedded lab is this machine', () => {
  expect(machines('here', two)).toEqual(['embedded@ci-1']);
  expect(machines('there', two)).toEqual(['embedded@ci-1']);
});

test.for([
  [{ testbed: 'nope' }, /^--testbed: no testbed of the configuration is "nope": /],
  [{ each: 'nope' }, /^--each: no testbed of the configuration is "nope": /],
  [{ testbed: 'nope and' }, /^--testbed: expected words joined by and, or, not, .*: a word is missing\.$/],
  [{}, /^each: no testbed of the configuration is "nope": /],
] as const)('The refusal of a selector given as %j names that place', ([given, message]) => {
  const config = { ...lab, each: ['nope'] };
  const [selector] = selectorsOf(config, given, namingStyles.flag);
  const called = selectorCalled(given, namingStyles.flag);
  expect(() => testbedsFor(config, selector, called)).toThrow(message);
});
