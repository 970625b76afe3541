import { applyOverrides, namingStyles, parseMostBoots, parseSwitch, testbedsFor } from "../config.js";
import { shortId } from "../model.js";
import { bisectSelector } from "./job2.js";

// src/action/bisect-plan.ts
/** The request overrides the inputs of the job, and those the configuration; throws a `UsageError`. */
function bisectPlan({ ask, cell }, written, { inputs }) {
	const configured = applyOverrides(written, inputs.ask, namingStyles.input);
	const named = {
		...ask,
		scenarios: cell.scenario,
		families: cell.family
	};
	const overridden = applyOverrides(configured, named, namingStyles.comment);
	const frameBytes = cell.frameBytes ?? overridden.frameSizes?.[0];
	const config = {
		...overridden,
		...frameBytes !== void 0 && { frameSizes: [frameBytes] }
	};
	const { maxBoots, verifyRevert } = inputs.bisectAsk;
	return {
		config,
		testbeds: testbedsFor(config, bisectSelector(config, ask, inputs)),
		mostBoots: parseMostBoots(ask.maxBoots || maxBoots, namingStyles.input("maxBoots")),
		isVerified: [ask.verifyRevert, verifyRevert].some((text) => parseSwitch(text, namingStyles.input("verifyRevert")))
	};
}
/** Returns the bisection the way people would write it. */
function requestedOf({ ask, cell, isOwn, good, bad }) {
	const short = (ids) => ids.replace(/[0-9a-f]{40,64}/g, shortId);
	return {
		...ask,
		...!isOwn && {
			good: short(good),
			bad: short(bad)
		},
		scenarios: cell.scenario,
		families: cell.family,
		...ask.fixUp && { fixUp: short(ask.fixUp) },
		...ask.skip && { skip: short(ask.skip) }
	};
}

export { bisectPlan, requestedOf };