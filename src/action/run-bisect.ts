// `command: bisect`: finds, of commits that there is leave for, the one that costs the packets; where no other job does
// that, it admits and answers as well.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { bisect } from '../gate/bisect/bisect.ts';
import { randomSeed } from '../gate/experiment/plan.ts';
import { type GateSession, inSession } from '../gate/session.ts';
import type { BisectResult } from '../model/bisect-result.ts';
import { exitCodes } from '../model/conclusion.ts';
import { patchName } from '../model/patch.ts';
import { UsageError } from '../model/usage-error.ts';
import {
  type Bisected,
  conclusionOf,
  type Ending,
  endingOfError,
} from '../publish/reporters/outcome-text.ts';
import { type Answer, answering, linkedNow, together } from '../publish/reporters/reporter.ts';
import { bisectHeadline } from '../report/bisect-headline.ts';
import { explained } from '../report/read-result.ts';
import type { Admission } from './admit.ts';
import {
  type BisectRequest,
  failureOf,
  fileOf,
  isBisection,
  readRequest,
  subjectOf,
} from './approved-request.ts';
import { askedOf, type Held, heldTo, readBisectConfig, restoreCommits } from './bisect-job.ts';
import { bisectAnswerFor, type JobContext } from './job.ts';
import { log, saveState, setOutput } from './log.ts';
import {
  jobLog,
  keepRefusal,
  newFolder,
  orElsewhere,
  readyLab,
  sharedHistory,
  summarized,
} from './measuring.ts';
import { answerState, openAnswersText } from './post-state.ts';
import { publishData } from './publish-data.ts';
import { admitEvent, exitCodeOf } from './run-admit.ts';

/**
 * Answers the exit code of what was found; throws for what kept it from an answer.
 *
 * @param within has the testbeds.
 */
export async function runBisect(
  context: JobContext,
  signal: AbortSignal,
  within: typeof inSession = inSession,
): Promise<number> {
  const { request: handed } = context.inputs;
  if (handed !== '') {
    const request = readRequest(handed);
    if (!isBisection(request)) throw new UsageError(noGate);
    const config = await readBisectConfig(request, context);
    await restoreCommits(request, config, context);
    return search(request, config, { context, isAlone: false, within, signal });
  }
  const admission = await admitEvent(context, bisectionsAlone);
  if (admission.kind === 'refused') await keepRefusal(admission.why, context);
  if (admission.kind !== 'bisect') return exitCodeOf(admission);
  return search(admission.request, admission.config, { context, isAlone: true, within, signal });
}

const noGate =
  'A job with `command: bisect` judges no patch: that is for one with `command: gate`.';

/** Another job judges patches, and carries out all other commands. */
const bisectionsAlone = (admission: Admission): Admission =>
  admission.kind === 'go' || admission.kind === 'cancel'
    ? { kind: 'nothing', why: noGate }
    : admission;

type Job = {
  context: JobContext;
  /** No other job answers. */
  isAlone: boolean;
  within: typeof inSession;
  signal: AbortSignal;
};

async function search(request: BisectRequest, written: Config, job: Job): Promise<number> {
  const { context, isAlone, signal } = job;
  const { runId } = context.inputs.job;
  const answer: Answer = isAlone
    ? orElsewhere(
        bisectAnswerFor(context, request, written, {
          runId,
          keepComment: (url) => setOutput('comment-url', url),
        }),
        request,
      )
    : together([]);
  const held = await answeredIfWrong(answer, () => heldTo(request, written, context));
  const exitCode = await readyLab(held.config, held.testbeds);
  if (exitCode !== undefined) return exitCode;
  const folder = await newFolder(context);
  if (isAlone) saveState(answerState, openAnswersText([{ name: '', request }]));
  const work = async (): Promise<Bisected> => {
    const result = await found(request, held, folder, answer, job);
    const links = { rawData: `the [job](${context.inputs.job.runUrl})` };
    return { kind: 'bisected', result, asked: askedOf(request), links };
  };
  const ending = await answering(answer, signal, work)
    .catch(async (error: unknown) => {
      await writeFile(join(folder, fileOf('failure', 0, 1)), JSON.stringify(failureOf(error)));
      throw error;
    })
    .finally(() => saveState(answerState, ''));
  log.info(bisectHeadline(ending.result));
  const told = isAlone ? await keptAndLinked(answer, ending, folder, held.config, context) : ending;
  setOutput('verdict', ending.result.answer.kind);
  setOutput('result-path', join(folder, 'result.json'));
  setOutput('report-path', join(folder, 'report.md'));
  await summarized(told);
  return exitCodes[conclusionOf(ending)];
}

/** Keeps it on the data branch where no other job does. */
function keptAndLinked(
  answer: Answer,
  ending: Bisected,
  folder: string,
  config: Config,
  context: JobContext,
): Promise<Ending> {
  const make = async () => {
    const { result, profiles } = await explained(ending.result, folder, log.warn);
    const publication = { result, profiles, isDefaultBranch: false, isTrusted: true };
    const [links = {}] = await publishData(context, config, [publication]);
    return links;
  };
  return linkedNow(answer, ending, make, log.warn);
}

/** What cannot be carried out as it is configured is told before anything is reserved, and not in the log alone. */
async function answeredIfWrong<Told>(answer: Answer, read: () => Told): Promise<Told> {
  try {
    return read();
  } catch (error) {
    await answer.ended(endingOfError(error));
    throw error;
  }
}

function found(
  request: BisectRequest,
  { config, testbeds, mostBoots, isVerified }: Held,
  folder: string,
  answer: Answer,
  { context, within, signal }: Job,
): Promise<BisectResult> {
  const { repository, inputs } = context;
  const { job } = inputs;
  const { good, bad, ask, patch, priority } = request;
  const session: GateSession = {
    config,
    repository,
    observer: answer,
    signal,
    history: sharedHistory(config, context),
    output: jobLog,
    requestFor: () => ({
      priority,
      holder: { who: job.who, purpose: 'bisect', patch: patchName(patch), url: job.runUrl },
      subject: `${job.repository}${subjectOf(request)} bisected by ${job.workflow}`,
    }),
    leaseFolder: folder,
  };
  const listed = (text = '') => text.split(',').filter(Boolean);
  const commits = { good, bad, fixUps: listed(ask.fixUp), skips: listed(ask.skip) };
  const wanted = { ...commits, config, testbeds, mostBoots, isVerified, seed: randomSeed() };
  return within(session, (deps) => bisect(wanted, folder, { ...deps, repository }));
}
