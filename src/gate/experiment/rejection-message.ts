// Describes why a variant cannot be measured.
import { lastLine, shortened } from '../../model/one-line.ts';
import type { Rejection } from '../../model/rejection.ts';

/** Reports a base that does not work, without which a patch has no verdict. */
export class BaseRejectedError extends Error {
  override readonly name = 'BaseRejectedError';

  constructor(rejection: Rejection) {
    super(`The base itself ${faultOf(rejection)}, so nothing was measured: ${whyRejected(rejection)}`);
  }
}

function whyRejected(rejection: Rejection): string {
  const { message } = rejection;
  const panic = 'panic' in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : '';
  const shown = 'console' in rejection ? lastLine(rejection.console ?? '') : undefined;
  const last = panic || !shown ? '' : ` Last lines of its console: "${shortened(shown)}".`;
  return `${message}${panic}${last}`;
}

/** `does not boot: …`; follows the variant's name. */
export const rejectionMessage = (rejection: Rejection): string => `${faultOf(rejection)}: ${whyRejected(rejection)}`;

/** `does not boot`; follows the variant's name. */
export const faultOf = ({ kind }: Rejection): string => faults[kind];

const faults: Record<Rejection['kind'], string> = {
  'does-not-apply': 'does not apply',
  'build-failed': 'does not build',
  'out-of-disk': 'runs out of disk space',
  'does-not-load': 'does not load',
  'boot-failed': 'does not boot',
  'panics-under-load': 'panics under load',
};
