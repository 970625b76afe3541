// Runs `ppsgate quarantine`.

import { loadConfig } from '../../config/load.ts';
import { type Quarantine, readLab } from '../../gate/reserve/records.ts';
import { liftQuarantine, setQuarantine } from '../../gate/reserve/reservation.ts';
import { openStore } from '../../gate/reserve/store/open.ts';
import type { Store } from '../../gate/reserve/store/store.ts';
import { aimOf } from '../../gate/reserve/testbeds-overview.ts';
import { whoami } from '../../gate/testbeds/reserve.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { UsageError } from '../../model/usage-error.ts';
import { configPath, namedTestbed } from '../find-config.ts';
import { clockText, oneLine, print } from '../table.ts';

type QuarantineOptions = { config?: string; reason?: string; lift?: true };

export async function run(name: string, { config: given, reason, lift }: QuarantineOptions): Promise<number> {
  const path = configPath(given);
  const config = await loadConfig(path);
  namedTestbed(config, path, name);
  if ((reason === undefined) === (lift === undefined) || reason?.trim() === '') {
    throw new UsageError(`Give the reason for the quarantine of ${name} with --reason TEXT, or lift it with --lift.`);
  }
  const store = await openStore(config.reservations);
  try {
    const sentences = reason === undefined ? await liftFrom(store, name) : await putInto(store, name, reason);
    for (const sentence of sentences) print(oneLine(sentence));
    return exitCodes.pass;
  } finally {
    await store.close();
  }
}

async function putInto(store: Store, name: string, reason: string): Promise<string[]> {
  const { quarantines, held } = await readLab(store);
  await setQuarantine(store, name, { reason, by: whoami(), since: new Date().toISOString() });
  const before = quarantines.get(name);
  const holding = held.values().find(({ testbed }) => testbed === name);
  return [
    `${name} is in quarantine and cannot be reserved until \`ppsgate quarantine ${name} --lift\`.`,
    ...(before === undefined ? [] : [`It was already: ${describe(before)}.`]),
    ...(holding === undefined ? [] : [`${holding.holder.who} holds it (${aimOf(holding.holder)}), and keeps it.`]),
  ];
}

async function liftFrom(store: Store, name: string): Promise<string[]> {
  const before = (await readLab(store)).quarantines.get(name);
  const isLifted = await liftQuarantine(store, name);
  if (before === undefined || !isLifted) return [`${name} is not in quarantine.`];
  return [`${name} is available again; it was in quarantine: ${describe(before)}.`];
}

const describe = ({ reason, by, since }: Quarantine): string =>
  `${reason.replace(/\.$/, '')} (${by}, ${clockText(since, new Date())})`;
