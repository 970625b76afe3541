// Tests how lines of pmcstat -G become stacks, and what else is read from them.
import { describe, expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';

const graph = `@ CPU_CLK_UNHALTED_CORE [120 samples]

75.00%  [90]       rlock @ /boot/kernel/kernel
 66.67%  [60]        ip_input
  100.0%  [60]        cxgbe_rx @ /boot/kernel/if_cxgbe.ko
   100.0%  [60]         service_iq
    100.0%  [60]         fork_exit @ /boot/kernel/kernel
 33.33%  [30]        arpresolve

25.00%  [30]       pf_test @ /boot/kernel/pf.ko
 100.0%  [20]        pf_check_in

`;

test('folds each line without callers to a stack with the samples of that line', () => {
  expect(fold(graph)).toEqual([
    'fork_exit;service_iq;cxgbe_rx;ip_input;rlock 60',
    'arpresolve;rlock 30',
    'pf_check_in;pf_test 20',
  ]);
});

test('a module is that of all lines until another is named', () => {
  const [stack] = parseProfile(graph).stacks;
  expect(stack?.frames).toEqual([
    { name: 'fork_exit', module: '/boot/kernel/kernel' },
    { name: 'service_iq', module: '/boot/kernel/if_cxgbe.ko' },
    { name: 'cxgbe_rx', module: '/boot/kernel/if_cxgbe.ko' },
    { name: 'ip_input', module: '/boot/kernel/kernel' },
    { name: 'rlock', module: '/boot/kernel/kernel' },
  ]);
});

test('a sampled function names its own module, or has none', () => {
  const { stacks } = parseProfile(`${graph}10.00%  [3]   nameless\n`);
  expect(stacks.at(-1)?.frames).toEqual([{ name: 'nameless' }]);
});

test('a kernel is what ppsgate wrote above the first sample', () => {
  const kernel = 'FreeBSD 15.0-CURRENT #0 main-n271137: amd64';
  expect(parseProfile(`# kernel: ${kernel}\n${graph}# kernel: late\n`).kernel).toBe(kernel);
  expect(parseProfile(`${graph}# kernel: late\n`).kernel).toBeUndefined();
});

describe('folds odd lines as stackcollapse-pmc.pl does', () => {
  test.each([
    ['lines of another kind', 'CONVERSION STATISTICS:\n1%  [1] a\n# 2\n 1%  [1] b\n', ['b;a 1']],
    ['DOS line ends', '1%  [2] a\r\n 1%  [1] b\r\n', ['b;a 1']],
    ['a last line cut inside its name', '1%  [2] a\n 1%  [1] netisr_dis', ['netisr_dis;a 1']],
    ['a last line cut before its name', '1%  [2] a\n 100.0%  [2]       ', ['a 2']],
    ['no space before a name', '1%  [2]a\n', ['a 2']],
    ['names with spaces end there', '1%  [2] operator new(int)\n', ['operator 2']],
    ['tabs before a name', '1%  [2]\t\v\fa\n', ['a 2']],
    ['an indent of a tab is no line', '1%  [2] a\n\t1%  [1] b\n', ['a 2']],
    ['one space after the share is no line', '1%  [2] a\n 1% [1] b\n', ['a 2']],
    ['an indent that jumps', '1%  [9] a\n   1%  [7] d\n', ['d;;;a 7']],
    ['an indent that jumps again', '1%  [9] a\n 1%  [9] b\n1%  [5] c\n  1%  [5] d\n', ['b;a 9', 'd;b;c 5']],
    ['a first line that is indented', '  1%  [4] c\n', ['c;; 4']],
    ['a share of dots', '...%  [4] c\n', ['c 4']],
    ['an address instead of a name', '1%  [4]  0xffffffff80a1b2c3\n', ['0xffffffff80a1b2c3 4']],
  ])('%s', (_, text, stacks) => {
    expect(fold(text)).toEqual(stacks);
  });
});

const fold = (text: string): string[] => [...foldedLines(parseProfile(text))];
