// The command `ppsgate`.
import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addCommands, commands } from './commands/commands.ts';

const program = new Command('ppsgate')
  .description(packageJson.description)
  .version(packageJson.version)
  .option('--debug', 'show where an error came from')
  .addHelpText('after', '\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch')
  // Wrong usage is 2 for every command, which all take this over; commander itself would say 1.
  .exitOverride();

await addCommands(program, commands, process.argv.slice(2));
try {
  await program.parseAsync();
} catch (error) {
  const { code, exitCode } = error as { code?: string; exitCode?: number };
  if (code === undefined) throw error;
  process.exitCode = exitCode === 0 ? 0 : 2;
}
