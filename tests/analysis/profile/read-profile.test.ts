// Recognises any file by its content, and reads it in pieces as far as it goes or refuses it with a sentence.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProfileError } from '../../../src/analysis/profile/profile-error.ts';
import { parseProfile, readProfile } from '../../../src/analysis/profile/read-profile.ts';
import { expectOutputs } from '../../fakes/golden-lines.ts';

const graph = `# kernel: FreeBSD 15.0
@ inst_retired [9 samples]

77.78%  [7]        ip_input @ /boot/kernel/kernel
 100.0%  [7]         ether_demux

22.22%  [2]        µ_test @ /boot/kernel/pf.ko

`;
const perf = `# os release : 6.18
tmux: server   812 [001]  1.5:  99 cycles:
\tffffffff821f2c2b nf_hook_slow+0x3c ([kernel.kallsyms])
\t             d4a main+0x1 (/bin/µ)

`;
const folded = '# kernel: Linux 6.18\nmain;µ read;write 12\nmain 3\n';
const texts = { pmcstat: graph, perf, folded };

describe.each(Object.entries(texts))('%s', (format, text) => {
  test('is recognised by its content, also after a byte order mark', () => {
    expect(parseProfile(text).format).toBe(format);
    expect(parseProfile(`\uFEFF${text}`)).toEqual(parseProfile(text));
  });

  test('is the same in pieces of any size', async () => {
    const bytes = Buffer.from(text);
    for (const size of [1, 7, 64, 1000]) {
      expect(await readProfile(pieces(bytes, size), 'x')).toEqual({
        profile: parseProfile(text),
        notes: [],
      });
    }
  });

  test('truncated after any byte it is read as far as possible, or refused with a sentence', async () => {
    const bytes = Buffer.from(text);
    for (let length = 0; length < bytes.length; length += 5) {
      const outcome = await readProfile(pieces(bytes.subarray(0, length), 64), 'x').catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ProfileError);
      else expect(outcome).toMatchObject({ profile: { stacks: { length: expect.any(Number) } } });
    }
  });

  test('a profile cut inside its last line reports that', async () => {
    const bytes = Buffer.from(text.trimEnd());
    const { notes } = await readProfile(pieces(bytes, 64), 'x');
    expect(notes).toEqual(['x looks cut short, its last line has no end: what there is of it is read.']);
  });
});

test('recognises a call graph that was cut between its lines by the samples it announces', async () => {
  const { notes } = await readProfile(pieces(Buffer.from(graph.split('22.22')[0] ?? ''), 64), 'x');
  expect(notes).toEqual(['x looks cut short, with 7 of the 9 samples that it announces: what there is of it is read.']);
});

test('several events are added up, with a note', async () => {
  const both = graph + graph.replace('inst_retired', 'cycles\x1b[2J');
  const { profile, notes } = await readProfile(pieces(Buffer.from(both), 64), 'x');
  expect(profile.event).toBe('inst_retired, cycles [2J');
  expect(notes).toEqual(['x counts several events (inst_retired, cycles [2J), here added up.']);
});

const pmclog = [24, 0, 3, 0xee, 1, 2, 3, 4];

describe('refuses', () => {
  test('each text of golden/refusals.txt with one sentence', async () => {
    await expectOutputs(join(import.meta.dirname, 'golden/refusals.txt'), (input) => {
      try {
        parseProfile(JSON.parse(input), 'x');
        return ['(nothing)'];
      } catch (error) {
        if (error instanceof ProfileError) return error.message.split('\n');
        throw error;
      }
    });
  });

  test.each([
    [
      pmclog,
      'x is a raw log of hwpmc; print its call graph with pmcstat -R x -z 100 -G FILE, on FreeBSD, and read FILE.',
    ],
    [[0x1f, 0x8b, 8, 0], 'x is compressed; unpack it with gzip -dc x.'],
    [[0x28, 0xb5, 0x2f, 0xfd, 0], 'x is compressed; unpack it with zstd -dc x.'],
  ])('bytes %j', async (bytes, sentence) => {
    await expect(readProfile(pieces(Buffer.from(bytes), 64), 'x')).rejects.toThrow(new ProfileError(sentence));
  });

  test('a line without an end', async () => {
    const endless = async function* () {
      yield Buffer.from('a;b 1\n');
      for (;;) yield Buffer.alloc(1024 * 1024, 'x');
    };
    await expect(readProfile(endless(), 'x')).rejects.toThrow(ProfileError);
  });
});

test('a file’s name cannot steer a terminal', () => {
  expect(() => parseProfile('', '\x1b[2J')).toThrow(/^\?\[2J is empty/);
});

async function* pieces(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
