import { UsageError, excerpt, patchName, shortId } from "../words.js";
import { datetime, int, looseObject, object, record, string, unknown } from "../vendor/zod.js";
import { askNames, askedAs, bisectAskNames, kebabCase } from "../config.js";
import { asksToAccept, authorize, callOnGithub, lineOfDiffs, ownEnds, parseCommand, patchOfRange, pinned } from "../patch.js";
import { looksLikeRevision } from "../phabricator.js";
import { changeIdIn, markerOf, pullRequestOfCheckRun, readMemory } from "../answer.js";
import { fetchPullRequest, findComment, mayWrite, numbersOf, ownLogin, pullRequestFromEvent, pullRequestNumber, pullRequestsWithHead, readIssue } from "../github.js";
import { requestSchema } from "./request.js";

// src/action/admit.ts
/** Name of the comment that answers commands: the one with the verdict is not for strangers to overwrite. */
const noticeName = "ppsgate notice";
/** Throws a `UsageError` for what cannot be measured however much leave there is, and where GitHub does not tell. */
async function admit(trigger, world) {
	switch (trigger.kind) {
		case "nothing": return trigger;
		case "pull-request": {
			const { found, occasion } = trigger;
			return admitPullRequest(found, occasion, {}, world);
		}
		case "comment": return admitComment(trigger, world);
		case "acceptance": return {
			kind: "nothing",
			why: "A level is accepted by a job with `command: accept`."
		};
		case "dispatched": return admitDispatched(trigger, world);
		case "button": return admitButton(trigger, world);
		case "queued": return admitQueued(trigger, world);
		case "push": return go(await pushed(trigger, world.repository), {}, world, "What is pushed to the default branch is measured.", "history");
		case "schedule": {
			const { commit } = trigger;
			return go(await patchOfRange(world.repository, `${commit}..${commit}`), {}, world, "The head of the default branch is measured against itself.", "nightly");
		}
	}
}
/** Believes the marker of an issue that is our own, from somebody who may write. Throws where GitHub does not tell. */
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
async function admitButton({ by, button, headCommit, number }, world) {
	const all = await pullRequestsWithHead(world.octokit, world.repositoryName, headCommit);
	const meant = number === void 0 ? all : all.filter(({ pullRequest }) => pullRequest.number === number);
	const [found, ...more] = meant;
	if (found === void 0) return {
		kind: "nothing",
		why: `No open pull request has the head ${headCommit}.`
	};
	if (more.length > 0) return {
		kind: "nothing",
		why: `${numbersOf(meant)} have the head ${headCommit}: write /ppsgate rerun at the one that is meant.`
	};
	return admitAgain(found, {
		kind: "pressed",
		by,
		commit: headCommit
	}, { kind: button }, world);
}
async function admitComment(comment, world) {
	const command = parseCommand(comment.text);
	if (command === void 0) return {
		kind: "nothing",
		why: "The comment is no command."
	};
	const found = await fetched(comment.number, world);
	if (command.kind === "help") return {
		kind: "help",
		pullRequest: found.pullRequest,
		why: ""
	};
	if (command.kind === "mistaken") return mistaken(command.why, comment, found, world);
	return admitCommand(command, comment, found, world).catch((error) => {
		if (!(error instanceof UsageError)) throw error;
		return mistaken(error.message, comment, found, world);
	});
}
async function admitCommand(command, { by, at }, found, world) {
	const { pullRequest } = found;
	if (command.kind === "cancel") {
		const { config, rules } = await rulesFor(found, {}, world);
		const { kind, why } = await authorize({
			kind: "cancelled",
			by
		}, found, rules);
		return kind === "allowed" ? {
			kind: "cancel",
			pullRequest,
			why
		} : {
			kind: "refused",
			pullRequest,
			config,
			name: noticeName,
			why,
			what: "not cancelled"
		};
	}
	const named = command.commit === void 0 ? {} : { commit: command.commit };
	if (command.kind === "bisect") return bisectPullRequest(command, {
		kind: "bisected",
		by,
		at,
		areNamed: command.ask.good !== void 0,
		...named
	}, found, world);
	const occasion = {
		kind: "commanded",
		by,
		at,
		...named
	};
	return command.kind === "run" ? admitPullRequest(found, {
		...occasion,
		...otherwise(command.ask)
	}, command.ask, world) : admitAgain(found, occasion, command, world);
}
/** Only who may have it measured is told what is wrong: what others write is for nobody at the patch to read. */
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
/**
* More or fewer runs, profiles, several testbeds at once, and what need not be measured at all, never pass what would not
* be passed.
*/
const otherwise = ({ maxRuns: _, profile: __, measureAnyway: ___, split: ____, ...held }) => ({ isOtherwise: Object.keys(held).length > 0 });
async function admitDispatched(trigger, world) {
	const { by, patch: name, ask, bisect } = trigger;
	if (bisect !== void 0) return bisectDispatched(bisect, trigger, world);
	if (looksLikeRevision(name)) return admitRevision(trigger, world);
	const occasion = {
		kind: "dispatched",
		by
	};
	const number = /^\d{7,}$/.test(name) ? void 0 : pullRequestNumber(name);
	if (number !== void 0) return admitPullRequest(await fetched(number, world), occasion, ask, world);
	if (/^.+\.\..+$/.test(name)) return go(await patchOfRange(world.repository, name), ask, world, `${by} started it.`, "patch");
	if (!/^[0-9a-f]{7,64}$/.test(name)) throw new UsageError(`patch: expected a pull request like #123, a revision like D27401, a commit or a range like main..my-branch, found "${name}".`);
	const commit = await world.repository.resolve(name);
	const all = await pullRequestsWithHead(world.octokit, world.repositoryName, commit);
	const [found, ...more] = all;
	if (more.length > 0) throw new UsageError(`patch: ${numbersOf(all)} have the head ${commit}: write /ppsgate run ${shortId(commit)} at the one that is meant.`);
	if (found !== void 0) return admitPullRequest(found, {
		...occasion,
		commit
	}, ask, world);
	return go(await patchOfRange(world.repository, `${commit}^..${commit}`), ask, world, `${by} started it.`, "patch");
}
/** A relay has looked whose diff it is, and people who may start a job may have any measured. */
async function admitRevision(trigger, world) {
	const { by, ask } = trigger;
	const { patch, config } = await world.readRevision(trigger);
	return {
		kind: "go",
		request: {
			patch,
			ask,
			priority: world.priority ?? "patch",
			purpose: "patch",
			revisionAnswer: answerOf(trigger)
		},
		config,
		why: `${by} started it for ${patchName(patch)}.`
	};
}
function answerOf({ key, build }) {
	const { data, error } = requestSchema.shape.revisionAnswer.safeParse({
		key,
		build
	});
	if (error === void 0) return data;
	const names = error.issues.map(({ path }) => path.join(".")).join(" and ");
	throw new UsageError(`client_payload: ${names} is none that a relay gives.`);
}
async function bisectPullRequest({ ask }, occasion, found, world) {
	const { pullRequest } = found;
	const { config, rules } = await rulesFor(found, {}, world);
	const leave = await authorize(occasion, found, rules);
	if (leave.kind !== "allowed") {
		const { why } = leave;
		return {
			kind: "refused",
			pullRequest,
			config,
			name: noticeName,
			why,
			what: "no bisection"
		};
	}
	return goBisect({
		ask,
		patch: pullRequest,
		config,
		why: leave.why
	}, world);
}
/** At a pull request, at a revision, or at no patch at all: people who may start a job may have any commits bisected. */
async function bisectDispatched(command, trigger, world) {
	const { by, patch: name } = trigger;
	const { ask, commit } = command;
	const areNamed = Boolean(ask.good && ask.bad);
	const why = `${by} started it.`;
	if (looksLikeRevision(name)) {
		const earlier = areNamed ? "none" : "all";
		const { patch, config } = await world.readRevision({
			...trigger,
			ask: { earlier }
		});
		return goBisect({
			ask,
			patch,
			config,
			why,
			revisionAnswer: answerOf(trigger)
		}, world);
	}
	const number = pullRequestNumber(name);
	if (number !== void 0) {
		const found = await fetched(number, world);
		const seen = areNamed ? found.pullRequest.headCommit : commit;
		return bisectPullRequest(command, {
			kind: "dispatched",
			by,
			...seen && { commit: seen }
		}, found, world);
	}
	if (!areNamed && !name.includes("..")) throw new UsageError("A bisection needs a good commit and a bad one, or a patch whose commits it is of: a pull request like #123, a revision like D27401, or a range like main..my-branch.");
	const { good, bad } = await pinned(ask, world.repository, world.calledAs);
	const range = areNamed ? `${good}..${bad}` : name;
	return goBisect({
		ask,
		patch: await patchOfRange(world.repository, range),
		config: await world.readConfig(world.commit),
		why
	}, world);
}
/** Fixes the commits and the cell. */
async function goBisect({ ask: asked, patch, config, why, revisionAnswer }, world) {
	const { repository, calledAs } = world;
	const ask = await pinned(asked, repository, calledAs);
	const { good, bad, scenarios, families, ...rest } = ask;
	if (!good !== !bad) throw new UsageError(`${calledAs(good ? "bad" : "good")} is missing: a bisection has both ends.`);
	const { cellFor } = await import("./bisect-cell.js");
	const cell = await cellFor({
		scenarios,
		families
	}, patch, config, world);
	world.checkBisection(config, {
		...ask,
		scenarios: cell.scenario,
		families: cell.family
	});
	return {
		kind: "bisect",
		request: {
			command: "bisect",
			patch,
			...good && bad ? {
				good,
				bad
			} : patch.kind === "revision" ? await lineOfDiffs(patch, repository) : await ownEnds(patch, repository),
			isOwn: !good,
			cell,
			ask: rest,
			priority: world.priority ?? "patch",
			...revisionAnswer && { revisionAnswer }
		},
		config,
		why
	};
}
async function admitPullRequest(found, occasion, ask, world) {
	const { pullRequest } = found;
	const { config, rules, name: ownName } = await rulesFor(found, ask, world);
	const leave = await authorize(occasion, found, rules);
	if (leave.kind === "ignored") return {
		kind: "nothing",
		why: leave.why
	};
	const name = occasion.kind === "pushed" || occasion.kind === "revived" ? ownName : noticeName;
	if (leave.kind === "refused") return {
		kind: "refused",
		pullRequest,
		config,
		name,
		why: leave.why
	};
	return {
		kind: "go",
		request: {
			patch: pullRequest,
			ask,
			priority: world.priority ?? "patch",
			purpose: "patch"
		},
		config,
		why: leave.why
	};
}
/** The same once more, as it was asked for last; or on with it, where it has stayed open. */
async function admitAgain(found, occasion, command, world) {
	const { memory } = await rulesFor(found, {}, world);
	const ask = memory?.ask ?? {};
	const admission = await admitPullRequest(found, occasion.kind === "commanded" ? {
		...occasion,
		...otherwise(ask)
	} : occasion, ask, world);
	if (admission.kind !== "go") return admission;
	const request = {
		...admission.request,
		priority: world.priority ?? "rerun"
	};
	if (command.kind === "rerun") return {
		...admission,
		request
	};
	const { pullRequest } = found;
	const { last } = memory ?? {};
	if (last?.headCommit !== pullRequest.headCommit) return {
		kind: "mistaken",
		pullRequest,
		why: `There is no experiment to extend for ${shortId(pullRequest.headCommit)}: write /ppsgate run first.`
	};
	const { maxRuns } = command;
	const extend = {
		run: last.run,
		...maxRuns !== void 0 && { maxRuns }
	};
	return {
		...admission,
		request: {
			...request,
			extend
		}
	};
}
async function go(patch, ask, world, why, purpose) {
	const config = await world.readConfig(patch.baseCommit);
	return {
		kind: "go",
		request: {
			patch,
			ask,
			priority: world.priority ?? (purpose === "patch" ? "patch" : "rerun"),
			purpose
		},
		config,
		why
	};
}
/** Others wait for a queue as long as it waits, so it comes before patches. */
async function admitQueued({ branch, base, head }, world) {
	const patch = await patchOfRange(world.repository, `${base}..${head}`);
	const config = await world.readConfig(base);
	return {
		kind: "go",
		request: {
			patch,
			ask: {},
			purpose: "patch",
			queue: branch,
			priority: world.priority ?? "release"
		},
		config,
		why: "Somebody who may write has put it into the merge queue."
	};
}
async function rulesFor({ pullRequest }, ask, { octokit, repositoryName, readConfig, nameOf }) {
	const config = await readConfig(pullRequest.baseCommit);
	const { people, label } = config.github;
	const name = nameOf(config, ask);
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
				since: memory.since
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
/** What was there before may be nothing, or be gone after a forced push. */
async function pushed({ before, after }, repository) {
	const isKnown = await repository.resolve(before).then(() => !/^0+$/.test(before), () => false);
	return patchOfRange(repository, `${isKnown ? before : `${after}^`}..${after}`);
}

// src/action/trigger.ts
/**
* Reads the payload of an event; throws a `UsageError` for one that ppsgate does nothing with, or that is not as GitHub
* describes it.
*
* @param event.commit that the job runs at, as in `GITHUB_SHA`.
* @param asked what the workflow passes as inputs: it counts where the payload has none.
*/
function triggerOf(event, asked) {
	switch (event.name) {
		case "pull_request":
		case "pull_request_target": return fromPullRequest(event);
		case "issue_comment": return fromComment(read(event, commentPayload));
		case "workflow_dispatch": {
			const { sender: by, inputs } = read(event, object({
				sender,
				inputs: texts.nullish()
			}));
			return fromTexts(by, {
				...inputs,
				...given(asked)
			});
		}
		case "repository_dispatch": {
			const { sender: by, client_payload } = read(event, object({
				sender,
				client_payload: texts.nullish()
			}));
			return fromTexts(by, {
				...given(asked),
				...client_payload
			});
		}
		case "check_run": return fromButton(read(event, checkRunPayload));
		case "merge_group": return fromMergeGroup(read(event, mergeGroupPayload));
		case "push":
		case "schedule":
			if (bisectIn({}, withoutEmpty({ ...asked.bisectAsk })) !== void 0) {
				const { sender: by } = read(event, object({ sender }));
				return fromTexts(by, given(asked));
			}
			return event.name === "push" ? fromPush(read(event, pushPayload)) : {
				kind: "schedule",
				commit: event.commit
			};
		default: throw new UsageError(`The event ${event.name} names nothing to gate: run ppsgate on pull_request, pull_request_target, issue_comment, check_run, merge_group, workflow_dispatch, repository_dispatch, schedule or push.`);
	}
}
const sender = object({ login: string() }).default({ login: "somebody" });
/** What people and programs pass by name; anything else in there is none of ours. */
const texts = record(string(), unknown()).transform((record) => {
	const named = Object.entries(record).flatMap(([name, value]) => typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : []);
	return Object.fromEntries(named);
});
function read(event, schema) {
	const parsed = schema.safeParse(event.payload);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const where = issue?.path.join(".") || "its top";
	throw new UsageError(`The payload of the event ${event.name} is not as GitHub describes it, at ${where}: ${issue?.message}.`);
}
const pullRequestPayload = object({
	action: string(),
	sender,
	label: object({ name: string() }).nullish(),
	changes: object({ base: looseObject({}).optional() }).nullish()
});
function fromPullRequest(event) {
	const payload = read(event, pullRequestPayload);
	const { action } = payload;
	if (action === "labeled" && payload.label == null) return {
		kind: "nothing",
		why: "GitHub does not tell which label was put."
	};
	if (action === "edited" && payload.changes?.base === void 0) return {
		kind: "nothing",
		why: "Only another base is an edit that has anything measured."
	};
	const occasion = occasionOf(event, payload);
	if (occasion === void 0) return {
		kind: "nothing",
		why: `Nothing is measured when a pull request is ${action}.`
	};
	const found = pullRequestFromEvent(event.name, event.payload);
	if (found.kind !== "found") throw new UsageError(found.why);
	return {
		kind: "pull-request",
		found,
		occasion
	};
}
/** GitHub sends with each event the pull request as it is then, so a label was put when that was changed last. */
const labelledPayload = object({ pull_request: object({ updated_at: datetime() }) });
function occasionOf(event, { action, sender: { login: by }, label }) {
	switch (action) {
		case "opened":
		case "synchronize": return {
			kind: "pushed",
			by
		};
		case "reopened":
		case "ready_for_review":
		case "edited": return {
			kind: "revived",
			by
		};
		case "labeled": {
			const { updated_at: at } = read(event, labelledPayload).pull_request;
			return {
				kind: "labelled",
				by,
				at,
				label: label?.name ?? ""
			};
		}
		default: return;
	}
}
const commentPayload = object({
	action: string(),
	issue: object({
		number: int().positive(),
		pull_request: object({}).nullish()
	}),
	comment: object({
		id: int(),
		body: string().nullish(),
		created_at: datetime(),
		user: object({ login: string() }).nullable()
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
function fromTexts({ login: by }, asked) {
	const { patch = "", key, build } = asked;
	const named = (names) => withoutEmpty(Object.fromEntries(names.map((name) => [name, asked[kebabCase(name)]])));
	const bisect = bisectIn(asked, named(bisectAskNames));
	return {
		kind: "dispatched",
		by,
		patch: patch.trim(),
		ask: named(askNames),
		...bisect && { bisect },
		...withoutEmpty({
			key,
			build
		})
	};
}
/** What is asked, in the words of a comment or by inputs of their own. */
function bisectIn({ instead }, ask) {
	if (!instead) return ask.good || ask.bad ? {
		kind: "bisect",
		ask
	} : void 0;
	const command = parseCommand(`${callOnGithub} ${instead}`);
	if (command?.kind === "bisect") return {
		...command,
		ask: {
			...ask,
			...command.ask
		}
	};
	const what = command?.kind === "mistaken" ? command.why : `expected words like bisect GOOD BAD forwarding inet4, found "${excerpt(instead)}"`;
	throw new UsageError(`instead: ${what}.`);
}
const given = ({ patch, ask, bisectAsk }) => withoutEmpty({
	patch,
	...askedAs({
		...bisectAsk,
		...ask
	}, kebabCase)
});
const withoutEmpty = (texts) => Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => text ? [[name, text]] : []));
const commit = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a full commit id");
const checkRunPayload = object({
	action: string(),
	sender,
	check_run: object({
		head_sha: commit,
		name: string(),
		external_id: string().nullish()
	}),
	requested_action: object({ identifier: string().optional() }).nullish()
});
function fromButton(payload) {
	const { action, sender, check_run, requested_action } = payload;
	const pressed = action === "requested_action" ? requested_action?.identifier : void 0;
	const asked = action === "rerequested" ? "rerun" : pressed;
	if (!(check_run.name === "ppsgate" || check_run.name.startsWith("ppsgate: ")) || asked !== "rerun" && asked !== "extend") return {
		kind: "nothing",
		why: "Only the buttons of the check of ppsgate ask for anything."
	};
	const number = pullRequestOfCheckRun(check_run.external_id ?? "");
	return {
		kind: "button",
		by: sender.login,
		button: asked,
		headCommit: check_run.head_sha,
		...number !== void 0 && { number }
	};
}
const mergeGroupPayload = object({
	action: string(),
	merge_group: object({
		head_sha: commit,
		head_ref: string(),
		base_sha: commit
	})
});
/** Only GitHub can push to a queue's branches, and does so when somebody who may write has a pull request queued. */
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
	ref: string(),
	before: commit,
	after: commit,
	repository: object({ default_branch: string() })
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

export { admit, admitAcceptance, noticeName, triggerOf };