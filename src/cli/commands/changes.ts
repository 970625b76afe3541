// `ppsgate changes`: finds permanent changes of level in a series of nightly runs.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';
import type { ChangesOptions } from './run-changes.ts';

export function define(command: Command): void {
  command
    .argument('<file>', 'file with one line per nightly run, a name and its values; or a folder of REV[.CONFIG].pps')
    .option('--least <percent>', 'the smallest change that matters', '1%')
    .option('--json', 'print the changes as JSON')
    .addHelpText('after', details)
    .action(async (file: string, options: ChangesOptions) => {
      const exit = { ...command.optsWithGlobals(), endsAtOnce: true };
      await runToExit(async () => {
        const { runChanges } = await import('./run-changes.ts');
        return runChanges(file, options);
      }, exit);
    });
}

const details = `
Example:
  ppsgate changes nightly.txt

nightly.txt has the nightly runs in order:
  n268411 1042331 1043120 1041877
  n268502 1041022 1042345 1040998

Judges the nightly runs one after the other, as if each were the latest. A
change that was found stays; one or two bad nightly runs are none. As JSON:
  { "changes": [{ "series", "name", "index",
                  "before", "after", "changeRatio" }] }
"name" and "index" (from 0) are those of the first nightly run at the new level,
"before" and "after" the medians of the runs up to the next change.

Exits 0 with or without changes, and 2 if the file cannot be read.`;
