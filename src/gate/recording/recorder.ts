// Records the requests to a testbed's machines and their replies, as they happen.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import type { LabOfGuests } from '../../lab/qemu/virtual-testbed.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { type RunOptions, stdoutOf } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { commandText } from '../../system/shell.ts';
import { GzipLog } from './gzip-log.ts';
import { learnFrom } from './learn-machine.ts';
import { type Mask, maskFor, type SensitiveTerms } from './mask.ts';
import { maskSummary } from './mask-summary.ts';
import { OutputLines } from './output-lines.ts';
import { recordedGuests } from './recorded-guests.ts';
import {
  type RecordedCall,
  type RecordedOutcome,
  type RecordingEntry,
  type RecordingHead,
  recordingFormat,
  recordingVersion,
} from './recording-entry.ts';
import { endStream, failureOf, logged, type RequestLog, type StreamName } from './request-log.ts';

export type Recorder = Disposable & {
  /** Wraps `deps` so that everything that goes through them is recorded. */
  deps<Deps extends FreebsdDeps>(deps: Deps): Deps;
  /** Wraps the virtual machines of this machine likewise. */
  guests(lab: LabOfGuests): LabOfGuests;
  /** `request` must suffice to repeat the part. */
  begin(part: string, request: unknown): void;
  log(part: string, outcome: unknown): void;
};

type RecorderOptions = {
  command: string;
  ppsgate: string;
  sensitive: SensitiveTerms;
  /** Seconds since 1970. */
  now(): number;
  /** Receives, at the end, the replaced texts by kinds and counts, and a command to inspect the rest. */
  report(summary: string): void;
};

/**
 * Begins a recording; throws a UsageError if the file exists or cannot be written. Each entry is written before anything
 * else happens, so that a killed process leaves all of them.
 */
export function startRecording(path: string, options: RecorderOptions): Recorder {
  const { command, ppsgate, now, report } = options;
  const file = new RecordingFile(logAt(path), options);
  file.append({
    kind: 'head',
    format: recordingFormat,
    version: recordingVersion,
    ppsgate,
    command,
    date: new Date(now() * 1000).toISOString(),
  });
  return {
    deps: (deps) => recordedDeps(deps, file),
    guests: (lab) => recordedGuests(lab, file),
    begin: (part, request) => file.append({ kind: 'begins', at: now(), part, request }),
    log: (part, outcome) => file.append({ kind: 'tells', at: now(), part, outcome }),
    [Symbol.dispose]() {
      file.close();
      report(maskSummary(path, file.mask.counts()));
    },
  };
}

function logAt(path: string): GzipLog {
  try {
    return new GzipLog(path);
  } catch (error) {
    throw new UsageError(
      `--record: ${path} cannot be written (${reasonOf(error)}); name a file that does not exist yet.`,
    );
  }
}

/** Limit of a whole recording, before compression: it ends there. */
const maxBytes = 192 * 1024 ** 2;

class RecordingFile {
  readonly #log: GzipLog;
  readonly mask: Mask;
  readonly now: () => number;
  #bytes = 0;
  #isOver = false;
  #lastId = 0;
  readonly #learnt = new Set<string>();
  /** True from some output until the next microtask: promises have not continued since. */
  #isInTurn = false;

  constructor(log: GzipLog, { sensitive, now }: RecorderOptions) {
    this.#log = log;
    this.mask = maskFor(sensitive);
    this.now = now;
  }

  append(entry: RecordingEntry | RecordingHead): void {
    const line = `${JSON.stringify(masked(entry, this.mask))}\n`;
    this.#bytes += line.length;
    if (this.#isOver || this.#bytes > maxBytes) return;
    try {
      this.#log.append(line);
    } catch (error) {
      // A full disk under the recording does not end the gate.
      this.#isOver = true;
      process.stderr.write(`warning: the recording ends here: ${reasonOf(error)}\n`);
    }
  }

  close(): void {
    this.#isOver = true;
    this.#log.close();
  }

  /** Masks the machine's own names, serial numbers and secrets from here on; queries each machine once. */
  async learn(host: Host, label: string): Promise<void> {
    if (this.#learnt.has(label)) return;
    this.#learnt.add(label);
    this.mask.learn(await learnFrom(host));
  }

  request(host: string, call: RecordedCall): RequestLog {
    this.#lastId += 1;
    const id = this.#lastId;
    this.append({ kind: 'asks', at: this.now(), id, host, asked: call });
    const common = () => ({ at: this.now(), id });
    return {
      output: (stream, text) => this.append({ kind: 'hears', ...common(), stream, text, ...this.#turn() }),
      omit: (stream, omitted) => this.append({ kind: 'cut', ...common(), stream, ...omitted }),
      end: (answer) => this.append({ kind: 'ends', ...common(), answer }),
    };
  }

  #turn(): { isOfSameTurn?: true } {
    const isSame = this.#isInTurn;
    this.#isInTurn = true;
    queueMicrotask(() => {
      this.#isInTurn = false;
    });
    return isSame ? { isOfSameTurn: true } : {};
  }
}

function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => masked(one, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [mask(key), masked(one, mask)]));
}

function recordedDeps<Deps extends FreebsdDeps>(deps: Deps, file: RecordingFile): Deps {
  return {
    ...deps,

    async connect(config, label, options) {
      const log = file.request(label, { what: 'connect' });
      const host = await logged(log, () => deps.connect(config, label, options));
      await file.learn(host, label);
      return recordedHost(host, label, file);
    },

    async openPower(name, config) {
      const power = <T>(order: 'open' | 'state' | 'cycle', work: () => Promise<T>) =>
        logged(file.request('power', { what: 'power', order }), work);
      const opened = await power('open', () => deps.openPower(name, config));
      return {
        state: () => power('state', () => opened.state()),
        cycle: () => power('cycle', () => opened.cycle()),
      };
    },

    openConsole: (name, config, onOutput) =>
      recordedConsole(file, onOutput, (receive) => deps.openConsole(name, config, receive)),

    sleep: (seconds) => logged(file.request('clock', { what: 'sleep', seconds }), () => deps.sleep(seconds)),
  };
}

async function recordedConsole(
  file: RecordingFile,
  onOutput: (chunk: Buffer) => void,
  open: (receive: (chunk: Buffer) => void) => ReturnType<FreebsdDeps['openConsole']>,
): ReturnType<FreebsdDeps['openConsole']> {
  const log = file.request('console', { what: 'console', order: 'hear' });
  const lines = new OutputLines();
  let isClosed = false;
  const end = (reason?: string) => {
    if (isClosed) return;
    isClosed = true;
    endStream(log, 'stdout', lines);
    log.end({ kind: 'done', ...(reason !== undefined && { said: reason }) });
  };
  const receive = (chunk: Buffer) => {
    const text = lines.add(chunk);
    if (text !== '') log.output('stdout', text);
    onOutput(chunk);
  };
  try {
    const opening = file.request('console', { what: 'console', order: 'open' });
    const opened = await logged(opening, () => open(receive));
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
}

function recordedHost(host: Host, label: string, file: RecordingFile): Host {
  const run: Host['run'] = async (command, options = {}) => {
    const text = commandText(command);
    const shown = options.shownAs === undefined ? text : commandText(options.shownAs);
    const log = file.request(label, {
      what: 'run',
      command: text,
      ...(shown !== text && { shown }),
    });
    const lines = { stdout: new OutputLines(), stderr: new OutputLines() };
    const receive = (stream: StreamName, chunk: Uint8Array) => {
      const whole = lines[stream].add(chunk);
      if (whole !== '') log.output(stream, whole);
    };
    const end = (outcome: RecordedOutcome) => {
      endStream(log, 'stdout', lines.stdout);
      endStream(log, 'stderr', lines.stderr);
      log.end(outcome);
    };
    try {
      const outcome = await host.run(command, tapped(options, receive));
      receive('stdout', Buffer.from(outcome.stdout));
      receive('stderr', Buffer.from(outcome.stderr));
      end(
        outcome.kind === 'exited'
          ? { kind: 'exited', code: outcome.code }
          : { kind: 'signaled', signal: outcome.signal },
      );
      return outcome;
    } catch (error) {
      end(failureOf(error));
      throw error;
    }
  };
  return {
    ...host,
    run,
    output: async (command, options) => stdoutOf(await run(command, options), host.name, command),

    async upload(source, path, mode, options) {
      const content = await sizeAndSum(source);
      const log = file.request(label, { what: 'upload', path, mode, ...content });
      await logged(log, () => host.upload(source, path, mode, options));
    },
  };
}

/** Records the streams that the caller follows as they arrive; the others come with the outcome. */
function tapped(options: RunOptions, receive: (stream: StreamName, chunk: Uint8Array) => void): RunOptions {
  const { onStdout, onStderr } = options;
  const tap = (stream: StreamName, onChunk: (chunk: Uint8Array) => void) => (chunk: Uint8Array) => {
    receive(stream, chunk);
    onChunk(chunk);
  };
  return {
    ...options,
    ...(onStdout !== undefined && { onStdout: tap('stdout', onStdout) }),
    ...(onStderr !== undefined && { onStderr: tap('stderr', onStderr) }),
  };
}

/** Returns zero and no sum for an unreadable file: the upload itself reports it. */
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
