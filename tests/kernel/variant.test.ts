import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { givenKernel, makingOf } from '../../src/kernel/variant.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const given = { base: 'base.deb', patched: 'patched.deb' };

const config = parseConfig(
  `
testbeds:
  rack:
    kind: linux
    sender: { host: tx, interface: tx0, cpu: 0 }
    dut: { host: dut, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: rx, interface: rx0 }
  here: { kind: embedded-linux }
  shelf:
    kind: freebsd
    dut: { host: dut, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:2e:e4:71", inet4: 198.18.0.110 }]
    receiver: { host: rx, interface: cxl0, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110 }
  guests: { kind: virtual }
  kernels:
    kind: virtual
    builder: { user: kernels, kernel: { kind: linux, config: guest.config } }
  images:
    kind: virtual
    image: { path: freebsd.qcow2, hostKey: ssh-ed25519 ${'A'.repeat(68)} }
`,
  { path: '/lab/ppsgate.yml', home: '/home/me' },
);

describe('variants are', () => {
  test.for([
    ['files on Linux machines', 'rack', 'overlay'],
    ['files in the embedded lab', 'here', 'overlay'],
    ['kernels on FreeBSD', 'shelf', 'kernel'],
    ['files on virtual machines of one kernel', 'guests', 'overlay'],
    ['kernels on virtual machines for which some are built', 'kernels', 'kernel'],
    ['files on virtual machines of one image', 'images', 'overlay'],
    ['files on a testbed that there is not', 'elsewhere', 'overlay'],
  ] as const)('%s', ([, testbed, making]) => {
    expect(makingOf(config, testbed)).toBe(making);
  });

  test.for([
    ['the kernels that are given, on virtual machines of any kind', 'guests', 'kernel'],
    ['the kernels that are given, and none that would be built', 'kernels', 'kernel'],
    ['files on Linux machines, whichever kernels are given', 'rack', 'overlay'],
  ] as const)('%s', ([, testbed, making]) => {
    expect(makingOf(config, testbed, given)).toBe(making);
  });
});

test('a kernel of 10^12 bytes, which occupy no space, is refused without being read', async () => {
  const path = join(temporaryFolder(), 'kernel.tar');
  writeFileSync(path, '');
  truncateSync(path, 1e12);
  await expect(givenKernel(path)).rejects.toThrow(
    `The kernel ${path} cannot be read (it has 1000000000000 bytes, but a kernel may have at most 8589934592).`,
  );
});

test('A kernel that never ends is refused', async () => {
  await expect(givenKernel('/dev/zero')).rejects.toThrow('it is not a regular file');
});
