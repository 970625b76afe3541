// Sends only the latest update: one at a time, rate-limited, and the last one in every case.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ThrottledUpdates, type UpdateAttempt } from '../../../src/publish/reporters/throttled-updates.ts';

/** Updates whose replies and pauses a test controls. */
function aUpdates() {
  const puts: { view: string; answer: (told: UpdateAttempt | Promise<UpdateAttempt>) => void }[] = [];
  const pauses: { seconds: number; end: () => void }[] = [];
  const said: string[] = [];
  const updates = new ThrottledUpdates<string>(
    (view) => {
      const { promise, resolve } = Promise.withResolvers<UpdateAttempt>();
      puts.push({ view, answer: resolve });
      return promise;
    },
    {
      log: { info: (line) => said.push(line), warn: (line) => said.push(`warning: ${line}`) },
      secondsBetween: 60,
      tooSlow: (seconds) => `Not within ${seconds} s.`,
      pause(seconds, signal) {
        const { promise, resolve } = Promise.withResolvers<void>();
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
        pauses.push({ seconds, end: resolve });
        return promise;
      },
    },
  );
  const views = () => puts.map(({ view }) => view);
  const answer = async (told: UpdateAttempt) => {
    puts.at(-1)?.answer(told);
    await settled();
  };
  return { updates, puts, pauses, said, views, answer };
}

/** Waits until all that needs no further reply has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const told: UpdateAttempt = { kind: 'delivered' };
const failed: UpdateAttempt = { kind: 'failed', why: 'No answer.' };
const refused: UpdateAttempt = { kind: 'refused', why: 'No leave.' };

test('repeats a failed update after the pause, unless a newer one came', async () => {
  const { updates, views, pauses, answer, said } = aUpdates();
  updates.send('a');
  await answer(failed);
  pauses[0]?.end();
  await settled();
  expect(views()).toEqual(['a', 'a']);
  expect(said).toEqual([]);
});

test('logs a refusal once, and sends nothing more, not even the end', async () => {
  const { updates, views, answer, said } = aUpdates();
  updates.send('a');
  await answer(refused);
  updates.send('b');
  await updates.sendLast('end', 300);
  expect([views(), said]).toEqual([['a'], ['No leave.']]);
});

describe('the last view', () => {
  test('does not wait for a pause', async () => {
    const { updates, views, answer } = aUpdates();
    updates.send('a');
    await answer(told);
    updates.send('b');
    const ended = updates.sendLast('end', 300);
    await settled();
    expect(views()).toEqual(['a', 'end']);
    await answer(told);
    await ended;
  });

  test('is tried ever later while there is time, and then given up with a warning', async () => {
    const { updates, views, pauses, answer, said } = aUpdates();
    const ended = updates.sendLast('end', 300);
    const [limit] = pauses.splice(0);
    expect(limit?.seconds).toBe(300);
    const waited: number[] = [];
    for (let tries = 1; tries <= 10; tries++) {
      await settled();
      await answer(failed);
      const [pause] = pauses.splice(0);
      if (pause !== undefined) waited.push(pause.seconds);
      pause?.end();
    }
    await ended;
    expect(waited).toEqual([1, 4, 9, 16, 25, 36, 49, 60, 60]);
    expect(views()).toHaveLength(10);
    expect(said).toEqual(['warning: No answer.']);
  });

  test('is not waited for longer than the limit, and not sent later', async () => {
    const { updates, views, pauses, answer, said } = aUpdates();
    updates.send('a');
    const ended = updates.sendLast('end', 30);
    pauses.find(({ seconds }) => seconds === 30)?.end();
    await ended;
    expect(said).toEqual(['warning: Not within 30 s.']);
    await answer(told);
    expect(views()).toEqual(['a']);
  });
});

test('one that is left stops once the current update is sent', async () => {
  const { updates, views, answer } = aUpdates();
  updates.send('a');
  let isLeft = false;
  const left = updates.stop().then(() => {
    isLeft = true;
  });
  updates.send('b');
  await settled();
  expect(isLeft).toBe(false);
  await answer(told);
  await left;
  updates.send('c');
  await settled();
  expect(views()).toEqual(['a']);
});

type Step = { kind: 'notify' } | { kind: 'answer'; told: UpdateAttempt } | { kind: 'pause' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>({ kind: 'notify' }),
  fc.constantFrom<Step>({ kind: 'answer', told }, { kind: 'answer', told: failed }),
  fc.constant<Step>({ kind: 'pause' }),
);

test('in every order of events one update is sent at a time, none after a newer one, and the end last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { updates, puts, pauses, views, said } = aUpdates();
      let next = 0;
      let answered = 0;
      const carryOut = async (one: Step) => {
        if (one.kind === 'notify') updates.send(String(next++));
        if (one.kind === 'pause') for (const pause of pauses.splice(0)) pause.end();
        if (one.kind === 'answer' && answered < puts.length) puts[answered++]?.answer(one.told);
        await settled();
        expect(puts.length - answered).toBeLessThanOrEqual(1);
      };
      for (const one of steps) await carryOut(one);

      const ended = updates.sendLast('end', 300);
      await settled();
      while (answered < puts.length) await carryOut({ kind: 'answer', told });
      await ended;
      expect(views().at(-1)).toBe('end');
      const numbers = views().slice(0, -1).map(Number);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(said).toEqual([]);
    }),
  );
});
