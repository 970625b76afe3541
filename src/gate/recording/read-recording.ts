// Reads a recording: what was asked, in its order, each with what came of it.
import { readFileSync } from 'node:fs';
import { constants, gunzipSync } from 'node:zlib';
import { parseJson } from '../../model/json.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import {
  type Answer,
  type Asked,
  type Entry,
  entrySchema,
  type Head,
  headSchema,
  recordingFormat,
  recordingVersion,
} from './entry.ts';

/**
 * When something happened: several things may in one millisecond, each by its line of the recording. All that was heard in
 * one `turn` had come before whoever listened could go on.
 */
export type Moment = { at: number; line: number; turn: number };

type Piece = Moment & { stream: 'stdout' | 'stderr'; text: string };

export type Question = {
  /** Which of all questions it is, from 1 on. */
  number: number;
  host: string;
  asked: Asked;
  at: number;
  pieces: Piece[];
  /** Streams of which something was left out. */
  cut: Set<'stdout' | 'stderr'>;
  /** Absent: the recording ends before it. */
  ended?: Moment & { answer: Answer };
};

/** Something that was begun, or that came of it, and after how many questions. */
export type Mark = { after: number; part: string; value: unknown; kind: 'begins' | 'tells' };

export type Recording = { head: Head; questions: Question[]; marks: Mark[]; isTorn: boolean };

/** Throws a UsageError where the file is no recording that can be read here. */
export function readRecording(path: string): Recording {
  const [first = '', ...lines] = unpacked(path).split('\n');
  const head = headOf(path, first);
  const recording: Recording = { head, questions: [], marks: [], isTorn: lines.at(-1) !== '' };
  const byId = new Map<number, Question>();
  let turn = 0;
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const { data: entry, error } = entrySchema.safeParse(parseJson(line));
    if (entry !== undefined) {
      if (entry.kind !== 'hears' || entry.isOfSameTurn === undefined) turn += 1;
      add(recording, byId, { ...entry, line: index + 2, turn });
    }
    // The last one may have been under way.
    else if (error !== undefined && index < lines.length - 1) {
      throw new UsageError(
        `${path} is damaged in its line ${index + 2}: have it recorded again, or send it as it came.`,
      );
    }
  }
  return recording;
}

/** Far more than a recorder writes. */
const mostBytes = 256 * 1024 ** 2;

/** The text of a recording as far as it goes: whoever recorded may have been killed. */
function unpacked(path: string): string {
  let packed: Buffer;
  try {
    packed = readFileSync(path);
  } catch (error) {
    throw new UsageError(`The recording ${path} cannot be read (${reasonOf(error)}).`);
  }
  const { Z_SYNC_FLUSH: finishFlush } = constants;
  try {
    return gunzipSync(packed, { finishFlush, maxOutputLength: mostBytes }).toString();
  } catch (error) {
    const isBig = error instanceof RangeError;
    throw isBig
      ? new UsageError(
          `${path} is more than ${mostBytes / 1024 ** 2} MiB once it is unpacked, and no recording is so big: it is not opened.`,
        )
      : noRecording(path);
  }
}

const noRecording = (path: string): UsageError =>
  new UsageError(`${path} is no recording: expected a file that \`--record\` has written.`);

function headOf(path: string, line: string): Head {
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
  recording: Recording,
  byId: Map<number, Question>,
  entry: Entry & Omit<Moment, 'at'>,
): void {
  const { questions, marks } = recording;
  switch (entry.kind) {
    case 'begins':
    case 'tells': {
      const { kind, part } = entry;
      const value = kind === 'begins' ? entry.request : entry.outcome;
      marks.push({ kind, part, value, after: questions.length });
      return;
    }
    case 'asks': {
      const { host, asked, at } = entry;
      const number = questions.length + 1;
      const question = { number, host, asked, at, pieces: [], cut: new Set<never>() };
      questions.push(question);
      byId.set(entry.id, question);
      return;
    }
    case 'hears':
      byId.get(entry.id)?.pieces.push(entry);
      return;
    case 'cut':
      byId.get(entry.id)?.cut.add(entry.stream);
      return;
    case 'ends': {
      const question = byId.get(entry.id);
      const { at, line, turn, answer } = entry;
      if (question !== undefined) question.ended ??= { at, line, turn, answer };
      return;
    }
  }
}

/** All that a stream of a command wrote, as far as it was kept. */
export const writtenTo = ({ pieces }: Question, stream: 'stdout' | 'stderr'): string =>
  pieces
    .filter((piece) => piece.stream === stream)
    .map(({ text }) => text)
    .join('');

/** ``the recording's 57th command, `netstat -rn -f inet` on the DUT`` without its first words. */
export function questionText({ host, asked }: Question): string {
  switch (asked.what) {
    case 'run':
      return `\`${(asked.shown ?? asked.command).replace(/'([\w@%+=:,./-]+)'/g, '$1')}\` on the ${host}`;
    case 'connect':
      return `the login to the ${host}`;
    case 'upload':
      return `the upload of ${asked.path} to the ${host}`;
    case 'power':
      return `the power's ${asked.order}`;
    case 'console':
      return asked.order === 'open' ? 'the opening of the console' : 'what the console printed';
    case 'sleep':
      return `a sleep of ${asked.seconds} s`;
  }
}
