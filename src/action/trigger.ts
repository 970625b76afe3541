// Parses the event that started a job into plain data. Nothing in its payload is trusted yet.

import { z } from 'zod';
import { wrongName } from '../config/fields.ts';
import { bisectOverrideNames, kebabCase, overrideNames, overridesAs } from '../config/parameters.ts';
import { type FoundPullRequest, pullRequestFromEvent } from '../forge/github/pull-request.ts';
import type { Occasion } from '../forge/patch/authorize.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import { type CommentCommand, type GateOverrides, isAcceptCommand, parseCommand } from '../forge/patch/command.ts';
import * as bounded from '../model/bounds.ts';
import { callOnGithub } from '../model/patch.ts';
import { excerpt, expected, sentence } from '../model/units.ts';
import { UsageError } from '../model/usage-error.ts';
import { pullRequestOfCheckRun } from '../publish/reporters/check-run.ts';

export type Trigger =
  | { kind: 'pull-request'; found: FoundPullRequest; occasion: Occasion }
  /** A command on a pull request; `at` is GitHub's time, in ISO 8601. */
  | { kind: 'comment'; number: number; id: number; by: string; at: string; text: string }
  /**
   * Started manually or by a program: `patch` is `#123`, `D27401`, a commit or a range. A relay adds its `key` and the
   * waiting Harbormaster build, both unchecked. `bisect` bisects the patch's own commits, or those that it names.
   */
  | {
      kind: 'dispatched';
      by: string;
      patch: string;
      overrides: GateOverrides;
      bisect?: BisectCommand;
      key?: string;
      build?: string;
    }
  /** A button of our check; `number` is the pull request that the check names. */
  | { kind: 'button'; by: string; button: 'rerun' | 'extend'; headCommit: string; number?: number }
  /** A comment that accepts the level in the issue of a change. */
  | { kind: 'acceptance'; number: number; id: number; by: string }
  /** A merge queue waits for the check of its `branch`, given without refs/heads/. */
  | { kind: 'queued'; branch: string; base: string; head: string }
  | { kind: 'push'; before: string; after: string }
  | { kind: 'schedule'; commit: string }
  | Nothing;

type Nothing = { kind: 'nothing'; why: string };

export type BisectCommand = Extract<CommentCommand, { kind: 'bisect' }>;

type Overrides = { patch: string; overrides: GateOverrides; bisectOverrides?: BisectOverrides };

/**
 * Reads the payload of an event. Throws a `UsageError` for an unsupported event, and for a payload that does not match
 * GitHub's documentation.
 *
 * @param event.commit at which the job runs, as in `GITHUB_SHA`.
 * @param overrides of the workflow's inputs; they replace fields missing from the payload.
 */
export function triggerOf(event: { name: string; payload: unknown; commit: string }, overrides: Overrides): Trigger {
  const reader = readers.get(event.name);
  if (reader !== undefined) return reader(event, overrides);
  throw new UsageError(
    `The event ${event.name} names no patch to gate: run ppsgate on pull_request, pull_request_target, issue_comment, check_run, merge_group, workflow_dispatch, repository_dispatch, schedule or push.`,
  );
}

type Event = Parameters<typeof triggerOf>[0];

const sender = z.object({ login: bounded.word }).default({ login: 'unknown' });

const fieldNames: readonly string[] = [
  'patch',
  'instead',
  'key',
  'build',
  ...new Set([...overrideNames, ...bisectOverrideNames].map(kebabCase)),
];

/** Refuses values that ppsgate would not read, so that none is ignored: an unknown name, a list, a record. */
const texts = bounded.byName(z.unknown()).transform((record, context) => {
  const named = Object.entries(record).map(([name, value]): [string, string] => {
    if (!fieldNames.includes(name)) {
      context.addIssue({ code: 'custom', message: wrongName(fieldNames)({ input: name }) });
    }
    if (value === null) return [name, ''];
    // JSON may have objects that cannot be converted to text.
    if (typeof value !== 'object') return [name, String(value)];
    context.addIssue({
      code: 'custom',
      path: [name],
      message: expected('a text')({ input: value }),
    });
    return [name, ''];
  });
  return Object.fromEntries(named);
});

function read<Schema extends z.ZodType>(event: Event, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(event.payload);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'its top';
  throw new UsageError(
    `The payload of the event ${event.name} cannot be read at ${where}: ${sentence(issue?.message ?? '')}`,
  );
}

const pullRequestPayload = z.object({
  action: bounded.word,
  sender,
  label: z.object({ name: bounded.word }).nullish(),
  changes: z.object({ base: z.looseObject({}).optional() }).nullish(),
});

function fromPullRequest(event: Event): Trigger {
  const payload = read(event, pullRequestPayload);
  const occasion = occasionOf(event, payload);
  if (occasion.kind === 'nothing') return occasion;
  const found = pullRequestFromEvent(event.name, event.payload);
  if (found.kind !== 'found') throw new UsageError(found.why);
  return { kind: 'pull-request', found, occasion };
}

/** GitHub sends the pull request as of the event, so its last change is the label's. */
const labelledPayload = z.object({ pull_request: z.object({ updated_at: bounded.time }) });

function occasionOf(
  event: Event,
  { action, sender: { login: by }, label, changes }: z.infer<typeof pullRequestPayload>,
): Occasion | Nothing {
  const nothing = (why: string): Nothing => ({ kind: 'nothing', why });
  switch (action) {
    case 'opened':
    case 'synchronize':
      return { kind: 'pushed', by };
    case 'edited':
      return changes?.base === undefined
        ? nothing('Of all edits, only a changed base starts a measurement.')
        : { kind: 'revived', by };
    case 'reopened':
    case 'ready_for_review':
      return { kind: 'revived', by };
    case 'labeled': {
      if (label == null) return nothing('The event does not name the added label.');
      const { updated_at: at } = read(event, labelledPayload).pull_request;
      return { kind: 'labelled', by, at, label: label.name };
    }
    default:
      return nothing(`Nothing is measured when a pull request is ${action}.`);
  }
}

const commentPayload = z.object({
  action: bounded.word,
  issue: z.object({ number: bounded.id, pull_request: z.object({}).nullish() }),
  comment: z.object({
    id: z.int(),
    body: bounded.document.nullish(),
    created_at: bounded.time,
    user: z.object({ login: bounded.word }).nullable(),
  }),
});

function fromComment({ action, issue, comment }: z.infer<typeof commentPayload>): Trigger {
  const { id, body, created_at: at, user } = comment;
  const text = body ?? '';
  const isCall = parseCommand(text) !== undefined;
  if (action === 'created' && issue.pull_request == null && user !== null && isAcceptCommand(text)) {
    return { kind: 'acceptance', number: issue.number, id, by: user.login };
  }
  if (action !== 'created' || issue.pull_request == null || user === null || !isCall) {
    const why = `Only a new comment on a pull request that begins with ${callOnGithub} starts anything.`;
    return { kind: 'nothing', why };
  }
  return { kind: 'comment', number: issue.number, id, by: user.login, at, text };
}

function fromTexts({ login: by }: { login: string }, fields: Record<string, string>): Trigger {
  const { patch = '', key, build } = fields;
  const named = (names: readonly string[]) =>
    withoutEmpty(Object.fromEntries(names.map((name) => [name, fields[kebabCase(name)]])));
  const bisect = bisectIn(fields, named(bisectOverrideNames));
  return {
    kind: 'dispatched',
    by,
    patch: patch.trim(),
    overrides: named(overrideNames),
    ...(bisect && { bisect }),
    ...withoutEmpty({ key, build }),
  };
}

function bisectIn({ instead }: Record<string, string>, overrides: BisectOverrides): BisectCommand | undefined {
  if (!instead) return overrides.good || overrides.bad ? { kind: 'bisect', overrides } : undefined;
  const command = parseCommand(`${callOnGithub} ${instead}`);
  if (command?.kind === 'bisect') return { ...command, overrides: { ...overrides, ...command.overrides } };
  const what =
    command?.kind === 'mistaken'
      ? command.why
      : `expected words like bisect GOOD BAD forwarding inet4, found "${excerpt(instead)}"`;
  throw new UsageError(`instead: ${what}.`);
}

const textsOf = ({ patch, overrides, bisectOverrides }: Overrides): Record<string, string> =>
  withoutEmpty({ patch, ...overridesAs({ ...bisectOverrides, ...overrides }, kebabCase) });

const withoutEmpty = (texts: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text ? [[name, text]] : [])));

const commit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'expected a full commit id');

const checkRunPayload = z.object({
  action: bounded.word,
  sender,
  check_run: z.object({
    head_sha: commit,
    name: bounded.word,
    external_id: bounded.word.nullish(),
  }),
  requested_action: z.object({ identifier: bounded.word.optional() }).nullish(),
});

function fromButton(payload: z.infer<typeof checkRunPayload>): Trigger {
  const { action, sender, check_run, requested_action } = payload;
  const pressed = action === 'requested_action' ? requested_action?.identifier : undefined;
  const button = action === 'rerequested' ? 'rerun' : pressed;
  const isOurs = check_run.name === 'ppsgate' || check_run.name.startsWith('ppsgate: ');
  if (!isOurs || (button !== 'rerun' && button !== 'extend')) {
    return { kind: 'nothing', why: 'Only the buttons of the check of ppsgate ask for anything.' };
  }
  const number = pullRequestOfCheckRun(check_run.external_id ?? '');
  const about = { by: sender.login, button, headCommit: check_run.head_sha } as const;
  return { kind: 'button', ...about, ...(number !== undefined && { number }) };
}

const mergeGroupPayload = z.object({
  action: bounded.word,
  merge_group: z.object({ head_sha: commit, head_ref: bounded.word, base_sha: commit }),
});

/** Trusts queue branches: only GitHub can push to them, after a person with write access has queued a pull request. */
function fromMergeGroup({ action, merge_group }: z.infer<typeof mergeGroupPayload>): Trigger {
  const { head_sha: head, head_ref, base_sha: base } = merge_group;
  const [, branch] = /^refs\/heads\/(gh-readonly-queue\/.+)$/.exec(head_ref) ?? [];
  if (action !== 'checks_requested' || branch === undefined) {
    return {
      kind: 'nothing',
      why: 'Only commits that a merge queue waits for are measured for it.',
    };
  }
  return { kind: 'queued', branch, base, head };
}

const pushPayload = z.object({
  ref: bounded.word,
  before: commit,
  after: commit,
  repository: z.object({ default_branch: bounded.word }),
});

function fromPush({ ref, before, after, repository }: z.infer<typeof pushPayload>): Trigger {
  const { default_branch: branch } = repository;
  if (ref !== `refs/heads/${branch}` || /^0+$/.test(after)) {
    return { kind: 'nothing', why: `Only pushes to ${branch} are measured automatically.` };
  }
  return { kind: 'push', before, after };
}

function fromWorkflowDispatch(event: Event, overrides: Overrides): Trigger {
  const { sender: by, inputs } = read(event, z.object({ sender, inputs: texts.nullish() }));
  return fromTexts(by, { ...inputs, ...textsOf(overrides) });
}

function fromRepositoryDispatch(event: Event, overrides: Overrides): Trigger {
  const payload = z.object({ sender, client_payload: texts.nullish() });
  const { sender: by, client_payload } = read(event, payload);
  return fromTexts(by, { ...textsOf(overrides), ...client_payload });
}

/** Bisects on a push or a schedule if the workflow's inputs name commits. */
const unlessBisected =
  (otherwise: (event: Event) => Trigger) =>
  (event: Event, overrides: Overrides): Trigger => {
    const bisect = bisectIn({}, withoutEmpty({ ...overrides.bisectOverrides }));
    if (bisect === undefined) return otherwise(event);
    const { sender: by } = read(event, z.object({ sender }));
    return fromTexts(by, textsOf(overrides));
  };

const readers: ReadonlyMap<string, (event: Event, overrides: Overrides) => Trigger> = new Map([
  ['pull_request', fromPullRequest],
  ['pull_request_target', fromPullRequest],
  ['issue_comment', (event) => fromComment(read(event, commentPayload))],
  ['workflow_dispatch', fromWorkflowDispatch],
  ['repository_dispatch', fromRepositoryDispatch],
  ['check_run', (event) => fromButton(read(event, checkRunPayload))],
  ['merge_group', (event) => fromMergeGroup(read(event, mergeGroupPayload))],
  ['push', unlessBisected((event) => fromPush(read(event, pushPayload)))],
  ['schedule', unlessBisected(({ commit }) => ({ kind: 'schedule', commit }))],
]);
