// Checks a FreeBSD DUT before it is measured, and fixes its settings where configured.

import type { DutPortConfig, FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Fingerprint } from '../../model/freebsd-machine.ts';
import type { Family } from '../../model/scenario.ts';
import { isGood } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, commandText, shell } from '../../system/shell.ts';
import { fingerprintCommands, fingerprintOf } from './dut/fingerprint.ts';
import { type DutPort, pathSettings } from './dut/ports.ts';
import { type CommandOutputs, problemOf, readsOf, type SettingProblem, waived } from './dut/setting.ts';
import { checkSettings, type SettingsContext, settingsCommands } from './dut/settings.ts';

export class PreflightError extends Error {
  override readonly name = 'PreflightError';

  constructor(testbed: string, problems: readonly SettingProblem[]) {
    const isVital = problems.some((problem) => problem.isVital);
    const otherwise = isVital ? 'which every `preflight` requires' : 'or set `preflight` to fix or warn';
    super(
      [
        `${testbed} is not ready for measurements; fix this, ${otherwise}:`,
        ...problems.map(({ message }) => `- ${message}`),
      ].join('\n'),
    );
  }
}

/** With several senders, the DUT's route back leads to the first one. */
export function settingsContext(
  { dut, senders, receiver }: FreebsdTestbed,
  families: readonly Family[],
): SettingsContext {
  const port = (own: DutPortConfig, far = receiver): DutPort => ({
    ...own,
    neighbour: {
      addresses: { inet4: far.addresses.inet4 ?? '', inet6: far.addresses.inet6 ?? '' },
      mac: far.mac,
    },
  });
  return { ingress: port(dut.ingress, senders[0]), egress: port(dut.egress), families };
}

type PreflightOptions = {
  mode: FreebsdTestbed['preflight'];
  waive?: FreebsdTestbed['waive'];
  context: SettingsContext;
  sleep(seconds: number): Promise<void>;
};

/** Returns the remaining problems. Waits for those that only need time, and runs commands in the mode `fix`. */
export async function preflight(
  host: Host,
  { mode, waive, context, sleep }: PreflightOptions,
): Promise<SettingProblem[]> {
  const read = async () => waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
  const problems = await onceSettled(read, sleep);
  if (mode !== 'fix') return problems;
  const commands = problems.flatMap(({ fix, isWaived }) => (fix.kind === 'command' && !isWaived ? fix.command : []));
  for (const command of commands) await host.run(command);
  return commands.length > 0 ? await read() : problems;
}

/** Waits for problems that only need time: a machine that is busy while it comes up is mostly idle soon after. */
export async function onceSettled(
  read: () => Promise<SettingProblem[]>,
  sleep: (seconds: number) => Promise<void>,
): Promise<SettingProblem[]> {
  let problems = await read();
  for (const name of ['kern.boottime', 'kern.cp_time']) {
    const fix = problems.find(({ setting, isWaived }) => setting === name && !isWaived)?.fix;
    if (fix?.kind !== 'wait') continue;
    await sleep(fix.seconds);
    problems = await read();
  }
  return problems;
}

/** Finds problems that would keep packets from the receiver, or let others reach it; runs right before a trial. */
export async function pathProblems(
  host: Host,
  { context, families }: { context: PreflightOptions['context']; families: readonly Family[] },
): Promise<SettingProblem[]> {
  const settings = families.flatMap((family) => pathSettings(family, context));
  const outputs = await readAll(host, readsOf(settings));
  return settings.flatMap((setting) => problemOf(setting, outputs));
}

export async function fingerprint(host: Host, interfaces: readonly string[]): Promise<Fingerprint> {
  const bootFile = (await host.output(shell`sysctl -n kern.bootfile`)).trim();
  const request = { interfaces, bootFile };
  return fingerprintOf(await readAll(host, fingerprintCommands(request)), request);
}

export async function readAll(host: Host, commands: readonly Command[]): Promise<CommandOutputs> {
  const outputs = await Promise.all(
    commands.map(async (command) => {
      const outcome = await host.run(command);
      return isGood(outcome) ? [[commandText(command), outcome.stdout] as const] : [];
    }),
  );
  return new Map(outputs.flat());
}
