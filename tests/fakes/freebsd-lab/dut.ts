// Opens the fake lab's DUT like the project's own code, and makes kernel files for it.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BootMethodName, FreebsdDut, type KernelArchive } from '../../../src/lab/freebsd/dut/freebsd-dut.ts';
import { temporaryFolder } from '../folder.ts';
import { type KernelText, kernelArchive } from './kernel.ts';
import type { FreebsdLab } from './lab.ts';
import { sliceImage } from './machines.ts';

/** Waits long enough for a successful boot. */
export const openDut = (lab: FreebsdLab, method: BootMethodName = 'nextboot'): Promise<FreebsdDut> =>
  FreebsdDut.open({
    method,
    connect: () => lab.dut.connect('DUT'),
    power: lab.power,
    bootSeconds: 600,
    sleep: lab.clock.sleep,
    now: lab.clock.now,
  });

/** A kernel as an archive on this machine. */
export const archiveOf = (kernel: KernelText, variant = 'patched'): KernelArchive =>
  archiveWith(kernelArchive(kernel), variant);

/** An image of an appliance's slice with that kernel, compressed by this machine's xz. */
export const imageOf = (kernel: KernelText, variant = 'patched'): KernelArchive =>
  archiveWith(execFileSync('xz', ['-c'], { input: sliceImage(kernel) }), variant);

/** A fake kernel, with the checksum of these bytes. */
export function archiveWith(bytes: Buffer, variant = 'patched'): KernelArchive {
  const path = join(temporaryFolder(), 'kernel');
  writeFileSync(path, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { variant, path, sha256, unpackedBytes: bytes.length };
}
