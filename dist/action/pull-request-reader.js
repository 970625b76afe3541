import { UsageError } from "../model/first-plain.js";
import { patchName, shortId } from "../model/first.js";
import { parseCommand } from "../forge/patch.js";
import { patchOfRange, patchOfTypedRange, withoutShortIds } from "../forge/patch/first.js";
import { looksLikeRevision } from "../forge/phabricator.js";
import { noticeName } from "./admission.js";
import { relayOf } from "./approved-request.js";
import { fetchPullRequest, findComment, mayWrite, numbersOf, ownLogin, pullRequestNumber, pullRequestsWithHead, readIssue } from "../forge/github.js";
import { changeIdIn, markerOf, readMemory } from "../publish/reporters.js";
import { authorize } from "../forge/patch/plain.js";

// src/action/admit.ts
/** Throws a `UsageError` for a patch that cannot be measured, and an Error if GitHub does not reply. */
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
			}, "A person with write access added it to the merge queue.", deps);
		}
		case "push": return admitted({
			patch: await pushed(trigger, deps.repository),
			purpose: "history",
			priority: "rerun"
		}, "Each push to the default branch is measured.", deps);
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
/** Without a usable commit before the push (a new branch, a forced push) only the last commit is measured. */
async function pushed({ before, after }, repository) {
	const isPresent = await repository.resolve(before).then(() => !/^0+$/.test(before), () => false);
	return patchOfRange(repository, `${isPresent ? before : `${after}^`}..${after}`);
}
async function requestedByButton({ by, button, headCommit, number }, deps) {
	const all = await deps.pullRequests.withHead(headCommit);
	const candidates = number === void 0 ? all : all.filter(({ pullRequest }) => pullRequest.number === number);
	const [found, ...more] = candidates;
	if (found === void 0) return {
		kind: "nothing",
		why: `No open pull request has the head ${headCommit}.`
	};
	if (more.length > 0) return {
		kind: "nothing",
		why: `${numbersOf(candidates)} have the head ${headCommit}: write /ppsgate rerun in the intended one.`
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
		why: "The comment is not a command."
	};
	const found = await deps.pullRequests.find(comment.number);
	if (command.kind === "help") return {
		kind: "help",
		pullRequest: found.pullRequest,
		why: ""
	};
	if (command.kind === "mistaken") return replyMistaken(command.why, comment, found, deps);
	return authorized({
		kind: "command",
		found,
		occasion: occasionOf(command, comment),
		command
	}, deps).catch((error) => {
		if (!(error instanceof UsageError)) throw error;
		return replyMistaken(error.message, comment, found, deps);
	});
}
function occasionOf(command, { by, at }) {
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
/** Replies only to people who may have the patch measured: text by strangers does not reach the pull request. */
async function replyMistaken(why, { by, at }, found, { pullRequests, readConfig }) {
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
		mayWrite: pullRequests.mayWrite
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
		const found = await deps.pullRequests.find(number);
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
	const all = await deps.pullRequests.withHead(commit);
	const [found, ...more] = all;
	if (more.length > 0) throw new UsageError(`patch: ${numbersOf(all)} have the head ${commit}: write /ppsgate run ${commit} in the intended one.`);
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
/** The relay has checked the diff's author. People who may start a job may have any diff measured. */
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
/**
* Allows more or fewer runs, profiles, and measuring an unchanged patch: none of these passes a patch that would
* otherwise fail.
*/
function withOverrides(occasion, overrides) {
	if (occasion.kind !== "commanded") return occasion;
	const { maxRuns: _, profile: __, measureAnyway: ___, ...deciding } = overrides;
	return {
		...occasion,
		isOtherwise: Object.keys(deciding).length > 0
	};
}
const memoryOf = async (found, deps) => (await rulesFor(found, {}, deps)).memory;
async function rulesFor({ pullRequest }, overrides, { pullRequests, readConfig, nameOf }) {
	const config = await readConfig(pullRequest.baseCommit);
	const { people, label } = config.github;
	const name = nameOf(config, overrides);
	const comment = await pullRequests.commentOf(pullRequest, name);
	const memory = comment === void 0 ? void 0 : readMemory(comment);
	return {
		config,
		rules: {
			people,
			label,
			mayWrite: pullRequests.mayWrite,
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
/** Trusts the marker in an issue of our own, for a person with write access. Throws if GitHub does not reply. */
async function admitAcceptance({ number, by }, { octokit, repositoryName: repository }) {
	const body = await readIssue({
		octokit,
		repository
	}, number, await ownLogin(octokit));
	const id = changeIdIn(body ?? "");
	if (id === void 0) return {
		kind: "nothing",
		why: `#${number} is not an issue that ppsgate opened for a change.`
	};
	if (!await mayWrite(octokit, repository, by)) return {
		kind: "nothing",
		why: `${by} has no write access to ${repository}, so the level is not accepted.`
	};
	return {
		kind: "accept",
		id,
		why: `${by} accepts the level of #${number}.`
	};
}

// src/action/pull-request-reader.ts
/** @param repository `owner/name` */
const readerOn = (octokit, repository) => ({
	async find(number) {
		const found = await fetchPullRequest(octokit, repository, number);
		if (found.kind === "failed") throw new Error(found.why);
		if (found.kind === "not-found") throw new UsageError(found.why);
		return found;
	},
	withHead: (commit) => pullRequestsWithHead(octokit, repository, commit),
	mayWrite: (login) => mayWrite(octokit, repository, login),
	commentOf: (pullRequest, name) => findComment(octokit, pullRequest, markerOf(name))
});

export { admit, admitAcceptance, readerOn };