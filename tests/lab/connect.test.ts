// Errors on files that a login needs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectTo } from '../../src/lab/connect.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const machine = { host: 'dut.lab', port: 2222, user: 'root' };

test('a file of known hosts or a key that cannot be read is named, with the reason', async () => {
  const folder = temporaryFolder();
  const [knownHostsPath, privateKeyPath] = [join(folder, 'known_hosts'), join(folder, 'key')];
  const login = () => connectTo({ ...machine, knownHostsPath, privateKeyPath }, 'DUT');
  const start = 'Cannot log in to DUT (dut.lab:2222):';
  await expect(login()).rejects.toMatchObject({
    kind: 'host-key',
    message: `${start} ${knownHostsPath} cannot be read (ENOENT: no such file or directory).`,
  });
  writeFileSync(knownHostsPath, '');
  mkdirSync(privateKeyPath);
  await expect(login()).rejects.toMatchObject({
    kind: 'login',
    message: expect.stringContaining(`${start} ${privateKeyPath} cannot be read (EISDIR`),
  });
});
