import { applyOverrides, calledAs, parseMostBoots, parseSwitch } from "../config.js";
import { testbedsFor } from "../inventory.js";
import { PatchError, lineOfDiffs, restoreRevision } from "../patch.js";
import { patchName, shortId } from "../words.js";
import { bisectWish, revisionWorldOf } from "./request.js";

// src/action/bisection.ts
/** The configuration that a bisection at a pull request is held to is that of its base, and any other that of the job. */
const readBisectConfig = ({ patch }, { inputs, readConfig }) => readConfig(patch.kind === "pull-request" ? patch.baseCommit : inputs.job.commit);
/** What is asked, in place of what the job's inputs and the configuration say; throws a `UsageError`. */
function heldTo({ ask, cell }, written, context) {
	const { inputs } = context;
	const configured = applyOverrides(written, inputs.ask, calledAs.input);
	const named = {
		...ask,
		scenarios: cell.scenario,
		families: cell.family
	};
	const asked = applyOverrides(configured, named, calledAs.comment);
	const { frameSizes: [size] = [] } = asked;
	const frameBytes = cell.frameBytes ?? size;
	const config = {
		...asked,
		...frameBytes !== void 0 && { frameSizes: [frameBytes] }
	};
	const { maxBoots, verifyRevert } = inputs.bisectAsk;
	return {
		config,
		testbeds: testbedsFor(config, bisectWish(config, ask, inputs)),
		mostBoots: parseMostBoots(ask.maxBoots || maxBoots, calledAs.input("maxBoots")),
		isVerified: [ask.verifyRevert, verifyRevert].some((text) => parseSwitch(text, calledAs.input("verifyRevert")))
	};
}
/**
* Makes again the commits that another machine made of a revision's diffs; throws a `PatchError` where they are others,
* for then they are not what there was leave for.
*/
async function restoreCommits({ patch, isOwn, bad }, config, context) {
	if (patch.kind !== "revision" || !isOwn) return;
	await restoreRevision(patch, revisionWorldOf(context, config));
	if ((await lineOfDiffs(patch, context.repository)).bad === bad) return;
	throw new PatchError(`The diffs of ${patchName(patch)} are not what they were: ask once more.`);
}
/** What was asked for, as people would write it. */
function askedOf({ ask, cell, isOwn, good, bad }) {
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

export { askedOf, heldTo, readBisectConfig, restoreCommits };