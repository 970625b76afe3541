// `ppsgate gate`: judges one patch of a repository on a testbed of ppsgate.yml.

import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { type GateOptions, namingStyles } from '../../config/parameters.ts';
import { recordTo } from '../../gate/recording/record.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import { runToExit } from '../../system/exit.ts';
import { stderrLog } from './judge-gate.ts';
import { configPath } from './named-testbed.ts';
import { addGateOptions, runGates } from './run-gates.ts';

export function define(command: Command): void {
  addGateOptions(command, () => true);
  command
    .addHelpText(
      'after',
      `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges your changes since the main branch, committed or not.

Exits 0 on a pass, 1 if the patch is at fault, 2 on wrong usage, 3 if undecided,
and 4 if the lab failed.`,
    )
    .action(async (options: GateOptions) => {
      const lastWords: string[] = [];
      await runToExit((signal) => runGate(options, signal, lastWords), {
        ...command.optsWithGlobals(),
        lastWords,
      });
    });
}

/** Returns the exit code of the worst verdict; on errors throws, and puts into `lastWords` how to resume. */
async function runGate(
  options: GateOptions,
  signal: AbortSignal,
  lastWords: string[],
): Promise<number> {
  const path = configPath(options.config);
  // Set by the Jenkins library, whose users wrote the parameters of its step.
  const called = process.env.PPSGATE_WORDS === undefined ? namingStyles.flag : namingStyles.step;
  const config = applyOverrides(await loadConfig(path), options, called);
  const { record } = options;
  using recorder =
    record === undefined
      ? undefined
      : await recordTo(record, 'gate', Object.values(config.testbeds));
  await using work = new WorkDirectory('ppsgate-gate', stderrLog.warn);
  return await runGates({ config, options, called, signal, work, lastWords, recorder });
}
