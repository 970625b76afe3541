// Revisions with their diffs and transactions: differential.* and transaction.search.
import { asList, type Call, ConduitError, isMap, isText, type Method, type Methods, refusal } from './conduit.ts';
import { pageOf, search, strings } from './search.ts';
import {
  addTransactions,
  byPhid,
  type Diff,
  maySee,
  maySeeDiff,
  newRecord,
  type Phid,
  type Revision,
  type State,
  type Transaction,
  type User,
} from './state.ts';

const revisionSearch = search<Revision>({
  type: 'DREV',
  query: 'DifferentialRevisionQuery',
  rows: (state) => state.revisions,
  isVisible: (revision, { viewer }) => maySee(revision, viewer),
  constraints: {
    modifiedStart: { type: 'epoch', matches: (revision: Revision, epoch: number) => revision.dateModified >= epoch },
  },
  orders: { updated: (a, b) => b.dateModified - a.dateModified },
  fields: ({ title, authorPHID, status, repositoryPHID, diffPHID, isDraft, holdAsDraft, dateModified }) => ({
    ...{ title, authorPHID, repositoryPHID, diffPHID, isDraft, holdAsDraft, dateModified },
    status: { value: status },
  }),
});

const diffSearch = search<Diff>({
  type: 'DIFF',
  query: 'DifferentialDiffQuery',
  rows: (state) => state.diffs,
  isVisible: (diff, { state, viewer }) => maySeeDiff(state, diff, viewer),
  constraints: { revisionPHIDs: strings((diff) => diff.revisionPHID) },
  fields: ({ revisionPHID, authorPHID, branch, base, dateCreated }) => ({
    revisionPHID,
    authorPHID,
    refs: [
      ...(branch === null ? [] : [{ type: 'branch', name: branch }]),
      ...(base === null ? [] : [{ type: 'base', identifier: base }]),
    ],
    dateCreated,
  }),
});

const getRawDiff: Method = {
  params: ['diffID'],
  run: ({ state, params, viewer }) => {
    const diff = state.diffs.find((row) => row.id === params.diffID && maySeeDiff(state, row, viewer));
    if (diff === undefined) throw new ConduitError('ERR_NOT_FOUND', 'Diff not found.');
    return `${diff.raw}\n`;
  },
};

const transactionSearch: Method = {
  params: ['objectIdentifier', 'constraints', 'after', 'limit'],
  run: (call) => {
    const { state, params, viewer } = call;
    const revision = revisionNamed(state, params.objectIdentifier);
    if (revision === undefined || !maySee(revision, viewer)) {
      throw new ConduitError('ERR-INVALID-OBJECT-PHID', 'Specified "objectIdentifier" does not exist.');
    }
    const all = state.transactions.filter(({ objectPHID }) => objectPHID === revision.phid).toReversed();
    const { rows, cursor } = pageOf(all, call, constraintsOf(call), 'DifferentialTransactionQuery');
    return { data: rows.map(shown), cursor };
  },
};

function constraintsOf({ params }: Call): (transaction: Transaction) => boolean {
  const filters = Object.entries(isMap(params.constraints) ? params.constraints : {}).map(([name, given]) => {
    const phids = asList(given) ?? [];
    if (phids.length === 0) {
      const what = name === 'authorPHIDs' ? 'author' : 'transaction';
      throw new ConduitError(
        `ERR-INVALID-CONSTRAINT-${name.toUpperCase()}-FORMAT`,
        `"${name}" must be a non-empty list of ${what} PHIDs.`,
      );
    }
    if (name === 'phids') return ({ phid }: Transaction) => phids.includes(phid);
    if (name === 'authorPHIDs') return ({ authorPHID }: Transaction) => phids.includes(authorPHID);
    throw refusal(`Parameter "constraints" includes an invalid key: ${name}.`);
  });
  return (transaction) => filters.every((filter) => filter(transaction));
}

function shown({ comment, date: dateCreated, authorPHID, ...one }: Transaction): unknown {
  const version = comment && { version: 1, authorPHID, removed: false, content: { raw: comment.raw } };
  const { id, phid, type, fields } = one;
  return { id, phid, type, authorPHID, dateCreated, comments: version === null ? [] : [version], fields };
}

/** A bot only comments. */
const edit: Method = {
  params: ['transactions', 'objectIdentifier'],
  writes: 'differential',
  run: ({ state, params: { transactions, objectIdentifier }, viewer }) => {
    const edits = asList(transactions);
    if (edits === undefined) throw refusal('Parameter "transactions" is not a list of transactions.');
    const revision = revisionNamed(state, objectIdentifier);
    if (revision === undefined || !maySee(revision, viewer)) throw unknownRevision(revision, objectIdentifier);
    const texts = edits.map((edit) => {
      const { type, value } = isMap(edit) ? edit : {};
      if (type !== 'comment') throw refusal(`The fake does not carry out transactions of type "${type}".`);
      if (isText(value)) return value;
      throw refusal(
        `Exception when processing transaction of type "${type}": Error while reading "value": Expected string, got something else.`,
      );
    });
    const added = texts.map((text) => addComment(state, revision, viewer, text));
    return { object: { id: revision.id, phid: revision.phid }, transactions: added.map(({ phid }) => ({ phid })) };
  },
};

function unknownRevision(revision: Revision | undefined, name: unknown): ConduitError {
  if (isText(name) && /^D\d+$/.test(name)) return refusal(`Monogram "${name}" does not identify a valid object.`);
  if (revision === undefined) return refusal(`No object exists with PHID "${name}".`);
  return refusal(`[You Shall Not Pass: D${revision.id}] (Can View) You do not have permission to view this object.`);
}

/** @param name a PHID, or a monogram such as `D7` */
export function revisionNamed({ revisions }: State, name: unknown): Revision | undefined {
  return revisions.find(({ id, phid }) => name === phid || name === `D${id}`);
}

export function addComment(state: State, revision: Revision, { phid }: User, comment: string): Transaction {
  revision.dateModified = state.now;
  const [added] = addTransactions(state, revision.phid, [{ type: 'comment', authorPHID: phid, comment }]);
  if (added === undefined) throw new Error('A comment is one transaction.');
  return added;
}

/** A diff that belongs to no revision yet. */
export function newDiff(state: State, sent: { raw: string; authorPHID: Phid } & Partial<Diff>): Diff {
  const diff = {
    ...newRecord(state, 'DIFF'),
    revisionPHID: null,
    repositoryPHID: null,
    branch: null,
    base: null,
    ...sent,
  };
  state.diffs.push(diff);
  return diff;
}

export function attachDiff(state: State, revision: Revision, diff: Diff): void {
  const old = byPhid(state.diffs, revision.diffPHID)?.phid ?? null;
  revision.diffPHID = diff.phid;
  diff.revisionPHID = revision.phid;
  diff.repositoryPHID = revision.repositoryPHID;
  if (revision.status === 'changes-planned' && !revision.isDraft) revision.status = 'needs-review';
  revision.dateModified = state.now;
  const fields = { old, new: diff.phid, commitPHIDs: [] };
  addTransactions(state, revision.phid, [{ type: 'update', authorPHID: revision.authorPHID, fields }]);
}

export const differentialMethods: Methods = {
  'differential.revision.search': revisionSearch,
  'differential.revision.edit': edit,
  'differential.diff.search': diffSearch,
  'differential.getrawdiff': getRawDiff,
  'transaction.search': transactionSearch,
};
