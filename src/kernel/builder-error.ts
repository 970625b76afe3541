// Error that stops a build without being the patch's fault.

/** The builder lacks something or failed; the message is one sentence that says what to do. */
export class BuilderError extends Error {
  override readonly name = 'BuilderError';
}
