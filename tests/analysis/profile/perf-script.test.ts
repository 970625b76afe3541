// Tests the output of perf script: the lines that are samples, and their frames.
import { describe, expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';

const head = 'swapper     0 [000]   550.634305:    1003009 cpu-clock: ';
const frames = `
\tffffffff821f2c2b nf_hook_slow+0x3c ([kernel.kallsyms])
\tffffffffc0a41010 nft_do_chain+0x6f ([nf_tables])
\t           d4ad7 __GI___sendto+0x7 (/usr/lib/x86_64-linux-gnu/libc.so.6)
`;

test('folds a sample from the name of its command to the function sampled, without offsets', () => {
  expect(fold(`${head}${frames}\n`)).toEqual(['swapper;__GI___sendto;nft_do_chain;nf_hook_slow 1']);
});

test('adds up samples with the same stack, in the order of the first', () => {
  const other = 'sleep  9136 [001]   550.7:    1 cpu-clock: \n\tffffffff81 do_exit+0x1 ([kernel.kallsyms])\n';
  const moved = frames.replace('+0x3c', '+0x40');
  expect(fold([head + frames, other, head + moved].join('\n'))).toEqual([
    'swapper;__GI___sendto;nft_do_chain;nf_hook_slow 2',
    'sleep;do_exit 1',
  ]);
});

test('reads the event, the kernel and each frame’s module', () => {
  const comments = '# ========\n# hostname : vm\n# os release : 6.18.44\n# perf version : 6.1.192\n#\n';
  const { format, event, kernel, stacks } = parseProfile(`${comments}${head}${frames}\n`);
  expect({ format, event, kernel }).toEqual({
    format: 'perf',
    event: 'cpu-clock',
    kernel: '6.18.44',
  });
  expect(stacks[0]?.frames.map(({ module }) => module)).toEqual([
    undefined,
    '/usr/lib/x86_64-linux-gnu/libc.so.6',
    '[nf_tables]',
    '[kernel.kallsyms]',
  ]);
});

test('a kernel named by ppsgate overrides the one named by perf', () => {
  const text = `# kernel: Linux 6.18.44 #1 SMP x86_64\n# os release : 6.18\n${head}${frames}`;
  expect(parseProfile(text).kernel).toBe('Linux 6.18.44 #1 SMP x86_64');
});

describe('reads head lines of all fields', () => {
  test.each([
    ['swapper     0 [000]   550.634305:    1003009 cpu-clock: ', 'swapper', 'cpu-clock'],
    ['V8 WorkerThread 25607/25612 [013] 94564.109216: cycles:P: ', 'V8 WorkerThread', 'cycles:P'],
    ['tmux: server  812 [001]  1.5:  99 cpu_core/cycles/: ', 'tmux: server', 'cpu_core/cycles/'],
    ['kworker/u8:1-ev 31 [002]  1.5:  1 cycles: ', 'kworker/u8:1-ev', 'cycles'],
    ['node 12 3 4567 [002]  1.5:  1 cycles: ', 'node 12 3', 'cycles'],
    [':-1    -1 [000]  1.5:  1 cycles: ', ':-1', 'cycles'],
    ['swapper     0/0     [000] cpu-clock: ', 'swapper', 'cpu-clock'],
    ['java 25607 4794564.109216: cycles: ', 'java', 'cycles'],
    ['sshd 77 cycles: ', 'sshd', 'cycles'],
    ['sshd 77 ', 'sshd', undefined],
    ['my daemon ', 'my daemon', undefined],
    ['sh 5 [000]  1.5: sched:sched_switch: prev_comm=a: b ==> next=c', 'sh', 'sched:sched_switch'],
  ])('%s', (line, command, event) => {
    const profile = parseProfile(`${line}${frames}\n`);
    expect(profile.stacks[0]?.frames[0]?.name).toBe(command);
    expect(profile.event).toBe(event);
  });
});

describe('reads frames of all kinds', () => {
  test.each([
    ['ffffffff821f2c2b do_idle ([kernel.kallsyms])', 'do_idle', '[kernel.kallsyms]'],
    ['d8ec81485355 [unknown] ([unknown])', '[unknown]', '[unknown]'],
    ['7f01 [unknown] (/memfd:jit (deleted))', '[unknown]', '/memfd:jit (deleted)'],
    ['7f01 f+0x1 (/opt/My App/lib.so (deleted))', 'f', '/opt/My App/lib.so (deleted)'],
    ['7f01 f+0x1 (/usr/lib/libc.so.6+0x9c0)', 'f', '/usr/lib/libc.so.6'],
    ['4f2 std::vector<int>::push_back(int const&)+0x1a (/bin/a)', 'std::vector<int>::push_back(int const&)', '/bin/a'],
    ['4f2 operator()(int) const+0x1 (/bin/a)', 'operator()(int) const', '/bin/a'],
    ['4f2 net/http.(*Client).Do+0x1 (/bin/go)', 'net/http.(*Client).Do', '/bin/go'],
    ['7f01 Lorg/x/Main;.<init>(I)V+0x8 (/tmp/perf-75.map)', 'Lorg/x/Main;.<init>(I)V', '/tmp/perf-75.map'],
    ['4f2 helper (inlined)', 'helper', undefined],
    ['ffffffff821f2c2b pv_native_safe_halt', 'pv_native_safe_halt', undefined],
  ])('%s', (line, name, module) => {
    const [stack] = parseProfile(`${head}\n\t${line}\n\n`).stacks;
    expect(stack?.frames[1]).toEqual(module === undefined ? { name } : { name, module });
  });
});

test('samples recorded without call chains are stacks of one frame', () => {
  const line = '         swapper     0 [000]   550.6:    1 cpu-clock:  ffffffff82 do_idle+0xb ([kernel.kallsyms])\n';
  expect(fold(line + line)).toEqual(['swapper;do_idle 2']);
});

test('a sample without a stack counts for its command', () => {
  expect(fold(`${head}\n\n${head}${frames}\n`)).toContain('swapper 1');
});

test('without heads there is no command', () => {
  const stack = '\n\tffffffff821f2c2b nf_hook_slow\n\t           d4ad7 sendto\n';
  expect(fold(stack + stack)).toEqual(['sendto;nf_hook_slow 2']);
});

test('lines of sources and records of other kinds are passed over', () => {
  const record = 'sh  7 [000]     0.000000: PERF_RECORD_COMM: sh:7/7\n';
  const withSources = frames.replaceAll(')\n', ')\n  [kernel.kallsyms][ffffffff821f2c2b]\n');
  expect(fold(`${record}${head}${withSources}\n`)).toEqual(fold(`${head}${frames}\n`));
});

test('tabs may have become spaces', () => {
  expect(fold(`${head}${frames.replaceAll('\t', '        ')}`)).toEqual(fold(head + frames));
});

test('a file truncated inside a head line loses that sample', () => {
  expect(fold(`${head}${frames}\n${head.slice(0, 20)}`)).toEqual(fold(`${head}${frames}\n`));
});

test('samples of several events are added up, and all are named', () => {
  const { event } = parseProfile(`${head}${frames}\n${head.replace('cpu-', 'task-')}${frames}\n`);
  expect(event).toBe('cpu-clock, task-clock');
});

const fold = (text: string): string[] => [...foldedLines(parseProfile(text))];
