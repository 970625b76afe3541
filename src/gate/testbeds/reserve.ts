// Reserves testbeds for this process: waits for one, prepares it, and releases it restored.
import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import { type Config, isOnThisMachine, type TestbedConfig, type Traffic } from '../../config/schema.ts';
import { DutLostError } from '../../lab/freebsd/boot/boot.ts';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { FencedError } from '../../lab/lease/fence.ts';
import { fencedDeps, raiseFences } from '../../lab/lease/testbed-fence.ts';
import { machinesOf } from '../../lab/machines.ts';
import { PowerError } from '../../lab/power/power-controller.ts';
import type { Reserved } from '../../lab/testbed.ts';
import { formatEstimate } from '../../model/format.ts';
import { notUsed } from '../../model/lease-outcome.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { HostError } from '../../system/host/host-error.ts';
import { estimateWaits, healthPurpose, readUsualSeconds, type WaitEstimate } from '../estimate/queue.ts';
import type { FlightLog } from '../flight-log.ts';
import { acquireLease, type Lease, type LeaseDeps } from '../reserve/lease.ts';
import { forgetLease, keepLease } from '../reserve/lease-file.ts';
import {
  type LabState,
  type LoggedReservation,
  type Quarantine,
  type QueueTicket,
  readLog,
} from '../reserve/records.ts';
import { lostOutcome, type ReservationRequest } from '../reserve/reservation.ts';
import { openProcessesOf, openStore, steadySeconds } from '../reserve/store/open.ts';
import { type Store, StoreError } from '../reserve/store/store.ts';
import { openTestbed, realDeps } from './open-testbed.ts';

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
  /** Holds a testbed without preparing it; see `acquireLease`. */
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

  return {
    store,

    async hold(name, request) {
      const testbed = config.testbeds[name];
      const testbeds = new Map(testbed === undefined ? [] : [[name, machinesOf(testbed)]]);
      return acquireLease({ ...request, testbeds }, await leaseDeps());
    },

    async reserve(names, request, directory) {
      const machines = flightLog?.wrap(realDeps) ?? realDeps;
      const deps = { ...(await leaseDeps()), machines, notify };
      const reserved = await reserveTestbed(names, request, config, deps);
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
    },

    [Symbol.asyncDispose]: () => store.close(),
  };
}

type ReserveDeps = LeaseDeps & {
  machines: FreebsdDeps;
  notify(sentence: string): void;
};

export type LeasedTestbed = Reserved & {
  lease: Lease;
  /** Dependencies of a FreeBSD testbed, whose machines obey while the lease is held. */
  depsOf(testbed: FreebsdTestbed): FreebsdDeps;
};

/**
 * Waits for one of the testbeds and prepares it: installs the lease on its machines, and restores the base if the last
 * holder died. Quarantines a testbed that cannot be prepared, and waits on from the same place. Leaves out a
 * misconfigured one. Throws like `acquireLease`, and a MisconfiguredError if none is left.
 */
export async function reserveTestbed(
  names: readonly string[],
  request: Omit<ReservationRequest, 'testbeds'>,
  config: Config,
  deps: ReserveDeps,
): Promise<LeasedTestbed> {
  const testbeds = new Map(
    names.flatMap((name) => {
      const testbed = config.testbeds[name];
      return testbed === undefined ? [] : [[name, machinesOf(testbed)] as const];
    }),
  );
  if (testbeds.size === 0) {
    throw new UsageError(`The configuration has no testbed ${names.join(' or ')}.`);
  }
  let order: number | undefined;
  for (;;) {
    const lease = await acquireLease({ ...request, testbeds }, deps, order);
    order = lease.holding.order;
    const readying = await readied(lease, config, deps).catch(async (error: unknown) => {
      const isClean = lease.holding.leftBy.length === 0;
      await lease.release({ outcome: notUsed(reasonOf(error)), isClean });
      if (error instanceof MisconfiguredError && testbeds.size > 1) return error;
      throw error;
    });
    if (readying instanceof MisconfiguredError) {
      deps.notify(`Continuing without ${lease.testbed}: ${readying.message}`);
      testbeds.delete(lease.testbed);
      continue;
    }
    if (readying === undefined) return leased(lease, config, deps);
    deps.notify(inQuarantine(lease.testbed, readying));
    await lease.release({ outcome: notUsed(readying), isClean: false, quarantine: quarantineFor(readying, deps) });
  }
}

/** Reports a fault of the configuration or this machine; the testbed stays free for others. */
export class MisconfiguredError extends UsageError {}

/** Returns the reason if the testbed cannot be used. Throws a MisconfiguredError. */
async function readied(lease: Lease, config: Config, deps: ReserveDeps): Promise<string | undefined> {
  const testbed = config.testbeds[lease.testbed];
  const { leftBy } = lease.holding;
  if (testbed === undefined) return 'it is not in the configuration';
  try {
    if (leftBy.length === 0) {
      await raiseFences(testbed, lease, deps.machines.connect);
      return undefined;
    }
    const whose = leftBy.map(({ holder }) => holder.who).join(' and ');
    deps.notify(`Restoring ${lease.testbed} to its base: ${whose} did not.`);
    await restoreBase(testbed, lease, config, deps);
    return await troubleOf(testbed, deps);
  } catch (error) {
    deps.signal.throwIfAborted();
    lease.signal.throwIfAborted();
    if (error instanceof HostError && (await isMisconfigured(error, lease, deps.store))) {
      const look = `\`ppsgate testbeds check ${lease.testbed}\` shows details`;
      throw new MisconfiguredError(`${reasonOf(error)} No testbed was quarantined; ${look}.`, { cause: error });
    }
    const isOfTheMachines =
      error instanceof HostError
        ? !isOfController(error.kind)
        : [DutLostError, PowerError, FencedError].some((kind) => error instanceof kind);
    if (isOfTheMachines) return reasonOf(error);
    throw error;
  }
}

/** A machine that never replied probably has a wrong address. A health check only reports it. */
async function isMisconfigured(
  { kind, cause }: HostError,
  { testbed, holding }: Lease,
  store: Store,
): Promise<boolean> {
  if (holding.holder.purpose === healthPurpose) return false;
  if (isOfController(kind)) return true;
  if (kind !== 'unreachable' || holding.leftBy.length > 0) return false;
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOTFOUND') return true;
  const uses = (await readLog(store)).filter((one) => one.testbed === testbed);
  const hasAnswered = ({ holder, outcome = lostOutcome }: LoggedReservation) =>
    outcome !== lostOutcome && !outcome.startsWith(notUsed('')) && holder.purpose !== healthPurpose;
  return !uses.some(hasAnswered);
}

/** Recognizes a wrong key or known_hosts. */
const isOfController = (kind: HostError['kind']): boolean =>
  kind === 'login' || kind === 'login-refused' || kind === 'host-key';

/** Each login raises the fence. The DUT may not be up yet. */
async function restoreBase(testbed: TestbedConfig, lease: Lease, config: Config, deps: ReserveDeps): Promise<void> {
  // Starting the embedded lab removes leftovers.
  if (isOnThisMachine(testbed)) return;
  if (testbed.kind === 'freebsd') {
    const machines = fencedDeps(deps.machines, testbed, lease);
    const { wakeFreebsdTestbed } = await import('../../lab/freebsd/freebsd-testbed.ts');
    await wakeFreebsdTestbed(lease.testbed, testbed, machines);
  }
  await (await openLeased(lease, config.traffic, config, deps)).restore();
}

/** Checks a testbed without changing it. Returns the trouble found. */
async function troubleOf(testbed: TestbedConfig, { machines, notify }: ReserveDeps): Promise<string | undefined> {
  // A cancelled gate still releases a checked testbed.
  const signal = new AbortController().signal;
  const { healthOf, whyUnhealthy } = await import('../../lab/check/health.ts');
  return whyUnhealthy(await Array.fromAsync(healthOf(testbed, { ...machines, notify, signal })));
}

function openLeased(lease: Lease, traffic: Traffic, config: Config, deps: ReserveDeps): ReturnType<Reserved['open']> {
  const { machines, notify } = deps;
  const signal = AbortSignal.any([deps.signal, lease.signal]);
  return openTestbed(lease.testbed, traffic, config, { lease, machines: { ...machines, notify, signal } });
}

function leased(lease: Lease, config: Config, deps: ReserveDeps): LeasedTestbed {
  let notRestored: string | undefined;
  return {
    name: lease.testbed,
    signal: lease.signal,
    lease,
    depsOf: (testbed) => fencedDeps(deps.machines, testbed, lease),

    async open(traffic) {
      const testbed = await openLeased(lease, traffic, config, deps);
      return {
        ...testbed,
        // The measurements stay valid: a testbed that could not be restored is reported at release.
        async restore() {
          await testbed.restore().catch((error: unknown) => {
            notRestored = reasonOf(error);
          });
        },
      };
    },

    async giveBack(outcome) {
      const testbed = config.testbeds[lease.testbed];
      if (lease.signal.aborted || testbed === undefined) return undefined;
      try {
        const trouble = notRestored ?? (await troubleOf(testbed, deps));
        const quarantine = trouble === undefined ? undefined : quarantineFor(trouble, deps);
        await lease.release({ outcome, isClean: trouble === undefined, quarantine });
        return trouble === undefined ? undefined : inQuarantine(lease.testbed, trouble);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        return `${lease.testbed} becomes free only after ${deps.leaseSeconds} s: ${error.message}`;
      }
    },
  };
}

const inQuarantine = (testbed: string, trouble: string): string =>
  `${testbed} is now in quarantine: ${trouble} Once it is fixed, lift the quarantine with \`ppsgate quarantine ${testbed} --lift\`.`;

/** Marks automatic quarantines; a check may lift only these. */
export const ppsgateItself = 'ppsgate';

const quarantineFor = (reason: string, { date }: ReserveDeps): Quarantine => ({
  reason,
  by: ppsgateItself,
  since: date().toISOString(),
});

/** User and host of this process: `alice@lab1`. In a container, the user may have no name. */
export function whoami(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `user ${process.getuid?.()}@${hostname()}`;
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
