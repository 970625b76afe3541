// The command `ppsgate`.
import { CommanderError } from 'commander';
import { readsUtf8, writeAscii } from './cli/ascii.ts';
import { makeProgram } from './cli/program.ts';

for (const one of [process.stdout, process.stderr]) {
  // Drops output that is no longer read, as after head(1), without other effects: a gate may be in progress.
  one.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  if (!readsUtf8(process.env)) writeAscii(one);
}

try {
  await makeProgram().parseAsync();
} catch (error) {
  // Help and version also end this way.
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode !== 0) process.exitCode = 2;
}
