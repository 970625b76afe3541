// Reserves testbeds for this process, with the store of ppsgate.yml and the real clock.
import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../config/schema.ts';
import { machinesOf } from '../../lab/machines.ts';
import { formatEstimate } from '../../model/format.ts';
import { estimateWaits, readUsualSeconds, type WaitEstimate } from '../estimate/queue.ts';
import type { FlightLog } from '../flight-log.ts';
import { type Lease, type LeaseDeps, reserve } from '../reserve/lease.ts';
import { forgetLease, keepLease } from '../reserve/lease-file.ts';
import type { LabState, QueueTicket } from '../reserve/records.ts';
import type { ReservationRequest } from '../reserve/reservation.ts';
import { openProcessesOf, openStore, steadySeconds } from '../reserve/store/open.ts';
import type { Store } from '../reserve/store/store.ts';
import { realDeps } from './open-testbed.ts';
import { type LeasedTestbed, reserveTestbed } from './reserve.ts';

type ReservationsOptions = {
  signal: AbortSignal;
  /** Receives sentences for people. */
  notify(sentence: string): void;
  onWait(estimate: WaitEstimate, text: string): void;
  flightLog?: FlightLog | undefined;
};

type Reservations = AsyncDisposable & {
  store: Store;
  /** See `reserveTestbed`. The lease file exists in `directory` while the testbed is held. */
  reserve(
    names: readonly string[],
    request: Omit<ReservationRequest, 'testbeds'>,
    directory?: string,
  ): Promise<LeasedTestbed>;
  /** Holds a testbed without preparing it; see `reserve` of lease.ts. */
  hold(name: string, request: Omit<ReservationRequest, 'testbeds'>): Promise<Lease>;
};

export async function openReservations(
  config: Config,
  { signal, notify, onWait, flightLog }: ReservationsOptions,
): Promise<Reservations> {
  const { reservations } = config;
  const store = await openStore(reservations);
  const processes = await openProcessesOf(reservations);

  const leaseDeps = async (): Promise<LeaseDeps> => {
    const usualSeconds = await readUsualSeconds(store, new Date());
    let last = '';
    return {
      store,
      leaseSeconds: reservations.leaseSeconds,
      now: steadySeconds,
      date: () => new Date(),
      sleep: async (seconds, until) => setTimeout(seconds * 1000, undefined, { signal: until }),
      randomId: () => randomBytes(4).toString('hex'),
      processes,
      signal,
      onWait({ lab, ticket }) {
        const estimate = estimateWaits(lab, usualSeconds, new Date()).get(ticket.id);
        if (estimate === undefined) return;
        // The remaining time changes constantly, so it does not justify a message.
        const news = waitText(lab, ticket, { place: estimate.place, of: estimate.of });
        if (news !== last) onWait(estimate, waitText(lab, ticket, estimate));
        last = news;
      },
    };
  };

  const kept = async (reserved: LeasedTestbed, directory?: string): Promise<LeasedTestbed> => {
    if (directory === undefined) return reserved;
    await keepLease(directory, reserved.lease, reservations);
    return {
      ...reserved,
      async giveBack(outcome) {
        const trouble = await reserved.giveBack(outcome);
        await forgetLease(directory);
        return trouble;
      },
    };
  };

  return {
    store,

    async hold(name, request) {
      const testbed = config.testbeds[name];
      const testbeds = new Map(testbed === undefined ? [] : [[name, machinesOf(testbed)]]);
      return reserve({ ...request, testbeds }, await leaseDeps());
    },

    async reserve(names, request, directory) {
      const machines = flightLog?.wrap(realDeps) ?? realDeps;
      const deps = { ...(await leaseDeps()), machines, notify };
      return kept(await reserveTestbed(names, request, config, deps), directory);
    },

    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** User and host of this process: `alice@lab1`. */
export const whoami = (): string => `${userName()}@${hostname()}`;

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}

/** `waiting for hp-t540 or rcc-ve: 2 of 3 in line, about 40 min; hp-t540 is held by alice@lab1 (#12)`. */
function waitText(lab: LabState, ticket: QueueTicket, estimate: WaitEstimate): string {
  const { place, of, expectedSeconds } = estimate;
  const wait = expectedSeconds === undefined ? '' : `, ${formatEstimate(expectedSeconds)}`;
  const machines = new Set([...ticket.wants.values()].flat());
  const rivals = [...lab.held.values()].filter((holding) => holding.machines.some((machine) => machines.has(machine)));
  const holders = new Map(
    rivals.map(({ testbed, holder: { who, patch, purpose } }) => [
      testbed,
      `${testbed} is held by ${who} (${patch ?? purpose})`,
    ]),
  );
  const line = `waiting for ${[...ticket.wants.keys()].join(' or ')}: ${place} of ${of} in line${wait}`;
  return [line, ...holders.values()].join('; ');
}
