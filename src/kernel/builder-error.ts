// Defines the error for a failure of the builder, for which no patch is to blame.

/** The message is one sentence with the fix. */
export class BuilderError extends Error {
  override readonly name = 'BuilderError';
}
