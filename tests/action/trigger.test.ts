// The trigger of each of GitHub's events; none fails but with one sentence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Trigger, triggerOf } from '../../src/action/trigger.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { payloadsOf } from '../fakes/github/webhooks.ts';
import { times } from '../random.ts';

const head = 'b'.repeat(40);
const noOverrides = { patch: '', overrides: {} };
const nothing = { kind: 'nothing', why: expect.any(String) };

const read = (name: string, payload: unknown, asked: Parameters<typeof triggerOf>[1] = noOverrides) =>
  triggerOf({ name, payload, commit: head }, asked);

const sender = { login: 'carol' };

describe('a pull request', () => {
  const document = {
    number: 7,
    title: 'Drop protocol 254 early',
    html_url: 'https://github.com/example/router/pull/7',
    user: { login: 'alice' },
    updated_at: '2026-11-20T12:00:00Z',
    base: { ref: 'main', sha: 'a'.repeat(40), repo: { full_name: 'example/router' } },
    head: { sha: head, repo: { full_name: 'alice/router' } },
  };
  const payload = (more: object) => ({ action: 'opened', sender, pull_request: document, ...more });
  const label = { name: 'ppsgate' };
  const labelled = { kind: 'labelled', label: 'ppsgate', at: document.updated_at };

  test.each<[string, object, object]>([
    ['opened', {}, { kind: 'pushed' }],
    ['synchronize', {}, { kind: 'pushed' }],
    ['reopened', {}, { kind: 'revived' }],
    ['ready_for_review', {}, { kind: 'revived' }],
    ['edited', { changes: { base: { ref: { from: 'lax' } } } }, { kind: 'revived' }],
    ['labeled', { label }, labelled],
  ])('that is %s is to be measured at its head', (action, more, occasion) => {
    for (const name of ['pull_request', 'pull_request_target']) {
      expect(read(name, payload({ action, ...more }))).toMatchObject({
        kind: 'pull-request',
        occasion: { ...occasion, by: 'carol' },
        found: { pullRequest: { number: 7, headCommit: head }, headRepository: 'alice/router' },
      });
    }
  });

  test.each<[string, object]>([
    ['edited', {}],
    ['edited', { changes: null }],
    ['edited', { changes: { title: { from: 'Draft' } } }],
    ['labeled', { label: null }],
    ['closed', { label }],
    ['unlabeled', { label }],
  ])('that is %s requests nothing: %j', (action, more) => {
    expect(read('pull_request', payload({ action, ...more }))).toEqual(nothing);
  });
});

describe('a comment', () => {
  const at = '2026-11-20T12:00:00Z';
  const comment = { id: 31, body: '/ppsgate run', created_at: at, user: { login: 'carol' } };
  const payload = (more: object) => ({
    action: 'created',
    sender,
    issue: { number: 7, pull_request: {} },
    comment,
    ...more,
  });
  const accepting = { issue: { number: 12 }, comment: { ...comment, body: '/ppsgate accept' } };

  test.each<[string, object, object]>([
    ['that calls ppsgate', {}, { kind: 'comment', number: 7, id: 31, by: 'carol', at, text: '/ppsgate run' }],
    ['that accepts, on an issue', accepting, { kind: 'acceptance', number: 12, id: 31, by: 'carol' }],
    ['on an issue that is no pull request', { issue: { number: 7 } }, nothing],
    ['on an issue whose pull request is null', { issue: { number: 7, pull_request: null } }, nothing],
    ['that is edited into a call', { action: 'edited' }, nothing],
    ['of an account that was deleted', { comment: { ...comment, user: null } }, nothing],
    ['without a text', { comment: { ...comment, body: null } }, nothing],
    ['that quotes a call', { comment: { ...comment, body: '> /ppsgate run' } }, nothing],
  ])('%s is read', (_, more, trigger) => {
    expect(read('issue_comment', payload(more))).toEqual(trigger);
  });
});

describe('a manual start', () => {
  test('the inputs of the workflow name the patch', () => {
    const inputs = { patch: ' #12 ', margin: '1%', 'max-runs': 20, testbed: '', 'measure-anyway': true };
    expect(read('workflow_dispatch', { sender, inputs })).toEqual({
      kind: 'dispatched',
      by: 'carol',
      patch: '#12',
      overrides: { margin: '1%', maxRuns: '20', measureAnyway: 'true' },
    });
  });

  test('the inputs of the step override those of the workflow', () => {
    const inputs = { patch: '#12', margin: '1%' };
    const asked = { patch: '#13', overrides: { families: 'inet6', maxRuns: '' } };
    expect(read('workflow_dispatch', { sender, inputs }, asked)).toMatchObject({
      patch: '#13',
      overrides: { margin: '1%', families: 'inet6' },
    });
  });
});

describe('by another program', () => {
  test('its payload overrides the inputs of the step', () => {
    const asked = { patch: '#12', overrides: { margin: '1%' } };
    const client_payload = { patch: '#13', scenarios: 'forwarding', 'measure-anyway': true, 'max-runs': 20 };
    expect(read('repository_dispatch', { sender, client_payload }, asked)).toEqual({
      kind: 'dispatched',
      by: 'carol',
      patch: '#13',
      overrides: { margin: '1%', scenarios: 'forwarding', measureAnyway: 'true', maxRuns: '20' },
    });
  });

  test('every field is read or refused', () => {
    const known = fc.constantFrom('patch', 'margin', 'max-runs', 'scenarios', 'measure-anyway');
    const name = fc.oneof({ weight: 3, arbitrary: known }, fc.constantFrom('maxRuns', 'x'));
    const value = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 12, true, 0.5) }, fc.constantFrom([], {}));
    fc.assert(
      fc.property(fc.dictionary(name, value), (client_payload) => {
        const fields = Object.entries(client_payload);
        const reading = () => read('repository_dispatch', { sender, client_payload });
        const isReadable = fields.every(([key, one]) => key !== 'maxRuns' && key !== 'x' && typeof one !== 'object');
        if (!isReadable) {
          expect(reading).toThrow(UsageError);
          return;
        }
        const trigger = reading();
        if (trigger.kind !== 'dispatched') throw new Error(trigger.kind);
        const texts = [trigger.patch, ...Object.values(trigger.overrides)].filter(Boolean);
        expect(texts.toSorted()).toEqual(fields.map(([, one]) => String(one)).toSorted());
      }),
    );
  });

  test('a relay names the diff, its key, the waiting build and the request; empty fields are absent', () => {
    const overrides = { earlier: '80345,80654', profile: 'off', testbed: 'mellanox' };
    const place = { patch: 'D27401:80677', key: 'PHID-HMBT-a', build: 'PHID-HMBD-a' };
    const of = (client_payload: object) => read('repository_dispatch', { sender, client_payload });
    const dispatched = { kind: 'dispatched', by: 'carol' };
    expect(of({ ...place, ...overrides })).toEqual({ ...dispatched, ...place, overrides });
    const { patch } = place;
    expect(of({ patch, key: '', build: '', earlier: '' })).toStrictEqual({ ...dispatched, patch, overrides: {} });
  });

  test.each(['#12', ['#12'], 12])('a payload that is no record is refused: %j', (client_payload) => {
    expect(() => read('repository_dispatch', { sender, client_payload })).toThrow(UsageError);
  });
});

test.each<[string, object, object]>([
  ['its button to extend', {}, { button: 'extend' }],
  ['its button to run again', { requested_action: { identifier: 'rerun' } }, { button: 'rerun' }],
  ["GitHub's own button", { action: 'rerequested', requested_action: null }, { button: 'rerun' }],
  ['one of several gates', { check_run: { head_sha: head, name: 'ppsgate: 10G' } }, { button: 'extend' }],
  [
    'one that names its pull request',
    { check_run: { head_sha: head, name: 'ppsgate', external_id: '#7 main https://github.com/o/r/actions/runs/1' } },
    { button: 'extend', number: 7 },
  ],
  ['another program', { check_run: { head_sha: head, name: 'lint' } }, nothing],
  ['another program with a like name', { check_run: { head_sha: head, name: 'ppsgates' } }, nothing],
  ['one that is completed after a request', { action: 'completed' }, nothing],
  ['a foreign button', { requested_action: { identifier: 'lgtm|26764' } }, nothing],
  ['a button without a name', { requested_action: {} }, nothing],
])('the check is read: %s', (_, more, trigger) => {
  const check_run = { head_sha: head, name: 'ppsgate', external_id: null };
  const payload = {
    action: 'requested_action',
    sender,
    check_run,
    requested_action: { identifier: 'extend' },
    ...more,
  };
  const button = { kind: 'button', by: 'carol', headCommit: head, ...trigger };
  expect(read('check_run', payload)).toEqual('button' in trigger ? button : trigger);
});

test.each<[string, object, object]>([
  ['to the default branch', {}, { kind: 'push', before: 'a'.repeat(40), after: head }],
  ['to another branch', { ref: 'refs/heads/main2' }, nothing],
  ['of a tag that is called like the branch', { ref: 'refs/tags/main' }, nothing],
  ['that deletes the branch', { after: '0'.repeat(40) }, nothing],
])('a push is read: %s', (_, more, trigger) => {
  const repository = { default_branch: 'main' };
  const payload = { ref: 'refs/heads/main', before: 'a'.repeat(40), after: head, repository, ...more };
  expect(read('push', payload)).toEqual(trigger);
});

const branch = `gh-readonly-queue/main/pr-7-${'c'.repeat(40)}`;
const group = { head_sha: head, head_ref: `refs/heads/${branch}`, base_sha: 'a'.repeat(40) };

// Only GitHub pushes to these branches, and removes a pull request that is pushed to.
test.each<[string, object, object]>([
  ['what it would merge', {}, { kind: 'queued', branch, base: 'a'.repeat(40), head }],
  ['what it has let go of', { action: 'destroyed', reason: 'dequeued' }, nothing],
  ['a branch where people can push', { merge_group: { ...group, head_ref: 'refs/heads/main' } }, nothing],
])('a merge queue is read: %s', (_, more, trigger) => {
  expect(read('merge_group', { action: 'checks_requested', merge_group: group, ...more })).toEqual(trigger);
});

describe('a bisection', () => {
  const overrides = { good: 'v1', bad: 'v2', scenarios: 'forwarding', families: 'inet4' };
  const ofInputs = { patch: '', overrides: {}, bisectOverrides: overrides };
  const bisect = { kind: 'bisect', overrides };

  test.each(['workflow_dispatch', 'repository_dispatch'])(
    'is requested by the words of a comment, at a patch or none: %s',
    (name) => {
      const texts = { patch: '#7', key: 'D7:12', instead: 'bisect v1 v2 forwarding inet4' };
      const payload = { sender, inputs: texts, client_payload: texts };
      expect(read(name, payload)).toMatchObject({ patch: '#7', by: 'carol', key: 'D7:12', bisect });
      const bare = { sender, inputs: { instead: 'bisect' }, client_payload: { instead: 'bisect' } };
      expect(read(name, bare)).toMatchObject({
        patch: '',
        bisect: { kind: 'bisect', overrides: {} },
      });
    },
  );

  test.each(['workflow_dispatch', 'repository_dispatch', 'schedule'])(
    'is what a workflow names commits for: %s',
    (name) => {
      expect(read(name, { sender }, ofInputs)).toMatchObject({ kind: 'dispatched', bisect });
    },
  );

  test('is not started by a pull request, despite the inputs of the workflow', () => {
    const payload = payloadsOf('pull_request')[0];
    expect(read('pull_request', payload, ofInputs)).not.toHaveProperty('bisect');
  });

  test.each(['run', 'bisetc', 'bisect a..b', '$(reboot)'])('in other words is refused: %s', (instead) => {
    expect(() => read('workflow_dispatch', { sender, inputs: { instead } })).toThrow(UsageError);
  });
});

test('at a set time it is the commit that the job runs at', () => {
  expect(read('schedule', {})).toEqual({ kind: 'schedule', commit: head });
});

test.each(['issues', 'workflow_run', 'toString', ''])('the event %j is refused', (name) => {
  expect(() => read(name, payloadsOf(name)[0])).toThrow(/names no patch to gate/);
});

/** A trigger, or the sentence of a `UsageError`; any other error is thrown on. */
function answerFor(name: string, payload: unknown): Trigger | string {
  try {
    return read(name, payload);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

const understood = [
  'pull_request',
  'pull_request_target',
  'issue_comment',
  'workflow_dispatch',
  'repository_dispatch',
  'check_run',
  'merge_group',
  'push',
  'schedule',
];

describe("of GitHub's published examples", () => {
  test.each(understood.filter((name) => payloadsOf(name).length > 0))('every one of %s is understood', (name) => {
    for (const payload of payloadsOf(name)) {
      expect(answerFor(name, payload)).toMatchObject({ kind: expect.any(String) });
    }
  });
});

/** An example of one event with something else at one of its places. */
const spoilt = (payload: unknown) =>
  fc
    .tuple(fc.infiniteStream(fc.nat()), fc.anything({ withNullPrototype: true }))
    .map(([choices, value]) => replaced(payload, choices, value));

function replaced(value: unknown, choices: Iterator<number>, by: unknown): unknown {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const { value: choice } = choices.next();
  const [key] = entries[choice % (entries.length + 1)] ?? [];
  if (key === undefined) return by;
  const all = entries.map(([name, inner]) => [name, name === key ? replaced(inner, choices, by) : inner]);
  return Object.fromEntries(all);
}

test('no payload makes it fail otherwise than by a sentence', () => {
  const examples = understood.flatMap((name) => payloadsOf(name).slice(0, 3));
  const payload = fc.oneof(fc.anything(), fc.constantFrom(...examples).chain(spoilt));
  fc.assert(
    fc.property(fc.constantFrom(...understood), payload, (name, hostile) => {
      expect(answerFor(name, hostile)).toBeDefined();
    }),
    { numRuns: times(100) },
  );
});
