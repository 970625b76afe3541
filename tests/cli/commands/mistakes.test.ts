// Errors for mistyped input: one sentence, with the name that the input has there.
import { describe, expect, test } from 'vitest';
import { type ConfigError, parseConfig } from '../../../src/config/load.ts';
import { applyOverrides, type Overrides } from '../../../src/config/overrides.ts';
import { type NamingStyle, namingStyles } from '../../../src/config/parameters.ts';
import { parseCommand } from '../../../src/forge/patch/command.ts';
import { UsageError } from '../../../src/model/usage-error.ts';

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

type Told = readonly [texts: Overrides, calledAs: NamingStyle, told: string];

test.for<Told>([
  [{ margin: '2' }, flag, '--margin: expected a percentage like 2%, found "2".'],
  [{ margin: '-1%' }, flag, '--margin: expected a percentage like 2%, found "-1%".'],
  [{ falseAlarms: '50%' }, flag, '--false-alarms: expected a percentage from 0.01% to 20%, found "50%".'],
  [{ scenarios: 'forwarding,,' }, flag, '--scenarios: expected names with one comma in between, found "forwarding,,".'],
  [{ power: '5%' }, flag, '--power: expected a percentage from 50% to 99.9%, found "5%".'],
  [{ maxRuns: 'many' }, flag, '--max-runs: expected a whole number from 2 to 10000, found "many".'],
  [{ maxRuns: '-4' }, flag, '--max-runs: expected a whole number from 2 to 10000, found "-4".'],
  [{ maxRuns: '1e3' }, flag, '--max-runs: expected a whole number from 2 to 10000, found "1e3".'],
  [{ maxRuns: 'NaN' }, input, 'max-runs: expected a whole number from 2 to 10000, found "NaN".'],
  [{ maxRuns: '1' }, comment, 'runs: expected a whole number from 2 to 10000, found 1.'],
  [{ maxRuns: '1' }, step, 'maxRuns: expected a whole number from 2 to 10000, found 1.'],
  [{ design: 'fixd' }, flag, '--design: expected one of fixed, group-sequential, found "fixd"; did you mean `fixed`?'],
  [
    { design: 'sequential' },
    flag,
    '--design: expected one of fixed, group-sequential, found "sequential"; did you mean `group-sequential`?',
  ],
  [{ profile: '20' }, flag, '--profile: expected a duration like 500 ms, 12 s, 2 min or 30 d, found "20".'],
  [{ profile: 'maybe' }, comment, 'profile: expected on, off or a duration like 20 s, found "maybe".'],
  [{ families: 'ipv4' }, flag, '--families: expected one of inet4, inet6, found "ipv4"; did you mean `inet4`?'],
  [{ families: 'inet4,IPv6' }, input, 'families: expected one of inet4, inet6, found "IPv6"; did you mean `inet6`?'],
  [
    { metric: 'cpu' },
    flag,
    '--metric: expected one of pps, nsPerPacket, instructionsPerPacket, found "cpu"; did you mean `nsPerPacket`?',
  ],
  [
    { metric: 'ns' },
    step,
    'metric: expected one of pps, nsPerPacket, instructionsPerPacket, found "ns"; did you mean `nsPerPacket`?',
  ],
  [{ metric: 'udp' }, flag, '--metric: expected one of pps, nsPerPacket, instructionsPerPacket, found "udp".'],
  [
    { scenarios: 'nft' },
    flag,
    '--scenarios: expected one of forwarding, nftables-stateless, nftables-stateful, found "nft"; did you mean `nftables-stateless` or `nftables-stateful`?',
  ],
  [
    { scenarios: 'ipv6' },
    comment,
    'scenarios: expected one of forwarding, nftables-stateless, nftables-stateful, found "ipv6"; did you mean the family `inet6`?',
  ],
])('%o is told by the name that it has there', ([texts, called, told]) => {
  expect(() => applyOverrides(read(onLinux), texts, called)).toThrow(new UsageError(told));
});

test.each([
  ['pf', '`pf-stateless` or `pf-stateful`'],
  ['ipfw', '`ipfw-stateless` or `ipfw-stateful`'],
  ['stateful', '`pf-stateful` or `ipfw-stateful`'],
  ['PF_stateful', '`pf-stateful`'],
  ['routing', '`forwarding`'],
])('on FreeBSD the scenario %s is answered with %s', (scenario, meant) => {
  const told = `--scenarios: expected one of forwarding, pf-stateless, pf-stateful, ipfw-stateless, ipfw-stateful, found "${scenario}"; did you mean ${meant}?`;
  const scenarios = { scenarios: scenario };
  expect(() => applyOverrides(read(onFreebsd), scenarios, flag)).toThrow(new UsageError(told));
});

test.each([
  ['margin: 2%', 'margin: unknown key `margin`; it belongs under `gate`'],
  ['max-runs: 8', 'max-runs: unknown key `max-runs`; `maxRuns` belongs under `gate`'],
  ['flows: 8', 'flows: unknown key `flows`; it belongs under `traffic`'],
  ['gate: { families: [inet6] }', 'gate.families: unknown key `families`; it belongs at the top of the file'],
  ['gate: { rate: 1 Mpps }', 'gate.rate: unknown key `rate`; it belongs under `traffic`'],
  ['gate: { maxruns: 8 }', 'gate.maxruns: unknown key `maxruns`; did you mean `maxRuns`?'],
  ['gate: { maxRuns: .nan }', 'gate.maxRuns: expected a whole number from 2 to 10000, found no number'],
  ['families: [ipv4]', 'families[0]: expected one of inet4, inet6, found "ipv4"; did you mean `inet4`?'],
  [
    'scenarios: [inet6]',
    'scenarios[0]: expected one of forwarding, nftables-stateless, nftables-stateful, found "inet6"; did you mean the family `inet6`?',
  ],
  [
    'gate: { metric: cpu }',
    'gate.metric: expected one of pps, nsPerPacket, instructionsPerPacket, found "cpu"; did you mean `nsPerPacket`?',
  ],
])('for %s in ppsgate.yml, the error gives its place, or its right name', (text, told) => {
  expect(problemsOf(`${onLinux}\n${text}`)).toEqual([told]);
});

test.each([
  ['rack', 'power: { kind: command }', 'unknown key `power`; it belongs under `testbeds.rack.dut`'],
  [
    'rack',
    'mac: "00:07:43:00:00:09"',
    'unknown key `mac`; it belongs under `testbeds.rack.senders[0]` or under `testbeds.rack.receiver`',
  ],
  ['rack', 'sender: { host: tx }', 'unknown key `sender`; did you mean `senders`?'],
])('of a testbed the own machines come first, and kinds that it has: %s.%s', (_, text, told) => {
  const [key] = text.split(':');
  expect(problemsOf(`${onFreebsd}    ${text}\n`)).toEqual([`testbeds.rack.${key}: ${told}`]);
});

describe('a comment', () => {
  test.each([
    ['/ppsgate run margn=1%', 'run takes no "margn"; write /ppsgate run margin=1%'],
    ['/ppsgate run margin=', 'margin has no value; write /ppsgate run margin=1%'],
    ['/ppsgate extned', 'there is no command "extned"; write /ppsgate extend'],
  ])('for %s, the error gives the nearest right command', (text, why) => {
    expect(parseCommand(text)).toEqual({ kind: 'mistaken', why });
  });
});

function read(text: string) {
  return parseConfig(text, { path: 'ppsgate.yml', home: '/home/me' });
}

function problemsOf(text: string): string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(({ key, message }) => `${key}: ${message}`);
  }
}
