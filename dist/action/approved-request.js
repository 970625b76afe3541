import { parseSwitch } from "../config/first.js";
import { namingStyles } from "../config/parameters.js";
import { _enum, boolean, int, literal, object, union } from "../vendor/zod.js";
import { bisectOverridesSchema, gateOverridesSchema, jobSchema } from "../forge/patch.js";
import { cellSchema, commitId, id, patchIdentity, patchSchema, text } from "../model/first.js";
import { UsageError, exitCodes, parseJson, priorities } from "../model/first-plain.js";
import { excerpt } from "../model/excerpt.js";
import { conclusionOf, outcomeOfError } from "../publish/reporters/first.js";

// src/action/approved-request.ts
const purposes = [
	"patch",
	"history",
	"nightly"
];
/** Relay run that requested a revision, and Harbormaster build that waits for it. */
const relaySchema = jobSchema.pick({
	key: true,
	build: true
}).partial();
const gateRequestSchema = object({
	/** Fixed at approval. */
	patch: patchSchema,
	overrides: gateOverridesSchema,
	priority: _enum(priorities),
	/** `history` is a push to the default branch, `nightly` its head against itself. */
	purpose: _enum(purposes),
	/** Branch of a merge queue that waits for it, such as `gh-readonly-queue/main/pr-7-1a2b…`. */
	queue: text(400).optional(),
	relay: relaySchema.optional(),
	/** Workflow run that has the experiment to extend, and the new maximum of runs. */
	extend: object({
		run: id,
		maxRuns: text(20).optional()
	}).optional()
});
const bisectRequestSchema = object({
	command: literal("bisect"),
	/** Patch that gets the reply; a range of commits if there is no patch. */
	patch: patchSchema,
	good: commitId,
	bad: commitId,
	/** The commits are the patch's own; those of a revision are its diffs, each on top of the one before. */
	isOwn: boolean(),
	cell: cellSchema,
	overrides: bisectOverridesSchema.omit({
		good: true,
		bad: true,
		scenarios: true,
		families: true
	}),
	priority: _enum(priorities),
	relay: relaySchema.optional()
});
const approvedRequestSchema = union([bisectRequestSchema, gateRequestSchema]);
const isBisection = (request) => "command" in request;
const requestText = (request) => JSON.stringify(request);
function readRequest(text) {
	try {
		return approvedRequestSchema.parse(JSON.parse(text));
	} catch {
		throw new UsageError(`request: expected the output \`request\` of a step with \`command: admit\`, found "${excerpt(text)}".`);
	}
}
function relayOf({ key, build }) {
	const { data, error } = relaySchema.safeParse({
		key,
		build
	});
	if (error === void 0) return data;
	const names = error.issues.map(({ path }) => path.join(".")).join(" and ");
	throw new UsageError(`client_payload: ${names} is not sent by a relay.`);
}
/** Identifies the patch for a workflow's `concurrency` and for the testbeds' queue. */
function subjectOf(request) {
	if (isBisection(request)) return patchIdentity(request.patch);
	const { patch, purpose, queue } = request;
	if (queue !== void 0) return pullRequestInQueue(queue);
	return purpose === "patch" ? patchIdentity(patch) : purpose;
}
/** Drops the base commit at the end: a queue makes a new branch for a pull request after an earlier one's failure. */
const pullRequestInQueue = (branch) => branch.replace(/-[0-9a-f]{40,64}$/, "");
/** Measures even a patch without changes, as in a nightly run. Throws a `UsageError` for an invalid switch. */
const isMeasuredAnyway = ({ purpose, overrides }, inputs) => [
	purpose === "nightly",
	parseSwitch(inputs.measureAnyway, namingStyles.input("measureAnyway")),
	parseSwitch(overrides.measureAnyway, namingStyles.comment("measureAnyway"))
].includes(true);
const outputFile = (base, index, count) => count === 1 ? `${base}.json` : `${base}-${index + 1}.json`;
const gateFolder = (index, count) => count === 1 ? "" : `${index + 1}/`;
const nightlyPart = (part) => `nightly-${part}`;
const jobFailureSchema = object({
	exitCode: int(),
	/** A sentence that may contain text of the patch or the kernel. */
	said: text(2e4),
	isRefused: boolean()
});
/** Omits paths, as every user who sees the repository can read the artifact. */
function failureOf(error) {
	const reportedOutcome = outcomeOfError(error);
	return {
		exitCode: exitCodes[conclusionOf(reportedOutcome)],
		said: reportedOutcome.message,
		isRefused: false
	};
}
/** Undefined for a job that was interrupted before it wrote a failure. */
const readFailure = (text) => jobFailureSchema.safeParse(parseJson(text ?? "")).data;

export { approvedRequestSchema, failureOf, gateFolder, isBisection, isMeasuredAnyway, nightlyPart, outputFile, readFailure, readRequest, relayOf, requestText, subjectOf };