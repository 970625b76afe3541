// The command `ppsgate`: names its commands, each of which loads what it needs when it is called.
import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { addAnalyzeCommand } from './commands/analyze.ts';
import { addBadgeCommand } from './commands/badge.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addFlamegraphCommand } from './commands/flamegraph.ts';
import { addFoldCommand } from './commands/fold.ts';
import { addGateCommand } from './commands/gate.ts';
import { addInitCommand } from './commands/init.ts';
import { addLabCommand } from './commands/lab.ts';
import { addMinistatCommand } from './commands/ministat.ts';
import { addPhabricatorCommand } from './commands/phabricator.ts';
import { addQuarantineCommand } from './commands/quarantine.ts';
import { addRelayCommands } from './commands/relay.ts';
import { addReleaseCommand } from './commands/release.ts';
import { addReportCommand } from './commands/report.ts';
import { addReserveCommand } from './commands/reserve.ts';
import { addSimulateCommand } from './commands/simulate.ts';
import { addTestbedsCommand } from './commands/testbeds.ts';

const program = new Command('ppsgate')
  .description(packageJson.description)
  .version(packageJson.version)
  .option('--debug', 'show where an error came from')
  .addHelpText('after', '\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch');

for (const add of [
  addDemoCommand,
  addGateCommand,
  addInitCommand,
  addBadgeCommand,
  addReportCommand,
  addAnalyzeCommand,
  addMinistatCommand,
  addFoldCommand,
  addFlamegraphCommand,
  addSimulateCommand,
  addLabCommand,
  addTestbedsCommand,
  addReserveCommand,
  addReleaseCommand,
  addQuarantineCommand,
  addRelayCommands,
  addPhabricatorCommand,
]) {
  add(program);
}

// Wrong usage is 2 for every command; commander itself would say 1.
program.exitOverride();
for (const command of program.commands) command.exitOverride();
try {
  await program.parseAsync();
} catch (error) {
  const { code, exitCode } = error as { code?: string; exitCode?: number };
  if (code === undefined) throw error;
  process.exitCode = exitCode === 0 ? 0 : 2;
}
