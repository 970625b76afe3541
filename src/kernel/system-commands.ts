// Lists builder commands that differ between systems.

import type { OperatingSystem } from '../model/scenario.ts';
import { type Command, shell } from '../system/shell.ts';

type SystemCommands = {
  /** Prints the SHA-256 of a file; see `sumIn` for the format. */
  sha256(path: string): Command;
  readonly cpus: Command;
  /** Packs the content of a folder, with root as the owner of all files. */
  rootArchive(archive: string, folder: string): Command;
  /** Runs a command under a lock on the file. Exits with `heldByOthers` if the lock stays busy. */
  locked(lock: string, waitSeconds: number, command: Command): Command;
};

/** EX_TEMPFAIL of sysexits(3). */
export const heldByOthers = 75;

export const commandsOf: Readonly<Record<OperatingSystem, SystemCommands>> = {
  freebsd: {
    sha256: (path) => shell`sha256 -q ${path}`,
    cpus: shell`sysctl -n hw.ncpu`,
    rootArchive: (archive, folder) => shell`tar --zstd --uid 0 --gid 0 -cf ${archive} -C ${folder} .`,
    locked: (lock, waitSeconds, command) => shell`lockf -k -s -t ${waitSeconds} ${lock} ${command}`,
  },
  linux: {
    sha256: (path) => shell`sha256sum ${path}`,
    cpus: shell`nproc`,
    rootArchive: (archive, folder) =>
      shell`tar --zstd --owner=0 --group=0 --numeric-owner -cf ${archive} -C ${folder} .`,
    locked: (lock, waitSeconds, command) => shell`flock -w ${waitSeconds} -E ${heldByOthers} ${lock} ${command}`,
  },
};

export const sumIn = (written: string): string => /^[0-9a-f]{64}(?=\s|$)/.exec(written)?.[0] ?? '';
