// Runs programs as a user without an account on this machine: untrusted kernels are unpacked, read and run by it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { labPath } from '../../netns/requirements.ts';

/** A user and group id without an account; its bytes read `ppsg`. */
export const nobody = 0x70707367;

const run = promisify(execFile);

/** Runs a program permanently as that user; throws where that fails. */
export async function runAsNobody(program: string, args: readonly string[]): Promise<string> {
  const user = String(nobody);
  const { stdout } = await run(
    'setpriv',
    ['--reuid', user, '--regid', user, '--clear-groups', '--no-new-privs', '--', program, ...args],
    { env: { PATH: labPath(), LC_ALL: 'C' }, maxBuffer: 16 * 1024 ** 2, cwd: '/' },
  );
  return stdout;
}
