// The error of everything that goes wrong between us and a host, by kind.

export type HostFailure =
  | 'unreachable'
  | 'host-key'
  | 'login'
  | 'lost'
  | 'timeout'
  | 'aborted'
  | 'session-refused'
  | 'too-much-output'
  | 'command-failed'
  | 'upload-failed';

/** What went wrong between us and a host, in a sentence that names the host and what it was to do. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly kind: HostFailure;

  constructor(kind: HostFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
