// What coordinates all who want testbeds: keys with revisions, of which some live only as long as their session.

/**
 * A store that many processes share. Every operation sees the effects of all that have ended before, whoever did them;
 * one that cannot be done is a StoreError. A commit that throws may have been done all the same: read again.
 */
export type Store = {
  /** A name for keys that go with their process: they are gone once nobody has renewed it for so long, and not before. */
  openSession(seconds: number): Promise<string>;
  /** False: the session is over, and its keys are gone. */
  renew(session: string): Promise<boolean>;
  /** Its keys are gone at once; harmless when it is over already. */
  endSession(session: string): Promise<void>;
  /** All keys that begin so, by their names, as of one moment. */
  read(prefix: string): Promise<Snapshot>;
  /**
   * All of it or nothing. Answers the revision that its keys have now, which is higher than any before; undefined
   * where a condition does not hold or a session is over.
   */
  commit(change: Change): Promise<number | undefined>;
  /**
   * Resolves once a key that begins so may have changed since that revision of the store, and now and then before;
   * rejects with the signal's reason.
   */
  changed(since: number, signal: AbortSignal, prefix?: string): Promise<void>;
  /** Ends connections; sessions go on until they expire. */
  close(): Promise<void>;
};

export type Snapshot = {
  entries: Entry[];
  /** Revision of the store: no key has a higher one. */
  revision: number;
};

/** `revision` is that of the commit that put the value. */
export type Entry = { key: string; value: string; revision: number };

export type Change = {
  /** The revisions that keys must have; 0 for one that must not exist. */
  conditions: readonly { key: string; revision: number }[];
  put: readonly { key: string; value: string; session?: string }[];
  /** One that does not exist is no error. */
  remove: readonly string[];
};

/** The store cannot be used: one sentence that says which, why, and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
