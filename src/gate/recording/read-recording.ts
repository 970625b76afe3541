// Reads a recording: the requests in their order, each with its output and outcome.
import { readFileSync } from 'node:fs';
import { constants, gunzipSync } from 'node:zlib';
import { unquoted } from '../../lab/check/diagnostic.ts';
import { parseJson } from '../../model/json.ts';
import { reasonOf } from '../../model/one-line.ts';
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

/** The begin of a part, or one of its outcomes, after so many requests. */
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
  const [first = '', ...lines] = unpacked(path).split('\n');
  const head = headOf(path, first);
  const recording: Recording = { head, requests: [], events: [], isTorn: lines.at(-1) !== '' };
  const byId = new Map<number, RecordedRequest>();
  let turn = 0;
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const { data: entry } = entrySchema.safeParse(entryOf(line, head));
    if (entry !== undefined) {
      if (entry.kind !== 'hears' || entry.isOfSameTurn === undefined) turn += 1;
      add(recording, byId, entry, { at: entry.at, line: index + 2, turn });
    } else if (index < lines.length - 1) {
      // Only the last line may be partial.
      throw new UsageError(
        `${path} is damaged in its line ${index + 2}: have it recorded again, or send it as it came.`,
      );
    }
  }
  return recording;
}

function entryOf(line: string, { version }: RecordingHead): unknown {
  const entry = parseJson(line);
  const isOfPart = typeof entry === 'object' && entry !== null && 'part' in entry;
  return version === 1 && isOfPart ? fromVersion1(entry) : entry;
}

/** More than a recorder writes. */
const maxBytes = 256 * 1024 ** 2;

/** Unpacks a recording up to its end, which a killed process may have cut short. */
function unpacked(path: string): string {
  let packed: Buffer;
  try {
    packed = readFileSync(path);
  } catch (error) {
    throw new UsageError(`The recording ${path} cannot be read (${reasonOf(error)}).`);
  }
  try {
    return gunzipSync(packed, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxBytes,
    }).toString();
  } catch (error) {
    throw error instanceof RangeError
      ? new UsageError(
          `${path} is more than ${maxBytes / 1024 ** 2} MiB once it is unpacked, and no recording is so big: it is not opened.`,
        )
      : noRecording(path);
  }
}

const noRecording = (path: string): UsageError =>
  new UsageError(`${path} is no recording: expected a file that \`--record\` has written.`);

function headOf(path: string, line: string): RecordingHead {
  const written = parseJson(line);
  const { data: head } = headSchema.safeParse(written);
  if (head !== undefined) return head;
  const { format, version } = (written ?? {}) as { format?: unknown; version?: unknown };
  if (format === recordingFormat && typeof version === 'number' && version > recordingVersion) {
    throw new UsageError(
      `${path} is of a newer ppsgate (its format is ${version}, and this one reads ${recordingVersion}): replay it with that one.`,
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
    case 'sleep':
      return `a sleep of ${call.seconds} s`;
  }
}
