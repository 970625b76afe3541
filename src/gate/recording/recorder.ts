// A flight recorder: writes down what was asked of the machines of a testbed and what they said, as it happens.
import { createHash } from 'node:crypto';
import { appendFileSync, createReadStream, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { RunOptions } from '../../system/host/execute.ts';
import { stdoutOf } from '../../system/host/execute.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { Host } from '../../system/host/ssh.ts';
import { commandText } from '../../system/shell.ts';
import { type Answer, type Asked, type Entry, recordingFormat, recordingVersion } from './entry.ts';
import { type Known, maskFor } from './mask.ts';
import { outputLines } from './output-lines.ts';

export type Recorder = {
  /** The same world, in which everything is written down. */
  deps<Deps extends FreebsdDeps>(deps: Deps): Deps;
  /** Something begins: `request` is what is needed to do it again. */
  begins(part: string, request: unknown): void;
  tells(part: string, outcome: unknown): void;
};

type RecorderOptions = {
  /** What is run: `testbeds check`. */
  command: string;
  ppsgate: string;
  known: Known;
  /** The time in seconds since 1970. */
  now(): number;
};

/**
 * Begins a recording; throws a UsageError where the file cannot be written, or is there. Each entry is a member of a
 * gzip file of its own, and is in the file before anything else happens: whoever is killed leaves all of them.
 */
export function startRecording(path: string, options: RecorderOptions): Recorder {
  const { command, ppsgate, known, now } = options;
  const mask = maskFor(known);
  let bytes = 0;
  let isOver = false;
  let last = 0;
  const write = (entry: Entry | Record<string, unknown>, flag = 'a') => {
    const line = `${JSON.stringify(masked(entry, mask))}\n`;
    bytes += line.length;
    if (isOver || bytes > mostBytes) return;
    try {
      appendFileSync(path, gzipSync(line), { flag });
    } catch (error) {
      // No gate is lost for a full disk under its recording.
      isOver = true;
      process.stderr.write(`warning: the recording ends here: ${reasonOf(error)}\n`);
    }
  };
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new UsageError(
      `--record: ${path} cannot be written (${reasonOf(error)}); name a file that is not there yet.`,
    );
  }
  write({
    ...{ kind: 'head', format: recordingFormat, version: recordingVersion, ppsgate, command },
    date: new Date(now() * 1000).toISOString(),
  });
  /** Whether something was heard, and no promise has gone on since. */
  let isInTurn = false;
  const sameTurn = () => {
    const isSame = isInTurn;
    isInTurn = true;
    queueMicrotask(() => {
      isInTurn = false;
    });
    return isSame ? ({ isOfSameTurn: true } as const) : {};
  };
  const ask = (host: string, asked: Asked): Question => {
    last += 1;
    const id = last;
    write({ kind: 'asks', at: now(), id, host, asked });
    return {
      hears: (stream, text) => write({ kind: 'hears', at: now(), id, stream, text, ...sameTurn() }),
      cut: (stream, left) => write({ kind: 'cut', at: now(), id, stream, ...left }),
      ends: (answer) => write({ kind: 'ends', at: now(), id, answer }),
    };
  };
  return {
    deps: (deps) => recorded(deps, ask),
    begins: (part, request) => write({ kind: 'begins', at: now(), part, request }),
    tells: (part, outcome) => write({ kind: 'tells', at: now(), part, outcome }),
  };
}

/** Most bytes of a whole recording, before it is compressed: it ends there. */
const mostBytes = 192 * 1024 ** 2;

/** Every text in it, names of keys too. */
function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => masked(one, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [mask(key), masked(one, mask)]),
  );
}

type Stream = 'stdout' | 'stderr';

type Question = {
  hears(stream: Stream, text: string): void;
  cut(stream: Stream, left: { bytes: number; sha256: string }): void;
  ends(answer: Answer): void;
};

type Ask = (host: string, asked: Asked) => Question;

function recorded<Deps extends FreebsdDeps>(deps: Deps, ask: Ask): Deps {
  return {
    ...deps,

    async connect(config, label, options) {
      const question = ask(label, { what: 'connect' });
      return recordedHost(
        await told(question, () => deps.connect(config, label, options)),
        label,
        ask,
      );
    },

    async openPower(name, config) {
      const opened = await told(ask('power', { what: 'power', order: 'open' }), () =>
        deps.openPower(name, config),
      );
      return {
        state: () => told(ask('power', { what: 'power', order: 'state' }), () => opened.state()),
        cycle: () => told(ask('power', { what: 'power', order: 'cycle' }), () => opened.cycle()),
      };
    },

    async openConsole(name, config, onOutput) {
      const printed = ask('console', { what: 'console', order: 'hear' });
      const lines = outputLines();
      let isOver = false;
      const end = (said?: string) => {
        if (isOver) return;
        isOver = true;
        const { rest, left } = lines.end();
        if (rest !== '') printed.hears('stdout', rest);
        if (left !== undefined) printed.cut('stdout', left);
        printed.ends({ kind: 'done', ...(said !== undefined && { said }) });
      };
      const heard = (chunk: Buffer) => {
        const text = lines.take(chunk);
        if (text !== '') printed.hears('stdout', text);
        onOutput(chunk);
      };
      try {
        const opened = await told(ask('console', { what: 'console', order: 'open' }), () =>
          deps.openConsole(name, config, heard),
        );
        void opened.ended.then(end);
        return {
          ...opened,
          async close() {
            await opened.close();
            end();
          },
        };
      } catch (error) {
        end();
        throw error;
      }
    },

    sleep: (seconds) => told(ask('clock', { what: 'sleep', seconds }), () => deps.sleep(seconds)),
  };
}

/** What is no command: done, or failed. */
async function told<T>(question: Question, work: () => Promise<T>): Promise<T> {
  try {
    const said = await work();
    question.ends({ kind: 'done', ...(typeof said === 'string' && { said }) });
    return said;
  } catch (error) {
    question.ends(failure(error));
    throw error;
  }
}

function failure(error: unknown): Answer {
  const kind = error instanceof HostError ? error.kind : String((error as Error)?.name);
  return { kind: 'failed', failure: kind, message: reasonOf(error) };
}

function recordedHost(host: Host, label: string, ask: Ask): Host {
  const run: Host['run'] = async (command, options = {}) => {
    const text = commandText(command);
    const shown = options.shownAs === undefined ? text : commandText(options.shownAs);
    const question = ask(label, {
      ...{ what: 'run', command: text },
      ...(shown !== text && { shown }),
    });
    const streams = { stdout: outputLines(), stderr: outputLines() };
    const heard = (stream: Stream, chunk: Uint8Array) => {
      const lines = streams[stream].take(chunk);
      if (lines !== '') question.hears(stream, lines);
    };
    const end = (answer: Answer) => {
      for (const stream of ['stdout', 'stderr'] as const) {
        const { rest, left } = streams[stream].end();
        if (rest !== '') question.hears(stream, rest);
        if (left !== undefined) question.cut(stream, left);
      }
      question.ends(answer);
    };
    try {
      const outcome = await host.run(command, listening(options, heard));
      heard('stdout', Buffer.from(outcome.stdout));
      heard('stderr', Buffer.from(outcome.stderr));
      end(
        outcome.kind === 'exited'
          ? { kind: 'exited', code: outcome.code }
          : { kind: 'signaled', signal: outcome.signal },
      );
      return outcome;
    } catch (error) {
      end(failure(error));
      throw error;
    }
  };
  return {
    ...host,
    run,
    output: async (command, options) => stdoutOf(await run(command, options), host.name, command),

    async upload(source, path, mode, options) {
      const question = ask(label, { what: 'upload', path, mode, ...(await sizeAndSum(source)) });
      await told(question, () => host.upload(source, path, mode, options));
    },
  };
}

/** Streams that the caller follows are heard as they come; the others come with the outcome. */
function listening(
  options: RunOptions,
  heard: (stream: Stream, chunk: Uint8Array) => void,
): RunOptions {
  const { onStdout, onStderr } = options;
  return {
    ...options,
    ...(onStdout !== undefined && {
      onStdout: (chunk: Uint8Array) => {
        heard('stdout', chunk);
        onStdout(chunk);
      },
    }),
    ...(onStderr !== undefined && {
      onStderr: (chunk: Uint8Array) => {
        heard('stderr', chunk);
        onStderr(chunk);
      },
    }),
  };
}

/** That a file cannot be read is told by the upload itself. */
async function sizeAndSum(source: Uint8Array | string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  if (typeof source !== 'string') {
    return { bytes: source.byteLength, sha256: hash.update(source).digest('hex') };
  }
  try {
    await pipeline(createReadStream(source), hash);
    return { bytes: (await stat(source)).size, sha256: hash.digest('hex') };
  } catch {
    return { bytes: 0, sha256: '' };
  }
}
