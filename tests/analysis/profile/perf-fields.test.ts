// Reads heads and frames of any fields that perf script prints with -F, and accounts for each of its lines.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { ProfileError } from '../../../src/analysis/profile/profile-error.ts';
import { parseProfile, readProfile } from '../../../src/analysis/profile/read-profile.ts';

const frames = `
\tffffffff81000010 ip_forward+0x10 ([kernel.kallsyms])
\tffffffff81000020 netif_receive_skb+0x20 ([kernel.kallsyms])
`;
const stack = 'netif_receive_skb;ip_forward';

describe('a head without the command is no frame', () => {
  test.each([
    ['-F tid,time,period,event', '  927 10360.271070:   10101010 cpu-clock: '],
    ['-F pid,tid,time,event', '10119/10119 38937.341696: cpu-clock: '],
    ['-F pid,tid', '    0/0     '],
    ['-F tid', '10119 '],
    ['-F period', '   1001001 '],
    ['-F period,event', '   1001001 cpu-clock: '],
    ['-F tid,period,event', '  927    1001001 cpu-clock: '],
    ['-F time,event', '  100.120:   cycles:k: '],
    ['-F time', '38937.341696: '],
    ['-F event', 'cycles:k: '],
    ['-F event,trace', 'sched:sched_wakeup: comm=migration/0 pid=18 prio=0'],
    ['-F cpu', '[000] '],
    ['-F cpu,event', '[001] cpu-clock: '],
    ['-F tod,event', '2026-11-26 05:11:33.809264 cpu-clock: '],
    ['-F tid,misc,time,event', '14163 U     38972.631748: cpu-clock: '],
    ['-L -F tid,cpu,time,event', '14484   0 38972.631690: cpu-clock: '],
    ['-L -F pid,tid,cpu,time,event', '14484/14484   1 38972.631690: cpu-clock: '],
    ['-L -F tid,cpu', '    0   0 '],
  ])('%s', (_, head) => {
    expect(fold(`${head}${frames}\n${head}${frames}\n`)).toEqual([`${stack} 2`]);
  });
});

describe('the command is the text before the other fields', () => {
  test.each([
    ['-L', 'ksoftirq    11   0    10.300000:     250000 cycles: ', 'ksoftirq'],
    ['-L', '      sh 14484   0 38972.631690:    3344481 cpu-clock: ', 'sh'],
    ['-L -F comm,tid,cpu,event', 'a 12 b 3    77 112 cycles: ', 'a 12 b 3'],
    ['-F +misc', 'sh 14484 [000] KG    38972.631690: cpu-clock: ', 'sh'],
    ['-F +tod', 'sh 10119 2026-11-26 05:11:33.809264 38972.631690: cpu-clock: ', 'sh'],
    ['-F comm,tid,period', 'sh 14484    3344481 ', 'sh'],
    ['-F comm,period,event', 'sh    1001001 cpu-clock: ', 'sh'],
    ['of a guest', 'VM: 1234 VCPU:003 sh 14484 [000]  1.5: cycles: ', 'sh'],
    ['of digits', '            1290  1290 [000]  1.5:  1 cycles: ', '1290'],
    ['of several numbers', '12 3  4567 [000]  1.5:  1 cycles: ', '12 3'],
  ])('%s %j', (_, head, command) => {
    expect(fold(`${head}${frames}\n`)).toEqual([`${command};${stack} 1`]);
  });
});

describe('a sample without a call chain is one line', () => {
  const [first, second] = [
    ' ffffffff813a2413 finish_task_switch.isra.0',
    '           187084a v8::Graph<a, b>::Visit(int)',
  ];
  test.each([
    ['', ''],
    ['              sh ', 'sh;'],
    ['    0 ', ''],
    ['[000] ', ''],
    ['38972.631690: ', ''],
    ['cpu-clock: ', ''],
    ['      sh 14484   0 38972.631690:    3344481 cpu-clock: ', 'sh;'],
  ])('after %j', (head, root) => {
    expect(fold(`${head}${first}\n${head}${second}\n${head}${first}\n`)).toEqual([
      `${root}finish_task_switch.isra.0 2`,
      `${root}v8::Graph<a, b>::Visit(int) 1`,
    ]);
  });

  test('addresses of data before the sampled one are ignored', () => {
    const line = 'sh 5 [000]  1.5:  1 cycles:  ffff888100000000  ffffffff82 f+0xb ([k])\n';
    expect(fold(line)).toEqual(['sh;f 1']);
  });
});

describe('reads frames of any fields', () => {
  test.each([
    ['-ip', '\tip_forward ([kernel.kallsyms])', { name: 'ip_forward', module: '[kernel.kallsyms]' }],
    ['-ip,-dso', '\tip_forward+0x10', { name: 'ip_forward' }],
    ['inlined, without an address', '\t                 f(int) (inlined)', { name: 'f(int)' }],
    ['inlined, with a module', '\t     4f2 f (/bin/a) (inlined)', { name: 'f', module: '/bin/a' }],
    ['ip', '\t          155948', { name: '155948' }],
    ['ip,dso', '\t          155948 (/bin/a b)', { name: '155948', module: '/bin/a b' }],
    ['ip,dso,dsoff', '\t          155948 (/bin/a+0x9c0)', { name: '155948', module: '/bin/a' }],
    ['ip,sym of hexadecimal letters', '\tffffffff82 add ([k])', { name: 'add', module: '[k]' }],
  ])('%s', (_, line, frame) => {
    const { stacks } = parseProfile(`sh 5 [000]  1.5:  1 cycles: \n${line}\n\n`);
    expect(stacks[0]?.frames[1]).toEqual(frame);
  });
});

test('a stack continues after blank lines below its head', () => {
  expect(fold(`sh 5 1.5: 1 cycles: \n${frames.replaceAll('\n', '\n\n')}`)).toEqual([`sh;${stack} 1`]);
});

test('thousands of records before the first sample do not hide it', () => {
  const record = 'swapper     0 [000]     0.0: PERF_RECORD_MMAP2 -1/0: [0xff] @ 0: r-xp m.ko\n';
  const text = `${record.repeat(2000)}sh 5 [000] 1.5:  1 cycles: ${frames}`;
  expect(fold(text)).toEqual([`sh;${stack} 1`]);
});

test('a record without fields is no recording of perf', () => {
  expect(fold(`PERF_RECORD_FINISHED_ROUND\nsh 5 1.5: 1 cycles: ${frames}`)).toEqual([`sh;${stack} 1`]);
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

describe('an ambiguous head is refused with its line', () => {
  test.each([
    ['words among heads', `sh 5 1.5: 1 cycles: ${frames}\nsome words${frames}`, 5, 'some words'],
    ['words before heads', `some words${frames}\nsh 5 1.5: 1 cycles: ${frames}`, 1, 'some words'],
    ['a head among stacks without', `${frames}\n${frames}\nsh 5 1.5: cycles: ${frames}`, 9, 'sh 5'],
    ['the fields of a tracepoint', `comm=a/0 pid=18 prio=0${frames}`, 1, 'comm=a/0 pid=18 prio=0'],
    ['more than a command', `${'word '.repeat(30)}${frames}`, 1, 'word word'],
  ])('%s', (_, text, line, words) => {
    expect(() => parseProfile(text, 'x')).toThrow(ProfileError);
    expect(() => parseProfile(text, 'x')).toThrow(`x, line ${line}: "${words}`);
  });
});

test('every line is read, or skipped and counted', async () => {
  const head = 'sh 5 [000]  1.5:  1 cycles: ';
  const sample = fc.array(fc.constantFrom('f', 'g+0x1', 'h(int)+0x2'), { minLength: 1, maxLength: 4 }).map((names) => ({
    lines: [head, ...names.map((name) => `\tffffffff81000010 ${name} ([k])`), ''],
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
