// Plans a bisection from its request, the job's inputs, and the configuration.
import { applyOverrides, parseMostBoots, parseSwitch } from '../config/overrides.ts';
import { namingStyles } from '../config/parameters.ts';
import { type Config, withFrameSize } from '../config/schema.ts';
import { testbedsFor } from '../config/select-testbeds.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import { shortId } from '../model/patch.ts';
import type { BisectRequest } from './approved-request.ts';
import { bisectSelector, type JobContext } from './job.ts';

type BisectPlan = {
  config: Config;
  testbeds: string[];
  mostBoots: number;
  isVerified: boolean;
};

/** The request overrides the job's inputs, which override the configuration. Throws a `UsageError`. */
export function bisectPlan({ overrides, cell }: BisectRequest, written: Config, { inputs }: JobContext): BisectPlan {
  const configured = applyOverrides(written, inputs.overrides, namingStyles.input);
  const named = { ...overrides, scenarios: cell.scenario, families: cell.family };
  const overridden = applyOverrides(configured, named, namingStyles.comment);
  const frameBytes = cell.frameBytes ?? overridden.frameSizes?.[0];
  const config = frameBytes === undefined ? overridden : withFrameSize(overridden, frameBytes);
  const { maxBoots, verifyRevert } = inputs.bisectOverrides;
  return {
    config,
    testbeds: testbedsFor(config, bisectSelector(config, overrides, inputs)),
    mostBoots: parseMostBoots(overrides.maxBoots || maxBoots, namingStyles.input('maxBoots')),
    isVerified: [overrides.verifyRevert, verifyRevert].some((text) =>
      parseSwitch(text, namingStyles.input('verifyRevert')),
    ),
  };
}

export function requestedOf({ overrides, cell, isOwn, good, bad }: BisectRequest): BisectOverrides {
  const short = (ids: string) => ids.replace(/[0-9a-f]{40,64}/g, shortId);
  return {
    ...overrides,
    ...(!isOwn && { good: short(good), bad: short(bad) }),
    scenarios: cell.scenario,
    families: cell.family,
    ...(overrides.fixUp && { fixUp: short(overrides.fixUp) }),
    ...(overrides.skip && { skip: short(overrides.skip) }),
  };
}
