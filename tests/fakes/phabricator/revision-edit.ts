// differential.revision.edit: applies transactions to a revision, or creates one.
import { asId, asList, type Call, isMap, isText, type Methods, refusal, type Values } from './conduit.ts';
import {
  byPhid,
  type Diff,
  existing,
  mayEdit,
  maySee,
  newRecord,
  type Phid,
  type Revision,
  type State,
  type Transaction,
  type User,
} from './state.ts';
import { addTransactions, type Change } from './transactions.ts';

export const revisionEditMethods: Methods = {
  'differential.revision.edit': {
    params: ['transactions', 'objectIdentifier'],
    writes: 'differential',
    run: (call) => {
      const edits = editsOf(call.params.transactions);
      const { objectIdentifier } = call.params;
      const isNew = objectIdentifier === undefined || objectIdentifier === null;
      const revision = isNew ? undefined : revisionNamed(call, objectIdentifier);
      if (revision !== undefined && !isForAnyViewer(edits, call.viewer)) checkEdit(call, revision);
      const done = applyEdits(call.state, revision, edits, call.viewer);
      const { id, phid } = done.revision;
      return {
        object: { id, phid },
        transactions: done.transactions.map((one) => ({ phid: one.phid })),
      };
    },
  },
};

export type Edit = { type: string; value: unknown };

/** Applies `edits` as one group; without a revision they create one. */
export function applyEdits(
  state: State,
  revision: Revision | undefined,
  edits: readonly Edit[],
  editor: User,
): { revision: Revision; transactions: Transaction[] } {
  const edited = revision ?? newRevision(state, edits, editor);
  const changes = edits.flatMap((edit) => changesBy(state, edited, edit, editor));
  if (revision === undefined) {
    state.revisions.push(edited);
    changes.unshift({ type: 'create', authorPHID: editor.phid });
  }
  if (changes.length > 0) edited.dateModified = state.now;
  return { revision: edited, transactions: addTransactions(state, edited.phid, changes) };
}

/** Names that a comment would mention, and so subscribe; code is excluded. */
export function mentioned(comment: string): string[] {
  const outsideCode = comment
    .replace(/^```[\s\S]*?(?:```[ \t]*$|$(?![\s\S]))/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/^(?: {4,}|\t).*$/gm, '');
  return [...outsideCode.matchAll(/(?<![\w@])@([\w.-]*\w)/g)].map(([, name]) => name ?? '');
}

const types =
  'update, title, author, summary, testPlan, reviewers.add, reviewers.remove, reviewers.set, repositoryPHID, tasks.add, tasks.remove, tasks.set, parents.add, parents.remove, parents.set, children.add, children.remove, children.set, plan-changes, request-review, close, reopen, abandon, accept, reclaim, reject, commandeer, resign, draft, view, edit, projects.add, projects.remove, projects.set, subscribers.add, subscribers.remove, subscribers.set, phabricator:auditors, comment, mfa';

function editsOf(transactions: unknown): Edit[] {
  const list = asList(transactions);
  if (list === undefined) throw refusal('Parameter "transactions" is not a list of transactions.');
  return list.map((transaction, key) => {
    const { type, value }: Values = isMap(transaction) ? transaction : {};
    if (!isText(type) || !types.split(', ').includes(type)) {
      throw refusal(
        `Transaction with key "${key}" has invalid type "${type}". This type is not recognized. Valid types are: ${types}.`,
      );
    }
    if (value === undefined) {
      throw refusal(
        `Parameter "transactions" must contain a list of transaction descriptions, but item with key "${key}" is missing a "value" field. Each transaction must have a value field.`,
      );
    }
    return { type, value };
  });
}

function revisionNamed({ state, viewer }: Call, name: unknown): Revision {
  const monogram = isText(name) && /^D\d+$/.test(name);
  const id = asId(monogram ? name.slice(1) : name);
  const revision = state.revisions.find((row) => (id === undefined ? row.phid === name : row.id === id));
  if (revision !== undefined && maySee(revision, viewer)) return revision;
  if (monogram) throw refusal(`Monogram "${name}" does not identify a valid object.`);
  if (revision !== undefined) throw shallNotPass(state, revision, 'View', revision.viewPolicy);
  throw refusal(`No object exists with ${id === undefined ? 'PHID' : 'ID'} "${name}".`);
}

/** A comment, or subscribing oneself, needs no permission to edit; an empty edit does. */
function isForAnyViewer(edits: readonly Edit[], viewer: User): boolean {
  const isOwn = ({ type, value }: Edit) =>
    type === 'comment' || (type === 'subscribers.add' && phids(value).every((p) => p === viewer.phid));
  return edits.length > 0 && edits.every(isOwn);
}

function checkEdit({ state, viewer }: Call, revision: Revision): void {
  if (!mayEdit(revision, viewer)) throw shallNotPass(state, revision, 'Edit', revision.editPolicy);
}

function shallNotPass(state: State, revision: Revision, what: 'View' | 'Edit', policy: string): Error {
  const { username, realName } = existing(state.users, policy === 'users' ? revision.authorPHID : policy);
  return refusal(
    `[You Shall Not Pass: D${revision.id}] (Can ${what}) You do not have permission to ${what.toLowerCase()} this object. // ${username} (${realName}) can take this action. The owner of a revision can always view and edit it.`,
  );
}

function newRevision(state: State, edits: readonly Edit[], author: User): Revision {
  const diff = byPhid(state.diffs, edits.find(({ type }) => type === 'update')?.value);
  if (diff === undefined) {
    throw refusal('Validation errors:\n  - You must specify an initial diff when creating a revision.');
  }
  return {
    ...newRecord(state, 'DREV'),
    title: '',
    summary: '',
    testPlan: '',
    authorPHID: author.phid,
    status: 'draft',
    isDraft: true,
    holdAsDraft: false,
    repositoryPHID: diff.repositoryPHID,
    diffPHID: diff.phid,
    reviewers: [],
    subscriberPHIDs: [],
    projectPHIDs: [],
    viewPolicy: 'users',
    editPolicy: 'users',
  };
}

function changesBy(state: State, revision: Revision, { type, value }: Edit, editor: User): Change[] {
  const authorPHID = editor.phid;
  const change = (changed: string | null, fields: Change['fields'] = {}): Change[] => [
    { type: changed, authorPHID, fields },
  ];
  switch (type) {
    case 'comment':
      return commentChanges(state, revision, text(type, value), editor);
    case 'title':
    case 'summary':
    case 'testPlan': {
      const [old, next] = [revision[type], text(type, value)];
      revision[type] = next;
      return old === next ? [] : change(type, { old, new: next });
    }
    case 'update': {
      const diff = existing(state.diffs, text(type, value));
      return change('update', attach(state, revision, diff));
    }
    case 'view':
    case 'edit': {
      revision[type === 'view' ? 'viewPolicy' : 'editPolicy'] = text(type, value);
      return change(null);
    }
    case 'draft':
      revision.holdAsDraft = value === true;
      return change('draft');
    case 'abandon':
      revision.status = 'abandoned';
      return change('abandon');
    case 'accept':
      if (revision.authorPHID === editor.phid) {
        throw refusal(
          'Validation errors:\n  - You can not accept this revision because you are the revision author. You can only accept revisions you do not own. You can change this behavior by adjusting the "differential.allow-self-accept" setting in Config.',
        );
      }
      revision.status = 'accepted';
      return change('accept');
    case 'reviewers.add':
      return change('reviewers', {
        operations: phids(value).map((one) => addReviewer(revision, one)),
      });
    case 'subscribers.add':
      return added(authorPHID, 'subscribers', revision.subscriberPHIDs, phids(value));
    case 'projects.add':
      return added(authorPHID, 'projects', revision.projectPHIDs, phids(value));
    default:
      throw refusal(`The fake does not carry out transactions of type "${type}".`);
  }
}

function commentChanges(state: State, revision: Revision, comment: string, author: User): Change[] {
  if (comment === '') return [];
  const authorPHID = author.phid;
  const names = mentioned(comment);
  const users = state.users.filter(({ username }) => names.includes(username));
  const subscribed = added(
    authorPHID,
    'subscribers',
    revision.subscriberPHIDs,
    users.map(({ phid }) => phid),
  );
  const showsFile = [...comment.matchAll(/\{F(\d+)[^}]*\}/g)].some(([, id]) =>
    state.files.some((file) => file.id === Number(id) && maySee(file, author)),
  );
  const referenced = showsFile ? [{ type: null, authorPHID }] : [];
  return [...subscribed, ...referenced, { type: 'comment', authorPHID, comment }];
}

function attach(state: State, revision: Revision, diff: Diff): Transaction['fields'] {
  const old = diff.phid === revision.diffPHID ? null : revision.diffPHID;
  revision.diffPHID = diff.phid;
  diff.revisionPHID = revision.phid;
  diff.repositoryPHID = revision.repositoryPHID;
  const isBack = revision.status === 'changes-planned' || revision.status === 'needs-revision';
  if (isBack && !revision.isDraft) revision.status = 'needs-review';
  return { old: byPhid(state.diffs, old)?.phid ?? null, new: diff.phid, commitPHIDs: [] };
}

function addReviewer(revision: Revision, given: string): unknown {
  const blocking = /^blocking\((.*)\)$/.exec(given)?.[1];
  const [phid, isBlocking] = [blocking ?? given, blocking !== undefined];
  revision.reviewers.push({ reviewerPHID: phid, isBlocking });
  const newStatus = isBlocking ? 'blocking' : 'added';
  return { operation: 'add', phid, oldStatus: null, newStatus, isBlocking };
}

function added(authorPHID: Phid, type: string, known: Phid[], given: readonly Phid[]): Change[] {
  const fresh = given.filter((phid) => !known.includes(phid));
  known.push(...fresh);
  if (fresh.length === 0) return [];
  return [{ type, authorPHID, fields: { operations: fresh.map((phid) => ({ operation: 'add', phid })) } }];
}

function text(type: string, value: unknown): string {
  if (isText(value)) return value;
  throw refusal(
    `Exception when processing transaction of type "${type}": Error while reading "value": Expected string, got something else.`,
  );
}

function phids(value: unknown): string[] {
  return (asList(value) ?? []).filter(isText);
}
