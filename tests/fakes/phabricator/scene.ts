// Acts of people and Herald on the fake Phabricator, without a call.
import { startBuild } from './builds.ts';
import { addComment, attachDiff, newDiff } from './differential.ts';
import {
  addTransactions,
  type BuildPlan,
  type Diff,
  existing,
  letters,
  newId,
  newRecord,
  type Project,
  type Repository,
  type Revision,
  type State,
  type Target,
  type Transaction,
  type User,
} from './state.ts';
import type { Webhooks } from './webhooks.ts';

/** A diff as sent by its author: with `branch` or `base` by arc, otherwise pasted into the web page. */
type SentDiff = {
  raw: string;
  branch?: string;
  /** Id of a commit; for a Subversion working copy its number, or its URL with or without one; or free text. */
  base?: string;
  dateCreated?: number;
};

export type Scene = {
  addUser: (username: string, user?: Partial<User>) => User;
  tokenOf: (user: User) => string;
  addProject: (slug: string, members?: readonly User[]) => Project;
  addRepository: (callsign: string, repository?: Partial<Repository>) => Repository;
  /** Adds a revision that is in review at once, unless its status is `draft`. */
  addRevision: (revision: {
    author: User;
    title: string;
    diff: SentDiff;
    repository?: Repository;
    status?: Revision['status'];
    holdAsDraft?: boolean;
    /** The only user besides the author who may see it. */
    visibleTo?: User;
  }) => Revision;
  /** Sends another diff as its author. */
  updateRevision: (revision: Revision, diff: SentDiff) => Diff;
  addDiff: (author: User, diff: SentDiff) => Diff;
  comment: (revision: Revision, author: User, text: string) => Transaction;
  abandon: (revision: Revision) => void;
  addBuildPlan: (plan: {
    uri: string;
    name?: string;
    credential?: { user: string; password: string };
    holdDrafts?: BuildPlan['holdDrafts'];
  }) => BuildPlan;
  /**
   * Runs the plan on the revision's newest diff, as Herald does; resolves when the endpoint has replied, with any
   * status.
   */
  startBuild: (revision: Revision, plan: BuildPlan) => Promise<Target>;
  /** Starts to notify it of all later events. */
  addWebhook: Webhooks['add'];
  /** Advances the clock. */
  letPass: (seconds: number) => void;
};

export function sceneOf(state: State, webhooks: Webhooks): Scene {
  /** Notifies the webhooks. */
  const told = <T>(outcome: T): T => {
    webhooks.announce();
    return outcome;
  };
  return {
    addUser: (username, user = {}) => addUser(state, username, user),
    tokenOf: ({ tokens: [token = ''] }) => token,
    addProject: (slug, members = []) =>
      added(state.projects, { ...newRecord(state, 'PROJ'), slug, members: members.map(({ phid }) => phid) }),
    addRepository: (callsign, repository = {}) =>
      added(state.repositories, {
        ...newRecord(state, 'REPO'),
        callsign,
        shortName: callsign.toLowerCase(),
        ...repository,
      }),
    addRevision: (revision) => told(addRevision(state, revision)),
    updateRevision(revision, sent) {
      const diff = newDiff(state, { ...sent, authorPHID: revision.authorPHID });
      attachDiff(state, revision, diff);
      return told(diff);
    },
    addDiff: (author, sent) => newDiff(state, { ...sent, authorPHID: author.phid }),
    comment: (revision, author, text) => told(addComment(state, revision, author, text)),
    abandon(revision) {
      Object.assign(revision, { status: 'abandoned', dateModified: state.now });
      told(addTransactions(state, revision.phid, [{ type: 'abandon', authorPHID: revision.authorPHID }]));
    },
    addBuildPlan: ({ name = 'netperf bench', credential = null, holdDrafts = 'always', uri }) =>
      added(state.plans, { ...newRecord(state, 'HMCP'), name, holdDrafts, uri, credential }),
    startBuild: async (revision, plan) => told(await startBuild(state, revision, plan)),
    addWebhook: webhooks.add,
    letPass(seconds) {
      state.now += seconds;
    },
  };
}

function added<T>(all: T[], one: T): T {
  all.push(one);
  return one;
}

function addUser(state: State, username: string, user: Partial<User>): User {
  return added(state.users, {
    ...newRecord(state, 'USER'),
    username,
    isBot: false,
    isAdmin: false,
    isDisabled: false,
    tokens: [`api-${letters(`token ${newId(state, 'token')}`, 28)}`],
    ...user,
  });
}

function addRevision(state: State, wanted: Parameters<Scene['addRevision']>[0]): Revision {
  const { author, title, diff: sent, status = 'needs-review', holdAsDraft = false } = wanted;
  const authorPHID = author.phid;
  const diff = newDiff(state, { ...sent, authorPHID, repositoryPHID: wanted.repository?.phid ?? null });
  const revision = added(state.revisions, {
    ...newRecord(state, 'DREV'),
    title,
    authorPHID,
    status,
    isDraft: status === 'draft',
    holdAsDraft,
    repositoryPHID: diff.repositoryPHID,
    diffPHID: diff.phid,
    viewPolicy: wanted.visibleTo?.phid ?? 'users',
  });
  diff.revisionPHID = revision.phid;
  addTransactions(state, revision.phid, [
    { type: 'create', authorPHID },
    { type: 'update', authorPHID, fields: { old: null, new: diff.phid, commitPHIDs: [] } },
    { type: 'title', authorPHID, fields: { old: '', new: title } },
  ]);
  return existing(state.revisions, revision.phid);
}
