// How a gate's end becomes its answer, also where the gate fails or is cancelled.

import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/model/usage-error.ts';
import {
  cancelled,
  conclusionOf,
  type Ending,
  endingOfError,
  endingOfFailure,
  endingOfResult,
  summaryOf,
  titleOf,
} from '../../../src/publish/reporters/outcome-text.ts';
import {
  type Answer,
  answering,
  expectation,
  linkedAfterwards,
  placeInLine,
  secondsFor,
  together,
} from '../../../src/publish/reporters/reporter.ts';
import { aResult, passing } from '../../fakes/result.ts';

/** Writes down what it is told. */
function aRecorder() {
  const told: string[] = [];
  let ending: Ending | undefined;
  const answer: Answer = {
    queued: (text) => void told.push(`queued: ${text}`),
    waiting: ({ place }, text) => void told.push(`waiting ${place}: ${text}`),
    measuring: (testbed, line) => void told.push(`measuring: ${testbed}, ${line}`),
    async ended(first) {
      ending ??= first;
      told.push(`ended: ${titleOf(first)}`);
      return 'given';
    },
    linked: async (linked) => void told.push(`linked: ${summaryOf(linked)}`),
    left: async () => void told.push('left'),
  };
  return { answer, told, ending: () => ending };
}

const passed = passing();
const passes = 'ended: 🟢 #7 loses nothing that matters: 1.00 % at most, where 2 % would matter';
const never = new AbortController().signal;

test('several answers are told alike', async () => {
  const recorders = [aRecorder(), aRecorder()];
  const answer = together(recorders.map((one) => one.answer));
  answer.queued('for a runner');
  answer.waiting({ place: 2, of: 3 }, 'for shelf-3');
  answer.measuring('shelf-3', 'run 1');
  await answer.ended(passed);
  await answer.left();
  for (const { told } of recorders) {
    expect(told).toEqual([
      'queued: for a runner',
      'waiting 2: for shelf-3',
      'measuring: shelf-3, run 1',
      passes,
      'left',
    ]);
  }
});

describe('a gate is answered', () => {
  test('as it ends', async () => {
    const { answer, ending } = aRecorder();
    expect(await answering(answer, never, async () => passed)).toBe(passed);
    expect(ending()).toBe(passed);
  });

  test('where it throws, and what it threw is thrown on', async () => {
    const { answer, ending } = aRecorder();
    const error = new UsageError('There is no such testbed.');
    await expect(answering(answer, never, () => Promise.reject(error))).rejects.toBe(error);
    expect(ending()).toEqual(endingOfError(error));
  });

  test('at once where it is cancelled, before it has cleaned up', async () => {
    const { answer, ending } = aRecorder();
    const cancel = new AbortController();
    const cleaning = Promise.withResolvers<Ending>();
    const gate = answering(answer, cancel.signal, () => cleaning.promise);
    cancel.abort();
    expect(ending()).toBe(cancelled);
    cleaning.reject(new Error('cancelled'));
    await expect(gate).rejects.toThrow('cancelled');
    expect(ending()).toBe(cancelled);
  });

  test('no more where it is cancelled after its end', async () => {
    const { answer, told } = aRecorder();
    const cancel = new AbortController();
    await answering(answer, cancel.signal, async () => passed);
    cancel.abort();
    expect(told).toEqual([passes]);
  });
});

describe('what an answer links to', () => {
  const ending = endingOfResult(aResult(), {});

  test('is made once the verdict is told, and is then added', async () => {
    const { answer, told } = aRecorder();
    const make = async () => {
      told.push('draws');
      return { rerun: 'by hand' };
    };
    const linked = await linkedAfterwards(answer, ending, make, (why) => told.push(why));
    expect(told).toEqual([`ended: ${titleOf(ending)}`, 'draws', `linked: ${summaryOf(linked)}`]);
    expect(summaryOf(linked)).toContain('Rerun: by hand');
  });

  test('costs the links alone where it cannot be made', async () => {
    const { answer, told } = aRecorder();
    const make = () => Promise.reject(new RangeError('Invalid string length'));
    expect(await linkedAfterwards(answer, ending, make, (why) => told.push(why))).toBe(ending);
    expect(told).toEqual([
      `ended: ${titleOf(ending)}`,
      'The answer has no links, because the report was not kept (Invalid string length).',
    ]);
  });
});

test('a result is told by its verdict, with its report', () => {
  const ending = endingOfResult(aResult(), { rerun: '`/ppsgate rerun`' });
  expect(conclusionOf(ending)).toBe('patchAtFault');
  expect(titleOf(ending)).toBe('🔴 #7 loses 10.4 % (forwarding inet4)');
  expect(summaryOf(ending)).toContain('Rerun: `/ppsgate rerun`');
});

test.each([
  ['usage', '⚪ not measured: what was asked for cannot be done'],
  ['infrastructure', '⚪ not measured: something failed that is not the patch'],
] as const)('a failure says whose it is: %s', (why, title) => {
  const ending = endingOfFailure(why, 'ssh: ```\n@everyone');
  expect(conclusionOf(ending)).toBe(why);
  expect(titleOf(ending)).toBe(title);
  expect(summaryOf(ending)).toBe('````\nssh: ```\n@everyone\n````');
  expect(ending.said).toBe('ssh: ```\n@everyone');
});

test('what is thrown and is no error is told all the same', () => {
  const ending = endingOfError('No route.');
  expect(conclusionOf(ending)).toBe('infrastructure');
  expect(summaryOf(ending)).toBe('```\nNo route.\n```');
});

test('GitHub is waited for as long as the job has', () => {
  expect([secondsFor(cancelled), secondsFor(passed)]).toEqual([30, 300]);
});

test('a place in the queue is told with how long it may take, if anybody knows', () => {
  const now = new Date('2026-01-01T23:59:30Z');
  const known = { place: 2, of: 3, expectedSeconds: 2400 };
  expect(placeInLine(known)).toBe('2 of 3 in line, some 40 min');
  expect(placeInLine({ place: 1, of: 1 })).toBe('1 of 1 in line');
  expect(expectation(known, now)).toBe(
    'Expected to begin at about 2026-01-02 00:39 UTC, as of 2026-01-01 23:59 UTC.',
  );
  expect(expectation({ place: 1, of: 1 }, now)).toMatch(/^Nobody can say when it begins, as of /);
});
