// Stores a relay's state on disk: deliveries until they are settled, seen transactions, jobs until they end, and
// answers until Phabricator accepts them.
import { join } from 'node:path';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { z } from 'zod';
import { type Job, jobSchema } from '../forge/patch/job-key.ts';
import * as bounded from '../model/bounds.ts';
import { lockIfFree, SqliteFile, type SqliteFileKind } from '../system/sqlite.ts';

const deliverySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('webhook'),
    /** Hash of the bytes, equal for a redelivery. */
    id: bounded.word,
    at: z.coerce.date(),
    object: bounded.word,
    transactions: bounded.list(bounded.word),
  }),
  z.object({
    kind: z.literal('build'),
    /** Id of the target; a restarted build has a new one. */
    id: bounded.word,
    at: z.coerce.date(),
    target: bounded.word,
    build: bounded.word,
    diff: z.int(),
    revision: z.int().optional(),
  }),
]);

export type Delivery = z.infer<typeof deliverySchema>;

type Settlement = {
  seen: readonly string[];
  jobs: readonly Job[];
};

export type JobRecord = {
  job: Job;
  queuedAt: Date;
  /** Attempts to start it. Above zero, it may have been started without a reply. */
  tries: number;
  state: JobState;
};

type JobState =
  /** `why` is the reason of the last failed start. */
  | { kind: 'due'; from: Date; why?: string }
  | { kind: 'starting' }
  | { kind: 'started'; where: string }
  | { kind: 'ended'; how: string; where?: string }
  | { kind: 'dropped'; why: string; where?: string };

export type WaitingAnswer = {
  key: string;
  revision: number;
  keptAt: Date;
  from: Date;
  why?: string;
};

/** Shared by all processes of a host. A call that returns is durable; one that throws an InboxError changed nothing. */
export type Inbox = Disposable & {
  /** `known`: accepted within the last 90 days. */
  accept(deliveries: readonly Delivery[]): ('new' | 'known')[];
  /** Accepted but not settled, oldest first. */
  pendingDeliveries(): Delivery[];
  countPending(): number;
  /** Settles a delivery in one transaction, once. Returns the new jobs, which are due. */
  settle(id: string, outcome: Settlement): Job[];
  /** Returns those transactions that were seen before. */
  hasSeen(transactions: readonly string[]): Set<string>;

  /**
   * Settles, in the same way, all changes of a server until `since`, in seconds of the server's clock; never goes back.
   */
  advancePoll(server: string, since: number, outcome: Settlement): Job[];
  /** Undefined for a server that was never polled. */
  pollState(server: string): number | undefined;

  /**
   * Jobs to start now, oldest first. Only the first process to call gets jobs while it lives; after its death, the jobs
   * that it was starting are due again.
   */
  dueJobs(): JobRecord[];
  // Each of these returns false, and changes nothing, if the job is in another state.
  /** Marks a due job, in the process that `dueJobs` serves. */
  markStarting(key: string): boolean;
  /** Marks a starting job. Returns false if it was dropped meanwhile. */
  markStarted(key: string, where: string): boolean;
  postpone(key: string, until: Date, why: string): boolean;
  markEnded(key: string, how: string): boolean;
  /** Drops a job that has not ended: it is cancelled, superseded, or cannot be started. */
  drop(key: string, why: string): boolean;

  /** Due, starting or started; oldest first. */
  unendedJobs(): JobRecord[];
  /** Newest first. */
  jobsOf(revision: number): JobRecord[];

  /** Has no effect if an answer with this key waits. From then on the key counts as concluded. */
  keepAnswer(answer: { key: string; server: string; revision: number; text: string }): void;
  /** True if an answer with this key was stored within the last 90 days, delivered or not. */
  hasConcluded(key: string): boolean;
  /** Oldest first. */
  waitingAnswers(server: string): WaitingAnswer[];
  readAnswer(key: string): string | undefined;
  postponeAnswer(key: string, from: Date, why: string): void;
  /** Call it after the delivery, or on giving up. */
  dropAnswer(key: string): void;
  /** Undefined while another process delivers: two would deliver an answer twice. */
  lockAnswers(): Disposable | undefined;
};

export class InboxError extends Error {
  override readonly name = 'InboxError';
}

/** Shared by a machine's relay, poller and gates. */
export const inboxIn = (directory: string): string => join(directory, 'inbox.sqlite');

/** Creates a missing file; it must be on a local disk. */
export const openInbox = (path: string, now: () => Date): Inbox => new SqliteInbox(path, now);

class SqliteInbox implements Inbox {
  readonly #now: () => Date;
  readonly #file: SqliteFile;
  readonly #sql: ReturnType<typeof prepare>;
  #starting: Disposable | undefined;
  #isStarter = false;

  constructor(path: string, now: () => Date) {
    this.#now = now;
    this.#file = new SqliteFile(path, fileKind, lockMilliseconds);
    this.#sql = this.#file.use(() => prepare(this.#file.database));
  }

  accept(deliveries: readonly Delivery[]): ('new' | 'known')[] {
    return this.#write(() =>
      deliveries.map((delivery) => {
        const { id, at } = delivery;
        const { changes } = this.#sql.accept.run(id, at.getTime(), JSON.stringify(delivery));
        return changes > 0 ? 'new' : 'known';
      }),
    );
  }

  pendingDeliveries(): Delivery[] {
    return this.#read(() => this.#sql.pending.all().map(deliveryOf));
  }

  countPending(): number {
    return this.#read(() => countRow.parse(this.#sql.countPending.get()).count);
  }

  settle(id: string, outcome: Settlement): Job[] {
    return this.#write(() => (this.#sql.settle.run(id).changes > 0 ? this.#keep(outcome) : []));
  }

  hasSeen(transactions: readonly string[]): Set<string> {
    return this.#read(() => new Set(transactions.filter((one) => this.#sql.isSeen.get(one) !== undefined)));
  }

  advancePoll(server: string, since: number, outcome: Settlement): Job[] {
    return this.#write(() => {
      this.#sql.advancePoll.run(server, since);
      return this.#keep(outcome);
    });
  }

  pollState(server: string): number | undefined {
    return this.#read(() => pollRow.optional().parse(this.#sql.pollState.get(server))?.since);
  }

  dueJobs(): JobRecord[] {
    return this.#read(() => (this.#mayStart() ? this.#sql.due.all(this.#now().getTime()).map(jobRecordOf) : []));
  }

  markStarting(key: string): boolean {
    return this.#read(() => this.#mayStart() && this.#changes(() => this.#sql.markStarting.run(key)));
  }

  markStarted(key: string, where: string): boolean {
    return this.#changes(() => this.#sql.markStarted.run(key, where));
  }

  postpone(key: string, until: Date, why: string): boolean {
    return this.#changes(() => this.#sql.postpone.run(key, until.getTime(), why));
  }

  markEnded(key: string, how: string): boolean {
    return this.#changes(() => this.#sql.end.run(key, 'ended', how));
  }

  drop(key: string, why: string): boolean {
    return this.#changes(() => this.#sql.end.run(key, 'dropped', why));
  }

  unendedJobs(): JobRecord[] {
    return this.#read(() => this.#sql.unended.all().map(jobRecordOf));
  }

  jobsOf(revision: number): JobRecord[] {
    return this.#read(() => this.#sql.jobsOf.all(revision).map(jobRecordOf));
  }

  keepAnswer(answer: { key: string; server: string; revision: number; text: string }): void {
    const { key, server, revision, text } = answer;
    const at = this.#now().getTime();
    this.#write(() => {
      this.#sql.keepAnswer.run(key, server, revision, text, at);
      this.#sql.conclude.run(key, at);
    });
  }

  hasConcluded(key: string): boolean {
    return this.#read(() => this.#sql.hasConcluded.get(key) !== undefined);
  }

  waitingAnswers(server: string): WaitingAnswer[] {
    return this.#read(() => this.#sql.waiting.all(server).map(waitingAnswerOf));
  }

  readAnswer(key: string): string | undefined {
    return this.#read(() => answerTextRow.optional().parse(this.#sql.readAnswer.get(key))?.answer);
  }

  postponeAnswer(key: string, from: Date, why: string): void {
    this.#changes(() => this.#sql.postponeAnswer.run(key, from.getTime(), why));
  }

  dropAnswer(key: string): void {
    this.#changes(() => this.#sql.dropAnswer.run(key));
  }

  lockAnswers(): Disposable | undefined {
    return this.#read(() => lockIfFree(`${this.#file.path}.answers.lock`));
  }

  [Symbol.dispose](): void {
    this.#starting?.[Symbol.dispose]();
    this.#file[Symbol.dispose]();
  }

  #changes(statement: () => { changes: number | bigint }): boolean {
    return this.#write(() => statement().changes > 0);
  }

  #write<T>(work: () => T): T {
    return this.#file.transaction('BEGIN IMMEDIATE', work);
  }

  #read<T>(work: () => T): T {
    return this.#file.use(work);
  }

  #keep({ seen, jobs }: Settlement): Job[] {
    const time = this.#now().getTime();
    this.#sql.forget.run(time - keptMilliseconds);
    this.#sql.forgetConcluded.run(time - keptMilliseconds);
    for (const transaction of seen) this.#sql.see.run(transaction);
    return jobs.filter((job) => this.#sql.queue.run(job.key, job.revision, JSON.stringify(job), time).changes > 0);
  }

  /**
   * True while this process has the lock. Only then does it start jobs, so jobs that seem to be starting are left over.
   */
  #mayStart(): boolean {
    this.#starting ??= lockIfFree(`${this.#file.path}.lock`);
    if (this.#starting === undefined) return false;
    if (!this.#isStarter) this.#write(() => this.#sql.restart.run());
    this.#isStarter = true;
    return true;
  }
}

/** Time for which seen transactions and keys of jobs prevent repeated work on a redelivery. */
const keptMilliseconds = 90 * 86_400_000;

function prepare(database: DatabaseSync) {
  const one = (text: string) => database.prepare(text);
  return {
    accept: one('INSERT INTO deliveries (id, at, pending) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING'),
    pending: one('SELECT pending FROM deliveries WHERE pending IS NOT NULL ORDER BY sequence'),
    countPending: one('SELECT count(*) AS count FROM deliveries WHERE pending IS NOT NULL'),
    settle: one('UPDATE deliveries SET pending = NULL WHERE id = ? AND pending IS NOT NULL'),
    forget: one('DELETE FROM deliveries WHERE pending IS NULL AND at < ?'),

    see: one('INSERT INTO seen (phid) VALUES (?) ON CONFLICT (phid) DO NOTHING'),
    isSeen: one('SELECT 1 FROM seen WHERE phid = ?'),

    advancePoll: one(
      `INSERT INTO polls (server, since) VALUES (?, ?)
       ON CONFLICT (server) DO UPDATE SET since = max(since, excluded.since)`,
    ),
    pollState: one('SELECT since FROM polls WHERE server = ?'),

    queue: one(
      `INSERT INTO jobs (key, revision, job, queued_at, due_at, tries, state)
       VALUES (?1, ?2, ?3, ?4, ?4, 0, 'due') ON CONFLICT (key) DO NOTHING`,
    ),
    restart: one(`UPDATE jobs SET state = 'due' WHERE state = 'starting'`),
    due: one(`SELECT * FROM jobs WHERE state = 'due' AND due_at <= ? ORDER BY sequence`),
    markStarting: one(`UPDATE jobs SET state = 'starting', tries = tries + 1 WHERE key = ? AND state = 'due'`),
    markStarted: one(`UPDATE jobs SET state = 'started', place = ?2 WHERE key = ?1 AND state = 'starting'`),
    postpone: one(
      `UPDATE jobs SET state = 'due', due_at = ?2, said = ?3
       WHERE key = ?1 AND state IN ('due', 'starting')`,
    ),
    end: one(`UPDATE jobs SET state = ?2, said = ?3 WHERE key = ?1 AND ${unended}`),
    unended: one(`SELECT * FROM jobs WHERE ${unended} ORDER BY sequence`),
    jobsOf: one('SELECT * FROM jobs WHERE revision = ? ORDER BY sequence DESC'),

    keepAnswer: one(
      `INSERT INTO answers (key, server, revision, answer, kept_at, due_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (key) DO NOTHING`,
    ),
    conclude: one('INSERT INTO concluded (key, at) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET at = excluded.at'),
    hasConcluded: one('SELECT 1 FROM concluded WHERE key = ?'),
    forgetConcluded: one('DELETE FROM concluded WHERE at < ?'),
    waiting: one('SELECT key, revision, kept_at, due_at, said FROM answers WHERE server = ? ORDER BY sequence'),
    readAnswer: one('SELECT answer FROM answers WHERE key = ?'),
    postponeAnswer: one('UPDATE answers SET due_at = ?2, said = ?3 WHERE key = ?1'),
    dropAnswer: one('DELETE FROM answers WHERE key = ?'),
  };
}

const unended = "state IN ('due', 'starting', 'started')";

type SqlRow = Record<string, SQLOutputValue>;

const pendingRow = z.object({ pending: bounded.document });
const deliveryOf = (row: SqlRow): Delivery => deliverySchema.parse(JSON.parse(pendingRow.parse(row).pending));

const countRow = z.object({ count: z.int() });
const pollRow = z.object({ since: z.int() });

const jobRow = z.object({
  job: bounded.document,
  queued_at: z.int(),
  tries: z.int(),
  state: z.enum(['due', 'starting', 'started', 'ended', 'dropped']),
  due_at: z.int(),
  place: bounded.word.nullable(),
  said: bounded.prose().nullable(),
});

function jobRecordOf(row: SqlRow): JobRecord {
  const parsed = jobRow.parse(row);
  return {
    job: jobSchema.parse(JSON.parse(parsed.job)),
    queuedAt: new Date(parsed.queued_at),
    tries: parsed.tries,
    state: stateOf(parsed),
  };
}

function stateOf({ state, due_at, place, said }: z.infer<typeof jobRow>): JobState {
  const where = place === null ? {} : { where: place };
  switch (state) {
    case 'due':
      return { kind: state, from: new Date(due_at), ...(said !== null && { why: said }) };
    case 'starting':
      return { kind: state };
    case 'started':
      return { kind: state, where: place ?? '' };
    case 'ended':
      return { kind: state, how: said ?? '', ...where };
    case 'dropped':
      return { kind: state, why: said ?? '', ...where };
  }
}

const answerTextRow = z.object({ answer: bounded.document });

const answerRow = z.object({
  key: bounded.word,
  revision: z.int(),
  kept_at: z.int(),
  due_at: z.int(),
  said: bounded.prose().nullable(),
});

function waitingAnswerOf(row: SqlRow): WaitingAnswer {
  const { key, revision, kept_at, due_at, said } = answerRow.parse(row);
  const why = said === null ? {} : { why: said };
  return { key, revision, keptAt: new Date(kept_at), from: new Date(due_at), ...why };
}

/** Times are in milliseconds since 1970. */
const schema = `
  CREATE TABLE deliveries (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    -- All of it; NULL once it is settled.
    pending TEXT
  ) STRICT;
  CREATE INDEX deliveries_pending ON deliveries (sequence) WHERE pending IS NOT NULL;
  CREATE INDEX deliveries_settled ON deliveries (at) WHERE pending IS NULL;
  CREATE TABLE seen (phid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE polls (server TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE jobs (
    sequence INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    job TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    state TEXT NOT NULL,
    place TEXT,
    said TEXT
  ) STRICT;
  CREATE INDEX jobs_by_revision ON jobs (revision);
  CREATE INDEX jobs_unended ON jobs (sequence) WHERE ${unended};
  CREATE TABLE answers (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    server TEXT NOT NULL,
    revision INTEGER NOT NULL,
    answer TEXT NOT NULL,
    kept_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    said TEXT
  ) STRICT;
  CREATE TABLE concluded (key TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

const fileKind: SqliteFileKind = {
  name: "The relay's queue",
  Failure: InboxError,
  applicationId: 0x70_70_73_72,
  format: 1,
  schema,
};

/** Longest wait for a lock that another process holds for a transaction; it blocks this process. */
const lockMilliseconds = 5000;
