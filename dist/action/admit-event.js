import { applyOverrides, parsePriority, selectorCalled, testbedsFor } from "../config/first.js";
import { bisectOverrideNames, kebabCase, namingStyles, overrideNames, overridesAs } from "../config/parameters.js";
import { placeOf, pullRequestFromEvent } from "../forge/github.js";
import { int, looseObject, object, string, unknown } from "../vendor/zod.js";
import { isAcceptCommand, parseCommand, parseEarlier, patchOfRevision } from "../forge/patch.js";
import { findRevision, parseRevisionName, phidsOf } from "../forge/phabricator.js";
import { wrongName } from "../config/did-you-mean.js";
import { UsageError, exitCodes } from "../model/first-plain.js";
import { outcomeOfError } from "../publish/reporters/first.js";
import { reply } from "./admission-replies.js";
import { admit, readerOn } from "./pull-request-reader.js";
import { readEvent } from "./inputs.js";
import { bisectSelector, gateNames, revisionDepsOf, selectorsFor } from "./job.js";
import { log } from "./log.js";
import { revisionReporter } from "./reporters.js";
import { byName, callOnGithub, document, id, time, word } from "../model/first.js";
import { excerpt, expected, sentence } from "../model/excerpt.js";
import { pullRequestOfCheckRun } from "../publish/reporters.js";

// src/action/trigger.ts
/**
* Reads the payload of an event. Throws a `UsageError` for an unsupported event, and for a payload that does not match
* GitHub's documentation.
*
* @param event.commit at which the job runs, as in `GITHUB_SHA`.
* @param overrides of the workflow's inputs; they replace fields missing from the payload.
*/
function triggerOf(event, overrides) {
	const reader = readers.get(event.name);
	if (reader !== void 0) return reader(event, overrides);
	throw new UsageError(`The event ${event.name} names no patch to gate: run ppsgate on pull_request, pull_request_target, issue_comment, check_run, merge_group, workflow_dispatch, repository_dispatch, schedule or push.`);
}
const sender = object({ login: word }).default({ login: "unknown" });
const fieldNames = [
	"patch",
	"instead",
	"key",
	"build",
	...new Set([...overrideNames, ...bisectOverrideNames].map(kebabCase))
];
/** Refuses values that ppsgate would not read, so that none is ignored: an unknown name, a list, a record. */
const texts = byName(unknown()).transform((record, context) => {
	const named = Object.entries(record).map(([name, value]) => {
		if (!fieldNames.includes(name)) context.addIssue({
			code: "custom",
			message: wrongName(fieldNames)({ input: name })
		});
		if (value === null) return [name, ""];
		if (typeof value !== "object") return [name, String(value)];
		context.addIssue({
			code: "custom",
			path: [name],
			message: expected("a text")({ input: value })
		});
		return [name, ""];
	});
	return Object.fromEntries(named);
});
function read(event, schema) {
	const parsed = schema.safeParse(event.payload);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const where = issue?.path.join(".") || "its top";
	throw new UsageError(`The payload of the event ${event.name} cannot be read at ${where}: ${sentence(issue?.message ?? "")}`);
}
const pullRequestPayload = object({
	action: word,
	sender,
	label: object({ name: word }).nullish(),
	changes: object({ base: looseObject({}).optional() }).nullish()
});
function fromPullRequest(event) {
	const occasion = occasionOf(event, read(event, pullRequestPayload));
	if (occasion.kind === "nothing") return occasion;
	const found = pullRequestFromEvent(event.name, event.payload);
	if (found.kind !== "found") throw new UsageError(found.why);
	return {
		kind: "pull-request",
		found,
		occasion
	};
}
/** GitHub sends the pull request as of the event, so its last change is the label's. */
const labelledPayload = object({ pull_request: object({ updated_at: time }) });
function occasionOf(event, { action, sender: { login: by }, label, changes }) {
	const nothing = (why) => ({
		kind: "nothing",
		why
	});
	switch (action) {
		case "opened":
		case "synchronize": return {
			kind: "pushed",
			by
		};
		case "edited": return changes?.base === void 0 ? nothing("Of all edits, only a changed base starts a measurement.") : {
			kind: "revived",
			by
		};
		case "reopened":
		case "ready_for_review": return {
			kind: "revived",
			by
		};
		case "labeled": {
			if (label == null) return nothing("The event does not name the added label.");
			const { updated_at: at } = read(event, labelledPayload).pull_request;
			return {
				kind: "labelled",
				by,
				at,
				label: label.name
			};
		}
		default: return nothing(`Nothing is measured when a pull request is ${action}.`);
	}
}
const commentPayload = object({
	action: word,
	issue: object({
		number: id,
		pull_request: object({}).nullish()
	}),
	comment: object({
		id: int(),
		body: document.nullish(),
		created_at: time,
		user: object({ login: word }).nullable()
	})
});
function fromComment({ action, issue, comment }) {
	const { id, body, created_at: at, user } = comment;
	const text = body ?? "";
	const isCall = parseCommand(text) !== void 0;
	if (action === "created" && issue.pull_request == null && user !== null && isAcceptCommand(text)) return {
		kind: "acceptance",
		number: issue.number,
		id,
		by: user.login
	};
	if (action !== "created" || issue.pull_request == null || user === null || !isCall) return {
		kind: "nothing",
		why: `Only a new comment on a pull request that begins with ${callOnGithub} starts anything.`
	};
	return {
		kind: "comment",
		number: issue.number,
		id,
		by: user.login,
		at,
		text
	};
}
function fromTexts({ login: by }, fields) {
	const { patch = "", key, build } = fields;
	const named = (names) => withoutEmpty(Object.fromEntries(names.map((name) => [name, fields[kebabCase(name)]])));
	const bisect = bisectIn(fields, named(bisectOverrideNames));
	return {
		kind: "dispatched",
		by,
		patch: patch.trim(),
		overrides: named(overrideNames),
		...bisect && { bisect },
		...withoutEmpty({
			key,
			build
		})
	};
}
function bisectIn({ instead }, overrides) {
	if (!instead) return overrides.good || overrides.bad ? {
		kind: "bisect",
		overrides
	} : void 0;
	const command = parseCommand(`${callOnGithub} ${instead}`);
	if (command?.kind === "bisect") return {
		...command,
		overrides: {
			...overrides,
			...command.overrides
		}
	};
	const what = command?.kind === "mistaken" ? command.why : `expected words like bisect GOOD BAD forwarding inet4, found "${excerpt(instead)}"`;
	throw new UsageError(`instead: ${what}.`);
}
const textsOf = ({ patch, overrides, bisectOverrides }) => withoutEmpty({
	patch,
	...overridesAs({
		...bisectOverrides,
		...overrides
	}, kebabCase)
});
const withoutEmpty = (texts) => Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => text ? [[name, text]] : []));
const commit = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a full commit id");
const checkRunPayload = object({
	action: word,
	sender,
	check_run: object({
		head_sha: commit,
		name: word,
		external_id: word.nullish()
	}),
	requested_action: object({ identifier: word.optional() }).nullish()
});
function fromButton(payload) {
	const { action, sender, check_run, requested_action } = payload;
	const pressed = action === "requested_action" ? requested_action?.identifier : void 0;
	const button = action === "rerequested" ? "rerun" : pressed;
	if (!(check_run.name === "ppsgate" || check_run.name.startsWith("ppsgate: ")) || button !== "rerun" && button !== "extend") return {
		kind: "nothing",
		why: "Only the buttons of the check of ppsgate ask for anything."
	};
	const number = pullRequestOfCheckRun(check_run.external_id ?? "");
	return {
		kind: "button",
		by: sender.login,
		button,
		headCommit: check_run.head_sha,
		...number !== void 0 && { number }
	};
}
const mergeGroupPayload = object({
	action: word,
	merge_group: object({
		head_sha: commit,
		head_ref: word,
		base_sha: commit
	})
});
/** Trusts queue branches: only GitHub can push to them, after a person with write access has queued a pull request. */
function fromMergeGroup({ action, merge_group }) {
	const { head_sha: head, head_ref, base_sha: base } = merge_group;
	const [, branch] = /^refs\/heads\/(gh-readonly-queue\/.+)$/.exec(head_ref) ?? [];
	if (action !== "checks_requested" || branch === void 0) return {
		kind: "nothing",
		why: "Only commits that a merge queue waits for are measured for it."
	};
	return {
		kind: "queued",
		branch,
		base,
		head
	};
}
const pushPayload = object({
	ref: word,
	before: commit,
	after: commit,
	repository: object({ default_branch: word })
});
function fromPush({ ref, before, after, repository }) {
	const { default_branch: branch } = repository;
	if (ref !== `refs/heads/${branch}` || /^0+$/.test(after)) return {
		kind: "nothing",
		why: `Only pushes to ${branch} are measured automatically.`
	};
	return {
		kind: "push",
		before,
		after
	};
}
function fromWorkflowDispatch(event, overrides) {
	const { sender: by, inputs } = read(event, object({
		sender,
		inputs: texts.nullish()
	}));
	return fromTexts(by, {
		...inputs,
		...textsOf(overrides)
	});
}
function fromRepositoryDispatch(event, overrides) {
	const { sender: by, client_payload } = read(event, object({
		sender,
		client_payload: texts.nullish()
	}));
	return fromTexts(by, {
		...textsOf(overrides),
		...client_payload
	});
}
/** Bisects on a push or a schedule if the workflow's inputs name commits. */
const unlessBisected = (otherwise) => (event, overrides) => {
	if (bisectIn({}, withoutEmpty({ ...overrides.bisectOverrides })) === void 0) return otherwise(event);
	const { sender: by } = read(event, object({ sender }));
	return fromTexts(by, textsOf(overrides));
};
const readers = /* @__PURE__ */ new Map([
	["pull_request", fromPullRequest],
	["pull_request_target", fromPullRequest],
	["issue_comment", (event) => fromComment(read(event, commentPayload))],
	["workflow_dispatch", fromWorkflowDispatch],
	["repository_dispatch", fromRepositoryDispatch],
	["check_run", (event) => fromButton(read(event, checkRunPayload))],
	["merge_group", (event) => fromMergeGroup(read(event, mergeGroupPayload))],
	["push", unlessBisected((event) => fromPush(read(event, pushPayload)))],
	["schedule", unlessBisected(({ commit }) => ({
		kind: "schedule",
		commit
	}))]
]);

// src/action/admit-event.ts
/** @param onAdmission replaces admissions that another job carries out */
async function admitEvent(context, onAdmission = (admission) => admission) {
	const { job, patch, ...inputs } = context.inputs;
	const { testbed: _, ...overrides } = inputs.overrides;
	const { testbed: __, ...bisectOverrides } = inputs.bisectOverrides;
	const event = {
		name: job.eventName,
		payload: await readEvent(job),
		commit: job.commit
	};
	const trigger = triggerOf(event, {
		patch,
		overrides,
		bisectOverrides
	});
	if (trigger.kind === "comment") await acknowledge(trigger.id, context);
	const admission = onAdmission(await admit(trigger, depsFor(trigger, context)));
	(admission.kind === "refused" ? log.error : log.info)(admission.why);
	if ("pullRequest" in admission) await reply(context, admission);
	return admission;
}
function depsFor(trigger, context) {
	const { inputs, octokit, repository, readConfig } = context;
	const { job } = inputs;
	const namingOfRequester = trigger.kind === "dispatched" ? namingStyles.input : namingStyles.comment;
	const optionNameFor = ({ testbed }) => testbed ? namingOfRequester("testbed") : selectorCalled({
		testbed: inputs.overrides.testbed,
		each: inputs.each
	}, namingStyles.input);
	const priority = inputs.priority || (job.isRerun ? "rerun" : "");
	return {
		pullRequests: readerOn(octokit, job.repository),
		repository,
		readConfig,
		commit: job.commit,
		readRevision: (trigger) => readRevision(trigger, context),
		nameOf(config, overrides) {
			const selectors = selectorsFor(config, overrides, inputs);
			const overridden = applyOverrides(config, overrides, namingOfRequester);
			const optionName = optionNameFor(overrides);
			for (const selector of selectors) testbedsFor(overridden, selector, optionName);
			return gateNames(selectors)[0] ?? "ppsgate";
		},
		checkBisection(config, overrides) {
			const overridden = applyOverrides(config, overrides, namingOfRequester);
			testbedsFor(overridden, bisectSelector(config, overrides, inputs), optionNameFor(overrides));
		},
		naming: namingOfRequester,
		priority: priority === "" ? void 0 : parsePriority(priority, namingStyles.input("priority"))
	};
}
/** Also reports errors on the revision. */
async function readRevision({ patch: text, overrides, key, build }, context) {
	const { job } = context.inputs;
	const config = await context.readConfig(job.commit);
	const deps = revisionDepsOf(context, config);
	const name = parseRevisionName(text, deps.conduit.url);
	if (name === void 0) throw new UsageError(`patch: expected a revision like D27401 or D27401:80677, found "${text}".`);
	const found = await findRevision(deps.conduit, name);
	const { number, diff } = found;
	const phids = phidsOf(found);
	try {
		const earlier = parseEarlier(overrides.earlier || "none", namingStyles.input("earlier"));
		const named = {
			revision: number,
			diff: diff.id,
			phids
		};
		return {
			patch: await patchOfRevision(named, earlier, deps),
			config
		};
	} catch (error) {
		const options = {
			name: "ppsgate",
			runId: job.runId,
			...key && { key },
			...build && { build }
		};
		const about = {
			number,
			diff: diff.id,
			phids
		};
		await revisionReporter(context, config, about, options).conclude(outcomeOfError(error));
		throw error;
	}
}
const exitCodeOf = ({ kind }) => kind === "refused" ? exitCodes.usage : exitCodes.pass;
/** Reacts to a command's comment before carrying it out. A failure is only logged. */
async function acknowledge(comment_id, { octokit, inputs }) {
	await octokit.request("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", {
		...placeOf(inputs.job.repository),
		comment_id,
		content: "eyes"
	}).catch((error) => log.info(`The reaction to the command was not posted (${error.message}).`));
}

export { acknowledge, admitEvent, exitCodeOf, triggerOf };