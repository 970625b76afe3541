// Runs `ppsgate gate`, whose options are in gate.ts.
import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { type GateOptions, namingStyles } from '../../config/parameters.ts';
import type { Config } from '../../config/schema.ts';
import type { Recorder } from '../../gate/recording/recorder.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import { runToExit } from '../../system/exit.ts';
import { stderrLog } from './gate-call.ts';
import { configPath } from './named-testbed.ts';
import { runGates } from './run-gates.ts';

/** Exits with the code of the worst verdict; prints after an error how to resume. */
export async function runGate(options: GateOptions, { debug }: { debug?: boolean }): Promise<void> {
  const closingLines: string[] = [];
  await runToExit((signal) => judge(options, signal, closingLines), {
    ...(debug !== undefined && { debug }),
    closingLines: closingLines,
  });
}

async function judge(options: GateOptions, signal: AbortSignal, closingLines: string[]): Promise<number> {
  const path = configPath(options.config);
  // Set by the Jenkins library, whose users wrote the parameters of its step.
  const optionName = process.env.PPSGATE_WORDS === undefined ? namingStyles.flag : namingStyles.step;
  const config = applyOverrides(await loadConfig(path), options, optionName);
  const { record } = options;
  using recorder = record === undefined ? undefined : await recorderFor(record, config);
  await using work = new WorkDirectory('ppsgate-gate', stderrLog.warn);
  return await runGates({
    config,
    options,
    optionName: optionName,
    signal,
    work,
    closingLines: closingLines,
    recorder,
  });
}

async function recorderFor(path: string, { testbeds }: Config): Promise<Recorder> {
  const { recordTo } = await import('../../gate/recording/record.ts');
  return recordTo(path, 'gate', Object.values(testbeds));
}
