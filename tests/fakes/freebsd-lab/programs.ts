// The programs of every machine, by their names.
import { appliancePrograms } from './commands/appliance.ts';
import { archivePrograms } from './commands/archive.ts';
import { bootPrograms } from './commands/boot.ts';
import { environmentPrograms } from './commands/environments.ts';
import { filePrograms } from './commands/files.ts';
import { hookPrograms } from './commands/hooks.ts';
import { ipfwPrograms } from './commands/ipfw.ts';
import { kenvPrograms } from './commands/kenv.ts';
import { modulePrograms } from './commands/modules.ts';
import { networkPrograms } from './commands/network.ts';
import { pfPrograms } from './commands/pf.ts';
import { pktGenPrograms } from './commands/pkt-gen.ts';
import { processPrograms } from './commands/processes.ts';
import { profilePrograms } from './commands/profile.ts';
import { killPrograms, shellWith } from './commands/sh.ts';
import { symbolPrograms } from './commands/symbols.ts';
import { systemPrograms } from './commands/system.ts';
import { type Found, timeoutWith } from './commands/timeout.ts';
import type { Program } from './process.ts';

const programs = new Map<string, Program>(
  Object.entries({
    ...appliancePrograms,
    ...archivePrograms,
    ...bootPrograms,
    ...environmentPrograms,
    ...filePrograms,
    ...hookPrograms,
    ...ipfwPrograms,
    ...kenvPrograms,
    ...modulePrograms,
    ...networkPrograms,
    ...pfPrograms,
    ...pktGenPrograms,
    ...processPrograms,
    ...profilePrograms,
    ...symbolPrograms,
    ...systemPrograms,
    ...killPrograms,
    sh: shellWith(findProgram),
    timeout: timeoutWith(findProgram),
  }),
);

const catchInterrupt = ['pkt-gen', 'pmcstat'];

/** Finds a program by its name, or by its path. */
export function findProgram(name: string): Found | undefined {
  const base = name.replace(/^(?:\/usr)?(?:\/local)?\/s?bin\//, '');
  const program = programs.get(base);
  return program && { program, catchesInterrupt: catchInterrupt.includes(base) };
}
