// Runs programs as a user without an account on this machine, to unpack, read and boot untrusted kernels.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { labPath } from '../../netns/requirements.ts';

/** A user and group id without an account; its bytes read `ppsg`. */
export const unprivilegedUserId = 0x70707367;

const run = promisify(execFile);

/** Limits of setrlimit(2) for file size, time and memory. A kernel's packages need a tenth. */
export const maxFileBytes = 1024 ** 3;
const limits = [`--fsize=${maxFileBytes}`, '--cpu=600', `--as=${4 * 1024 ** 3}`];

/** Runs a program as that user, without a way back, within limits; throws if that fails. */
export async function runUnprivileged(program: string, args: readonly string[]): Promise<string> {
  const user = String(unprivilegedUserId);
  const privileges = ['--reuid', user, '--regid', user, '--clear-groups', '--no-new-privs', '--'];
  const { stdout } = await run('setpriv', [...privileges, 'prlimit', ...limits, '--', program, ...args], {
    env: { PATH: labPath(), LC_ALL: 'C' },
    maxBuffer: 16 * 1024 ** 2,
    cwd: '/',
  });
  return stdout;
}
