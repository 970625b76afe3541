// Tests what a machine must not reveal in its recording.
import { expect, test } from 'vitest';
import { learnFrom } from '../../../src/gate/recording/learn-machine.ts';
import { HostError } from '../../../src/system/host/host-error.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { commandText } from '../../../src/system/shell.ts';

const answers: Readonly<Record<string, string>> = {
  'sysctl -n kern.hostname': 'dut7.lab.example.org\n',
  'sysctl -n kern.hostid': '1059036492\n',
  "kenv -q 'smbios.system.serial'": 'PT7A-0042\n',
  'geom disk list': 'Geom name: ada0\n   ident: S4EWNX0R\n   lunid: 5000c500a1b2c3d4\n   ident: (null)\n',
  'ls /dev/diskid': 'DISK-S4EWNX0R\nDISK-S4EWNX0Rp1\n',
  'cat /etc/rc.conf': 'hostname="dut7"\nifconfig_igb0_alias0="inet vhid 1 pass mekmitasdigoat"\n',
  'cat /etc/hosts': '# comment of alice\n::1 localhost\n10.1.2.3 snd7.lab snd7 # the sender\n',
  'cat /etc/resolv.conf': 'search lab.example.org\nnameserver 10.1.2.1\n',
  'cat /etc/passwd': 'root:*:0:0:Charlie:/root:/bin/sh\nalice:*:1001:1001:A:/home/alice:/bin/sh\n',
};

/** A machine that answers only some questions; the connection is lost after as many. */
function machine(limit = Number.POSITIVE_INFINITY): Host {
  let asked = 0;
  return {
    name: 'dut7',
    async run(command) {
      asked += 1;
      if (asked > limit) throw new HostError('lost', 'dut7 is gone');
      const stdout = answers[commandText(command)];
      return stdout === undefined
        ? { kind: 'exited', code: 1, stdout: 'no such thing', stderr: '' }
        : { kind: 'exited', code: 0, stdout, stderr: '' };
    },
    output: () => Promise.reject(new Error('not asked')),
    upload: () => Promise.reject(new Error('not asked')),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

// Attack read/recorded-names
test('reads names, serial numbers, host ids, users and the password of carp', async () => {
  const { hosts, serials, secrets, users } = await learnFrom(machine());
  const names = ['dut7.lab.example.org', 'dut7', 'lab.example.org', 'localhost', 'snd7.lab', 'snd7'];
  expect(new Set(hosts)).toEqual(new Set(names));
  expect(serials).toEqual(
    expect.arrayContaining(['1059036492', '3f1f9d4c', 'PT7A-0042', 'S4EWNX0R', '5000c500a1b2c3d4']),
  );
  expect(serials).not.toContain('no such thing');
  expect(secrets).toContain('mekmitasdigoat');
  expect(users).toEqual(['alice']);
});

test('keeps what was learnt before the connection was lost, and throws nothing', async () => {
  const { hosts, users } = await learnFrom(machine(1));
  expect(hosts).toContain('dut7');
  expect(users).toEqual([]);
});
