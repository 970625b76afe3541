// One patch whose cells are split over several testbeds: each part is an experiment of its own, and all are one result.
import type { Config } from '../config/schema.ts';
import { worstVerdict } from '../stats/verdict.ts';
import type { CellProfile, CellResult, Outcome, Policy, Result } from '../words/result.ts';
import { type Cell, cellName } from '../words/scenario.ts';
import { upshotOfResult } from '../words/upshot.ts';

/** The cells of each of so many parts, at most as many as there are cells: numbers of cells differ by one at most. */
export const dealt = (cells: readonly Cell[], parts: number): Cell[][] =>
  Array.from({ length: Math.min(parts, cells.length) }, (_, part) =>
    cells.filter((_, index) => index % parts === part),
  );

/**
 * What a part of the cells is held to. Each has a share of the false alarms by its cells, so that all together have what
 * is promised of the patch (Boole's inequality); misses are promised of each cell.
 */
export const shareOf = (config: Config, own: number, of: number): Config => ({
  ...config,
  gate: { ...config.gate, falseAlarmRatio: (config.gate.falseAlarmRatio * own) / of },
});

/** A part that has ended. */
export type Part = {
  result: Result;
  /** The folder of the part's files, relative to those of the whole. */
  folder: string;
};

/**
 * The result of all parts, at least one, as of one experiment; nothing in it compares one testbed with another. A patch
 * that cannot run is that wherever it turned out.
 *
 * @param cells all that was asked for, in their order
 */
export function together(parts: readonly Part[], policy: Policy, cells: readonly Cell[]): Result {
  const results = parts.map(({ result }) => result);
  const [first] = results;
  if (first === undefined) throw new TypeError('There is no part to put together.');
  const { fingerprint } = first.testbed;
  const isShared = ([name, value]: [string, string]) =>
    results.every(({ testbed }) => testbed.fingerprint[name] === value);
  const order = cells.map(cellName);
  const place = ({ cell }: CellResult) => order.indexOf(cellName(cell));
  return {
    ...first,
    isSplit: true,
    policy,
    testbed: {
      name: results.map(({ testbed }) => testbed.name).join(' and '),
      fingerprint: Object.fromEntries(Object.entries(fingerprint).filter(isShared)),
      warnings: results.flatMap(({ testbed }) =>
        testbed.warnings.map((warning) => `${testbed.name}: ${warning}`),
      ),
    },
    startedAt: results.map(({ startedAt }) => startedAt).toSorted()[0] ?? first.startedAt,
    finishedAt:
      results
        .map(({ finishedAt }) => finishedAt)
        .toSorted()
        .at(-1) ?? first.finishedAt,
    blasts: parts.flatMap(({ result, folder }) =>
      result.blasts.map((blast) => ({ ...blast, logs: below(folder, blast.logs) })),
    ),
    leftOut: [
      ...new Map(
        results.flatMap(({ leftOut }) => leftOut).map((one) => [one.variant, one]),
      ).values(),
    ],
    outcome: outcomeOf(parts, (all) => all.toSorted((a, b) => place(a) - place(b))),
  };
}

function outcomeOf(
  parts: readonly Part[],
  ordered: (cells: CellResult[]) => CellResult[],
): Outcome {
  const judged = parts.flatMap(({ result: { outcome }, folder }) =>
    outcome.kind === 'judged' ? outcome.cells.map((cell) => movedBelow(folder, cell)) : [],
  );
  const cells = ordered(judged);
  const verdict = worstVerdict(cells);
  const others = parts
    .map(({ result }) => result)
    .filter(({ outcome }) => outcome.kind !== 'judged');
  const atFault = others.find((result) => upshotOfResult(result) === 'patchAtFault');
  const other = atFault ?? (verdict === 'regression' ? undefined : others[0]);
  return other?.outcome ?? { kind: 'judged', verdict, cells };
}

const movedBelow = (folder: string, cell: CellResult): CellResult => ({
  ...cell,
  profiles: cell.profiles.map(
    (profile): CellProfile =>
      profile.kind === 'profiled' ? { ...profile, file: below(folder, profile.file) } : profile,
  ),
});

const below = (folder: string, path: string): string =>
  folder === '' ? path : `${folder}/${path}`;
