// `ppsgate gate --answer`: runs a gate and posts its result on Phabricator.

import { basename } from 'node:path';
import { patchOf } from '../../forge/patch/job-key.ts';
import type { Conduit } from '../../forge/phabricator/conduit.ts';
import { openPhabricator, phabricatorOf } from '../../forge/phabricator/login.ts';
import { hasPlan, readPlan } from '../../gate/experiment/plan.ts';
import { worstConclusion } from '../../model/conclusion.ts';
import type { Patch, RevisionDiff } from '../../model/patch.ts';
import { UsageError } from '../../model/usage-error.ts';
import { openBuild } from '../../publish/reporters/build.ts';
import type { ReportedOutcome } from '../../publish/reporters/outcome.ts';
import { cancelledOutcome, conclusionOf, outcomeOfError, outcomeOfResult } from '../../publish/reporters/outcome.ts';
import { combineReporters, type Reporter, reportOutcome } from '../../publish/reporters/reporter.ts';
import { openRevisionComment } from '../../publish/reporters/revision-comment.ts';
import { keptOf } from '../../relay/answers.ts';
import { readResult } from '../../report/read-result.ts';
import { type GateCall, required, stderrLog } from './gate-call.ts';
import { gatesOf, type Judged, judgeAll, type OneGate } from './judge-gate.ts';
import { keptAnswers, pinnedDiff } from './kept-answers.ts';
import { patientIfAnswered, revisionNamed } from './revision-named.ts';

/** Posts one comment per gate, and one build status for the worst of them. */
export async function judgeAndAnswer(gateCall: GateCall): Promise<PromiseSettledResult<Judged>[]> {
  const { config, options, signal } = gateCall;
  const { run = `by-hand-${Date.now()}`, build, details, site } = options;
  const phabricator = phabricatorOf(config);
  const { undecided } = phabricator;
  // Omits the signal, so that a cancelled gate is reported, too.
  const conduit = await openPhabricator(phabricator, { log: stderrLog });
  const diff = await diffOf(conduit, gateCall);
  const patch = patchOf({ revision: diff.number, ...diff });
  const call: GateCall = { ...gateCall, options: { ...options, patch } };
  using kept = keptAnswers(phabricator, conduit);
  const shared = { run, ...(details !== undefined && { details }) };
  const openKeptBuild = (build: string): Reporter => {
    const about = { ...shared, undecided };
    const live = openBuild(conduit, build, diff, { ...about, log: stderrLog });
    return kept.keeping(live, (reportedOutcome) => ({
      kind: 'build',
      revision: diff,
      build,
      ...about,
      ending: keptOf(reportedOutcome),
    }));
  };
  const buildAnswer = build === undefined ? combineReporters([]) : openKeptBuild(build);
  const comment = (index: number, page?: string): Reporter => {
    const about = {
      ...shared,
      run: index === 0 ? run : `${run}.${index}`,
      takesCommands: options.run !== undefined,
      ...(page !== undefined && { page }),
    };
    const live = openRevisionComment(conduit, diff, { ...about, log: stderrLog });
    return kept.keeping(live, (reportedOutcome) => ({
      kind: 'comment',
      revision: diff,
      ...about,
      ending: keptOf(reportedOutcome),
    }));
  };

  let ended: PromiseSettledResult<Judged>[] = [];
  await reportOutcome(buildAnswer, signal, async () => {
    const gates = await gatesOf(call).catch(async (error: unknown) => {
      await comment(0).conclude(signal.aborted ? cancelledOutcome : outcomeOfError(error));
      throw error;
    });
    ended = await judgeAll(gates, call, (index) =>
      combineReporters([comment(index, pageOf(gates, index, site)), whileItLasts(buildAnswer)]),
    );
    return worstOf(ended.map(reportedOf));
  });
  return ended;
}

function pageOf(gates: readonly OneGate[], index: number, site: string | undefined): string | undefined {
  const directory = gates[index]?.directory;
  if (site === undefined || directory === undefined) return undefined;
  const folder = gates.length === 1 ? '' : `/${basename(directory)}`;
  return `${site.replace(/\/+$/, '')}${folder}/report/index.html`;
}

/** Fixes the judged diff: a newer one may arrive at any time. */
async function diffOf(conduit: Conduit, call: GateCall): Promise<RevisionDiff> {
  const { options } = call;
  if (options.resume !== undefined) {
    const { patch } = await patchPlannedIn(options.resume);
    if (patch.kind === 'revision') {
      const { number, diff, phids } = patch;
      return { number, diff, ...(phids && { phids }) };
    }
    throw new UsageError(`--answer: ${options.resume} is not the work directory of a gate of a revision.`);
  }
  const name = revisionNamed(required('patch', call), call);
  return pinnedDiff(patientIfAnswered(conduit, { ...options, signal: call.signal }), name);
}

/** A gate with nothing to measure has a result, but no plan. */
async function patchPlannedIn(directory: string): Promise<{ patch: Patch }> {
  if (await hasPlan(directory)) return readPlan(directory);
  return readResult(directory).catch(() => readPlan(directory));
}

/** Leaves the rest to the caller, which knows all outcomes. */
const whileItLasts = (answer: Reporter): Reporter => ({
  ...answer,
  conclude: async () => 'delivered',
});

const reportedOf = (settled: PromiseSettledResult<Judged>): ReportedOutcome =>
  settled.status === 'fulfilled' ? outcomeOfResult(settled.value.result, {}) : outcomeOfError(settled.reason);

function worstOf(reportedOutcomes: readonly ReportedOutcome[]): ReportedOutcome {
  const worst = worstConclusion(reportedOutcomes.map(conclusionOf));
  const found =
    reportedOutcomes.find((reportedOutcome) => conclusionOf(reportedOutcome) === worst) ?? reportedOutcomes[0];
  return found ?? outcomeOfError(new Error('No gate ran.'));
}
