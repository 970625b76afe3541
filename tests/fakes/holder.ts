// Reserves a testbed, and holds it until a line on its stdin. Its plan is its only argument.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { ReservationsConfig } from '../../src/config/reservations.ts';
import { acquireLease, type Lease } from '../../src/gate/reserve/lease.ts';
import { giveBack } from '../../src/gate/reserve/reservation.ts';
import { steadySeconds } from '../../src/gate/reserve/store/open.ts';
import { openContending, type Sign, say } from './contending.ts';

export type HolderPlan = { name: string; reservations: ReservationsConfig; testbed: string };

export type HolderSays =
  | Sign
  | { kind: 'holds'; token: number }
  /** Released, after asking this side and the store whether it still held it. */
  | { kind: 'released' }
  | Lost
  /** The store's answer to its return. */
  | { kind: 'refused'; isRenewed: boolean; isGivenBack: boolean };

export type Lost = {
  kind: 'lost';
  message: string;
  renewedAt: number;
  /** Total time since then during which this process was suspended. */
  stallSeconds: number;
};

const tickMilliseconds = 20;

const { name, reservations, testbed }: HolderPlan = JSON.parse(process.argv[2] ?? '');
await using contending = await openContending(reservations, notify);
const stall = watchStalls();
const lines = createInterface(process.stdin);
const told = once(lines, 'line');
const testbeds = new Map([[testbed, [testbed]]]);
const holder = { who: name, purpose: 'chaos' };
const lease = await acquireLease({ testbeds, priority: 'patch', holder }, contending.deps);
notify({ kind: 'holds', token: lease.token });
const lost = once(lease.signal, 'abort');
await Promise.race([told, lost]);
if (lease.signal.aborted) await comeBack(lease);
else await release(lease);
lines.close();
stall.close();

async function release(lease: Lease): Promise<void> {
  await lease.prove();
  await lease.release({ outcome: 'held', isClean: true });
  notify({ kind: 'released' });
}

/** Acts like a process that missed its end: retries until the store replies. */
async function comeBack(lease: Lease): Promise<void> {
  const at = steadySeconds();
  const { store } = contending.deps;
  const renewedAt = contending.renewedAt();
  const { message } = lease.signal.reason;
  say({ at, kind: 'lost', message, renewedAt, stallSeconds: stall.secondsSince(renewedAt) });
  for (;;) {
    try {
      const isRenewed = await store.renew(lease.session);
      const ending = { outcome: 'held', isClean: true };
      const isGivenBack = await giveBack(store, lease.holding, ending, new Date());
      return notify({ kind: 'refused', isRenewed, isGivenBack });
    } catch {
      await setTimeout(tickMilliseconds);
    }
  }
}

/** Adds up how late ticks are, as each may delay a timer. */
function watchStalls() {
  const ticks = [steadySeconds()];
  const timer = setInterval(() => ticks.push(steadySeconds()), tickMilliseconds);
  return {
    close: () => clearInterval(timer),
    secondsSince(start: number): number {
      const seen = [...ticks, steadySeconds()].filter((tick) => tick > start);
      const gaps = seen.slice(1).map((tick, index) => tick - (seen[index] ?? tick));
      const late = gaps.map((gap) => Math.max(0, gap - tickMilliseconds / 1000));
      return late.reduce((sum, seconds) => sum + seconds, tickMilliseconds / 1000);
    },
  };
}

function notify(saying: HolderSays): void {
  say(saying);
}
