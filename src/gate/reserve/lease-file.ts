// Stores a lease in a file, so that a job's post step or a person can clean up after a dead process.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { ReservationsConfig } from '../../config/reservations.ts';
import * as bounded from '../../model/bounds.ts';
import { makeFolders } from '../../system/make-folders.ts';
import type { Lease } from './lease.ts';
import { readLab } from './records.ts';
import { giveBack, holdingOf } from './reservation.ts';
import { openStore } from './store/open.ts';
import { StoreError } from './store/store.ts';

const fileName = 'lease.json';

const schema = z.object({
  id: bounded.name,
  session: bounded.name,
  testbed: bounded.name,
  reservations: z.custom<ReservationsConfig>((value) => typeof value === 'object'),
});

/** Writes the lease into the gate's directory. The file exists while the testbed is held. */
export async function keepLease(
  directory: string,
  { holding, session, testbed }: Lease,
  reservations: ReservationsConfig,
): Promise<void> {
  await makeFolders(directory);
  const left: z.input<typeof schema> = { id: holding.id, session, testbed, reservations };
  await writeFile(join(directory, fileName), `${JSON.stringify(left, null, 2)}\n`);
}

export const forgetLease = (directory: string): Promise<void> => rm(join(directory, fileName), { force: true });

/** Finds every directory with a lease in this tree, as each gate of one process has its own. */
export async function directoriesWithLease(top: string): Promise<string[]> {
  const names = await readdir(top, { recursive: true }).catch(() => []);
  return names
    .filter((name) => basename(name) === fileName)
    .map((name) => dirname(join(top, name)))
    .toSorted();
}

/**
 * Returns the testbed's name, or undefined if none was held. The next holder restores the base. Throws a StoreError.
 */
export async function releaseLeft(directory: string, now: Date): Promise<string | undefined> {
  const text = await readFile(join(directory, fileName), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const left = leaseIn(text);
  if (left === undefined) {
    throw new StoreError(`The lease in ${directory} cannot be read: it ends automatically once its process has ended.`);
  }
  const store = await openStore(left.reservations);
  try {
    const holding = holdingOf(await readLab(store), left.id);
    const ending = { outcome: 'its process had ended', isClean: false };
    if (holding !== undefined) await giveBack(store, holding, ending, now);
    await store.endSession(left.session);
    await forgetLease(directory);
    return holding?.testbed;
  } finally {
    await store.close();
  }
}

function leaseIn(text: string): z.output<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
