// Installs the rules of a scenario on the DUT, proves that they are in force, and removes them.

import { lastLine } from '../../model/one-line.ts';
import type { OwnRules, Scenario } from '../../model/scenario.ts';
import { isGood } from '../../system/host/execute.ts';
import { ownFolder } from '../../system/host/own-folder.ts';
import type { Host } from '../../system/host/ssh.ts';
import { commandText, shell } from '../../system/shell.ts';
import { otherFilters } from './other-filters.ts';
import { readAll } from './preflight.ts';
import {
  type Firewall,
  firewallsOn,
  type ProofOutputs,
  proofCommands,
  provesScenario,
  removalCommands,
  scenarioInstallation,
} from './scenario.ts';

export const rulesFolder = '/var/tmp/ppsgate';

/**
 * Installs the rules before every trial, which drops old states. Returns the reason if the scenario is not in force.
 */
export async function installRules(
  host: Host,
  scenario: Scenario,
  own: Readonly<Record<string, OwnRules>>,
): Promise<string | undefined> {
  const { files, commands } = scenarioInstallation(scenario, rulesFolder, own);
  await Promise.all([removeRules(host), ...(files.length > 0 ? [host.output(ownFolder(rulesFolder))] : [])]);
  for (const { path, text } of files) await host.upload(Buffer.from(text), path, 0o600);
  for (const command of commands) {
    const outcome = await host.run(command);
    if (isGood(outcome)) continue;
    const message = lastLine(outcome.stderr) ?? 'it said nothing';
    return `\`${commandText(command)}\` failed on the DUT: ${message}`;
  }
  const proof = provesScenario(scenario, await proofOf(host), { own });
  return proof.kind === 'in-force' ? undefined : `${scenario} is not active: ${proof.reason}`;
}

export async function removeRules(host: Host): Promise<void> {
  for (const round of removalCommands) {
    await Promise.all(round.map((command) => host.run(command)));
  }
}

/** Firewalls that rc.conf(5) starts: a trial disables them, and a boot enables them again. */
export async function siteFirewalls(host: Host): Promise<Firewall[]> {
  const outcome = await host.run(shell`sysrc -n pf_enable firewall_enable`);
  if (!isGood(outcome)) return [];
  const isOn = outcome.stdout.split('\n').map((value) => /^(?:yes|true|on|1)$/i.test(value.trim()));
  return (['pf', 'ipfw'] as const).filter((_, index) => isOn[index]);
}

export async function firewallWarnings(host: Host, ofSite: readonly Firewall[]): Promise<string[]> {
  const others = firewallsOn(await proofOf(host)).map((name) =>
    ofSite.includes(name)
      ? `${name} of the DUT is enabled in its rc.conf: each trial disables it, and the final boot of the DUT's own kernel enables it again.`
      : `${name} of the DUT is enabled, but not in its rc.conf: each trial disables it, and it stays disabled.`,
  );
  return [...others, ...(await otherFilters(host))];
}

export async function proofOf(host: Host): Promise<ProofOutputs> {
  const outputs = await readAll(host, Object.values(proofCommands));
  const entries = Object.entries(proofCommands).map(([key, command]) => [key, outputs.get(commandText(command))]);
  return Object.fromEntries(entries);
}
