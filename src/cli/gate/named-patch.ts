// Finds the patch of --patch: a range of commits, or a revision.
import type { GateOptions } from '../../config/parameters.ts';
import { patchOfTypedRange, rangeLike } from '../../forge/patch/commit-range.ts';
import { parseEarlier, patchOfRevision } from '../../forge/patch/revision.ts';
import { openPhabricator, phabricatorOf } from '../../forge/phabricator/login.ts';
import { looksLikeRevision } from '../../forge/phabricator/revision.ts';
import type { Patch } from '../../model/patch.ts';
import { excerpt, expected } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { asUsageError, type PatchCall, repositoryOf, required, stderrLog } from './gate-call.ts';
import { patientIfAnswered, revisionNamed } from './revision-named.ts';

export async function patchNamed(call: PatchCall): Promise<Patch> {
  const { config, options, optionName, signal } = call;
  const text = required('patch', call);
  const repository = repositoryOf(options);
  const earlier = parseEarlier(options.earlier || 'none', optionName('earlier'));
  if (text.includes('..')) {
    if (earlier === 'none') {
      return patchOfTypedRange(repository, text, mayBeOneCommit(options)).catch(asUsageError(optionName));
    }
    throw new UsageError(
      `${optionName('earlier')}: "${excerpt(text)}" is not a revision, and only revisions have earlier diffs.`,
    );
  }
  if (!looksLikeRevision(text)) {
    const range = await rangeLike(repository, text);
    const what = `commits as BASE..HEAD, like ${range}, or a revision like D27401 or D27401:80677`;
    throw new UsageError(`${optionName('patch')}: ${expected(what)({ input: text })}.`);
  }
  const name = revisionNamed(text, call);
  const phabricator = phabricatorOf(config);
  const conduit = patientIfAnswered(await openPhabricator(phabricator, { log: stderrLog, signal }), {
    ...options,
    signal,
  });
  return patchOfRevision(name, earlier, { conduit, repository, config: phabricator });
}

/** Kernels may differ while commits do not, and a commit can be measured against itself. */
const mayBeOneCommit = ({ measureAnyway, layoutNoise, baseKernel, patchedKernel }: GateOptions): boolean =>
  Boolean(measureAnyway || layoutNoise || baseKernel || patchedKernel);
