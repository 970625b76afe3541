// The story of a patch whose cells are split over testbeds that are the same: each part is a gate of its own, and all that
// they find is one result.
import { join } from 'node:path';
import { testbedsThatDiffer } from './build/unchanged.ts';
import { variantsByMaking } from './build/variant.ts';
import type { ExperimentEvent } from './experiment/experiment.ts';
import { dealt, type Part, shareOf, together } from './experiment/parts.ts';
import { cellsOf, policyOf } from './experiment/plan.ts';
import { refuseUsed } from './experiment/plan-file.ts';
import { type GateRequest, gate, thenGivenBack, type World } from './gate.ts';
import { notTheSame } from './inventory/same.ts';
import { outcomeName } from './report/headline.ts';
import { explained } from './report/read.ts';
import { writeResult } from './report/write.ts';
import type { Inspection, Reserved, Testbed } from './testbed/testbed.ts';
import { reasonOf } from './words/one-line.ts';
import type { Patch } from './words/patch.ts';
import type { Result } from './words/result.ts';
import { type Cell, cellName } from './words/scenario.ts';
import { upshotOfResult } from './words/upshot.ts';
import { notUsed } from './words/use-outcome.ts';
import { withoutPaths } from './words/without-paths.ts';

/** All that a gate touches of the world, and what its parts on several testbeds do. */
export type SplitWorld = World & { partOn(testbed: string): PartWorld };

type PartWorld = {
  onEvent(event: ExperimentEvent): void;
  /** The testbed beside the one that is ours; rejects where it is not free within so many seconds. */
  reserveSoon(patch: Patch, seconds: number): Promise<Reserved>;
};

/** `testbeds` are the same by what is configured; `leftOut` are sentences on those that are not. */
type SplitRequest = GateRequest & { leftOut: readonly string[] };

/**
 * Judges a patch as `gate` does, with its cells on as many of the testbeds as are free: it waits for the first of them, and
 * but a short while for others. Each part has a folder of its own in the work directory, named by its testbed. Where a
 * part fails the others go on; that is thrown in the end, unless they have found what ends the patch.
 */
export async function splitGate(
  request: SplitRequest,
  directory: string,
  world: SplitWorld,
): Promise<Result> {
  const { patch, config } = request;
  const cells = request.cells ?? cellsOf(config);
  const isMeasuredAnyway = request.isMeasuredAnyway || request.isRelinked;
  const testbeds = isMeasuredAnyway ? request.testbeds : await differing(request, world);
  if (testbeds.length < 2 || cells.length < 2) {
    return gate({ ...request, ...(testbeds.length > 0 && { testbeds }) }, directory, world);
  }
  await refuseUsed(directory);
  for (const text of request.leftOut) world.onEvent({ kind: 'told', text });
  const reserved = await world.reserve(testbeds, patch);
  const { onEvent } = world.partOn(reserved.name);
  const first = await opened(reserved, { cells, config }, onEvent);
  const others = testbeds.filter((name) => name !== first.name);
  const ours = [first, ...(await joining(others, first, { ...request, cells }, world))];
  if (ours.length === 1) return onOne({ ...request, cells }, first, directory, world);
  const parts = dealt(cells, ours.length);
  world.onEvent({ kind: 'told', text: dealtText(ours, parts) });
  const ended = await Promise.allSettled(
    ours.map(async (one, index): Promise<Part> => {
      const own = parts[index] ?? [];
      const share = { ...request, cells: own, config: shareOf(config, own.length, cells.length) };
      const result = await onOne(share, one, join(directory, one.name), {
        ...world,
        onEvent: one.onEvent,
      });
      return { result, folder: one.name };
    }),
  );
  const done = ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const [failure, ...more] = ended.filter((one) => one.status === 'rejected');
  if (done.length === 0) throw failure?.reason;
  const warn = (text: string) => world.onEvent({ kind: 'warning', text });
  for (const { reason } of more) warn(reasonOf(reason));
  const whole = together(done, policyOf(config), cells);
  if (failure !== undefined) {
    if (upshotOfResult(whole) !== 'patchAtFault') throw failure.reason;
    const text = `Not all cells were measured: ${withoutPaths(reasonOf(failure.reason))}`;
    warn(text);
    whole.testbed.warnings.push(text);
  }
  const { result, profiles } = await explained(whole, directory, warn);
  await writeResult(directory, result, profiles, warn);
  return result;
}

async function differing(request: GateRequest, { repository }: World): Promise<string[]> {
  const variants = await variantsByMaking(request, repository);
  return testbedsThatDiffer({ ...request, variants }, repository);
}

/** A testbed that is ours, connected to. */
type Ours = {
  name: string;
  reserved: Reserved;
  testbed: Testbed;
  inspection: Inspection;
  onEvent: World['onEvent'];
};

type Asked = Pick<GateRequest, 'config'> & { cells: readonly Cell[] };

/** What the testbed is; given back where that cannot be told. */
async function opened(
  reserved: Reserved,
  { cells, config }: Asked,
  onEvent: World['onEvent'],
): Promise<Ours> {
  let left: Reserved | undefined = reserved;
  return thenGivenBack(
    () => left,
    { onEvent },
    String,
    async () => {
      const testbed = await reserved.open(config.traffic);
      try {
        const inspection = await testbed.inspect(cells);
        left = undefined;
        return { name: reserved.name, reserved, testbed, inspection, onEvent };
      } catch (error) {
        await testbed.restore();
        throw error;
      }
    },
  );
}

/** Testbeds that are free within a short while, and the same machines; at most one for each further cell. */
async function joining(
  names: readonly string[],
  first: Ours,
  request: GateRequest & Asked,
  world: SplitWorld,
): Promise<Ours[]> {
  const asked = names.slice(0, request.cells.length - 1);
  const joined = await Promise.all(
    asked.map(async (name): Promise<Ours[]> => {
      const { onEvent, reserveSoon } = world.partOn(name);
      const staysOut = (text: string) => onEvent({ kind: 'told', text });
      try {
        const ours = await opened(
          await reserveSoon(request.patch, secondsForOthers),
          request,
          onEvent,
        );
        const fact = otherFact(first.inspection, ours.inspection);
        if (fact === undefined) return [ours];
        staysOut(notTheSame(name, fact, first.name));
        await leave(ours);
      } catch (error) {
        if (!world.signal.aborted)
          staysOut(`${name} takes no part (${reasonOf(error)}): the others measure its cells.`);
      }
      return [];
    }),
  );
  return joined.flat();
}

/** A testbed that is ours waits so long for others. */
const secondsForOthers = 60;

const leave = ({ reserved, testbed, onEvent }: Ours): Promise<void> =>
  thenGivenBack(
    () => reserved,
    { onEvent },
    () => notUsed('it is not the same machine'),
    () => testbed.restore(),
  );

/** The first fact of its cards, CPU and drivers in which a machine differs from another. */
function otherFact(one: Inspection, other: Inspection): string | undefined {
  const [a, b] = [one.fingerprint, other.fingerprint];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter(isOfHardware)
    .find((name) => a[name] !== b[name]);
}

/** Facts by the names that fingerprints of FreeBSD and Linux give them. A card in another slot, or another firmware of it, is another. */
const isOfHardware = (name: string): boolean =>
  /^(?:cpu|machine|architecture|hw\.ncpu|NIC .*|.* media|dev\..*\.(?:firmware|fw)_version)$/.test(
    name,
  );

const dealtText = (ours: readonly Ours[], parts: readonly Cell[][]): string =>
  `The cells are split: ${parts
    .map((cells, index) => `${cells.map(cellName).join(', ')} on ${ours[index]?.name}`)
    .join('; ')}.`;

/** The gate of some cells on a testbed that is ours already. */
const onOne = (
  request: GateRequest & Asked,
  { name, reserved, testbed, inspection }: Ours,
  directory: string,
  world: World,
): Promise<Result> =>
  thenGivenBack(
    () => reserved,
    world,
    outcomeName,
    async () => {
      // Whoever restores a testbed twice may find it in other hands.
      let restored: Promise<void> | undefined;
      const restore = () => {
        restored ??= testbed.restore();
        return restored;
      };
      const open = async () => ({ ...testbed, inspect: async () => inspection, restore });
      const kept = { ...reserved, open, giveBack: async () => undefined };
      try {
        // Somebody may have cancelled while others were waited for.
        AbortSignal.any([world.signal, reserved.signal]).throwIfAborted();
        const known = { ...request, testbeds: [name], isMeasuredAnyway: true };
        return await gate(known, directory, {
          ...world,
          board: undefined,
          reserve: async () => kept,
        });
      } finally {
        await restore();
      }
    },
  );
