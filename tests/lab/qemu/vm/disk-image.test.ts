// Disk images by the bytes of their headers, as QEMU's docs/interop/qcow2.txt describes them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDiskImage } from '../../../../src/lab/qemu/vm/disk-image.ts';
import { UsageError } from '../../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';

type Header = {
  version?: number;
  backingFileAt?: number;
  incompatible?: number;
  extensions?: readonly (readonly [type: number, content: string])[];
};

function qcow2({ version = 3, backingFileAt = 0, incompatible = 0, extensions = [] }: Header) {
  const header = Buffer.alloc(64 * 1024);
  header.write('QFI\xfb', 0, 'latin1');
  header.writeUInt32BE(version, 4);
  header.writeBigUInt64BE(BigInt(backingFileAt), 8);
  header.writeUInt32BE(backingFileAt === 0 ? 0 : 11, 16);
  header.write('/etc/shadow', 0x800);
  if (version === 3) {
    header.writeBigUInt64BE(BigInt(incompatible), 72);
    header.writeUInt32BE(104, 100);
  }
  let at = version === 3 ? 104 : 72;
  for (const [type, content] of extensions) {
    header.writeUInt32BE(type, at);
    header.writeUInt32BE(content.length, at + 4);
    header.write(content, at + 8);
    at += 8 + Math.ceil(content.length / 8) * 8;
  }
  return header;
}

function imageOf(content: string | Buffer): string {
  const path = join(temporaryFolder(), 'disk, 1.img');
  writeFileSync(path, content);
  return path;
}

async function nodeOf(path: string): Promise<unknown> {
  await using image = await openDiskImage(path);
  const drive = image.qemuArguments.find((word) => word.startsWith('if=none')) ?? '';
  return JSON.parse(/file=json:(.*),snapshot=on/.exec(drive)?.[1]?.replaceAll(',,', ',') ?? '');
}

async function refusal(path: string): Promise<string> {
  const error = await openDiskImage(path).catch((reason: unknown) => reason);
  if (error instanceof UsageError) return error.message;
  throw new Error('The image was opened.');
}

const name = [0x6803f857, 'feature names'] as const;
const dataFile = [0x44415441, '/etc/shadow'] as const;
const externalData = 0b100;

test.for<[string, Buffer, string]>([
  ['names a backing file', qcow2({ backingFileAt: 0x800 }), 'names a backing file'],
  ['names one in version 2', qcow2({ version: 2, backingFileAt: 0x800 }), 'names a backing file'],
  ['names one beyond its header', qcow2({ backingFileAt: 2 ** 40 }), 'names a backing file'],
  ['has a data file by a bit', qcow2({ incompatible: externalData }), 'keeps its data in another file'],
  ['has one by a bit among others', qcow2({ incompatible: externalData | 1 }), 'keeps its data in another file'],
  ['has one by name', qcow2({ extensions: [name, dataFile] }), 'keeps its data in another file'],
  ['has one by name in version 2', qcow2({ version: 2, extensions: [dataFile] }), 'keeps its data in another file'],
  ['is cut within its header', qcow2({}).subarray(0, 90), 'ends within its header'],
  ['is of a later version', qcow2({ version: 4 }), 'has version 4 of its format'],
  ['is of the format before', qcow2({ version: 1 }), 'has version 1 of its format'],
])('A qcow2 image that %s is refused, as QEMU would open other files as root', async ([, header, why]) => {
  expect(await refusal(imageOf(header))).toContain(why);
});

test.for<Header>([{}, { version: 2 }, { incompatible: 1, extensions: [name] }])(
  'A qcow2 image of one file is told to be one, and to have no backing file: %j',
  async (header) => {
    expect(await nodeOf(imageOf(qcow2(header)))).toEqual({
      driver: 'qcow2',
      backing: null,
      file: { driver: 'file', filename: '/dev/fdset/1' },
    });
  },
);

test.for<[string, string]>([
  ['a descriptor of VMDK', '# Disk DescriptorFile\nversion=1\nRW 9 FLAT "/etc/shadow" 0\n'],
  ['a header of VMDK', `KDMV${'\0'.repeat(600)}`],
  ['a header of QED', `QED\0${'\xff'.repeat(600)}`],
  ['nothing', ''],
])('A file that begins like %s is told to be raw', async ([, content]) => {
  expect(await nodeOf(imageOf(content))).toEqual({
    driver: 'raw',
    file: { driver: 'file', filename: '/dev/fdset/1' },
  });
});

test('A disk that cannot grow is an error of the guest, which continues', async () => {
  await using image = await openDiskImage(imageOf(''));
  expect(image.qemuArguments.join(' ')).toContain('werror=report');
});
