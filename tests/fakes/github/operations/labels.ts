// Labels of the repository, and those that pull requests bear.
import { z } from 'zod';
import { labelDocument, labelOf } from '../documents.ts';
import { onePage } from '../pages.ts';
import {
  type Answer,
  type FakeLabel,
  type FakePullRequest,
  inRepository,
  invalid,
  notFound,
  type Operation,
  type State,
} from '../state.ts';
import { onPullRequest } from './pull-requests.ts';

export const labelOperations = {
  'issues/get-label': inRepository((state, { params }) => {
    const label = labelOf(state, params.name ?? '');
    if (!state.labels.includes(label)) return notFound;
    return { status: 200, body: labelDocument(state, label) };
  }),

  'issues/create-label': inRepository((state, { body }) => {
    const label = newLabel.parse(body);
    if (state.labels.includes(labelOf(state, label.name)))
      return invalid('Label', 'name', 'already_exists');
    if (label.name.length > 50 || label.name.trim() === '')
      return invalid('Label', 'name', 'invalid');
    if (!/^[0-9a-f]{6}$/i.test(label.color)) return invalid('Label', 'color', 'invalid');
    if ((label.description ?? '').length > 100) return invalid('Label', 'description', 'invalid');
    state.labels.push(label);
    return { status: 201, body: labelDocument(state, label) };
  }),

  'issues/list-labels-on-issue': onPullRequest((state, { url }, pullRequest) =>
    onePage(labelDocuments(state, pullRequest), url),
  ),

  'issues/add-labels': onPullRequest((state, { body }, pullRequest) => {
    const names = addedLabels
      .parse(body)
      .labels.map((label) => (typeof label === 'string' ? label : label.name));
    const added = names.map((name) => keptLabel(state, name).name);
    pullRequest.labels = [...new Set([...(pullRequest.labels ?? []), ...added])];
    return all(state, pullRequest);
  }),

  'issues/remove-label': onPullRequest((state, { params }, pullRequest) => {
    const { name } = labelOf(state, params.name ?? '');
    const labels = pullRequest.labels ?? [];
    if (!labels.includes(name))
      return { status: 404, body: { message: 'Label does not exist', status: '404' } };
    pullRequest.labels = labels.filter((one) => one !== name);
    return all(state, pullRequest);
  }),
} satisfies Record<string, Operation>;

const newLabel = z.object({
  name: z.string(),
  color: z.string().default('ededed'),
  description: z.string().nullable().default(null),
});

const addedLabels = z.object({
  labels: z.array(z.union([z.string(), z.object({ name: z.string() })])),
});

/** A label that the repository lacks is made when a pull request is to bear it. */
function keptLabel(state: State, name: string): FakeLabel {
  const label = labelOf(state, name);
  if (!state.labels.includes(label)) state.labels.push(label);
  return label;
}

function all(state: State, pullRequest: FakePullRequest): Answer {
  return { status: 200, body: labelDocuments(state, pullRequest) };
}

function labelDocuments(state: State, { labels = [] }: FakePullRequest): object[] {
  return labels.map((name) => labelDocument(state, labelOf(state, name)));
}
