// Recordings that are spoilt, torn, or none.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { recordTo } from '../../../src/gate/recording/record.ts';
import { replay } from '../../../src/gate/recording/replay.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { recordCheck } from './lab.ts';
import { linesOf, spoil, writeLines } from './spoil.ts';

let whole: { path: string; diagnostics: Diagnostic[] };
const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
beforeAll(async () => {
  whole = await recordCheck({}, {}, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (content: string | Uint8Array): string => {
  const path = join(temporaryFolder(), 'lab.rec');
  writeFileSync(path, content);
  return path;
};

describe('forty recordings that are spoilt', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
    'in way %i: the command is named, the rest is read, and what does not depend on it is found',
    async (seed) => {
      const path = join(temporaryFolder(), 'spoilt.rec');
      const spoilt = spoil(whole.path, path, seed);
      const recording = readRecording(path);
      const replayed = await replay(recording);
      expect(recording.questions).toHaveLength(readRecording(whole.path).questions.length);
      const named = replayed.differences.filter(
        ({ kind, number }) => kind === 'not-understood' && number === spoilt.number,
      );
      expect({ ...spoilt, named }).toMatchObject({ named: [{ number: spoilt.number }] });
      expect(replayed.diagnostics.map(({ what }) => what)).toEqual(
        expect.arrayContaining(['ssh to the DUT', 'power control of the DUT']),
      );
      expect(replayed.diagnostics.length).toBeGreaterThan(whole.diagnostics.length / 2);
    },
  );
});

describe('a recording', () => {
  test('that breaks off is read to its end, and says where the code of today goes on alone', async () => {
    const bytes = readFileSync(whole.path);
    for (const share of [0.2, 0.5, 0.9]) {
      const path = file(bytes.subarray(0, Math.floor(bytes.length * share)));
      const recording = readRecording(path);
      expect(recording.questions.length).toBeGreaterThan(5);
      const replayed = await replay(recording);
      expect(replayed.differences.length).toBeGreaterThan(0);
      expect(replayed.diagnostics.length).toBeGreaterThan(0);
    }
  });

  test('is read by zcat, too', () => {
    const said = execFileSync('gzip', ['-dc', whole.path]).toString();
    expect(said.split('\n')[0]).toContain('"format":"ppsgate recording"');
  });

  test('has nothing of a secret, and no address but those that everybody uses', () => {
    const text = linesOf(whole.path)
      .map((line) => JSON.stringify(line))
      .join('\n');
    expect(text).not.toMatch(/00:07:43/);
    expect(text).not.toMatch(/PRIVATE KEY|known_hosts/);
    expect(text).toContain('00:00:5e:00:53:');
    expect(text).toContain('198.18.');
  });

  test('of a question that today’s code asks otherwise tells which', async () => {
    const path = join(temporaryFolder(), 'other.rec');
    const lines = linesOf(whole.path);
    const other = JSON.parse(JSON.stringify(lines).replaceAll('df -k', 'df -b')) as object[];
    writeLines(path, other);
    const { differences } = await replay(readRecording(path));
    expect(differences.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(
        /^after the recording's \d+\w\w question the code of today asks what the recording has not: `df -k -T \/boot` on the DUT$/,
      ),
    );
  });

  test('that names a file of this machine is not done again', async () => {
    const path = join(temporaryFolder(), 'hostile.rec');
    const written = JSON.stringify(linesOf(whole.path)).replaceAll('/dev/null', '/etc/passwd');
    writeLines(path, JSON.parse(written) as object[]);
    const { differences, diagnostics } = await replay(readRecording(path));
    expect(diagnostics).toEqual([]);
    expect(differences.map(({ sentence }) => sentence)).toEqual([
      'what the recording says of its check cannot be read here, so that it is not done again',
    ]);
  });

  test('is not written over another file', async () => {
    const path = file('precious');
    await expect(recordTo(path, 'testbeds check', [])).rejects.toThrow(
      '--record: only testbeds of `kind: freebsd` can be recorded; leave it out.',
    );
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });
});

const head = {
  kind: 'head',
  format: 'ppsgate recording',
  ppsgate: '9.0.0',
  command: 'gate',
  date: '',
};
const packed = (...lines: object[]) =>
  gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

describe('what is no recording', () => {
  test.each<[string, () => Uint8Array | string, RegExp]>([
    ['text', () => 'hello', /is no recording: expected a file that `--record` has written\.$/],
    ['nothing', () => '', /is no recording: /],
    ['other JSON', () => packed({ a: 1 }), /is no recording: /],
    ['half of one', () => packed(head).subarray(0, 12), /is no recording: /],
    [
      'that of a newer version',
      () => packed({ ...head, version: 2 }),
      /is of a newer ppsgate \(its format is 2, and this one reads 1\): replay it with that one\.$/,
    ],
    [
      'damaged',
      () => packed({ ...head, version: 1 }, { kind: 'asks' }, { kind: 'asks' }),
      /is damaged in its line 2: /,
    ],
    [
      'a bomb',
      () => {
        const piece = gzipSync(Buffer.alloc(16 * 1024 ** 2, ' '));
        return Buffer.concat([packed({ ...head, version: 1 }), ...Array(20).fill(piece)]);
      },
      /is more than 256 MiB once it is unpacked, and no recording is so big: it is not opened\.$/,
    ],
  ])('is refused in a sentence: %s', (_, content, sentence) => {
    const path = file(content());
    expect(() => readRecording(path)).toThrow(UsageError);
    expect(() => readRecording(path)).toThrow(sentence);
  });

  test('is refused where it is not there', () => {
    expect(() => readRecording('/nowhere/lab.rec')).toThrow(
      /^The recording \/nowhere\/lab\.rec cannot be read \(ENOENT/,
    );
  });
});
