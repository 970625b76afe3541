// Checks virtual testbeds of a machine without a kernel of its own in /boot.
import { expect, test } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import type { VirtualTestbed } from '../../../src/config/virtual-testbed.ts';
import { realDeps } from '../../../src/gate/testbeds/open-testbed.ts';
import { checkVirtualTestbed } from '../../../src/lab/check/virtual-check.ts';
import { KernelFilesError, NoOwnKernelError } from '../../../src/lab/qemu/vm/kernel-files.ts';
import type { VirtualLab } from '../../../src/lab/qemu/vm/virtual-lab.ts';

function guests(more: string): VirtualTestbed {
  const text = `testbeds: { guests: { kind: virtual, ${more} } }`;
  const { guests } = parseConfig(text, { path: '/site/ppsgate.yml', home: '/root' }).testbeds;
  if (guests?.kind !== 'virtual') throw new Error('no virtual testbed');
  return guests;
}

function check(testbed: VirtualTestbed, kernelError: Error) {
  const lab: Pick<VirtualLab, 'kernel' | 'down'> = {
    kernel: async () => {
      throw kernelError;
    },
    async down() {},
  };
  const signal = new AbortController().signal;
  const machine = { async require() {}, up: async () => lab as VirtualLab };
  return Array.fromAsync(checkVirtualTestbed(testbed, { ...realDeps, signal }, machine));
}

const builder = 'builder: { user: builder, kernel: { kind: linux, config: router.config } }';
const noKernel = new NoOwnKernelError('This machine has no kernel');

test.for([
  ['builds its kernels', builder, 'the `builder` builds the kernels of a gate'],
  ['is given its kernels', 'memory: 256', 'pass --base-kernel and --patched-kernel to each gate'],
] as const)('A testbed that %s needs no kernel of this machine', async ([, written, why]) => {
  expect(await check(guests(written), noKernel)).toEqual([
    expect.objectContaining({ kind: 'ok', what: 'the programs of this machine' }),
    { kind: 'skipped', what: 'a guest', why: expect.stringContaining(why) },
  ]);
});

test('A named kernel that cannot be unpacked is at fault', async () => {
  const named = check(guests('kernel: linux.deb'), new KernelFilesError('is cut short'));
  expect(await named).toContainEqual(
    expect.objectContaining({
      kind: 'wrong',
      what: 'a guest',
      why: expect.stringMatching(/^the kernel \S*linux\.deb is cut short$/),
    }),
  );
});
