import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DutLostError } from '../../../../src/lab/freebsd/boot/boot.ts';
import { shell } from '../../../../src/system/shell.ts';
import { archiveWith, imageOf, openDut } from '../../../fakes/freebsd-lab/dut.ts';
import { textOf } from '../../../fakes/freebsd-lab/file-system.ts';
import type { KernelText } from '../../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, startFreebsdLab } from '../../../fakes/freebsd-lab/lab.ts';
import { sliceImage } from '../../../fakes/freebsd-lab/machines.ts';
import { describeWith } from '../../../needs.ts';

const ofGpt = { root: 'nanobsd-gpt' } as const;
const clean = { stage: 'up', kernel: 'base', root: '/dev/gpt/BSDRP1', leftovers: [] };

/** Writes an image into the other slice, and boots that. */
async function bootOf(lab: FreebsdLab, kernel: KernelText) {
  const dut = await openDut(lab, 'nanobsd');
  expect(await dut.install(imageOf(kernel))).toEqual({ kind: 'installed' });
  return { dut, outcome: await dut.boot('patched') };
}

describeWith(['xz'], 'an appliance', () => {
  test.each([
    ['an MBR', { root: 'nanobsd' }, '/dev/ufs/BSDRPs1a', '/dev/ufs/BSDRPs2a'],
    ['a GPT', ofGpt, '/dev/gpt/BSDRP1', '/dev/gpt/BSDRP2'],
  ] as const)(
    'on a disk with %s boots an image from its other slice, and is restored permanently',
    async (_, disk, own, other) => {
      await using lab = await startFreebsdLab(disk);
      const { dut, outcome } = await bootOf(lab, { ident: 'patched' });
      expect(outcome).toMatchObject({ kind: 'booted', version: 'FreeBSD 14.0-CURRENT #0 patched' });
      expect(lab.state()).toMatchObject({ kernel: 'patched', root: other });
      for (const _again of [1, 2]) {
        await dut.restore();
        expect(lab.state()).toMatchObject({ ...clean, root: own });
      }
      const commands = lab.dut.journal.map(({ command }) => command);
      expect(commands).not.toContainEqual(expect.stringMatching(/^config/));
      await dut.host().output(shell`shutdown -r now`);
      await lab.clock.sleep(200);
      expect(lab.state()).toMatchObject({ ...clean, root: own });
      expect(lab.dut.machine.root).toMatchObject({ active: new Set(['s1']) });
      expect(textOf(lab.dut.machine.files, '/etc/fstab')).toMatch(own);
      expect(textOf(lab.dut.machine.files, '/etc/fstab')).not.toMatch(other);
    },
  );

  test('is lost if an image never comes up: it has no automatic fallback', async () => {
    await using lab = await startFreebsdLab(ofGpt);
    const booted = bootOf(lab, { ident: 'patched', behaviour: { kind: 'hangs-at-boot' } });
    await expect(booted).rejects.toThrow(DutLostError);
  });

  test('returns to its own slice if the image came up only after a power cycle', async () => {
    await using lab = await startFreebsdLab({
      ...ofGpt,
      faults: [{ kind: 'hang-at-boot', at: 1 }],
    });
    const { outcome } = await bootOf(lab, { ident: 'patched' });
    expect(outcome).toMatchObject({
      kind: 'boot-failed',
      reason: 'it did not come up within 600 s, and was power-cycled',
    });
    expect(lab.state()).toMatchObject(clean);
  });

  test('stays on its own slice where xz finds the image damaged', async () => {
    await using lab = await startFreebsdLab(ofGpt);
    const dut = await openDut(lab, 'nanobsd');
    const whole = readFileSync(imageOf({ ident: 'patched' }).path);
    await dut.install(archiveWith(whole.subarray(0, -8)));
    await expect(dut.boot('patched')).rejects.toThrow(/xz cannot decompress/);
    await dut.restore();
    expect(lab.state()).toMatchObject(clean);
  });

  test('boots the image that it runs once more without going home, and its own slice is there after it', async () => {
    await using lab = await startFreebsdLab(ofGpt);
    const { dut } = await bootOf(lab, { ident: 'patched' });
    const boots = lab.dut.machine.boots;
    expect(await dut.boot('patched')).toMatchObject({ kind: 'booted' });
    expect(lab.dut.machine.boots).toBe(boots + 1);
    await dut.install(imageOf({ ident: 'corrected' }));
    expect(await dut.boot('patched')).toMatchObject({
      version: expect.stringMatching(/corrected$/),
    });
    expect(lab.dut.machine.boots).toBe(boots + 3);
    await dut.restore();
    expect(lab.state()).toMatchObject(clean);
  });

  test('with a GPT that was upgraded and not rebooted stays on its own slice', async () => {
    await using lab = await startFreebsdLab(ofGpt);
    const dut = await openDut(lab, 'nanobsd');
    await dut.host().output(shell`upgrade`, { stdin: sliceImage({ ident: 'patched' }) });
    await dut.restore();
    await dut.host().output(shell`shutdown -r now`);
    await lab.clock.sleep(200);
    expect(lab.state()).toMatchObject(clean);
  });

  test.for([1, 2])('with a GPT is brought home after %i rollbacks that died', async (rollbacks) => {
    await using lab = await startFreebsdLab(ofGpt);
    const dut = await openDut(lab, 'nanobsd');
    await dut.install(imageOf({ ident: 'patched' }));
    await dut.boot('patched');
    for (let count = 0; count < rollbacks; count += 1) {
      const died = await dut.host().run(shell`system rollback`, { stdin: 'y\n' });
      expect(died).toMatchObject({ code: 2 });
    }
    await dut.restore();
    expect(lab.state()).toMatchObject(clean);
    expect(lab.dut.machine.root).toMatchObject({ active: new Set(['s1']) });
  });

  test('whose active slice has become unknown is not written to', async () => {
    const says = '=> 40 9 ada0 GPT (1G)\n   3 9 ada0p3 freebsd-ufs [bootme,bootonce] (1G)\n';
    const lie = { kind: 'command-lies', machine: 'dut', command: 'gpart show', says, at: 2 } as const;
    await using lab = await startFreebsdLab({ ...ofGpt, faults: [lie] });
    const dut = await openDut(lab, 'nanobsd');
    await dut.install(imageOf({ ident: 'patched' }));
    await expect(dut.boot('patched')).rejects.toThrow(/an unknown system.*choose another boot method/);
    expect(lab.dut.journal.map(({ command }) => command)).not.toContain('upgrade');
  });
});
