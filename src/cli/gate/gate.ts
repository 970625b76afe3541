// Runs `ppsgate gate`.

import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { type GateOptions, namingStyles } from '../../config/parameters.ts';
import { WorkDirectory } from '../../gate/work-directory.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';
import { stderrLog } from './gate-call.ts';
import { runGates } from './run-gates.ts';

/** Returns the exit code of the worst verdict; `closingLines` say after an error how to resume. */
export async function run(options: GateOptions, { signal, closingLines }: Call): Promise<number> {
  const path = configPath(options.config);
  // Set by the Jenkins library, whose users wrote the parameters of its step.
  const optionName = process.env.PPSGATE_WORDS === undefined ? namingStyles.flag : namingStyles.step;
  const config = applyOverrides(await loadConfig(path), options, optionName);
  const { record } = options;
  using flightLog =
    record === undefined ? undefined : await (await import('../../gate/flight-log.ts')).openFlightLog(record, config);
  await using work = new WorkDirectory('ppsgate-gate', stderrLog.warn);
  return await runGates({ config, options, optionName, signal, work, closingLines, flightLog });
}
