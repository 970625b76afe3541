// The programs of every machine, by their names, or by whole command lines.
import { appliancePrograms } from './commands/appliance.ts';
import { bootPrograms } from './commands/boot.ts';
import { environmentPrograms } from './commands/environments.ts';
import { filePrograms } from './commands/files.ts';
import { ipfwPrograms } from './commands/ipfw.ts';
import { modulePrograms } from './commands/modules.ts';
import { networkPrograms } from './commands/network.ts';
import { pfPrograms } from './commands/pf.ts';
import { pktGenPrograms } from './commands/pkt-gen.ts';
import { processPrograms } from './commands/processes.ts';
import { profilePrograms } from './commands/profile.ts';
import { type Found, shellPrograms } from './commands/sh.ts';
import { symbolPrograms } from './commands/symbols.ts';
import { systemPrograms } from './commands/system.ts';
import { notModelled, type Program } from './process.ts';

const programs = new Map<string, Program>(
  Object.entries({
    ...appliancePrograms,
    ...bootPrograms,
    ...environmentPrograms,
    ...filePrograms,
    ...ipfwPrograms,
    ...modulePrograms,
    ...networkPrograms,
    ...pfPrograms,
    ...pktGenPrograms,
    ...processPrograms,
    ...profilePrograms,
    ...shellPrograms(findProgram),
    ...symbolPrograms,
    ...systemPrograms,
  }),
);

const names = new Set([...programs.keys()].map((line) => line.split(' ')[0] ?? ''));
const catchInterrupt = ['pkt-gen', 'pmcstat'];

/** Finds a program by its name, or by its path. */
export function findProgram(name: string): Found | undefined {
  const base = name.replace(/^(?:\/usr)?(?:\/local)?\/s?bin\//, '');
  if (!names.has(base)) return undefined;
  const program: Program = (process) =>
    (programs.get([base, ...process.args].join(' ')) ?? programs.get(base) ?? notModelled)(process);
  return { program, catchesInterrupt: catchInterrupt.includes(base) };
}
