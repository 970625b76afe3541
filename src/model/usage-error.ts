// Reports unusable options or inputs.

export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly conclusion = 'usage';
}
