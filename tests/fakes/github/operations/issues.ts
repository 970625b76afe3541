// Issues: created, changed, and listed some time later.
import { z } from 'zod';
import { issueDocument } from '../documents.ts';
import { onePage } from '../pages.ts';
import { type Answer, type FakeIssue, inRepository, invalid, notFound, type Operation, type State } from '../state.ts';
import { keptLabel } from './labels.ts';

export const issueOperations = {
  'issues/create': inRepository((state, { body, caller }) => {
    const { title, body: text = '', labels = [] } = written.parse(body);
    if (title === undefined || title.trim() === '') {
      return invalid('Issue', 'title', 'missing_field');
    }
    const issue: FakeIssue = {
      number: Math.max(0, ...[...state.pullRequests, ...state.issues].map(numberOf)) + 1,
      title,
      body: text,
      author: caller.login,
      labels: labels.map((name) => keptLabel(state, name).name),
      state: 'open',
      reason: null,
      createdAt: timeOf(state),
      updatedAt: timeOf(state),
    };
    state.issues.push(issue);
    return { status: 201, body: issueDocument(state, issue) };
  }),

  'issues/get': onIssue((state, issue) => ({ status: 200, body: issueDocument(state, issue) })),

  'issues/update': onIssue((state, issue, change) => {
    const { title, body, state: wanted, state_reason } = written.parse(change);
    if (title !== undefined) issue.title = title;
    if (body !== undefined) issue.body = body;
    if (wanted !== undefined) issue.state = wanted;
    issue.reason = issue.state === 'open' ? null : (state_reason ?? issue.reason ?? 'completed');
    issue.updatedAt = timeOf(state);
    return { status: 200, body: issueDocument(state, issue) };
  }),

  /** GitHub also lists pull requests here; the tests need none. */
  'issues/list-for-repo': inRepository((state, { url }) => {
    const asked = Object.fromEntries(url.searchParams);
    const { state: wanted = 'open', creator, labels, since = '', direction = 'desc' } = asked;
    const ageSeconds = ({ createdAt }: FakeIssue) => (state.now().getTime() - Date.parse(createdAt)) / 1000;
    const found = state.issues.filter(
      (issue) =>
        !issue.isDeleted &&
        ageSeconds(issue) >= state.issuesListedAfterSeconds &&
        [issue.state, 'all'].includes(wanted) &&
        [issue.author, undefined].includes(creator) &&
        (labels?.split(',') ?? []).every((name) => issue.labels.includes(name)) &&
        (since === '' || Date.parse(issue.updatedAt) >= Date.parse(since)),
    );
    const inOrder = direction === 'asc' ? found : found.toReversed();
    return onePage(
      inOrder.map((issue) => issueDocument(state, issue)),
      url,
    );
  }),
} satisfies Record<string, Operation>;

const written = z.object({
  title: z.string().optional(),
  body: z.string().optional(),
  labels: z.array(z.string()).optional(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned']).optional(),
});

const numberOf = ({ number }: { number: number }): number => number;

/** GitHub writes no fractions of seconds. */
const timeOf = (state: State): string => state.now().toISOString().replace(/\.\d+/, '');

function onIssue(
  operation: (state: State, issue: FakeIssue, change: Readonly<Record<string, unknown>>) => Answer,
): Operation {
  return inRepository((state, { params, body }) => {
    const issue = state.issues.find(({ number }) => number === Number(params.issue_number));
    if (issue === undefined) return notFound;
    if (issue.isDeleted) return { status: 410, body: { message: 'This issue was deleted' } };
    return operation(state, issue, body);
  });
}
