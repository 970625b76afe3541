// Transactions of objects: transaction.search, and adding a new group.
import { asList, type Call, ConduitError, isMap, isText, type Methods, refusal } from './conduit.ts';
import { objectNamed } from './handles.ts';
import { pageOf } from './search.ts';
import {
  byPhid,
  letters,
  maySee,
  maySeeBuildable,
  maySeeDiff,
  newId,
  newPhid,
  type Phid,
  type State,
  type Transaction,
  type User,
} from './state.ts';

/** A change within a group, before it has an id. */
export type Change = {
  type: string | null;
  authorPHID: Phid;
  fields?: Transaction['fields'];
  comment?: string;
};

/** Adds `changes` to the object as one group, and returns them, oldest first. */
export function addTransactions(state: State, objectPHID: Phid, changes: readonly Change[]): Transaction[] {
  const groupID = letters(`group ${newId(state, 'group')}`, 32);
  const kind = `XACT-${objectPHID.split('-')[1]}`;
  const added = changes.map((change) => ({
    id: newId(state, kind),
    phid: newPhid(state, kind),
    type: change.type,
    authorPHID: change.authorPHID,
    objectPHID,
    date: state.now,
    groupID,
    comment: change.comment === undefined ? null : newComment(state, change.comment),
    fields: change.fields ?? {},
  }));
  state.transactions.push(...added);
  return added;
}

export const transactionMethods: Methods = {
  'transaction.search': {
    params: ['objectIdentifier', 'objectType', 'constraints', 'before', 'after', 'limit'],
    run: (call) => {
      const isOfObjects = wantedObjects(call);
      const isConstrained = constraintsOf(call);
      const sorted = call.state.transactions.filter(isOfObjects).toSorted((a, b) => b.id - a.id);
      const { rows, cursor } = pageOf(sorted, call, isConstrained, (id) => {
        const row = sorted.find((transaction) => transaction.id === Number(id));
        if (row !== undefined) return row;
        throw refusal(`Cursor "${id}" does not identify a valid object in query "DifferentialTransactionQuery".`);
      });
      return { data: rows.map(shown), cursor };
    },
  },
};

function wantedObjects({ state, params, viewer }: Call): (transaction: Transaction) => boolean {
  const { objectIdentifier, objectType } = params;
  if (objectIdentifier !== undefined && objectIdentifier !== null) {
    const object = objectNamed(state, objectIdentifier, viewer);
    // Conduit does not show transactions of a build.
    if (object?.phid.startsWith('PHID-HMBD-')) return () => false;
    if (object !== undefined) return ({ objectPHID }) => objectPHID === object.phid;
    throw new ConduitError('ERR-INVALID-OBJECT-PHID', 'Specified "objectIdentifier" does not exist.');
  }
  if (!isText(objectType)) {
    throw new ConduitError(
      'ERR-INVALID-PARAMETER',
      'Must specify either parameter "objectType" or parameter "objectIdentifier".',
    );
  }
  return ({ objectPHID }) => objectPHID.startsWith(`PHID-${objectType}-`) && isVisible(state, objectPHID, viewer);
}

function constraintsOf({ params }: Call): (transaction: Transaction) => boolean {
  const { constraints = {} } = params;
  if (!isMap(constraints) && !(Array.isArray(constraints) && constraints.length === 0)) {
    throw refusal('The fake was sent "constraints" that are no map.');
  }
  const filters = Object.entries(constraints).map(([name, given]) => {
    const phids = asList(given);
    if (phids === undefined || phids.length === 0) {
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

function isVisible(state: State, phid: Phid, viewer: User): boolean {
  const revision = byPhid(state.revisions, phid);
  if (revision !== undefined) return maySee(revision, viewer);
  const diff = byPhid(state.diffs, phid);
  if (diff !== undefined) return maySeeDiff(state, diff, viewer);
  const buildable = byPhid(state.buildables, byPhid(state.builds, phid)?.buildablePHID);
  return buildable === undefined || maySeeBuildable(state, buildable, viewer);
}

function shown(transaction: Transaction): unknown {
  const { id, phid, type, authorPHID, objectPHID, date, groupID, comment, fields } = transaction;
  const dates = { dateCreated: date, dateModified: date };
  const comments =
    comment === null
      ? []
      : [
          {
            id: comment.id,
            phid: comment.phid,
            version: 1,
            authorPHID,
            ...dates,
            removed: false,
            content: { raw: comment.raw },
          },
        ];
  return { id, phid, type, authorPHID, objectPHID, ...dates, groupID, comments, fields };
}

function newComment(state: State, raw: string): Transaction['comment'] {
  return { id: newId(state, 'XCMT'), phid: newPhid(state, 'XCMT'), raw };
}
