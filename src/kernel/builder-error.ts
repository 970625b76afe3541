// Defines the error for a failure of the builder, which is not the patch's fault.

/** The message is one sentence that includes the fix. */
export class BuilderError extends Error {
  override readonly name = 'BuilderError';
}
