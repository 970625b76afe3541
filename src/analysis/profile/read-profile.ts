// Reads a profile of any known format, detected by content, as a stream.
import { shortened } from '../../model/one-line.ts';
import { foldedParser, isFoldedLine, isFractionLine } from './folded.ts';
import {
  checkCharacters,
  checkLine,
  isBlank,
  isComment,
  ownBounds,
  type ProfileBounds,
  type ProfileParser,
  type ReadProfile,
  type StackSink,
} from './parser.ts';
import { isPerfScriptLine, perfScriptParser } from './perf-script.ts';
import { pmcstatGraphParser } from './pmcstat-graph.ts';
import { type Profile, samplesOf } from './profile.ts';
import { ProfileError } from './profile-error.ts';

export { foreignBounds } from './parser.ts';

/**
 * `name` identifies the file in errors and notes. Passes stacks of a call graph to the sink.
 *
 * @throws ProfileError if the bytes are no profile, or cannot be counted.
 */
export async function readProfile(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  sink?: StackSink,
): Promise<ReadProfile> {
  const reading = startReading(name, ownBounds, sink);
  for await (const piece of pieces) reading.take(piece);
  return reading.end();
}

/** @throws ProfileError as readProfile does. */
export function parseProfile(text: string, name = 'the profile', bounds: ProfileBounds = ownBounds): Profile {
  const reading = startReading(name, bounds);
  reading.take(Buffer.from(text));
  return reading.end().profile;
}

const headBytes = 64 * 1024;

function startReading(givenName: string, bounds: ProfileBounds, sink?: StackSink) {
  const name = givenName.replace(/\p{Cc}/gu, '?');
  let parser: ProfileParser | undefined;
  let unread: Buffer = Buffer.alloc(0);

  function takeLines(given: Buffer): void {
    const bytes = parser === undefined ? withoutMark(given) : given;
    parser ??= parserFor(bytes, name, bounds, sink);
    const end = bytes.lastIndexOf('\n') + 1;
    parser.take(bytes.subarray(0, end));
    unread = bytes.subarray(end);
    checkLine(unread.length, name);
  }

  return {
    take(piece: Uint8Array): void {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      const end = bytes.indexOf('\n') + 1;
      if (parser === undefined || end === 0) {
        unread = Buffer.concat([unread, bytes]);
        if (unread.length >= headBytes) takeLines(unread);
        return;
      }
      // Copies only the unfinished line, as copying a large file is slow.
      takeLines(Buffer.concat([unread, bytes.subarray(0, end)]));
      takeLines(bytes.subarray(end));
    },
    end(): ReadProfile {
      if (unread.length > 0) takeLines(unread);
      const unfinished = unread.length === 0 ? undefined : Buffer.concat([unread, lineEnd]);
      if (parser === undefined) throw empty(name);
      const read = parser.end(unfinished);
      const { stacks } = read.profile;
      if (stacks.length + (sink?.stacks ?? 0) === 0) throw noProfile(name, []);
      checkCharacters(stacks, name, bounds);
      if (Number.isSafeInteger(samplesOf(stacks) + (sink?.samples ?? 0))) return read;
      throw new ProfileError(
        `The samples of ${name} add up to more than can be counted exactly; profile for a shorter time.`,
      );
    },
  };
}

const lineEnd = Buffer.from('\n');

/** Some editors begin a text with a byte order mark. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;

const byteOrderMark = Buffer.from('\uFEFF');

function parserFor(head: Buffer, name: string, bounds: ProfileBounds, sink: StackSink | undefined): ProfileParser {
  refuseBinary(head, name);
  const lines = head.toString('utf8', 0, headBytes).split('\n');
  if (lines.every(isBlank)) throw empty(name);
  if (lines.some(isCallGraphLine)) return pmcstatGraphParser(name, bounds, sink);
  if (lines.some(isPerfScriptLine)) return perfScriptParser(name, bounds);
  const words = lines.filter((line) => !isBlank(line) && !isComment(line));
  if (isFolded(words)) return foldedParser(name, bounds);
  throw noProfile(name, words);
}

/**
 * Rejects fractions, which are no counts, for the parser of folded stacks; a single one may be a version in a sentence.
 */
const isFolded = ([first = '', ...others]: readonly string[]): boolean =>
  isFoldedLine(first) || (isFractionLine(first) && (first.includes(';') || others.some(isFoldedLine)));

const isCallGraphLine = (line: string): boolean =>
  /^@ \S.* \[\d+ samples\]/.test(line) || /^ *[\d.]+% {2}\[\d+\]/.test(line);

function refuseBinary(head: Buffer, name: string): void {
  if (/^PERF(?:ILE2|FILE)/.test(head.toString('latin1', 0, 'PERFFILE'.length))) {
    throw new ProfileError(`${name} is a recording of perf; print it with perf script -i ${name} and read that.`);
  }
  const known = compressions.find(({ magic }) => head.subarray(0, magic.length).equals(Buffer.from(magic)));
  if (known !== undefined) {
    throw new ProfileError(`${name} is compressed; unpack it with ${known.program} -dc ${name}.`);
  }
  // hwpmc records begin with their length, their type and this byte.
  if (head[3] === 0xee) {
    throw new ProfileError(
      `${name} is a raw log of hwpmc; print its call graph with pmcstat -R ${name} -z 100 -G FILE, on FreeBSD, and read FILE.`,
    );
  }
  if (head.subarray(0, headBytes).includes(0)) {
    throw new ProfileError(`${name} is binary and no profile that is known here; ${expectation}.`);
  }
}

const compressions = [
  { magic: [0x1f, 0x8b], program: 'gzip' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], program: 'xz' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], program: 'zstd' },
];

const expectation = 'give what pmcstat -G or perf script printed, or folded stacks like "main;read 12"';

const empty = (name: string) => new ProfileError(`${name} is empty; ${expectation}.`);

function noProfile(name: string, [first]: readonly string[]): ProfileError {
  const begun = first === undefined ? '' : `, it begins with "${shortened(first)}"`;
  return new ProfileError(`${name} is not a profile that is known here${begun}; ${expectation}.`);
}
