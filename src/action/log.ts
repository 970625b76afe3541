// Writes the job log and the runner's files. A runner treats lines of the log as commands, even in quoted text. So all
// output of the process passes a guard that lets only our own commands through.
// GitHub's runner reads stdout and stderr separately by lines, which end with \n or \r. It knows two kinds of commands:
// `::name …::data` at the beginning of a line, after blanks, and `##[name …]data` anywhere.
import { StringDecoder } from 'node:string_decoder';
import { inspect } from 'node:util';
import * as core from '@actions/core';
import { exitCodes } from '../model/conclusion.ts';

/** Guards all output of the process. Call it before anything is printed. */
export function guardOutput(): void {
  writeCommand = guard(process.stdout);
  guard(process.stderr);
  // Node's own report would bypass `process.stderr.write`.
  process.on('uncaughtException', (error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(exitCodes.infrastructure);
  });
}

/** Errors and warnings become annotations. */
export const log = {
  debug: (message: string) => command('debug', harmless(message)),
  info: (message: string) => void process.stdout.write(`${message}\n`),
  warn: (message: string | Error) => command('warning', harmless(String(message))),
  error: (message: string | Error) => command('error', harmless(String(message))),
};

export const mask = (secret: string): void => command('add-mask', secret);

export function setOutput(name: string, value: string | boolean): void {
  requireFile('GITHUB_OUTPUT');
  core.setOutput(name, value);
}

/**
 * Values for the clean-up at the end of the job: the running lab, the folder with leases, reporters without a
 * conclusion.
 */
type StateName = 'embedded-lab' | 'lease' | 'open-reporters';

export const readState = (name: StateName): string => core.getState(name);

export function saveState(name: StateName, value: string): void {
  requireFile('GITHUB_STATE');
  core.saveState(name, value);
}

/** Without the file, `core` would print a command. */
function requireFile(variable: 'GITHUB_OUTPUT' | 'GITHUB_STATE'): void {
  if (process.env[variable]) return;
  throw new Error(`The runner sets no file in ${variable}: use a runner with node24.`);
}

function command(name: 'debug' | 'warning' | 'error' | 'add-mask', data: string): void {
  const escaped = data.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  writeCommand(`::${name}::${escaped}\n`);
}

/** Bypasses the guard, once it is installed. */
let writeCommand = (line: string): boolean => process.stdout.write(line);

type WriteDone = (error?: Error | null) => void;

/** Passes only complete lines, so that two pieces never form a command. Returns a function that bypasses the guard. */
function guard(stream: NodeJS.WriteStream): (line: string) => boolean {
  const write = stream.write.bind(stream);
  const decoder = new StringDecoder();
  let begun = '';
  stream.write = (chunk: string | Uint8Array, encodingOrDone?: BufferEncoding | WriteDone, last?: WriteDone) => {
    const [encoding, done] = typeof encodingOrDone === 'string' ? [encodingOrDone, last] : [undefined, encodingOrDone];
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    const text = decoder.write(bytes);
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    const lines = end === 0 ? '' : begun + text.slice(0, end);
    begun = end === 0 ? begun + text : text.slice(end);
    return write(harmless(lines), done);
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

/** Inserts a blank into each beginning of a command. */
const harmless = (text: string): string =>
  text.replace(/[^\r\n]+/g, (line) =>
    // Covers more than .NET's blanks, and a byte order mark, which .NET drops at the beginning.
    line.replace(/^[^\p{L}\p{N}\p{P}\p{S}]*:(?=:)/u, '$& ').replace(/#(?=#\[)/g, '# '),
  );
