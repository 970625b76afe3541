// Check runs on commits, and commit statuses, the older kind of check.
import { z } from 'zod';
import { checkRunDocument, userDocument } from '../documents.ts';
import { pageOf } from '../pages.ts';
import {
  type Answer,
  type Call,
  commitOf,
  type FakeCheckRun,
  type FakeStatus,
  inRepository,
  invalid,
  nextId,
  notFound,
  type Operation,
  type State,
} from '../state.ts';

export const checkOperations = {
  'checks/create': inRepository((state, call) => {
    if (call.caller.kind === 'user') return onlyForApps;
    const { name, head_sha, external_id, details_url } = newCheckRun.parse(call.body);
    if (commitOf(state, head_sha) !== head_sha)
      return { status: 422, body: { message: `No commit found for SHA: ${head_sha}` } };
    const checkRun = changed(
      {
        id: 2001 + state.checkRuns.length,
        name,
        headCommit: head_sha,
        externalId: external_id,
        detailsUrl: details_url,
        status: 'queued',
        conclusion: null,
        title: null,
        summary: null,
      },
      call,
    );
    if (checkRun === undefined) return titleTooLong;
    state.checkRuns.push(checkRun);
    return { status: 201, body: checkRunDocument(state, checkRun) };
  }),

  'checks/update': inRepository((state, call) => {
    if (call.caller.kind === 'user') return onlyForApps;
    const checkRun = checkRunOf(state, call);
    if (checkRun === undefined) return notFound;
    if (changed(checkRun, call) === undefined) return titleTooLong;
    return { status: 200, body: checkRunDocument(state, checkRun) };
  }),

  'checks/list-for-ref': inRepository((state, { params, url }) => {
    const { check_name, filter } = Object.fromEntries(url.searchParams);
    const commit = commitOf(state, params.ref ?? '');
    const named = state.checkRuns.filter(
      ({ headCommit, name }) => headCommit === commit && [name, undefined].includes(check_name),
    );
    const found = filter === 'all' ? named : latest(named);
    const { items, ...others } = pageOf(found, url);
    const check_runs = items.map((checkRun) => checkRunDocument(state, checkRun));
    return { status: 200, body: { total_count: found.length, check_runs }, ...others };
  }),

  'repos/create-commit-status': inRepository((state, { params, body, caller }) => {
    const { sha = '' } = params;
    if (commitOf(state, sha) !== sha) return { status: 422, body: { message: `No commit found for SHA: ${sha}` } };
    const { description, target_url, ...others } = newStatus.parse(body);
    if ((description ?? '').length > longestDescription) return tooLong;
    if (/[\u{10000}-\u{10ffff}]/u.test(description ?? '')) return tooWide;
    const id = nextId(6001, state.statuses);
    const status = { id, commit: sha, author: caller.login, description, targetUrl: target_url, ...others };
    state.statuses.push(status);
    return { status: 201, body: statusDocument(state, status) };
  }),
} satisfies Record<string, Operation>;

const longestDescription = 140;
const tooLong = invalid('Status', 'description', 'custom', 'description is too long (maximum is 140 characters)');
const tooWide = invalid('Status', 'description', 'custom', "description doesn't accept 4-byte Unicode");

const newStatus = z.object({
  state: z.string(),
  context: z.string().default('default'),
  description: z.string().nullable().default(null),
  target_url: z.string().nullable().default(null),
});

function statusDocument(state: State, { id, commit, targetUrl, author, ...shown }: FakeStatus): object {
  return {
    ...shown,
    id,
    node_id: `SC_${id}`,
    url: `https://api.github.com/repos/${state.repository}/statuses/${commit}`,
    avatar_url: null,
    target_url: targetUrl,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    creator: userDocument(author),
  };
}

const newCheckRun = z.object({
  name: z.string(),
  head_sha: z.string(),
  external_id: z.string().nullable().default(null),
  details_url: z.string().nullable().default(null),
});

const annotation = z.object({
  path: z.string(),
  start_line: z.number(),
  end_line: z.number(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  message: z.string(),
  title: z.string().optional(),
  raw_details: z.string().optional(),
});

const checkRunChange = z.object({
  status: z.string().optional(),
  conclusion: z.string().optional(),
  output: z
    .object({
      title: z.string().optional(),
      summary: z.string(),
      text: z.string().optional(),
      annotations: z.array(annotation).default([]),
    })
    .optional(),
  actions: z.array(z.object({ label: z.string(), description: z.string(), identifier: z.string() })).optional(),
});

/** GitHub's description has the limits of summary and text, but not this one. */
const longestTitle = 65_535;
const titleTooLong: Answer = {
  status: 422,
  body: { message: `Invalid request.\n\nOnly ${longestTitle} characters are allowed.` },
};

/** Apps may write check runs; people may not. */
const onlyForApps: Answer = {
  status: 403,
  body: { message: 'You must authenticate via a GitHub App.' },
};

function checkRunOf(state: State, { params }: Call): FakeCheckRun | undefined {
  return state.checkRuns.find(({ id }) => id === Number(params.check_run_id));
}

/** The newest of each name. */
function latest(checkRuns: readonly FakeCheckRun[]): FakeCheckRun[] {
  return [...new Map(checkRuns.map((checkRun) => [checkRun.name, checkRun])).values()];
}

/** Applies the call's fields to the check run; a conclusion completes it. */
function changed(checkRun: FakeCheckRun, { body }: Call): FakeCheckRun | undefined {
  const { status, conclusion, output, actions } = checkRunChange.parse(body);
  const { annotations = [], title, summary, text } = output ?? {};
  if ((title ?? '').length > longestTitle) return undefined;
  const all = [...(checkRun.annotations ?? []), ...annotations];
  return Object.assign(checkRun, {
    ...(status !== undefined && { status }),
    ...(conclusion !== undefined && { status: 'completed', conclusion }),
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(text !== undefined && { text }),
    ...(all.length > 0 && { annotations: all }),
    ...(actions !== undefined && { actions }),
  });
}
