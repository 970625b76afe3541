// What the jobs of the Action share that measure: the folder that is uploaded, the lab, what is known, and how it is told.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as core from '@actions/core';
import { type Config, isOnThisMachine } from '../config/schema.ts';
import { type HistoryFile, historyFile } from '../gate/experiment/history.ts';
import type { Output } from '../gate/progress.ts';
import { readyMachine } from '../lab/netns/requirements.ts';
import { exitCodes } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { withoutPaths } from '../model/without-paths.ts';
import { readHistory } from '../publish/data-branch/branch.ts';
import { type Ending, summaryOf } from '../publish/reporters/outcome-text.ts';
import type { Answer } from '../publish/reporters/reporter.ts';
import { type AnyRequest, type Failure, fileOf, requestText } from './approved-request.ts';
import type { JobContext } from './job.ts';
import { log, saveState, setOutput } from './log.ts';
import { labState, leaseState } from './post-state.ts';

/** Readies this machine where it is to be the lab; answers an exit code where that was done by another process. */
export async function readyLab(
  config: Config,
  testbeds: readonly string[],
): Promise<number | undefined> {
  const kinds = testbeds.flatMap((name) => {
    const testbed = config.testbeds[name];
    return isOnThisMachine(testbed) ? testbed.kind : [];
  });
  if (kinds.length === 0) return undefined;
  const exitCode = await readyMachine(log.info, kinds);
  if (exitCode === undefined) saveState(labState, 'up');
  return exitCode;
}

/**
 * A folder that is uploaded, whatever comes to lie there: workflows look for it at its place, which no output can change.
 * Leases that lie in it are given back at the end of the job.
 */
export async function newFolder({ inputs: { job } }: JobContext): Promise<string> {
  const folder = await makeFirst(join(job.temporary, 'ppsgate'));
  setOutput('directory', folder);
  saveState(leaseState, folder);
  return folder;
}

/** The path, or where an earlier step has that one, `path-2`, `path-3` and so on. */
async function makeFirst(path: string, number = 1): Promise<string> {
  const folder = number === 1 ? path : `${path}-${number}`;
  try {
    await mkdir(folder);
    return folder;
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isTaken) throw error;
    return makeFirst(path, number + 1);
  }
}

/** Where the end is not taken, the output `request` has another job answer, with what this one leaves behind. */
export const orElsewhere = (answer: Answer, request: AnyRequest): Answer => ({
  ...answer,
  async ended(ending) {
    const given = await answer.ended(ending);
    if (given === 'untaken') setOutput('request', requestText(request));
    return given;
  },
});

/** The summary of the job holds the result also where nothing else can be written. */
export async function summarized<Told extends Ending>(ending: Told): Promise<Told> {
  const write = async () => void (await core.summary.addRaw(summaryOf(ending)).write());
  summaries = summaries.then(write, write);
  await summaries;
  return ending;
}

/** Gates that end at once write one after the other: the runner's toolkit has one buffer for all of them. */
let summaries: Promise<void> = Promise.resolve();

/**
 * Writes to the log alone, and to no terminal: a runner may offer one, as act does, and what it is told must begin a
 * line.
 */
export const jobLog: Output = { write: (text) => process.stdout.write(text) };

/** What this machine has learnt, and what the data branch has; a runner that is made anew each time knows nothing. */
export function sharedHistory(
  config: Config,
  { octokit, inputs: { job } }: JobContext,
): HistoryFile {
  const file = historyFile(config.history);
  const { branch } = config.github.data;
  return {
    async read() {
      if (branch === undefined) return file.read();
      const shared = await readHistory(octokit, { repository: job.repository, branch }).catch(
        (error: unknown) => {
          log.warn(reasonOf(error));
          return [];
        },
      );
      return [...shared, ...(await file.read())];
    },
    append: file.append,
  };
}

/** Keeps the reason for the job that publishes. */
export async function keepRefusal(why: string, context: JobContext): Promise<void> {
  const folder = await newFolder(context);
  const said = withoutPaths(why);
  const failure: Failure = { exitCode: exitCodes.usage, said, isRefused: true };
  await writeFile(join(folder, fileOf('failure', 0, 1)), JSON.stringify(failure));
}
