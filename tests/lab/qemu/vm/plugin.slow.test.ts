// Tests the plugin that counts a guest's instructions, in QEMU itself and in replacements of several of its versions.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { describeWith } from '../../../needs.ts';

const source = join(import.meta.dirname, '../../../../src/lab/qemu/vm/instructions.c');
const hostSource = join(import.meta.dirname, 'plugin-host.c');

const maxSlots = 2 ** 20;
/** A kernel's code is there; below is userland. */
const kernel = 0xffffffff81000000n;
const userlandSlot = 1n;

/** Functions that QEMU has, and the versions of the interface that it accepts. */
type Interface = { has: number; least: number; most: number };
const interfaces: readonly (readonly [qemu: string, Interface])[] = [
  ['7.2', { has: 1, least: 0, most: 1 }],
  ['9.0', { has: 2, least: 2, most: 2 }],
  ['10.0', { has: 4, least: 2, most: 4 }],
  ['10.2', { has: 5, least: 2, most: 5 }],
  ['11.1', { has: 7, least: 7, most: 7 }],
];
const [[, oldest]] = interfaces as [(typeof interfaces)[number]];
/** A number of code blocks, each this many bytes after the previous one. */
type Run = {
  first: bigint;
  step?: number;
  blocks?: number;
  instructions: number;
  times: number;
};

type Counts = {
  all: bigint;
  slots: Map<bigint, bigint>;
  last: [address: bigint, executed: bigint];
};

/** The plugin's counts after a guest has executed these runs. */
function counted(runs: readonly Run[], qemu = oldest): Counts {
  const folder = temporaryFolder();
  const { status, stderr, path } = played(folder, runs, qemu);
  expect([stderr, status]).toEqual(['', 0]);
  return countsIn(path);
}

function played(folder: string, runs: readonly Run[], { has, least, most }: Interface) {
  const [host, path] = [join(folder, 'host'), join(folder, 'counts')];
  compile(hostSource, host, [`-DINTERFACE=${has}`, '-rdynamic']);
  const lines = runs.map(
    ({ first, step = 0, blocks = 1, instructions, times }) =>
      `${first.toString(16)} ${step} ${blocks} ${instructions} ${times}\n`,
  );
  const args = [String(least), String(most), pluginIn(folder), `counts=${path}`];
  const ran = spawnSync(host, args, { input: lines.join(''), encoding: 'utf8' });
  return { ...ran, path };
}

function pluginIn(folder: string): string {
  const plugin = join(folder, 'plugin.so');
  compile(source, plugin, ['-shared', '-fPIC']);
  return plugin;
}

function compile(path: string, target: string, options: readonly string[]): void {
  const args = ['-O2', '-Wall', '-Wextra', '-Werror', ...options, '-o', target, path];
  const { status, stderr } = spawnSync('gcc', args, { encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
}

function countsIn(path: string): Counts {
  const words = new BigUint64Array(new Uint8Array(readFileSync(path)).buffer);
  const slots = new Map<bigint, bigint>();
  const slot = (index: number): [bigint, bigint] => [words[8 + 2 * index] ?? 0n, words[9 + 2 * index] ?? 0n];
  let taken = 0;
  for (let index = 0; index < maxSlots - 1; index++) {
    const [address, executed] = slot(index);
    if (address === 0n) continue;
    taken++;
    slots.set(address, executed);
  }
  // Each address has one.
  expect(slots.size).toBe(taken);
  return { all: words[0] ?? 0n, slots, last: slot(maxSlots - 1) };
}

describeWith(['gcc'], 'what is counted', () => {
  test.for(interfaces)('is the same with the interface of QEMU %s', ([, qemu]) => {
    const runs = [
      { first: kernel, instructions: 7, times: 1000 },
      { first: kernel + 16n, instructions: 512, times: 3 },
      // QEMU translates a block again, shorter.
      { first: kernel, instructions: 3, times: 100 },
      { first: 0x400000n, instructions: 5, times: 2 },
    ];
    const { all, slots, last } = counted(runs, qemu);
    expect(all).toBe(7300n + 1536n + 10n);
    expect(Object.fromEntries(slots)).toEqual({
      [`${kernel}`]: 7300n,
      [`${kernel + 16n}`]: 1536n,
      [`${userlandSlot}`]: 10n,
    });
    expect(last).toEqual([0n, 0n]);
  });

  test('in the lower half has one slot, however many programs are at random addresses there', () => {
    const { slots, last } = counted([
      { first: 0n, instructions: 1, times: 1 },
      { first: 1n, instructions: 10, times: 1 },
      { first: 0x550000000000n, step: 64, blocks: 2 * maxSlots, instructions: 2, times: 1 },
      { first: (1n << 63n) - 1n, instructions: 100, times: 1 },
      { first: 1n << 63n, instructions: 1000, times: 1 },
    ]);
    // A million of them would take minutes to be shown.
    expect(slots.size).toBe(2);
    expect(slots).toEqual(
      new Map([
        [userlandSlot, BigInt(111 + 4 * maxSlots)],
        [1n << 63n, 1000n],
      ]),
    );
    expect(last).toEqual([0n, 0n]);
  });
});

describeWith(['gcc'], 'a plugin', () => {
  test('writes over no file', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'counts'), 'kept');
    const { status, stderr, path } = played(folder, [], oldest);
    expect([stderr, status]).toEqual(['it answered -1\n', 1]);
    expect(readFileSync(path, 'utf8')).toBe('kept');
  });
});

describeWith(['gcc', 'qemu-system-x86_64'], 'the QEMU of this machine', () => {
  test('counts its firmware, which ends QEMU as it has nothing to boot', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'counts');
    const args = ['-nodefaults', '-display', 'none', '-accel', 'tcg', '-no-reboot'];
    const boot = ['-boot', 'reboot-timeout=0', '-plugin', `${pluginIn(folder)},counts=${path}`];
    const { status, stderr } = spawnSync('qemu-system-x86_64', [...args, ...boot], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect([stderr, status]).toEqual(['', 0]);
    const { all, slots, last } = countsIn(path);
    expect(all).toBeGreaterThan(100_000n);
    expect(slots).toEqual(new Map([[userlandSlot, all]]));
    expect(last).toEqual([0n, 0n]);
  });
});
