// Reserves testbeds one after the other, and uses their machines. Its plan is its only argument; a line on its stdin
// stops it like SIGSTOP.
import { setTimeout } from 'node:timers/promises';
import type { ReservationsConfig } from '../../src/config/reservations.ts';
import type { LinuxTestbed } from '../../src/config/schema.ts';
import { acquireLease, type Lease, LeaseLostError, NotReservedError } from '../../src/gate/reserve/lease.ts';
import { steadySeconds } from '../../src/gate/reserve/store/open.ts';
import { StoreError } from '../../src/gate/reserve/store/store.ts';
import { connectTo } from '../../src/lab/connect.ts';
import { FencedError } from '../../src/lab/lease/fence.ts';
import { fencedConnect, raiseFences } from '../../src/lab/lease/testbed-fence.ts';
import { machinesOf } from '../../src/lab/machines.ts';
import type { Priority } from '../../src/model/priority.ts';
import { HostError } from '../../src/system/host/host-error.ts';
import { openContending, type Sign, say } from './contending.ts';
import { useBy } from './machine-log.ts';

export type ContenderPlan = {
  name: string;
  reservations: ReservationsConfig;
  testbeds: Readonly<Record<string, LinuxTestbed>>;
  turns: readonly Turn[];
  /** Stops when its lease is over, or only when machines refuse it. */
  heeds: 'lease' | 'fence';
};

export type Turn = {
  /** Any of these. */
  wants: readonly string[];
  priority: Priority;
  /** Pauses between its uses of all machines; there is one more use than pauses. */
  pausesMilliseconds: readonly number[];
};

export type ContenderSays =
  | Sign
  | { kind: 'holds'; testbed: string; token: number }
  /** Is about to use all machines. */
  | { kind: 'uses' }
  /** Is about to stop itself. */
  | { kind: 'stops' }
  /** Has used and released the testbed. */
  | { kind: 'done'; testbed: string; token: number }
  /** Starts over. */
  | { kind: 'failed'; error: string; message: string; secondsAfterRenewal: number };

const plan: ContenderPlan = JSON.parse(process.argv[2] ?? '');
const { name, reservations, testbeds, turns, heeds } = plan;
await using contending = await openContending(reservations, notify);
// A signal may interrupt a write to an SQLite store, which stays locked while this process is stopped.
process.stdin.on('data', () => {
  notify({ kind: 'stops' });
  process.kill(process.pid, 'SIGSTOP');
});
for (const turn of turns) while (!(await isTaken(turn)));
process.stdin.destroy();

async function isTaken({ wants, priority, pausesMilliseconds }: Turn): Promise<boolean> {
  const wanted = wants.map((name) => [name, machinesOf(testbedNamed(name))] as const);
  const holder = { who: name, purpose: 'chaos' };
  try {
    const lease = await acquireLease({ testbeds: new Map(wanted), priority, holder }, contending.deps);
    const { testbed, token } = lease;
    notify({ kind: 'holds', testbed, token });
    await use(lease, pausesMilliseconds);
    await lease.release({ outcome: 'used', isClean: true });
    notify({ kind: 'done', testbed, token });
    return true;
  } catch (error) {
    const known = [LeaseLostError, NotReservedError, FencedError, StoreError, HostError];
    if (!(error instanceof Error && known.some((kind) => error instanceof kind))) throw error;
    const secondsAfterRenewal = steadySeconds() - contending.renewedAt();
    notify({ kind: 'failed', error: error.name, message: error.message, secondsAfterRenewal });
    return false;
  }
}

async function use(lease: Lease, pausesMilliseconds: readonly number[]): Promise<void> {
  const testbed = testbedNamed(lease.testbed);
  const fence = heeds === 'lease' ? lease : { token: lease.token, assertHeld() {} };
  await raiseFences(testbed, fence, connectTo);
  const connect = fencedConnect(connectTo, fence);
  await using dut = await connect(testbed.dut, 'DUT');
  await using sender = await connect(testbed.sender, 'sender');
  for (const pause of [...pausesMilliseconds, 0]) {
    notify({ kind: 'uses' });
    await Promise.all([dut, sender].map((host) => host.output(useBy(lease.token))));
    await setTimeout(pause);
  }
}

function testbedNamed(name: string): LinuxTestbed {
  const testbed = testbeds[name];
  if (testbed === undefined) throw new Error(`There is no testbed ${name}.`);
  return testbed;
}

function notify(saying: ContenderSays): void {
  say(saying);
}
