// Defines how to read, check and fix the settings of a FreeBSD DUT.
import { type Command, commandText, shell } from '../../../system/shell.ts';

export type Setting = {
  name: string;
  why: string;
  reads: readonly Command[];
  /** `outputs` are those of `reads`, in that order. */
  check(...outputs: string[]): SettingFault | undefined;
  /** The setting does not exist if `reads` fail. */
  isOptional?: boolean;
  /** Sends no packets without this setting, at any `preflight`, as they would do harm. */
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

/** Standard output of commands, by their text; omits failed ones. */
export type CommandOutputs = ReadonlyMap<string, string>;

export type SettingProblem = {
  setting: string;
  is: string;
  message: string;
  fix: Fix;
  isVital: boolean;
  /** ppsgate.yml waives the problem: it is only reported. */
  isWaived?: true;
};

export function readsOf(settings: readonly Setting[]): Command[] {
  const commands = settings.flatMap(({ reads }) => reads);
  return [...new Map(commands.map((command) => [commandText(command), command])).values()];
}

/** Returns an empty text if the setting holds. `where` is the machine's name for people. */
export function problemOf(setting: Setting, outputs: CommandOutputs, where = 'the DUT'): SettingProblem[] {
  const { name, why, isVital = false } = setting;
  const fault = faultOf(setting, outputs, where);
  if (fault === undefined) return [];
  const { is } = fault;
  const message = `${name} ${is}, and ${why}: ${advice(fault.fix, where)}.`;
  return [{ setting: name, message, fix: fault.fix, isVital, is }];
}

function faultOf(
  { reads, check, isOptional = false }: Setting,
  outputs: CommandOutputs,
  where: string,
): SettingFault | undefined {
  const texts = reads.map(commandText);
  const failed = texts.find((text) => !outputs.has(text));
  if (failed === undefined) return check(...texts.map((text) => (outputs.get(text) ?? '').trim()));
  if (isOptional) return undefined;
  const what = `check why \`${failed}\` fails on ${where}`;
  return { is: 'cannot be read', fix: { kind: 'person', what } };
}

/** Replaces the advice of waived problems by the reason of the waiver. */
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

/** Requires one value, which can be set at any time. */
export const sysctl = (name: string, required: number, why: string): Setting =>
  oneValue(name, required, why, {
    kind: 'command',
    command: shell`sysctl ${`${name}=${required}`}`,
  });

/** Requires one value, which the loader passes to the kernel. */
export const tunable = (name: string, required: number, why: string, loaderName = name): Setting =>
  oneValue(name, required, why, { kind: 'loader', line: `${loaderName}="${required}"` });

const oneValue = (name: string, required: number, why: string, fix: Fix): Setting => ({
  name,
  why,
  reads: [readSysctl(name)],
  check: (value) => unless(value === String(required), { is: `is ${value} instead of ${required}`, fix }),
});

export const readSysctl = (name: string): Command => shell`sysctl -n ${name}`;

export const unless = (isRight: boolean, fault: SettingFault): SettingFault | undefined =>
  isRight ? undefined : fault;
