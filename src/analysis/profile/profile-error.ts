// Rejects a text that is no profile.

/** One sentence that names the file, where it goes wrong, and what to do. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError';
  readonly conclusion = 'usage';
}
