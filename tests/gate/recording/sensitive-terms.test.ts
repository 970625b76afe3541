// Masks the secrets and names of a testbed's configuration and of the environment.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import { maskFor } from '../../../src/gate/recording/mask.ts';
import { sensitiveTermsOf } from '../../../src/gate/recording/sensitive-terms.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const machine = { port: 22, user: 'alice', knownHostsPath: '/home/alice/.ssh/known_hosts' };
const generator = { ...machine, threads: 1, addresses: {} };

function testbedWith(power: NonNullable<FreebsdTestbed['dut']['power']>, privateKeyPath: string): FreebsdTestbed {
  return {
    kind: 'freebsd',
    dut: {
      ...machine,
      host: 'dut3.lab.example.org',
      privateKeyPath,
      power,
      ingress: { interface: 'cxl0' },
      egress: { interface: 'cxl1' },
      boot: { method: 'nextboot', limitSeconds: 600 },
    },
    senders: [{ ...generator, host: 'snd1', interface: 'cxl0', mac: '00:07:43:2e:e1:70' }],
    receiver: { ...generator, host: '10.1.2.3', interface: 'cxl1', mac: '00:07:43:2e:e1:71' },
    preflight: 'warn',
  };
}

test('masks keys, the password of the BMC, tokens of the environment, names and users', async () => {
  const folder = temporaryFolder();
  const [key, password] = [join(folder, 'key'), join(folder, 'bmc')];
  writeFileSync(key, '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIOs8\n-----END EC PRIVATE KEY-----\n');
  writeFileSync(password, 'calvin and hobbes\n');
  const power = {
    kind: 'redfish',
    url: 'https://bmc3.lab.example.org/redfish/v1/Systems/1',
  } as const;
  const testbed = testbedWith({ ...power, user: 'bmcadmin', passwordPath: password }, key);
  const environment = {
    PPSGATE_BMC_PASSWORD: 'swordfish',
    CI_THING: 'a1b2c3d4e5f6a7b8c9',
    SHELL: '/bin/sh',
  };
  const mask = maskFor(await sensitiveTermsOf(testbed, environment));
  const texts = [
    'MHcCAQEEIOs8',
    'calvin and hobbes',
    'swordfish',
    'a1b2c3d4e5f6a7b8c9',
    'alice',
    'bmcadmin',
    'dut3',
    'DUT3.lab.example.org',
    'bmc3',
    'snd1',
    '10.1.2.3',
    '0007432ee170',
    '0007.432e.e171',
    '/home/alice/.ssh/known_hosts',
  ];
  const masked = mask(texts.join(' | ')).split(' | ');
  for (const [index, text] of texts.entries()) expect(masked[index]).not.toContain(text);
  expect(masked.at(-1)).toBe('/dev/null');
  expect(mask('/bin/sh false forwarding active')).toBe('/bin/sh false forwarding active');
});

test('masks the key of an image of guests, its path and the path of the image', async () => {
  const key = join(temporaryFolder(), 'guests');
  writeFileSync(key, 'secret of the key\n');
  const path = '/srv/images/customer.qcow2';
  const mask = maskFor(
    await sensitiveTermsOf(
      {
        kind: 'virtual',
        system: 'freebsd',
        accelerator: 'tcg',
        memoryMebibytes: 1024,
        image: { path, privateKeyPath: key, hostKey: 'ssh-ed25519 AAAAC3', bootSeconds: 600 },
      },
      {},
    ),
  );
  expect(mask(`${path} ${key}`)).toBe('/dev/null /dev/null');
  expect(mask('a secret of the key\n')).not.toContain('secret of the key');
});

test('keeps the MAC addresses of guests, by which their cards are known', () => {
  const mask = maskFor({ secrets: [], hosts: [], users: [] });
  expect(mask('ether 02:70:70:00:00:01')).toBe('ether 02:70:70:00:00:01');
  expect(mask('ether 02:70:71:00:00:01')).toBe('ether 00:00:5e:00:53:00');
});

test('masks arguments of power commands that may be passwords, and no plain words', async () => {
  const words = ['pdu', '--outlet', '4', 'hunter2!', 'status'];
  const power = { kind: 'command', on: words, off: words, state: words } as const;
  const config = { ...power, on: [...words], off: [...words], state: [...words] };
  const mask = maskFor(await sensitiveTermsOf(testbedWith(config, '/nowhere'), {}));
  expect(mask('pdu: hunter2! is wrong; status: active')).toBe('pdu: secret-1 is wrong; status: active');
});

// Attack read/recorded-names
test('masks the paths of our own key and password files, however ssh prints them', async () => {
  const folder = temporaryFolder();
  const [key, link] = [join(folder, 'lab-key'), join(folder, 'linked-key')];
  writeFileSync(key, 'MHcCAQEEIOs8\n');
  symlinkSync(key, link);
  const power = {
    kind: 'redfish',
    url: 'https://bmc3/redfish/v1/Systems/1',
    user: 'lab',
    passwordPath: `${folder}/bmc`,
  } as const;
  const mask = maskFor(await sensitiveTermsOf(testbedWith(power, link), {}));
  expect(mask(`ssh -i${link} -o IdentityFile=${key}: ${folder}/bmc`)).toBe(
    'ssh -i/dev/null -o IdentityFile=/dev/null: /dev/null',
  );
});
