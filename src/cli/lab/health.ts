// Runs `ppsgate testbeds health`.

import { loadConfig } from '../../config/load.ts';
import type { Config, TestbedConfig } from '../../config/schema.ts';
import { healthPurpose } from '../../gate/estimate/queue.ts';
import { NotReservedError } from '../../gate/reserve/lease.ts';
import { type Quarantine, readLab } from '../../gate/reserve/records.ts';
import { liftQuarantine } from '../../gate/reserve/reservation.ts';
import type { Store } from '../../gate/reserve/store/store.ts';
import { aimOf, overviewOf } from '../../gate/reserve/testbeds-overview.ts';
import { realDeps } from '../../gate/testbeds/open-testbed.ts';
import { type LeasedTestbed, openReservations, ppsgateItself, whoami } from '../../gate/testbeds/reserve.ts';
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { healthOf, whyUnhealthy } from '../../lab/check/health.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { configPath, namedTestbed } from '../find-config.ts';
import type { Call } from '../run.ts';
import { clockText, hasColours, oneLine, print, printJson } from '../table.ts';
import { diagnosticText, summary } from './diagnostics-text.ts';

type HealthOptions = { config?: string; json?: boolean };

type Health =
  | {
      testbed: string;
      kind: 'well' | 'wrong';
      diagnostics: Diagnostic[];
      quarantine: InterimResult;
    }
  /** Skipped: held or waited for. */
  | { testbed: string; kind: 'in-use'; why: string };

type InterimResult = { kind: 'none' | 'lifted' } | (Quarantine & { kind: 'stands' });

export async function run(
  names: readonly string[],
  { config: given, json = false }: HealthOptions,
  { signal }: Call,
): Promise<number> {
  const path = configPath(given);
  const config = await loadConfig(path);
  for (const name of names) namedTestbed(config, path, name);
  const chosen = names.length === 0 ? Object.keys(config.testbeds) : [...new Set(names)];
  const healths: Health[] = [];
  for (const name of chosen) {
    if (!json) print(name);
    const visit = { name, testbed: namedTestbed(config, path, name), config, json, signal };
    const health = await visitTestbed(visit);
    healths.push(health);
    if (!json) print(`  ${oneLine(closing(health))}`);
  }
  if (json) printJson(healths);
  const isWrong = healths.some(({ kind }) => kind === 'wrong');
  return isWrong ? exitCodes.infrastructure : exitCodes.pass;
}

type Visit = {
  name: string;
  testbed: TestbedConfig;
  config: Config;
  json: boolean;
  signal: AbortSignal;
};

/** A check never waits for its turn. */
class InUseError extends Error {}

async function visitTestbed(visit: Visit): Promise<Health> {
  const { name, config, signal } = visit;
  const busy = new AbortController();
  await using reservations = await openReservations(config, {
    signal: AbortSignal.any([signal, busy.signal]),
    notify: (sentence) => notify(visit, sentence),
    onWait: () => busy.abort(new InUseError()),
  });
  const { store } = reservations;
  try {
    const before = await readLab(store);
    if (before.quarantines.has(name)) return await lookUnreserved(visit, store);
    const holder = { who: whoami(), purpose: healthPurpose };
    return await lookReserved(visit, await reservations.reserve([name], { priority: 'rerun', holder }));
  } catch (error) {
    if (error instanceof InUseError) return await inUse(visit, store);
    if (!(error instanceof NotReservedError)) throw error;
    // Preparing the testbed found a fault.
    if ((await readLab(store)).quarantines.has(name)) return await lookUnreserved(visit, store);
    throw error;
  }
}

/** Preparation has checked or restored the base. */
async function lookReserved(visit: Visit, { lease, signal }: LeasedTestbed): Promise<Health> {
  const { name } = visit;
  const unfinished = { outcome: 'the check did not finish', isClean: true };
  try {
    const diagnostics = await look(visit, AbortSignal.any([visit.signal, signal]));
    const reason = whyUnhealthy(diagnostics);
    unfinished.outcome = reason ?? 'all checks passed';
    if (reason === undefined) {
      return { testbed: name, kind: 'well', diagnostics, quarantine: { kind: 'none' } };
    }
    const quarantine = { reason, by: ppsgateItself, since: new Date().toISOString() };
    await lease.release({ ...unfinished, isClean: false, quarantine });
    const interim = { kind: 'stands', ...quarantine } as const;
    return { testbed: name, kind: 'wrong', diagnostics, quarantine: interim };
  } finally {
    await lease.release(unfinished);
  }
}

/** A quarantined testbed is never reserved, so the check can disturb only its last holder. */
async function lookUnreserved(visit: Visit, store: Store): Promise<Health> {
  const { name, signal } = visit;
  if (isHeld(visit, await readLab(store))) return inUse(visit, store);
  const diagnostics = await look(visit, signal);
  const lab = await readLab(store);
  const quarantine = lab.quarantines.get(name);
  if (isHeld(visit, lab)) return inUse(visit, store);
  const kind = whyUnhealthy(diagnostics) === undefined ? 'well' : 'wrong';
  if (quarantine === undefined) {
    return { testbed: name, kind, diagnostics, quarantine: { kind: 'none' } };
  }
  if (kind === 'well' && quarantine.by === ppsgateItself) {
    await liftQuarantine(store, name);
    return { testbed: name, kind, diagnostics, quarantine: { kind: 'lifted' } };
  }
  return { testbed: name, kind, diagnostics, quarantine: { kind: 'stands', ...quarantine } };
}

async function look(visit: Visit, signal: AbortSignal): Promise<Diagnostic[]> {
  const deps = { ...realDeps, notify: (sentence: string) => notify(visit, sentence), signal };
  const diagnostics: Diagnostic[] = [];
  for await (const diagnostic of healthOf(visit.testbed, deps)) {
    diagnostics.push(diagnostic);
    if (!visit.json) print(indented(diagnosticText(diagnostic, hasColours(process.stdout))));
  }
  return diagnostics;
}

const indented = (text: string): string => text.replace(/^/gm, '  ');

const notify = ({ json }: Visit, sentence: string): void =>
  void (json ? process.stderr : process.stdout).write(`  … ${oneLine(sentence)}\n`);

type Lab = Awaited<ReturnType<typeof readLab>>;

const stateIn = ({ name, config }: Visit, lab: Lab) =>
  overviewOf(config, lab, () => 0, new Date()).testbeds.find((testbed) => testbed.name === name);

const isHeld = (visit: Visit, lab: Lab): boolean => stateIn(visit, lab)?.held !== undefined;

async function inUse(visit: Visit, store: Store): Promise<Health> {
  const held = stateIn(visit, await readLab(store))?.held;
  const why = held === undefined ? 'other requests wait for it' : `${held.who} holds it (${aimOf(held)})`;
  return { testbed: visit.name, kind: 'in-use', why };
}

function closing(health: Health): string {
  if (health.kind === 'in-use') return `– not checked: ${health.why}.`;
  const { testbed, diagnostics, quarantine } = health;
  return `${summary(diagnostics)}${interimText(testbed, health.kind, quarantine)}`;
}

function interimText(testbed: string, kind: 'well' | 'wrong', quarantine: InterimResult): string {
  switch (quarantine.kind) {
    case 'none':
      return '';
    case 'lifted':
      return ' Its fault is fixed, so its quarantine is lifted.';
    case 'stands': {
      const { by, reason, since } = quarantine;
      if (kind === 'wrong' && by === ppsgateItself) {
        return ` It is in quarantine: check again with \`ppsgate testbeds health ${testbed}\` once that is fixed.`;
      }
      return ` ${by} put it into quarantine at ${clockText(since, new Date())} (${reason}): lift it with \`ppsgate quarantine ${testbed} --lift\`.`;
    }
  }
}
