// Logs the commands on a testbed's machines with their outcomes, and the lines of its console, without secrets.
import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { FreebsdDeps } from '../lab/freebsd/freebsd-deps.ts';
import { reasonOf } from '../model/one-line.ts';
import { UsageError } from '../model/usage-error.ts';
import { giveNew } from '../system/give-to-caller.ts';
import { type CommandOutcome, type RunOptions, stdoutOf } from '../system/host/execute.ts';
import { HostError } from '../system/host/host-error.ts';
import type { Host } from '../system/host/ssh.ts';
import { commandText } from '../system/shell.ts';

/** A line of the log. Times are in seconds since 1970. */
export type FlightEntry =
  /** A command starts; its end has the same id. A login is `: log in`, an upload `: upload PATH`. */
  | { at: number; id: number; host: string; command: string }
  | ({ at: number; id: number } & LoggedOutcome)
  | { at: number; console: string; text: string };

export type LoggedOutcome =
  | CommandOutcome
  /** `failure` is the kind of a HostError, or the name of another error. */
  | { kind: 'failed'; failure: string; message: string; stdout: string; stderr: string };

export type FlightLog = Disposable & {
  /** Logs everything that goes through `deps`. */
  wrap<Deps extends FreebsdDeps>(deps: Deps): Deps;
};

/**
 * Creates the log of `--record FILE`; throws a UsageError if the file exists or cannot be written. Each entry is on
 * disk before anything else happens, so that a killed process leaves all of them.
 */
export async function openFlightLog(
  path: string,
  config: object,
  now = () => Date.now() / 1000,
  report = (sentence: string): void => void process.stderr.write(`${sentence}\n`),
): Promise<FlightLog> {
  const mask = maskFor(await secretsOf(config));
  const log = new Entries(gzipLogAt(path), mask, now);
  await giveNew(path);
  return {
    wrap: (deps) => ({
      ...deps,
      connect: async (machine, label, options) => {
        const name = `${label} (${machine.host}:${machine.port})`;
        return loggedHost(await log.during(name, ': log in', () => deps.connect(machine, label, options)), log);
      },
      openConsole: async (name, console, onOutput) => {
        const lines = new ConsoleLines((text) => log.append({ at: now(), console: name, text }));
        const opened = await deps.openConsole(name, console, (chunk) => {
          lines.add(chunk);
          onOutput(chunk);
        });
        void opened.ended.then(() => lines.end());
        return { ...opened, close: () => opened.close().finally(() => lines.end()) };
      },
    }),
    [Symbol.dispose]() {
      log.close();
      report(`${path} is written. Read it before you send it, as it names your machines: zcat ${path} | less`);
    },
  };
}

function gzipLogAt(path: string): GzipLog {
  try {
    return new GzipLog(path);
  } catch (error) {
    throw new UsageError(
      `--record: ${path} cannot be written (${reasonOf(error)}); name a file that does not exist yet.`,
    );
  }
}

/** Limit of a whole log, before compression: it ends there. */
const maxLogBytes = 192 * 1024 ** 2;

class Entries {
  readonly #file: GzipLog;
  readonly #mask: (text: string) => string;
  readonly #now: () => number;
  #bytes = 0;
  #isOver = false;
  #lastId = 0;

  constructor(file: GzipLog, mask: (text: string) => string, now: () => number) {
    this.#file = file;
    this.#mask = mask;
    this.#now = now;
  }

  append(entry: FlightEntry): void {
    const line = `${JSON.stringify(entry, (_, value) => (typeof value === 'string' ? this.#mask(value) : value))}\n`;
    this.#bytes += line.length;
    if (this.#isOver || this.#bytes > maxLogBytes) return;
    try {
      this.#file.append(line);
    } catch (error) {
      // A full disk under the log does not end the gate.
      this.#isOver = true;
      process.stderr.write(`warning: the log of --record ends here: ${reasonOf(error)}\n`);
    }
  }

  /** Returns the function that logs the end. */
  begin(host: string, command: string): (outcome: LoggedOutcome) => void {
    this.#lastId += 1;
    const id = this.#lastId;
    this.append({ at: this.#now(), id, host, command });
    return (outcome) => this.append({ at: this.#now(), id, ...outcome });
  }

  async during<T>(host: string, command: string, work: () => Promise<T>): Promise<T> {
    const end = this.begin(host, command);
    try {
      const result = await work();
      end({ kind: 'exited', code: 0, stdout: '', stderr: '' });
      return result;
    } catch (error) {
      end(failureOf(error));
      throw error;
    }
  }

  close(): void {
    this.#isOver = true;
    this.#file.close();
  }
}

function failureOf(error: unknown, output = { stdout: '', stderr: '' }): LoggedOutcome {
  const failure = error instanceof HostError ? error.kind : String((error as Error)?.name);
  return { kind: 'failed', failure, message: reasonOf(error), ...output };
}

function loggedHost(host: Host, log: Entries): Host {
  const run: Host['run'] = async (command, options = {}) => {
    const end = log.begin(host.name, commandText(options.shownAs ?? command));
    const { tapped, output } = tap(options);
    try {
      const outcome = await host.run(command, tapped);
      end({ ...outcome, ...output(outcome) });
      return outcome;
    } catch (error) {
      end(failureOf(error, output()));
      throw error;
    }
  };
  return {
    ...host,
    run,
    output: async (command, options) => stdoutOf(await run(command, options), host.name, command),
    upload: (source, path, mode, options) =>
      log.during(host.name, `: upload ${path}`, () => host.upload(source, path, mode, options)),
  };
}

/** Limit per stream of a command: exceeds the graph of a profile. */
const maxOutputBytes = 16 * 1024 ** 2;

/** Copies the streams that the caller follows as they arrive; the others come with the outcome. */
function tap(options: RunOptions) {
  const copies = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const copying = (copy: Uint8Array[], receive: (chunk: Uint8Array) => void) => {
    let bytes = 0;
    return (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes <= maxOutputBytes) copy.push(chunk);
      receive(chunk);
    };
  };
  const { onStdout, onStderr } = options;
  const textOf = (stream: 'stdout' | 'stderr', rest = ''): string => {
    const text = Buffer.concat(copies[stream]).toString() + rest;
    return text.includes('\0') ? `(binary, ${text.length} characters)` : text;
  };
  return {
    tapped: {
      ...options,
      ...(onStdout !== undefined && { onStdout: copying(copies.stdout, onStdout) }),
      ...(onStderr !== undefined && { onStderr: copying(copies.stderr, onStderr) }),
    },
    output: (rest?: CommandOutcome) => ({
      stdout: textOf('stdout', rest?.stdout),
      stderr: textOf('stderr', rest?.stderr),
    }),
  };
}

/** Passes on whole lines, as half a line may end in half a secret. */
class ConsoleLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #receive: (text: string) => void;
  #pending = '';

  constructor(receive: (text: string) => void) {
    this.#receive = receive;
  }

  add(chunk: Uint8Array): void {
    this.#pending += this.#decoder.write(Buffer.from(chunk));
    const end = this.#pending.lastIndexOf('\n') + 1;
    if (end > 0) this.#receive(this.#pending.slice(0, end));
    this.#pending = this.#pending.slice(end);
    if (this.#pending.length > maxLineLength) this.end();
  }

  end(): void {
    if (this.#pending !== '') this.#receive(this.#pending);
    this.#pending = '';
  }
}

const maxLineLength = 64 * 1024;

/** Reads the files that the configuration names for secrets, skipping unreadable ones, and the environment. */
async function secretsOf(config: object): Promise<string[]> {
  const paths: string[] = [];
  const secrets = Object.entries(process.env).flatMap(([name, value = '']) => {
    const isNamed = /pass|secret|token|key|auth|cred|cookie/i.test(name);
    return isNamed && !/^(?:[./]|https?:|true$|false$)/.test(value) ? [value] : [];
  });
  const search = (key: string, value: unknown, isOfCommand: boolean): void => {
    if (Array.isArray(value) && isOfCommand) secrets.push(...secretWords(value.map(String)));
    else if (typeof value === 'object' && value !== null) {
      const isCommand = 'kind' in value && value.kind === 'command';
      for (const [name, one] of Object.entries(value)) search(name, one, isCommand);
    } else if (typeof value === 'string' && /pass(?:word|phrase)|secret|token|privateKey|community/i.test(key)) {
      (key.endsWith('Path') ? paths : secrets).push(value);
    }
  };
  search('', config, false);
  const files = await Promise.all([...new Set(paths)].map((path) => readFile(path, 'utf8').catch(() => '')));
  return [...secrets, ...files];
}

/** Arguments of a program that may be passwords or, after -c, a community of SNMP; plain words occur everywhere. */
const secretWords = (words: readonly string[]): string[] =>
  words.filter((word, index) => index > 0 && (words[index - 1] === '-c' || !/^(?:[a-z]+|-.*|\/.*)$/.test(word)));

/** Shorter secrets occur in ordinary words. */
const shortestSecret = 5;

export function maskFor(secrets: readonly string[]): (text: string) => string {
  const lines = secrets.flatMap((secret) => [secret.trim(), ...secret.split(/\r?\n/).map((line) => line.trim())]);
  const forms = lines.filter((line) => line.length >= shortestSecret && !/^-----.*-----$/.test(line)).flatMap(formsOf);
  // A longer form may contain a shorter one.
  const ordered = [...new Set(forms)].sort((one, other) => other.length - one.length);
  return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, '<secret>'), text);
}

/** Returns a secret plain, and quoted and encoded as in a command. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const percent = encodeURIComponent(secret.toWellFormed());
  // Within a longer text, a secret begins at any of three positions in base64.
  const inner = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return encoded.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
  });
  return [
    ...[secret, JSON.stringify(secret).slice(1, -1), secret.replaceAll("'", `'\\''`)],
    ...[hex, hex.toUpperCase(), percent, percent.replace(/%../g, (code) => code.toLowerCase())],
    ...inner.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]),
  ];
}

/** RFC 1952: the deflate method, no name, no time, Unix. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
/** RFC 1951: the greatest distance of a reference within a block. */
const windowBytes = 32 * 1024;

/**
 * Writes one stream of deflate, whose blocks refer to earlier texts: with a member for each text, logs were four to
 * five times as large. The next text replaces the trailer in one write, so that a killed process leaves all earlier
 * texts in a complete file.
 */
class GzipLog {
  readonly #file: number;
  /** Offset of the trailer. */
  #end = 0;
  #window: Buffer = Buffer.alloc(0);
  #sum = 0;
  #bytes = 0;

  /** Throws if the file exists or cannot be written. */
  constructor(path: string) {
    this.#file = openSync(path, 'wx', 0o600);
    this.#write(header);
  }

  append(text: string): void {
    const bytes = Buffer.from(text);
    const block = deflateRawSync(bytes, {
      level: constants.Z_BEST_COMPRESSION,
      memLevel: constants.Z_MAX_MEMLEVEL,
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(this.#window.length > 0 && { dictionary: this.#window }),
    });
    this.#window = Buffer.concat([this.#window, bytes]).subarray(-windowBytes);
    this.#sum = crc32(bytes, this.#sum);
    this.#bytes += bytes.length;
    this.#write(block);
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(piece: Buffer): void {
    const whole = Buffer.concat([piece, this.#trailer()]);
    for (let done = 0; done < whole.length; ) {
      done += writeSync(this.#file, whole, done, whole.length - done, this.#end + done);
    }
    this.#end += piece.length;
  }

  /** Returns an empty last block, the checksum and the size. */
  #trailer(): Buffer {
    const trailer = Buffer.alloc(10);
    trailer.writeUInt16LE(0x0003, 0);
    trailer.writeUInt32LE(this.#sum, 2);
    trailer.writeUInt32LE(this.#bytes % 2 ** 32, 6);
    return trailer;
  }
}
