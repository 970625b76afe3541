// Commit statuses, the older kind of check.
import { z } from 'zod';
import { userDocument } from '../documents.ts';
import { onePage } from '../pages.ts';
import {
  commitOf,
  type FakeStatus,
  inRepository,
  invalid,
  nextId,
  notFound,
  type Operation,
  type State,
} from '../state.ts';

export const statusOperations = {
  'repos/create-commit-status': inRepository((state, { params, body, caller }) => {
    const { sha = '' } = params;
    if (commitOf(state, sha) !== sha)
      return { status: 422, body: { message: `No commit found for SHA: ${sha}`, status: '422' } };
    const { description, target_url, ...others } = newStatus.parse(body);
    if ((description ?? '').length > longestDescription) return tooLong;
    if (/[\u{10000}-\u{10ffff}]/u.test(description ?? '')) return tooWide;
    const status = {
      id: nextId(6001, state.statuses),
      commit: sha,
      author: caller.login,
      description,
      targetUrl: target_url,
      ...others,
    };
    state.statuses.push(status);
    return { status: 201, body: statusDocument(state, status) };
  }),

  'repos/list-commit-statuses-for-ref': inRepository((state, { params, url }) => {
    const id = commitOf(state, params.ref ?? '');
    if (id === undefined) return notFound;
    const found = state.statuses.filter(({ commit }) => commit === id).toReversed();
    return onePage(
      found.map((status) => statusDocument(state, status)),
      url,
    );
  }),
} satisfies Record<string, Operation>;

const longestDescription = 140;
const tooLong = invalid(
  'Status',
  'description',
  'custom',
  `description is too long (maximum is ${longestDescription} characters)`,
);

const tooWide = invalid('Status', 'description', 'custom', "description doesn't accept 4-byte Unicode");

const newStatus = z.object({
  state: z.string(),
  context: z.string().default('default'),
  description: z.string().nullable().default(null),
  target_url: z.string().nullable().default(null),
});

function statusDocument(state: State, status: FakeStatus): object {
  const { id, commit, context, description } = status;
  return {
    url: `https://api.github.com/repos/${state.repository}/statuses/${commit}`,
    avatar_url: null,
    id,
    node_id: `SC_${id}`,
    state: status.state,
    description,
    target_url: status.targetUrl,
    context,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    creator: userDocument(status.author),
  };
}
