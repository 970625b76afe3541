// A gate as a person at a shell meets it: options in, progress on stderr, the verdict on stdout.
import { resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import { applyOverrides, type Overrides, parseSeed, UsageError } from '../config/overrides.ts';
import { exitCodeOfResult } from '../exit.ts';
import { randomSeed } from '../experiment/plan.ts';
import { gate, resumeGate, type World } from '../gate.ts';
import { patchOfRange } from '../patch/range.ts';
import { openRepository } from '../patch/repository.ts';
import { showProgress } from '../progress.ts';
import { headline } from '../report/headline.ts';
import type { Result } from '../report/result.ts';
import { chooseTestbed, openTestbed } from '../testbed/open.ts';
import { timestampedDirectory } from '../work-directory.ts';

export type GateOptions = Overrides & {
  patch?: string;
  repository?: string;
  config?: string;
  testbed?: string;
  directory?: string;
  seed?: string;
  resume?: string;
  json?: true;
};

/** Answers the exit code of the verdict; throws for what kept it from one. */
export async function runGate(options: GateOptions, signal: AbortSignal): Promise<number> {
  const config = applyOverrides(
    await loadConfig(resolve(options.config ?? 'ppsgate.yml')),
    options,
  );
  const testbed = chooseTestbed(config, options.testbed);
  const directory = options.resume ?? options.directory ?? timestampedDirectory('ppsgate-gate');
  const progress = showProgress(process.stderr, config.gate.metric, () => performance.now());
  const repository = openRepository(resolve(options.repository ?? '.'));
  const world: World = {
    repository,
    openTestbed: (name, traffic) => openTestbed(name, traffic, config),
    now: () => new Date(),
    onEvent: progress.onEvent,
    signal,
  };
  const judge = async (): Promise<Result> => {
    if (options.resume !== undefined) return resumeGate(directory, world);
    const patch = await patchOfRange(repository, required('--patch', options.patch));
    const seed = options.seed === undefined ? randomSeed() : parseSeed(options.seed);
    const request = { patch, config, testbed, seed };
    return gate(request, directory, world);
  };
  const result = await judge().finally(progress.end);

  if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  else process.stdout.write(`${headline(result)}\nReport: ${directory}/report.md\n`);
  return exitCodeOfResult(result);
}

function required(name: string, value: string | undefined): string {
  if (value !== undefined) return value;
  throw new UsageError(`${name} is missing: see 'ppsgate gate --help'.`);
}
