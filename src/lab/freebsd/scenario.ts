// What each scenario installs on a FreeBSD DUT, how all of them are taken away, and what proves that one is in force.

import type { FreebsdScenario, OwnRules, Scenario } from '../../model/scenario.ts';
import { type Command, shell } from '../../system/shell.ts';

type Laying = {
  /** Uploaded before the commands. */
  files: { path: string; text: string }[];
  /** Commands in the order in which they are run, each to succeed. */
  commands: Command[];
};

/** How a scenario is installed on a DUT from which all others were taken away; its files go to `folder`, an absolute path. */
export function scenarioInstallation(
  scenario: Scenario,
  folder: string,
  own: OwnScenarios = {},
): Laying {
  const rules = rulesFor(scenario, own);
  if (rules === undefined) return { files: [], commands: [] };
  const path = `${folder}/${scenario}.rules`;
  return { files: [{ path, text: rules.text }], commands: installCommands[rules.firewall](path) };
}

/**
 * Takes every scenario away, in two rounds, each all at once. A command fails where there is nothing to take: that all is
 * gone is proven as `forwarding` is. ipfw is switched off before it is flushed, or its last rule would cut the connection.
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
  /** The same rules as the firewall prints them; absent for a site's own, which nobody can foresee. */
  printed?: string;
  keepsStates: boolean;
};

/** One accepting rule each, see pf.conf(5) and ipfw(8). */
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

/** A site's own rules by the names of their scenarios. */
type OwnScenarios = Readonly<Record<string, OwnRules>>;

/** Undefined where a scenario has none. */
const rulesFor = (scenario: Scenario, own: OwnScenarios): FirewallRules | undefined =>
  own[scenario] ?? usualRules[scenario as FreebsdScenario];

/** ipfw.ko refuses every packet from the moment it is loaded, unless the kernel's environment says otherwise. */
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

/** What is asked for a proof. Those of a firewall that is not loaded fail. */
export const proofCommands = {
  pfInfo: shell`pfctl -si`,
  pfRules: shell`pfctl -sr`,
  ipfwEnabled: shell`sysctl -n net.inet.ip.fw.enable`,
  ipfw6Enabled: shell`sysctl -n net.inet6.ip6.fw.enable`,
  ipfwRules: shell`ipfw list`,
  ipfwStates: shell`sysctl -n net.inet.ip.fw.dyn_count`,
} as const;

/** What the proof's commands wrote; undefined is one that failed. */
export type ProofOutputs = Record<keyof typeof proofCommands, string | undefined>;

type ScenarioProof = { kind: 'in-force' } | { kind: 'not-in-force'; reason: string };

/**
 * Whether this scenario, and no other firewall beside it, is in force. With `trial` the outputs are of right
 * after one, and a stateful scenario must have made a state for each of its flows: one or two states are those
 * of our own connection. ipfw drops a UDP flow's state after 10 s of silence.
 */
export function provesScenario(
  scenario: Scenario,
  outputs: ProofOutputs,
  { trial, own = {} }: { trial?: { flows: number }; own?: OwnScenarios } = {},
): ScenarioProof {
  const found = firewallStates(outputs);
  const wanted = rulesFor(scenario, own);
  const stranger = firewallsOn(outputs).find((name) => name !== wanted?.firewall);
  if (stranger !== undefined) return notInForce(`${stranger} is enabled`);
  if (wanted === undefined) return { kind: 'in-force' };

  const { sees, rules, states } = found[wanted.firewall];
  if (sees !== 'everything') {
    const lack = sees === 'nothing' ? 'enabled' : 'enabled for both families';
    return notInForce(`${wanted.firewall} is not ${lack}`);
  }
  if (wanted.printed === undefined && rules === '') {
    return notInForce(`${wanted.firewall} has no rules`);
  }
  if (wanted.printed !== undefined && rules !== wanted.printed) {
    return notInForce(`${wanted.firewall} has the rules "${rules}" instead of "${wanted.printed}"`);
  }
  if (trial === undefined || !wanted.keepsStates || states >= trial.flows) {
    return { kind: 'in-force' };
  }
  return notInForce(
    `${wanted.firewall} has made ${states} of the ${trial.flows} states that the flows need`,
  );
}

/** Those that see packets. */
export const firewallsOn = (outputs: ProofOutputs): Firewall[] =>
  firewalls.filter((name) => firewallStates(outputs)[name].sees !== 'nothing');

const firewallStates = (outputs: ProofOutputs): Record<Firewall, FirewallState> => ({
  pf: pfIn(outputs),
  ipfw: ipfwIn(outputs),
});

const notInForce = (reason: string): ScenarioProof => ({ kind: 'not-in-force', reason });

type FirewallState = {
  /** How many of the packets it sees; something is one family of both. */
  sees: 'nothing' | 'something' | 'everything';
  rules: string;
  states: number;
};

/** Counts all of pf's states that were made since its counters were flushed, as some may have expired. */
function pfIn({ pfInfo = '', pfRules = '' }: ProofOutputs): FirewallState {
  return {
    sees: /^Status: Enabled\b/m.test(pfInfo) ? 'everything' : 'nothing',
    rules: onOneLine(pfRules),
    states: Number(/^[ \t]+inserts[ \t]+(\d+)/m.exec(pfInfo)?.[1] ?? 0),
  };
}

/** A kernel without a family lacks its switch. */
function ipfwIn(outputs: ProofOutputs): FirewallState {
  const { ipfwEnabled, ipfw6Enabled, ipfwRules = '', ipfwStates = '0' } = outputs;
  const switches = [ipfwEnabled, ipfw6Enabled].filter((said) => said !== undefined);
  const on = switches.filter((said) => said.trim() === '1');
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

/** Accepts or refuses what no rule took; ours takes everything. */
const lastRule = /^65535 .*$/m;

const onOneLine = (rules: string): string =>
  rules
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('; ');
