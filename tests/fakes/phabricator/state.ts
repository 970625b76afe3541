// State of the fake Phabricator: plain records, which a test may read and change.
import { createHash } from 'node:crypto';
import type { Changeset } from './raw-diff.ts';

export type Phid = string;

type Record = {
  id: number;
  phid: Phid;
  /** Seconds since 1970, like all times here. */
  dateCreated: number;
  dateModified: number;
};

export type User = Record & {
  username: string;
  realName: string;
  isBot: boolean;
  isAdmin: boolean;
  isDisabled: boolean;
  email: string;
  imageUri: string;
  /** Valid tokens; an expired one is removed. */
  tokens: string[];
};

export type Project = Record & {
  name: string;
  slug: string;
  description: string;
  members: Phid[];
  /** PHID of the author. */
  editPolicy: string;
};

export type Repository = Record & {
  name: string;
  vcs: 'git' | 'svn';
  callsign: string | null;
  shortName: string;
  description: string;
  defaultBranch: string;
  /** Its URIs by id, by callsign and by short name. */
  uris: { id: number; phid: Phid; identifier: 'id' | 'callsign' | 'shortname'; date: number }[];
};

export type Commit = {
  id: number;
  phid: Phid;
  identifier: string;
  repositoryPHID: Phid;
  authorPHID: Phid;
  identityPHID: Phid;
  epoch: number;
  message: string;
};

export type RevisionStatus =
  | 'draft'
  | 'needs-review'
  | 'needs-revision'
  | 'changes-planned'
  | 'accepted'
  | 'published'
  | 'abandoned';

export type Revision = Record & {
  title: string;
  summary: string;
  testPlan: string;
  authorPHID: Phid;
  status: RevisionStatus;
  /** Not yet announced; true for some that are no longer drafts. */
  isDraft: boolean;
  holdAsDraft: boolean;
  repositoryPHID: Phid | null;
  /** PHID of its newest diff. */
  diffPHID: Phid;
  reviewers: { reviewerPHID: Phid; isBlocking: boolean }[];
  subscriberPHIDs: Phid[];
  projectPHIDs: Phid[];
  /** `users`, or the PHID of the only user besides the author who may see it. */
  viewPolicy: string;
  editPolicy: string;
};

export type Diff = Record & {
  revisionPHID: Phid | null;
  authorPHID: Phid;
  repositoryPHID: Phid | null;
  /** Branch of the author's checkout; null, with `base`, for a diff pasted into the web page. */
  branch: string | null;
  base: string | null;
  commits: LocalCommit[];
  changes: Changeset[];
  /** Ids and PHIDs of `changes`, in their order. */
  changesets: { id: number; phid: Phid }[];
};

export type LocalCommit = {
  identifier: string;
  tree: string;
  parents: string[];
  author: { name: string; email: string; epoch: number };
  message: string;
};

export type Transaction = {
  id: number;
  phid: Phid;
  /** Null if Conduit has no name for it. */
  type: string | null;
  authorPHID: Phid;
  objectPHID: Phid;
  date: number;
  groupID: string;
  comment: { id: number; phid: Phid; raw: string } | null;
  fields: { [name: string]: unknown };
};

export type BuildPlan = Record & {
  name: string;
  holdDrafts: 'always' | 'building' | 'never';
  step: BuildStep;
};

/** A "Make HTTP Request" step. */
export type BuildStep = {
  id: number;
  phid: Phid;
  name: string;
  date: number;
  /** URI with `${variables}`. */
  uri: string;
  method: 'POST' | 'GET' | 'PUT' | 'DELETE';
  credential: { user: string; password: string } | null;
  /** True if the target waits for a message afterwards; otherwise status 200 is a pass. */
  waitsForMessage: boolean;
};

export type Buildable = Record & {
  objectPHID: Phid;
  containerPHID: Phid;
  status: 'building' | 'passed' | 'failed';
};

export type Build = Record & {
  buildablePHID: Phid;
  planPHID: Phid;
  initiatorPHID: Phid;
  status: 'building' | 'passed' | 'failed' | 'aborted';
  /** Generation of its newest targets; a restart adds one. */
  generation: number;
};

export type UnitResult = {
  name: string;
  result: string;
  namespace?: string;
  engine?: string;
  duration?: number;
  path?: string;
  details?: string;
  format?: string;
};

export type Target = Record & {
  name: string;
  buildPHID: Phid;
  stepPHID: Phid;
  status: 'target/building' | 'target/waiting' | 'target/passed' | 'target/failed';
  epochStarted: number | null;
  epochCompleted: number | null;
  generation: number;
  /** Types of the messages it accepted, oldest first; includes unknown types, but not late ones. */
  messages: string[];
  /** Contents of the messages, in order; none replaces another. */
  units: UnitResult[];
};

export type Artifact = Record & {
  targetPHID: Phid;
  type: 'uri' | 'file';
  key: string;
  data: { [name: string]: unknown };
  isReleased: boolean;
};

export type FakeFile = Record & {
  name: string;
  bytes: Buffer;
  authorPHID: Phid;
  viewPolicy: string;
  /** Secret part of its data's address. */
  secret: string;
};

export type State = {
  /** Without a trailing slash. */
  baseUri: string;
  /** Seconds since 1970; only a test changes it. */
  now: number;
  isReadOnly: boolean;
  /** Parts of the server that are down: they do nothing, and send no response. */
  away?: 'database' | 'php';
  users: User[];
  projects: Project[];
  repositories: Repository[];
  commits: Commit[];
  revisions: Revision[];
  diffs: Diff[];
  transactions: Transaction[];
  plans: BuildPlan[];
  buildables: Buildable[];
  builds: Build[];
  targets: Target[];
  artifacts: Artifact[];
  files: FakeFile[];
  /** The newest id of each kind, such as `DREV`. */
  lastIds: { [kind: string]: number };
  /** Requests of builds that continue after the response. */
  background: Promise<unknown>[];
  /** PHIDs for the next objects of their kinds, in order; later objects get generated ones. */
  coming: Phid[];
};

export function emptyState(baseUri: string, now: number): State {
  return {
    baseUri,
    now,
    isReadOnly: false,
    users: [],
    projects: [],
    repositories: [],
    commits: [],
    revisions: [],
    diffs: [],
    transactions: [],
    plans: [],
    buildables: [],
    builds: [],
    targets: [],
    artifacts: [],
    files: [],
    lastIds: {},
    background: [],
    coming: [],
  };
}

/** Harbormaster, when it acts automatically. */
export const harbormasterPhid = 'PHID-APPS-PhabricatorHarbormasterApplication';

/** Herald rule that runs build plans and calls webhooks. */
export const heraldRulePhid = 'PHID-HRUL-ppsgatefakeherald001';

export function newId(state: State, kind: string): number {
  const id = (state.lastIds[kind] ?? 0) + 1;
  state.lastIds[kind] = id;
  return id;
}

/** @param kind such as `DREV`, or `XACT-DREV`, whose PHIDs are five characters shorter */
export function newPhid(state: State, kind: string): Phid {
  const serial = newId(state, `phid ${kind}`);
  const coming = state.coming.findIndex((phid) => phid.startsWith(`PHID-${kind}-`));
  const length = kind.startsWith('XACT-') ? 15 : 20;
  const [phid = `PHID-${kind}-${letters(`${kind} ${serial}`, length)}`] =
    coming === -1 ? [] : state.coming.splice(coming, 1);
  return phid;
}

/** Lower-case letters and digits of base 32, pseudo-random and reproducible. */
export function letters(seed: string, length: number): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
  const hash = createHash('sha512').update(seed).digest();
  return Array.from({ length }, (_, at) => alphabet.charAt((hash[at] ?? 0) % 32)).join('');
}

/** A new record's id, PHID and dates. */
export function newRecord(state: State, kind: string): Record {
  const dates = { dateCreated: state.now, dateModified: state.now };
  return { id: newId(state, kind), phid: newPhid(state, kind), ...dates };
}

export function byPhid<T extends { phid: Phid }>(rows: readonly T[], phid: unknown): T | undefined {
  return rows.find((row) => row.phid === phid);
}

/** Finds an object to which the state itself refers; its absence would be the fake's fault. */
export function existing<T extends { phid: Phid }>(rows: readonly T[], phid: Phid): T {
  const row = byPhid(rows, phid);
  if (row === undefined) throw new Error(`the fake has no ${phid}`);
  return row;
}

export function maySee(object: { viewPolicy: string; authorPHID: Phid }, viewer: User): boolean {
  return allows(object.viewPolicy, viewer) || object.authorPHID === viewer.phid;
}

export function mayEdit(revision: Revision, editor: User): boolean {
  return allows(revision.editPolicy, editor) || revision.authorPHID === editor.phid;
}

function allows(policy: string, user: User): boolean {
  return policy === 'users' || policy === 'public' || policy === user.phid;
}

/** A diff has the policies of its revision. */
export function maySeeDiff(state: State, diff: Diff, viewer: User): boolean {
  const revision = byPhid(state.revisions, diff.revisionPHID);
  return revision === undefined || maySee(revision, viewer);
}

/** Also for a build, a target or an artifact. */
export function maySeeBuild(state: State, build: Build, viewer: User): boolean {
  return maySeeBuildable(state, existing(state.buildables, build.buildablePHID), viewer);
}

export function maySeeBuildable(state: State, buildable: Buildable, viewer: User): boolean {
  const diff = byPhid(state.diffs, buildable.objectPHID);
  return diff === undefined || maySeeDiff(state, diff, viewer);
}
