import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DutLostError } from '../../src/dut/freebsd.ts';
import { shell } from '../../src/host/shell.ts';
import { sendBlast } from '../fakes/freebsd-lab/blast.ts';
import { archiveWith, imageOf, openDut } from '../fakes/freebsd-lab/dut.ts';
import type { KernelText } from '../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, startFreebsdLab } from '../fakes/freebsd-lab/lab.ts';
import { sliceImage } from '../fakes/freebsd-lab/machines.ts';
import { describeWith } from '../needs.ts';

describeWith(['xz'], 'an appliance', () => {
  const open = (lab: FreebsdLab) => openDut(lab, 'nanobsd');

  /** Writes an image into the other slice, and boots that. */
  async function bootOf(lab: FreebsdLab, kernel: KernelText) {
    const dut = await open(lab);
    expect(await dut.lay(imageOf(kernel))).toEqual({ kind: 'laid' });
    return { dut, outcome: await dut.boot('patched') };
  }

  const own = { stage: 'up', kernel: 'base', root: '/dev/ufs/BSDRPs1a', leftovers: [] };
  const other = '/dev/ufs/BSDRPs2a';

  test('boots an image from its other slice, and its root proves it', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const { outcome } = await bootOf(lab, { ident: 'patched' });
    expect(outcome).toMatchObject({ kind: 'booted', version: 'FreeBSD 14.0-CURRENT #0 patched' });
    expect(lab.state()).toMatchObject({ kernel: 'patched', root: other });
  });

  test('is restored by going back to its own slice, and saves no configuration', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const { dut } = await bootOf(lab, { ident: 'patched' });
    await dut.restore();
    expect(lab.state()).toMatchObject(own);
    const commands = lab.dut.journal.map(({ command }) => command);
    expect(commands).not.toContainEqual(expect.stringMatching(/^config/));
    await dut.restore();
    expect(lab.state()).toMatchObject(own);
  });

  test('never loses its own slice to a second image', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const { dut } = await bootOf(lab, { ident: 'patched' });
    await dut.lay(imageOf({ ident: 'corrected' }, 'corrected'));
    expect(await dut.boot('corrected')).toMatchObject({
      version: expect.stringMatching(/corrected$/),
    });
    expect(lab.state()).toMatchObject({ root: other });
    expect(await dut.boot(undefined)).toMatchObject({ version: expect.stringMatching(/base$/) });
  });

  test('goes back to its own slice after a blast that was lost', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const behaviour = { kind: 'panics-under-load', panic: 'pf state gone' } as const;
    const { dut } = await bootOf(lab, { ident: 'patched', behaviour });
    await sendBlast(lab);
    expect(await dut.recover()).toEqual({ panic: 'pf state gone' });
    expect(lab.state()).toMatchObject(own);
  });

  test('is lost where an image never comes up: nothing falls back by itself', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const booted = bootOf(lab, { ident: 'patched', behaviour: { kind: 'hangs-at-boot' } });
    await expect(booted).rejects.toThrow(DutLostError);
  });

  test('goes back to its own slice where the image came up only after its power was cycled', async () => {
    await using lab = await startFreebsdLab({
      root: 'nanobsd',
      faults: [{ kind: 'hang-at-boot', at: 1 }],
    });
    const { outcome } = await bootOf(lab, { ident: 'patched' });
    expect(outcome).toMatchObject({
      kind: 'boot-failed',
      reason: 'it was not up after 600 s, and was power-cycled',
    });
    expect(lab.state()).toMatchObject(own);
  });

  test('refuses an image that is not what was built', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const dut = await open(lab);
    const image = { ...imageOf({ ident: 'patched' }), sha256: 'f00d' };
    await expect(dut.lay(image)).rejects.toThrow(/build it again/);
  });

  test('stays on its own slice where xz finds the image damaged', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const dut = await open(lab);
    const whole = readFileSync(imageOf({ ident: 'patched' }).path);
    await dut.lay(archiveWith(whole.subarray(0, -8)));
    await expect(dut.boot('patched')).rejects.toThrow(/xz cannot decompress/);
    await dut.restore();
    expect(lab.state()).toMatchObject(own);
  });

  test('that was upgraded and not rebooted is not left to boot the image unseen', async () => {
    await using lab = await startFreebsdLab({ root: 'nanobsd' });
    const dut = await open(lab);
    await dut.host().output(shell`upgrade`, { stdin: sliceImage({ ident: 'patched' }) });
    await expect(dut.restore()).rejects.toThrow(/make that slice active by hand/);
  });
});
