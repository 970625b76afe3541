import { expect, test } from 'vitest';
import { linuxVersionIn } from '../../../../src/lab/qemu/vm/linux-image.ts';
import { bzImage } from '../../kernel-archives.ts';

const release = '6.1.0-9-guest';
const version = `${release} (builder@host) #1 SMP PREEMPT_DYNAMIC 2026-11-20`;

test('reads the version of an image', () => {
  expect(linuxVersionIn(bzImage(version))).toBe(version);
});

// The release becomes the name of a folder.
test.for<[string, Buffer]>([
  ['is text', Buffer.from('no kernel\n'.repeat(2000))],
  ['is empty', Buffer.alloc(0)],
  ['names itself nothing', bzImage('')],
  ['names no version', bzImage(release)],
  ['names itself beyond its end', bzImage(version).subarray(0, 0x600)],
  ['never ends its name', Buffer.concat([bzImage(version).subarray(0, 0x601), Buffer.alloc(0x8000, 'x')])],
  ['names a folder above as its release', bzImage(`../../x${version}`)],
  ['names a folder below as its release', bzImage(`x/../../${version}`)],
  ['names itself over several lines', bzImage(`${version}\nmore`)],
])('finds no version in an image that %s', ([, image]) => {
  expect(linuxVersionIn(image)).toBeUndefined();
});
