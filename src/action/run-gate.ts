// `command: gate`: measures what there is leave for, and where no other job does that, admits and answers as well.

import { copyFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { applyOverrides } from '../config/overrides.ts';
import { calledAs } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import { restoreRevision } from '../forge/patch/revision.ts';
import { randomSeed } from '../gate/experiment/plan.ts';
import { gate } from '../gate/gate.ts';
import { labelled } from '../gate/progress.ts';
import { resumeGate } from '../gate/resume-gate.ts';
import { type GateSession, inSession } from '../gate/session.ts';
import { type Conclusion, exitCodes, worstConclusion } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { patchName } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import { UsageError } from '../model/usage-error.ts';
import { nightlyRun } from '../publish/nightly.ts';
import {
  conclusionOf,
  type Ending,
  endingOfError,
  endingOfResult,
} from '../publish/reporters/outcome-text.ts';
import {
  type Answer,
  answering,
  linkedAfterwards,
  together,
} from '../publish/reporters/reporter.ts';
import { headline, outcomeName } from '../report/headline.ts';
import { explained } from '../report/read-result.ts';
import type { Admission } from './admit.ts';
import {
  type AdmittedRequest,
  failureOf,
  fileOf,
  gateFolder,
  isBisection,
  isMeasuredAnyway,
  type OutputName,
  readRequest,
  subjectOf,
} from './approved-request.ts';
import { fetchExperiment, runsToExtend } from './extend.ts';
import {
  answerFor,
  configCommitOf,
  gateNames,
  type JobContext,
  revisionDepsOf,
  selectorsFor,
} from './job.ts';
import { log, saveState, setOutput } from './log.ts';
import { nightlyDeps } from './measured-nightly.ts';
import {
  jobLog,
  keepRefusal,
  newFolder,
  orElsewhere,
  readyLab,
  sharedHistory,
  summarized,
} from './measuring.ts';
import { whileQueued } from './merge-queue.ts';
import { answerState, openAnswersText } from './post-state.ts';
import { publishData } from './publish-data.ts';
import { admitEvent, exitCodeOf } from './run-admit.ts';

/**
 * Answers the exit code of the worst verdict; throws for what kept it from one.
 *
 * @param within has the testbeds.
 */
export async function runGate(
  context: JobContext,
  signal: AbortSignal,
  within: typeof inSession = inSession,
): Promise<number> {
  const { request: handed } = context.inputs;
  if (handed !== '') {
    const request = readRequest(handed);
    if (isBisection(request)) throw new UsageError(noBisection);
    const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
    if (request.patch.kind === 'revision') {
      await restoreRevision(request.patch, revisionDepsOf(context, config));
    }
    return measure(request, config, { context, isAlone: false, within, signal });
  }
  const admission = await admitEvent(context, refuseBisection);
  if (admission.kind === 'refused') await keepRefusal(admission.why, context);
  if (admission.kind !== 'go') return exitCodeOf(admission);
  const job = { context, isAlone: true, within, signal };
  return measure(admission.request, admission.config, job);
}

/** A workflow from before there were bisections has no job for them. */
function refuseBisection(admission: Admission): Admission {
  if (admission.kind !== 'bisect') return admission;
  const { patch } = admission.request;
  if (patch.kind !== 'pull-request') throw new UsageError(noBisection);
  return { kind: 'mistaken', pullRequest: patch, why: noBisection };
}

const noBisection =
  'A job with `command: gate` bisects nothing: give the workflow one with `command: bisect`, as `ppsgate init` writes it.';

type Job = {
  context: JobContext;
  /** No other job answers. */
  isAlone: boolean;
  within: typeof inSession;
  signal: AbortSignal;
};

/** Measures for as long as anybody waits for the answer. */
const measure = (request: AdmittedRequest, written: Config, job: Job): Promise<number> => {
  const { octokit, inputs } = job.context;
  const place = { octokit, repository: inputs.job.repository };
  return whileQueued(request.queue, place, job.signal, (signal) =>
    measureAll(request, written, { ...job, signal }),
  );
};

async function measureAll(request: AdmittedRequest, written: Config, job: Job): Promise<number> {
  const { config, selectors, testbeds, ...rest } = await planned(request, written, job);
  const exitCode = await readyLab(config, testbeds.flat());
  if (exitCode !== undefined) return exitCode;

  const folder = await newFolder(job.context);
  const names = gateNames(selectors);
  const open = new Set(names);
  const keepOpen = () => {
    const answers = [...open].map((name) => ({ name, request }));
    if (job.isAlone) saveState(answerState, openAnswersText(answers));
  };
  keepOpen();
  const done: Done[] = [];
  const judgeOn = async (name: string, index: number) => {
    const [selector = ''] = names.length === 1 ? [] : selectors.slice(index);
    const own = gateFolder(index, names.length);
    const place: Place = {
      ...job,
      ...{ selector, own },
      directory: resolve(folder, own),
      file: (base) => join(folder, fileOf(base, index, names.length)),
    };
    const answer = await openAnswer(request, config, name, place);
    const ending = await answering(answer, job.signal, () =>
      judge({ request, config, testbeds: testbeds[index] ?? [], ...rest }, place, answer),
    ).catch(async (error: unknown) => {
      if (!job.signal.aborted) await keepFailure(error, place);
      throw error;
    });
    done.push({ ending, directory: place.directory });
    tellOutputs(worstOf(done));
  };
  const ended = await Promise.allSettled(
    names.map((name, index) =>
      judgeOn(name, index).finally(() => {
        open.delete(name);
        keepOpen();
      }),
    ),
  );
  const [failure, ...more] = ended.filter((one) => one.status === 'rejected');
  for (const { reason } of more) log.error(reasonOf(reason));
  if (failure !== undefined) throw failure.reason;
  return exitCodeFor(
    request.purpose,
    done.map(({ ending }) => conclusionOf(ending)),
  );
}

/** A job that nobody waits for need not be red because noise had its way: that is what it is there to learn. */
function exitCodeFor(
  purpose: AdmittedRequest['purpose'],
  conclusions: readonly Conclusion[],
): number {
  const conclusion = worstConclusion(conclusions);
  const isLearning =
    (purpose !== 'patch' && conclusion === 'undecided') ||
    (purpose === 'nightly' && conclusion === 'patchAtFault');
  return exitCodes[isLearning ? 'pass' : conclusion];
}

type Planned = {
  config: Config;
  selectors: string[];
  /** Those that would do, for each selector. */
  testbeds: string[][];
  isMeasuredAnyway: boolean;
};

/** What cannot be carried out as it is configured is told before anything is reserved, and not in the log alone. */
async function planned(
  request: AdmittedRequest,
  written: Config,
  { context, isAlone }: Job,
): Promise<Planned> {
  const { inputs } = context;
  try {
    const configured = applyOverrides(written, inputs.ask, calledAs.input);
    const config = applyOverrides(configured, request.ask, calledAs.comment);
    const selectors = selectorsFor(config, request.ask, inputs);
    return {
      config,
      selectors,
      testbeds: selectors.map((selector) => testbedsFor(config, selector)),
      isMeasuredAnyway: isMeasuredAnyway(request, inputs.ask),
    };
  } catch (error) {
    if (isAlone) {
      const place = { name: 'ppsgate', runId: inputs.job.runId };
      const answer = await answerFor(context, request, written, place);
      await answer.ended(endingOfError(error));
    }
    throw error;
  }
}

type Place = Job & {
  /** Tells it from the others; empty where there are none. */
  selector: string;
  /** The gate's folder in what is uploaded: empty, or `1/`, `2/`. */
  own: string;
  /** The work directory, where the job's end looks for a lease. */
  directory: string;
  /** Path of what the job that publishes looks for, like `result.json`. */
  file(base: OutputName): string;
};

async function openAnswer(
  request: AdmittedRequest,
  config: Config,
  name: string,
  { context, isAlone }: Place,
): Promise<Answer> {
  if (!isAlone) return together([]);
  const answer = await answerFor(context, request, config, {
    name,
    runId: context.inputs.job.runId,
    keepComment: (url) => setOutput('comment-url', url),
  });
  return orElsewhere(answer, request);
}

type Task = {
  request: AdmittedRequest;
  config: Config;
  testbeds: readonly string[];
  isMeasuredAnyway: boolean;
};

async function judge(task: Task, place: Place, answer: Answer): Promise<Ending> {
  const { context, isAlone, selector, directory } = place;
  const { request, config } = task;
  const result = await measured(task, place, answer);
  log.info([selector, headline(result)].filter(Boolean).join(': '));
  const written = join(directory, 'result.json');
  if (place.file('result') !== written) await copyFile(written, place.file('result'));
  const ending = endingOfResult(result, {});
  if (!isAlone) return summarized(ending);
  const make = async () => {
    const publication = {
      ...(await explained(result, directory, log.warn)),
      isDefaultBranch: request.purpose !== 'patch',
      isTrusted: true,
    };
    const [links = {}] = await publishData(context, config, [publication]);
    return links;
  };
  return summarized(await linkedAfterwards(answer, ending, make, log.warn));
}

function measured(
  { request, config, testbeds, isMeasuredAnyway }: Task,
  place: Place,
  answer: Answer,
): Promise<Result> {
  const { context, selector, own, directory, within, signal } = place;
  const { inputs, octokit, repository } = context;
  const { job } = inputs;
  const { patch, extend, priority } = request;
  const session: GateSession = {
    config,
    repository,
    observer: answer,
    signal,
    history: sharedHistory(config, context),
    output: labelled(jobLog, selector),
    requestFor: (patch) => ({
      priority,
      holder: { who: job.who, purpose: 'gate', patch: patchName(patch), url: job.runUrl },
      // Gates of one job do not take each other's place in line, and the next job's take those of their selectors.
      subject: [job.repository + subjectOf(request), 'by', job.workflow, selector].join(' ').trim(),
    }),
    leaseFolder: directory,
  };
  return within(session, async (deps) => {
    if (extend === undefined) {
      const seed = randomSeed();
      const wanted = { patch, config, testbeds: [...testbeds], seed, isMeasuredAnyway };
      if (request.purpose === 'nightly') {
        return nightlyRun(wanted, directory, nightlyDeps(deps, { ...place, config }));
      }
      return gate(wanted, directory, deps);
    }
    await fetchExperiment(octokit, job.repository, { ...extend, patch, folder: own }, directory);
    return resumeGate(directory, deps, await runsToExtend(directory, extend.maxRuns));
  });
}

/**
 * Keeps the failure for the job that publishes, which may follow also where this one answers: a fork's token may only
 * read.
 */
async function keepFailure(error: unknown, { file }: Place): Promise<void> {
  await writeFile(file('failure'), JSON.stringify(failureOf(error)));
}

type Done = { ending: Ending; directory: string };

function worstOf(done: readonly Done[]): Done | undefined {
  const conclusions = done.map(({ ending }) => conclusionOf(ending));
  return done[conclusions.indexOf(worstConclusion(conclusions))];
}

function tellOutputs(done: Done | undefined): void {
  if (done?.ending.kind !== 'measured') return;
  setOutput('verdict', outcomeName(done.ending.result));
  setOutput('result-path', join(done.directory, 'result.json'));
  setOutput('report-path', join(done.directory, 'report.md'));
}
