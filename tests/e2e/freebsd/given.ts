// Provides an image of FreeBSD and kernels for it, which `npm run test:freebsd -- IMAGE` passes to the tests that need
// a real one.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Need } from '../../needs.ts';

/** Kernels that tests boot, each a tar archive as for `--base-kernel`; CONTRIBUTING.md describes each. */
export const kernelNames = [
  'base',
  'same',
  'slower',
  'panic-at-boot',
  'panic-under-load',
  'hang-at-boot',
  'forwards-nothing',
] as const;

export type KernelName = (typeof kernelNames)[number];

/** Environment variable with the path of the image. */
export const imageVariable = 'PPSGATE_FREEBSD_IMAGE';

const image = (): string | undefined => process.env[imageVariable];

/** Files beside the image: root's private key, and the public host key of its sshd. */
const keyOf = (path: string): string => `${path}.key`;
const hostKeyOf = (path: string): string => `${path}.hostkey`;

const kernelOf = (path: string, name: KernelName): string => join(dirname(path), 'kernels', `${name}.tar`);

/** Requirements of a test that boots these kernels on copies of the image. */
export function needsOf(...kernels: readonly KernelName[]): Need[] {
  const path = image();
  if (path === undefined) return ['an image: npm run test:freebsd -- IMAGE'];
  const files = kernels.map((name) => kernelOf(path, name));
  return ['qemu-system-x86_64', 'git', path, keyOf(path), hostKeyOf(path), ...files];
}

/** Path of the kernel's archive; call it in tests with `needsOf` it. */
export const kernel = (name: KernelName): string => kernelOf(imagePath(), name);

export type GivenImage = { path: string; keyPath: string; hostKey: string };

export function givenImage(): GivenImage {
  const path = imagePath();
  const [type, key] = readFileSync(hostKeyOf(path), 'utf8').split(/\s+/);
  return { path, keyPath: keyOf(path), hostKey: `${type} ${key}` };
}

function imagePath(): string {
  const path = image();
  if (path === undefined) throw new TypeError(`${imageVariable} names no image.`);
  return path;
}
