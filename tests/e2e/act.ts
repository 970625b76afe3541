// Runs a repository's own workflow like GitHub, by act (github.com/nektos/act) without containers, and reads the
// results.
// Nothing is fetched: act replaces actions/checkout of the repository itself, in any version, by a copy of the working
// tree. So the workflow runs as written, and its pinned commit is never requested.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

export type JobRequest = {
  /** A working tree of the repository, as actions/checkout would leave it. */
  directory: string;
  /** Path of the workflow in it. */
  workflow: string;
  /** An event name such as `pull_request`. */
  eventName: string;
  /** GitHub's JSON of the event. */
  payload: object;
  /** `owner/name`. */
  repository: string;
  apiUrl: string;
  token: string;
  /** The only job to run; absent: all. */
  job?: string;
  /** Id of the workflow run; later ones are greater. */
  runId: number;
  /** An empty folder of the job's own; see `jobFiles`. */
  temporary: string;
};

/** A job as on its page on GitHub; the texts are those of the steps' workflow commands. */
export type Job = {
  exitCode: number | null;
  outputs: Record<string, string>;
  /** Summaries of the steps that wrote one. */
  summaries: string[];
  errors: string[];
  /** The stages that were run, like `Main ./` and `Post ./`. */
  stages: string[];
  /** The full log, for debugging. */
  log: string;
};

type Act = ChildProcessByStdio<null, Readable, Readable>;

/** Starts the job and does not wait; the end of the test ends a running one, like a cancelled workflow. */
export function startJob(request: JobRequest): { act: Act; ended: Promise<Job> } {
  const { directory, temporary } = request;
  const eventPath = join(temporary, 'event.json');
  writeFileSync(eventPath, JSON.stringify(request.payload));

  const act = spawn('act', argumentsFor(request, eventPath), {
    cwd: directory,
    env: environment(temporary),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = endOf(act);
  onTestFinished(async () => {
    act.kill('SIGINT');
    await ended;
  });
  return { act, ended };
}

/** Starts the job and waits for its end. */
export const runJob = (request: JobRequest): Promise<Job> => startJob(request).ended;

/** The action's `RUNNER_TEMP`, which act keeps only after a failed job. */
export const jobFiles = ({ temporary }: JobRequest, pattern: string): string[] =>
  globSync(join(temporary, 'act/*/tmp', pattern));

const argumentsFor = (request: JobRequest, eventPath: string): string[] => [
  request.eventName,
  '--eventpath',
  eventPath,
  '--workflows',
  request.workflow,
  '--platform',
  'ubuntu-latest=-self-hosted',
  '--platform',
  'self-hosted=-self-hosted',
  '--env',
  `GITHUB_API_URL=${request.apiUrl}`,
  '--env',
  `GITHUB_REPOSITORY=${request.repository}`,
  '--env',
  `GITHUB_RUN_ID=${request.runId}`,
  '--secret',
  `GITHUB_TOKEN=${request.token}`,
  ...(request.job === undefined ? [] : ['--job', request.job]),
  '--action-cache-path',
  join(request.temporary, 'act'),
  '--no-cache-server',
  '--json',
  ...standIns(request).flatMap((standIn) => ['--local-repository', standIn]),
];

/** act fetches the actions of others, and there is nowhere to fetch them from. */
function standIns({ directory, workflow }: JobRequest): string[] {
  const text = readFileSync(join(directory, workflow), 'utf8');
  const used = text.match(/(?<=uses: )actions\/upload-artifact@\S+/g) ?? [];
  const folder = join(import.meta.dirname, 'upload-artifact');
  return [...new Set(used)].map((action) => `${action}=${folder}`);
}

/**
 * Excludes the tests' own environment, which may be a GitHub job, too. act runs the first `node` of the PATH,
 * regardless of `using:`: the project's own.
 */
function environment(home: string): NodeJS.ProcessEnv {
  const programs = join(import.meta.dirname, '../../node_modules/.bin');
  return { PATH: [programs, process.env.PATH].join(delimiter), HOME: home };
}

async function endOf(act: Act): Promise<Job> {
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(act.stdout),
    text(act.stderr),
    once(act, 'close') as Promise<[number | null]>,
  ]);
  const job = readLog(stdout);
  return { exitCode, ...job, log: `${job.log}\n${stderr}` };
}

/** A line of act's `--json` log, as far as it is used. */
const lineSchema = z.object({
  msg: z.string(),
  command: z.string().optional(),
  name: z.string().optional(),
  arg: z.string().default(''),
  content: z.string().default(''),
  /** Id of the step, or its number. */
  stepID: z.array(z.string()).default([]),
});

function readLog(stdout: string): Omit<Job, 'exitCode'> {
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => lineSchema.parse(JSON.parse(line)));
  const of = (command: string) => lines.filter((line) => line.command === command);
  return {
    outputs: Object.fromEntries(
      of('set-output')
        .filter(({ stepID }) => stepID.some((id) => /\D/.test(id)))
        .map(({ name = '', arg }) => [name, arg]),
    ),
    summaries: of('summary').map(({ content }) => content),
    errors: of('error').map(({ arg }) => arg),
    stages: lines.flatMap(({ msg }) => /⭐ Run ((?:Main|Post) .+)/.exec(msg)?.[1] ?? []),
    log: lines.map(({ msg }) => msg.trimEnd()).join('\n'),
  };
}
