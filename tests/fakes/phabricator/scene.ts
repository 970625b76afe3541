// Acts of people and Herald on the fake Phabricator, without a call.
import { startBuild } from './builds.ts';
import { newDiff } from './differential.ts';
import { applyEdits, type Edit } from './revision-edit.ts';
import {
  type BuildPlan,
  byPhid,
  type Commit,
  type Diff,
  letters,
  newId,
  newPhid,
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

/** A diff as sent by its author: with `branch`, `base` or `commits` by arc, otherwise pasted into the web page. */
export type SentDiff = {
  raw: string | Uint8Array;
  branch?: string;
  /** Id of a commit; for a Subversion working copy its number, or its URL with or without one; or free text. */
  base?: string;
  commits?: Diff['commits'];
  dateCreated?: number;
};

export type Scene = {
  addUser: (username: string, user?: Partial<User>) => User;
  /** The user's first token, created if there is none. */
  tokenOf: (user: User) => string;
  addProject: (slug: string, members?: readonly User[]) => Project;
  addRepository: (callsign: string, repository?: Partial<Repository>) => Repository;
  addCommit: (repository: Repository, author: User, commit?: Partial<Commit>) => Commit;
  /** Adds a revision that is in review at once, unless its status is `draft`. */
  addRevision: (revision: {
    author: User;
    title: string;
    diff: SentDiff;
    repository?: Repository;
    summary?: string;
    status?: Revision['status'];
    holdAsDraft?: boolean;
    /** The only user besides the author who may see it. */
    visibleTo?: User;
    subscribers?: readonly User[];
    projects?: readonly Project[];
  }) => Revision;
  /** Sends another diff as its author. */
  updateRevision: (revision: Revision, diff: SentDiff, comment?: string) => Diff;
  addDiff: (author: User, diff: SentDiff) => Diff;
  comment: (revision: Revision, author: User, text: string) => Transaction;
  abandon: (revision: Revision) => void;
  addBuildPlan: (plan: {
    uri: string;
    name?: string;
    method?: BuildPlan['step']['method'];
    credential?: { user: string; password: string };
    holdDrafts?: BuildPlan['holdDrafts'];
    /** Default: true. */
    waitsForMessage?: boolean;
  }) => BuildPlan;
  /**
   * Runs the plan on the revision's newest diff, as Herald does; resolves when the endpoint has replied, with any
   * status.
   */
  startBuild: (revision: Revision, plan: BuildPlan) => Promise<Target>;
  /** Starts to notify it of all later events. */
  addWebhook: Webhooks['add'];
  /** Sends each delivery that got no status 200 again, unchanged. */
  redeliver: () => Promise<void>;
  /** Advances the clock. */
  letPass: (seconds: number) => void;
};

export function sceneOf(state: State, webhooks: Webhooks): Scene {
  /** Notifies the webhooks. */
  const told = <T>(outcome: T): T => {
    webhooks.announce();
    return outcome;
  };
  const edit = (revision: Revision, author: User, edits: Edit[]) => told(applyEdits(state, revision, edits, author));
  const authorOf = (revision: Revision) => {
    const author = byPhid(state.users, revision.authorPHID);
    if (author === undefined) throw new Error(`D${revision.id} has no author.`);
    return author;
  };
  return {
    addUser: (username, user = {}) => addUser(state, username, user),
    tokenOf(user) {
      const [token = newToken(state)] = user.tokens;
      user.tokens = [token];
      return token;
    },
    addProject: (slug, members = []) => addProject(state, slug, members),
    addRepository: (callsign, repository = {}) => addRepository(state, callsign, repository),
    addCommit: (repository, author, commit = {}) => addCommit(state, repository, author, commit),
    addRevision: (revision) => told(addRevision(state, revision)),
    updateRevision(revision, sent, comment = '') {
      const authorPHID = revision.authorPHID;
      const diff = newDiff(state, {
        ...sent,
        authorPHID,
        dateModified: sent.dateCreated ?? state.now,
      });
      edit(revision, authorOf(revision), [
        { type: 'update', value: diff.phid },
        { type: 'comment', value: comment },
      ]);
      return diff;
    },
    addDiff: (author, sent) => told(newDiff(state, { ...sent, authorPHID: author.phid })),
    comment(revision, author, text) {
      const { transactions } = edit(revision, author, [{ type: 'comment', value: text }]);
      const commented = transactions.at(-1);
      if (commented === undefined) throw new Error('An empty comment is none.');
      return commented;
    },
    abandon(revision) {
      edit(revision, authorOf(revision), [{ type: 'abandon', value: true }]);
    },
    addBuildPlan: (plan) => addBuildPlan(state, plan),
    async startBuild(revision, plan) {
      return told(await startBuild(state, revision, plan));
    },
    addWebhook: webhooks.add,
    redeliver: webhooks.redeliver,
    letPass(seconds) {
      state.now += seconds;
    },
  };
}

function addUser(state: State, username: string, user: Partial<User>): User {
  const realName = username.charAt(0).toUpperCase() + username.slice(1);
  const added: User = {
    ...newRecord(state, 'USER'),
    username,
    realName,
    isBot: false,
    isAdmin: false,
    isDisabled: false,
    email: `${username}@example.org`,
    imageUri: `${state.baseUri}/file/data/${letters(username, 20)}/profile.png`,
    tokens: [newToken(state)],
    ...user,
  };
  state.users.push(added);
  return added;
}

function newToken(state: State): string {
  return `api-${letters(`token ${newId(state, 'token')}`, 28)}`;
}

function addProject(state: State, slug: string, members: readonly User[]): Project {
  const words = slug.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const project: Project = {
    ...newRecord(state, 'PROJ'),
    name: words.join(' '),
    slug,
    description: '',
    members: members.map(({ phid }) => phid),
    editPolicy: 'admin',
  };
  state.projects.push(project);
  return project;
}

function addRepository(state: State, callsign: string, repository: Partial<Repository>): Repository {
  const added: Repository = {
    ...newRecord(state, 'REPO'),
    name: callsign,
    vcs: 'git',
    callsign,
    shortName: callsign.toLowerCase(),
    description: '',
    defaultBranch: 'main',
    uris: (['callsign', 'shortname', 'id'] as const).map((identifier) => ({
      id: newId(state, 'RURI'),
      phid: newPhid(state, 'RURI'),
      identifier,
      date: state.now,
    })),
    ...repository,
  };
  state.repositories.push(added);
  return added;
}

function addCommit(state: State, repository: Repository, author: User, commit: Partial<Commit>): Commit {
  const id = newId(state, 'CMIT');
  const added: Commit = {
    id,
    phid: newPhid(state, 'CMIT'),
    identifier: id.toString(16).padStart(40, '0'),
    repositoryPHID: repository.phid,
    authorPHID: author.phid,
    identityPHID: newPhid(state, 'RIDT'),
    epoch: state.now,
    message: 'A commit\n',
    ...commit,
  };
  state.commits.push(added);
  return added;
}

function addRevision(state: State, wanted: Parameters<Scene['addRevision']>[0]): Revision {
  const { author, title, diff: sent, summary = '', status = 'needs-review' } = wanted;
  const diff = newDiff(state, {
    ...sent,
    authorPHID: author.phid,
    repositoryPHID: wanted.repository?.phid ?? null,
    dateModified: sent.dateCreated ?? state.now,
  });
  const phids = (of: readonly { phid: string }[] = []) => of.map(({ phid }) => phid);
  const edits: Edit[] = [
    { type: 'update', value: diff.phid },
    { type: 'title', value: title },
    { type: 'summary', value: summary },
    { type: 'testPlan', value: 'n/a' },
    { type: 'subscribers.add', value: phids(wanted.subscribers) },
    { type: 'projects.add', value: phids(wanted.projects) },
    ...(wanted.visibleTo ? [{ type: 'view', value: wanted.visibleTo.phid }] : []),
    ...(wanted.holdAsDraft ? [{ type: 'draft', value: true }] : []),
  ];
  const { revision } = applyEdits(state, undefined, edits, author);
  return Object.assign(revision, { status, isDraft: status === 'draft' });
}

function addBuildPlan(state: State, wanted: Parameters<Scene['addBuildPlan']>[0]): BuildPlan {
  const { uri, name = 'netperf bench', method = 'POST', credential = null } = wanted;
  const { holdDrafts = 'always', waitsForMessage = true } = wanted;
  const identity = { id: newId(state, 'HMCS'), phid: newPhid(state, 'HMCS') };
  const asks = { ...identity, name: 'Ask bench CI', date: state.now, uri, method };
  const plan: BuildPlan = {
    ...newRecord(state, 'HMCP'),
    name,
    holdDrafts,
    step: { ...asks, credential, waitsForMessage },
  };
  state.plans.push(plan);
  return plan;
}
