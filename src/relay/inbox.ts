// What a relay keeps on disk: deliveries until they are settled, what it has seen, jobs until they have ended, and answers
// until Phabricator has taken them.
import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { z } from 'zod';
import { type Job, jobSchema } from '../forge/patch/job-key.ts';
import { reasonOf } from '../model/one-line.ts';
import {
  ForeignFileError,
  failureOf,
  isSqliteError,
  lockIfFree,
  openDatabase,
  type SqliteError,
  type SqliteHeader,
  watchPlace,
} from '../system/sqlite.ts';

const deliverySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('webhook'),
    /** The same for the same bytes, however often they come. */
    id: z.string(),
    at: z.coerce.date(),
    /** PHID-DREV-… */
    object: z.string(),
    /** PHID-XACT-DREV-…, in the order of the webhook. */
    transactions: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('build'),
    /** The target: a build that is restarted has a new one. */
    id: z.string(),
    at: z.coerce.date(),
    /** PHID-HMBT-… */
    target: z.string(),
    /** PHID-HMBD-… */
    build: z.string(),
    diff: z.int(),
    /** Absent: the server did not say. */
    revision: z.int().optional(),
  }),
]);

/** What a Phabricator sent us and has our word for. */
export type Delivery = z.infer<typeof deliverySchema>;

/** What came of a delivery, or of a poll. */
type Settlement = {
  /** PHIDs of transactions. */
  seen: readonly string[];
  jobs: readonly Job[];
};

export type JobRecord = {
  job: Job;
  queuedAt: Date;
  /** How often a start was begun: above 0, it may have been started without our hearing of it. */
  tries: number;
  state: JobState;
};

type JobState =
  /** Is to be started then; `why` says what kept it from being started before. */
  | { kind: 'due'; from: Date; why?: string }
  | { kind: 'starting' }
  /** `where` it can be watched. */
  | { kind: 'started'; where: string }
  | { kind: 'ended'; how: string; where?: string }
  | { kind: 'dropped'; why: string; where?: string };

/** An answer to a revision, and how it stands; its `text` is for whoever gives answers. */
export type WaitingAnswer = {
  /** No other answer has it. */
  key: string;
  revision: number;
  keptAt: Date;
  /** Is not to be given before. */
  from: Date;
  /** What kept it from being given; absent where it was not tried yet. */
  why?: string;
};

/**
 * Shared by the processes of one host. What a call has done when it returns survives a power cut; one that throws an
 * InboxError has done nothing.
 */
export type Inbox = Disposable & {
  /** `known` has come before, within the last 90 days. */
  accept(deliveries: readonly Delivery[]): ('new' | 'known')[];
  /** Accepted and not settled, oldest first. */
  pendingDeliveries(): Delivery[];
  countPending(): number;
  /** The delivery is done with, all at once; answers the jobs that were new, which are due. A second time it does nothing. */
  settle(id: string, outcome: Settlement): Job[];
  /** Those of the transactions that are seen, for ever. */
  hasSeen(transactions: readonly string[]): Set<string>;

  /** The same as `settle` for all that changed at a server until `since`, in its seconds, which only goes forward. */
  advancePoll(server: string, since: number, outcome: Settlement): Job[];
  /** Undefined for a server that was never polled. */
  pollState(server: string): number | undefined;

  /**
   * Those to be started by now, oldest first. One process gets any, the first that asks, until it ends, however it
   * ends; then those come again that it was starting.
   */
  dueJobs(): JobRecord[];
  // All of these answer false, and do nothing, where the job is not (or no more) in a state that they follow upon.
  /** A due one, by the process that gets those. */
  markStarting(key: string): boolean;
  /** One that is starting: false where somebody has dropped it meanwhile. */
  markStarted(key: string, where: string): boolean;
  /** One that is due or starting. */
  postpone(key: string, until: Date, why: string): boolean;
  /** Any that has not ended. */
  markEnded(key: string, how: string): boolean;
  /** Any that has not ended: it is cancelled, superseded, or cannot be started. */
  drop(key: string, why: string): boolean;

  /** Due, starting or started; oldest first. */
  unendedJobs(): JobRecord[];
  /** Newest first. */
  jobsOf(revision: number): JobRecord[];

  /** One that waits already stays as it is. */
  keepAnswer(answer: { key: string; server: string; revision: number; text: string }): void;
  /** Those to the revisions of a server, oldest first. */
  waitingAnswers(server: string): WaitingAnswer[];
  /** Its `text`; undefined where it does not wait any more. */
  readAnswer(key: string): string | undefined;
  postponeAnswer(key: string, from: Date, why: string): void;
  /** It was given, or is given up. */
  dropAnswer(key: string): void;
  /** Undefined while another process gives answers: two would give the same one twice. */
  lockAnswers(): Disposable | undefined;
};

/** The file cannot be used: one sentence that says which, why, and what to do. */
export class InboxError extends Error {
  override readonly name = 'InboxError';
}

/** Where a relay, a poller and the gates of a machine find it. */
export const inboxIn = (directory: string): string => join(directory, 'inbox.sqlite');

/** Makes the file where it is missing; it must be on a local disk. */
export function openInbox(givenPath: string, now: () => Date): Inbox {
  const path = resolve(givenPath);
  const database = using(path, () => open(path));
  const sql = using(path, () => prepare(database));
  const isInPlace = watchPlace(path);
  let starting: Disposable | undefined;
  let isStarter = false;

  const read = <T>(work: () => T): T => using(path, work);

  const write = <T>(work: () => T): T =>
    using(path, () => {
      sql.begin.run();
      try {
        if (!isInPlace()) throw new InboxError(moved(path));
        const outcome = work();
        sql.commit.run();
        return outcome;
      } finally {
        // Some errors of SQLite have ended it already.
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    });

  function keep({ seen, jobs }: Settlement): Job[] {
    const time = now().getTime();
    sql.forget.run(time - keptMilliseconds);
    for (const transaction of seen) sql.see.run(transaction);
    return jobs.filter(
      (job) => sql.queue.run(job.key, job.revision, JSON.stringify(job), time).changes > 0,
    );
  }

  /** Nobody else starts jobs while this process has the lock, so those that seem to be starting then are left over. */
  function mayStart(): boolean {
    starting ??= lockIfFree(`${path}.lock`);
    if (starting === undefined) return false;
    if (!isStarter) write(() => sql.restart.run());
    isStarter = true;
    return true;
  }

  return {
    accept: (deliveries) =>
      write(() =>
        deliveries.map((delivery) => {
          const { id, at } = delivery;
          const { changes } = sql.accept.run(id, at.getTime(), JSON.stringify(delivery));
          return changes > 0 ? 'new' : 'known';
        }),
      ),
    pendingDeliveries: () => read(() => sql.pending.all().map(deliveryOf)),
    countPending: () => read(() => counted.parse(sql.countPending.get()).count),
    settle: (id, outcome) => write(() => (sql.settle.run(id).changes > 0 ? keep(outcome) : [])),
    hasSeen: (transactions) =>
      read(() => new Set(transactions.filter((one) => sql.isSeen.get(one) !== undefined))),

    advancePoll: (server, since, outcome) =>
      write(() => {
        sql.advancePoll.run(server, since);
        return keep(outcome);
      }),
    pollState: (server) => read(() => polled.optional().parse(sql.pollState.get(server))?.since),

    dueJobs: () => read(() => (mayStart() ? sql.due.all(now().getTime()).map(jobRecordOf) : [])),
    markStarting: (key) =>
      read(() => mayStart() && write(() => sql.markStarting.run(key).changes > 0)),
    markStarted: (key, where) => write(() => sql.markStarted.run(key, where).changes > 0),
    postpone: (key, until, why) =>
      write(() => sql.postpone.run(key, until.getTime(), why).changes > 0),
    markEnded: (key, how) => write(() => sql.end.run(key, 'ended', how).changes > 0),
    drop: (key, why) => write(() => sql.end.run(key, 'dropped', why).changes > 0),

    unendedJobs: () => read(() => sql.unended.all().map(jobRecordOf)),
    jobsOf: (revision) => read(() => sql.jobsOf.all(revision).map(jobRecordOf)),

    keepAnswer: ({ key, server, revision, text }) =>
      write(() => void sql.keepAnswer.run(key, server, revision, text, now().getTime())),
    waitingAnswers: (server) => read(() => sql.waiting.all(server).map(waitingAnswerOf)),
    readAnswer: (key) => read(() => answerText.optional().parse(sql.readAnswer.get(key))?.answer),
    postponeAnswer: (key, from, why) =>
      write(() => void sql.postponeAnswer.run(key, from.getTime(), why)),
    dropAnswer: (key) => write(() => void sql.dropAnswer.run(key)),
    lockAnswers: () => read(() => lockIfFree(`${path}.answers.lock`)),

    [Symbol.dispose]() {
      if (!database.isOpen) return;
      starting?.[Symbol.dispose]();
      database.close();
    },
  };
}

/** Transactions that are seen and keys of jobs keep what comes still later from being done again. */
const keptMilliseconds = 90 * 86_400_000;

function prepare(database: DatabaseSync) {
  const one = (text: string) => database.prepare(text);
  return {
    begin: one('BEGIN IMMEDIATE'),
    commit: one('COMMIT'),

    accept: one(
      'INSERT INTO deliveries (id, at, pending) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
    ),
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
    markStarting: one(
      `UPDATE jobs SET state = 'starting', tries = tries + 1 WHERE key = ? AND state = 'due'`,
    ),
    markStarted: one(
      `UPDATE jobs SET state = 'started', place = ?2 WHERE key = ?1 AND state = 'starting'`,
    ),
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
    waiting: one(
      'SELECT key, revision, kept_at, due_at, said FROM answers WHERE server = ? ORDER BY sequence',
    ),
    readAnswer: one('SELECT answer FROM answers WHERE key = ?'),
    postponeAnswer: one('UPDATE answers SET due_at = ?2, said = ?3 WHERE key = ?1'),
    dropAnswer: one('DELETE FROM answers WHERE key = ?'),
  };
}

const unended = "state IN ('due', 'starting', 'started')";

type Row = Record<string, SQLOutputValue>;

const pendingRow = z.object({ pending: z.string() });
const deliveryOf = (row: Row): Delivery =>
  deliverySchema.parse(JSON.parse(pendingRow.parse(row).pending));

const counted = z.object({ count: z.int() });
const polled = z.object({ since: z.int() });

const jobRow = z.object({
  job: z.string(),
  queued_at: z.int(),
  tries: z.int(),
  state: z.enum(['due', 'starting', 'started', 'ended', 'dropped']),
  due_at: z.int(),
  place: z.string().nullable(),
  said: z.string().nullable(),
});

function jobRecordOf(row: Row): JobRecord {
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

const answerText = z.object({ answer: z.string() });

const answerRow = z.object({
  key: z.string(),
  revision: z.int(),
  kept_at: z.int(),
  due_at: z.int(),
  said: z.string().nullable(),
});

function waitingAnswerOf(row: Row): WaitingAnswer {
  const { key, revision, kept_at, due_at, said } = answerRow.parse(row);
  const why = said === null ? {} : { why: said };
  return { key, revision, keptAt: new Date(kept_at), from: new Date(due_at), ...why };
}

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createIfMissing(path);
  try {
    const database = openDatabase(path, header, patienceMilliseconds);
    database.exec(answersSchema);
    return database;
  } catch (error) {
    if (!(error instanceof ForeignFileError)) throw error;
    throw new InboxError(
      error.format === undefined
        ? `The relay's queue cannot be ${path}, which is the SQLite database of another program: name another folder.`
        : `The relay's queue ${path} has format ${error.format}, and this ppsgate knows format ${header.format}: use the version of ppsgate that made it, or name another folder.`,
    );
  }
}

/** Whole or not at all, and once, whoever else makes it at the same time. */
function createIfMissing(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  const draft = `${path}.${randomUUID()}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    openDatabase(draft, header, patienceMilliseconds, (empty) => empty.exec(schema)).close();
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Spells "ppsr". */
const header: SqliteHeader = { applicationId: 0x70_70_73_72, format: 1 };

/** A table that queues of this format did not always have: a ppsgate that does not know it leaves it alone. */
const answersSchema = `
  CREATE TABLE IF NOT EXISTS answers (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    server TEXT NOT NULL,
    revision INTEGER NOT NULL,
    answer TEXT NOT NULL,
    kept_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    said TEXT
  ) STRICT;
`;

/** Times are in milliseconds since 1970. */
const schema = `
  PRAGMA journal_mode = WAL;
  BEGIN;
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
  PRAGMA application_id = ${header.applicationId};
  PRAGMA user_version = ${header.format};
  COMMIT;
`;

const moved = (path: string): string =>
  `The relay's queue ${path} was moved away or replaced while it was in use: start this process again, which then uses what is there now.`;

/** How long to wait for a lock that another process holds for a transaction; this one does nothing else meanwhile. */
const patienceMilliseconds = 5000;

/** Makes an InboxError of what SQLite and the file system throw. */
function using<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isSqliteError(error)) throw new InboxError(sentence(path, error), { cause: error });
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new InboxError(
      `The relay's queue ${path} cannot be opened (${reasonOf(error)}): let this user write the file and its folder, or name another folder.`,
      { cause: error },
    );
  }
}

function sentence(path: string, error: SqliteError): string {
  const subject = `The relay's queue ${path}`;
  switch (failureOf(error)) {
    case 'busy':
      return `${subject} was locked by another process for more than ${patienceMilliseconds / 1000} s: see which with "fuser -v ${path}", and try again once it is done.`;
    case 'full':
      return `${subject} cannot be written because its disk is full: free some space there.`;
    case 'corrupt':
    case 'not-a-database':
      return `${subject} is damaged or not an SQLite database (${reasonOf(error)}): while nobody uses it, move it away together with ${path}-wal; the new one that is then made knows of nothing that was queued.`;
    default:
      return `${subject} cannot be read or written (${reasonOf(error)}, SQLite's code ${error.errcode}): let this user write the file, those beside it and its folder, and see whether its disk is broken.`;
  }
}
