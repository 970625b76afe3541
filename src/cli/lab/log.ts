// Runs `ppsgate testbeds log`.

import { didYouMean } from '../../config/did-you-mean.ts';
import { loadConfig } from '../../config/load.ts';
import { type LabState, type LoggedReservation, readLab, readLog } from '../../gate/reserve/records.ts';
import { holdingOf } from '../../gate/reserve/reservation.ts';
import { openStore } from '../../gate/reserve/store/open.ts';
import { aimOf } from '../../gate/reserve/testbeds-overview.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { formatRoughly } from '../../model/format.ts';
import { UsageError } from '../../model/usage-error.ts';
import { columns } from '../columns.ts';
import { configPath } from '../find-config.ts';
import { clockText, oneLine, print, printJson } from '../table.ts';

type LogOptions = { config?: string; json?: true };

export async function run(name: string | undefined, { config: path, json }: LogOptions): Promise<number> {
  const config = await loadConfig(configPath(path));
  const store = await openStore(config.reservations);
  try {
    const all = await readLog(store);
    const log = name === undefined ? all : all.filter(({ testbed }) => testbed === name);
    if (name !== undefined) {
      const known = [...Object.keys(config.testbeds), ...all.map(({ testbed }) => testbed)];
      refuseUnknown(name, new Set(known));
    }
    if (json) printJson(log);
    else print(log.length === 0 ? 'No testbed was reserved yet.' : table(log, await readLab(store)));
    return exitCodes.pass;
  } finally {
    await store.close();
  }
}

/** A testbed removed from the configuration still has a log. */
function refuseUnknown(name: string, known: ReadonlySet<string>): void {
  if (known.has(name)) return;
  const names = [...known].filter((one) => one !== '');
  const hint = didYouMean(name, names) || '.';
  throw new UsageError(`There is no testbed "${name}"; the testbeds are ${names.join(', ')}${hint}`);
}

const table = (log: readonly LoggedReservation[], lab: LabState): string =>
  columns([
    ['WHEN', 'TESTBED', 'WHO', 'FOR', 'WAITED', 'HELD', 'OUTCOME'],
    ...log.map((logged) => rowOf(logged, lab).map(oneLine)),
  ]).join('\n');

function rowOf(logged: LoggedReservation, lab: LabState): string[] {
  const { id, testbed, holder, waitingSince, since, until, outcome } = logged;
  const now = new Date();
  const isHeld = holdingOf(lab, id) !== undefined;
  return [
    clockText(since ?? waitingSince, now),
    testbed === '' ? '–' : testbed,
    holder.who,
    aimOf(holder),
    between(waitingSince, since ?? until),
    since === undefined ? '–' : between(since, isHeld ? now.toISOString() : until),
    outcome ?? (isHeld ? 'holds it now' : 'its holder has ended'),
  ];
}

const between = (from: string, to: string | undefined): string =>
  to === undefined ? '?' : formatRoughly((Date.parse(to) - Date.parse(from)) / 1000);
