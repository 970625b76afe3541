// Opens the network of the guests' wires: an unnamed network namespace with its own processes, which end with ppsgate.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { labPath } from '../../netns/requirements.ts';
import { controllerAddress, wireAddress } from './addresses.ts';

/** Its first process reads a pipe of ours, so that a killed ppsgate leaves no process, interface or namespace. */
export type Wire = AsyncDisposable & {
  /** Starts a program in the namespace, detached from our terminal, with the highest priority; it inherits the file. */
  start(program: string, args: readonly string[], file?: number): ChildProcess;
  /** Runs a program to its end with that input; throws if it fails. */
  run(program: string, args: readonly string[], input?: string): Promise<string>;
};

const ourInterface = 'ppsgate-vm';

const environment = { ...process.env, PATH: labPath(), LC_ALL: 'C' };
const execute = promisify(execFile);

export async function openWire(): Promise<Wire> {
  // The first process prints its id as seen from outside the namespace.
  const first = 'read -r pid _ </proc/self/stat; echo "$pid"; exec cat >/dev/null';
  const keeper = spawn('unshare', ['--net', '--pid', '--fork', '--kill-child', 'sh', '-c', first], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: environment,
    detached: true,
  });
  const ended = once(keeper, 'exit');
  const pid = await Promise.race([firstLine(keeper), ended.then(() => undefined)]);
  if (pid === undefined) {
    throw new Error('No network namespace could be created: run `unshare --net --pid`, and fix its error.');
  }
  const inside = (program: string, args: readonly string[]) => [
    '--target',
    pid,
    '--net',
    '--pid',
    '--',
    program,
    ...args,
  ];
  const wire: Wire = {
    start(program, args, file) {
      // A kernel with autogroups applies niceness within the session only; the session has its own. From any niceness
      // of ours, -40 leads to the highest priority.
      const ahead = '{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -40 "$@"';
      return spawn('nsenter', inside('sh', ['-c', ahead, 'sh', program, ...args]), {
        stdio: ['pipe', 'pipe', 'pipe', ...(file === undefined ? [] : [file])],
        env: environment,
        detached: true,
      });
    },
    async run(program, args, input = '') {
      const running = execute('nsenter', inside(program, args), { env: environment });
      running.child.stdin?.on('error', () => {}).end(input);
      return (await running).stdout;
    },
    async [Symbol.asyncDispose]() {
      keeper.stdin.end();
      await ended;
    },
  };
  try {
    await wire.run('ip', ['link', 'set', 'dev', 'lo', 'up']);
    await plugIn(wire, pid);
    return wire;
  } catch (error) {
    await wire[Symbol.asyncDispose]();
    throw error;
  }
}

async function firstLine(keeper: ChildProcess): Promise<string | undefined> {
  if (keeper.stdout === null) return undefined;
  for await (const line of createInterface({ input: keeper.stdout })) return line;
  return undefined;
}

async function plugIn(wire: Wire, pid: string): Promise<void> {
  // The kernel removes the interface with the namespace, shortly after the last process.
  await execute('ip', ['link', 'delete', ourInterface], { env: environment }).catch(() => {});
  const here = [
    `link add ${ourInterface} type veth peer name management netns ${pid}`,
    `address add ${controllerAddress}/30 dev ${ourInterface}`,
    `link set dev ${ourInterface} up`,
  ];
  const running = execute('ip', ['-batch', '-'], { env: environment });
  running.child.stdin?.on('error', () => {}).end(`${here.join('\n')}\n`);
  await running;
  const there = [`address add ${wireAddress}/30 dev management`, 'link set dev management up'];
  await wire.run('ip', ['-batch', '-'], `${there.join('\n')}\n`);
}
