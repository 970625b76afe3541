// Times help, a mistyped command and a step of the action to its first line, beside an empty script on the same Node.
// By hand: node bench/startup.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../src/analysis/stats/summary.ts';

/** Medians of twenty runs each, in seconds. */
export type StartupBench = Record<'empty' | 'help' | 'mistyped' | 'gateHelp' | 'admit', number>;

/** Runs take turns, so that a busy machine is busy for all. */
export async function benchStartup(): Promise<StartupBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  try {
    const script = join(folder, 'empty.js');
    writeFileSync(script, '');
    const job = admitJob(folder);
    const turns: StartupBench[] = [];
    while (turns.length < 20) {
      turns.push({
        empty: (await run(process.execPath, [script])).end,
        help: (await run(ppsgate, ['--help'])).end,
        mistyped: (await run(ppsgate, ['gat'])).end,
        gateHelp: (await run(ppsgate, ['gate', '--help'])).end,
        admit: (await run(process.execPath, [join(project, 'dist/action.js')], job)).firstLine,
      });
    }
    const of = (name: keyof StartupBench) => median(turns.map((turn) => turn[name]));
    return {
      empty: of('empty'),
      help: of('help'),
      mistyped: of('mistyped'),
      gateHelp: of('gateHelp'),
      admit: of('admit'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const project = join(import.meta.dirname, '..');
const ppsgate = join(project, 'bin/ppsgate');

/** The environment of a step that admits a patch, with an empty event: it ends before any request to GitHub. */
function admitJob(folder: string): NodeJS.ProcessEnv {
  const [eventPath, output] = [join(folder, 'event.json'), join(folder, 'output')];
  writeFileSync(eventPath, '{}');
  writeFileSync(output, '');
  return {
    PATH: process.env.PATH,
    HOME: folder,
    GITHUB_API_URL: 'http://127.0.0.1:9',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'example/router',
    GITHUB_WORKSPACE: folder,
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: eventPath,
    GITHUB_OUTPUT: output,
    GITHUB_RUN_ID: '1',
    RUNNER_TEMP: folder,
    INPUT_COMMAND: 'admit',
    INPUT_CONFIG: 'ppsgate.yml',
    INPUT_TOKEN: 'of-no one',
  };
}

/** Measures the seconds from the start of the program to its first output, and to its end. */
async function run(program: string, args: readonly string[], env = process.env) {
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let firstLine = Number.POSITIVE_INFINITY;
  child.stdout.on('data', () => {
    firstLine = Math.min(firstLine, seconds());
  });
  await once(child, 'close');
  return { firstLine, end: seconds() };
}

export function describeStartup({ empty, help, mistyped, gateHelp, admit }: StartupBench): string {
  const beside = (seconds: number, goal: number) =>
    `${seconds.toFixed(3)} s, ratio ${(seconds / empty).toFixed(2)} (goal: at most ${goal.toFixed(1)})`;
  return [
    `start-up: an empty script ${empty.toFixed(3)} s`,
    `--help ${beside(help, 2)}`,
    `a mistyped command ${beside(mistyped, 2)}`,
    `gate --help ${beside(gateHelp, 2.5)}`,
    `first line of the action's admit ${beside(admit, 2.5)}`,
  ].join('; ');
}

if (import.meta.main) console.log(describeStartup(await benchStartup()));
