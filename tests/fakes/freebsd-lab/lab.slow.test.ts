import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HostError } from '../../../src/system/host/host-error.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { describeWith } from '../../needs.ts';
import { depsOf, labConsole } from '../freebsd-testbed.ts';
import { type KernelText, kernelArchive } from './kernel.ts';
import { type FreebsdLab, startFreebsdLab } from './lab.ts';
import { sendTrial, steadyPps } from './trial.ts';

test('nextboot boots a kernel once, and the boot after it is the old one', async () => {
  await using lab = await startFreebsdLab();
  await lay(lab, { ident: 'patched' });
  await rebootInto(lab, 'ppsgate.patched');
  expect(lab.state()).toMatchObject({ kernel: 'patched', nextboot: undefined });
  await using dut = await connect(lab.dut.target);
  expect(await dut.output(shell`sysctl -n kern.bootfile`)).toBe('/boot/ppsgate.patched/kernel\n');
  expect(await dut.output(shell`uname -v`)).toBe('FreeBSD 14.0-CURRENT #0 patched\n');
  await dut.output(shell`shutdown -r now`);
  await lab.clock.sleep(200);
  expect(lab.state().kernel).toBe('base');
});

test('nextboot -D takes the order back', async () => {
  await using lab = await startFreebsdLab();
  await lay(lab, { ident: 'patched' });
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`nextboot -k ppsgate.patched`);
  await dut.output(shell`nextboot -D`);
  await dut.output(shell`nextboot -D`);
  await dut.output(shell`shutdown -r now`);
  await lab.clock.sleep(200);
  expect(lab.state().kernel).toBe('base');
});

test('nextboot refuses a kernel that is not there: on stdout by the script, on stderr by the program', async () => {
  await using old = await startFreebsdLab();
  await using dut = await connect(old.dut.target);
  expect(await dut.run(shell`nextboot -k missing`)).toMatchObject({
    code: 1,
    stdout: "Error: /boot/missing doesn't exist. Use -f to override.\n",
  });
  await using recent = await startFreebsdLab({ nextboot: 'program' });
  await using newer = await connect(recent.dut.target);
  expect(await newer.run(shell`nextboot -k missing`)).toMatchObject({
    code: 1,
    stderr: 'nextboot: stat /boot/missing/kernel: No such file or directory\n',
  });
  expect(await newer.run(shell`nextboot -D`)).toMatchObject({ code: 1 });
});

test('a reboot takes its time, drops connections and refuses new ones', async () => {
  await using lab = await startFreebsdLab();
  const started = lab.clock.now();
  const dut = await connect(lab.dut.target);
  await dut.output(shell`shutdown -r now`);
  await lab.clock.sleep(60);
  await expect(dut.output(shell`uname -r`)).rejects.toMatchObject({ kind: 'lost' });
  await expect(connect(lab.dut.target)).rejects.toMatchObject({ kind: 'unreachable' });
  await lab.clock.sleep(70);
  await using again = await connect(lab.dut.target);
  const [, seconds] = /sec = (\d+)/.exec(await again.output(shell`sysctl -n kern.boottime`)) ?? [];
  expect(Number(seconds)).toBeGreaterThan(started);
});

test('a console that is a socket of a virtual machine ends with its power', async () => {
  await using lab = await startFreebsdLab();
  lab.dut.machine.console.endsWithPower = true;
  const console = await depsOf(lab).openConsole('the DUT', labConsole, () => {});
  await lab.power.cycle();
  expect(await console.ended).toBe('socat ended with 0');
});

test('reboot(8) never answers', async () => {
  await using lab = await startFreebsdLab();
  const dut = await connect(lab.dut.target);
  await expect(dut.output(shell`reboot`)).rejects.toMatchObject({ kind: 'lost' });
});

test('a kernel that panics before dumpon leaves its message in the buffer alone', async () => {
  await using lab = await startFreebsdLab();
  const behaviour = { kind: 'panics-at-boot', panic: 'mutex not owned' } as const;
  await lay(lab, { ident: 'patched', behaviour });
  await rebootInto(lab, 'ppsgate.patched');
  await lab.clock.sleep(200);
  expect(lab.state().kernel).toBe('base');
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`cat /var/crash/info.last`)).toMatchObject({ code: 1 });
  expect(await dut.run(shell`savecore -C`)).toMatchObject({ code: 1 });
  expect(await dut.output(shell`dmesg -a`)).toContain('panic: mutex not owned');
});

test('a kernel that panics while rc runs leaves a dump, and the old kernel comes up', async () => {
  await using lab = await startFreebsdLab();
  const behaviour = { kind: 'panics-in-rc', panic: 'mutex not owned' } as const;
  await lay(lab, { ident: 'patched', behaviour });
  await rebootInto(lab, 'ppsgate.patched');
  await lab.clock.sleep(200);
  expect(lab.state().kernel).toBe('base');
  await using dut = await connect(lab.dut.target);
  expect(await dut.output(shell`cat /var/crash/info.last`)).toContain('  Panic String: mutex not owned\n');
  expect(await dut.output(shell`cat /var/crash/core.txt.0`)).toContain('panic: mutex not owned');
  expect(await dut.output(shell`dmesg -a`)).toContain('panic: mutex not owned');
});

test('a kernel that hangs stays away until the power is cycled', async () => {
  await using lab = await startFreebsdLab();
  await lay(lab, { ident: 'patched', behaviour: { kind: 'hangs-at-boot' } });
  await rebootInto(lab, 'ppsgate.patched');
  await lab.clock.sleep(3600);
  expect(lab.state().stage).toBe('hung');
  await lab.power.cycle();
  await lab.clock.sleep(120);
  expect(lab.state()).toMatchObject({ stage: 'up', kernel: 'base' });
});

test('a kernel that panics under load takes the trial with it', async () => {
  await using lab = await startFreebsdLab();
  const behaviour = { kind: 'panics-under-load', panic: 'pf state gone' } as const;
  await lay(lab, { ident: 'patched', behaviour });
  await rebootInto(lab, 'ppsgate.patched');
  const { receiver } = await sendTrial(lab);
  expect(receiver.rates.filter(({ pps }) => pps > 0).length).toBeLessThan(8);
  expect(lab.state().stage).not.toBe('up');
  await lab.clock.sleep(200);
  expect(lab.state().kernel).toBe('base');
});

test('boots go wrong on order', async () => {
  await using lab = await startFreebsdLab({
    faults: [
      { kind: 'wrong-kernel', at: 1 },
      { kind: 'panic-at-boot', at: 2 },
      { kind: 'hang-at-boot', at: 4 },
    ],
  });
  await lay(lab, { ident: 'patched' });
  await rebootInto(lab, 'ppsgate.patched');
  expect(lab.state().kernel).toBe('base');
  await rebootInto(lab, 'ppsgate.patched');
  await lab.clock.sleep(200);
  expect(lab.state().kernel).toBe('base');
  await rebootInto(lab, 'ppsgate.patched');
  expect(lab.state().stage).toBe('hung');
});

test('a BMC that lies reports success, and one that times out reports that', async () => {
  await using lab = await startFreebsdLab({
    faults: [
      { kind: 'power-lies', at: 1 },
      { kind: 'power-times-out', at: 2 },
    ],
  });
  await lab.power.off();
  expect(await lab.power.state()).toBe('on');
  await expect(lab.power.off()).rejects.toThrow('did not answer within 180 s');
  await lab.power.off();
  expect(lab.state()).toMatchObject({ power: 'off', stage: 'off' });
  await lab.power.cycle();
  expect(await lab.power.state()).toBe('on');
});

test('an upload that is lost leaves half a file under its other name', async () => {
  await using lab = await startFreebsdLab({
    faults: [{ kind: 'upload-lost', at: 1, afterBytes: 50_000 }],
  });
  const dut = await connect(lab.dut.target);
  const upload = dut.upload(Buffer.alloc(200_000), '/var/tmp/ppsgate.tar', 0o600);
  await expect(upload).rejects.toMatchObject({ kind: 'lost' });
  expect(lab.state().leftovers).toEqual([expect.stringMatching(/^\/var\/tmp\/ppsgate\.tar\..*\.part$/)]);
});

test('a disk that is full takes neither an upload nor an archive', async () => {
  await using lab = await startFreebsdLab({ disk: { totalBytes: 1e6, usedBytes: 0.9e6 } });
  await using dut = await connect(lab.dut.target);
  const upload = dut.upload(Buffer.alloc(200_000), '/var/tmp/big', 0o600);
  await expect(upload).rejects.toMatchObject({ kind: 'upload-failed' });
  const archive = kernelArchive({ ident: 'p'.repeat(60_000) }, []);
  await dut.upload(archive, '/var/tmp/kernel.tar', 0o600);
  await dut.output(shell`mkdir -p /boot/patched`);
  expect(await dut.run(shell`tar -x -p -f /var/tmp/kernel.tar -C /boot/patched`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('kernel: Write failed: No space left on device'),
  });
});

test('an upload has its bytes and its mode, from memory and from a file', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  const bytes = kernelArchive({ ident: 'x'.repeat(300_000) });
  const sum = createHash('sha256').update(bytes).digest('hex');
  await dut.upload(bytes, '/tmp/a', 0o640);
  expect(await dut.output(shell`sha256 -q /tmp/a`)).toBe(`${sum}\n`);
  expect(lab.dut.machine.files.nodes.get('/tmp/a')).toMatchObject({ mode: 0o640 });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'ppsgate-lab-'));
  const local = join(folder.path, 'kernel.tar');
  await writeFile(local, bytes);
  await dut.upload(local, '/tmp/b', 0o600);
  expect(await dut.output(shell`sha256 -q /tmp/b`)).toBe(`${sum}\n`);
});

test('a script that the laboratory does not know fails, and the test with it', async () => {
  const lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`uname -r; uname -v`)).toMatchObject({ code: 99 });
  await expect(lab.stop()).rejects.toThrow('dut: this script of sh is not modelled');
});

test('a feature of FreeBSD that the laboratory lacks fails the test', async () => {
  const lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`ls -l /boot`)).toMatchObject({ code: 99 });
  await expect(lab.stop()).rejects.toThrow('dut: this option of ls is not modelled');
});

test('kills a program at its next write once its output has no reader', async () => {
  await using lab = await startFreebsdLab();
  const generator = await connect(lab.receiver.target);
  const lost = generator.run(shell`timeout -s INT 600 pkt-gen -N -f rx -i vcxl1 -w 4`);
  void lost.catch(() => {});
  await lab.clock.sleep(10);
  await generator.close();
  await lab.clock.sleep(10);
  expect(lab.receiver.machine.programs.size).toBe(0);
});

test('the journal holds every command, in order', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`uname -r`);
  await lab.clock.sleep(60);
  await dut.output(shell`cat ${'/boot/loader.conf'}`);
  const [first, second] = lab.dut.journal;
  expect([first?.command, second?.command]).toEqual(['uname -r', "cat '/boot/loader.conf'"]);
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(60);
});

test('an unknown command and an unknown option fail as on FreeBSD', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`ethtool cxl0`)).toEqual({
    kind: 'exited',
    code: 1,
    stdout: '',
    stderr: 'ethtool: Command not found.\n',
  });
  const refused = [
    [shell`uname -z`, 1, 'uname: illegal option -- z'],
    [shell`df --human /`, 64, 'df: illegal option -- -'],
    [shell`nextboot -x`, 1, 'nextboot: illegal option -- x'],
    [shell`kldstat -z`, 1, 'kldstat: illegal option -- z'],
    [shell`pfctl -Q`, 1, 'pfctl: illegal option -- Q'],
    [shell`ipfw -Z list`, 64, 'ipfw: illegal option -- Z'],
    [shell`pmcstat -y`, 64, 'pmcstat: illegal option -- y'],
    [shell`mkdir -p`, 64, 'usage: mkdir'],
    [shell`sysctl net.no.such`, 1, "sysctl: unknown oid 'net.no.such'"],
  ] as const;
  for (const [command, code, stderr] of refused) {
    expect(await dut.run(command)).toMatchObject({
      code,
      stderr: expect.stringContaining(stderr),
    });
  }
});

test('sysctls keep their types, ranges and tunables, and a reboot forgets what was set', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.output(shell`sysctl net.inet.ip.redirect=1`)).toBe('net.inet.ip.redirect: 0 -> 1\n');
  const refused = [
    [shell`sysctl net.inet.ip.redirect=many`, "sysctl: invalid integer 'many'\n"],
    [shell`sysctl hw.ncpu=4`, "sysctl: oid 'hw.ncpu' is read only\n"],
  ] as const;
  for (const [command, stderr] of refused) {
    expect(await dut.run(command)).toMatchObject({ code: 1, stderr });
  }
  expect(await dut.run(shell`sysctl net.isr.maxthreads=-1`)).toMatchObject({
    stderr: expect.stringContaining('Tunable values are set in /boot/loader.conf'),
  });
  await dut.output(shell`shutdown -r now`);
  await lab.clock.sleep(200);
  await using again = await connect(lab.dut.target);
  expect(await again.output(shell`sysctl -n net.inet.ip.redirect kern.random.harvest.mask`)).toBe(
    // 351, and the CPU's pure entropy, which stays on.
    '0\n65887\n',
  );
});

test('pf needs its module, takes rules that parse, and shows what is in force', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`pfctl -e`)).toMatchObject({
    code: 1,
    stderr: 'pfctl: /dev/pf: No such file or directory\n',
  });
  await dut.output(shell`kldload pf`);
  await dut.upload(Buffer.from('set skip on lo0\npass no state\n'), '/tmp/pf.conf', 0o600);
  await dut.upload(Buffer.from('pass\nlet them through\n'), '/tmp/wrong.conf', 0o600);
  expect(await dut.run(shell`pfctl -n -f /tmp/wrong.conf`)).toMatchObject({
    code: 1,
    stderr: '/tmp/wrong.conf:2: syntax error\npfctl: Syntax error in config file: pf rules not loaded\n',
  });
  await dut.output(shell`pfctl -f /tmp/pf.conf`);
  expect(lab.state().scenario).toBe('forwarding');
  expect(await dut.run(shell`pfctl -e`)).toMatchObject({ code: 0, stderr: 'pf enabled\n' });
  expect(await dut.run(shell`pfctl -e`)).toMatchObject({
    code: 1,
    stderr: 'pfctl: pf already enabled\n',
  });
  expect(await dut.output(shell`pfctl -sr`)).toBe('pass all no state\n');
  expect(await dut.output(shell`pfctl -si`)).toMatch(/^Status: Enabled for 0 days 00:00:0\d/);
  expect(lab.state().scenario).toBe('pf-stateless');
  await dut.output(shell`pfctl -F all`);
  await dut.output(shell`pfctl -d`);
  await dut.output(shell`kldunload pf`);
  expect(lab.state()).toMatchObject({ scenario: 'forwarding', modules: ['if_cxgbe'] });
});

test('ipfw takes a file of rules, and lists them and their dynamic rules', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.run(shell`ipfw list`)).toMatchObject({ code: 71 });
  await dut.output(shell`kldload ipfw`);
  const rules = 'flush\nadd 3000 allow ip from any to any keep-state\n';
  await dut.upload(Buffer.from(rules), '/tmp/ipfw.rules', 0o600);
  await dut.output(shell`ipfw -q /tmp/ipfw.rules`);
  expect(await dut.output(shell`ipfw list`)).toBe(
    '03000 allow ip from any to any keep-state :default\n65535 allow ip from any to any\n',
  );
  await sendTrial(lab);
  expect(await dut.output(shell`sysctl -n net.inet.ip.fw.dyn_count`)).toBe('2000\n');
  expect(await dut.output(shell`ipfw -d list`)).toContain('## Dynamic rules (2000 ');
  await dut.output(shell`ipfw -q -f flush`);
  expect(lab.state().ipfw.rules).toEqual([]);
});

test('ipfw without default_to_accept cuts the machine off until it is reset', async () => {
  await using lab = await startFreebsdLab({
    loaderConf: { 'net.inet.ip.fw.default_to_accept': '0' },
  });
  await using dut = await connect(lab.dut.target, { keepaliveSeconds: 0 });
  const loading = dut.output(shell`kldload ipfw`, { timeoutSeconds: 0.2 });
  await expect(loading).rejects.toMatchObject({ kind: 'timeout' });
  await lab.power.cycle();
  await lab.clock.sleep(130);
  await using again = await connect(lab.dut.target);
  expect(await again.run(shell`kldstat -q -m ipfw`)).toMatchObject({ code: 1 });
});

test('a module comes from the folder of the kernel that runs', async () => {
  await using lab = await startFreebsdLab();
  await lay(lab, { ident: 'patched' }, ['ipfw']);
  await rebootInto(lab, 'ppsgate.patched');
  await using dut = await connect(lab.dut.target);
  await dut.output(shell`kldload ipfw`);
  expect(await dut.run(shell`kldload pf`)).toMatchObject({
    code: 1,
    stderr: "kldload: can't load pf: No such file or directory\n",
  });
});

test('a profile shows what the DUT did while it was sampled', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target, { keepaliveSeconds: 0 });
  await dut.output(shell`kldload hwpmc`);
  const event = 'cpu_clk_unhalted.thread_p';
  const sampling = dut.run(shell`pmcstat -z 50 -S ${event} -l 20 -O /tmp/pmc.out`);
  await sendTrial(lab, { seconds: 20 });
  expect(await sampling).toMatchObject({ code: 0 });
  await dut.output(shell`pmcstat -R /tmp/pmc.out -z16 -G /tmp/pmc.graph`);
  const graph = await dut.output(shell`cat /tmp/pmc.graph`);
  expect(graph).toMatch(/^@ cpu_clk_unhalted\.thread_p \[20000 samples\]/);
  expect(graph).toContain('fib4_lookup @ /boot/kernel/kernel');
  expect(await dut.run(shell`pmcstat -S no_such -l 1 -O /tmp/x`)).toMatchObject({ code: 71 });
});

test('the DUT prints its network in the formats of FreeBSD', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  expect(await dut.output(shell`ifconfig -l`)).toBe('cxl0 cxl1 igb0 lo0\n');
  const text = await dut.output(shell`ifconfig cxl0`);
  expect(text).toContain('\tmedia: Ethernet 10Gbase-SR <full-duplex>\n\tstatus: active\n');
  expect(text).not.toMatch(/TSO|LRO/);
  expect(await dut.run(shell`ifconfig em9`)).toMatchObject({ code: 1 });
  expect(await dut.output(shell`netstat -rn -f inet`)).toMatch(/^198\.19\.0\.0\/16 +198\.19\.0\.108 +UGS +cxl1/m);
  expect(await dut.output(shell`arp -an`)).toMatch(/^\? \(198\.18\.0\.108\) at .* permanent/m);
  expect(await dut.output(shell`ndp -an`)).toMatch(/^2001:2::108 .* permanent/m);
  await sendTrial(lab);
  const [, , , , packets, , missed] =
    (await dut.output(shell`netstat -I cxl0 -b -n -d`)).split('\n').at(1)?.split(/ +/) ?? [];
  expect(Number(packets) + Number(missed)).toBeGreaterThan(200e6);
});

describeWith(['zstd', 'xz'], 'a compressed archive', () => {
  test.each(['zstd', 'xz'])('of %s is unpacked like a plain one', async (program) => {
    await using lab = await startFreebsdLab();
    await using dut = await connect(lab.dut.target);
    const archive = execFileSync(program, ['-c'], { input: kernelArchive({ ident: 'patched' }) });
    await dut.upload(archive, '/tmp/kernel.archive', 0o600);
    await dut.output(shell`mkdir -p /boot/patched`);
    await dut.output(shell`tar -x -p -f /tmp/kernel.archive -C /boot/patched`);
    expect(await dut.output(shell`ls -1 /boot/patched`)).toBe(
      'hwpmc.ko\nif_cxgbe.ko\nipfw.ko\nkernel\nksyms.ko\nnetmap.ko\npf.ko\nzfs.ko\n',
    );
  });
});

test('a file comes back byte by byte', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  await dut.upload(Buffer.from('größer\n'), '/tmp/text', 0o600);
  expect(await dut.output(shell`cat /tmp/text`)).toBe('größer\n');
});

test('a torn archive is not unpacked', async () => {
  await using lab = await startFreebsdLab();
  await using dut = await connect(lab.dut.target);
  const archive = kernelArchive({ ident: 'patched' });
  await dut.upload(archive.subarray(0, 700), '/tmp/torn.tar', 0o600);
  expect(await dut.run(shell`tar -x -p -f /tmp/torn.tar -C /boot`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Truncated input file'),
  });
});

test('only root with the right key gets in', async () => {
  await using lab = await startFreebsdLab();
  const refused = connect({ ...lab.dut.target, user: 'toor' });
  await expect(refused).rejects.toMatchObject({
    kind: 'login-refused',
  } satisfies Partial<HostError>);
});

test('the speed of a kernel differs a little from boot to boot', async () => {
  await using lab = await startFreebsdLab({ noise: { perBoot: 0.01, perSecond: 0 } });
  const first = steadyPps((await sendTrial(lab)).receiver);
  await rebootInto(lab, 'kernel');
  const second = steadyPps((await sendTrial(lab)).receiver);
  expect(second).not.toBe(first);
  expect(Math.abs(second / first - 1)).toBeLessThan(0.06);
});

async function lay(lab: FreebsdLab, kernel: KernelText, modules?: readonly string[]): Promise<void> {
  await using dut = await connect(lab.dut.target);
  const folder = `/boot/ppsgate.${kernel.ident}`;
  await dut.upload(kernelArchive(kernel, modules), '/var/tmp/kernel.tar', 0o600);
  await dut.output(shell`mkdir -p ${folder}`);
  await dut.output(shell`tar -x -p -f /var/tmp/kernel.tar -C ${folder}`);
  await dut.output(shell`rm -rf /var/tmp/kernel.tar`);
}

/** Long enough for a successful boot. */
async function rebootInto(lab: FreebsdLab, kernel: string): Promise<void> {
  const dut: Host = await connect(lab.dut.target);
  await dut.output(shell`nextboot -k ${kernel}`);
  await dut.output(shell`shutdown -r now`);
  await dut.close();
  await lab.clock.sleep(130);
}
