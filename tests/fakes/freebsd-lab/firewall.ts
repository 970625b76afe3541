// pf and ipfw of a machine: loaded rules, and the benchmark's scenario that they amount to.

import type { Family, FreebsdScenario } from '../../../src/model/scenario.ts';
import { isOfSomeFlows } from './packet-counts.ts';
import { type Sysctls, valueOfSysctl } from './sysctls.ts';

export type LabScenario = FreebsdScenario;

export type Pf = {
  isEnabled: boolean;
  /** Time of the last enabling or disabling; 0 if never. */
  switchedAt: number;
  /** As `pfctl -sr` prints them. */
  rules: readonly PfRule[];
  skips: readonly string[];
  states: number;
  /** `set limit states`. */
  stateLimit: number;
  /** Packets that found no space for a state. */
  withoutState: number;
};

/** `packets` are of rules that block some of a trial's flows. */
export type PfRule = { text: string; blocks: boolean; keepsState: boolean; packets: number };

export type Ipfw = {
  rules: Map<number, IpfwRule>;
  acceptsByDefault: boolean;
  dynamicRules: number;
};

export type IpfwRule = PfRule;

export const noPf = (): Pf => ({
  isEnabled: false,
  switchedAt: 0,
  rules: [],
  skips: [],
  states: 0,
  stateLimit: 100_000,
  withoutState: 0,
});

export const freshIpfw = (acceptsByDefault: boolean): Ipfw => ({
  rules: new Map(),
  acceptsByDefault,
  dynamicRules: 0,
});

export type Firewalls = { modules: ReadonlySet<string>; pf: Pf; ipfw: Ipfw; sysctls: Sysctls };

/** Scenario that a trial's packets meet; `blocked` if a rule drops them. pf takes the last rule, ipfw the first. */
export function scenarioInForce(
  { modules, pf, ipfw, sysctls }: Firewalls,
  family: Family = 'inet4',
): LabScenario | 'blocked' {
  const pfRule = modules.has('pf') && pf.isEnabled ? pf.rules.findLast(decides) : undefined;
  const isOn = modules.has('ipfw') && valueOfSysctl(sysctls, ipfwSwitches[family]) === 1;
  const ipfwRule = isOn ? decidingRule(ipfw) : undefined;
  if (pfRule?.blocks || ipfwRule?.blocks) return 'blocked';
  if (pfRule !== undefined) return pfRule.keepsState ? 'pf-stateful' : 'pf-stateless';
  if (ipfwRule === undefined) return 'forwarding';
  return ipfwRule.keepsState ? 'ipfw-stateful' : 'ipfw-stateless';
}

/** Without them, packets of that family bypass ipfw. */
export const ipfwSwitches: Readonly<Record<Family, string>> = {
  inet4: 'net.inet.ip.fw.enable',
  inet6: 'net.inet6.ip6.fw.enable',
};

const decidingRule = (ipfw: Ipfw): IpfwRule =>
  [...ipfw.rules]
    .sort(([one], [other]) => one - other)
    .map(([, rule]) => rule)
    .find(decides) ?? defaultRule(ipfw);

const decides = (rule: PfRule): boolean => !isOfSomeFlows(rule);

/** Number 65535, which cannot be deleted. */
export const defaultRule = ({ acceptsByDefault }: Ipfw): IpfwRule => ({
  text: acceptsByDefault ? 'allow ip from any to any' : 'deny ip from any to any',
  blocks: !acceptsByDefault,
  keepsState: false,
  packets: 0,
});
