// What the action says to people, and to the runner. A runner takes lines of the log for commands, whoever's words they
// are, so all that anything in this process prints goes through here, and no command comes out but our own.
//
// GitHub's runner reads stdout and stderr each by lines, which end with \n or \r. It knows two kinds of command:
// `::name …::data` where a line begins, after blanks, and `##[name …]data` anywhere in one.
import { StringDecoder } from 'node:string_decoder';
import { inspect } from 'node:util';
import * as core from '@actions/core';
import { exitCodes } from '../model/conclusion.ts';

/** Has to be called before anything else can print: from then on nothing that is printed is a command. */
export function guardOutput(): void {
  writeCommand = guard(process.stdout);
  guard(process.stderr);
  // What Node would say of it by itself goes past `process.stderr.write`.
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(exitCodes.infrastructure);
  });
}

/** What is said in the job's log, and so on its page; errors and warnings become annotations. */
export const log = {
  debug: (message: string) => command('debug', harmless(message)),
  info: (message: string) => void process.stdout.write(`${message}\n`),
  warn: (message: string | Error) => command('warning', harmless(String(message))),
  error: (message: string | Error) => command('error', harmless(String(message))),
};

/** The runner puts stars for it wherever it stands in the log. */
export const mask = (secret: string): void => command('add-mask', secret);

export function setOutput(name: string, value: string | boolean): void {
  requireFile('GITHUB_OUTPUT');
  core.setOutput(name, value);
}

/** Keeps a value for the stage that follows when the job ends. */
export function saveState(name: string, value: string): void {
  requireFile('GITHUB_STATE');
  core.saveState(name, value);
}

/** Without it they would be commands in the log. */
function requireFile(variable: 'GITHUB_OUTPUT' | 'GITHUB_STATE'): void {
  if (process.env[variable]) return;
  throw new Error(`The runner names no file in ${variable}: use a runner that has node24.`);
}

function command(name: 'debug' | 'warning' | 'error' | 'add-mask', data: string): void {
  const escaped = data.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  writeCommand(`::${name}::${escaped}\n`);
}

/** Past the guard, once there is one. */
let writeCommand = (line: string): boolean => process.stdout.write(line);

type Done = (error?: Error | null) => void;

/**
 * Lets nothing through but whole lines, so that no two pieces make a command, nor ours begins within another's line.
 * Answers what writes past it.
 */
function guard(stream: NodeJS.WriteStream): (line: string) => boolean {
  const write = stream.write.bind(stream);
  const decoder = new StringDecoder();
  let begun = '';
  stream.write = (
    chunk: string | Uint8Array,
    encodingOrDone?: BufferEncoding | Done,
    last?: Done,
  ) => {
    const [encoding, done] =
      typeof encodingOrDone === 'string' ? [encodingOrDone, last] : [undefined, encodingOrDone];
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    const text = decoder.write(bytes);
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    const whole = end === 0 ? '' : begun + text.slice(0, end);
    begun = end === 0 ? begun + text : text.slice(end);
    return write(harmless(whole), done);
  };
  stream.end = () => {
    throw new Error('Only the end of the process ends what it prints.');
  };
  process.on('exit', () => {
    begun += decoder.end();
    if (begun !== '') write(`${harmless(begun)}\n`);
  });
  return write;
}

/** The same to read, but with a blank in whatever a runner would take for the beginning of a command. */
const harmless = (text: string): string =>
  text.replace(/[^\r\n]+/g, (line) =>
    // More than .NET takes for blanks, and a byte order mark, which is nothing at the start of what it reads.
    line.replace(/^[^\p{L}\p{N}\p{P}\p{S}]*:(?=:)/u, '$& ').replace(/#(?=#\[)/g, '# '),
  );
