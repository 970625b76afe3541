// Switches power, for every reply and state of a controller.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PowerError, type PowerReading, type PowerReply } from '../../../src/lab/power/power-controller.ts';
import { switchOf } from '../../../src/lab/power/switch.ts';

test('no response of a controller makes switching exceed its limits, or succeed against the last reading', async () => {
  await fc.assert(
    fc.asyncProperty(controllers, orders, async (behaviour, order) => {
      const { power, slept, lastSeen } = play(behaviour);
      const went = await power[order]().then(() => true, expectPowerError);
      if (went === true) expect(lastSeen()).toBe(order === 'off' ? 'off' : 'on');
      // A cycle may be watched for 30 s twice, before three orders of 30 s each way.
      expect(slept()).toBeLessThanOrEqual(order === 'cycle' ? 245 : 90);
    }),
  );
});

test('a successful cycle was seen off, or was reported as done', async () => {
  await fc.assert(
    fc.asyncProperty(controllers, async (behaviour) => {
      const { power, seen } = play(behaviour);
      const went = await power.cycle().then(() => true, expectPowerError);
      const isDone = behaviour.cycle?.kind === 'done';
      if (went === true && !isDone) expect(seen.some((state) => state !== 'on')).toBe(true);
    }),
  );
});

test('a cycle that keeps the machine off for no more than a second is seen, and not repeated', async () => {
  await fc.assert(
    fc.asyncProperty(deafMs, slowMs, async (obeysAfter, toAnswer) => {
      let now = 0;
      let orderedAt = Number.NaN;
      const orders: string[] = [];
      const power = switchOf(
        {
          label: 'The controller',
          check: 'it',
          async state() {
            now += toAnswer;
            const since = now - orderedAt - obeysAfter;
            return since >= 0 && since < 1000 ? 'off' : 'on';
          },
          async turn(to) {
            orders.push(to);
            return { kind: 'accepted' };
          },
          async cycle() {
            orderedAt = now;
            orders.push('cycle');
            return { kind: 'accepted' };
          },
        },
        async (seconds) => {
          now += seconds * 1000;
        },
      );
      await power.cycle();
      expect(orders).toEqual(['cycle']);
    }),
  );
});

/** Until a BMC obeys, and until it replies. */
const deafMs = fc.integer({ min: 0, max: 10_000 });
const slowMs = fc.integer({ min: 30, max: 700 });

const reading = fc.constantFrom<PowerReading>('on', 'off', 'changing');
const answer = fc.constantFrom<PowerReply>({ kind: 'accepted' }, { kind: 'done' }, { kind: 'refused', why: 'No' });

/** Returns `readings` and `answers` in turn, and repeats the last of them. */
const controllers = fc.record({
  readings: fc.array(reading, { minLength: 1, maxLength: 80 }),
  answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
  cycle: fc.option(answer, { nil: undefined }),
});
const orders = fc.constantFrom('on', 'off', 'cycle');

type Behaviour = { readings: PowerReading[]; answers: PowerReply[]; cycle: PowerReply | undefined };

function play({ readings, answers, cycle }: Behaviour) {
  const seen: PowerReading[] = [];
  let seconds = 0;
  let turns = 0;
  const controller = {
    label: 'The controller',
    check: 'it',
    async state() {
      const state = readings[seen.length] ?? readings.at(-1) ?? 'changing';
      seen.push(state);
      return state;
    },
    async turn() {
      turns += 1;
      return answers[turns - 1] ?? answers.at(-1) ?? { kind: 'accepted' as const };
    },
    ...(cycle !== undefined && { cycle: async () => cycle }),
  };
  const sleep = async (more: number) => {
    seconds += more;
  };
  return {
    power: switchOf(controller, sleep),
    seen,
    lastSeen: () => seen.at(-1),
    slept: () => seconds,
  };
}

function expectPowerError(error: unknown): undefined {
  expect(error).toBeInstanceOf(PowerError);
}
