// Uploads the archive of a kernel to a FreeBSD machine and unpacks it there.
import { stat } from 'node:fs/promises';
import { lastLine } from '../../../model/one-line.ts';
import { isGood } from '../../../system/host/execute.ts';
import { HostError } from '../../../system/host/host-error.ts';
import { ownFolder } from '../../../system/host/own-folder.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { uploadOverBreaks } from '../../../system/host/upload.ts';
import { shell } from '../../../system/shell.ts';
import type { BootMachine, InstallOutcome, KernelArchive } from './boot.ts';
import { fileSystemsOf, sha256Of } from './boot-system.ts';

/** Keeps a partial archive when the machine is lost: the next upload of the same archive resumes it. */
export const archiveFolder = '/var/tmp/ppsgate';

export async function withArchive(
  machine: BootMachine,
  kernel: KernelArchive,
  use: (archive: string) => Promise<InstallOutcome>,
): Promise<InstallOutcome> {
  const reason = await tooLittleSpace(machine.host(), kernel);
  if (reason !== undefined) return { kind: 'no-space', reason };
  const archive = `${archiveFolder}/${kernel.sha256}.tar`;
  await machine.host().output(ownFolder(archiveFolder));
  await uploadOverBreaks(machine.host(), {
    path: kernel.path,
    remotePath: archive,
    mode: 0o600,
    sha256: kernel.sha256,
    sumOf: sha256Of,
    reconnect: machine.reconnect,
  });
  const outcome = await use(archive);
  await machine.host().output(shell`rm -rf ${archive}`);
  return outcome;
}

/** Unpacks into an existing folder; throws a HostError for an archive that tar(1) cannot read. */
export async function unpack(host: Host, archive: string, folder: string): Promise<InstallOutcome> {
  const unpacked = await host.run(shell`tar -x -p -f ${archive} -C ${folder}`);
  if (isGood(unpacked)) return { kind: 'installed' };
  const noSpace = /^.*No space left on device.*$/m.exec(unpacked.stderr)?.[0];
  if (noSpace !== undefined) return { kind: 'no-space', reason: noSpace };
  throw new HostError(
    'command-failed',
    `tar cannot unpack ${archive} on ${host.name}: ${lastLine(unpacked.stderr) ?? 'it said nothing'}`,
  );
}

async function tooLittleSpace(host: Host, kernel: KernelArchive): Promise<string | undefined> {
  const [boot, temporary] = await fileSystemsOf(host, ['/boot', '/var/tmp']);
  if (boot === undefined || temporary === undefined) return undefined;
  const archiveBytes = (await stat(kernel.path)).size;
  const isShared = diskOf(boot.device) === diskOf(temporary.device);
  const bootBytes = kernel.unpackedBytes + (isShared ? archiveBytes : 0);
  return lackOf('/boot', boot.availableBytes, bootBytes) ?? lackOf('/var/tmp', temporary.availableBytes, archiveBytes);
}

/** A pool's datasets share its space. */
const diskOf = (device: string): string | undefined => (device.startsWith('/') ? device : device.split('/')[0]);

function lackOf(folder: string, availableBytes: number, neededBytes: number): string | undefined {
  if (availableBytes >= neededBytes) return undefined;
  const mebibytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  return `${folder} has ${mebibytes(availableBytes)} left and a kernel needs ${mebibytes(neededBytes)}`;
}
