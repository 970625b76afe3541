import { conclusionOfBisection, conclusionOfError, conclusionOfResult, formatEstimate, reasonOf, withoutPaths } from "../../model/first-plain.js";
import { _enum } from "../../vendor/zod.js";
import { PatchError } from "../../forge/patch/first-plain.js";

// src/publish/reporters/outcome.ts
const failureReasonSchema = _enum([
	"cancelled",
	"usage",
	"patchAtFault",
	"binary-file",
	"without-prefixes",
	"unusable-diff",
	"infrastructure",
	"waits-for-approval",
	"left-to-merge-queue"
]);
const cancelledOutcome = {
	kind: "unmeasured",
	reason: "cancelled",
	message: "The job was cancelled before there was a verdict: run it again for one."
};
const outcomeOfResult = (result, links) => ({
	kind: "measured",
	result,
	links
});
function outcomeOfError(error) {
	return outcomeOfFailure(reasonOfError(error), error instanceof Error ? error.message : String(error));
}
function reasonOfError(error) {
	const conclusion = conclusionOfError(error);
	if (conclusion === "usage") return conclusion;
	if (conclusion !== "patchAtFault") return "infrastructure";
	return error instanceof PatchError && error.fault !== "does-not-apply" ? error.fault : conclusion;
}
/** Removes paths from the error's sentence; they belong in the log. */
const outcomeOfFailure = (reason, sentence) => ({
	kind: "unmeasured",
	reason,
	message: withoutPaths(sentence)
});
function conclusionOf(outcome) {
	switch (outcome.kind) {
		case "measured": return conclusionOfResult(outcome.result);
		case "bisected": return conclusionOfBisection(outcome.result);
		case "unmeasured": return conclusions[outcome.reason];
		case "uncounted": return "usage";
	}
}
const conclusions = {
	cancelled: "cancelled",
	usage: "usage",
	patchAtFault: "patchAtFault",
	"binary-file": "patchAtFault",
	"without-prefixes": "patchAtFault",
	"unusable-diff": "patchAtFault",
	infrastructure: "infrastructure",
	"waits-for-approval": "usage",
	"left-to-merge-queue": "pass"
};
function resultOf(outcome) {
	switch (outcome.kind) {
		case "measured": return outcome.result;
		case "bisected":
		case "unmeasured": return;
		case "uncounted": return outcome.measured.result;
	}
}

// src/publish/reporters/reporter.ts
/** Combines reporters, and removes paths from all log text that they show. */
const combineReporters = (reporters) => ({
	queued(text) {
		for (const reporter of reporters) reporter.queued(withoutPaths(text));
	},
	waiting(estimate, text) {
		for (const reporter of reporters) reporter.waiting(estimate, withoutPaths(text));
	},
	measuring(testbed, line) {
		const lines = line === void 0 ? [] : [withoutPaths(line)];
		for (const reporter of reporters) reporter.measuring(testbed, ...lines);
	},
	async conclude(outcome) {
		const deliveries = await Promise.all(reporters.map((reporter) => reporter.conclude(outcome)));
		return worstFirst.find((one) => deliveries.includes(one)) ?? "delivered";
	},
	async addLinks(outcome) {
		await Promise.all(reporters.map((reporter) => reporter.addLinks(outcome)));
	},
	async leaveOpen() {
		await Promise.all(reporters.map((reporter) => reporter.leaveOpen()));
	}
});
const worstFirst = ["undelivered", "refused"];
/** Also reports errors. Reports a cancellation at once, as the job has only seconds left. */
async function reportOutcome(reporter, signal, work) {
	const onCancelled = () => void reporter.conclude(cancelledOutcome);
	signal.addEventListener("abort", onCancelled, { once: true });
	try {
		const outcome = await work();
		await reporter.conclude(outcome);
		return outcome;
	} catch (error) {
		await reporter.conclude(signal.aborted ? cancelledOutcome : outcomeOfError(error));
		throw error;
	} finally {
		signal.removeEventListener("abort", onCancelled);
	}
}
/** Reports the outcome before it writes the linked reports, so that a failure there cannot hide the verdict. */
async function reportThenLink(reporter, outcome, make, warn) {
	await reporter.conclude(outcome);
	return addReportLinks(reporter, outcome, make, warn);
}
/** Adds links to an outcome that was already reported. A failure is only a warning. */
async function addReportLinks(reporter, outcome, make, warn) {
	try {
		const linked = {
			...outcome,
			links: await make()
		};
		await reporter.addLinks(linked);
		return linked;
	} catch (error) {
		warn(`The comment has no links, because the report was not stored (${reasonOf(error)}).`);
		return outcome;
	}
}
const deliverySeconds = (outcome, patienceSeconds) => patienceSeconds ?? (conclusionOf(outcome) === "cancelled" ? 30 : 300);
/** `2 of 3 in line, about 40 min`. */
function queuePosition({ place, of, expectedSeconds }) {
	const line = `${place} of ${of} in line`;
	return expectedSeconds === void 0 ? line : `${line}, ${formatEstimate(expectedSeconds)}`;
}
/** Formats the start as a time of day, as it is read later than written. */
function expectedStart({ expectedSeconds }, now) {
	const asOf = `as of ${timeText(now)}`;
	if (expectedSeconds === void 0) return `No start can be estimated, ${asOf}: no suitable testbed is healthy.`;
	const begin = new Date(now.getTime() + expectedSeconds * 1e3);
	return `Expected to begin at about ${timeText(begin)}, ${asOf}.`;
}
const timeText = (date) => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;

export { addReportLinks, cancelledOutcome, combineReporters, conclusionOf, deliverySeconds, expectedStart, failureReasonSchema, outcomeOfError, outcomeOfFailure, outcomeOfResult, queuePosition, reportOutcome, reportThenLink, resultOf, timeText };