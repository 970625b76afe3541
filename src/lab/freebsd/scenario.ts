// Defines commands that install and remove each scenario on a FreeBSD DUT, and that prove that it is in force.

import type { FreebsdScenario, OwnRules, Scenario } from '../../model/scenario.ts';
import { type Command, shell } from '../../system/shell.ts';
import { isPfTableFull } from './dut/limits.ts';

type Installation = {
  /** Uploaded before the commands. */
  files: { path: string; text: string }[];
  commands: Command[];
};

/** Assumes a DUT without any scenario. Files go to `folder`, an absolute path. */
export function scenarioInstallation(scenario: Scenario, folder: string, own: OwnScenarios = {}): Installation {
  const rules = rulesFor(scenario, own);
  if (rules === undefined) return { files: [], commands: [] };
  const path = `${folder}/${scenario}.rules`;
  return { files: [{ path, text: rules.text }], commands: installCommands[rules.firewall](path) };
}

/**
 * Removes every scenario, in two rounds of parallel commands. A command fails if it finds nothing to remove; the proof
 * of the next scenario checks the result. Disables ipfw before its flush, or its last rule would cut the connection.
 */
export const removalCommands: readonly (readonly Command[])[] = [
  [shell`pfctl -d`, shell`sysctl net.inet.ip.fw.enable=0`, shell`sysctl net.inet6.ip6.fw.enable=0`],
  [shell`pfctl -F all`, shell`ipfw -q -f flush`],
];

const firewalls = ['pf', 'ipfw'] as const;
export type Firewall = (typeof firewalls)[number];

type FirewallRules = {
  firewall: Firewall;
  text: string;
  /** Rules as the firewall prints them; absent for a site's own. */
  printed?: string;
  keepsStates: boolean;
};

/** Each has a single accepting rule: see pf.conf(5) and ipfw(8). */
const usualRules: Record<FreebsdScenario, FirewallRules | undefined> = {
  forwarding: undefined,
  'pf-stateless': {
    firewall: 'pf',
    text: 'set skip on lo0\npass no state\n',
    printed: 'pass all no state',
    keepsStates: false,
  },
  'pf-stateful': {
    firewall: 'pf',
    text: 'set skip on lo0\npass\n',
    printed: 'pass all flags S/SA keep state',
    keepsStates: true,
  },
  'ipfw-stateless': {
    firewall: 'ipfw',
    text: 'add 3000 allow ip from any to any\n',
    printed: '03000 allow ip from any to any',
    keepsStates: false,
  },
  'ipfw-stateful': {
    firewall: 'ipfw',
    text: 'add 3000 allow ip from any to any keep-state\n',
    printed: '03000 allow ip from any to any keep-state',
    keepsStates: true,
  },
};

type OwnScenarios = Readonly<Record<string, OwnRules>>;

const rulesFor = (scenario: Scenario, own: OwnScenarios): FirewallRules | undefined =>
  own[scenario] ?? usualRules[scenario as FreebsdScenario];

/** ipfw.ko drops every packet once loaded, unless the kernel's environment has the variable. */
const installCommands: Record<Firewall, (path: string) => Command[]> = {
  pf: (path) => [shell`kldload -n pf`, shell`pfctl -f ${path}`, shell`pfctl -e`],
  ipfw: (path) => [
    shell`kenv net.inet.ip.fw.default_to_accept=1`,
    shell`kldload -n ipfw`,
    shell`ipfw -q ${path}`,
    shell`sysctl net.inet.ip.fw.enable=1`,
    shell`sysctl net.inet6.ip6.fw.enable=1`,
  ],
};

/** Commands of a firewall that is not loaded fail. */
export const proofCommands = {
  pfInfo: shell`pfctl -si`,
  pfRules: shell`pfctl -sr`,
  ipfwEnabled: shell`sysctl -n net.inet.ip.fw.enable`,
  ipfw6Enabled: shell`sysctl -n net.inet6.ip6.fw.enable`,
  ipfwRules: shell`ipfw list`,
  ipfwStates: shell`sysctl -n net.inet.ip.fw.dyn_count`,
} as const;

export type ProofOutputs = Record<keyof typeof proofCommands, string | undefined>;

type ScenarioProof = { kind: 'in-force' } | { kind: 'not-in-force'; reason: string };

/**
 * Proves that this scenario, and no other firewall, is in force. With `trial`, the outputs were read right after a
 * trial, and a stateful scenario must have a state for each of its flows: one or two states are of our own connection.
 * ipfw drops a UDP flow's state after 10 s of silence.
 */
export function provesScenario(
  scenario: Scenario,
  outputs: ProofOutputs,
  { trial, own = {} }: { trial?: { flows: number }; own?: OwnScenarios } = {},
): ScenarioProof {
  const required = rulesFor(scenario, own);
  const stranger = firewallsOn(outputs).find((name) => name !== required?.firewall);
  if (stranger !== undefined) return notInForce(`${stranger} is enabled`);
  if (required === undefined) return { kind: 'in-force' };

  const { sees, rules, states } = firewallStates(outputs)[required.firewall];
  if (sees !== 'everything') {
    const lack = sees === 'nothing' ? 'enabled' : 'enabled for both families';
    return notInForce(`${required.firewall} is not ${lack}`);
  }
  if (required.printed === undefined && rules === '') {
    return notInForce(`${required.firewall} has no rules`);
  }
  if (required.printed !== undefined && rules !== required.printed) {
    return notInForce(`${required.firewall} has the rules "${rules}" instead of "${required.printed}"`);
  }
  if (trial === undefined || !required.keepsStates || states >= trial.flows) {
    return { kind: 'in-force' };
  }
  const isFull = required.firewall === 'pf' && isPfTableFull(outputs.pfInfo ?? '');
  const why = isFull ? ', because its table is full: raise its limit with `set limit states`' : '';
  return notInForce(
    `${required.firewall} has created ${states} of the ${trial.flows} states that the flows need${why}`,
  );
}

export const firewallsOn = (outputs: ProofOutputs): Firewall[] =>
  firewalls.filter((name) => firewallStates(outputs)[name].sees !== 'nothing');

const firewallStates = (outputs: ProofOutputs): Record<Firewall, FirewallState> => ({
  pf: pfIn(outputs),
  ipfw: ipfwIn(outputs),
});

const notInForce = (reason: string): ScenarioProof => ({ kind: 'not-in-force', reason });

type FirewallState = {
  /** `something` is one of the two families. */
  sees: 'nothing' | 'something' | 'everything';
  rules: string;
  states: number;
};

/** Counts all states since pf's counters were flushed, as some may have expired. */
function pfIn({ pfInfo = '', pfRules = '' }: ProofOutputs): FirewallState {
  return {
    sees: /^Status: Enabled\b/m.test(pfInfo) ? 'everything' : 'nothing',
    rules: onOneLine(pfRules),
    states: Number(/^[ \t]+inserts[ \t]+(\d+)/m.exec(pfInfo)?.[1] ?? 0),
  };
}

/** A kernel without a family lacks that family's switch. */
function ipfwIn(outputs: ProofOutputs): FirewallState {
  const { ipfwEnabled, ipfw6Enabled, ipfwRules = '', ipfwStates = '0' } = outputs;
  const switches = [ipfwEnabled, ipfw6Enabled].filter((value) => value !== undefined);
  const on = switches.filter((value) => value.trim() === '1');
  return {
    sees: amount(on.length, switches.length),
    rules: onOneLine(ipfwRules.replace(lastRule, '').replaceAll(' :default', '')),
    states: Number(ipfwStates),
  };
}

function amount(some: number, all: number): FirewallState['sees'] {
  if (some === 0) return 'nothing';
  return some < all ? 'something' : 'everything';
}

/** Applies to packets that no other rule matched; our rule matches all. */
const lastRule = /^65535 .*$/m;

const onOneLine = (rules: string): string =>
  rules
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('; ');
