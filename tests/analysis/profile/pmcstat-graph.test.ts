// Tests how lines of pmcstat -G become stacks, and what else is read from them.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';
import { expectOutputs } from '../../fakes/golden-lines.ts';

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

test('folds the odd lines of golden/pmcstat-odd.txt as stackcollapse-pmc.pl does', async () => {
  await expectOutputs(join(import.meta.dirname, 'golden/pmcstat-odd.txt'), (input) => fold(JSON.parse(input)));
});

const fold = (text: string): string[] => [...foldedLines(parseProfile(text))];
