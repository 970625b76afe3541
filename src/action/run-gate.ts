// Implements `command: gate`: judges a patch on each selected testbed. Without an earlier job, it also admits and
// reports.

import { applyOverrides } from '../config/overrides.ts';
import { namingStyles } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import { randomSeed } from '../gate/experiment/plan.ts';
import { gate } from '../gate/gate.ts';
import type { GateDeps } from '../gate/gate-deps.ts';
import { resumeGate } from '../gate/resume-gate.ts';
import { inSession } from '../gate/session.ts';
import type { Result } from '../model/result.ts';
import { UsageError } from '../model/usage-error.ts';
import { nightlyRun } from '../publish/nightly.ts';
import { outcomeOfResult } from '../publish/reporters/outcome.ts';
import type { Admission } from './admission.ts';
import { type ApprovedRequest, type GateRequest, isBisection, isMeasuredAnyway } from './approved-request.ts';
import { fetchExperiment, runsToExtend } from './extend.ts';
import { gateNames, type JobContext, selectorsFor } from './job.ts';
import { nightlyDeps } from './measured-nightly.ts';
import { type JobPlan, type Measurement, runMeasuringJob } from './measuring-job.ts';

export const runGate = (
  context: JobContext,
  signal: AbortSignal,
  within: typeof inSession = inSession,
): Promise<number> =>
  runMeasuringJob({ command: 'gate', onAdmission: withoutBisection, plan }, context, {
    within,
    signal,
  });

/** Workflows older than bisections have no job for them. */
function withoutBisection(admission: Admission): Admission {
  if (admission.kind !== 'bisect') return admission;
  const { patch } = admission.request;
  if (patch.kind !== 'pull-request') throw new UsageError(noBisection);
  return { kind: 'mistaken', pullRequest: patch, why: noBisection };
}

const noBisection =
  'A job with `command: gate` runs no bisection: add a job with `command: bisect` to the workflow, as `ppsgate init` writes it.';

function plan(request: ApprovedRequest, written: Config, { inputs }: JobContext): JobPlan {
  if (isBisection(request)) throw new UsageError(noBisection);
  const configured = applyOverrides(written, inputs.overrides, namingStyles.input);
  const config = applyOverrides(configured, request.overrides, namingStyles.comment);
  const selectors = selectorsFor(config, request.overrides, inputs);
  const isAnyway = isMeasuredAnyway(request, inputs.overrides);
  return {
    config,
    targets: gateNames(selectors).map((name, index, { length }) => ({
      name,
      selector: length === 1 ? '' : (selectors[index] ?? ''),
      testbeds: testbedsFor(config, selectors[index]),
    })),
    measure: async (measurement, deps) => outcomeOfResult(await measure(request, isAnyway, measurement, deps), {}),
  };
}

async function measure(
  request: GateRequest,
  isMeasuredAnyway: boolean,
  measurement: Measurement,
  deps: GateDeps,
): Promise<Result> {
  const { patch, extend, purpose } = request;
  const { context, plan, testbeds, folder, directory } = measurement;
  const { octokit, inputs } = context;
  if (extend !== undefined) {
    const experiment = { ...extend, patch, folder };
    await fetchExperiment(octokit, inputs.job.repository, experiment, directory);
    return resumeGate(directory, deps, await runsToExtend(directory, extend.maxRuns));
  }
  const { config } = plan;
  const question = { patch, config, testbeds: [...testbeds], seed: randomSeed(), isMeasuredAnyway };
  return purpose === 'nightly'
    ? nightlyRun(question, directory, nightlyDeps(deps, { ...measurement, config }))
    : gate(question, directory, deps);
}
