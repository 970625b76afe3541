// What stops a build without being the patch's fault.

/** What the builder lacks or did wrong, in one sentence that says what to do. */
export class BuilderError extends Error {
  override readonly name = 'BuilderError';
}
