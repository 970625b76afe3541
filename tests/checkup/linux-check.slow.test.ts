// What `ppsgate testbeds check` finds on three Linux hosts.
import { expect, onTestFinished, test } from 'vitest';
import { checkLinuxTestbed } from '../../src/checkup/linux-check.ts';
import { connectTo } from '../../src/testbed/connect.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { makeFolder, writeFile } from '../fakes/freebsd-lab/file-system.ts';
import { startFreebsdLab } from '../fakes/freebsd-lab/lab.ts';
import { testbedOf } from '../fakes/freebsd-testbed.ts';

test('only logins and interfaces are looked at', async () => {
  // Any machine that knows test(1) will do.
  const lab = await startFreebsdLab();
  onTestFinished(() => lab.stop());
  const { files } = lab.dut.machine;
  makeFolder(files, '/sys/class/net', true);
  writeFile(files, '/sys/class/net/eth0', '');
  const host = testbedOf(lab, temporaryFolder()).dut;
  const findings = checkLinuxTestbed(
    {
      kind: 'linux',
      sender: { ...host, interface: 'eth0', cpu: 0 },
      dut: { ...host, ingress: 'eth0', egress: 'eth1', cpu: 0 },
      receiver: { ...host, interface: 'eth0' },
    },
    { connect: connectTo, signal: new AbortController().signal },
  );
  const found: string[] = [];
  for await (const { kind, what } of findings) found.push(`${kind} ${what}`);
  expect(found).toEqual([
    'ok ssh to the sender',
    'ok ssh to the DUT',
    'ok ssh to the receiver',
    'ok eth0 of the sender',
    'ok eth0 of the DUT',
    'wrong eth1 of the DUT',
    'ok eth0 of the receiver',
  ]);
});
