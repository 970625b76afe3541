// Reads what perf script prints, with any fields, and accounts for each of its lines.
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { parseProfile, readProfile } from '../../../src/analysis/profile/read-profile.ts';
import { expectOutputs } from '../../fakes/golden-lines.ts';

const head = 'swapper     0 [000]   550.634305:    1003009 cpu-clock: ';
const kernelFrames = `
\tffffffff821f2c2b nf_hook_slow+0x3c ([kernel.kallsyms])
\tffffffffc0a41010 nft_do_chain+0x6f ([nf_tables])
\t           d4ad7 __GI___sendto+0x7 (/usr/lib/x86_64-linux-gnu/libc.so.6)
`;

const frames = `
\tffffffff81000010 ip_forward+0x10 ([kernel.kallsyms])
\tffffffff81000020 netif_receive_skb+0x20 ([kernel.kallsyms])
`;
const stack = 'netif_receive_skb;ip_forward';

test('golden/perf-script.txt has what is read below heads of all fields, and of frames of all kinds', async () => {
  const [first, second] = [
    ' ffffffff813a2413 finish_task_switch.isra.0',
    '           187084a v8::Graph<a, b>::Visit(int)',
  ];
  await expectOutputs(join(import.meta.dirname, 'golden/perf-script.txt'), (quoted, heading) => {
    const input = quoted.slice(1, -1);
    if (heading === 'Frames') {
      const { stacks } = parseProfile(`sh 5 [000]  1.5:  1 cycles: \n\t${input}\n\n`);
      const { name, module } = stacks[0]?.frames[1] ?? { name: '' };
      return [[name, module ?? []].flat().join(' | ')];
    }
    const text = heading.endsWith('in its line')
      ? `${input}${first}\n${input}${second}\n${input}${first}\n`
      : `${input}${frames}\n${input}${frames}\n`;
    return [`event ${parseProfile(text).event}`, ...fold(text)];
  });
});

test('addresses of data before the sampled one are ignored', () => {
  expect(fold('sh 5 [000]  1.5:  1 cycles:  ffff888100000000  ffffffff82 f+0xb ([k])\n')).toEqual(['sh;f 1']);
});

test('a stack continues after blank lines below its head', () => {
  expect(fold(`sh 5 1.5: 1 cycles: \n${frames.replaceAll('\n', '\n\n')}`)).toEqual([`sh;${stack} 1`]);
});

test('the stack before the first head of a file cut at its beginning is skipped', async () => {
  const { profile, notes } = await read(`${frames}\nsh 5 1.5: 1 cycles: ${frames}`);
  expect([...foldedLines(profile)]).toEqual([`sh;${stack} 1`]);
  expect(notes).toEqual([
    expect.stringMatching(/^2 lines are skipped in x as no part of a stack; the first is line 2, /),
  ]);
});

test('samples without a stack are counted in a note', async () => {
  const head = 'sh 5 1.5: 1 cycles: ';
  expect((await read(`${head}\n\n${head}${frames}`)).notes).toEqual([
    '1 of 2 samples in x have no stack, and count for their command alone.',
  ]);
});

test('adds up samples of one command and one stack without offsets, in the order of the first', () => {
  const other = 'sleep  9136 [001]   550.7:    1 cpu-clock: \n\tffffffff81 do_exit+0x1 ([kernel.kallsyms])\n';
  const moved = kernelFrames.replace('+0x3c', '+0x40');
  expect(fold([head + kernelFrames, other, head + moved].join('\n'))).toEqual([
    'swapper;__GI___sendto;nft_do_chain;nf_hook_slow 2',
    'sleep;do_exit 1',
  ]);
});

test('a kernel named by ppsgate overrides the one named by perf', () => {
  const text = `# kernel: Linux 6.18.44 #1 SMP x86_64\n# os release : 6.18\n${head}${kernelFrames}`;
  expect(parseProfile(text).kernel).toBe('Linux 6.18.44 #1 SMP x86_64');
});

test('tabs may have become spaces', () => {
  expect(fold(`${head}${kernelFrames.replaceAll('\t', '        ')}`)).toEqual(fold(head + kernelFrames));
});

test('a file truncated inside a head line loses that sample', () => {
  expect(fold(`${head}${kernelFrames}\n${head.slice(0, 20)}`)).toEqual(fold(`${head}${kernelFrames}\n`));
});

test('every line is read, or skipped and counted', async () => {
  const line = 'sh 5 [000]  1.5:  1 cycles: ';
  const sample = fc.array(fc.constantFrom('f', 'g+0x1', 'h(int)+0x2'), { minLength: 1, maxLength: 4 }).map((names) => ({
    lines: [line, ...names.map((name) => `\tffffffff81000010 ${name} ([k])`), ''],
    stack: ['sh', ...names.map((name) => name.replace(/\+.*/, '')).toReversed()].join(';'),
    skipped: 0,
  }));
  const other = fc
    .constantFrom(
      ['swapper 0 [000] 0.0: PERF_RECORD_COMM: sh:7/7'],
      ['swapper 0 0.0: PERF_RECORD_NAMESPACES 1/1', '\t\t[0/net: 0/0, 1/uts: 0/0,', '\t\t 4/user]'],
      ['PERF_RECORD_FINISHED_ROUND'],
      ['sh 5 [000] 1.5: PERF_RECORD_OF_LATER 12'],
      ['Warning:'],
      ['Check IO/CPU overload!'],
      ['[ perf record: Woken up 1 times to write data ]'],
      ['  net/ipv4/ip_forward.c:12'],
      [' ilen: 4 insn: 0f b6 0c 0e'],
      ['\t0000000000401130\tinsn: 48 89 e5'],
    )
    .map((lines) => ({ lines, stack: undefined, skipped: lines.length }));
  await fc.assert(
    fc.asyncProperty(sample, fc.array(fc.oneof(sample, other)), async (first, rest) => {
      const parts = [first, ...rest];
      const { profile, notes } = await read(`${parts.flatMap(({ lines }) => lines).join('\n')}\n`);
      const expected = new Map<string, number>();
      for (const { stack: key } of parts) {
        if (key !== undefined) expected.set(key, (expected.get(key) ?? 0) + 1);
      }
      expect([...foldedLines(profile)]).toEqual([...expected].map(([key, samples]) => `${key} ${samples}`));
      const skipped = parts.reduce((sum, part) => sum + part.skipped, 0);
      expect(Number(/^\d+/.exec(notes[0] ?? '')?.[0] ?? 0)).toBe(skipped);
    }),
  );
});

const fold = (text: string): string[] => [...foldedLines(parseProfile(text))];

async function read(text: string) {
  const pieces = async function* () {
    yield Buffer.from(text);
  };
  return readProfile(pieces(), 'x');
}
