// Checks three Linux hosts.
import { expect, onTestFinished, test } from 'vitest';
import type { LinuxTestbed } from '../../../src/config/schema.ts';
import { checkLinuxTestbed } from '../../../src/lab/check/linux-check.ts';
import { connectTo } from '../../../src/lab/connect.ts';
import { openLinuxTestbed } from '../../../src/lab/netns/netns-testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { makeFolder, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';

test('logins, programs and interfaces are looked at, and rules only where programs are there, which a gate needs', async () => {
  // Any machine with test(1) serves here, and FreeBSD has no trafgen.
  const lab = await startFreebsdLab();
  onTestFinished(() => lab.stop());
  const { files } = lab.dut.machine;
  makeFolder(files, '/sys/class/net', true);
  writeFile(files, '/sys/class/net/eth0', '');
  const host = testbedOf(lab, temporaryFolder()).dut;
  const testbed: LinuxTestbed = {
    kind: 'linux',
    sender: { ...host, interface: 'eth0', cpu: 0 },
    dut: { ...host, ingress: 'eth0', egress: 'eth1', cpu: 0 },
    receiver: { ...host, interface: 'eth0' },
  };
  await expect(openLinuxTestbed('shelf', testbed, usualTraffic)).rejects.toThrow(/^sender \(.*\) lacks bash /);
  const diagnostics = checkLinuxTestbed(testbed, { connect: connectTo, signal: new AbortController().signal });
  const found = await Array.fromAsync(diagnostics);
  expect(found.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
    'ok ssh to the sender',
    'ok ssh to the DUT',
    'ok ssh to the receiver',
    'wrong the programs of the sender',
    'wrong the programs of the DUT',
    'ok eth0 of the sender',
    'ok eth0 of the DUT',
    'wrong eth1 of the DUT',
    'ok eth0 of the receiver',
    'skipped preexisting rules of the DUT',
    'skipped other filters of the DUT',
  ]);
  expect(found).toContainEqual({
    kind: 'wrong',
    what: 'the programs of the sender',
    why: 'bash and taskset and trafgen not found',
    fix: '`apt-get install bash util-linux netsniff-ng` on it, or the equivalent packages of its system',
  });
});
