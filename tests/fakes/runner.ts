// Runs the action's entry in a separate process, and reads its output like GitHub's runner.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inject } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { type Command, commandsIn } from './runner-commands.ts';

export type Step = {
  entry: 'action.js' | 'action-post.js';
  workspace: string;
  repository: string;
  apiUrl: string;
  event: { name: string; payload: object };
  inputs: Record<string, string>;
  /** State saved by an earlier stage of the step. */
  state?: Record<string, string>;
  environment?: NodeJS.ProcessEnv;
  /** `RUNNER_TEMP`; default: a new folder. */
  temporary?: string;
};

export type Ran = {
  exitCode: number | null;
  /** Commands that the runner finds in the output. */
  commands: Command[];
  /** Read from the runner's files. */
  outputs: Record<string, string>;
  state: Record<string, string>;
  temporary: string;
  log: string;
};

export async function runStep(step: Step): Promise<Ran> {
  const { temporary = temporaryFolder() } = step;
  const files = join(temporary, '_runner_file_commands');
  mkdirSync(files);
  const [output, state, summary] = ['output', 'state', 'summary'].map((name) => {
    writeFileSync(join(files, name), '');
    return join(files, name);
  }) as [string, string, string];
  const eventPath = join(temporary, 'event.json');
  writeFileSync(eventPath, JSON.stringify(step.event.payload));
  const prefixed = (prefix: string, texts: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [prefix + name, text]));

  const entry = join(inject('bundle'), step.entry);
  const child = spawn(process.execPath, [entry], {
    cwd: step.workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: temporary,
      GITHUB_ACTIONS: 'true',
      CI: 'true',
      GITHUB_API_URL: step.apiUrl,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: step.repository,
      GITHUB_WORKSPACE: step.workspace,
      GITHUB_EVENT_NAME: step.event.name,
      GITHUB_EVENT_PATH: eventPath,
      GITHUB_RUN_ID: '42',
      RUNNER_TEMP: temporary,
      GITHUB_OUTPUT: output,
      GITHUB_STATE: state,
      GITHUB_STEP_SUMMARY: summary,
      ...prefixed('INPUT_', { CONFIG: 'ppsgate.yml', ...step.inputs }),
      ...prefixed('STATE_', step.state),
      ...step.environment,
    },
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return {
    exitCode,
    commands: [...commandsIn(stdout), ...commandsIn(stderr)],
    outputs: written(output),
    state: written(state),
    temporary,
    log: `${stdout}\n${stderr}`,
  };
}

/** Values between `name<<delimiter` and the delimiter; the last one of each name. */
function written(path: string): Record<string, string> {
  const found = readFileSync(path, 'utf8').matchAll(/^(\S+)<<(\S+)\n(.*?)\n\2$/gms);
  return Object.fromEntries([...found].map(([, name = '', , text = '']) => [name, text]));
}
