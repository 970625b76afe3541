// Finds the programs that a host lacks, and names their packages.
import { type Program, packagesOf } from '../../model/packages.ts';
import { shell } from '../shell.ts';
import { HostError } from './host-error.ts';
import type { Host } from './ssh.ts';

/** Throws a HostError that names the missing programs. `install` is the install command of the host's system. */
export async function requirePrograms(
  host: Host,
  programs: readonly Program[],
  install: 'apt-get install' | 'pkg install',
): Promise<void> {
  const missing = await missingOn(host, programs);
  if (missing.length === 0) return;
  throw new HostError(
    'command-failed',
    `${host.name} lacks ${missing.join(' and ')}: run '${install} ${packagesOf(missing).join(' ')}' there, or install the equivalent packages of its system.`,
  );
}

/** Returns the programs that the host's shell does not find. Throws a HostError if the host does not reply. */
export async function missingOn<Name extends Program>(host: Host, programs: readonly Name[]): Promise<Name[]> {
  const lines = (await host.output(shell`sh -c ${missingScript} sh ${programs}`)).split('\n');
  return programs.filter((program) => lines.includes(program));
}

/** Works in any login shell. */
export const missingScript = 'for program; do command -v "$program" >/dev/null || echo "$program"; done';
