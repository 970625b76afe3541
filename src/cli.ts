// The command `ppsgate`.
import { CommanderError } from 'commander';
import { readsUtf8, writeAscii } from './cli/commands/ascii.ts';
import { letReaderGo } from './cli/commands/closed-pipe.ts';
import { programFor } from './cli/commands/commands.ts';

for (const one of [process.stdout, process.stderr]) {
  letReaderGo(one);
  if (!readsUtf8(process.env)) writeAscii(one);
}

const words = process.argv.slice(2);
const program = await programFor(words);
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Help and version also end this way, and need no code of the configuration.
  if (error.exitCode !== 0) {
    const { mistyped } = await import('./cli/commands/mistyped.ts');
    const sentence = mistyped(error, program, words);
    if (sentence !== undefined) process.stderr.write(`ppsgate: ${sentence}\n`);
    process.exitCode = 2;
  }
}
