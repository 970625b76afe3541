// Maps the end of a gate to its report, also if the gate fails or is cancelled.

import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/model/usage-error.ts';
import {
  cancelledOutcome,
  conclusionOf,
  outcomeOfFailure,
  outcomeOfResult,
  type ReportedOutcome,
} from '../../../src/publish/reporters/outcome.ts';
import { outcomeMarkdown, outcomeTitle } from '../../../src/publish/reporters/outcome-text.ts';
import {
  combineReporters,
  expectedStart,
  queuePosition,
  type Reporter,
  reportOutcome,
  reportThenLink,
} from '../../../src/publish/reporters/reporter.ts';
import { aResult, passing } from '../../fakes/result.ts';

function aRecorder() {
  const told: string[] = [];
  let ending: ReportedOutcome | undefined;
  const answer: Reporter = {
    queued: (text) => void told.push(`queued: ${text}`),
    waiting: ({ place }, text) => void told.push(`waiting ${place}: ${text}`),
    measuring: (testbed, line) => void told.push(`measuring: ${testbed}, ${line}`),
    async conclude(first) {
      ending ??= first;
      told.push(`ended: ${outcomeTitle(first)}`);
      return 'delivered';
    },
    addLinks: async (linked) => void told.push(`linked: ${outcomeMarkdown(linked)}`),
    leaveOpen: async () => void told.push('left'),
  };
  return { answer, told, ending: () => ending };
}

const passed = passing();
const passes = 'ended: 🟢 #7 loses nothing that matters: 1.00 % at most, where 2 % would matter';
const never = new AbortController().signal;

test('several reporters get the same calls', async () => {
  const recorders = [aRecorder(), aRecorder()];
  const answer = combineReporters(recorders.map((one) => one.answer));
  answer.queued('for a runner');
  answer.waiting({ place: 2, of: 3 }, 'for shelf-3');
  answer.measuring('shelf-3', 'run 1');
  await answer.conclude(passed);
  await answer.leaveOpen();
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

describe('a gate is reported', () => {
  test('when it ends', async () => {
    const { answer, ending } = aRecorder();
    expect(await reportOutcome(answer, never, async () => passed)).toBe(passed);
    expect(ending()).toBe(passed);
  });

  test('when it throws, which throws on', async () => {
    const { answer, ending } = aRecorder();
    const error = new UsageError('There is no such testbed.');
    await expect(reportOutcome(answer, never, () => Promise.reject(error))).rejects.toBe(error);
    expect(ending()).toMatchObject({ kind: 'unmeasured', message: error.message });
  });

  test('at once when it is cancelled, before it has cleaned up', async () => {
    const { answer, ending } = aRecorder();
    const cancel = new AbortController();
    const cleaning = Promise.withResolvers<ReportedOutcome>();
    const gate = reportOutcome(answer, cancel.signal, () => cleaning.promise);
    cancel.abort();
    expect(ending()).toBe(cancelledOutcome);
    cleaning.reject(new Error('cancelled'));
    await expect(gate).rejects.toThrow('cancelled');
    expect(ending()).toBe(cancelledOutcome);
  });
});

describe('the links of an outcome', () => {
  const ending = outcomeOfResult(aResult(), {});

  test('is created and added once the verdict is reported', async () => {
    const { answer, told } = aRecorder();
    const make = async () => {
      told.push('draws');
      return { rerun: 'by hand' };
    };
    const linked = await reportThenLink(answer, ending, make, (why) => told.push(why));
    expect(told).toEqual([`ended: ${outcomeTitle(ending)}`, 'draws', `linked: ${outcomeMarkdown(linked)}`]);
    expect(outcomeMarkdown(linked)).toContain('Rerun: by hand');
  });

  test('costs the links alone where it cannot be made', async () => {
    const { answer, told } = aRecorder();
    const make = () => Promise.reject(new RangeError('Invalid string length'));
    expect(await reportThenLink(answer, ending, make, (why) => told.push(why))).toBe(ending);
    expect(told).toEqual([`ended: ${outcomeTitle(ending)}`, expect.stringContaining('(Invalid string length)')]);
  });
});

test.each(['usage', 'infrastructure'] as const)('a failure keeps whose it is, and its text in a fence: %s', (why) => {
  const ending = outcomeOfFailure(why, 'ssh: ```\n@everyone');
  expect(conclusionOf(ending)).toBe(why);
  expect(outcomeMarkdown(ending)).toBe('````\nssh: ```\n@everyone\n````');
});

test('reports the place in the queue with the estimated wait, if there is one', () => {
  const now = new Date('2026-01-01T23:59:30Z');
  const known = { place: 2, of: 3, expectedSeconds: 2400 };
  expect(queuePosition(known)).toBe('2 of 3 in line, about 40 min');
  expect(queuePosition({ place: 1, of: 1 })).toBe('1 of 1 in line');
  expect(expectedStart(known, now)).toBe(
    'Expected to begin at about 2026-01-02 00:39 UTC, as of 2026-01-01 23:59 UTC.',
  );
  expect(expectedStart({ place: 1, of: 1 }, now)).toMatch(/^No start can be estimated, as of /);
});
