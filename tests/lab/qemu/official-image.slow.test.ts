// Tests unsuitable official images, and one that was prepared before.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OfficialImage } from '../../../src/config/virtual-testbed.ts';
import { preparedImage } from '../../../src/lab/qemu/official-image.ts';
import type { Guest } from '../../../src/lab/qemu/vm/guest.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const megabyte = 1024 ** 2;

/** A disk of one mebibyte with the header of a GPT, which contains the length of the disk. */
function gptDisk(wholeBytes = megabyte): Buffer {
  const disk = Buffer.alloc(megabyte);
  disk.write('EFI PART', 512, 'latin1');
  disk.writeBigUInt64LE(BigInt(wholeBytes / 512 - 1), 512 + 32);
  return disk;
}

const xz = (input: Buffer) => execFileSync('xz', ['--stdout', '-0'], { input });

const sha512 = (path: string) => createHash('sha512').update(readFileSync(path)).digest('hex');

/** Prepares it in a laboratory whose guests end at once. */
function prepareIn(
  folder: string,
  image: Partial<OfficialImage> & { path: string },
  { guest = guestThatEnds, signal = new AbortController().signal } = {},
) {
  const booted: Buffer[] = [];
  const said: string[] = [];
  const lab = {
    async bootToPrepare(path: string): Promise<Guest> {
      booted.push(readFileSync(path));
      return guest;
    },
  };
  const preparing = preparedImage(
    { bootSeconds: 60, ...image },
    { lab, folder: join(folder, 'images'), notify: (text) => said.push(text), signal },
  );
  return { preparing, booted, said };
}

const guestThatEnds: Guest = {
  number: 1,
  address: { host: '127.0.0.1', port: 1 },
  interfaces: { sender: 'none', receiver: 'none' },
  ...{ counts: undefined, cpuThread: '', consoleInput: undefined },
  ended: Promise.resolve('it said nothing'),
  console: () => '',
  listen: () => () => {},
  ...{ pinTo: async () => {}, interrupt: async () => {}, reset: async () => {}, stop: async () => {} },
};

async function refusalOf(folder: string, image: Partial<OfficialImage> & { path: string }) {
  const { preparing, booted } = prepareIn(folder, image);
  const error: unknown = await preparing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  return { message: String((error as Error).message), booted };
}

test.each([
  ['of another SHA-512', 'FreeBSD.raw', gptDisk, 'has the SHA-512 '],
  ['that was cut off', 'FreeBSD.raw.xz', () => xz(gptDisk()).subarray(0, 200), 'Unexpected end of input'],
] as const)('A file %s is refused before a guest boots.', async (_, name, content, why) => {
  const folder = temporaryFolder();
  const path = join(folder, name);
  writeFileSync(path, content());
  const sha512 = name === 'FreeBSD.raw' ? { sha512: '0'.repeat(128) } : {};
  const { message, booted } = await refusalOf(folder, { path, ...sha512 });
  expect(message).toContain(why);
  expect(booted).toEqual([]);
});

test.each([
  ['FreeBSD.raw', (disk: Buffer) => disk],
  ['FreeBSD.raw.xz', xz],
  ['FreeBSD.raw.zst', (input: Buffer) => execFileSync('zstd', ['--stdout', '-1'], { input })],
])('A guest boots the content of %s, and one that ends leaves nothing.', async (name, packed) => {
  const folder = temporaryFolder();
  const path = join(folder, name);
  const disk = gptDisk();
  // A hole at the end is of the disk, too.
  disk.write('not empty', megabyte / 2);
  writeFileSync(path, packed(disk));
  const { message, booted } = await refusalOf(folder, { path });
  expect(booted.map((one) => one.equals(disk))).toEqual([true]);
  expect(message).toContain('could not be prepared: its QEMU has ended (it said nothing)');
  expect(readdirSync(join(folder, 'images'))).toEqual([]);
});

test('A gate that is cancelled ends the guest that is prepared, and keeps nothing.', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'FreeBSD.raw');
  writeFileSync(path, gptDisk());
  const over = Promise.withResolvers<string>();
  const guest: Guest = {
    ...guestThatEnds,
    ended: over.promise,
    stop: async () => over.resolve('it was ended'),
  };
  const cancelled = new AbortController();
  const { preparing, said } = prepareIn(folder, { path }, { guest, signal: cancelled.signal });
  await expect.poll(() => said.length).toBe(3);
  cancelled.abort(new Error('Ctrl-C'));
  await expect(preparing).rejects.toThrow('Ctrl-C');
  expect(readdirSync(join(folder, 'images'))).toEqual([]);
});

test('An image that was prepared before is not booted again.', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'FreeBSD.raw');
  writeFileSync(path, gptDisk());
  const kept = join(folder, 'images', `${sha512(path)}-1`);
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  writeFileSync(join(kept, 'host-key'), 'ssh-ed25519 AAAA\n');
  const { preparing, booted } = prepareIn(folder, { path, sha512: sha512(path) });
  expect(await preparing).toEqual({
    path: join(kept, 'disk'),
    privateKeyPath: join(kept, 'key'),
    hostKey: 'ssh-ed25519 AAAA',
    bootSeconds: 60,
  });
  expect(booted).toEqual([]);
});
