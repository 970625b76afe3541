// Labels of the repository, and of pull requests and issues.
import { z } from 'zod';
import { labelDocument, labelOf } from '../documents.ts';
import {
  type Answer,
  type Conversation,
  type FakeLabel,
  inRepository,
  invalid,
  type Operation,
  type State,
} from '../state.ts';
import { onConversation } from './pull-requests.ts';

export const labelOperations = {
  'issues/create-label': inRepository((state, { body }) => {
    const label = newLabel.parse(body);
    if (state.labels.includes(labelOf(state, label.name))) return invalid('Label', 'name', 'already_exists');
    if (label.name.length > 50 || label.name.trim() === '') return invalid('Label', 'name', 'invalid');
    if (!/^[0-9a-f]{6}$/i.test(label.color)) return invalid('Label', 'color', 'invalid');
    if ((label.description ?? '').length > 100) return invalid('Label', 'description', 'invalid');
    state.labels.push(label);
    return { status: 201, body: labelDocument(state, label) };
  }),

  'issues/add-labels': onConversation((state, { body }, conversation) => {
    const { labels } = z.object({ labels: z.array(z.string()) }).parse(body);
    const added = labels.map((name) => keptLabel(state, name).name);
    conversation.labels = [...new Set([...(conversation.labels ?? []), ...added])];
    return all(state, conversation);
  }),

  'issues/remove-label': onConversation((state, { params }, conversation) => {
    const { name } = labelOf(state, params.name ?? '');
    const labels = conversation.labels ?? [];
    if (!labels.includes(name)) return { status: 404, body: { message: 'Label does not exist', status: '404' } };
    conversation.labels = labels.filter((one) => one !== name);
    return all(state, conversation);
  }),
} satisfies Record<string, Operation>;

const newLabel = z.object({
  name: z.string(),
  color: z.string().default('ededed'),
  description: z.string().nullable().default(null),
});

/** A label that the repository lacks is created when a pull request or issue gets it. */
export function keptLabel(state: State, name: string): FakeLabel {
  const label = labelOf(state, name);
  if (!state.labels.includes(label)) state.labels.push(label);
  return label;
}

function all(state: State, conversation: Conversation): Answer {
  return { status: 200, body: labelDocuments(state, conversation) };
}

function labelDocuments(state: State, { labels = [] }: Conversation): object[] {
  return labels.map((name) => labelDocument(state, labelOf(state, name)));
}
