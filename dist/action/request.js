import { endingOfError, upshotOf } from "../answer.js";
import { _enum, boolean, int, literal, object, string, union } from "../vendor/zod.js";
import { calledAs, parseSwitch } from "../config.js";
import { askSchema, bisectAskSchema, jobSchema } from "../patch.js";
import { UsageError, cellSchema, commitId, exitCodes, patchName, patchSchema, priorities } from "../words.js";

// src/action/request.ts
const purposes = [
	"patch",
	"history",
	"nightly"
];
const requestSchema = object({
	/** The patch, with both commits as they were fixed when leave was given. */
	patch: patchSchema,
	ask: askSchema,
	priority: _enum(priorities),
	/** `history` is what was pushed to the default branch, `nightly` its head against itself. */
	purpose: _enum(purposes),
	/** Where a revision is answered besides its comment: the run of whoever asked, and the build that waits. */
	revisionAnswer: jobSchema.pick({
		key: true,
		build: true
	}).partial().optional(),
	/** The workflow run whose experiment is to go on, for so many runs. */
	extend: object({
		run: int().positive(),
		maxRuns: string().max(20).optional()
	}).optional()
});
/** A bisection that there is leave for. */
const bisectRequestSchema = object({
	command: literal("bisect"),
	/** Where it was asked for and is answered; a range of commits where nobody was at a patch. */
	patch: patchSchema,
	/** Both ends, as they were fixed when leave was given. */
	good: commitId,
	bad: commitId,
	/** The commits are those of the patch, which of a revision are its diffs, one on top of the other. */
	isOwn: boolean(),
	cell: cellSchema,
	/** The rest of what was asked; commits in it are full ids. */
	ask: bisectAskSchema.omit({
		good: true,
		bad: true,
		scenarios: true,
		families: true
	}),
	priority: _enum(priorities),
	revisionAnswer: requestSchema.shape.revisionAnswer
});
const anyRequestSchema = union([bisectRequestSchema, requestSchema]);
const isBisection = (request) => "command" in request;
const requestText = (request) => JSON.stringify(request);
/** Throws a `UsageError` for a text that `requestText` did not write. */
function readRequest(text) {
	try {
		return anyRequestSchema.parse(JSON.parse(text));
	} catch {
		throw new UsageError("request: expected the output `request` of a step with `command: admit`, found something else.");
	}
}
/** Names the patch among all that are judged, or bisected, for a workflow's `concurrency` and for the queue. */
const subjectOf = (request) => isBisection(request) || request.purpose === "patch" ? patchName(request.patch) : request.purpose;
/**
* Whether also what changes nothing is measured, as the request or the job's own inputs want it: at night it is the point
* to measure the base against itself. Throws a `UsageError` for what is no switch.
*/
const isMeasuredAnyway = ({ purpose, ask }, inputs) => [
	purpose === "nightly",
	parseSwitch(inputs.measureAnyway, calledAs.input("measureAnyway")),
	parseSwitch(ask.measureAnyway, calledAs.comment("measureAnyway"))
].includes(true);
/** What the files of one of several gates are called that the job which publishes looks for. */
const fileOf = (base, index, of) => of === 1 ? `${base}.json` : `${base}-${index + 1}.json`;
/** What a gate leaves that came to no result. */
const failureSchema = object({
	exitCode: int(),
	/** What went wrong, in a sentence that may hold anybody's text. */
	said: string().max(2e4),
	/** Whether nothing was measured for lack of leave. */
	isRefused: boolean()
});
/** The artifact it lies in is for everybody who sees the repository. */
function failureOf(error) {
	const ending = endingOfError(error);
	return {
		exitCode: exitCodes[upshotOf(ending)],
		said: ending.said,
		isRefused: false
	};
}

export { failureOf, failureSchema, fileOf, isBisection, isMeasuredAnyway, readRequest, requestSchema, requestText, subjectOf };