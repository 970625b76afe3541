// Comments on pull requests and issues.
import { isDeepStrictEqual } from 'node:util';
import { commentDocument, userDocument } from '../documents.ts';
import { onePage } from '../pages.ts';
import {
  type Answer,
  type Call,
  type FakeComment,
  type FakeReaction,
  invalid,
  isTheRepository,
  nextId,
  notFound,
  type Operation,
  type State,
} from '../state.ts';
import { onConversation } from './pull-requests.ts';

export const commentOperations = {
  'issues/list-comments': onConversation((state, { url }, { number }) => {
    const comments = state.comments.filter((comment) => comment.number === number);
    return onePage(
      comments.map((comment) => commentDocument(state, comment)),
      url,
    );
  }),

  'issues/create-comment': onConversation((state, call, { number, isLocked }) => {
    if (isLocked) return lockedConversation;
    const body = String(call.body.body);
    const refusal = refusedBody(body);
    if (refusal !== undefined) return refusal;
    const comment = {
      id: nextId(1001, state.comments),
      number,
      author: call.caller.login,
      body,
    };
    state.comments.push(comment);
    return { status: 201, body: commentDocument(state, comment) };
  }),

  'issues/update-comment': (state, call) => {
    const comment = commentOf(state, call);
    if (comment === undefined) return notFound;
    const body = String(call.body.body);
    const refusal = refusedBody(body);
    if (refusal !== undefined) return refusal;
    comment.body = body;
    return { status: 200, body: commentDocument(state, comment) };
  },

  'issues/delete-comment': (state, call) => {
    const comment = commentOf(state, call);
    if (comment === undefined) return notFound;
    state.comments.splice(state.comments.indexOf(comment), 1);
    return { status: 204 };
  },

  'reactions/create-for-issue-comment': (state, call) => {
    const comment = commentOf(state, call);
    if (comment === undefined) return notFound;
    const wanted = {
      commentId: comment.id,
      author: call.caller.login,
      content: String(call.body.content),
    };
    const before = state.reactions.find((one) => isDeepStrictEqual({ ...one, id: 0 }, { ...wanted, id: 0 }));
    if (before !== undefined) return { status: 200, body: reactionDocument(before) };
    const reaction = { id: nextId(5001, state.reactions), ...wanted };
    state.reactions.push(reaction);
    return { status: 201, body: reactionDocument(reaction) };
  },
} satisfies Record<string, Operation>;

/** A person who may write to the repository still may comment; a workflow or an app may not. */
const lockedConversation: Answer = {
  status: 403,
  body: { message: 'Unable to create comment because issue is locked.', status: '403' },
};

/** GitHub's own limit in characters; its refusal contains the number. */
const longestBody = 65_536;

function commentOf(state: State, { params }: Call): FakeComment | undefined {
  if (!isTheRepository(state, params)) return undefined;
  return state.comments.find(({ id }) => id === Number(params.comment_id));
}

function refusedBody(body: string): Answer | undefined {
  if (body.trim() === '') return invalid('IssueComment', 'data', 'unprocessable', "Body can't be blank");
  if (body.length <= longestBody) return undefined;
  return invalid('IssueComment', 'data', 'unprocessable', `Body is too long (maximum is ${longestBody} characters)`);
}

function reactionDocument({ id, author, content }: FakeReaction): object {
  const created_at = '2026-01-01T00:00:00Z';
  return { id, node_id: `REA_${id}`, user: userDocument(author), content, created_at };
}
