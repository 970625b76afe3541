// Admits a bisection: resolves its commits to full ids, and chooses its cell.

import type { Config } from '../config/schema.ts';
import { type BisectOverrides, bisectWords, listKey } from '../forge/patch/bisect-command.ts';
import { digestOf, ownEnds, pinned, unreadCommits } from '../forge/patch/bisect-target.ts';
import { longestCommand } from '../forge/patch/command.ts';
import { patchOfRange } from '../forge/patch/commit-range.ts';
import { lineOfDiffs } from '../forge/patch/revision.ts';
import { looksLikeRevision } from '../forge/phabricator/revision.ts';
import { callOnGithub, patchName } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import { type Admission, type AdmitDeps, type Dispatched, noticeName } from './admission.ts';
import { type BisectRequest, relayOf } from './approved-request.ts';
import { cellFor } from './bisect-cell.ts';
import type { BisectCommand } from './trigger.ts';

/** Commits of a revision, or of no patch. People who may start a job may have any commits bisected. */
export async function admitCommits(
  { overrides, list }: BisectCommand,
  trigger: Dispatched,
  deps: AdmitDeps,
): Promise<Admission> {
  const { by, patch: name } = trigger;
  const areNamed = Boolean(overrides.good && overrides.bad);
  const why = `${by} started it.`;
  if (looksLikeRevision(name)) {
    const earlier = areNamed ? 'none' : overrides.earlier || 'all';
    const { patch, config } = await deps.readRevision({ ...trigger, overrides: { earlier } });
    return admitBisection({ overrides, patch, config, why, relay: relayOf(trigger) }, deps);
  }
  if (!areNamed && !name.includes('..')) {
    throw new UsageError(
      'A bisection needs a good and a bad commit, or a patch to bisect: a pull request like #123, a revision like D27401, or a range like main..my-branch.',
    );
  }
  const { good, bad } = await pinned(overrides, deps.repository, deps.naming);
  const range = areNamed ? `${good}..${bad}` : name;
  const patch = await patchOfRange(deps.repository, range);
  const config = await deps.readConfig(deps.commit);
  return admitBisection({ overrides, patch, config, why, list }, deps);
}

type Bisection = Pick<BisectRequest, 'patch' | 'relay'> & {
  overrides: BisectOverrides;
  config: Config;
  why: string;
  /** Repository of a pull request's head, and digest of the commits that the requester has read. */
  headRepository?: string | null;
  list?: string | undefined;
};

/** Lists commits that may be by strangers first, as each may be built and run: the list is approved, not its end. */
export async function admitBisection(bisection: Bisection, deps: AdmitDeps): Promise<Admission> {
  const { overrides: named, patch, config, why, relay, list } = bisection;
  const { repository, naming } = deps;
  const overrides = await pinned(named, repository, naming);
  const { good, bad, scenarios, families, ...rest } = overrides;
  if (!good !== !bad) {
    throw new UsageError(`${naming(good ? 'bad' : 'good')} is missing: a bisection needs both ends.`);
  }
  const cell = await cellFor({ scenarios, families }, patch, config, deps);
  deps.checkBisection(config, { ...overrides, scenarios: cell.scenario, families: cell.family });
  const own = () => (patch.kind === 'revision' ? lineOfDiffs(patch, repository) : ownEnds(patch, repository));
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
  const commits = await commitsToRead(request, bisection, deps);
  if (commits.length === 0 || digestOf(commits) === list) {
    return { kind: 'bisect', request, config, why };
  }
  const sentence = whyUnread(request, commits, list);
  if (patch.kind === 'pull-request') {
    const about = { name: noticeName, what: 'no bisection', commits } as const;
    return { kind: 'refused', pullRequest: patch, config, why: sentence, ...about };
  }
  throw new UsageError(`${sentence} The list: ${commits.join(' ')}`);
}

async function commitsToRead(
  { patch, good, bad, isOwn, overrides: { fixUp } }: BisectRequest,
  { headRepository }: Bisection,
  { repository }: AdmitDeps,
): Promise<string[]> {
  // The relay has approved the diffs.
  if (patch.kind === 'revision') return [];
  // Only people with write permission push to the repository itself.
  const isOurs = patch.kind === 'pull-request' && headRepository === patch.repository;
  const ofPatch = isOurs ? 'none' : 'all';
  const line = isOwn && patch.kind === 'pull-request' ? ofPatch : 'off-branches';
  return unreadCommits({ good, bad, fixUp }, line, repository);
}

function whyUnread(
  { patch, good, bad, isOwn, cell, overrides }: BisectRequest,
  commits: readonly string[],
  list: string | undefined,
): string {
  const one = { scenarios: cell.scenario, families: cell.family };
  const ends = isOwn ? {} : { good, bad };
  const command = (words: BisectOverrides): string =>
    [
      callOnGithub,
      bisectWords(words).replace(/^bisect/, isOwn && patch.kind === 'pull-request' ? `bisect ${bad}` : 'bisect'),
      `${listKey}=${digestOf(commits)}`,
    ].join(' ');
  const whole = command({ ...overrides, ...ends, ...one });
  const shown = whole.length <= longestCommand ? whole : command(ends);
  const count = commits.length === 1 ? 'this commit' : `each of these ${commits.length} commits`;
  const changed = list === undefined ? '' : 'The commits differ from the list that you named. ';
  return `${changed}A bisection of ${patchName(patch)} may build ${count} and run it on the testbed: read all of them, and write ${shown}.`;
}
