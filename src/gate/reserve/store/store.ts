// Defines the store that coordinates controllers: keys with revisions, some bound to a session.

/**
 * Shared by many processes. Every operation sees the effects of all earlier ones, and throws a StoreError on failure. A
 * commit that throws may have been done, so read again.
 */
export type Store = {
  /** Returns the name of a session. Its keys are removed if it is not renewed for that many seconds. */
  openSession(seconds: number): Promise<string>;
  /** Returns false if the session is over and its keys are gone. */
  renew(session: string): Promise<boolean>;
  /** Removes the session's keys at once. Has no effect if it is over. */
  endSession(session: string): Promise<void>;
  /** Returns all keys with a prefix, sorted, as of one moment. */
  read(prefix: string): Promise<StoreSnapshot>;
  /**
   * Applies a change atomically. Returns the new revision of its keys, higher than any before; undefined if a condition
   * does not hold or a session is over.
   */
  commit(change: StoreChange): Promise<number | undefined>;
  /** Resolves when a key may have changed since a revision, or spuriously. Rejects with the signal's reason. */
  changed(since: number, signal: AbortSignal, prefix?: string): Promise<void>;
  /** Closes connections; sessions continue until they expire. */
  close(): Promise<void>;
};

export type StoreSnapshot = {
  entries: StoreEntry[];
  /** No key has a higher one. */
  revision: number;
};

/** `revision` is that of the commit that put the value. */
export type StoreEntry = { key: string; value: string; revision: number };

export type StoreChange = {
  /** Required revisions of keys; 0 for a key that must not exist. */
  conditions: readonly { key: string; revision: number }[];
  put: readonly { key: string; value: string; session?: string }[];
  /** May name missing keys. */
  remove: readonly string[];
};

/** The message is a sentence that names the store, the reason and the fix. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
