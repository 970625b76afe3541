// Looks at a FreeBSD DUT before it is measured: what it is, what is not as it should be, and fixes that where asked to.

import type { DutPortConfig, FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Fingerprint } from '../../model/freebsd-machine.ts';
import type { Family } from '../../model/scenario.ts';
import type { Host } from '../../system/host/ssh.ts';
import { type Command, commandText, shell } from '../../system/shell.ts';
import { fingerprintCommands, fingerprintOf } from './dut/fingerprint.ts';
import { type DutPort, pathSettings } from './dut/ports.ts';
import {
  type CommandOutputs,
  problemOf,
  readsOf,
  type SettingProblem,
  waived,
} from './dut/setting.ts';
import { checkSettings, type SettingsContext, settingsCommands } from './dut/settings.ts';

/** The DUT is not as it must be; nothing is measured until somebody has fixed it. */
export class PreflightError extends Error {
  override readonly name = 'PreflightError';

  constructor(testbed: string, problems: readonly SettingProblem[]) {
    const isVital = problems.some((problem) => problem.isVital);
    const otherwise = isVital ? 'whatever `preflight` says' : 'or set `preflight` to fix or warn';
    super(
      [
        `${testbed} is not fit to measure on; fix this, ${otherwise}:`,
        ...problems.map(({ message }) => `- ${message}`),
      ].join('\n'),
    );
  }
}

/** What must hold on a testbed's DUT: with several senders its way back is to the first. */
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

/** The problems that are left: what only needs time has been waited for, and with `fix` commands have been run. */
export async function preflight(
  host: Host,
  { mode, waive, context, sleep }: PreflightOptions,
): Promise<SettingProblem[]> {
  const look = async () =>
    waived(checkSettings(await readAll(host, settingsCommands(context)), context), waive);
  let problems = await look();
  // What is busy while the machine comes up is mostly idle once it is up.
  for (const name of ['kern.boottime', 'kern.cp_time']) {
    const fix = problems.find(({ setting, isWaived }) => setting === name && !isWaived)?.fix;
    if (fix?.kind !== 'wait') continue;
    await sleep(fix.seconds);
    problems = await look();
  }
  if (mode !== 'fix') return problems;
  const commands = problems.flatMap(({ fix, isWaived }) =>
    fix.kind === 'command' && !isWaived ? fix.command : [],
  );
  for (const command of commands) await host.run(command);
  return commands.length > 0 ? await look() : problems;
}

/** Why a trial would not go from the sender to the receiver and nowhere else; asked right before it. */
export async function pathProblems(
  host: Host,
  { context, families }: { context: PreflightOptions['context']; families: readonly Family[] },
): Promise<SettingProblem[]> {
  const settings = families.flatMap((family) => pathSettings(family, context));
  const said = await readAll(host, readsOf(settings));
  return settings.flatMap((setting) => problemOf(setting, said));
}

/** What the DUT says of itself, as it runs. */
export async function fingerprint(host: Host, interfaces: readonly string[]): Promise<Fingerprint> {
  const bootFile = (await host.output(shell`sysctl -n kern.bootfile`)).trim();
  const request = { interfaces, bootFile };
  return fingerprintOf(await readAll(host, fingerprintCommands(request)), request);
}

/** What the commands write, without those that fail. */
export async function readAll(host: Host, commands: readonly Command[]): Promise<CommandOutputs> {
  const said = await Promise.all(
    commands.map(async (command) => {
      const outcome = await host.run(command);
      const isGood = outcome.kind === 'exited' && outcome.code === 0;
      return isGood ? [[commandText(command), outcome.stdout] as const] : [];
    }),
  );
  return new Map(said.flat());
}
