// Admits a bisection: resolves its commits to full ids and chooses its cell.

import type { Config } from '../config/schema.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import { ownEnds, pinned } from '../forge/patch/bisect-target.ts';
import { patchOfRange } from '../forge/patch/commit-range.ts';
import { lineOfDiffs } from '../forge/patch/revision.ts';
import { looksLikeRevision } from '../forge/phabricator/revision.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Admission, AdmitDeps, Dispatched } from './admission.ts';
import { type BisectRequest, relayOf } from './approved-request.ts';
import { cellFor } from './bisect-cell.ts';
import type { BisectCommand } from './trigger.ts';

/** Any commits of a revision or of no patch: people who may start a job may have any commits bisected. */
export async function admitCommits(
  { overrides }: BisectCommand,
  trigger: Dispatched,
  deps: AdmitDeps,
): Promise<Admission> {
  const { by, patch: name } = trigger;
  const areNamed = Boolean(overrides.good && overrides.bad);
  const why = `${by} started it.`;
  if (looksLikeRevision(name)) {
    const earlier = areNamed ? 'none' : 'all';
    const { patch, config } = await deps.readRevision({ ...trigger, overrides: { earlier } });
    return admitBisection({ overrides, patch, config, why, relay: relayOf(trigger) }, deps);
  }
  if (!areNamed && !name.includes('..')) {
    throw new UsageError(
      'A bisection needs a good commit and a bad one, or a patch whose commits it is of: a pull request like #123, a revision like D27401, or a range like main..my-branch.',
    );
  }
  const { good, bad } = await pinned(overrides, deps.repository, deps.calledAs);
  const range = areNamed ? `${good}..${bad}` : name;
  const patch = await patchOfRange(deps.repository, range);
  const config = await deps.readConfig(deps.commit);
  return admitBisection({ overrides, patch, config, why }, deps);
}

type Bisection = Pick<BisectRequest, 'patch' | 'relay'> & {
  overrides: BisectOverrides;
  config: Config;
  why: string;
};

export async function admitBisection(
  { overrides: named, patch, config, why, relay }: Bisection,
  deps: AdmitDeps,
): Promise<Admission> {
  const { repository, calledAs } = deps;
  const overrides = await pinned(named, repository, calledAs);
  const { good, bad, scenarios, families, ...rest } = overrides;
  if (!good !== !bad) {
    throw new UsageError(
      `${calledAs(good ? 'bad' : 'good')} is missing: a bisection has both ends.`,
    );
  }
  const cell = await cellFor({ scenarios, families }, patch, config, deps);
  deps.checkBisection(config, { ...overrides, scenarios: cell.scenario, families: cell.family });
  const own = () =>
    patch.kind === 'revision' ? lineOfDiffs(patch, repository) : ownEnds(patch, repository);
  const request: BisectRequest = {
    command: 'bisect',
    patch,
    ...(good && bad ? { good, bad } : await own()),
    isOwn: !good,
    cell,
    overrides: rest,
    priority: deps.priority ?? 'patch',
    ...(relay && { relay }),
  };
  return { kind: 'bisect', request, config, why };
}
