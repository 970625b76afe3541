// `ppsgate bisect --patch D27401`: bisects a Phabricator revision's diffs, and posts the answer with --answer.

import { namingStyles } from '../../config/parameters.ts';
import type { Config } from '../../config/schema.ts';
import type { BisectOverrides } from '../../forge/patch/bisect-command.ts';
import type { WritableRepository } from '../../forge/patch/repository.ts';
import { type EarlierDiffs, lineOfDiffs, patchOfRevision } from '../../forge/patch/revision.ts';
import { openPhabricator, phabricatorOf } from '../../forge/phabricator/login.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { callOnPhabricator } from '../../model/patch.ts';
import type { BisectedOutcome } from '../../publish/reporters/outcome.ts';
import { bisectCommand } from '../../publish/reporters/outcome-text.ts';
import { type Reporter, reportOutcome } from '../../publish/reporters/reporter.ts';
import { openRevisionComment } from '../../publish/reporters/revision-comment.ts';
import { keptOf } from '../../relay/answers.ts';
import { stderrLog } from './gate-call.ts';
import { keptAnswers, pinnedDiff } from './kept-answers.ts';
import { patientIfAnswered, revisionNamed } from './revision-named.ts';

const optionName = namingStyles.bisectFlag;

/** Returns the base of the diff, and a commit with the diff and the earlier ones stacked. */
export async function endsOfRevision(
  { patch: text, earlier }: { patch: string; earlier: EarlierDiffs },
  repository: WritableRepository,
  {
    config,
    signal,
    ...patience
  }: {
    config: Config;
    signal: AbortSignal;
    answer?: boolean | undefined;
    run?: string | undefined;
  },
): ReturnType<typeof lineOfDiffs> {
  const phabricator = phabricatorOf(config);
  const opened = await openPhabricator(phabricator, { log: stderrLog, signal });
  const conduit = patientIfAnswered(opened, { ...patience, signal });
  const name = revisionNamed(text, { config, optionName: optionName });
  const patch = await patchOfRevision(name, earlier, { conduit, repository, config: phabricator });
  return lineOfDiffs(patch, repository);
}

type Answering = {
  patch: string;
  run?: string;
  details?: string;
  site?: string;
  overrides: BisectOverrides;
  config: Config;
  signal: AbortSignal;
};

/** Posts one comment at the end, kept until Phabricator accepts it. */
export async function bisectAndAnswer(
  { patch, run: typed, details, site, overrides, config, signal }: Answering,
  work: (answer: Reporter) => Promise<BisectResult>,
): Promise<BisectResult> {
  const run = typed ?? `by-hand-${Date.now()}`;
  const phabricator = phabricatorOf(config);
  // Omits the signal, so that a cancelled bisection is reported, too.
  const conduit = await openPhabricator(phabricator, { log: stderrLog });
  const patience = { answer: true, run: typed, signal };
  const name = revisionNamed(patch, { config, optionName: optionName });
  const revision = await pinnedDiff(patientIfAnswered(conduit, patience), name);
  using kept = keptAnswers(phabricator, conduit);
  const about = {
    run,
    takesCommands: typed !== undefined,
    rerun: bisectCommand(callOnPhabricator, overrides, revision.diff),
    ...(details !== undefined && { details }),
    ...(site !== undefined && { page: `${site.replace(/\/+$/, '')}/report/index.html` }),
  };
  const live = openRevisionComment(conduit, revision, { ...about, log: stderrLog });
  const answer = kept.keeping(live, (reportedOutcome) => ({
    kind: 'comment',
    revision,
    ...about,
    ending: keptOf(reportedOutcome),
  }));
  const { result } = await reportOutcome(answer, signal, async (): Promise<BisectedOutcome> => {
    return { kind: 'bisected', result: await work(answer), request: overrides, links: {} };
  });
  return result;
}
