// Reports a Linux host that lacks a program, with a real sshd for all three hosts.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Traffic } from '../../../src/config/schema.ts';
import { openLinuxTestbed } from '../../../src/lab/netns/netns-testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';

const traffic: Traffic = {
  flows: 2000,
  frameBytes: 64,
  warmUpSeconds: 0,
  settleSeconds: 0,
  measureSeconds: 1,
  measureAtLeastSeconds: 1,
  runsPerTrial: 2,
};

describeWith(['/usr/sbin/sshd', 'ssh-keygen'], 'a host that lacks a program', () => {
  test('is named with the program before anything is done there', async () => {
    const folder = temporaryFolder();
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    for (const name of ['sh', 'bash']) symlinkSync(`/bin/${name}`, join(programs, name));
    for (const name of ['pkill', 'taskset']) symlinkSync('/bin/true', join(programs, name));
    await using sshd = await startSshd('internal-sftp', programs);
    const { host, port, user } = sshd;
    const [privateKeyPath, knownHostsPath] = [join(folder, 'key'), join(folder, 'known_hosts')];
    writeFileSync(privateKeyPath, sshd.privateKey, { mode: 0o600 });
    writeFileSync(knownHostsPath, sshd.knownHosts);
    const machine = { host, port, user, privateKeyPath, knownHostsPath };
    const opening = openLinuxTestbed(
      'shelf',
      {
        kind: 'linux',
        sender: { ...machine, interface: 'eth0', cpu: 0 },
        dut: { ...machine, ingress: 'eth1', egress: 'eth2', cpu: 0 },
        receiver: { ...machine, interface: 'eth0' },
      },
      traffic,
    );
    await expect(opening).rejects.toThrow(
      `sender (127.0.0.1:${port}) lacks trafgen: run 'apt-get install netsniff-ng' there, or install the equivalent packages of its system.`,
    );
  });
});
