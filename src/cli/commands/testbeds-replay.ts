// `ppsgate testbeds replay`: replays a recording with the current code.
import type { Command } from 'commander';
import { runToExit } from '../../system/exit.ts';

export function define(command: Command): void {
  command
    .argument('<file>', 'recording written by `--record`')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
Example:
  ppsgate testbeds replay hp-t540.rec.gz

Contacts no machine. Checks and gates record all commands and replies with
--record FILE; to read a recording: zcat FILE | less

Exits 0 if all replies are understood as before, 2 for a file that is no
recording, and 4 if one is not understood.`,
    )
    .action(async (file: string, options: { json?: true }) => {
      const exit = { ...command.optsWithGlobals(), endsAtOnce: true };
      await runToExit(async () => {
        const { replayFile } = await import('./run-testbeds-replay.ts');
        return replayFile(file, options);
      }, exit);
    });
}
