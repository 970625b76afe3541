// Defines the error of a patch that no gate can judge.
import type { DiffFault } from '../phabricator/diff.ts';

/** The message is for the diff's author. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly conclusion = 'patchAtFault';
  readonly fault: DiffFault;

  constructor(message: string, fault: DiffFault = 'unusable-diff') {
    super(message);
    this.fault = fault;
  }
}
