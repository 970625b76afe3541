// The main job on the embedded lab: three patches of known effect, judged as any other patch is.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { sum } from 'simple-statistics';
import { parseConfig } from '../config/load.ts';
import { applyOverrides } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import { openEmbedded } from '../controller/open.ts';
import { historyFile } from '../experiment/history.ts';
import { hasPlan } from '../experiment/plan.ts';
import { gate, resumeGate, type World } from '../gate.ts';
import { patchOfRange } from '../patch/range.ts';
import { openRepository } from '../patch/repository.ts';
import { outcomeName } from '../report/headline.ts';
import { readResult } from '../report/read.ts';
import { unshared } from '../testbed/testbed.ts';
import type { Result } from '../words/result.ts';
import {
  baseBranch,
  type DemoPatch,
  demoConfig,
  demoPatches,
  makeDemoRepository,
} from './repository.ts';

export type Judged = { patch: DemoPatch; directory: string; result: Result; asExpected: boolean };

type DemoOptions = {
  /** Holds the repository, and a work directory for each patch; what is there already is gone on with. */
  directory: string;
  seed: number;
  /** Absent: the usual one. */
  design?: string | undefined;
  onPatch(patch: DemoPatch, index: number): Pick<World, 'onEvent'> & { end(): void };
  signal: AbortSignal;
};

/** Judges the three patches, one after the other, and compares what comes out with what must. */
export async function runDemo(options: DemoOptions): Promise<Judged[]> {
  const { directory, seed, design, onPatch, signal } = options;
  const repositoryDirectory = join(directory, 'repository');
  if (!(await exists(repositoryDirectory))) await makeDemoRepository(repositoryDirectory);
  const repository = openRepository(repositoryDirectory);
  const path = join(repositoryDirectory, 'ppsgate.yml');
  const written = parseConfig(demoConfig, { path, home: '/nonexistent' });
  const config = applyOverrides(written, { design }, calledAs.flag);
  const [testbed = ''] = Object.keys(config.testbeds);

  const judged: Judged[] = [];
  for (const [index, demoPatch] of demoPatches.entries()) {
    const work = join(directory, demoPatch.branch);
    const progress = onPatch(demoPatch, index);
    const world: World = {
      repository,
      // The lab is this machine's, and its owner's alone.
      reserve: async () => unshared(testbed, (traffic) => openEmbedded(testbed, traffic)),
      history: historyFile(config.history),
      now: () => new Date(),
      onEvent: progress.onEvent,
      signal,
    };
    const patch = await patchOfRange(repository, `${baseBranch}..${demoPatch.branch}`);
    const result = await judge({ patch, config, testbeds: [testbed], seed }, work, world).finally(
      progress.end,
    );
    judged.push({
      patch: demoPatch,
      directory: work,
      result,
      asExpected: isExpected(demoPatch, result),
    });
  }
  return judged;
}

/** A patch that an earlier process finished is not judged again, one that it began is gone on with. */
async function judge(
  request: Parameters<typeof gate>[0],
  directory: string,
  world: World,
): Promise<Result> {
  if (await exists(join(directory, 'result.json'))) return readResult(directory);
  return (await hasPlan(directory))
    ? resumeGate(directory, world)
    : gate(request, directory, world);
}

/** How long packets flowed that were measured, or sampled. */
export function trafficSeconds({ blasts, outcome }: Result): number {
  const cells = outcome.kind === 'judged' ? outcome.cells : [];
  const profiles = cells.flatMap((cell) => cell.profiles);
  return sum([
    ...blasts.map((blast) => blast.trafficSeconds),
    ...profiles.map((profile) => (profile.kind === 'profiled' ? profile.seconds : 0)),
  ]);
}

const isExpected = ({ expected }: DemoPatch, result: Result): boolean =>
  outcomeName(result) === expected;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
