// What was asked for cannot be done.

/** An option or input that cannot be used. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly conclusion = 'usage';
}
