// Tests that a request between jobs is read as it was written, and that no other text is.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BisectRequest,
  type GateRequest,
  isBisection,
  isMeasuredAnyway,
  outputFile,
  purposes,
  readRequest,
  requestText,
  subjectOf,
} from '../../src/action/approved-request.ts';
import { priorities } from '../../src/model/priority.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { pullRequest, revision } from '../fakes/result.ts';
import { anyCharacter } from '../random.ts';

const request: GateRequest = {
  patch: pullRequest,
  overrides: { margin: '1%' },
  priority: 'rerun',
  purpose: 'patch',
  extend: { run: 41, maxRuns: '40' },
};

const anyRequest: fc.Arbitrary<GateRequest> = fc
  .record({
    title: fc.string({ unit: anyCharacter }),
    author: fc.string(),
    testbed: fc.string({ maxLength: 500 }),
    priority: fc.constantFrom(...priorities),
    purpose: fc.constantFrom(...purposes),
    run: fc.integer({ min: 1 }),
  })
  .map(({ title, author, testbed, priority, purpose, run }) => ({
    patch: { ...pullRequest, title, author },
    overrides: { testbed },
    priority,
    purpose,
    extend: { run },
  }));

/** A relay's request for a gate that a build waits for. */
const ofRevision: GateRequest = {
  patch: revision,
  overrides: { earlier: '80345,80654' },
  priority: 'patch',
  purpose: 'patch',
  relay: { key: 'PHID-HMBT-a', build: 'PHID-HMBD-a' },
};

test('every request survives a round trip', () => {
  expect(readRequest(requestText(request))).toEqual(request);
  fc.assert(
    fc.property(anyRequest, (any) => {
      expect(readRequest(requestText(any))).toEqual(any);
      // The output of a step has to be one line.
      expect(requestText(any)).not.toMatch(/[\r\n]/);
    }),
  );
});

const bisection: BisectRequest = {
  command: 'bisect',
  patch: pullRequest,
  good: 'a'.repeat(40),
  bad: 'b'.repeat(40),
  isOwn: false,
  cell: { scenario: 'forwarding', family: 'inet4' },
  overrides: { fixUp: `${'c'.repeat(40)}:${'d'.repeat(40)}`, verifyRevert: 'true' },
  priority: 'patch',
};

test('a request for a bisection survives a round trip, and is no other kind of request', () => {
  const read = readRequest(requestText(bisection));
  expect(read).toEqual(bisection);
  expect([isBisection(read), isBisection(request)]).toEqual([true, false]);
  expect(subjectOf(bisection)).toBe('#7');
});

test.each<[string, unknown]>([
  ['nothing', ''],
  ['no JSON', '#12'],
  ['null', null],
  ['a commit that is a name', { ...request, patch: { ...pullRequest, headCommit: 'main' } }],
  ['a place in the queue that there is not', { ...request, priority: 'now' }],
  ['a run that is no number', { ...request, extend: { run: '41' } }],
  ['a key that names a folder elsewhere', { ...ofRevision, relay: { key: '../a' } }],
  ['a build that is none', { ...ofRevision, relay: { build: 'PHID-DREV-a' } }],
  ['a revision whose commit is a name', { ...ofRevision, patch: { ...revision, headCommit: 'main' } }],
  ['an earlier diff without a commit', { ...ofRevision, patch: { ...revision, earlier: [{ diff: 80345 }] } }],
  ['a bisection from a commit that is a name', { ...bisection, good: 'main' }],
  ['a bisection of no cell', { ...bisection, cell: { scenario: '$(reboot)', family: 'inet4' } }],
  ['a text beyond all measure', { ...request, overrides: { margin: '1'.repeat(501) } }],
])('%s is none', (_, value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  expect(() => readRequest(text)).toThrow(UsageError);
});

test.each<[string, object, string]>([
  ['a patch', {}, '#7'],
  ['the history', { purpose: 'history' }, 'history'],
  ['a nightly run', { purpose: 'nightly' }, 'nightly'],
  // Short ids can be made on purpose.
  [
    'a range, by full ids',
    { patch: { kind: 'range', title: '', author: '', baseCommit: 'a'.repeat(40), headCommit: 'b'.repeat(40) } },
    `${'a'.repeat(40)}..${'b'.repeat(40)}`,
  ],
  ['a revision, with any of its diffs', ofRevision, 'D27401'],
  ['a queued pull request', { queue: `gh-readonly-queue/main/pr-7-${'a'.repeat(40)}` }, 'gh-readonly-queue/main/pr-7'],
])('the subject of %s replaces an earlier one', (_, changes, subject) => {
  expect(subjectOf(readRequest(JSON.stringify({ ...request, ...changes })))).toBe(subject);
});

describe('a patch that changes nothing on the testbed is measured', () => {
  test('at night, when the base is measured against itself', () => {
    expect(isMeasuredAnyway({ ...request, purpose: 'nightly' }, {})).toBe(true);
  });

  test('if the comment or the job requests it, and not otherwise', () => {
    const overrides = { measureAnyway: 'true' };
    expect(isMeasuredAnyway({ ...request, overrides }, {})).toBe(true);
    expect(isMeasuredAnyway(request, overrides)).toBe(true);
    for (const purpose of ['patch', 'history'] as const) {
      expect(isMeasuredAnyway({ ...request, purpose }, { measureAnyway: '' })).toBe(false);
    }
  });

  test.each<[GateRequest['overrides'], GateRequest['overrides']]>([
    [{ measureAnyway: 'perhaps' }, {}],
    [{}, { measureAnyway: 'perhaps' }],
    [{ measureAnyway: 'perhaps' }, { measureAnyway: 'true' }],
  ])('and never by chance: %j, %j', (overrides, inputs) => {
    expect(() => isMeasuredAnyway({ ...request, overrides }, inputs)).toThrow(UsageError);
  });
});

test('the files of several gates are numbered, that of one is not', () => {
  expect(outputFile('result', 0, 1)).toBe('result.json');
  expect([outputFile('result', 0, 2), outputFile('failure', 1, 2)]).toEqual(['result-1.json', 'failure-2.json']);
});
