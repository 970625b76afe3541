import { applyOverrides, bisectOverrideNames, kebabCase, namingStyles, overrideNames, overridesAs, parsePriority, testbedsFor, wrongName } from "../config.js";
import { fetchPullRequest, findComment, mayWrite, numbersOf, ownLogin, placeOf, pullRequestFromEvent, pullRequestNumber, pullRequestsWithHead, readIssue } from "../forge/github.js";
import { int, looseObject, object, string, unknown } from "../vendor/zod.js";
import { asksToAccept, authorize, parseCommand, parseEarlier, patchOfRange, patchOfRevision, patchOfTypedRange, withoutShortIds } from "../forge/patch.js";
import { findRevision, looksLikeRevision, parseRevisionName, phidsOf } from "../forge/phabricator.js";
import { UsageError, byName, callOnGithub, document, excerpt, exitCodes, expected, id, patchName, sentence, shortId, time, word } from "../model.js";
import { changeIdIn, markerOf, outcomeOfError, pullRequestOfCheckRun, readMemory } from "../publish/reporters.js";
import { reply } from "./admission-replies.js";
import { noticeName } from "./admission.js";
import { relayOf } from "./approved-request.js";
import { readEvent } from "./inputs.js";
import { bisectSelector, gateNames, revisionDepsOf, revisionReporter, selectorsFor } from "./reporters.js";
import { log } from "./log.js";

// src/action/admit.ts
/** Throws a `UsageError` for a patch that cannot be measured, and an Error where GitHub does not reply. */
async function admit(trigger, given) {
	const deps = {
		...given,
		repository: withoutShortIds(given.repository)
	};
	const requested = await requestedBy(trigger, deps);
	return requested.kind === "command" ? authorized(requested, deps) : requested;
}
async function requestedBy(trigger, deps) {
	switch (trigger.kind) {
		case "nothing": return trigger;
		case "pull-request": return {
			...trigger,
			kind: "command",
			command: {
				kind: "run",
				overrides: {}
			}
		};
		case "comment": return admitComment(trigger, deps);
		case "acceptance": return {
			kind: "nothing",
			why: "A level is accepted by a job with `command: accept`."
		};
		case "dispatched": return requestedByHand(trigger, deps);
		case "button": return requestedByButton(trigger, deps);
		case "queued": {
			const { branch: queue, base, head } = trigger;
			return admitted({
				patch: await patchOfRange(deps.repository, `${base}..${head}`),
				queue,
				priority: "release"
			}, "A person with write access has put it into the merge queue.", deps);
		}
		case "push": return admitted({
			patch: await pushed(trigger, deps.repository),
			purpose: "history",
			priority: "rerun"
		}, "What is pushed to the default branch is measured.", deps);
		case "schedule": return admitted({
			patch: await patchOfRange(deps.repository, `${trigger.commit}..${trigger.commit}`),
			purpose: "nightly",
			priority: "rerun"
		}, "The head of the default branch is measured against itself.", deps);
	}
}
/** Needs no approval: only people with write access can name these commits. */
async function admitted(request, why, { readConfig, priority }) {
	return {
		kind: "gate",
		request: {
			overrides: {},
			purpose: "patch",
			...request,
			priority: priority ?? request.priority ?? "patch"
		},
		config: await readConfig(request.patch.baseCommit),
		why
	};
}
/** Without a usable commit before the push (a new branch, a forced push) only the last one is measured. */
async function pushed({ before, after }, repository) {
	const isPresent = await repository.resolve(before).then(() => !/^0+$/.test(before), () => false);
	return patchOfRange(repository, `${isPresent ? before : `${after}^`}..${after}`);
}
async function requestedByButton({ by, button, headCommit, number }, deps) {
	const all = await pullRequestsWithHead(deps.octokit, deps.repositoryName, headCommit);
	const candidates = number === void 0 ? all : all.filter(({ pullRequest }) => pullRequest.number === number);
	const [found, ...more] = candidates;
	if (found === void 0) return {
		kind: "nothing",
		why: `No open pull request has the head ${headCommit}.`
	};
	if (more.length > 0) return {
		kind: "nothing",
		why: `${numbersOf(candidates)} have the head ${headCommit}: write /ppsgate rerun at the one that is meant.`
	};
	return {
		kind: "command",
		found,
		occasion: {
			kind: "pressed",
			by,
			commit: headCommit
		},
		command: { kind: button }
	};
}
async function admitComment(comment, deps) {
	const command = parseCommand(comment.text);
	if (command === void 0) return {
		kind: "nothing",
		why: "The comment is no command."
	};
	const found = await fetched(comment.number, deps);
	if (command.kind === "help") return {
		kind: "help",
		pullRequest: found.pullRequest,
		why: ""
	};
	if (command.kind === "mistaken") return mistaken(command.why, comment, found, deps);
	return authorized({
		kind: "command",
		found,
		occasion: occasionOf$1(command, comment),
		command
	}, deps).catch((error) => {
		if (!(error instanceof UsageError)) throw error;
		return mistaken(error.message, comment, found, deps);
	});
}
function occasionOf$1(command, { by, at }) {
	if (command.kind === "cancel") return {
		kind: "cancelled",
		by
	};
	const named = {
		by,
		at,
		...command.commit !== void 0 && { commit: command.commit }
	};
	return command.kind === "bisect" ? {
		...named,
		kind: "bisected",
		areNamed: command.overrides.good !== void 0
	} : {
		...named,
		kind: "commanded",
		verb: command.kind
	};
}
/** Replies only to people who may have the patch measured: text of strangers does not reach the pull request. */
async function mistaken(why, { by, at }, found, { octokit, repositoryName, readConfig }) {
	const { pullRequest } = found;
	const { baseCommit, headCommit: commit } = pullRequest;
	const { people, label } = await readConfig(baseCommit).then(({ github }) => github, (error) => {
		if (!(error instanceof UsageError)) throw error;
		return {
			people: [],
			label: ""
		};
	});
	return (await authorize({
		kind: "commanded",
		by,
		at,
		commit
	}, found, {
		people,
		label,
		seen: void 0,
		measured: [],
		mayWrite: (login) => mayWrite(octokit, repositoryName, login)
	})).kind === "allowed" ? {
		kind: "mistaken",
		pullRequest,
		why
	} : {
		kind: "nothing",
		why
	};
}
async function requestedByHand(trigger, deps) {
	const { by, patch: name, overrides, bisect } = trigger;
	const number = !bisect && /^\d{7,}$/.test(name) ? void 0 : pullRequestNumber(name);
	const isRevision = looksLikeRevision(name);
	if (number !== void 0 && !isRevision) {
		const found = await fetched(number, deps);
		if (bisect === void 0) return {
			kind: "command",
			found,
			occasion: byHand(by),
			command: {
				kind: "run",
				overrides
			}
		};
		const commit = Boolean(bisect.overrides.good && bisect.overrides.bad) ? found.pullRequest.headCommit : bisect.commit;
		return {
			kind: "command",
			found,
			occasion: byHand(by, commit),
			command: bisect
		};
	}
	if (bisect !== void 0) {
		const { admitCommits } = await import("./admit-bisection.js");
		return admitCommits(bisect, trigger, deps);
	}
	if (isRevision) return admitRevision(trigger, deps);
	const why = `${by} started it.`;
	if (/^.+\.\..+$/.test(name)) return admitted({
		patch: await patchOfTypedRange(deps.repository, name, true),
		overrides
	}, why, deps);
	if (!/^[0-9a-f]{7,64}$/.test(name)) throw new UsageError(`patch: expected a pull request like #123, a revision like D27401, a commit or a range like main..my-branch, found "${name}".`);
	const commit = await deps.repository.resolve(name);
	const all = await pullRequestsWithHead(deps.octokit, deps.repositoryName, commit);
	const [found, ...more] = all;
	if (more.length > 0) throw new UsageError(`patch: ${numbersOf(all)} have the head ${commit}: write /ppsgate run ${commit} at the one that is meant.`);
	if (found !== void 0) return {
		kind: "command",
		found,
		occasion: byHand(by, name === commit ? commit : void 0),
		command: {
			kind: "run",
			overrides
		}
	};
	return admitted({
		patch: await patchOfRange(deps.repository, `${commit}^..${commit}`),
		overrides
	}, why, deps);
}
const byHand = (by, commit) => ({
	kind: "dispatched",
	by,
	...commit && { commit }
});
/** The relay has checked the author of the diff; people who may start a job may have any diff measured. */
async function admitRevision(trigger, deps) {
	const { by, overrides } = trigger;
	const { patch, config } = await deps.readRevision(trigger);
	return {
		kind: "gate",
		request: {
			patch,
			overrides,
			priority: deps.priority ?? "patch",
			purpose: "patch",
			relay: relayOf(trigger)
		},
		config,
		why: `${by} started it for ${patchName(patch)}.`
	};
}
async function authorized({ found, occasion, command }, deps) {
	const { pullRequest } = found;
	const { headCommit } = pullRequest;
	const isAgain = command.kind === "rerun" || command.kind === "extend";
	const { overrides: remembered = {}, last } = isAgain && await memoryOf(found, deps) || {};
	const overrides = command.kind === "run" ? command.overrides : remembered;
	const { config, rules, name } = await rulesFor(found, overrides, deps);
	const { kind, why } = await authorize(withOverrides(occasion, overrides), found, rules);
	if (kind === "ignored") return {
		kind: "nothing",
		why
	};
	if (kind === "refused") {
		const isPush = occasion.kind === "pushed" || occasion.kind === "revived";
		const what = refusedCommands[command.kind];
		return {
			kind,
			pullRequest,
			config,
			why,
			name: isPush ? name : noticeName,
			...what && { what }
		};
	}
	if (command.kind === "cancel") return {
		kind: "cancel",
		pullRequest,
		why
	};
	if (command.kind === "bisect") {
		const { admitBisection } = await import("./admit-bisection.js");
		const { headRepository } = found;
		return admitBisection({
			overrides: command.overrides,
			list: command.list,
			headRepository,
			patch: pullRequest,
			config,
			why
		}, deps);
	}
	if (command.kind === "extend" && last?.headCommit !== headCommit) return {
		kind: "mistaken",
		pullRequest,
		why: `There is no experiment to extend for ${shortId(headCommit)}: write /ppsgate run first.`
	};
	const request = {
		patch: pullRequest,
		overrides,
		priority: deps.priority ?? (isAgain ? "rerun" : "patch"),
		purpose: "patch"
	};
	if (command.kind !== "extend" || last === void 0) return {
		kind: "gate",
		request,
		config,
		why
	};
	const { maxRuns } = command;
	const extend = {
		run: last.run,
		...maxRuns !== void 0 && { maxRuns }
	};
	return {
		kind: "gate",
		request: {
			...request,
			extend
		},
		config,
		why
	};
}
const refusedCommands = {
	cancel: "not cancelled",
	bisect: "no bisection"
};
/** More or fewer runs, profiles and measuring anyway cannot pass a patch that would otherwise fail. */
function withOverrides(occasion, overrides) {
	if (occasion.kind !== "commanded") return occasion;
	const { maxRuns: _, profile: __, measureAnyway: ___, ...deciding } = overrides;
	return {
		...occasion,
		isOtherwise: Object.keys(deciding).length > 0
	};
}
const memoryOf = async (found, deps) => (await rulesFor(found, {}, deps)).memory;
async function rulesFor({ pullRequest }, overrides, { octokit, repositoryName, readConfig, nameOf }) {
	const config = await readConfig(pullRequest.baseCommit);
	const { people, label } = config.github;
	const name = nameOf(config, overrides);
	const comment = await findComment(octokit, pullRequest, markerOf(name));
	const memory = comment === void 0 ? void 0 : readMemory(comment);
	return {
		config,
		rules: {
			people,
			label,
			mayWrite: (login) => mayWrite(octokit, repositoryName, login),
			seen: memory && {
				headCommit: memory.headCommit,
				since: memory.since,
				...memory.heads && { before: memory.heads }
			},
			measured: [memory?.last, ...memory?.earlier ?? []].flatMap((one) => one?.headCommit ?? [])
		},
		name,
		memory
	};
}
async function fetched(number, { octokit, repositoryName }) {
	const found = await fetchPullRequest(octokit, repositoryName, number);
	if (found.kind === "failed") throw new Error(found.why);
	if (found.kind === "not-found") throw new UsageError(found.why);
	return found;
}
/** Trusts the marker of an issue of our own, from a person with write access. Throws where GitHub does not reply. */
async function admitAcceptance({ number, by }, { octokit, repositoryName: repository }) {
	const body = await readIssue({
		octokit,
		repository
	}, number, await ownLogin(octokit));
	const id = changeIdIn(body ?? "");
	if (id === void 0) return {
		kind: "nothing",
		why: `#${number} is no issue that ppsgate has opened on a change.`
	};
	if (!await mayWrite(octokit, repository, by)) return {
		kind: "nothing",
		why: `${by} may not write to ${repository}, and so accepts nothing.`
	};
	return {
		kind: "accept",
		id,
		why: `${by} accepts the level that #${number} is of.`
	};
}

// src/action/trigger.ts
/**
* Reads the payload of an event; throws a `UsageError` for an unsupported event, and for a payload that is not as GitHub
* describes it.
*
* @param event.commit that the job runs at, as in `GITHUB_SHA`.
* @param overrides of the workflow's inputs; they fill in for fields missing from the payload.
*/
function triggerOf(event, overrides) {
	const reader = readers.get(event.name);
	if (reader !== void 0) return reader(event, overrides);
	throw new UsageError(`The event ${event.name} names nothing to gate: run ppsgate on pull_request, pull_request_target, issue_comment, check_run, merge_group, workflow_dispatch, repository_dispatch, schedule or push.`);
}
const sender = object({ login: word }).default({ login: "unknown" });
const fieldNames = [
	"patch",
	"instead",
	"key",
	"build",
	...new Set([...overrideNames, ...bisectOverrideNames].map(kebabCase))
];
/** A value that is not read would be asked for in vain: an unknown name, a list or a record is refused. */
const texts = byName(unknown()).transform((record, context) => {
	const named = Object.entries(record).map(([name, value]) => {
		if (!fieldNames.includes(name)) context.addIssue({
			code: "custom",
			message: wrongName(fieldNames)({ input: name })
		});
		else if (value !== null && typeof value === "object") context.addIssue({
			code: "custom",
			path: [name],
			message: expected("a text")({ input: value })
		});
		return [name, value === null ? "" : String(value)];
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
/** GitHub sends the pull request as it is at the event, so its last change is the label's. */
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
		case "edited": return changes?.base === void 0 ? nothing("Only another base is an edit that has anything measured.") : {
			kind: "revived",
			by
		};
		case "reopened":
		case "ready_for_review": return {
			kind: "revived",
			by
		};
		case "labeled": {
			if (label == null) return nothing("GitHub does not tell which label was put.");
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
	if (action === "created" && issue.pull_request == null && user !== null && asksToAccept(text)) return {
		kind: "acceptance",
		number: issue.number,
		id,
		by: user.login
	};
	if (action !== "created" || issue.pull_request == null || user === null || !isCall) return {
		kind: "nothing",
		why: `Only a new comment on a pull request that begins with ${callOnGithub} asks for anything.`
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
/** Only GitHub can push to a queue's branches, after a person with write access has queued a pull request. */
function fromMergeGroup({ action, merge_group }) {
	const { head_sha: head, head_ref, base_sha: base } = merge_group;
	const [, branch] = /^refs\/heads\/(gh-readonly-queue\/.+)$/.exec(head_ref) ?? [];
	if (action !== "checks_requested" || branch === void 0) return {
		kind: "nothing",
		why: "Only what a merge queue waits for is measured for it."
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
		why: `Only what is pushed to ${branch} is measured by itself.`
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
/** Bisects on a push or a schedule where the workflow's inputs name commits. */
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
/** @param onAdmission replaces admissions that another job carries out. */
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
	const calledByRequester = trigger.kind === "dispatched" ? namingStyles.input : namingStyles.comment;
	const priority = inputs.priority || (job.isRerun ? "rerun" : "");
	return {
		octokit,
		repositoryName: job.repository,
		repository,
		readConfig,
		commit: job.commit,
		readRevision: (trigger) => readRevision(trigger, context),
		nameOf(config, overrides) {
			const selectors = selectorsFor(config, overrides, inputs);
			const overridden = applyOverrides(config, overrides, calledByRequester);
			for (const selector of selectors) testbedsFor(overridden, selector);
			return gateNames(selectors)[0] ?? "ppsgate";
		},
		checkBisection(config, overrides) {
			const overridden = applyOverrides(config, overrides, calledByRequester);
			testbedsFor(overridden, bisectSelector(config, overrides, inputs));
		},
		calledAs: calledByRequester,
		priority: priority === "" ? void 0 : parsePriority(priority, namingStyles.input("priority"))
	};
}
/** Reports errors on the revision, too. */
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
/** Reacts to a command's comment before its execution; a failure is only logged. */
async function acknowledge(comment_id, { octokit, inputs }) {
	await octokit.request("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", {
		...placeOf(inputs.job.repository),
		comment_id,
		content: "eyes"
	}).catch((error) => log.info(`The command got no reaction (${error.message}).`));
}

export { acknowledge, admitAcceptance, admitEvent, exitCodeOf, triggerOf };