export const hostFailures = [
  'unreachable',
  'host-key',
  'login',
  'login-refused',
  'lost',
  'timeout',
  'aborted',
  'session-refused',
  'too-much-output',
  'command-failed',
  'upload-failed',
] as const;

export type HostFailure = (typeof hostFailures)[number];

/** The message is a sentence that names the host and the operation. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly kind: HostFailure;

  constructor(kind: HostFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
