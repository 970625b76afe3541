// The story of a night: a commit against itself, and at once whatever its numbers ask for, as long as the testbed is ours.
import { join } from 'node:path';
import { bisect, resumeBisection } from './bisect/bisect.ts';
import { gateRunsOf } from './bisect/from-gate.ts';
import { hasBisectPlan } from './bisect/plan.ts';
import { usualMostBoots } from './config/overrides.ts';
import type { Config } from './config/schema.ts';
import { cellsAmong, hasPlan, readPlan } from './experiment/plan.ts';
import { refuseUsed } from './experiment/plan-file.ts';
import { gate, onTestbed, resumeGate, type World } from './gate.ts';
import { expectOnLine, patchOfRange } from './patch/range.ts';
import type { LinearRepository } from './patch/repository.ts';
import { outcomeName } from './report/headline.ts';
import type { Session, Tonight } from './trend/tonight.ts';
import { reasonOf } from './words/one-line.ts';
import { type Patch, patchName, shortId } from './words/patch.ts';
import type { Result } from './words/result.ts';
import { type Cell, cellName } from './words/scenario.ts';
import type { Change } from './words/trend.ts';
import { upshotOfError } from './words/upshot.ts';

type NightRequest = {
  /** The commit against itself. */
  patch: Patch;
  config: Config;
  /** Names of testbeds of the configuration, any of which would do, the first best. */
  testbeds: readonly string[];
  seed: number;
};

export type NightWorld = Omit<World, 'repository'> & {
  repository: LinearRepository;
  /** What earlier nights of a testbed say; `patch` is the commit against itself. */
  trend(testbed: string, patch: Patch): Promise<Tonight>;
  /** Keeps what was measured, as soon as it is; `folder` has it, below the work directory. */
  keep(session: Session, folder: string): Promise<void>;
};

/**
 * Measures a commit against itself, in one lease of one testbed: once more where it is off, then the last good commit of
 * each change that may be one against the first bad one, and where `trend.bisect` is on the commits between, where that
 * has lost. Answers the result of the commit against itself. What is measured besides, each in a folder of its own, may
 * fail, which is a warning.
 */
export async function night(
  request: NightRequest,
  directory: string,
  world: NightWorld,
): Promise<Result> {
  await refuseUsed(directory);
  return wholeNight(request, directory, world);
}

/** Goes on with a night that was cut short: what is measured of it already is not measured again. */
export async function resumeNight(
  request: Pick<NightRequest, 'config' | 'seed'>,
  directory: string,
  world: NightWorld,
): Promise<Result> {
  const { patch, testbed } = await readPlan(directory);
  return wholeNight({ ...request, patch, testbeds: [testbed] }, directory, world);
}

const wholeNight = (request: NightRequest, directory: string, world: NightWorld): Promise<Result> =>
  onTestbed(request.testbeds, request.patch, world, outcomeName, async (reserved) => {
    // Each part of the night has the testbed, and none gives it back.
    const ours = { ...reserved, giveBack: async () => undefined };
    const within = { ...world, reserve: async () => ours };
    const own = { ...request, testbeds: [reserved.name], isMeasuredAnyway: true };
    const result = await judged(own, directory, within);
    await world.keep({ occasion: 'night', result }, '');
    await followUp(result, { request: own, directory, world: within }).catch((error: unknown) => {
      world.signal.throwIfAborted();
      const text = `No more is measured of this night: ${reasonOf(error)}`;
      world.onEvent({ kind: 'warning', text });
    });
    return result;
  });

type GateRequest = Parameters<typeof gate>[0];

const judged = async (request: GateRequest, directory: string, world: World): Promise<Result> =>
  (await hasPlan(directory)) ? resumeGate(directory, world) : gate(request, directory, world);

/** What one step of a night has to do with. */
type Step = { request: GateRequest; directory: string; world: NightWorld };

/** Whatever the numbers of a commit against itself ask for. */
async function followUp(result: Result, step: Step): Promise<void> {
  const { request, directory, world } = step;
  const { config, patch } = request;
  const [testbed = ''] = request.testbeds;
  const tonight = await world.trend(testbed, patch);
  const sessions: Session[] = [{ occasion: 'night', result }];
  const keep = async (folder: string, measure: (step: Step) => Promise<Session>) => {
    const session = await measure({ ...step, directory: join(directory, folder) });
    sessions.push(session);
    await world.keep(session, folder);
  };

  const cells = tonight.cellsOff(result);
  if (cells.length > 0) {
    tell(
      world,
      `Not where it was in the nights before: ${cells.map(cellName).join(', ')}. It is measured again.`,
    );
    await keep('again', async ({ directory }) => ({
      occasion: 'again',
      result: await judged({ ...request, cells }, directory, world),
    }));
  }
  const each = async (changes: readonly Change[], answer: (change: Change) => Promise<void>) => {
    for (const change of changes) {
      const { good, bad, metric } = change;
      if (metric !== config.gate.metric || cellsIn(change, config).length === 0) continue;
      await expectOnLine([good, bad], patch.headCommit, world.repository)
        .then(() => answer(change))
        .catch(unlessOfThis(change, world));
    }
  };
  await each(tonight.wantedGates(sessions), (change) =>
    keep(`gate-${change.id}`, confirmation(change)),
  );
  if (!config.trend.bisect) return;
  await each(tonight.wantedBisections(sessions), async (change) => {
    // One commit needs no search.
    if ((await world.repository.stepsSince(change.good, change.bad)) < 2) return;
    await keep(`bisect-${change.id}`, bisection(change, sessions));
  });
}

/** What commits of other days do is nothing to hold against the next patch. */
const untaught = (world: NightWorld): NightWorld => ({
  ...world,
  history: { ...world.history, append: async () => {} },
});

const cellsIn = ({ cells }: Change, config: Config): Cell[] =>
  cellsAmong(
    config,
    cells.map(({ cell }) => cell),
  );

/** The last good commit against the first bad one, in the cells that have changed. */
const confirmation =
  (change: Change) =>
  async ({ request, directory, world }: Step): Promise<Session> => {
    const patch = await patchOfRange(world.repository, `${change.good}..${change.bad}`);
    const cells = cellsIn(change, request.config);
    tell(
      world,
      `${patchName(patch)} may have changed ${cells.map(cellName).join(', ')}: a gate looks.`,
    );
    const asked = { ...request, patch, cells, isMeasuredAnyway: false };
    return { occasion: 'confirmation', result: await judged(asked, directory, untaught(world)) };
  };

/** The commits of a change, in its worst cell, with what the gate of both ends has measured there. */
const bisection =
  (change: Change, sessions: readonly Session[]) =>
  async ({ request, directory, world }: Step): Promise<Session> => {
    const { good, bad } = change;
    tell(world, `The commits after ${shortId(good)} up to ${shortId(bad)} are bisected.`);
    const [gated] = sessions.flatMap((session) =>
      session.occasion === 'confirmation' && isOf(change, session.result) ? session.result : [],
    );
    const from = gated && gateRunsOf(gated);
    const config = withOneCell(request.config, from?.cell ?? worstCell(change, request.config));
    const ends = { good, bad, fixUps: [], skips: [], from };
    const bounds = { mostBoots: usualMostBoots, isVerified: false };
    const asked = { ...request, ...ends, ...bounds, config };
    const result = (await hasBisectPlan(directory))
      ? await resumeBisection(directory, untaught(world))
      : await bisect(asked, directory, untaught(world));
    return { occasion: 'bisection', result };
  };

const isOf = ({ good, bad }: Change, { patch }: Result): boolean =>
  patch.baseCommit === good && patch.headCommit === bad;

function worstCell(change: Change, config: Config): Cell | undefined {
  const names = cellsIn(change, config).map(cellName);
  const own = change.cells.filter(({ cell }) => names.includes(cellName(cell)));
  return own.toSorted((a, b) => Math.abs(b.changeRatio) - Math.abs(a.changeRatio))[0]?.cell;
}

function withOneCell(config: Config, cell: Cell | undefined): Config {
  if (cell === undefined) return config;
  const { scenario, family, frameBytes } = cell;
  const size = frameBytes === undefined ? {} : { frameSizes: [frameBytes] };
  return { ...config, scenarios: [scenario], families: [family], ...size };
}

/** A change whose commits are gone, as after a forced push, must not keep the others from being looked at. */
const unlessOfThis =
  ({ good, bad }: Change, world: NightWorld) =>
  (error: unknown): void => {
    if (upshotOfError(error) !== 'usage') throw error;
    const text = `What changed after ${shortId(good)} up to ${shortId(bad)} cannot be looked at: ${reasonOf(error)}`;
    world.onEvent({ kind: 'warning', text });
  };

const tell = ({ onEvent }: NightWorld, text: string): void => onEvent({ kind: 'told', text });
