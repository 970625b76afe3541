// A gate as a person at a shell meets it: options in, progress on stderr, the verdict on stdout.
import { join, resolve } from 'node:path';
import { loadConfig } from '../config/load.ts';
import {
  applyOverrides,
  type Overrides,
  parseMaxRuns,
  parsePriority,
  parseSeed,
  UsageError,
} from '../config/overrides.ts';
import type { Config } from '../config/schema.ts';
import { openReservations, whoami } from '../controller.ts';
import { exitCodeOfResult, worstExitCode } from '../exit.ts';
import { historyFile } from '../experiment/history.ts';
import { randomSeed } from '../experiment/plan.ts';
import { gate, resumeGate, type World } from '../gate.ts';
import { patchName } from '../patch/patch.ts';
import { patchOfRange } from '../patch/range.ts';
import { openRepository } from '../patch/repository.ts';
import { labelled, showProgress } from '../progress.ts';
import { headline } from '../report/headline.ts';
import type { Result } from '../report/result.ts';
import { testbedsFor, wishesOf } from '../testbed/inventory.ts';
import { timestampedDirectory } from '../work-directory.ts';

export type GateOptions = Overrides & {
  patch?: string;
  repository?: string;
  config?: string;
  testbed?: string;
  each?: string;
  priority?: string;
  directory?: string;
  seed?: string;
  resume?: string;
  baseKernel?: string;
  patchedKernel?: string;
  json?: true;
};

/** Answers the exit code of the worst verdict; throws for what kept it from one. */
export async function runGate(options: GateOptions, signal: AbortSignal): Promise<number> {
  const config = applyOverrides(
    await loadConfig(resolve(options.config ?? 'ppsgate.yml')),
    options,
  );
  const gates = await gatesOf(config, options);
  const ended = await Promise.allSettled(
    gates.map(async (one) => ({ ...one, result: await judge(one, config, options, signal) })),
  );
  const judged = ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (options.json) {
    const results = judged.map(({ result }) => result);
    const printed = gates.length === 1 ? results[0] : results;
    if (printed !== undefined) process.stdout.write(`${JSON.stringify(printed, null, 2)}\n`);
  } else {
    for (const { result, directory } of judged) {
      process.stdout.write(`${headline(result)}\nReport: ${directory}/report.md\n`);
    }
  }
  const failure = ended.find(({ status }) => status === 'rejected');
  if (failure?.status === 'rejected') throw failure.reason;
  return worstExitCode(judged.map(({ result }) => exitCodeOfResult(result)));
}

/** One patch on one testbed. */
type OneGate = {
  /** Tells it from the others; empty where there are none. */
  name: string;
  directory: string;
  start(world: World): Promise<Result>;
};

async function gatesOf(config: Config, options: GateOptions): Promise<OneGate[]> {
  const { resume, maxRuns } = options;
  if (resume !== undefined) {
    const most = maxRuns === undefined ? undefined : parseMaxRuns(maxRuns);
    return [{ name: '', directory: resume, start: (world) => resumeGate(resume, world, most) }];
  }
  const repository = repositoryOf(options);
  const patch = await patchOfRange(repository, required('--patch', options.patch));
  const seed = options.seed === undefined ? randomSeed() : parseSeed(options.seed);
  const kernels = givenKernels(options);
  const folder = options.directory ?? timestampedDirectory('ppsgate-gate');
  const wishes = wishesOf(config, options);
  return wishes.map((wish): OneGate => {
    const isOnly = wishes.length === 1;
    const directory = isOnly ? folder : join(folder, wish.replace(/[^\w.-]+/g, '-'));
    const request = { patch, config, testbeds: testbedsFor(config, wish), seed, kernels };
    return {
      name: isOnly ? '' : wish,
      directory,
      start: (world) => gate(request, directory, world),
    };
  });
}

const repositoryOf = ({ repository }: GateOptions) => openRepository(resolve(repository ?? '.'));

async function judge(
  { name, directory, start }: OneGate,
  config: Config,
  options: GateOptions,
  signal: AbortSignal,
): Promise<Result> {
  const priority = parsePriority(options.priority);
  const output = labelled(process.stderr, name);
  const progress = showProgress(output, config.gate.metric, () => performance.now());
  const tell = (text: string) => progress.onEvent({ kind: 'preparing', text });
  await using reservations = await openReservations(config, {
    signal,
    tell,
    onWait: (_, text) => tell(text),
  });
  return await start({
    repository: repositoryOf(options),
    reserve: (testbeds, patch) => {
      const holder = { who: whoami(), purpose: 'gate', patch: patchName(patch) };
      return reservations.reserve(testbeds, { priority, holder }, directory);
    },
    history: historyFile(config.history),
    now: () => new Date(),
    onEvent: progress.onEvent,
    signal,
  }).finally(progress.end);
}

function givenKernels({ baseKernel: base, patchedKernel: patched }: GateOptions) {
  if (base === undefined && patched === undefined) return undefined;
  return {
    base: required('--base-kernel', base),
    patched: required('--patched-kernel', patched),
  };
}

function required(name: string, value: string | undefined): string {
  if (value !== undefined) return value;
  throw new UsageError(`${name} is missing: see 'ppsgate gate --help'.`);
}
