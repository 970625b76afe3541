// Checks an untrusted claim that a patch changes nothing to measure, as such a result passes branch rules without a
// number.

import type { Config } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import { testbedsThatDiffer } from '../kernel/unchanged.ts';
import { variantsByMaking } from '../kernel/variant.ts';
import { reasonOf } from '../model/one-line.ts';
import { patchName } from '../model/patch.ts';
import { type GateRequest, isMeasuredAnyway } from './approved-request.ts';
import { type JobContext, restoreCommits } from './job.ts';

/** Compares the approved commits again. Returns the reason of a refusal. */
export async function whyNotUnchanged(
  request: GateRequest,
  { config, selector, context }: { config: Config; selector: string | undefined; context: JobContext },
): Promise<string | undefined> {
  const { patch } = request;
  const { repository, inputs } = context;
  const claim = `The result says that ${patchName(patch)} changes nothing that the testbed installs`;
  if (isMeasuredAnyway(request, inputs.overrides)) {
    return `${claim}, but a measurement was requested anyway: judge the patch again.`;
  }
  try {
    await restoreCommits(request, config, context);
    const question = { patch, config, testbeds: testbedsFor(config, selector) };
    const variants = await variantsByMaking(question, repository);
    const differ = await testbedsThatDiffer({ ...question, variants }, repository);
    if (differ.length === 0) return undefined;
    return `${claim}, but it does on ${differ.join(' and ')}: judge the patch again.`;
  } catch (error) {
    return `${claim}, but that cannot be proven (${reasonOf(error)}): judge the patch again.`;
  }
}
