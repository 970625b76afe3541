import { expect, test } from 'vitest';
import {
  type ProofOutputs,
  proofCommands,
  provesScenario,
  removalCommands,
  scenarioInstallation,
} from '../../../src/lab/freebsd/scenario.ts';
import { type FreebsdScenario, scenariosOf } from '../../../src/model/scenario.ts';
import { commandText } from '../../../src/system/shell.ts';

const inForce = { kind: 'in-force' };
const notInForce = (reason: string) => ({ kind: 'not-in-force', reason });

const pfInfo = (status: 'Enabled' | 'Disabled', inserts: number) => `\
Status: ${status} for 0 days 00:01:23           Debug: Urgent

State Table                          Total             Rate
  current entries                        2
  searches                       412345678      4967995.0/s
  inserts                      ${String(inserts).padStart(11)}           48.2/s
  removals                            3998           48.2/s
Counters
  match                          412341678      4967947.9/s
  bad-offset                             0            0.0/s
`;

const nothing: ProofOutputs = {
  pfInfo: undefined,
  pfRules: undefined,
  ipfwEnabled: undefined,
  ipfw6Enabled: undefined,
  ipfwRules: undefined,
  ipfwStates: undefined,
};

const pf = (rules: string, inserts = 1): ProofOutputs => ({
  ...nothing,
  pfInfo: pfInfo('Enabled', inserts),
  pfRules: rules,
});

const ipfw = (rule: string, states = 0): ProofOutputs => ({
  ...nothing,
  ipfwEnabled: '1\n',
  ipfw6Enabled: '1\n',
  ipfwRules: `${rule}\n65535 allow ip from any to any\n`,
  ipfwStates: `${states}\n`,
});

const proven: Record<FreebsdScenario, ProofOutputs> = {
  forwarding: nothing,
  'pf-stateless': pf('pass all no state\n'),
  'pf-stateful': pf('pass all flags S/SA keep state\n', 4000),
  'ipfw-stateless': ipfw('03000 allow ip from any to any'),
  'ipfw-stateful': ipfw('03000 allow ip from any to any keep-state :default', 2000),
};

test.for([
  ['pf-stateless', 'set skip on lo0\npass no state\n'],
  ['pf-stateful', 'set skip on lo0\npass\n'],
] as const)('%s is one rule, loaded before pf is enabled', ([scenario, text]) => {
  const { files, commands } = scenarioInstallation(scenario, '/tmp/ppsgate');
  const path = `/tmp/ppsgate/${scenario}.rules`;
  expect(files).toEqual([{ path, text }]);
  expect(commands.map(commandText)).toEqual(['kldload -n pf', `pfctl -f '${path}'`, 'pfctl -e']);
});

test.for([
  ['ipfw-stateless', 'add 3000 allow ip from any to any\n'],
  ['ipfw-stateful', 'add 3000 allow ip from any to any keep-state\n'],
] as const)('%s is one rule, and never cuts our own connection', ([scenario, text]) => {
  const { files, commands } = scenarioInstallation(scenario, '/tmp/ppsgate');
  const path = `/tmp/ppsgate/${scenario}.rules`;
  expect(files).toEqual([{ path, text }]);
  expect(commands.map(commandText)).toEqual([
    'kenv net.inet.ip.fw.default_to_accept=1',
    'kldload -n ipfw',
    `ipfw -q '${path}'`,
    'sysctl net.inet.ip.fw.enable=1',
    'sysctl net.inet6.ip6.fw.enable=1',
  ]);
});

test('every command is words alone, as the shell of a FreeBSD root may be csh', () => {
  const installed = scenariosOf.freebsd.flatMap((scenario) => scenarioInstallation(scenario, '/tmp/a b').commands);
  for (const command of [...installed, ...removalCommands.flat(), ...Object.values(proofCommands)]) {
    expect(commandText(command)).toMatch(/^(?:[\w./=-]+|'[^']*')(?: (?:[\w./=-]+|'[^']*'))*$/);
  }
});

test.for(scenariosOf.freebsd)('%s is in force, before a trial and after one', (scenario) => {
  expect(provesScenario(scenario, proven[scenario])).toEqual(inForce);
  expect(provesScenario(scenario, proven[scenario], { trial: { flows: 2000 } })).toEqual(inForce);
});

test('a proof of one scenario proves no other', () => {
  for (const scenario of scenariosOf.freebsd) {
    for (const other of scenariosOf.freebsd.filter((name) => name !== scenario)) {
      expect(provesScenario(scenario, proven[other])).toMatchObject({ kind: 'not-in-force' });
    }
  }
});

test('a firewall that is loaded but off is no obstacle to forwarding', () => {
  const off = {
    ...nothing,
    pfInfo: pfInfo('Disabled', 0),
    ipfwEnabled: '0\n',
    ipfw6Enabled: '0\n',
  };
  expect(provesScenario('forwarding', off)).toEqual(inForce);
});

test('a firewall beside the one of the scenario is named', () => {
  const both = { ...proven['pf-stateful'], ipfwEnabled: '0\n', ipfw6Enabled: '1\n' };
  expect(provesScenario('pf-stateful', both)).toEqual(notInForce('ipfw is enabled'));
});

test('rules of a firewall that is off prove nothing', () => {
  const off = { ...proven['pf-stateless'], pfInfo: pfInfo('Disabled', 0) };
  expect(provesScenario('pf-stateless', off)).toEqual(notInForce('pf is not enabled'));
  expect(provesScenario('ipfw-stateful', nothing)).toEqual(notInForce('ipfw is not enabled'));
});

test('one more rule is another scenario', () => {
  const more = pf('block drop in all\npass all no state\n');
  expect(provesScenario('pf-stateless', more)).toEqual(
    notInForce('pf has the rules "block drop in all; pass all no state" instead of "pass all no state"'),
  );
  const other = ipfw('00100 deny ip from any to any\n03000 allow ip from any to any');
  expect(provesScenario('ipfw-stateless', other)).toMatchObject({ kind: 'not-in-force' });
});

test('too few states of a full table are explained by its limit', () => {
  const full = pf('pass all flags S/SA keep state\n', 1000);
  const info = `${full.pfInfo}  memory            5000      10.0/s\n`;
  const trial = { trial: { flows: 2000 } };
  expect(provesScenario('pf-stateful', { ...full, pfInfo: info }, trial)).toEqual(
    notInForce(
      'pf has created 1000 of the 2000 states that the flows need, because its table is full: raise its limit with `set limit states`',
    ),
  );
});

test('a stateful scenario that made no more states than our own connection needs is not in force', () => {
  const trial = { trial: { flows: 2000 } };
  expect(provesScenario('pf-stateful', pf('pass all flags S/SA keep state\n', 2), trial)).toEqual(
    notInForce('pf has created 2 of the 2000 states that the flows need'),
  );
  const rule = '03000 allow ip from any to any keep-state :default';
  expect(provesScenario('ipfw-stateful', ipfw(rule, 1), trial)).toEqual(
    notInForce('ipfw has created 1 of the 2000 states that the flows need'),
  );
});
