import { expect, test } from 'vitest';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { type Command, shell } from '../../../src/system/shell.ts';
import { startFreebsdLab } from './lab.ts';
import { sliceImage } from './machines.ts';

test('a boot environment is a clone with its own /boot, and shares what bsdinstall shares', async () => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`bectl create -e default next`);
  const place = (await dut.output(shell`bectl mount next`)).trim();
  await dut.upload(Buffer.from('only there'), `${place}/boot/mark`, 0o644);
  await dut.upload(Buffer.from('everywhere'), '/var/tmp/mark', 0o644);
  expect(await dut.output(shell`df -k / ${place} /var/tmp`)).toMatch(
    /^zroot\/ROOT\/default .* \/\nzroot\/ROOT\/next .* \/tmp\/be_mount.*\nzroot\/var\/tmp .*$/m,
  );
  expect(await dut.run(shell`rmdir ${place}`)).toMatchObject({ code: 1 });
  await dut.output(shell`bectl unmount next`);
  await dut.output(shell`rmdir ${place}`);
  expect(await dut.run(shell`test -e /boot/mark`)).toMatchObject({ code: 1 });
  await dut.output(shell`bectl activate -t next`);
  expect(await dut.output(shell`bectl list -H`)).toMatch(/^default\tNR\t\/\t.*\nnext\tT\t-\t/);
  const again = await reboot(dut, lab);
  expect(await again.output(shell`cat /boot/mark /var/tmp/mark`)).toBe('only thereeverywhere');
  expect(lab.state().root).toBe('zroot/ROOT/next');
  await (await reboot(again, lab)).close();
  expect(lab.state().root).toBe('zroot/ROOT/default');
});

test.for<[string, Command, number, string]>([
  ['to create one that is there', shell`bectl create default`, 2, 'already taken'],
  ['to create one with blanks in its name', shell`bectl create ${'a b'}`, 1, 'invalid'],
  ['to clone one that is not there', shell`bectl create -e none next`, 3, 'does not exist'],
  ['to destroy the one that runs', shell`bectl destroy -F default`, 5, 'active boot environment'],
  ['to destroy a mounted one unforced', shell`bectl destroy busy`, 6, 'unless forced'],
  ['to mount one twice', shell`bectl mount busy`, 12, 'already mounted'],
  ['to activate one that is not there', shell`bectl activate -t none`, 3, 'does not exist'],
  ['an option that it has not', shell`bectl destroy -f busy`, 64, "unknown option '-f'"],
  ['two names', shell`bectl activate -t busy default`, 64, 'wrong number of arguments'],
])('bectl refuses %s', async ([, command, code, message]) => {
  await using lab = await startFreebsdLab({ root: 'zfs' });
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`bectl create busy`);
  await dut.output(shell`bectl mount busy`);
  const outcome = await dut.run(command);
  expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) });
});

test('an appliance cannot be written to outside of its memory', async () => {
  await using lab = await startFreebsdLab({ root: 'nanobsd' });
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`mkdir -p /boot/patched`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Read-only file system'),
  });
  expect(await dut.run(shell`rm -rf /boot/kernel`)).toMatchObject({ code: 1 });
  const upload = dut.upload(Buffer.from('x'), '/boot/x', 0o600);
  await expect(upload).rejects.toMatchObject({ kind: 'upload-failed' });
  await dut.upload(Buffer.from('x'), '/var/tmp/x', 0o600);
});

test('an image goes into the other slice, which stays active until it is rolled back', async () => {
  await using lab = await startFreebsdLab({ root: 'nanobsd' });
  const dut = await connect(lab.dut.target);
  expect(await dut.run(shell`system rollback`, { stdin: 'y\n' })).toMatchObject({ code: 1 });
  await dut.output(shell`upgrade`, { stdin: sliceImage({ ident: 'patched' }) });
  expect(await dut.output(shell`cat /etc/fstab`)).toMatch(/^\/dev\/ufs\/BSDRPs2a \/ /);
  const first = await reboot(dut, lab);
  const second = await reboot(first, lab);
  expect(lab.state()).toMatchObject({ kernel: 'patched', root: '/dev/ufs/BSDRPs2a' });
  await second.output(shell`system rollback`, { stdin: 'y\n' });
  await (await reboot(second, lab)).close();
  expect(lab.state()).toMatchObject({ kernel: 'base', root: '/dev/ufs/BSDRPs1a' });
});

test('upgrade refuses what is no file system, and leaves its own slice active', async () => {
  await using lab = await startFreebsdLab({ root: 'nanobsd' });
  await using dut = await connect(lab.dut.target);
  const torn = sliceImage({ ident: 'patched' }).subarray(0, 900);
  expect(await dut.run(shell`upgrade`, { stdin: torn })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('check failed'),
  });
  expect(await dut.output(shell`cat /etc/fstab`)).toMatch(/^\/dev\/ufs\/BSDRPs1a \/ /);
});

async function reboot(dut: Host, lab: Awaited<ReturnType<typeof startFreebsdLab>>): Promise<Host> {
  await dut.output(shell`shutdown -r now`);
  await dut.close();
  await lab.clock.sleep(130);
  return connect(lab.dut.target);
}
