// The trigger of each of GitHub's events; none fails but with one sentence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Trigger, triggerOf } from '../../src/action/trigger.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { eventNames, payloadsOf } from '../fakes/github/webhooks.ts';
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

  const base = { changes: { base: { ref: { from: 'lax' }, sha: { from: 'c'.repeat(40) } } } };

  test.each([
    ['opened', 'pushed', {}],
    ['synchronize', 'pushed', {}],
    ['reopened', 'revived', {}],
    ['ready_for_review', 'revived', {}],
    ['edited', 'revived', base],
  ])('that is %s is to be measured at its head, as one that is %s', (action, kind, more) => {
    for (const name of ['pull_request', 'pull_request_target']) {
      expect(read(name, payload({ action, ...more }))).toMatchObject({
        kind: 'pull-request',
        occasion: { kind, by: 'carol' },
        found: { pullRequest: { number: 7, headCommit: head }, headRepository: 'alice/router' },
      });
    }
  });

  test('with a new label has the label, its time and its author', () => {
    const labelled = payload({ action: 'labeled', label: { name: 'ppsgate' } });
    const at = '2026-11-20T12:00:00Z';
    expect(read('pull_request_target', labelled)).toMatchObject({
      occasion: { kind: 'labelled', label: 'ppsgate', by: 'carol', at },
    });
  });

  test.each([[undefined], [null], [{}], [{ title: { from: 'Draft' } }], [{ body: { from: '' } }]])(
    'that is edited requests nothing unless its base changed: %j',
    (changes) => {
      const edited = payload({ action: 'edited', changes });
      expect(read('pull_request_target', edited)).toEqual(nothing);
    },
  );

  test.each([[{}], [{ label: null }]])('that gets an unnamed label is not treated as a push: %j', (more) => {
    expect(read('pull_request', payload({ action: 'labeled', ...more }))).toEqual(nothing);
  });

  test.each(['closed', 'unlabeled', 'assigned', 'converted_to_draft', 'review_requested'])(
    'that is %s measures nothing, with any label',
    (action) => {
      expect(read('pull_request', payload({ action, label: { name: 'ppsgate' } }))).toEqual({
        kind: 'nothing',
        why: `Nothing is measured when a pull request is ${action}.`,
      });
    },
  );

  test('of a deleted account belongs to "ghost"', () => {
    const trigger = read('pull_request', payload({ pull_request: { ...document, user: null } }));
    expect(trigger).toMatchObject({ found: { pullRequest: { author: 'ghost' } } });
  });

  test('is refused with the place that is not as GitHub describes it', () => {
    const broken = { ...document, head: { ...document.head, sha: 'main; reboot' } };
    expect(() => read('pull_request', payload({ pull_request: broken }))).toThrow(
      new UsageError(
        'The payload of the pull_request event has an unexpected value at pull_request.head.sha: expected a full commit ID.',
      ),
    );
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
  const onlyCalls = {
    kind: 'nothing',
    why: 'Only a new comment on a pull request that begins with /ppsgate starts anything.',
  };

  test('that calls ppsgate is a request, by its author at its time', () => {
    expect(read('issue_comment', payload({}))).toEqual({
      kind: 'comment',
      number: 7,
      id: 31,
      by: 'carol',
      at,
      text: '/ppsgate run',
    });
  });

  const accepting = { issue: { number: 12 }, comment: { ...comment, body: '/ppsgate accept' } };

  test('that accepts, on an issue, names the author and the issue', () => {
    const acceptance = { kind: 'acceptance', number: 12, id: 31, by: 'carol' };
    expect(read('issue_comment', payload(accepting))).toEqual(acceptance);
  });

  test.each<[string, object]>([
    ['on an issue that is no pull request', { issue: { number: 7 } }],
    ['on an issue whose pull request is null', { issue: { number: 7, pull_request: null } }],
    ['that is edited into a call', { action: 'edited' }],
    ['that is deleted', { action: 'deleted' }],
    ['of an account that was deleted', { comment: { ...comment, user: null } }],
    ['without a text', { comment: { ...comment, body: null } }],
    ['that quotes a call', { comment: { ...comment, body: '> /ppsgate run' } }],
    ['that calls another program', { comment: { ...comment, body: '/ppsgates run' } }],
  ])('%s requests nothing', (_, more) => {
    expect(read('issue_comment', payload(more))).toEqual(onlyCalls);
  });
});

describe('a manual start', () => {
  test('the inputs of the workflow name the patch', () => {
    const inputs = {
      patch: ' #12 ',
      margin: '1%',
      'max-runs': 20,
      testbed: '',
      'measure-anyway': true,
    };
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
    const client_payload = { patch: '#13', scenarios: 'forwarding' };
    expect(read('repository_dispatch', { sender, client_payload }, asked)).toEqual({
      kind: 'dispatched',
      by: 'carol',
      patch: '#13',
      overrides: { margin: '1%', scenarios: 'forwarding' },
    });
  });

  test.each([
    ['a list', { patch: ['#13'] }, 'client_payload.patch: expected a text, found'],
    ['a record', { margin: { a: 1 } }, 'client_payload.margin: expected a text, found'],
    ['an unknown name', { measureAnyway: true }, 'did you mean `measure-anyway`?'],
    ['another unknown name', { colour: 'red' }, 'found "colour"'],
  ])('%s is refused', (_, client_payload, why) => {
    const reading = () => read('repository_dispatch', { sender, client_payload });
    expect(reading).toThrow(UsageError);
    expect(reading).toThrow(why);
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

  test('a relay names the diff, its key, the waiting build and the request', () => {
    const client_payload = {
      patch: 'D27401:80677',
      key: 'PHID-HMBT-a',
      build: 'PHID-HMBD-a',
      earlier: '80345,80654',
      'max-runs': '40',
      profile: 'off',
      testbed: 'mellanox',
    };
    expect(read('repository_dispatch', { sender, client_payload })).toEqual({
      kind: 'dispatched',
      by: 'carol',
      patch: 'D27401:80677',
      key: 'PHID-HMBT-a',
      build: 'PHID-HMBD-a',
      overrides: { earlier: '80345,80654', maxRuns: '40', profile: 'off', testbed: 'mellanox' },
    });
  });

  test('fields that a relay leaves out are absent, not empty', () => {
    const client_payload = { patch: 'D27401:80677', key: '', build: '', earlier: '' };
    expect(read('repository_dispatch', { sender, client_payload })).toStrictEqual({
      kind: 'dispatched',
      by: 'carol',
      patch: 'D27401:80677',
      overrides: {},
    });
  });

  test.each(['#12', ['#12'], 12])('a payload that is no record is refused: %j', (client_payload) => {
    expect(() => read('repository_dispatch', { sender, client_payload })).toThrow(UsageError);
  });
});

describe('the check', () => {
  const payload = (more: object) => ({
    action: 'requested_action',
    sender,
    check_run: { head_sha: head, name: 'ppsgate' },
    requested_action: { identifier: 'extend' },
    ...more,
  });

  test.each<[string, object, string]>([
    ['its button to extend', {}, 'extend'],
    ['its button to run again', { requested_action: { identifier: 'rerun' } }, 'rerun'],
    ["GitHub's own button", { action: 'rerequested', requested_action: null }, 'rerun'],
    ['the button of one of several gates', { check_run: { head_sha: head, name: 'ppsgate: 10G' } }, 'extend'],
  ])('%s asks for the head that it stands on', (_, more, button) => {
    const trigger = { kind: 'button', by: 'carol', button, headCommit: head };
    expect(read('check_run', payload(more))).toEqual(trigger);
  });

  test('tells the pull request of it made for, where it knows', () => {
    const check = { head_sha: head, name: 'ppsgate' };
    for (const external_id of ['#7 main https://github.com/example/router/actions/runs/1', null]) {
      const number = external_id === null ? undefined : 7;
      const trigger = read('check_run', payload({ check_run: { ...check, external_id } }));
      expect(trigger).toEqual({
        kind: 'button',
        by: 'carol',
        button: 'extend',
        headCommit: head,
        ...(number !== undefined && { number }),
      });
    }
  });

  test.each<[string, object]>([
    ['of another program', { check_run: { head_sha: head, name: 'lint' } }],
    ['of another program with a like name', { check_run: { head_sha: head, name: 'ppsgates' } }],
    ['that is created', { action: 'created', requested_action: undefined }],
    ['that is completed after a request', { action: 'completed' }],
    ['with a foreign button', { requested_action: { identifier: 'lgtm|26764' } }],
    ['with a button without a name', { requested_action: {} }],
  ])('%s requests nothing', (_, more) => {
    expect(read('check_run', payload(more))).toEqual(nothing);
  });
});

describe('a push', () => {
  const zeros = '0'.repeat(40);
  const payload = (more: object) => ({
    ref: 'refs/heads/main',
    before: 'a'.repeat(40),
    after: head,
    repository: { default_branch: 'main' },
    ...more,
  });

  test('to the default branch is measured against what was there before', () => {
    expect(read('push', payload({}))).toEqual({
      kind: 'push',
      before: 'a'.repeat(40),
      after: head,
    });
  });

  test.each<[string, object]>([
    ['to another branch', { ref: 'refs/heads/main2' }],
    ['of a tag that is called like the branch', { ref: 'refs/tags/main' }],
    ['that deletes the branch', { after: zeros }],
  ])('%s is not measured', (_, more) => {
    expect(read('push', payload(more))).toEqual(nothing);
  });
});

describe('a merge queue', () => {
  const [_example] = payloadsOf('merge_group');
  const group = {
    head_sha: head,
    head_ref: `refs/heads/gh-readonly-queue/main/pr-7-${'c'.repeat(40)}`,
    base_sha: 'a'.repeat(40),
    base_ref: 'refs/heads/main',
  };
  const payload = (more: object) => ({ action: 'checks_requested', merge_group: group, ...more });

  test('has what it would merge measured against what that is put upon', () => {
    expect(read('merge_group', payload({}))).toEqual({
      kind: 'queued',
      branch: `gh-readonly-queue/main/pr-7-${'c'.repeat(40)}`,
      base: 'a'.repeat(40),
      head,
    });
  });

  // A push goes to a queued pull request. Defence: GitHub removes it from the queue; the commit of the event is
  // measured, on branches that only GitHub pushes.
  test.each<[string, object]>([
    ['what it has let go of', { action: 'destroyed', reason: 'dequeued' }],
    ['a branch where people can push', { merge_group: { ...group, head_ref: 'refs/heads/main' } }],
  ])('has nothing measured of %s', (_, more) => {
    expect(read('merge_group', payload(more))).toEqual(nothing);
  });
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

  test.each([
    ['run', /^instead: expected words like bisect GOOD BAD forwarding inet4, found "run"\.$/],
    ['bisetc', /^instead: there is no command "bisetc"; write \/ppsgate bisect\.$/],
    ['bisect a..b', /; write \/ppsgate bisect a b\.$/],
    ['$(reboot)', /^instead: there is no command "\$\(reboot\)"/],
  ])('in words that are none of one is refused: %s', (instead, why) => {
    expect(() => read('workflow_dispatch', { sender, inputs: { instead } })).toThrow(why);
  });
});

test('at a set time it is the commit that the job runs at', () => {
  expect(read('schedule', { schedule: '17 3 * * *' })).toEqual({ kind: 'schedule', commit: head });
});

test.each(['issues', 'workflow_run', 'toString', ''])('the event %j is answered by what to do instead', (name) => {
  expect(() => read(name, payloadsOf(name)[0])).toThrow(
    /names no patch to gate: run ppsgate on pull_request, .* or push\.$/,
  );
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

  test('no event fails without a sentence, even under the name of another event', () => {
    for (const payload of eventNames.flatMap(payloadsOf)) {
      for (const name of understood) expect(answerFor(name, payload)).toBeDefined();
    }
    for (const name of eventNames.filter((one) => !understood.includes(one))) {
      for (const payload of payloadsOf(name)) expect(answerFor(name, payload)).toMatch(/\.$/);
    }
  });
});

test('a value that cannot be converted to text is refused in a sentence', () => {
  const client_payload = JSON.parse('{ "margin": { "toString": 0, "valueOf": 0 }, "": { "toString": 0 } }');
  const payload = { sender: { login: 'alice', type: 'User' }, action: 'ppsgate', client_payload };
  expect(answerFor('repository_dispatch', payload)).toMatch(/ cannot be read at .*\.$/);
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

// An event has a payload that GitHub would not send. Defence: It is parsed by a schema.
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
