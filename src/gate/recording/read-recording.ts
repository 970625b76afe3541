// Reads a recording: the requests in their order, each with its output and outcome.
import { readFileSync, statSync } from 'node:fs';
import { constants, gunzipSync } from 'node:zlib';
import { unquoted } from '../../lab/check/diagnostic.ts';
import { parseJson } from '../../model/json.ts';
import { fileReasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import {
  entrySchema,
  headSchema,
  type RecordedCall,
  type RecordedOutcome,
  type RecordingEntry,
  type RecordingHead,
  recordingFormat,
  recordingVersion,
} from './recording-entry.ts';
import { fromVersion1 } from './recording-version-1.ts';

/** `line` orders events of one millisecond. Output of one `turn` arrived before the recorded code could react. */
export type RecordedMoment = { at: number; line: number; turn: number };

type OutputChunk = RecordedMoment & { stream: 'stdout' | 'stderr'; text: string };

export type RecordedRequest = {
  number: number;
  host: string;
  call: RecordedCall;
  at: number;
  output: OutputChunk[];
  cut: Set<'stdout' | 'stderr'>;
  /** Undefined if the recording ends first. */
  ended?: RecordedMoment & { outcome: RecordedOutcome };
};

/** The beginning of a part, or one of its outcomes, after this many requests. */
type PartEvent = {
  after: number;
  part: string;
  value: unknown;
  kind: 'begins' | 'tells';
};

export type Recording = {
  head: RecordingHead;
  requests: RecordedRequest[];
  events: PartEvent[];
  isTorn: boolean;
};

/** Throws a UsageError if the file is no recording that can be read here. */
export function readRecording(path: string): Recording {
  const bytes = unpacked(path);
  const headEnd = endOfLine(bytes, 0);
  const head = headOf(path, textOf(path, bytes, 0, headEnd));
  const recording: Recording = { head, requests: [], events: [], isTorn: bytes.at(-1) !== newline };
  const byId = new Map<number, RecordedRequest>();
  let turn = 0;
  let line = 1;
  let parts = 0;
  for (let start = headEnd + 1, end = headEnd; start < bytes.length; start = end + 1) {
    end = endOfLine(bytes, start);
    line += 1;
    if (line > maxLines) throw tooMuch(path, maxLines, 'lines');
    if (end === start) continue;
    const { data: entry } = entrySchema.safeParse(entryOf(textOf(path, bytes, start, end), head));
    if (entry !== undefined) {
      if (entry.kind !== 'hears' || entry.isOfSameTurn === undefined) turn += 1;
      add(recording, byId, entry, { at: entry.at, line, turn });
      if (recording.requests.length > maxRequests) throw tooMuch(path, maxRequests, 'requests');
      if (entry.kind === 'begins') parts += 1;
      if (parts > maxParts) throw tooMuch(path, maxParts, 'parts');
    } else if (end < bytes.length) {
      // Only the last line may be partial.
      throw new UsageError(`${path} is damaged in line ${line}: record it again, or copy it unchanged.`);
    }
  }
  return recording;
}

/** Exceeds what a recorder writes: its lines have a hundred bytes or more. */
const maxLines = 2_000_000;
const maxRequests = 200_000;
const maxParts = 1000;
/** Output comes in pieces of a few lines, of at most a mebibyte each, and six characters escape one. */
const maxLineBytes = 16 * 1024 ** 2;

const newline = 0x0a;

function endOfLine(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(newline, start);
  return end === -1 ? bytes.length : end;
}

/** Decodes line by line: one text of the whole would be split into as many texts as there are lines. */
function textOf(path: string, bytes: Buffer, start: number, end: number): string {
  if (end - start > maxLineBytes) throw tooMuch(path, maxLineBytes, 'bytes in a line');
  return bytes.toString('utf8', start, end);
}

const tooMuch = (path: string, most: number, what: string): UsageError =>
  new UsageError(
    `${path} has more than ${most.toLocaleString('en-US')} ${what}, more than any recording: it is not opened.`,
  );

function entryOf(line: string, { version }: RecordingHead): unknown {
  const entry = parseJson(line);
  const isOfPart = typeof entry === 'object' && entry !== null && 'part' in entry;
  return version === 1 && isOfPart ? fromVersion1(entry) : entry;
}

/** Exceeds what a recorder writes. */
const maxBytes = 256 * 1024 ** 2;

/** Unpacks a recording up to its end, where a kill may have truncated it. */
function unpacked(path: string): Buffer {
  let packed: Buffer;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > maxBytes) throw tooMuch(path, maxBytes, 'bytes');
    packed = readFileSync(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `The recording ${path} cannot be read (${fileReasonOf(error)}): name a file written by --record.`,
    );
  }
  try {
    return gunzipSync(packed, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxBytes,
    });
  } catch (error) {
    throw error instanceof RangeError
      ? new UsageError(
          `${path} has more than ${maxBytes / 1024 ** 2} MiB once unpacked, more than any recording: it is not opened.`,
        )
      : noRecording(path);
  }
}

const noRecording = (path: string): UsageError =>
  new UsageError(`${path} is not a recording: expected a file written by \`--record\`.`);

function headOf(path: string, line: string): RecordingHead {
  const written = parseJson(line);
  const { data: head } = headSchema.safeParse(written);
  if (head !== undefined) return head;
  const { format, version } = (written ?? {}) as { format?: unknown; version?: unknown };
  if (format === recordingFormat && typeof version === 'number' && version > recordingVersion) {
    throw new UsageError(
      `${path} is from a newer ppsgate (format ${version}; this version reads ${recordingVersion}): replay it with that version.`,
    );
  }
  throw noRecording(path);
}

function add(
  { requests, events }: Recording,
  byId: Map<number, RecordedRequest>,
  entry: RecordingEntry,
  moment: RecordedMoment,
): void {
  switch (entry.kind) {
    case 'begins':
    case 'tells': {
      const { kind, part } = entry;
      const value = kind === 'begins' ? entry.request : entry.outcome;
      events.push({ kind, part, value, after: requests.length });
      return;
    }
    case 'asks': {
      const { host, asked: call, at } = entry;
      const number = requests.length + 1;
      const request = { number, host, call, at, output: [], cut: new Set<never>() };
      requests.push(request);
      byId.set(entry.id, request);
      return;
    }
    case 'hears':
      byId.get(entry.id)?.output.push({ ...moment, stream: entry.stream, text: entry.text });
      return;
    case 'cut':
      byId.get(entry.id)?.cut.add(entry.stream);
      return;
    case 'ends': {
      const request = byId.get(entry.id);
      if (request !== undefined) request.ended ??= { ...moment, outcome: entry.answer };
      return;
    }
  }
}

export const outputOf = ({ output }: RecordedRequest, stream: 'stdout' | 'stderr'): string =>
  output
    .filter((chunk) => chunk.stream === stream)
    .map(({ text }) => text)
    .join('');

/** `netstat -rn -f inet` on the DUT, to follow "the recording's 57th question, ". */
export function requestText({ host, call }: Pick<RecordedRequest, 'host' | 'call'>): string {
  switch (call.what) {
    case 'run':
      return `\`${unquoted(call.shown ?? call.command)}\` on the ${host}`;
    case 'connect':
      return `the login to the ${host}`;
    case 'upload':
      return `the upload of ${call.path} to the ${host}`;
    case 'power':
      return `the power's ${call.order}`;
    case 'console':
      return call.order === 'open' ? 'the opening of the console' : 'what the console printed';
    case 'guest':
      return `${guestRequests[call.order]} of ${host}`;
    case 'sleep':
      return `a sleep of ${call.seconds} s`;
  }
}

const guestRequests: Record<Extract<RecordedCall, { what: 'guest' }>['order'], string> = {
  boot: 'the start',
  up: 'the boot',
  kernel: 'the unpacking of a kernel',
  facts: 'the facts',
  windows: 'the windows of packets',
  interrupt: 'the interrupt',
  reset: 'the reset',
};
