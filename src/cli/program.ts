// Defines the program `ppsgate` with all its commands; the code of each is loaded when it is called.
import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { addGateCommands } from './gate/commands.ts';
import { addLabCommands } from './lab/commands.ts';
import { addRelayCommands } from './relay/commands.ts';
import { addReportCommands } from './reports/commands.ts';
import { addToolCommands } from './tools/commands.ts';

export function makeProgram(): Command {
  const program = new Command('ppsgate')
    .description(packageJson.description)
    .version(packageJson.version)
    .option('--debug', 'show the stack trace of an error')
    .addHelpText('after', '\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch')
    // Inherited by all commands: wrong usage exits with 2, where commander uses 1.
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'ppsgate:')) })
    // The names with their arguments fill more than half of a line.
    .configureHelp({ minWidthToWrap: 30 });
  addGateCommands(program);
  addReportCommands(program);
  addToolCommands(program);
  addLabCommands(program);
  addRelayCommands(program);
  return program;
}
