// Starts gates and bisections on this machine, each in its own process group, as a gate lasts hours and outlives the
// relay.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { parseMaxRuns } from '../config/overrides.ts';
import { namingStyles, overrideArguments } from '../config/parameters.ts';
import { type Job, patchOf, workOf } from '../forge/patch/job-key.ts';
import { hasBisectPlan } from '../gate/bisect/bisect-plan.ts';
import { hasPlan, readPlan } from '../gate/experiment/plan.ts';
import * as bounded from '../model/bounds.ts';
import { conclusionOfError, exitCodes } from '../model/conclusion.ts';
import { reasonOf } from '../model/one-line.ts';
import { type GroupLeader, isRunning, leaderSchema, signalGroup, startOf } from '../system/process.ts';
import { semaphore } from '../system/semaphore.ts';
import { commandText, shell } from '../system/shell.ts';
import type { Started, Starter } from './starter.ts';

export type HereOptions = {
  program: readonly string[];
  configPath: string;
  repository: string;
  /** Parent of the work directories, named by the job's key; `KEY.pid`, `KEY.log` and `KEY.ended` are next to each. */
  directory: string;
  most: number;
  site?: string | undefined;
  /** Gates get only the variables they need. */
  environment: NodeJS.ProcessEnv;
};

type HereStarter = Starter & {
  hasRoom(): Promise<boolean>;
  ended(job: Job): Promise<ProcessEnd>;
};

/** `lost`: the gate died without an exit code; `start` resumes it, a few times. */
export type ProcessEnd = { kind: 'running' | 'lost' } | { kind: 'ended'; exitCode: number };

export function startHere(options: HereOptions): HereStarter {
  const { directory, most } = options;
  const inTurn = semaphore(1);

  const start = async (job: Job): Promise<Started> => {
    const before = await readTry(directory, job.key);
    if (before !== undefined) {
      const { kind } = await endOf(directory, job.key);
      if (kind !== 'lost') return { kind: 'started', where: before.work };
      if (before.tries >= maxTries) return { kind: 'refused', why: diedTooOften(job, directory) };
    }
    const running = await runningTries(directory);
    if (running.length >= most) {
      const why = `${running.length} gates already run here: ${nameOf(job)} can start once one of them has ended, or with a higher \`most\`.`;
      return { kind: 'failed', why };
    }
    const call = await invocationOf(job, before, options);
    if ('why' in call) return { kind: 'refused', why: call.why };
    if (running.some(({ work }) => work === call.work)) {
      const why = `A gate still works in ${call.work}: ${nameOf(job)} can start once that has ended.`;
      return { kind: 'failed', why };
    }
    await launch(job.key, call, before?.tries ?? 0, options);
    return { kind: 'started', where: call.work };
  };

  return {
    start: (job, _mayBeStarted, signal) =>
      inTurn(async () => {
        if (signal.aborted) {
          return {
            kind: 'failed',
            why: `The ${workOf(job)} of ${nameOf(job)} was not started, because the relay is stopping.`,
          };
        }
        try {
          return await start(job);
        } catch (error) {
          const isTheirs = conclusionOfError(error) === 'usage';
          if (isTheirs && error instanceof Error) return { kind: 'refused', why: error.message };
          const why = `The ${workOf(job)} of ${nameOf(job)} could not be started (${reasonOf(error)}): check ${directory}.`;
          return { kind: 'failed', why };
        }
      }),

    cancel: (job) =>
      inTurn(async () => {
        const current = await readTry(directory, job.key);
        const { kind } = await endOf(directory, job.key);
        const isSignalled =
          current !== undefined && kind === 'running' && (await signalGroup(current.leader, 'SIGTERM'));
        return isSignalled ? undefined : `No ${workOf(job)} of ${nameOf(job)} runs here anymore.`;
      }),

    hasRoom: async () => (await runningTries(directory)).length < most,
    ended: (job) => endOf(directory, job.key),
  };
}

const maxTries = 3;

const nameOf = ({ revision, diff }: Job): string => `diff ${diff} of D${revision}`;

const diedTooOften = (job: Job, directory: string): string =>
  `The ${workOf(job)} of ${nameOf(job)} ended ${maxTries} times without a message: see the end of ${join(directory, `${job.key}.log`)}, and request it again.`;

const trySchema = z.object({
  leader: leaderSchema,
  /** Work directory; for an extension, that of the first job. */
  work: bounded.word,
  tries: z.int(),
  maxRuns: z.int().optional(),
});

type Try = z.infer<typeof trySchema>;

async function readTry(directory: string, key: string): Promise<Try | undefined> {
  const text = await textOf(join(directory, `${key}.pid`));
  return text === undefined ? undefined : trySchema.parse(JSON.parse(text));
}

async function endOf(directory: string, key: string): Promise<ProcessEnd> {
  const current = await readTry(directory, key);
  if (current === undefined) return { kind: 'lost' };
  const runs = await isRunning(current.leader);
  // Read last, as the process writes the exit code before it ends.
  const text = await textOf(join(directory, `${key}.ended`));
  if (text === undefined) return { kind: runs ? 'running' : 'lost' };
  const exitCode = Number(text);
  // A shell exits with 128 plus the signal's number.
  const isOwn = exitCode <= 128 || exitCode === exitCodes.cancelled;
  return isOwn ? { kind: 'ended', exitCode } : { kind: 'lost' };
}

async function runningTries(directory: string): Promise<Try[]> {
  const names = new Set(await readdir(directory).catch(() => []));
  const keys = [...names].flatMap((name) => /^(.+)\.pid$/.exec(name)?.[1] ?? []);
  const open = keys.filter((key) => !names.has(`${key}.ended`));
  const tries = await Promise.all(
    open.map(async (key) => {
      const current = await readTry(directory, key);
      return current !== undefined && (await isRunning(current.leader)) ? current : [];
    }),
  );
  return tries.flat();
}

type GateInvocation = { work: string; args: string[]; maxRuns?: number };

async function invocationOf(
  job: Job,
  before: Try | undefined,
  { configPath, repository, directory, site }: HereOptions,
): Promise<GateInvocation | { why: string }> {
  const { overrides, extend, bisect } = job;
  const always = flags({
    '--run': job.key,
    '--build': job.build,
    '--config': configPath,
    '--repository': repository,
  });
  const siteOf = (work: string) => flags({ '--site': site && `${site}/${basename(work)}` });
  const resume = (work: string) => ['gate', '--resume', work, '--answer', ...always, ...siteOf(work)];

  if (bisect !== undefined) {
    const work = join(directory, job.key);
    const patch = ['--patch', patchOf(job), '--answer'];
    const begun = await hasBisectPlan(work);
    const begin = () => ['--directory', work, ...overrideArguments(bisect, namingStyles.bisectFlag)];
    const args = [...(begun ? ['--resume', work] : begin()), ...patch, ...always, ...siteOf(work)];
    return { work, args: ['bisect', ...args] };
  }

  if (extend !== undefined) {
    const work = (await readTry(directory, extend.key))?.work ?? join(directory, extend.key);
    if (!(await hasPlan(work))) {
      const why = `The experiment that ${nameOf(job)} was to continue is no longer in ${work}: measure it from the start.`;
      return { why };
    }
    const { cells } = await readPlan(work);
    const planned = Math.max(...cells.flatMap(({ design }) => design.budgets));
    const requested =
      extend.maxRuns === undefined ? 2 * planned : parseMaxRuns(extend.maxRuns, namingStyles.comment('maxRuns'));
    const maxRuns = before?.maxRuns ?? requested;
    // The dead gate may already have extended the plan, which must happen only once.
    const isExtended = before !== undefined && planned >= maxRuns;
    const more = isExtended ? [] : ['--max-runs', String(maxRuns)];
    return { work, args: [...resume(work), ...more], maxRuns };
  }

  const work = join(directory, job.key);
  if (await hasPlan(work)) return { work, args: resume(work) };
  const own = [...flags({ '--directory': work }), ...overrideArguments(overrides)];
  const args = ['gate', '--patch', patchOf(job), '--answer', ...always, ...siteOf(work), ...own];
  return { work, args };
}

const flags = (values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));

/** Throws, and starts nothing, if the process cannot be started or recorded. */
async function launch(
  key: string,
  { work, args, maxRuns }: GateInvocation,
  triesBefore: number,
  { program, directory, environment }: HereOptions,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, key);
  await rm(`${path}.ended`, { force: true });
  await using log = await open(`${path}.log`, 'a');
  const child = spawn('/bin/sh', ['-c', wrapped([...program, ...args], `${path}.ended`)], {
    detached: true,
    env: Object.fromEntries(passedOn.map((name) => [name, environment[name]])),
    stdio: ['pipe', log.fd, log.fd],
  });
  try {
    const leader = await leaderOf(child);
    const current: Try = { leader, work, tries: triesBefore + 1, ...(maxRuns && { maxRuns }) };
    await writeFile(`${path}.pid.part`, JSON.stringify(current), { flush: true });
    await rename(`${path}.pid.part`, `${path}.pid`);
    child.stdin?.write('go\n');
  } finally {
    child.stdin?.end();
    child.unref();
  }
}

/**
 * Waits for the line that confirms its record; without it, exits with the starter. Outlives SIGTERM to write the exit
 * code.
 */
const wrapped = (argv: readonly string[], endedPath: string): string =>
  commandText(
    shell`read -r go || exit; trap : HUP INT TERM; ${argv}; echo $? >${endedPath}.part && mv ${endedPath}.part ${endedPath}`,
  );

async function leaderOf(child: ChildProcess): Promise<GroupLeader> {
  child.stdin?.on('error', () => {});
  await once(child, 'spawn');
  const { pid = 0 } = child;
  const started = await startOf(pid);
  if (started === undefined) throw new Error('its process ended immediately');
  return { pid, started };
}

/** Excludes the relay's keys and passwords, and variables of a service manager. */
const passedOn = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'NODE_EXTRA_CA_CERTS',
  'PPSGATE_NODE',
  'PPSGATE_CONDUIT_TOKEN',
  'PPSGATE_BMC_PASSWORD',
];

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
