// Measures a commit against another layout of itself: the noise between builds of one source.

import { shortId } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import { UsageError } from '../model/usage-error.ts';
import { type GateRequest, gate } from './gate.ts';
import type { GateDeps } from './gate-deps.ts';

/** Throws a `UsageError` if patched is not base, or if no kernel is built that could be linked again. */
export async function gateLayoutNoise(request: GateRequest, directory: string, deps: GateDeps): Promise<Result> {
  refuseUnlinkable(request);
  return gate({ ...request, measuresLayoutNoise: true, isMeasuredAnyway: true }, directory, deps);
}

function refuseUnlinkable({ patch, config, testbeds, kernels }: GateRequest): void {
  if (patch.baseCommit !== patch.headCommit) {
    throw new UsageError(
      `Another layout variant needs a single commit, found ${shortId(patch.baseCommit)} and ${shortId(patch.headCommit)}: name the same commit twice, like main..main.`,
    );
  }
  const unlinkable = testbeds.find((name) => {
    const testbed = config.testbeds[name];
    return testbed?.kind !== 'freebsd' || testbed.builder === undefined;
  });
  if (kernels === undefined && unlinkable === undefined) return;
  throw new UsageError(
    `Another layout variant needs a kernel build, but ${unlinkable ?? 'this gate'} ${unlinkable ? 'has no builder' : 'was given kernels'}: select a FreeBSD testbed with a \`builder\`, and supply no kernels.`,
  );
}
