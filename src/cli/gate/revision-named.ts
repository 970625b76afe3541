// Parses the name of a revision, and waits for its server where an answer would.
import { type Conduit, withPatience } from '../../forge/phabricator/conduit.ts';
import { phabricatorOf } from '../../forge/phabricator/login.ts';
import { parseRevisionName, type RevisionName } from '../../forge/phabricator/revision.ts';
import { expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { type GateCall, stderrLog } from './gate-call.ts';

/** Lets a relay's gate wait for the server, as its answer would. By hand, a person corrects what the server refuses. */
export const patientIfAnswered = (
  conduit: Conduit,
  { answer, run, signal }: { answer?: boolean | undefined; run?: string | undefined; signal: AbortSignal },
): Conduit =>
  answer === true
    ? withPatience(conduit, {
        log: stderrLog,
        signal,
        mayWait: ({ kind }) => run !== undefined || kind !== 'refused',
      })
    : conduit;

export function revisionNamed(
  text: string,
  { config, optionName }: Pick<GateCall, 'config' | 'optionName'>,
): RevisionName {
  const name = parseRevisionName(text, phabricatorOf(config).url);
  if (name !== undefined) return name;
  const what = 'a revision like D27401 or D27401:80677';
  throw new UsageError(`${optionName('patch')}: ${expected(what)({ input: text })}.`);
}
