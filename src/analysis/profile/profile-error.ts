// Reports an invalid profile.

/** The message is a sentence with the file, the place and the remedy. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError';
  readonly conclusion = 'usage';
}
