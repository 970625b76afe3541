// Traces of a panic: messages, and a dump that savecore(8) and crashinfo(8) find at the next boot.
import { remove, textOf, writeFile } from './file-system.ts';
import type { Kernel } from './kernel.ts';
import { type Deps, type Machine, notify } from './machine.ts';

/** Called before the machine reboots; `reason` is the argument of panic(9). There is no dump before rc.d/dumpon. */
export function dumpCore(
  machine: Machine,
  deps: Deps,
  { reason, isBeforeDumpon }: { reason: string; isBeforeDumpon: boolean },
): void {
  const dumpsTo = isBeforeDumpon ? 'nowhere' : machine.crashes.dumpsTo;
  notify(
    machine,
    'Fatal trap 12: page fault while in kernel mode',
    `panic: ${reason}`,
    'cpuid = 3',
    'KDB: stack backtrace:',
    '#0 0xffffffff80b9309d at kdb_backtrace+0x5d',
    '#1 0xffffffff80b461a2 at vpanic+0x132',
    'Uptime: 1m5s',
    ...(dumpsTo === 'nowhere' ? [] : dumpMessages),
    'Automatic reboot in 15 seconds - press a key on the console to abort',
  );
  if (dumpsTo !== 'disk') return;
  writeFile(machine.files, dumpFile, dumpHeader(machine, machine.running?.kernel, reason, deps));
}

const dumpMessages = ['Dumping 1102 out of 32640 MB:..2%..50%..100%', 'Dump complete'];

/** Represents the dump device. */
const dumpFile = '/var/crash/.dumped';

/** True while savecore(8) has a dump to save. */
export const hasUnsavedDump = ({ files }: Machine): boolean => textOf(files, dumpFile) !== undefined;

/** savecore(8) and crashinfo(8): the dump of the last panic, under the next number. */
export function saveCore(machine: Machine): void {
  const { files } = machine;
  const info = textOf(files, dumpFile);
  if (info === undefined) return;
  remove(files, dumpFile);
  const bounds = Number(textOf(files, '/var/crash/bounds') ?? 0);
  const numbered = info.replace(/Bounds: .*/, `Bounds: ${bounds}`);
  writeFile(files, `/var/crash/info.${bounds}`, numbered, 0o600);
  writeFile(files, '/var/crash/info.last', numbered, 0o600);
  writeFile(files, `/var/crash/core.txt.${bounds}`, `${numbered}\n${machine.messages.join('\n')}\n`);
  writeFile(files, '/var/crash/bounds', `${bounds + 1}\n`);
}

/** Format of info.N of savecore(8). */
const dumpHeader = (machine: Machine, kernel: Kernel | undefined, reason: string, { clock }: Deps): string =>
  [
    'Dump header from device: /dev/ada0p3',
    '  Architecture: amd64',
    '  Architecture Version: 2',
    '  Dump Length: 1155530752',
    '  Blocksize: 512',
    '  Compression: none',
    `  Dumptime: ${new Date(clock.now() * 1000).toISOString().replace('T', ' ').slice(0, 19)} +0000`,
    `  Hostname: ${machine.name}`,
    '  Magic: FreeBSD Kernel Dump',
    `  Version String: ${kernel?.version ?? 'unknown'}`,
    `  Panic String: ${reason}`,
    '  Dump Parity: 1466911298',
    '  Bounds: 0',
    '  Dump Status: good',
    '',
  ].join('\n');
