// Opens the fake FreeBSD guests as a testbed, with base and patched for them, and trials of pairs.
import { expect } from 'vitest';
import type { Variant } from '../../src/kernel/variant.ts';
import { openVirtualTestbed } from '../../src/lab/qemu/virtual-testbed.ts';
import type { KeepLog, PrepareRequest, Testbed } from '../../src/lab/testbed.ts';
import type { PlannedTrial } from '../../src/model/planned-trial.ts';
import type { Cell } from '../../src/model/scenario.ts';
import { temporaryFolder } from './folder.ts';
import { type FakeGuests, type FakeGuestsOptions, fakeGuests } from './freebsd-guests.ts';
import type { KernelText } from './freebsd-lab/kernel.ts';
import { builtVariant, usualTraffic } from './freebsd-testbed.ts';

export const guestTraffic = { ...usualTraffic, windows: { count: 4, packets: 10_000 } };

export const forwarding: Cell = { scenario: 'forwarding', family: 'inet4' };

export type OnGuestsOptions = FakeGuestsOptions & {
  /** Behaviour of the given kernels; both work if absent. */
  base?: Partial<KernelText>;
  patched?: Partial<KernelText>;
  cells?: readonly Cell[];
};

export type OnGuests = {
  testbed: Testbed;
  guests: FakeGuests;
  /** Kept logs by name. */
  logs: Map<string, string>;
  keepLog: KeepLog;
  send(pair: number, cell?: Cell, ...variants: string[]): ReturnType<Testbed['trial']>;
};

const { signal } = new AbortController();

export const openGuests = (guests: FakeGuests): Promise<Testbed> =>
  openVirtualTestbed('guests', guests.config, guestTraffic, guests.deps, guests.lab);

/** Runs a test on base and patched, restores the testbed, and checks that nothing is left. */
export async function onGuests(
  { base = {}, patched = {}, cells = [forwarding], ...options }: OnGuestsOptions,
  work: (on: OnGuests) => Promise<void>,
): Promise<void> {
  await using guests = fakeGuests(options);
  const testbed = await openGuests(guests);
  const folder = temporaryFolder();
  await prepare(testbed, cells, [
    builtVariant('base', { ident: 'base', ...base }, folder),
    builtVariant('patched', { ident: 'patched', ...patched }, folder),
  ]);
  const logs = new Map<string, string>();
  const keepLog: KeepLog = async (name, content) => void logs.set(name, String(content));
  let number = 0;
  const send: OnGuests['send'] = (pair, cell = forwarding, ...variants) => {
    number += 1;
    return testbed.trial(trialOf(number, pair, cell, variants), keepLog, signal);
  };
  await work({ testbed, guests, logs, keepLog, send });
  await testbed.restore();
  isGivenBack(guests);
}

/** All booted guests have ended, and no login is open. */
export function isGivenBack(guests: FakeGuests): void {
  expect(guests.running()).toEqual([]);
  expect(guests.open).toEqual(new Set());
  expect(guests.times).toEqual({ up: 1, down: 1 });
}

export const prepare = (
  testbed: Testbed,
  cells: readonly Cell[],
  variants: readonly Variant[],
  request: Partial<PrepareRequest> = {},
): ReturnType<Testbed['prepare']> =>
  testbed.prepare({
    variants,
    cells,
    rules: {},
    signal,
    keepLog: async () => {},
    notify() {},
    ...request,
  });

export const trialOf = (number: number, pair: number, cell: Cell, variants: readonly string[]): PlannedTrial => ({
  number,
  cell,
  runs: (variants.length > 0 ? variants : ['base', 'patched']).map((variant, index) => ({
    number: 2 * number + index - 1,
    variant,
    pair,
  })),
});

/** Reboots that a machine was ordered to do. */
export const rebootsOf = ({ journal }: FakeGuests['copies'][number]): number =>
  journal.filter(({ command }) => command === 'shutdown -r now').length;
