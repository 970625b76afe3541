// Revisions and their diffs as Conduit shows them: all of differential.* that only reads.
import { asId, ConduitError, isText, type Method, type Methods, notNumeric } from './conduit.ts';
import { isUser } from './people.ts';
import { decoded, parseRawDiff, renderRawDiff } from './raw-diff.ts';
import { identity, notAfter, notBefore, search, strings } from './search.ts';
import {
  type Diff,
  existing,
  maySee,
  maySeeDiff,
  newId,
  newPhid,
  newRecord,
  type Phid,
  type Revision,
  type RevisionStatus,
  type State,
} from './state.ts';
import { addTransactions } from './transactions.ts';

const revisionSearch = search<Revision>({
  type: 'DREV',
  query: 'DifferentialRevisionQuery',
  idColumn: 'r.id',
  rows: (state) => state.revisions,
  isVisible: (revision, { viewer }) => maySee(revision, viewer),
  nameOf: ({ id }) => `D${id}`,
  constraints: {
    ...identity(),
    authorPHIDs: strings((revision) => revision.authorPHID),
    reviewerPHIDs: strings((revision) => revision.reviewers.map((r) => r.reviewerPHID)),
    repositoryPHIDs: strings((revision) => revision.repositoryPHID),
    statuses: strings(({ status }) => [status, isClosed(status) ? 'closed()' : 'open()']),
    projects: strings(({ projectPHIDs }, { state }) => [
      ...projectPHIDs,
      ...projectPHIDs.map((phid) => existing(state.projects, phid).slug),
    ]),
    subscribers: {
      type: 'strings',
      matches: ({ subscriberPHIDs }: Revision, given: string[], { state }) =>
        state.users.some((user) => subscriberPHIDs.includes(user.phid) && given.some((one) => isUser(user, one))),
    },
    createdStart: notBefore((revision) => revision.dateCreated),
    createdEnd: notAfter((revision) => revision.dateCreated),
    modifiedStart: notBefore((revision) => revision.dateModified),
    modifiedEnd: notAfter((revision) => revision.dateModified),
  },
  attachments: {
    reviewers: ({ reviewers }) => ({
      reviewers: reviewers.map(({ reviewerPHID, isBlocking }) => {
        const status = isBlocking ? 'blocking' : 'added';
        return { reviewerPHID, status, isBlocking, actorPHID: null };
      }),
    }),
    projects: ({ projectPHIDs }) => ({ projectPHIDs }),
    subscribers: ({ subscriberPHIDs }, { viewer }) => ({
      subscriberPHIDs,
      subscriberCount: subscriberPHIDs.length,
      viewerIsSubscribed: subscriberPHIDs.includes(viewer.phid),
    }),
  },
  queries: {
    // Nothing waits for a bot as the viewer.
    active: ({ authorPHID, reviewers }, { viewer }) =>
      authorPHID === viewer.phid || reviewers.some(({ reviewerPHID }) => reviewerPHID === viewer.phid),
    authored: ({ authorPHID }, { viewer }) => authorPHID === viewer.phid,
  },
  orders: {
    updated: (a, b) => b.dateModified - a.dateModified,
    outdated: (a, b) => a.dateModified - b.dateModified,
  },
  fields: (revision, { state }) => ({
    title: revision.title,
    uri: `${state.baseUri}/D${revision.id}`,
    authorPHID: revision.authorPHID,
    status: { value: revision.status, ...statuses[revision.status] },
    repositoryPHID: revision.repositoryPHID,
    diffPHID: revision.diffPHID,
    summary: revision.summary,
    testPlan: revision.testPlan,
    isDraft: revision.isDraft,
    holdAsDraft: revision.holdAsDraft,
    dateCreated: revision.dateCreated,
    dateModified: revision.dateModified,
    policy: { view: revision.viewPolicy, edit: revision.editPolicy },
  }),
});

const diffSearch = search<Diff>({
  type: 'DIFF',
  query: 'DifferentialDiffQuery',
  rows: (state) => state.diffs,
  isVisible: (diff, { state, viewer }) => maySeeDiff(state, diff, viewer),
  nameOf: ({ id }) => `Diff ${id}`,
  constraints: { ...identity(), revisionPHIDs: strings((diff) => diff.revisionPHID) },
  attachments: {
    commits: ({ commits }) => ({
      commits: commits.map(({ author, message, ...commit }) => {
        const raw = `"${author.name}" <${author.email}>`;
        const { name, email, epoch } = author;
        return { ...commit, author: { name, email, raw, epoch }, message };
      }),
    }),
  },
  fields: ({ revisionPHID, authorPHID, repositoryPHID, ...diff }) => ({
    revisionPHID,
    authorPHID,
    repositoryPHID,
    refs: [
      ...(diff.branch === null ? [] : [{ type: 'branch', name: diff.branch }]),
      ...(diff.base === null ? [] : [{ type: 'base', identifier: diff.base }]),
    ],
    dateCreated: diff.dateCreated,
    dateModified: diff.dateModified,
    policy: { view: 'users' },
  }),
});

type ChangesetRow = { id: number; phid: Phid; diff: Diff; path: string };

const changesetSearch = search<ChangesetRow>({
  type: 'DCNG',
  query: 'DifferentialChangesetQuery',
  rows: ({ diffs }) =>
    diffs.flatMap((diff) => diff.changesets.map((row, at) => ({ ...row, diff, path: diff.changes[at]?.path ?? '' }))),
  isVisible: ({ diff }, { state, viewer }) => maySeeDiff(state, diff, viewer),
  constraints: { ...identity(), diffPHIDs: strings((row) => row.diff.phid) },
  fields: ({ diff, path }) => ({
    diffPHID: diff.phid,
    path: {
      displayPath: path,
      'absolutePath.base64': Buffer.from(`/${path}`).toString('base64'),
    },
    dateCreated: diff.dateCreated,
    dateModified: diff.dateModified,
    policy: { view: 'users' },
  }),
});

const getRawDiff: Method = {
  params: ['diffID'],
  run: ({ state, params, viewer }) => {
    const id = asId(params.diffID);
    if (id === undefined && isText(params.diffID)) throw notNumeric('id IN (%Ld)');
    const diff = state.diffs.find((row) => row.id === id && maySeeDiff(state, row, viewer));
    if (diff === undefined) throw new ConduitError('ERR_NOT_FOUND', 'Diff not found.');
    return renderRawDiff(diff.changes);
  },
};

const createRawDiff: Method = {
  params: ['diff', 'repositoryPHID', 'viewPolicy'],
  writes: 'differential',
  run: ({ state, params, viewer }) => {
    const { id, phid } = newDiff(state, {
      raw: isText(params.diff) ? params.diff : '',
      authorPHID: viewer.phid,
      repositoryPHID: isText(params.repositoryPHID) ? params.repositoryPHID : null,
    });
    return { id, phid, uri: `${state.baseUri}/differential/diff/${id}/` };
  },
};

export const differentialMethods: Methods = {
  'differential.revision.search': revisionSearch,
  'differential.diff.search': diffSearch,
  'differential.changeset.search': changesetSearch,
  'differential.getrawdiff': getRawDiff,
  'differential.createrawdiff': createRawDiff,
};

/** A diff that belongs to no revision yet. @throws ConduitError if `raw` is no diff */
export function newDiff(state: State, sent: { raw: string | Uint8Array; authorPHID: Phid } & Partial<Diff>): Diff {
  const { raw, ...known } = sent;
  const changes = parseRawDiff(isText(raw) ? raw : decoded(raw));
  const diff: Diff = {
    ...newRecord(state, 'DIFF'),
    revisionPHID: null,
    repositoryPHID: null,
    branch: null,
    base: null,
    commits: [],
    changes,
    changesets: changes.map(() => ({ id: newId(state, 'DCNG'), phid: newPhid(state, 'DCNG') })),
    ...known,
  };
  state.diffs.push(diff);
  addTransactions(state, diff.phid, [{ type: 'create', authorPHID: diff.authorPHID }]);
  return diff;
}

const statuses: {
  [status in RevisionStatus]: { name: string; closed: boolean; 'color.ansi': string | null };
} = {
  draft: { name: 'Draft', closed: false, 'color.ansi': null },
  'needs-review': { name: 'Needs Review', closed: false, 'color.ansi': 'magenta' },
  'needs-revision': { name: 'Needs Revision', closed: false, 'color.ansi': 'red' },
  'changes-planned': { name: 'Changes Planned', closed: false, 'color.ansi': 'red' },
  accepted: { name: 'Accepted', closed: false, 'color.ansi': 'green' },
  published: { name: 'Closed', closed: true, 'color.ansi': 'cyan' },
  abandoned: { name: 'Abandoned', closed: true, 'color.ansi': null },
};

function isClosed(status: RevisionStatus): boolean {
  return statuses[status].closed;
}
