import { applyOverrides, parseMostBoots, parseSwitch, testbedsFor, withFrameSize } from "../config/first.js";
import { namingStyles } from "../config/parameters.js";
import { shortId } from "../model/first.js";
import { bisectSelector } from "./job.js";

// src/action/bisect-plan.ts
/** The request overrides the job's inputs, which override the configuration. Throws a `UsageError`. */
function bisectPlan({ overrides, cell }, written, { inputs }) {
	const configured = applyOverrides(written, inputs.overrides, namingStyles.input);
	const named = {
		...overrides,
		scenarios: cell.scenario,
		families: cell.family
	};
	const overridden = applyOverrides(configured, named, namingStyles.comment);
	const frameBytes = cell.frameBytes ?? overridden.frameSizes?.[0];
	const config = frameBytes === void 0 ? overridden : withFrameSize(overridden, frameBytes);
	const { maxBoots, verifyRevert } = inputs.bisectOverrides;
	return {
		config,
		testbeds: testbedsFor(config, bisectSelector(config, overrides, inputs)),
		mostBoots: parseMostBoots(overrides.maxBoots || maxBoots, namingStyles.input("maxBoots")),
		isVerified: [overrides.verifyRevert, verifyRevert].some((text) => parseSwitch(text, namingStyles.input("verifyRevert")))
	};
}
function requestedOf({ overrides, cell, isOwn, good, bad }) {
	const short = (ids) => ids.replace(/[0-9a-f]{40,64}/g, shortId);
	return {
		...overrides,
		...!isOwn && {
			good: short(good),
			bad: short(bad)
		},
		scenarios: cell.scenario,
		families: cell.family,
		...overrides.fixUp && { fixUp: short(overrides.fixUp) },
		...overrides.skip && { skip: short(overrides.skip) }
	};
}

export { bisectPlan, requestedOf };