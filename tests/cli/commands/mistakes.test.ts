// Errors for mistyped input: one sentence each, with the name that the input has there.
import { expect, test } from 'vitest';
import { type ConfigError, parseConfig } from '../../../src/config/load.ts';
import { applyOverrides, type Overrides } from '../../../src/config/overrides.ts';
import { type NamingStyle, namingStyles } from '../../../src/config/parameters.ts';
import { parseCommand } from '../../../src/forge/patch/command.ts';

const { flag, input, step, comment } = namingStyles;

const onLinux = 'testbeds: { lab: { kind: embedded-linux } }';
const onFreebsd = `
testbeds:
  rack:
    kind: freebsd
    dut: { host: dut, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:00:00:01", inet4: 198.18.0.110 }]
    receiver: { host: rx, interface: cxl1, mac: "00:07:43:00:00:02", inet4: 198.19.0.110 }
    builder: { host: builder }
`;

const overrides: readonly (readonly [Overrides, NamingStyle, config?: string])[] = [
  ...['2', '-1%'].map((margin) => [{ margin }, flag] as const),
  [{ falseAlarms: '50%' }, flag],
  [{ power: '5%' }, flag],
  [{ scenarios: 'forwarding,,' }, flag],
  ...['many', '-4', '1e3'].map((maxRuns) => [{ maxRuns }, flag] as const),
  [{ maxRuns: 'NaN' }, input],
  ...[comment, step].map((style) => [{ maxRuns: '1' }, style] as const),
  ...['fixd', 'sequential'].map((design) => [{ design }, flag] as const),
  [{ profile: '20' }, flag],
  [{ profile: 'maybe' }, comment],
  [{ families: 'ipv4' }, flag],
  [{ families: 'inet4,IPv6' }, input],
  ...['cpu', 'udp'].map((metric) => [{ metric }, flag] as const),
  [{ metric: 'ns' }, step],
  [{ scenarios: 'nft' }, flag],
  [{ scenarios: 'ipv6' }, comment],
  ...['pf', 'ipfw', 'stateful', 'PF_stateful', 'routing'].map((scenarios) => [{ scenarios }, flag, onFreebsd] as const),
];

const ofTestbed = ['power: { kind: command }', 'mac: "00:07:43:00:00:09"', 'sender: { host: tx }'];
const configs = [
  ...['margin: 2%', 'max-runs: 8', 'flows: 8', 'gate: { families: [inet6] }', 'gate: { rate: 1 Mpps }'],
  ...['gate: { maxruns: 8 }', 'gate: { maxRuns: .nan }', 'families: [ipv4]', 'scenarios: [inet6]'],
  'gate: { metric: cpu }',
].map((text) => [text, `${onLinux}\n${text}`] as const);

const commands = ['/ppsgate run margn=1%', '/ppsgate run margin=', '/ppsgate extned'];

test('each mistake is reported by the name that it has there, with the nearest right one', async () => {
  const told = [
    ...overrides.map(([texts, style, config = onLinux]) => {
      const mistake = mistakeOf(() => applyOverrides(read(config), texts, style));
      return `${JSON.stringify(texts)}\n  ${mistake.message}`;
    }),
    ...[...configs, ...ofTestbed.map((text) => [text, `${onFreebsd}    ${text}\n`] as const)].map(([text, whole]) => {
      const { problems } = mistakeOf(() => read(whole)) as ConfigError;
      return `${text}\n  ${problems.map(({ key, message }) => `${key}: ${message}`).join('\n  ')}`;
    }),
    ...commands.map((text) => {
      const command = parseCommand(text);
      return `${text}\n  ${command?.kind === 'mistaken' ? command.why : 'no mistake'}`;
    }),
  ];
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/mistaken-names.txt');
});

function read(text: string) {
  return parseConfig(text, { path: 'ppsgate.yml', home: '/home/me' });
}

function mistakeOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('It is no mistake.');
}
