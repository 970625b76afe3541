// Errors on files that a login needs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectTo } from '../../src/lab/connect.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const machine = { host: 'dut.lab', port: 2222, user: 'root' };

test('a file of known hosts that is not there is named, with how it is made and checked', async () => {
  const knownHostsPath = join(temporaryFolder(), 'known_hosts');
  const message = `The key of DUT (dut.lab:2222) cannot be checked, because ${knownHostsPath} cannot be read (ENOENT): create it with 'ssh-keyscan -p 2222 dut.lab >> ${knownHostsPath}', and compare the fingerprint with the machine's console.`;
  await expect(connectTo({ ...machine, knownHostsPath }, 'DUT')).rejects.toMatchObject({
    kind: 'host-key',
    message,
  });
});

test('a file of known hosts that cannot be read is not to be made', async () => {
  const knownHostsPath = join(temporaryFolder(), 'known_hosts');
  mkdirSync(knownHostsPath);
  await expect(connectTo({ ...machine, knownHostsPath }, 'DUT')).rejects.toThrow(
    `because ${knownHostsPath} cannot be read (EISDIR): make it a file that this user may read.`,
  );
});

test('a key that is not there is named, with how it is made', async () => {
  const folder = temporaryFolder();
  const [knownHostsPath, privateKeyPath] = [join(folder, 'known_hosts'), join(folder, 'key')];
  writeFileSync(knownHostsPath, '');
  const login = connectTo({ ...machine, knownHostsPath, privateKeyPath }, 'DUT');
  await expect(login).rejects.toMatchObject({
    kind: 'login',
    message: `Cannot log in to DUT (dut.lab:2222), because the key ${privateKeyPath} cannot be read (ENOENT): create it with 'ssh-keygen -t ed25519 -f ${privateKeyPath}' and append ${privateKeyPath}.pub to that machine's authorized_keys, or correct \`key\` in ppsgate.yml.`,
  });
});
