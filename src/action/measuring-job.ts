// Runs a job that measures, from its request to its exit code. Gates and bisections supply their plans.

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as core from '@actions/core';
import { type Config, isOnThisMachine } from '../config/schema.ts';
import { type HistoryFile, historyFile } from '../gate/experiment/history.ts';
import type { GateDeps } from '../gate/gate-deps.ts';
import { labelled, type ProgressOutput } from '../gate/progress.ts';
import type { GateSession, inSession } from '../gate/session.ts';
import { readyMachine } from '../lab/netns/requirements.ts';
import { exitCodes, outcomeName, worstConclusion } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { patchName } from '../model/patch.ts';
import { withoutPaths } from '../model/without-paths.ts';
import {
  type BisectedOutcome,
  conclusionOf,
  type MeasuredOutcome,
  outcomeOfError,
  type ReportedOutcome,
} from '../publish/reporters/outcome.ts';
import { outcomeMarkdown } from '../publish/reporters/outcome-text.ts';
import { combineReporters, type Reporter, reportOutcome, reportThenLink } from '../publish/reporters/reporter.ts';
import { bisectHeadline } from '../report/bisect-headline.ts';
import { headline } from '../report/headline.ts';
import { explained } from '../report/read-result.ts';
import type { ReportLinks } from '../report/reports.ts';
import type { Admission } from './admission.ts';
import { admitEvent, exitCodeOf } from './admit-event.ts';
import {
  type ApprovedRequest,
  failureOf,
  gateFolder,
  isBisection,
  type JobFailure,
  type OutputName,
  outputFile,
  readRequest,
  requestText,
  subjectOf,
} from './approved-request.ts';
import { bisectName, type JobContext, readConfigFor, restoreCommits } from './job.ts';
import { log, saveState, setOutput } from './log.ts';
import { whileQueued } from './merge-queue.ts';
import { publishData } from './publish-data.ts';
import { openReporter, saveOpenReporters } from './reporters.ts';
import { readSharedHistory } from './shared-history.ts';

type MeasuringJob = {
  command: 'gate' | 'bisect';
  onAdmission(admission: Admission): Admission;
  /** Throws a `UsageError` for another job's request, and for a request that the testbeds cannot carry out. */
  plan(request: ApprovedRequest, config: Config, context: JobContext): JobPlan;
};

export type JobPlan = {
  config: Config;
  targets: readonly Target[];
  measure(measurement: Measurement, deps: GateDeps): Promise<MeasuredOutcome | BisectedOutcome>;
};

type Target = {
  name: string;
  /** Distinguishes several gates of the job; empty for a single one. */
  selector: string;
  testbeds: readonly string[];
};

type RunningJob = {
  kind: MeasuringJob;
  context: JobContext;
  isAlone: boolean;
  within: typeof inSession;
  signal: AbortSignal;
};

export type Measurement = RunningJob &
  Target & {
    request: ApprovedRequest;
    plan: JobPlan;
    folder: string;
    /** Work directory. The end of the job searches it for a lease. */
    directory: string;
    file(base: OutputName): string;
  };

/** Returns the exit code of the worst verdict. Throws if there is none. */
export async function runMeasuringJob(
  kind: MeasuringJob,
  context: JobContext,
  { within, signal }: Pick<RunningJob, 'within' | 'signal'>,
): Promise<number> {
  const isAlone = context.inputs.request === '';
  const admission = isAlone ? await admitEvent(context, kind.onAdmission) : await handedOver(context);
  if (admission.kind === 'refused') await keepRefusal(admission.why, context);
  if (!('request' in admission)) return exitCodeOf(admission);
  const { request, config } = admission;
  const work = (signal: AbortSignal) => measureAll(request, config, { kind, context, isAlone, within, signal });
  const queue = isBisection(request) ? undefined : request.queue;
  const place = { octokit: context.octokit, repository: context.inputs.job.repository };
  return whileQueued(queue, place, signal, work);
}

async function handedOver(context: JobContext) {
  const request = readRequest(context.inputs.request);
  const config = await readConfigFor(request, context);
  await restoreCommits(request, config, context);
  return { kind: 'handed-over', request, config } as const;
}

async function measureAll(request: ApprovedRequest, written: Config, job: RunningJob): Promise<number> {
  const { context, isAlone } = job;
  const plan = await planned(request, written, job);
  const { config, targets } = plan;
  const exitCode = await readyLab(
    config,
    targets.flatMap(({ testbeds }) => testbeds),
  );
  if (exitCode !== undefined) return exitCode;
  const artifact = await newFolder(context);
  const open = new Set(targets.map(({ name }) => name));
  const saveOpen = () => {
    if (isAlone) saveOpenReporters([...open].map((name) => ({ name, request })));
  };
  saveOpen();
  const done: Done[] = [];
  const settled = await Promise.allSettled(
    targets.map(async (target, index) => {
      const folder = gateFolder(index, targets.length);
      const directory = resolve(artifact, folder);
      const file = (base: OutputName) => join(artifact, outputFile(base, index, targets.length));
      try {
        const measurement = { ...job, ...target, request, plan, folder, directory, file };
        done.push({ reportedOutcome: await concluded(measurement), directory });
        setOutputs(done);
      } finally {
        open.delete(target.name);
        saveOpen();
      }
    }),
  );
  const [failure, ...more] = settled.filter((one) => one.status === 'rejected');
  for (const { reason } of more) log.error(reasonOf(reason));
  if (failure !== undefined) throw failure.reason;
  return exitCodeFor(request, done);
}

/** Reports a request that cannot be carried out before anything is reserved, not only in the log. */
async function planned(
  request: ApprovedRequest,
  written: Config,
  { kind, context, isAlone }: RunningJob,
): Promise<JobPlan> {
  try {
    return kind.plan(request, written, context);
  } catch (error) {
    if (isAlone) {
      const name = isBisection(request) ? bisectName : 'ppsgate';
      const reporter = await reporterOf(name, request, written, context);
      await reporter.conclude(outcomeOfError(error));
    }
    throw error;
  }
}

/** Sets the output `request` for another job if the conclusion was not delivered. */
async function reporterOf(
  name: string,
  request: ApprovedRequest,
  config: Config,
  context: JobContext,
): Promise<Reporter> {
  const reporter = await openReporter(context, request, config, {
    name,
    runId: context.inputs.job.runId,
    keepComment: (url) => setOutput('comment-url', url),
  });
  return {
    ...reporter,
    async conclude(reportedOutcome) {
      const delivery = await reporter.conclude(reportedOutcome);
      if (delivery === 'undelivered') setOutput('request', requestText(request));
      return delivery;
    },
  };
}

/** Prepares this machine if it is the lab. Returns an exit code if another process has done so. */
async function readyLab(config: Config, testbeds: readonly string[]): Promise<number | undefined> {
  const kinds = testbeds.flatMap((name) => {
    const testbed = config.testbeds[name];
    return isOnThisMachine(testbed) ? testbed.kind : [];
  });
  if (kinds.length === 0) return undefined;
  const exitCode = await readyMachine(log.info, kinds);
  if (exitCode === undefined) saveState('embedded-lab', 'up');
  return exitCode;
}

/** Creates the folder that workflows upload. The end of the job releases the leases in it. */
async function newFolder({ inputs: { job } }: JobContext): Promise<string> {
  const folder = await makeFirst(join(job.temporary, 'ppsgate'));
  setOutput('directory', folder);
  saveState('lease', folder);
  return folder;
}

/** Creates the path or, if an earlier step has created it, `path-2`, `path-3` and so on. */
async function makeFirst(path: string, number = 1): Promise<string> {
  const folder = number === 1 ? path : `${path}-${number}`;
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return makeFirst(path, number + 1);
  }
}

async function concluded(measurement: Measurement): Promise<MeasuredOutcome | BisectedOutcome> {
  const { context, request, plan, name, isAlone, within, signal } = measurement;
  const reporter = isAlone ? await reporterOf(name, request, plan.config, context) : combineReporters([]);
  const work = async () => {
    const session = sessionOf(measurement, reporter);
    const reportedOutcome = await within(session, (deps) => plan.measure(measurement, deps));
    log.info([measurement.selector, headlineOf(reportedOutcome)].filter(Boolean).join(': '));
    await keepResult(measurement);
    if (!isAlone) return summarized(reportedOutcome);
    const publish = () => published(reportedOutcome, measurement);
    return summarized(await reportThenLink(reporter, reportedOutcome, publish, log.warn));
  };
  return reportOutcome(reporter, signal, work).catch(async (error: unknown) => {
    // The publishing job needs it even if this job reports: a fork's token can only read.
    if (!signal.aborted) await writeFailure(measurement.file('failure'), failureOf(error));
    throw error;
  });
}

function sessionOf(
  { kind, context, request, plan, selector, directory, signal }: Measurement,
  observer: Reporter,
): GateSession {
  const { repository, inputs } = context;
  const { job } = inputs;
  const { priority } = request;
  const purpose = kind.command;
  const by = purpose === 'bisect' ? 'bisected by' : 'by';
  // Gates of one job have separate places in the queue, which the next job's gates of the same selectors inherit.
  const subject = [job.repository + subjectOf(request), by, job.workflow, selector].join(' ');
  return {
    config: plan.config,
    repository,
    observer,
    signal,
    history: sharedHistory(plan.config, context),
    output: labelled(jobLog, selector),
    requestFor: (patch) => ({
      priority,
      holder: { who: job.who, purpose, patch: patchName(patch), url: job.runUrl },
      subject: subject.trim(),
    }),
    leaseFolder: directory,
  };
}

/** Writes only to the log: a runner like act may offer a terminal, but workflow commands must begin a line. */
const jobLog: ProgressOutput = { write: (text) => process.stdout.write(text) };

/** Joins this machine's history with that of the data branch, as a fresh runner has none. */
function sharedHistory(config: Config, context: JobContext): HistoryFile {
  const file = historyFile(config.history);
  return {
    async read() {
      const shared = await readSharedHistory(config, context);
      return [...shared, ...(await file.read())];
    },
    append: file.append,
  };
}

const headlineOf = (reportedOutcome: MeasuredOutcome | BisectedOutcome): string =>
  reportedOutcome.kind === 'measured' ? headline(reportedOutcome.result) : bisectHeadline(reportedOutcome.result);

async function keepResult({ directory, file }: Measurement): Promise<void> {
  const written = join(directory, 'result.json');
  if (file('result') !== written) await copyFile(written, file('result'));
}

async function published(
  { result }: MeasuredOutcome | BisectedOutcome,
  { context, request, plan, directory }: Measurement,
): Promise<ReportLinks> {
  const publication = {
    ...(await explained(result, directory, log.warn)),
    isDefaultBranch: !isBisection(request) && request.purpose !== 'patch',
    isTrusted: true,
  };
  const [links = {}] = await publishData(context, plan.config, [publication]);
  return links;
}

/** The job's summary is the only place that every job can write to. */
async function summarized<Concluded extends ReportedOutcome>(reportedOutcome: Concluded): Promise<Concluded> {
  const write = async () => void (await core.summary.addRaw(outcomeMarkdown(reportedOutcome)).write());
  summaries = summaries.then(write, write);
  await summaries;
  return reportedOutcome;
}

/** Concurrent gates alternate, as the runner's toolkit has one buffer. */
let summaries: Promise<void> = Promise.resolve();

async function keepRefusal(why: string, context: JobContext): Promise<void> {
  const path = join(await newFolder(context), outputFile('failure', 0, 1));
  const publicReason = withoutPaths(why);
  await writeFailure(path, { exitCode: exitCodes.usage, said: publicReason, isRefused: true });
}

const writeFailure = (path: string, failure: JobFailure): Promise<void> => writeFile(path, JSON.stringify(failure));

type Done = { reportedOutcome: MeasuredOutcome | BisectedOutcome; directory: string };

function setOutputs(done: readonly Done[]): void {
  const conclusions = done.map(({ reportedOutcome }) => conclusionOf(reportedOutcome));
  const worst = done[conclusions.indexOf(worstConclusion(conclusions))];
  if (worst === undefined) return;
  const { reportedOutcome, directory } = worst;
  const isGate = reportedOutcome.kind === 'measured';
  setOutput('verdict', isGate ? outcomeName(reportedOutcome.result) : reportedOutcome.result.answer.kind);
  setOutput('result-path', join(directory, 'result.json'));
  setOutput('report-path', join(directory, 'report.md'));
}

/** Passes a push or a nightly run despite noise, and a nightly run despite a regression, which its issue reports. */
function exitCodeFor(request: ApprovedRequest, done: readonly Done[]): number {
  const conclusion = worstConclusion(done.map(({ reportedOutcome }) => conclusionOf(reportedOutcome)));
  const purpose = isBisection(request) ? 'patch' : request.purpose;
  const isLearning =
    (purpose !== 'patch' && conclusion === 'undecided') || (purpose === 'nightly' && conclusion === 'patchAtFault');
  return exitCodes[isLearning ? 'pass' : conclusion];
}
