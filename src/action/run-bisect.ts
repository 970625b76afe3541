// Implements `command: bisect`: finds the commit that costs packets. Without an earlier job, it also admits and
// reports.

import type { Config } from '../config/schema.ts';
import { bisect } from '../gate/bisect/bisect.ts';
import { randomSeed } from '../gate/experiment/plan.ts';
import { inSession } from '../gate/session.ts';
import { UsageError } from '../model/usage-error.ts';
import type { Admission } from './admission.ts';
import { type ApprovedRequest, isBisection } from './approved-request.ts';
import { bisectPlan, requestedOf } from './bisect-plan.ts';
import { bisectName, type JobContext } from './job.ts';
import { type JobPlan, runMeasuringJob } from './measuring-job.ts';

export const runBisect = (
  context: JobContext,
  signal: AbortSignal,
  within: typeof inSession = inSession,
): Promise<number> =>
  runMeasuringJob({ command: 'bisect', onAdmission: onlyBisection, plan }, context, {
    within,
    signal,
  });

const onlyBisection = (admission: Admission): Admission =>
  admission.kind === 'gate' || admission.kind === 'cancel' ? { kind: 'nothing', why: noGate } : admission;

const noGate = 'A job with `command: bisect` judges no patch: use a job with `command: gate`.';

function plan(request: ApprovedRequest, written: Config, context: JobContext): JobPlan {
  if (!isBisection(request)) throw new UsageError(noGate);
  const { testbeds, ...planned } = bisectPlan(request, written, context);
  const { repository, inputs } = context;
  const { good, bad, overrides } = request;
  const commits = { good, bad, fixUps: listed(overrides.fixUp), skips: listed(overrides.skip) };
  return {
    config: planned.config,
    targets: [{ name: bisectName, selector: '', testbeds }],
    async measure({ directory }, deps) {
      const question = { ...commits, ...planned, testbeds, seed: randomSeed() };
      return {
        kind: 'bisected',
        result: await bisect(question, directory, { ...deps, repository }),
        request: requestedOf(request),
        links: { rawData: `the [job](${inputs.job.runUrl})` },
      };
    },
  };
}

const listed = (text = ''): string[] => text.split(',').filter(Boolean);
