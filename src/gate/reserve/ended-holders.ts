// Releases testbeds and places in the queue of processes on this host that ended without releasing them.

import { endedEarly } from '../../model/lease-outcome.ts';
import type { ProcessView } from '../../system/process.ts';
import { type HeldTestbed, keys, type LabState, putLogged, type QueueTicket } from './records.ts';
import { giveBack } from './reservation.ts';
import type { Store } from './store/store.ts';

/**
 * Frees a holding like a forced release: under the token that was read; the next holder restores the base. Returns
 * false if there was none.
 */
export async function freeEnded(
  store: Store,
  lab: LabState,
  processes: ProcessView | undefined,
  at: Date,
): Promise<boolean> {
  const ended = await endedIn(lab, processes);
  for (const one of ended) {
    if ('token' in one) await giveBack(store, one, { outcome: heldOutcome, isClean: false }, at);
    else await leaveQueue(store, one, at);
  }
  return ended.length > 0;
}

const heldOutcome = endedEarly('its process ended without releasing the testbed');
const waitedOutcome = endedEarly('its process ended while it waited');

async function leaveQueue(store: Store, ticket: QueueTicket, at: Date): Promise<void> {
  const { id, holder, priority, since, revision } = ticket;
  const logged = { id, testbed: '', holder, priority, waitingSince: since };
  await store.commit({
    conditions: [{ key: keys.ticket(id), revision }],
    put: [putLogged({ ...logged, until: at.toISOString(), outcome: waitedOutcome })],
    remove: [keys.ticket(id)],
  });
}

export const hasAnyEnded = async (lab: LabState, processes: ProcessView | undefined): Promise<boolean> =>
  (await endedIn(lab, processes)).length > 0;

/** True if another holder or waiting request is a process that this one can see. */
export const isAnyHere = (lab: LabState, processes: ProcessView | undefined): boolean =>
  partiesIn(lab).some(
    ({ process }) => process !== undefined && process.view === processes?.own.view && process.pid !== processes.own.pid,
  );

type Party = HeldTestbed | QueueTicket;

async function endedIn(lab: LabState, processes: ProcessView | undefined): Promise<Party[]> {
  if (processes === undefined) return [];
  const parties = partiesIn(lab);
  const areOver = await Promise.all(
    parties.map(async ({ process }) => process !== undefined && processes.hasEnded(process)),
  );
  return parties.filter((_, index) => areOver[index]);
}

/** Lists a holding once, although it is listed at each of its machines. */
const partiesIn = ({ held, tickets }: LabState): Party[] => [
  ...new Map([...held.values()].map((holding) => [holding.id, holding])).values(),
  ...tickets,
];
