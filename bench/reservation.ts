// Measures idle time of testbeds between two holders and the cost of reserving with 50 contenders.
// By hand: node bench/reservation.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { ReservationsConfig } from '../src/config/reservations.ts';
import { acquireLease } from '../src/gate/reserve/lease.ts';
import { openStore, steadySeconds } from '../src/gate/reserve/store/open.ts';
import { startEtcd } from '../tests/fakes/etcd.ts';

const contenders = 50;

/** Moments of one reservation, in seconds of the clock that all processes share. */
type Turn = { token: number; asked: number; taken: number; releasing: number; released: number };

export async function benchReservation(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  await using etcd = await startEtcd();
  try {
    const stores: ReservationsConfig[] = [
      { store: 'sqlite', path: join(folder, 'reservations.sqlite'), leaseSeconds: 30 },
      { store: 'etcd', endpoints: etcd.endpoints, prefix: '/bench/', leaseSeconds: 30 },
    ];
    const lines: string[] = [];
    for (const config of stores) {
      lines.push(costLine(config.store, await measure(config, 'own')));
      lines.push(handOverLine(config.store, await measure(config, 'one')));
    }
    return lines;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each on a separate testbed at some pace, or all after the same one. */
type Race = 'own' | 'one';
const rounds: Record<Race, number> = { own: 4, one: 3 };
/** Fifty reservations in so many seconds, some ten a second: a lab has one in minutes. */
const paceSeconds = 10;

/** `bare` are the times of bare hand-overs during the race: what this machine allows in these minutes. */
type Measured = { turns: Turn[]; bare: number[] };

async function measure(config: ReservationsConfig, race: Race): Promise<Measured> {
  const children = Array.from({ length: contenders }, (_, index) =>
    spawn(process.execPath, [import.meta.filename, 'contend', JSON.stringify(config), race, String(index)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const said = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]());
  // Waits until all are up: starting fifty processes is not measured.
  for (const lines of said) await lines.next();
  for (const child of children) child.stdin.end('go\n');
  const over = new AbortController();
  const bare = bareHandOvers(config, over.signal);
  const turns = await Promise.all(
    said.map(async (lines, index) => {
      const { value } = await lines.next();
      const child = children[index];
      if (child?.exitCode === null) await once(child, 'exit');
      return JSON.parse(value ?? '[]') as Turn[];
    }),
  );
  over.abort();
  return { turns: turns.flat(), bare: await bare };
}

async function contend(config: ReservationsConfig, race: Race, index: number): Promise<void> {
  await using store = Object.assign(await openStore(config), {
    [Symbol.asyncDispose]: () => store.close(),
  });
  // The built program gets these without an import, which takes 20 ms.
  await Promise.all([import('node:http'), import('node:https')]);
  console.log('ready');
  await once(process.stdin, 'data');
  const testbed = race === 'own' ? `testbed-${index}` : 'the-one';
  const turns: Turn[] = [];
  for (let round = 0; round < rounds[race]; round += 1) {
    if (race === 'own') await setTimeout(Math.random() * paceSeconds * 1000);
    const asked = steadySeconds();
    const lease = await acquireLease(
      {
        testbeds: new Map([[testbed, [`${testbed}:22`]]]),
        priority: 'patch',
        holder: { who: `contender ${index}`, purpose: 'bench' },
      },
      {
        store,
        leaseSeconds: config.leaseSeconds,
        now: steadySeconds,
        date: () => new Date(),
        sleep: async (seconds, signal) => setTimeout(seconds * 1000, undefined, { signal }),
        randomId: () => `${String(index).padStart(2, '0')}-${String(round).padStart(4, '0')}`,
        signal: new AbortController().signal,
        onWait() {},
      },
    );
    const taken = steadySeconds();
    if (race === 'one') await setTimeout(250);
    const releasing = steadySeconds();
    await lease.release({ outcome: 'ended', isClean: true });
    turns.push({ token: lease.token, asked, taken, releasing, released: steadySeconds() });
  }
  console.log(JSON.stringify(turns));
}

/**
 * Times bare hand-overs between two connections until the signal aborts: a commit, its notification, and a commit in
 * response. On another file or prefix, they share only the machine with the contenders.
 */
async function bareHandOvers(config: ReservationsConfig, signal: AbortSignal): Promise<number[]> {
  const own = config.store === 'sqlite' ? { ...config, path: `${config.path}-bare` } : { ...config, prefix: '/bare/' };
  const [giver, taker] = [await openStore(own), await openStore(own)];
  const put = { conditions: [], put: [{ key: 'lab/bare/one', value: '' }], remove: [] };
  const times: number[] = [];
  while (!signal.aborted) {
    await setTimeout(250);
    const since = (await giver.commit(put)) ?? 0;
    const removed = taker.changed(since, new AbortController().signal, 'lab/bare/');
    await setTimeout(50);
    const start = steadySeconds();
    await giver.commit({ conditions: [], put: [], remove: ['lab/bare/one'] });
    await removed;
    await taker.commit(put);
    times.push(steadySeconds() - start);
  }
  await Promise.all([giver.close(), taker.close()]);
  return times;
}

const costGoals: Record<string, string> = { etcd: '; goal: p99 below 100 ms' };

function costLine(store: string, { turns, bare }: Measured): string {
  const both = turns.map(({ asked, taken, releasing, released }) => taken - asked + released - releasing);
  return `reservation, ${store}, acquire + release with ${contenders} contenders, about ${(2 * contenders) / paceSeconds} a second: ${compared(both, bare)}${costGoals[store] ?? ''})`;
}

const handOverGoals: Record<string, string> = { sqlite: '25 ms', etcd: '50 ms' };

function handOverLine(store: string, { turns, bare }: Measured): string {
  const inOrder = turns.toSorted((a, b) => a.token - b.token);
  const gaps = inOrder.slice(1).map(({ taken }, index) => taken - (inOrder[index]?.releasing ?? 0));
  return `reservation, ${store}, from release to the next holder's start with ${contenders} contenders: ${compared(gaps, bare)}; goal: p99 below ${handOverGoals[store]})`;
}

function compared(times: readonly number[], bare: readonly number[]): string {
  const both = (values: readonly number[]) =>
    `p50 ${milliseconds(percentile(values, 0.5))}, p99 ${milliseconds(percentile(values, 0.99))}`;
  return `${both(times)} (${times.length} of them; bare hand-overs meanwhile: ${both(bare)}`;
}

const milliseconds = (seconds: number): string => `${(seconds * 1000).toFixed(1)} ms`;

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

if (import.meta.main) {
  const [role, config = '', race, index] = process.argv.slice(2);
  if (role === 'contend') await contend(JSON.parse(config), race as Race, Number(index));
  else for (const line of await benchReservation()) console.log(line);
}
