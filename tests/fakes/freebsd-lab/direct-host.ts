// Connects to a machine without ssh: commands, limits and losses are as over its sshd, at a fraction of the time.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import type { HostConfig } from '../../../src/config/fields.ts';
import { follow, type RunOptions, stdoutOf, withinRun } from '../../../src/system/host/execute.ts';
import { HostError } from '../../../src/system/host/host-error.ts';
import { rejectionOf, withinLimits } from '../../../src/system/host/limits.ts';
import type { ConnectOptions, SshTarget } from '../../../src/system/host/login.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { failUpload } from '../../../src/system/host/upload.ts';
import { semaphore } from '../../../src/system/semaphore.ts';
import { type Command, lineForAnyShell } from '../../../src/system/shell.ts';
import { append, type FileError, nodeAt, remove, rename, writeFile } from './file-system.ts';
import { isDeaf } from './machine.ts';
import type { Ending } from './process.ts';
import { isListening, readAll, type SshdOptions } from './sshd.ts';

/** Called with every written byte of an upload; false breaks all connections. */
export type OnWrite = (bytes: number) => boolean;

export type DirectConnect = (label: string, options?: ConnectOptions) => Promise<Host>;

export type DirectOptions = SshdOptions & { beginUpload(): OnWrite };

type Address = { host: string; port: number };
type Link = Lifeline & { name: string; inTurn: ReturnType<typeof semaphore> };
type Lifeline = { over: AbortController; whenAwake(act: () => void): void; leave(): void };

/** All connections to one machine, which an interrupted upload breaks together, as over its sshd. */
export function directConnections(options: DirectOptions, { host, port }: Address): DirectConnect {
  const { machine, deps } = options;
  const all = new Set<AbortController>();
  const breakAll = () => {
    for (const over of all) over.abort(new Error('read ECONNRESET'));
  };

  /** Follows the machine until the connection ends. */
  function lifeline(): Lifeline {
    const over = new AbortController();
    const queue: (() => void)[] = [];
    const look = () => {
      if (!isListening(machine)) {
        const isSudden = machine.stage !== 'booting';
        over.abort(new Error(isSudden ? 'read ECONNRESET' : 'the other side closed the connection'));
      } else if (!isDeaf(machine)) for (const act of queue.splice(0)) act();
    };
    const leave = () => {
      queue.length = 0;
      all.delete(over);
      machine.watchers.delete(look);
    };
    over.signal.addEventListener('abort', leave);
    all.add(over);
    machine.watchers.add(look);
    const whenAwake = (act: () => void) => {
      if (over.signal.aborted) return;
      if (isDeaf(machine)) queue.push(act);
      else act();
    };
    return { over, whenAwake, leave };
  }

  return async (label, { signal, timeoutSeconds = 20 } = {}) => {
    const name = `${label} (${host}:${port})`;
    deps.clock.touch();
    if (!isListening(machine)) {
      const why = `connect ECONNREFUSED ${host}:${port}`;
      throw new HostError('unreachable', `Cannot reach ${name}: ${why}.`);
    }
    const life = lifeline();
    const task = { name, what: 'the login', timeoutSeconds, ...(signal && { signal }) };
    await withinLimits({ ...task, over: life.over.signal }, () => awake(life)).catch((error) => {
      life.leave();
      throw error;
    });
    return hostOn({ ...life, name, inTurn: semaphore(sessionsAtOnce) }, options, breakAll);
  };
}

/** Returns whether the machine's sshd would be found there, and would accept the login. */
export function leadsTo(config: HostConfig, target: SshTarget): boolean {
  const { host, port, user, privateKeyPath = '', knownHostsPath } = config;
  return (
    host === target.host &&
    port === target.port &&
    user === target.user &&
    [privateKeyPath, knownHostsPath].every((path) => existsSync(path)) &&
    readFileSync(privateKeyPath, 'utf8') === target.privateKey &&
    readFileSync(knownHostsPath, 'utf8') === target.knownHosts
  );
}

/** As many as over ssh. */
const sessionsAtOnce = 5;

const awake = ({ whenAwake }: Lifeline): Promise<void> => new Promise(whenAwake);

function hostOn(link: Link, options: DirectOptions, breakAll: () => void): Host {
  const { name, over, inTurn } = link;
  const run = (command: Command, runOptions: RunOptions = {}) =>
    withinRun(link, command, runOptions, (execution) =>
      inTurn(() => {
        execution.stop.throwIfAborted();
        return follow(start(lineForAnyShell(command), link, options), execution);
      }),
    );
  const close = async () => {
    over.abort(new Error('this side closed the connection'));
  };
  return {
    name,
    run,
    output: async (command, outputOptions) => stdoutOf(await run(command, outputOptions), name, command),
    async upload(source, path, mode, { resume = false, ...limits } = {}) {
      const task = { ...limits, name, what: `the upload of ${path}`, over: over.signal };
      const isResumed = resume && typeof source === 'string';
      await withinLimits(task, ({ signal: stop }) =>
        inTurn(async () => {
          stop.throwIfAborted();
          const onWrite = options.beginUpload();
          const bytes = typeof source === 'string' ? await readFile(source) : source;
          const files = { link, options, stop, breakAll, onWrite };
          await install(files, bytes, path, mode, isResumed);
        }),
      ).catch((error: unknown) => failUpload(error, source, path, { name }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function start(line: string, { whenAwake }: Link, { execute, deps }: SshdOptions) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const unheard = new AbortController();
  const ended = Promise.withResolvers<{ code?: number; signal?: string }>();
  const input = readAll(stdin);
  const write = (stream: PassThrough) => (text: string | Uint8Array) =>
    whenAwake(() => {
      if (!unheard.signal.aborted) stream.write(text);
    });
  const end = (ending: Ending) => {
    deps.clock.touch();
    whenAwake(() => {
      stdout.end();
      stderr.end();
      ended.resolve(ending.kind === 'exited' ? { code: ending.code } : { signal: `SIG${ending.signal}` });
    });
  };
  deps.clock.touch();
  whenAwake(() => {
    const execution = { line, stdin: () => input, say: write(stdout), complain: write(stderr) };
    void execute({ ...execution, unheard: unheard.signal }).then(end);
  });
  const leave = () => {
    // Without a reason Node makes an exception with its stack, for every command.
    unheard.abort('closed');
    stdin.end();
  };
  return { stdin, stdout, stderr, ended: ended.promise, leave };
}

type Upload = {
  link: Link;
  options: DirectOptions;
  stop: AbortSignal;
  breakAll: () => void;
  onWrite: OnWrite;
};

const chunkBytes = 32_768;

/** Writes to a temporary name, in chunks as sftp does. */
async function install(
  { link, options, stop, breakAll, onWrite }: Upload,
  bytes: Uint8Array,
  path: string,
  mode: number,
  isResumed: boolean,
): Promise<void> {
  const { files } = options.machine;
  const partial = isResumed ? `${path}.part` : `${path}.${randomUUID()}.part`;
  const stopped = rejectionOf(stop);
  stopped.catch(() => {});
  const step = async (act: () => FileError | undefined) => {
    await Promise.race([awake(link), stopped]);
    stop.throwIfAborted();
    options.deps.clock.touch();
    const error = act();
    if (error !== undefined) throw new Error(error === 'ENOENT' ? 'No such file' : 'Failure');
  };
  const there = nodeAt(files, partial);
  const sizeThere = isResumed && there?.kind === 'file' ? there.bytes.length : 0;
  const begin = sizeThere <= bytes.length ? sizeThere : 0;
  try {
    await step(() => (begin > 0 ? undefined : writeFile(files, partial, '', 0o600)));
    for (let at = begin; at < bytes.length; at += chunkBytes) {
      const chunk = Buffer.from(bytes.subarray(at, at + chunkBytes));
      await step(() => {
        if (!onWrite(chunk.length)) breakAll();
        else return append(files, partial, at, chunk);
      });
      stop.throwIfAborted();
    }
    await step(() => {
      const node = nodeAt(files, partial);
      if (node !== undefined) node.mode = mode;
      return rename(files, partial, path);
    });
  } catch (error) {
    if (!isResumed && !link.over.signal.aborted) remove(files, partial);
    throw error;
  }
}
