// State of the fake Phabricator: plain records, which a test may read and change.
import { createHash } from 'node:crypto';

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
  isBot: boolean;
  isAdmin: boolean;
  isDisabled: boolean;
  /** Valid tokens; an expired one is removed. */
  tokens: string[];
};

export type Project = Record & { slug: string; members: Phid[] };

export type Repository = Record & { callsign: string | null; shortName: string };

export type Revision = Record & {
  title: string;
  authorPHID: Phid;
  status: 'draft' | 'needs-review' | 'changes-planned' | 'published' | 'abandoned';
  /** Not yet announced; true for some that are no longer drafts. */
  isDraft: boolean;
  holdAsDraft: boolean;
  repositoryPHID: Phid | null;
  /** PHID of its newest diff. */
  diffPHID: Phid;
  /** `users`, or the PHID of the only user besides the author who may see it. */
  viewPolicy: string;
};

export type Diff = Record & {
  revisionPHID: Phid | null;
  authorPHID: Phid;
  repositoryPHID: Phid | null;
  /** Branch of the author's checkout; null, with `base`, for a diff pasted into the web page. */
  branch: string | null;
  base: string | null;
  /** As Phabricator writes it, which is not always as it was sent. */
  raw: string;
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
  comment: { raw: string } | null;
  fields: { [name: string]: unknown };
};

/** A plan with one step "Make HTTP Request", whose target waits for a message afterwards. */
export type BuildPlan = Record & {
  name: string;
  holdDrafts: 'always' | 'building' | 'never';
  /** URI with `${variables}`. */
  uri: string;
  credential: { user: string; password: string } | null;
};

export type Buildable = Record & {
  objectPHID: Phid;
  containerPHID: Phid;
  status: 'building' | 'passed' | 'failed';
};

export type Build = Record & {
  buildablePHID: Phid;
  planPHID: Phid;
  status: 'building' | 'passed' | 'failed' | 'aborted';
  /** Generation of its newest targets; a restart adds one. */
  generation: number;
};

export type UnitResult = { name: string; result: string; details?: string; format?: string };

export type Target = Record & {
  buildPHID: Phid;
  status: 'target/building' | 'target/waiting' | 'target/passed' | 'target/failed';
  generation: number;
  /** Types of the messages it accepted, oldest first; includes unknown types, but not late ones. */
  messages: string[];
  /** Contents of the messages, in order; none replaces another. */
  units: UnitResult[];
};

export type Artifact = Record & { targetPHID: Phid; type: 'uri'; key: string; data: { [name: string]: unknown } };

export type FakeFile = Record & { name: string; bytes: Buffer; authorPHID: Phid; viewPolicy: string };

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
};

export function emptyState(now: number): State {
  return {
    baseUri: '',
    now,
    isReadOnly: false,
    users: [],
    projects: [],
    repositories: [],
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
  };
}

export function newId(state: State, kind: string): number {
  const id = (state.lastIds[kind] ?? 0) + 1;
  state.lastIds[kind] = id;
  return id;
}

/** @param kind such as `DREV`, or `XACT-DREV`, whose PHIDs are five characters shorter */
export function newPhid(state: State, kind: string): Phid {
  const serial = newId(state, `phid ${kind}`);
  return `PHID-${kind}-${letters(`${kind} ${serial}`, kind.startsWith('XACT-') ? 15 : 20)}`;
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

export type Change = Pick<Transaction, 'type' | 'authorPHID'> & { fields?: Transaction['fields']; comment?: string };

/** Adds `changes` to the object as one group, and returns them, oldest first. */
export function addTransactions(state: State, objectPHID: Phid, changes: readonly Change[]): Transaction[] {
  const groupID = letters(`group ${newId(state, 'group')}`, 32);
  const kind = `XACT-${objectPHID.split('-')[1]}`;
  const added = changes.map(({ comment, fields = {}, ...change }) => ({
    id: newId(state, kind),
    phid: newPhid(state, kind),
    ...change,
    objectPHID,
    date: state.now,
    groupID,
    comment: comment === undefined ? null : { raw: comment },
    fields,
  }));
  state.transactions.push(...added);
  return added;
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

export function maySee({ viewPolicy, authorPHID }: { viewPolicy: string; authorPHID: Phid }, viewer: User): boolean {
  return ['users', 'public', viewer.phid].includes(viewPolicy) || authorPHID === viewer.phid;
}

/** A diff has the policies of its revision. */
export function maySeeDiff(state: State, diff: Diff, viewer: User): boolean {
  const revision = byPhid(state.revisions, diff.revisionPHID);
  return revision === undefined || maySee(revision, viewer);
}

/** Also for a target. */
export function maySeeBuild(state: State, build: Build, viewer: User): boolean {
  return maySeeBuildable(state, existing(state.buildables, build.buildablePHID), viewer);
}

export function maySeeBuildable(state: State, buildable: Buildable, viewer: User): boolean {
  const diff = byPhid(state.diffs, buildable.objectPHID);
  return diff === undefined || maySeeDiff(state, diff, viewer);
}
