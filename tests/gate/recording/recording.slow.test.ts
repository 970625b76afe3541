// Reads spoilt, torn and foreign recordings.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRecording, requestText } from '../../../src/gate/recording/read-recording.ts';
import { recordTo } from '../../../src/gate/recording/record.ts';
import { replay } from '../../../src/gate/recording/replay.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { shell } from '../../../src/system/shell.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { depsOf, testbedOf } from '../../fakes/freebsd-testbed.ts';
import { recordCheck } from './record-lab.ts';
import { linesOf, spoil, writeLines } from './spoil.ts';

let intact: { path: string; diagnostics: Diagnostic[] };
const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
beforeAll(async () => {
  intact = await recordCheck({}, {}, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (content: string | Uint8Array): string => {
  const path = join(temporaryFolder(), 'lab.rec');
  writeFileSync(path, content);
  return path;
};

describe('forty spoilt recordings', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
    'number %i: names the spoilt command, and replays everything else',
    async (seed) => {
      const path = join(temporaryFolder(), 'spoilt.rec');
      const spoilt = spoil(intact.path, path, seed);
      const recording = readRecording(path);
      const replayed = await replay(recording);
      expect(recording.requests).toHaveLength(readRecording(intact.path).requests.length);
      const named = replayed.differences.filter(
        ({ kind, number }) => kind === 'not-understood' && number === spoilt.number,
      );
      expect({ ...spoilt, named }).toMatchObject({ named: [{ number: spoilt.number }] });
      expect(replayed.diagnostics.map(({ what }) => what)).toEqual(
        expect.arrayContaining(['ssh to the DUT', 'power control of the DUT']),
      );
      expect(replayed.diagnostics.length).toBeGreaterThan(intact.diagnostics.length / 2);
    },
  );
});

describe('a recording', () => {
  test('cut short is read to its end, and replays with differences', async () => {
    const bytes = readFileSync(intact.path);
    for (const share of [0.2, 0.5, 0.9]) {
      const path = file(bytes.subarray(0, Math.floor(bytes.length * share)));
      const recording = readRecording(path);
      expect(recording.requests.length).toBeGreaterThan(5);
      const replayed = await replay(recording);
      expect(replayed.differences.length).toBeGreaterThan(0);
      expect(replayed.diagnostics.length).toBeGreaterThan(0);
    }
  });

  test('is a gzip file', () => {
    const text = execFileSync('gzip', ['-dc', intact.path]).toString();
    expect(text.split('\n')[0]).toContain('"format":"ppsgate recording"');
  });

  // Attack secret/recorded-secret
  test('contains no secret, and only well-known addresses', () => {
    const text = linesOf(intact.path)
      .map((line) => JSON.stringify(line))
      .join('\n');
    expect(text).not.toMatch(/00:07:43/);
    expect(text).not.toMatch(/PRIVATE KEY|known_hosts/);
    expect(text).toContain('00:00:5e:00:53:');
    expect(text).toContain('198.18.');
  });

  // Attack read/recorded-names
  test('contains no path of our own key', () => {
    const text = JSON.stringify(linesOf(intact.path));
    expect(text).not.toContain('.key');
    expect(text).toContain('"privateKeyPath":"/dev/null"');
    expect(text).toContain('with the key /dev/null');
  });

  // Attack read/recorded-names
  test('contains no name that a machine prints of itself, nor the query for it', async () => {
    await using lab = await startFreebsdLab();
    const { machine } = lab.dut;
    const name = machine.sysctls.get('kern.hostname');
    if (name !== undefined) name.value = 'kestrel9';
    machine.environment.set('smbios.system.serial', 'PT7A0042');
    const carp = 'ifconfig_cxl0_alias0="vhid 1 pass mekmitasdigoat"';
    writeFile(machine.files, '/etc/rc.conf', `hostname="kestrel9.mews.example.org"\n${carp}\n`);
    writeFile(machine.files, '/etc/motd', 'kestrel9 of mews, PT7A0042: mekmitasdigoat\n');
    const testbed = testbedOf(lab, temporaryFolder());
    const path = join(temporaryFolder(), 'lab.rec');
    const recorder = await recordTo(path, 'gate', [testbed], () => lab.clock.now());
    await using host = await recorder.deps(depsOf(lab)).connect(testbed.dut, 'DUT');
    expect(await host.output(shell`cat /etc/motd`)).toContain('kestrel9');
    const { requests } = readRecording(path);
    expect(requests.map(requestText)).toEqual(['the login to the DUT', '`cat /etc/motd` on the DUT']);
    expect(requests[1]?.output[0]?.text).toBe('host-1.example of mews, SERIAL1: secret-1\n');
  });

  test('names a request that differs with today’s code', async () => {
    const path = join(temporaryFolder(), 'other.rec');
    const lines = linesOf(intact.path);
    const other = JSON.parse(JSON.stringify(lines).replaceAll('df -k', 'df -b')) as object[];
    writeLines(path, other);
    const { differences } = await replay(readRecording(path));
    expect(differences.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(
        /^after the recording's \d+\w\w question the current code asks a question that is not in the recording: `df -k -T \/boot` on the DUT$/,
      ),
    );
  });

  // Attack secret/replay: A recording to replay names a local file, is a bomb, or is endless. Defence: No named file is
  // opened; bytes are bounded, lines are parsed by a schema, in linear time.
  test('naming a file of this machine is not replayed', async () => {
    const path = join(temporaryFolder(), 'hostile.rec');
    const written = JSON.stringify(linesOf(intact.path)).replaceAll('/dev/null', '/etc/passwd');
    writeLines(path, JSON.parse(written) as object[]);
    const { differences, diagnostics } = await replay(readRecording(path));
    expect(diagnostics).toEqual([]);
    expect(differences.map(({ sentence }) => sentence)).toEqual([
      'the recorded check cannot be read, so it is not repeated',
    ]);
  });

  test('never overwrites a file', async () => {
    const path = file('precious');
    await expect(recordTo(path, 'testbeds check', [])).rejects.toThrow(
      '--record: `ppsgate testbeds check` records testbeds of `kind: freebsd` only; leave it out.',
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
const packed = (...lines: object[]) => gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

describe('a foreign file', () => {
  // Attack secret/replay
  test.each<[string, () => Uint8Array | string, RegExp]>([
    ['text', () => 'hello', /is not a recording: expected a file written by `--record`\.$/],
    ['nothing', () => '', /is not a recording: /],
    ['other JSON', () => packed({ a: 1 }), /is not a recording: /],
    ['half of one', () => packed(head).subarray(0, 12), /is not a recording: /],
    [
      'that of a newer version',
      () => packed({ ...head, version: 3 }),
      /is from a newer ppsgate \(format 3; this version reads 2\): replay it with that version\.$/,
    ],
    ['damaged', () => packed({ ...head, version: 2 }, { kind: 'asks' }, { kind: 'asks' }), /is damaged in line 2: /],
    [
      'a bomb',
      () => {
        const piece = gzipSync(Buffer.alloc(16 * 1024 ** 2, ' '));
        return Buffer.concat([packed({ ...head, version: 2 }), ...Array(20).fill(piece)]);
      },
      /has more than 256 MiB once unpacked, more than any recording: it is not opened\.$/,
    ],
  ])('is refused with a reason: %s', (_, content, sentence) => {
    const path = file(content());
    expect(() => readRecording(path)).toThrow(UsageError);
    expect(() => readRecording(path)).toThrow(sentence);
  });

  test('is refused if it is missing', () => {
    expect(() => readRecording('/nowhere/lab.rec')).toThrow(
      /^The recording \/nowhere\/lab\.rec cannot be read \(ENOENT/,
    );
  });
});
