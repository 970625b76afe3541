// Judges patches of known effect on this machine, on the embedded lab or in virtual machines.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { sum } from 'simple-statistics';
import { parseConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import { patchOfRange } from '../../forge/patch/commit-range.ts';
import { openRepository } from '../../forge/patch/repository.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import { hasPlan } from '../../gate/experiment/plan.ts';
import { gate } from '../../gate/gate.ts';
import type { GateDeps } from '../../gate/gate-deps.ts';
import { resumeGate } from '../../gate/resume-gate.ts';
import { openHere, realDeps } from '../../gate/testbeds/open-testbed.ts';
import type { GivenKernels } from '../../kernel/variant.ts';
import { unshared } from '../../lab/testbed.ts';
import { outcomeName } from '../../model/conclusion.ts';
import type { Metric } from '../../model/metric.ts';
import type { Result } from '../../model/result.ts';
import { readResult } from '../../report/read-result.ts';
import {
  baseBranch,
  type DemoPatch,
  demoConfig,
  demoPatches,
  freebsdDemoConfig,
  freebsdDemoPatches,
  makeDemoRepository,
  makeFreebsdDemoRepository,
  makeVirtualDemoRepository,
  virtualDemoConfig,
  virtualDemoPatches,
} from './demo-repository.ts';

export type Judged = { patch: DemoPatch; directory: string; result: Result; asExpected: boolean };

export type DemoSubject = {
  patches: readonly DemoPatch[];
  config: string;
  metric: Metric;
  makeRepository(directory: string): Promise<void>;
  kernels?: GivenKernels;
};

type DemoOptions = {
  /** Existing repositories and work directories are continued. */
  directory: string;
  subject: DemoSubject;
  seed: number;
  design?: string | undefined;
  onPatch(patch: DemoPatch, index: number): Pick<GateDeps, 'onEvent'> & { end(): void };
  signal: AbortSignal;
};

export const embeddedDemo: DemoSubject = {
  patches: demoPatches,
  config: demoConfig,
  metric: 'nsPerPacket',
  makeRepository: makeDemoRepository,
};

export const virtualDemo = (kernels: GivenKernels): DemoSubject => ({
  patches: virtualDemoPatches,
  config: virtualDemoConfig(kernels.base),
  metric: 'instructionsPerPacket',
  makeRepository: makeVirtualDemoRepository,
  kernels,
});

/** Judges a ruleset of pf, and kernels if some are given. */
export const freebsdDemo = (image: string, kernels?: GivenKernels): DemoSubject => ({
  patches: freebsdDemoPatches.filter(({ boots }) => !boots || kernels !== undefined),
  config: freebsdDemoConfig(image),
  metric: 'instructionsPerPacket',
  makeRepository: makeFreebsdDemoRepository,
  ...(kernels !== undefined && { kernels }),
});

export async function runDemo(options: DemoOptions): Promise<Judged[]> {
  const { directory, subject, seed, design, onPatch, signal } = options;
  const repositoryDirectory = join(directory, 'repository');
  if (!(await exists(repositoryDirectory))) await subject.makeRepository(repositoryDirectory);
  const repository = openRepository(repositoryDirectory);
  const path = join(repositoryDirectory, 'ppsgate.yml');
  const written = parseConfig(subject.config, { path, home: '/nonexistent' });
  const config = applyOverrides(written, { design }, namingStyles.flag);
  const [testbed = ''] = Object.keys(config.testbeds);

  const judged: Judged[] = [];
  for (const [index, demoPatch] of subject.patches.entries()) {
    const work = join(directory, demoPatch.branch);
    const progress = onPatch(demoPatch, index);
    const notify = (text: string) => progress.onEvent({ kind: 'preparing', text });
    const machines = { ...realDeps, notify, signal };
    const deps: GateDeps = {
      repository,
      // The lab belongs to this machine and user alone.
      reserve: async () => unshared(testbed, (traffic) => openHere(testbed, traffic, config, machines)),
      history: historyFile(config.history),
      now: () => new Date(),
      onEvent: progress.onEvent,
      signal,
    };
    const patch = await patchOfRange(repository, `${baseBranch}..${demoPatch.branch}`);
    const kernels = demoPatch.boots && subject.kernels;
    const request = { patch, config, testbeds: [testbed], seed, kernels };
    const result = await judge(request, work, deps).finally(progress.end);
    judged.push({
      patch: demoPatch,
      directory: work,
      result,
      asExpected: isExpected(demoPatch, result),
    });
  }
  return judged;
}

/** Skips a patch that an earlier process finished, and resumes one that it began. */
async function judge(request: Parameters<typeof gate>[0], directory: string, deps: GateDeps): Promise<Result> {
  if (await exists(join(directory, 'result.json'))) return readResult(directory);
  return (await hasPlan(directory)) ? resumeGate(directory, deps) : gate(request, directory, deps);
}

/** Includes traffic for profiles. */
export function trafficSeconds({ trials, outcome }: Result): number {
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const profiles = cells.flatMap((cell) => cell.profiles);
  return sum([
    ...trials.map((trial) => trial.trafficSeconds),
    ...profiles.map((profile) => (profile.kind === 'profiled' ? profile.seconds : 0)),
  ]);
}

function isExpected({ expected }: DemoPatch, result: Result): boolean {
  const outcome = outcomeName(result);
  return expected === undefined ? decidedVerdicts.has(outcome) : outcome === expected;
}

const decidedVerdicts: ReadonlySet<string> = new Set(['regression', 'no-regression', 'improvement']);

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
