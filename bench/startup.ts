// Times help, a mistyped command, a gate to its first ssh connection and the first line of a step of the action.
// Each is a ratio to an empty script on the same Node. By hand: node bench/startup.ts
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../src/analysis/stats/summary.ts';

/** Medians of twenty runs each, in seconds. */
export type StartupBench = Record<'empty' | 'help' | 'mistyped' | 'gateHelp' | 'bisectHelp' | 'gate' | 'admit', number>;

/** Runs take turns, so that a busy machine is busy for all. */
export async function benchStartup(): Promise<StartupBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  const machine = createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
  try {
    await once(machine, 'listening');
    const script = join(folder, 'empty.js');
    writeFileSync(script, '');
    const { port } = machine.address() as AddressInfo;
    const repository = repositoryWithPatch(folder, port);
    const job = admitJob(folder);
    const turns: StartupBench[] = [];
    while (turns.length < 20) {
      turns.push({
        empty: (await run(process.execPath, [script])).end,
        help: (await run(ppsgate, ['--help'])).end,
        mistyped: (await run(ppsgate, ['gat'])).end,
        gateHelp: (await run(ppsgate, ['gate', '--help'])).end,
        bisectHelp: (await run(ppsgate, ['bisect', '--help'])).end,
        gate: await secondsToConnection(machine, repository),
        admit: (await run(process.execPath, [join(project, 'dist/action.js')], job)).firstLine,
      });
    }
    const of = (name: keyof StartupBench) => median(turns.map((turn) => turn[name]));
    return {
      empty: of('empty'),
      help: of('help'),
      mistyped: of('mistyped'),
      gateHelp: of('gateHelp'),
      bisectHelp: of('bisectHelp'),
      gate: of('gate'),
      admit: of('admit'),
    };
  } finally {
    machine.close();
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

/** Makes a repository with a change of rules since `main`, and the configuration of a rack whose machines are `port`. */
function repositoryWithPatch(folder: string, port: number): string {
  const repository = join(folder, 'router');
  const rules = join(repository, 'dut/sysctl.conf');
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...words], {
      cwd: repository,
    });
  mkdirSync(join(repository, 'dut'), { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(rules, 'net.ipv4.ip_forward=1\n');
  writeFileSync(join(folder, 'known_hosts'), '');
  const login = `host: 127.0.0.1, port: ${port}, knownHosts: ../known_hosts`;
  writeFileSync(
    join(repository, 'ppsgate.yml'),
    `overlay: dut
testbeds:
  rack:
    kind: linux
    sender: { ${login}, interface: tx0, cpu: 0 }
    dut: { ${login}, ingress: in0, egress: out0, cpu: 1 }
    receiver: { ${login}, interface: rx0 }
`,
  );
  git('add', '.');
  git('commit', '--quiet', '--message=base');
  git('update-ref', 'refs/remotes/origin/HEAD', 'HEAD');
  git('switch', '--quiet', '--create', 'patch');
  writeFileSync(rules, 'net.ipv4.ip_forward=1\nnet.ipv4.tcp_syncookies=0\n');
  git('commit', '--quiet', '--all', '--message=patched');
  return repository;
}

/** Measures the seconds from the start of a gate to its first connection, where it ends. */
async function secondsToConnection(machine: Server, repository: string): Promise<number> {
  // The store of reservations exists, and has no holder.
  const home = mkdtempSync(join(repository, '../home-'));
  execFileSync(ppsgate, ['testbeds'], { cwd: repository, env: { ...process.env, HOME: home } });
  const start = performance.now();
  const child = spawn(ppsgate, ['gate', '--directory', join(home, 'work')], {
    cwd: repository,
    env: { ...process.env, HOME: home, SSH_AUTH_SOCK: '/nonexistent' },
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  await Promise.race([
    once(machine, 'connection'),
    ended.then(([code]) => Promise.reject(new Error(`The gate ended with ${code}.`))),
  ]);
  const seconds = (performance.now() - start) / 1000;
  child.kill('SIGKILL');
  await ended.catch(() => {});
  return seconds;
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

export function describeStartup(bench: StartupBench): string {
  const { empty, help, mistyped, gateHelp, bisectHelp, gate, admit } = bench;
  const beside = (seconds: number, goal: number) =>
    `${seconds.toFixed(3)} s, ratio ${(seconds / empty).toFixed(2)} (goal: at most ${goal.toFixed(1)})`;
  return [
    `start-up: an empty script ${empty.toFixed(3)} s`,
    `--help ${beside(help, 2)}`,
    `a mistyped command ${beside(mistyped, 2)}`,
    `gate --help ${beside(gateHelp, 2.5)}`,
    `bisect --help ${beside(bisectHelp, 2.5)}`,
    `gate to its first ssh connection ${beside(gate, 4)}`,
    `first line of the action's admit ${beside(admit, 2.5)}`,
  ].join('; ');
}

if (import.meta.main) console.log(describeStartup(await benchStartup()));
