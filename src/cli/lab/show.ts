// Runs `ppsgate testbeds show`.

import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { readUsualSeconds } from '../../gate/estimate/queue.ts';
import type { ProgressOutput } from '../../gate/progress.ts';
import { freeEnded } from '../../gate/reserve/ended-holders.ts';
import { readLab } from '../../gate/reserve/records.ts';
import { openProcessesOf, openStore } from '../../gate/reserve/store/open.ts';
import type { Store } from '../../gate/reserve/store/store.ts';
import { overviewOf, type TestbedsOverview } from '../../gate/reserve/testbeds-overview.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';
import { hasColours, print, printJson } from '../table.ts';
import { changedLines, overviewText } from './overview-text.ts';

type OverviewOptions = { config?: string; json?: boolean; watch?: boolean };

export async function run(
  { config: path, json = false, watch = false }: OverviewOptions,
  { signal }: Call,
): Promise<number> {
  const config = await loadConfig(configPath(path));
  const store = await openStore(config.reservations);
  try {
    if (watch) return await watchWhileRead(config, store, watcherOf(process.stdout, json), signal);
    const { overview } = await lookAt(config, store, await readUsualSeconds(store, new Date()));
    if (json) printJson(overview);
    else print(textFor(overview, process.stdout));
    return exitCodes.pass;
  } finally {
    await store.close();
  }
}

async function watchWhileRead(config: Config, store: Store, show: Show, signal: AbortSignal): Promise<number> {
  const unread = new AbortController();
  process.stdout.once('error', () => unread.abort());
  try {
    return await watchTestbeds(config, store, show, AbortSignal.any([signal, unread.signal]));
  } catch (error) {
    if (signal.aborted || !unread.signal.aborted) throw error;
    return exitCodes.pass;
  }
}

async function lookAt(config: Config, store: Store, usualSeconds: Awaited<ReturnType<typeof readUsualSeconds>>) {
  const seen = await readLab(store);
  const processes = await openProcessesOf(config.reservations);
  const lab = (await freeEnded(store, seen, processes, new Date())) ? await readLab(store) : seen;
  return { overview: overviewOf(config, lab, usualSeconds, new Date()), revision: lab.revision };
}

const textFor = (overview: TestbedsOverview, output: ProgressOutput): string =>
  overviewText(overview, hasColours(output));

type Show = (overview: TestbedsOverview) => void;

/** Shows the state at once, at each change of the store, and every minute; rejects with the signal's reason. */
async function watchTestbeds(config: Config, store: Store, show: Show, signal: AbortSignal): Promise<never> {
  for (;;) {
    const usualSeconds = await readUsualSeconds(store, new Date());
    const minute = AbortSignal.timeout(60_000);
    const over = AbortSignal.any([signal, minute]);
    while (!minute.aborted) {
      const { overview, revision } = await lookAt(config, store, usualSeconds);
      show(overview);
      await store.changed(revision, over).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!minute.aborted) throw error;
      });
    }
  }
}

/** Redraws a terminal; elsewhere prints one line per change, or with `json` one line per poll. */
function watcherOf(output: ProgressOutput, json: boolean): Show {
  if (json) return (overview) => void output.write(Buffer.from(`${JSON.stringify(overview)}\n`));
  if (output.isTTY) return (overview) => void output.write(screenOf(textFor(overview, output)));
  let last: TestbedsOverview | undefined;
  return (overview) => {
    for (const line of changedLines(last, overview)) output.write(`${line}\n`);
    last = overview;
  };
}

/** Overwrites from the top left and clears the rest, without flicker. */
const screenOf = (text: string): string => `\x1b[H${text.replaceAll('\n', '\x1b[K\n')}\x1b[K\n\x1b[J`;
