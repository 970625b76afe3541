// Defines the interface of all power controllers, their error, and how they read secrets.
import { reasonOf } from '../../model/one-line.ts';
import type { PowerDeps } from './power-deps.ts';

export type PowerController = {
  /** Begins a sentence: `The BMC of dut-3 (IPMI at 192.0.2.5:623)`. */
  readonly label: string;
  /** Completes "check …", for a controller that does not obey. */
  readonly check: string;
  state(): Promise<PowerReading>;
  turn(to: 'on' | 'off'): Promise<PowerReply>;
  /** Requires a machine that is on. Absent if the controller has no such order. */
  cycle?(): Promise<PowerReply>;
};

export type PowerReading = 'on' | 'off' | 'changing';

/** An accepted order is carried out later. `why` is the controller's message, on one line. */
export type PowerReply = { kind: 'accepted' } | { kind: 'done' } | { kind: 'refused'; why: string };

export class PowerError extends Error {
  override readonly name = 'PowerError';
}

/**
 * Reads one line of the file, or else the environment. Throws a PowerError that names the source, never the content.
 */
export async function readPassword(
  label: string,
  path: string | undefined,
  deps: Pick<PowerDeps, 'readSecret' | 'password'>,
): Promise<string> {
  const read = { readFile: deps.readSecret };
  const text = path === undefined ? (deps.password() ?? '') : await readFileFor(label, path, read);
  const password = text.replace(/\r?\n$/, '');
  if (/^\P{Cc}+$/u.test(password)) return password;
  throw new PowerError(
    `${label} cannot be opened: ${path ?? 'PPSGATE_BMC_PASSWORD of the environment'} must have one line, the password.`,
  );
}

export async function readFileFor(label: string, path: string, deps: Pick<PowerDeps, 'readFile'>): Promise<string> {
  return await deps.readFile(path).catch((error: unknown) => {
    throw new PowerError(`${label} cannot be opened: ${reasonOf(error)}.`, { cause: error });
  });
}
