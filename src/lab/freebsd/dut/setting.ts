// What a setting of a FreeBSD DUT is: how it is read, what is wrong with it, and what fixes it.
import { type Command, commandText, shell } from '../../../system/shell.ts';

export type Setting = {
  name: string;
  /** Why it matters: a clause. */
  why: string;
  reads: readonly Command[];
  /** Gets what `reads` wrote, in that order. */
  check(...outputs: string[]): SettingFault | undefined;
  /** Where `reads` fail there is no such thing, so nothing is wrong with it. */
  isOptional?: boolean;
  /** Packets would do harm while it does not hold: none is sent, whatever `preflight` says. */
  isVital?: boolean;
};

/** `is` completes the setting's name to a clause. */
export type SettingFault = { is: string; fix: Fix };

export type Fix =
  | { kind: 'command'; command: Command }
  /** A line of /boot/loader.conf, which takes effect with the next boot. */
  | { kind: 'loader'; line: string }
  | { kind: 'wait'; seconds: number }
  | { kind: 'person'; what: string };

/** What commands wrote to stdout, by their text; those that failed are absent. */
export type CommandOutputs = ReadonlyMap<string, string>;

export type SettingProblem = {
  setting: string;
  /** What completes its name to a clause. */
  is: string;
  /** One sentence: what is wrong, why that matters, how it is fixed. */
  message: string;
  fix: Fix;
  isVital: boolean;
  /** Told, and nothing else: ppsgate.yml says so. */
  isWaived?: true;
};

/** What has to be asked to know whether they hold, each once. */
export function readsOf(settings: readonly Setting[]): Command[] {
  const commands = settings.flatMap(({ reads }) => reads);
  return [...new Map(commands.map((command) => [commandText(command), command])).values()];
}

/** Nothing, or the one problem of a setting on the machine that people call so. */
export function problemOf(
  setting: Setting,
  said: CommandOutputs,
  where = 'the DUT',
): SettingProblem[] {
  const { name, why, isVital = false } = setting;
  const fault = faultOf(setting, said, where);
  if (fault === undefined) return [];
  const { is } = fault;
  const message = `${name} ${is}, and ${why}: ${advice(fault.fix, where)}.`;
  return [{ setting: name, message, fix: fault.fix, isVital, is }];
}

function faultOf(
  { reads, check, isOptional = false }: Setting,
  said: CommandOutputs,
  where: string,
): SettingFault | undefined {
  const texts = reads.map(commandText);
  const failed = texts.find((text) => !said.has(text));
  if (failed === undefined) return check(...texts.map((text) => (said.get(text) ?? '').trim()));
  if (isOptional) return undefined;
  const what = `see why \`${failed}\` fails on ${where}`;
  return { is: 'cannot be read', fix: { kind: 'person', what } };
}

/** Those that are waived say why, and ask for nothing. */
export const waived = (
  problems: readonly SettingProblem[],
  waive: Readonly<Record<string, string>> = {},
): SettingProblem[] =>
  problems.map((problem) => {
    const { setting, is, isVital } = problem;
    const reason = Object.hasOwn(waive, setting) && !isVital ? waive[setting] : undefined;
    if (reason === undefined) return problem;
    const message = `${setting} ${is}: waived, because ${reason.replace(/\.$/, '')}.`;
    return { ...problem, message, isWaived: true };
  });

export function advice(fix: Fix, where = 'the DUT'): string {
  switch (fix.kind) {
    case 'command':
      return `run \`${commandText(fix.command)}\` on ${where}`;
    case 'loader':
      return `put \`${fix.line}\` into its /boot/loader.conf and reboot it`;
    case 'wait':
      return `wait ${fix.seconds} s`;
    case 'person':
      return fix.what;
  }
}

/** One value only, which can be set at any time. */
export const sysctl = (name: string, wanted: number, why: string): Setting =>
  oneValue(name, wanted, why, {
    kind: 'command',
    command: shell`sysctl ${`${name}=${wanted}`}`,
  });

/** One value only, which the loader hands to the kernel. */
export const tunable = (name: string, wanted: number, why: string, loaderName = name): Setting =>
  oneValue(name, wanted, why, { kind: 'loader', line: `${loaderName}="${wanted}"` });

const oneValue = (name: string, wanted: number, why: string, fix: Fix): Setting => ({
  name,
  why,
  reads: [readSysctl(name)],
  check: (value) =>
    unless(value === String(wanted), { is: `is ${value} instead of ${wanted}`, fix }),
});

/** Reads one value of the kernel's. */
export const readSysctl = (name: string): Command => shell`sysctl -n ${name}`;

export const unless = (isRight: boolean, fault: SettingFault): SettingFault | undefined =>
  isRight ? undefined : fault;
