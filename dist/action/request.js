import { UsageError, cellSchema, commitId, exitCodes, fromJson, patchName, patchSchema, priorities, shortId } from "../words.js";
import { log, mask } from "./log.js";
import { _enum, boolean, int, literal, object, string, union } from "../vendor/zod.js";
import { calledAs, parseConfig, parseSwitch } from "../config.js";
import { askSchema, bisectAskSchema, jobSchema, openRepository } from "../patch.js";
import { openConduit, phabricatorOf } from "../phabricator.js";
import { endingOfError, forOneBase, openCheckRun, openComment, openRevisionAnswer, openRevisionComment, openStatus, together, upshotOf } from "../answer.js";
import { createOctokit, ownLogin } from "../github.js";
import { wishesOf } from "../inventory.js";

// src/action/job.ts
/** A revision is made for whatever its author had, so for it the configuration is that of the branch that the job runs on. */
const configCommitOf = (patch, { job }) => patch.kind === "revision" ? job.commit : patch.baseCommit;
async function openJob(inputs) {
	const { job, token, config: path } = inputs;
	const octokit = await createOctokit({
		token,
		apiUrl: job.apiUrl,
		log
	});
	const repository = openRepository(job.workspace, withToken(token, job.serverUrl));
	return {
		inputs,
		octokit,
		repository,
		async readConfig(base) {
			const commit = await repository.resolve(base);
			const text = await repository.read(`${commit}:${path}`).catch(() => {
				throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
			});
			return parseConfig(text, {
				path,
				home: process.env.HOME ?? "/"
			});
		}
	};
}
/**
* Credentials for a private repository, whose checkout leaves none behind: in the environment, where nobody else sees
* them (`GIT_CONFIG_COUNT` in git-config(1)). GitHub takes a token as the password of any user.
*/
function withToken(token, serverUrl) {
	const credentials = Buffer.from(`x-access-token:${token}`).toString("base64");
	mask(credentials);
	return {
		GIT_CONFIG_COUNT: "1",
		GIT_CONFIG_KEY_0: `http.${serverUrl}/.extraheader`,
		GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${credentials}`
	};
}
/** Phabricator as the bot whose token the job has; throws a `UsageError` where it has none. */
function revisionWorldOf({ inputs: { conduitToken: token }, repository }, configuration) {
	const config = phabricatorOf(configuration);
	if (token === "") throw new UsageError("conduit-token: a revision needs the token of a bot on Phabricator: give it as a secret.");
	return {
		conduit: openConduit({
			url: config.url,
			token,
			log
		}),
		repository,
		config
	};
}
/** Wishes for testbeds: what a comment asks for comes before the inputs, and those before the configuration. */
const wishesFor = (config, ask, inputs) => wishesOf(config, ask.testbed ? { testbed: ask.testbed } : {
	testbed: inputs.ask.testbed,
	each: inputs.each
}, calledAs.input);
/**
* The configuration as it holds for a request: a night is measured whole, for its numbers are held against those of other
* nights on that testbed.
*/
const heldBy = ({ purpose }, config) => purpose === "nightly" ? {
	...config,
	split: false
} : config;
/** A bisection has one testbed. */
const bisectWish = (config, { testbed }, inputs) => wishesFor(config, testbed ? { testbed } : {}, inputs)[0];
/** What the comment and the check of each gate are called. */
const gateNames = (wishes) => wishes.length === 1 ? ["ppsgate"] : wishes.map((wish) => `ppsgate: ${wish}`);
/** Where people look for how a gate goes; nobody waits for what is measured at night. */
async function answerFor(context, { patch, ask, purpose, revisionAnswer }, config, { keepComment, ...place }) {
	const { name, runId } = place;
	if (purpose === "nightly") return together([]);
	if (patch.kind === "revision") return answerOnPhabricator(context, config, patch, {
		...place,
		...revisionAnswer
	});
	const undecided = purpose === "history" ? "neutral" : config.github.undecided;
	const marks = await marksFor(context, patch, {
		...config.github,
		undecided
	}, place);
	if (patch.kind !== "pull-request") return marks;
	const comment = openComment(context.octokit, patch, {
		name,
		run: runId,
		ask,
		detailsUrl: runUrl(context.inputs.job, runId),
		log,
		now: () => /* @__PURE__ */ new Date(),
		...keepComment && { keep: keepComment },
		...place.patience
	});
	return together([marks, comment]);
}
/** What stands on the head commit: the check, and at a pull request the status where it is asked for. */
async function marksFor({ octokit, inputs: { job } }, patch, { undecided, status }, { name, runId, isOpen = false, patience }) {
	const subject = {
		repository: patch.kind === "pull-request" ? patch.repository : job.repository,
		patch
	};
	const shared = {
		name,
		detailsUrl: runUrl(job, runId),
		log,
		now: () => /* @__PURE__ */ new Date(),
		...patience
	};
	const isOwnApp = await ownLogin(octokit).catch(() => workflowsOwn) !== workflowsOwn;
	const check = openCheckRun(octokit, subject, {
		...shared,
		undecided,
		isOpen,
		isOwnApp
	});
	if (patch.kind !== "pull-request") return together([check]);
	const marks = [check, ...status ? [openStatus(octokit, subject, shared)] : []];
	return forOneBase(octokit, patch, together(marks), patience);
}
/** Tells how the gate goes, or what kept it from being one; `key` and `build` are those of a relay. */
function answerOnPhabricator(context, config, revision, { name, runId, key, build, patience }) {
	const { conduit, config: phabricator } = revisionWorldOf(context, config);
	const run = key ?? `${runId}`;
	return openRevisionAnswer(conduit, revision, {
		run: name === "ppsgate" ? run : `${run} ${name.replace(/^ppsgate: /, "")}`,
		takesCommands: key !== void 0,
		details: runUrl(context.inputs.job, runId),
		undecided: phabricator.undecided,
		log,
		...patience,
		...build !== void 0 && { build }
	});
}
/**
* Where people look for how a bisection goes: in a comment of its own where it was asked for. It says nothing of the head,
* so there is no check.
*/
function bisectAnswerFor(context, request, config, { runId, keepComment, patience }) {
	const { patch, revisionAnswer } = request;
	const detailsUrl = runUrl(context.inputs.job, runId);
	if (patch.kind === "revision") {
		const { conduit } = revisionWorldOf(context, config);
		const { key } = revisionAnswer ?? {};
		const about = {
			details: detailsUrl,
			takesCommands: key !== void 0,
			log,
			...patience
		};
		return openRevisionComment(conduit, patch, {
			run: key ?? `${runId}`,
			...about
		});
	}
	return openBisectComment(context.octokit, request, {
		run: runId,
		detailsUrl,
		log,
		now: () => /* @__PURE__ */ new Date(),
		...keepComment && { keep: keepComment },
		...patience
	}) ?? together([]);
}
/** Beside the gate's comment, which stays as it is; undefined for what is at no pull request. */
function openBisectComment(octokit, { patch, isOwn, good, bad }, options) {
	if (patch.kind !== "pull-request") return void 0;
	const about = {
		name: "ppsgate bisect",
		subject: `the bisection of ${isOwn ? patchName(patch) : `${shortId(good)}..${shortId(bad)}`}`,
		ask: {}
	};
	return together([openComment(octokit, patch, {
		...options,
		...about
	})]);
}
const runUrl = ({ serverUrl, repository }, runId) => `${serverUrl}/${repository}/actions/runs/${runId}`;
const workflowsOwn = "github-actions[bot]";

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
	/** The branch of a merge queue that waits for it, like `gh-readonly-queue/main/pr-7-1a2b…`. */
	queue: string().max(400).optional(),
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
function subjectOf(request) {
	if (isBisection(request)) return patchName(request.patch);
	const { patch, purpose, queue } = request;
	if (queue !== void 0) return placeInQueue(queue);
	return purpose === "patch" ? patchName(patch) : purpose;
}
/** A queue makes a new branch for the same pull request when one before it has failed: what it was based on ends the name. */
const placeInQueue = (branch) => branch.replace(/-[0-9a-f]{40,64}$/, "");
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
/** The folder of one of several gates in what is uploaded: empty, or `1/`, `2/`. */
const gateFolder = (index, of) => of === 1 ? "" : `${index + 1}/`;
/** The name of what a night has measured besides the commit against itself, counted from 1. */
const partName = (part) => `night-${part}`;
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
/** What kept a job from a result, of the text that it left; undefined for one that was cut short, and left none. */
function failureOfText(text) {
	const failure = failureSchema.safeParse(fromJson(text ?? "")).data;
	if (failure === void 0) return void 0;
	const { exitCode, said, isRefused } = failure;
	return {
		why: exitCode === exitCodes.usage ? "usage" : "infrastructure",
		said,
		isRefused
	};
}

export { answerFor, answerOnPhabricator, anyRequestSchema, bisectAnswerFor, bisectWish, configCommitOf, failureOf, failureOfText, fileOf, gateFolder, gateNames, heldBy, isBisection, isMeasuredAnyway, marksFor, openBisectComment, openJob, partName, readRequest, requestSchema, requestText, revisionWorldOf, subjectOf, wishesFor };