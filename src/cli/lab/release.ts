// Runs `ppsgate release`.

import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { directoriesWithLease, releaseLeft } from '../../gate/reserve/lease-file.ts';
import { type HeldTestbed, type LabState, readLab } from '../../gate/reserve/records.ts';
import { giveBack } from '../../gate/reserve/reservation.ts';
import { openStore } from '../../gate/reserve/store/open.ts';
import { aimOf } from '../../gate/reserve/testbeds-overview.ts';
import { whoami } from '../../gate/testbeds/reserve.ts';
import { machinesOf } from '../../lab/machines.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { UsageError } from '../../model/usage-error.ts';
import { configPath, namedTestbed } from '../find-config.ts';
import { type AskPerson, askOnTerminal } from '../prompt.ts';
import type { Call } from '../run.ts';
import { clockText, oneLine, print } from '../table.ts';

type ReleaseOptions = {
  config?: string;
  force?: true;
  by?: string;
  yes?: true;
  directory?: string;
};

export const run = (name: string | undefined, options: ReleaseOptions, { signal }: Call): Promise<number> =>
  runRelease(name, options, askOnTerminal(signal));

export async function runRelease(name: string | undefined, options: ReleaseOptions, ask: AskPerson): Promise<number> {
  const { directory, force } = options;
  if (name === undefined && directory) return releaseDirectory(resolve(directory));
  if (name === undefined || directory !== undefined) {
    throw new UsageError(
      'Name a testbed or a directory: `ppsgate release NAME --force`, or `ppsgate release --directory DIR` with the work directory of a gate.',
    );
  }
  if (force === undefined) {
    throw new UsageError(`${name} is released by its holder; to take it from the holder, add --force.`);
  }
  return takeByForce(name, options, ask);
}

async function releaseDirectory(directory: string): Promise<number> {
  await access(directory).catch(() => {
    throw new UsageError(`--directory: ${directory} does not exist: name the work directory of a gate.`);
  });
  const left = await directoriesWithLease(directory);
  const released = await Promise.allSettled(left.map((own) => releaseLeft(own, new Date())));
  const held = released.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []));
  for (const testbed of held) {
    print(`${testbed} is released; its next holder restores its base.`);
  }
  const failure = released.find((one) => one.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  if (held.length === 0) print(`The gate of ${directory} holds no testbed.`);
  return exitCodes.pass;
}

async function takeByForce(name: string, options: ReleaseOptions, ask: AskPerson): Promise<number> {
  const path = configPath(options.config);
  const config = await loadConfig(path);
  const store = await openStore(config.reservations);
  try {
    const lab = await readLab(store);
    const holding = lab.held.values().find(({ testbed }) => testbed === name);
    if (holding === undefined) {
      print(whyNotHeld(name, machinesOf(namedTestbed(config, path, name)), lab));
      return exitCodes.pass;
    }
    const taker = await confirmed(holding, options, ask);
    if (taker === undefined) {
      print(`${name} is still held by ${oneLine(holding.holder.who)}.`);
      return exitCodes.pass;
    }
    // Applies only to this holder, as another may have come during the prompt.
    const outcome = `taken away by ${taker}`;
    const isTaken = await giveBack(store, holding, { outcome, isClean: false }, new Date());
    const who = oneLine(holding.holder.who);
    print(
      isTaken
        ? `${name} was taken from ${who}; its next holder restores its base.`
        : `${name} was not taken: ${who} no longer holds it.`,
    );
    return exitCodes.pass;
  } finally {
    await store.close();
  }
}

function whyNotHeld(name: string, machines: readonly string[], { held }: LabState): string {
  const other = machines.map((machine) => held.get(machine)).find((one) => one !== undefined);
  return other === undefined
    ? `${name} is free.`
    : `${name} is free, but ${consequence(other)}, and the two share a machine.`;
}

const consequence = ({ testbed, holder, since }: HeldTestbed): string =>
  oneLine(`${holder.who} has ${testbed} (${aimOf(holder)}) since ${clockText(since, new Date())}`);

async function confirmed(
  holding: HeldTestbed,
  { by, yes }: ReleaseOptions,
  ask: AskPerson,
): Promise<string | undefined> {
  if (ask === undefined) {
    if (by !== undefined && yes === true) return by;
    throw new UsageError(
      `${consequence(holding)}: without a terminal for questions, taking it needs both --by NAME and --yes.`,
    );
  }
  print(`${consequence(holding)}. Their measurement ends.`);
  const taker = by ?? ((await ask(`Who are you? [${whoami()}] `)) || whoami());
  if (yes === true) return taker;
  const answer = await ask(`Take it from the holder? [y/N] `);
  return /^y(es)?$/i.test(answer) ? taker : undefined;
}
