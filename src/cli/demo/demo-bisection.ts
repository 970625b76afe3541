// Bisects 24 commits of known effect on the embedded lab; one of them costs packets.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { parseConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import { openRepository } from '../../forge/patch/repository.ts';
import { bisect, resumeBisection } from '../../gate/bisect/bisect.ts';
import { hasBisectPlan } from '../../gate/bisect/bisect-plan.ts';
import { historyFile } from '../../gate/experiment/history.ts';
import type { GateDeps } from '../../gate/gate-deps.ts';
import { openHere } from '../../gate/testbeds/open-testbed.ts';
import { unshared } from '../../lab/testbed.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { baseBranch, bisectCommits, culpritSubject, demoConfig, makeBisectRepository } from './demo-repository.ts';

export type BisectDemo = { directory: string; result: BisectResult; asExpected: boolean };

type BisectDemoOptions = {
  /** Existing repositories and work directories are continued. */
  directory: string;
  seed: number;
  onEvent: GateDeps['onEvent'];
  signal: AbortSignal;
};

export const bisectNames = { repository: 'commits', work: 'bisect' } as const;

export async function runBisectDemo(options: BisectDemoOptions): Promise<BisectDemo> {
  const { directory, seed, onEvent, signal } = options;
  const repositoryDirectory = join(directory, bisectNames.repository);
  const work = join(directory, bisectNames.work);
  const isMade = await access(repositoryDirectory).then(
    () => true,
    () => false,
  );
  if (!isMade) await makeBisectRepository(repositoryDirectory);
  const path = join(repositoryDirectory, 'ppsgate.yml');
  const written = parseConfig(demoConfig, { path, home: '/nonexistent' });
  const cell = { scenarios: 'forwarding', families: 'inet4' };
  const config = applyOverrides(written, cell, namingStyles.flag);
  const [testbed = ''] = Object.keys(config.testbeds);
  const deps = {
    repository: openRepository(repositoryDirectory),
    // The lab belongs to this machine and user alone.
    reserve: async () => unshared(testbed, (traffic) => openHere(testbed, traffic, config)),
    history: historyFile(config.history),
    now: () => new Date(),
    onEvent,
    signal,
  };
  const request = {
    good: `${baseBranch}~${bisectCommits.length}`,
    bad: baseBranch,
    fixUps: [],
    skips: [],
    config,
    testbeds: [testbed],
    seed,
    mostBoots: 60,
    isVerified: false,
  };
  const result = (await hasBisectPlan(work)) ? await resumeBisection(work, deps) : await bisect(request, work, deps);
  return { directory: work, result, asExpected: namesCulprit(result) };
}

function namesCulprit({ answer, revisions }: BisectResult): boolean {
  return answer.kind === 'culprit' && revisions[answer.revision]?.subject === culpritSubject;
}
