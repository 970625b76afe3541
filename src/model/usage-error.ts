// Reports options or inputs that cannot be used.

export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly conclusion = 'usage';
}
