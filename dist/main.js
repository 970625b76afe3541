import { n as __require, t as __commonJSMin } from "./rolldown-runtime.js";
import { a as runToExit, i as exitCodes, o as worstExitCode } from "./exit2.js";
import { n as parseConfig } from "./load.js";
import { a as parseMaxRuns, n as applyOverrides, o as parsePriority, t as UsageError } from "./overrides.js";
import { t as datetime } from "./iso.js";
import { r as openConduit } from "./conduit.js";
import { n as phabricatorOf } from "./phabricator-login.js";
import { r as openRepository } from "./repository.js";
import { c as answering, d as endingOfFailure, f as endingOfResult, g as secondsFor, h as placeInLine, i as callOnGithub, l as cancelled, m as linkedAfterwards, o as parseCommand, s as newestTeller, u as endingOfError, v as together } from "./harbormaster.js";
import { _ as markerOf, a as openAnswerText, b as pullRequestOfCheck, c as fileOf, d as requestText, f as subjectOf, g as composeComment, h as openComment, i as leaseState, l as readRequest, m as readInputs, o as failureOf, p as readEvent, r as labState, s as failureSchema, t as answerState, u as requestSchema, v as readMemory, x as standsForAnother, y as openCheck } from "./clean-up.js";
import { a as githubFailure, i as publishComment, n as findComment, o as isBreakdown, r as ownLogin, t as createOctokit } from "./github.js";
import { r as reasonOf } from "./one-line.js";
import { c as resultSchema, d as patchName } from "./result.js";
import { n as codeSpan } from "./escape.js";
import { c as parseRevisionName, f as openRevisionAnswer, n as patchOfRevision, o as findRevision, r as restoreRevision, t as parseEarlier } from "./revision.js";
import { a as wishesOf, i as testbedsFor } from "./inventory.js";
import { a as setOutput, c as summary, i as saveState, n as log, r as mask } from "./log.js";
import { t as withoutPaths } from "./without-paths.js";
import { n as resumeGate, r as patchOfRange, t as gate } from "./gate.js";
import { t as openReservations } from "./controller.js";
import { a as historyFile, t as baseNumbers } from "./history.js";
import { c as readPlan, n as designOf, o as policyOf, s as randomSeed, t as cellsOf } from "./plan.js";
import { r as readyMachine } from "./requirements.js";
import { n as showProgress } from "./progress.js";
import { a as historyPath, c as parseHistory, i as emptyIndex, l as parseIndex, o as indexPath, s as nextFiles, t as linkTo } from "./data-links.js";
import { N as headline, P as outcomeName } from "./markdown.js";
import { a as withReasons, i as readProfiles, n as explained } from "./read2.js";
import { t as replaceFile } from "./write.js";
import { n as isJudged, t as diffName } from "./variant-name.js";
import { c as formatPercent } from "./format.js";
import { A as url, C as object, E as string, T as record, k as unknown, t as cellName, x as looseObject, y as int } from "./scenario.js";
import { n as lookSizes } from "./design.js";
import { i as evidenceAt, l as standings, s as isEnough } from "./standing.js";
import { a as worstVerdict, n as cellResult } from "./assemble.js";
import { dirname, join, relative, sep } from "node:path";
import { isUtf8 } from "node:buffer";
import { crc32, inflateRawSync } from "node:zlib";
import { copyFile, mkdir, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

// src/patch/github.ts
/** The pull request of a `pull_request` or `pull_request_target` event: `payload` is the JSON in the file `GITHUB_EVENT_PATH`. */
function pullRequestFromEvent(eventName, payload) {
	const event = object({ pull_request: pullRequestDocument }).safeParse(payload);
	if (event.success) return found(event.data.pull_request);
	return {
		kind: "not-found",
		why: misread(`The payload of the ${eventName} event`, event.error)
	};
}
/** The pull request that a person typed as `#123` or `123`, or undefined where it is neither. */
function pullRequestNumber(input) {
	const [, digits] = /^#?([1-9]\d{0,9})$/.exec(input.trim()) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
/** Pull request `number` as it is at this moment in `repository`, an `owner/name`. */
async function fetchPullRequest(octokit, repository, number) {
	const [owner = "", repo = ""] = repository.split("/");
	try {
		const { data } = await octokit.rest.pulls.get({
			owner,
			repo,
			pull_number: number
		});
		const document = pullRequestDocument.safeParse(data);
		if (document.success) return found(document.data);
		return {
			kind: "failed",
			why: misread(`GitHub's answer for #${number}`, document.error)
		};
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return notFetched(failure, `#${number} of ${repository}`);
	}
}
/** The open pull requests whose head is this very commit; throws where GitHub does not tell. */
async function pullRequestsWithHead(octokit, repository, headCommit) {
	const [owner = "", repo = ""] = repository.split("/");
	const list = () => octokit.paginate(octokit.rest.repos.listPullRequestsAssociatedWithCommit, {
		owner,
		repo,
		commit_sha: headCommit,
		per_page: 100
	});
	return openWithHead(await told(list, `which pull requests have ${headCommit}`), headCommit);
}
/** The same by the branch of a fork, which needs no such commit in the repository itself. */
async function pullRequestsOfBranch(octokit, repository, head) {
	const [owner = "", repo = ""] = repository.split("/");
	const list = () => octokit.paginate(octokit.rest.pulls.list, {
		owner,
		repo,
		state: "open",
		head: `${head.owner}:${head.branch}`,
		per_page: 100
	});
	return openWithHead(await told(list, `which pull requests ${head.owner}:${head.branch} has`), head.commit);
}
function openWithHead(documents, headCommit) {
	return documents.filter(({ state }) => state === "open").flatMap((document) => pullRequestDocument.safeParse(document).data ?? []).map(found).filter(({ pullRequest }) => pullRequest.headCommit === headCommit);
}
/** `#7 and #9`, for a message that asks which of them is meant. */
const numbersOf = (all) => all.map(({ pullRequest }) => `#${pullRequest.number}`).join(" and ");
/** Whether GitHub lets this person write to the repository; throws where GitHub does not tell. */
async function mayWrite(octokit, repository, login) {
	const [owner = "", repo = ""] = repository.split("/");
	const ask = async () => {
		try {
			const { repos } = octokit.rest;
			const { data } = await repos.getCollaboratorPermissionLevel({
				owner,
				repo,
				username: login
			});
			return data.permission;
		} catch (error) {
			const failure = githubFailure(error);
			if (failure?.kind === "answered" && failure.status === 404) return "none";
			throw error;
		}
	};
	return ["admin", "write"].includes(await told(ask, `what ${login} may do`));
}
async function told(ask, what) {
	try {
		return await ask();
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		throw new Error(`GitHub did not tell ${what} (${failure.said}): run the job again.`);
	}
}
/** Forty digits, or 64 in a repository that uses SHA-256. */
const commit$1 = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a full commit id");
/** What is used of the JSON that events and the REST API have in common. */
const pullRequestDocument = object({
	number: int().positive(),
	title: string(),
	html_url: url(),
	/** Null where the account was deleted, which GitHub then calls "ghost". */
	user: object({ login: string() }).nullable(),
	base: object({
		ref: string(),
		sha: commit$1,
		repo: object({ full_name: string() })
	}),
	head: object({
		sha: commit$1,
		repo: object({ full_name: string() }).nullable()
	})
});
function found(document) {
	return {
		kind: "found",
		pullRequest: {
			kind: "pull-request",
			repository: document.base.repo.full_name,
			number: document.number,
			title: document.title,
			author: document.user?.login ?? "ghost",
			url: document.html_url,
			baseBranch: document.base.ref,
			baseCommit: document.base.sha,
			headCommit: document.head.sha
		},
		headRepository: document.head.repo?.full_name ?? null
	};
}
function misread(what, error) {
	const [issue] = error.issues;
	return `${what} is not as GitHub describes it, at ${issue?.path.join(".") || "its top"}: ${issue?.message}.`;
}
function notFetched(failure, pullRequest) {
	if (failure.kind === "answered" && failure.status === 404) return {
		kind: "not-found",
		why: `There is no pull request ${pullRequest}, or the token may not see it: check the number, and that the job has \`pull-requests: read\`.`
	};
	return {
		kind: "failed",
		why: `GitHub did not tell what pull request ${pullRequest} is (${failure.said}): run the job again.`
	};
}

// src/publish/one-base.ts
/**
* The same answer on the head commit, which fails instead of passing where an open pull request with this head goes to
* another branch than the one that the patch was measured for; its own too, when it was sent elsewhere meanwhile.
*/
function forOneBase(octokit, patch, answer) {
	let elsewhere;
	const bound = (ending) => elsewhere === void 0 ? ending : withoutPass(ending, elsewhere);
	return {
		...answer,
		async ended(ending) {
			if (mayPass(ending)) elsewhere = await goesElsewhere(octokit, patch);
			await answer.ended(bound(ending));
		},
		linked: (ending) => answer.linked(bound(ending))
	};
}
/** A branch rule takes a check that is neutral for a pass. */
const mayPass = ({ exitCode }) => exitCode === exitCodes.pass || exitCode === exitCodes.undecided;
async function goesElsewhere(octokit, patch) {
	const { repository, headCommit, baseBranch } = patch;
	try {
		const elsewhere = (await pullRequestsWithHead(octokit, repository, headCommit)).find(({ pullRequest }) => pullRequest.baseBranch !== baseBranch);
		if (elsewhere === void 0) return void 0;
		const { number, baseBranch: branch = "" } = elsewhere.pullRequest;
		const goes = number === patch.number ? "goes" : "has the same head and goes";
		return {
			title: "this commit goes to another branch",
			why: `${patchName(patch)} was measured for ${codeSpan(baseBranch ?? "another branch")}, and #${number} ${goes} to ${codeSpan(branch)}: a commit has one check for all of them. Close the other, or push to one of them, and write \`/ppsgate rerun\` at the one that is to be merged.`
		};
	} catch (error) {
		return {
			title: "GitHub did not tell where this commit goes",
			why: `Nobody can say whether another pull request has this commit: ${codeSpan(reasonOf(error), 500)} Write \`/ppsgate rerun\`.`
		};
	}
}
const withoutPass = (ending, { title, why }) => ({
	...ending,
	exitCode: exitCodes.usage,
	title: `⚪ does not count: ${title}`,
	summary: `${why}\n\n${ending.summary}`
});

// src/publish/status.ts
/** A status knows no neutral: where nobody can say, it fails. */
function openStatus(octokit, subject, options) {
	const { name, detailsUrl } = options;
	const [owner = "", repo = ""] = subject.repository.split("/");
	const put = async ({ state, description }) => {
		try {
			await octokit.rest.repos.createCommitStatus({
				owner,
				repo,
				sha: subject.patch.headCommit,
				state,
				description: plain(description),
				context: name,
				target_url: detailsUrl
			});
			return { kind: "told" };
		} catch (error) {
			return notTold(error);
		}
	};
	const teller = newestTeller(put, {
		...options,
		secondsBetween: 60,
		tooSlow
	});
	return {
		waiting: (outlook) => teller.tell({
			state: "pending",
			description: placeInLine(outlook)
		}),
		queued: (text) => teller.tell({
			state: "pending",
			description: text
		}),
		measuring: (testbed) => teller.tell({
			state: "pending",
			description: `measuring on ${testbed}`
		}),
		ended(ending) {
			const { exitCode, title } = ending;
			const state = states[exitCode] ?? "error";
			return teller.tellLast({
				state,
				description: title
			}, secondsFor(ending));
		},
		linked: async () => {},
		left: teller.left
	};
}
/** GitHub's own limit for a description. */
const mostCharacters = 140;
/** GitHub refuses a description with characters of four bytes, as most emoji are; the state has a colour of its own. */
const plain = (description) => description.replace(/[\u{10000}-\u{10ffff}]/gu, "").trim().slice(0, mostCharacters);
const states = {
	[exitCodes.pass]: "success",
	[exitCodes.patchAtFault]: "failure",
	[exitCodes.undecided]: "failure"
};
const tooSlow = (seconds) => `The commit status may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the status is required.`;
function notTold(error) {
	const what = "The commit status does not show how things stand";
	const failure = githubFailure(error);
	if (failure === void 0) return {
		kind: "refused",
		why: `${what} (${reasonOf(error)}).`
	};
	const why = `${what} (${failure.said}): give the job \`permissions: statuses: write\`, or set github.status to false.`;
	return {
		kind: failure.kind === "answered" && failure.status < 500 ? "refused" : "failed",
		why
	};
}

// src/action/job.ts
/** A revision is made for whatever its author had, so for it the configuration is that of the branch that the job runs on. */
const configCommitOf = (patch, { job }) => patch.kind === "revision" ? job.commit : patch.baseCommit;
async function openJob() {
	const inputs = readInputs(process.env);
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
* For a private repository, whose checkout leaves no credentials behind: by the environment, where nobody else sees
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
const wishesFor = (config, ask, { testbed, each }) => wishesOf(config, ask.testbed ? { testbed: ask.testbed } : {
	testbed,
	each
});
/** What the comment and the check of each gate are called. */
const gateNames = (wishes) => wishes.length === 1 ? ["ppsgate"] : wishes.map((wish) => `ppsgate: ${wish}`);
/** Where people look for how a gate goes; nobody waits for what is measured at night. */
async function answerFor(context, { patch, ask, purpose, revisionAnswer }, config, { name, runId, isOpen = false, keepComment }) {
	if (purpose === "nightly") return together([]);
	if (patch.kind === "revision") return answerOnPhabricator(context, config, patch, {
		name,
		runId,
		...revisionAnswer
	});
	const undecided = purpose === "history" ? "neutral" : config.github.undecided;
	const marks = await marksFor(context, patch, {
		...config.github,
		undecided
	}, {
		name,
		runId,
		isOpen
	});
	if (patch.kind !== "pull-request") return marks;
	const comment = openComment(context.octokit, patch, {
		name,
		run: runId,
		ask,
		detailsUrl: runUrl(context.inputs.job, runId),
		log,
		now: () => /* @__PURE__ */ new Date(),
		...keepComment && { keep: keepComment }
	});
	return together([marks, comment]);
}
/** What stands on the head commit: the check, and at a pull request the status where it is asked for. */
async function marksFor({ octokit, inputs: { job } }, patch, { undecided, status }, { name, runId, isOpen = false }) {
	const subject = {
		repository: patch.kind === "pull-request" ? patch.repository : job.repository,
		patch
	};
	const shared = {
		name,
		detailsUrl: runUrl(job, runId),
		log,
		now: () => /* @__PURE__ */ new Date()
	};
	const hasButtons = await ownLogin(octokit).catch(() => workflowsOwn) !== workflowsOwn;
	const check = openCheck(octokit, subject, {
		...shared,
		undecided,
		isOpen,
		hasButtons
	});
	if (patch.kind !== "pull-request") return together([check]);
	const marks = [check, ...status ? [openStatus(octokit, subject, shared)] : []];
	return forOneBase(octokit, patch, together(marks));
}
/** Of the gate, and of what kept it from being one; `key` and `build` are those of a relay. */
function answerOnPhabricator(context, config, revision, { name, runId, key, build }) {
	const { conduit, config: phabricator } = revisionWorldOf(context, config);
	const run = key ?? `${runId}`;
	return openRevisionAnswer(conduit, revision, {
		run: name === "ppsgate" ? run : `${run} ${name.replace(/^ppsgate: /, "")}`,
		takesCommands: key !== void 0,
		details: runUrl(context.inputs.job, runId),
		undecided: phabricator.undecided,
		log,
		...build !== void 0 && { build }
	});
}
const runUrl = ({ serverUrl, repository }, runId) => `${serverUrl}/${repository}/actions/runs/${runId}`;
const workflowsOwn = "github-actions[bot]";

// src/patch/authorize.ts
/**
* Decides for the head as `found` has it, and for no other: a later push needs leave again. What somebody does at the
* pull request of a fork is leave for what he can have seen: the commit that he names, or a head that was known before.
*/
async function authorize(occasion, found, rules) {
	const { number, repository, headCommit, author } = found.pullRequest;
	const { by } = occasion;
	const isKnown = async (login) => rules.people.some((person) => person.toLowerCase() === login.toLowerCase()) || await rules.mayWrite(login);
	const isOurs = found.headRepository === repository;
	switch (occasion.kind) {
		case "labelled":
			if (occasion.label !== rules.label) return {
				kind: "ignored",
				why: `The label is not "${rules.label}".`
			};
			if (!await rules.mayWrite(by)) return stranger(by, found);
			if (!isOurs && !isSeen(occasion.at, headCommit, rules.seen)) return {
				kind: "refused",
				why: unseenLabel(headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may write to ${repository}, put the label ${rules.label} on #${number} at ${short(headCommit)}.`
			};
		case "pushed":
		case "revived":
			if (isOurs) return {
				kind: "allowed",
				why: `The head of #${number} is in ${repository} itself, where only people with write permission can push.`
			};
			for (const login of /* @__PURE__ */ new Set([author, by])) if (!await isKnown(login)) return fromElsewhere(found, rules.label);
			if (occasion.kind === "revived" && !rules.measured.includes(headCommit)) return fromElsewhere(found, rules.label);
			return {
				kind: "allowed",
				why: `${author}, the author of #${number}, may have patches measured in ${repository}.`
			};
		case "commanded": {
			if (!await isKnown(by)) return stranger(by, found);
			if (occasion.isOtherwise && !await rules.mayWrite(by)) return asConfigured(by, found);
			const gap = isOurs ? void 0 : whyUnseen(occasion, headCommit, rules.seen);
			if (gap !== void 0) return {
				kind: "refused",
				why: gap
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, asked for #${number} at ${short(headCommit)}.`
			};
		}
		case "pressed":
		case "dispatched": {
			const { kind, commit } = occasion;
			if (commit !== void 0 && commit !== headCommit) return {
				kind: "refused",
				why: isOlder(commit, headCommit)
			};
			if (kind === "pressed" && !await isKnown(by)) return stranger(by, found);
			if (commit === void 0 && !isOurs) return {
				kind: "refused",
				why: unnamed(number, headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, started it for #${number} at ${short(headCommit)}.`
			};
		}
	}
}
/** The clocks of GitHub and of a runner may differ by so much. */
const clockSeconds = 10;
function whyUnseen({ at, commit }, headCommit, seen) {
	if (commit !== void 0) return headCommit.startsWith(commit) ? void 0 : isOlder(commit, headCommit);
	if (isSeen(at, headCommit, seen)) return void 0;
	return `The head is ${short(headCommit)}, and may have been pushed after the command was written: read it, and write /ppsgate run ${short(headCommit)}.`;
}
const isSeen = (at, headCommit, seen) => seen?.headCommit === headCommit && Date.parse(seen.since) + clockSeconds * 1e3 < Date.parse(at);
const unseenLabel = (headCommit) => `The head is ${short(headCommit)}, and may have been pushed after the label was put: read it, and then write /ppsgate run ${short(headCommit)}, or take the label off and put it on again.`;
/** When a run was started GitHub does not tell it. */
const unnamed = (number, headCommit) => `The head of #${number} is ${short(headCommit)}, and may have been pushed after the run was started: read it, and start one with ${headCommit} in place of #${number}.`;
const isOlder = (commit, headCommit) => `The head is ${short(headCommit)} and no longer ${short(commit)}: read it, and ask again.`;
const stranger = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: #${number} runs on the testbed when somebody who may write to ${repository} asks for it.`
});
/** A wide margin passes any patch, and who may not write may not let his own be merged by it. */
const asConfigured = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: you can have #${number} measured as ppsgate.yml says; a margin, scenarios, families or a testbed of one's own are for those who may write to ${repository}.`
});
function fromElsewhere({ pullRequest, headRepository }, label) {
	const { number, repository, headCommit } = pullRequest;
	const from = headRepository ?? "a repository that was deleted";
	const commit = short(headCommit);
	return {
		kind: "refused",
		why: `Thank you for #${number}: because it comes from ${from}, it runs on the testbed only after a maintainer of ${repository} has read ${commit}, and then put the label ${label} on it or written /ppsgate run ${commit}.`
	};
}
const short = (commit) => commit.slice(0, 12);

// src/action/admit.ts
/** Of the comment that answers commands: the one with the verdict is not for strangers to overwrite. */
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
		case "dispatched": return admitDispatched(trigger, world);
		case "button": return admitButton(trigger, world);
		case "push": return go(await pushed(trigger, world.repository), {}, world, "What is pushed to the default branch is measured.", "history");
		case "schedule": {
			const { commit } = trigger;
			return go(await patchOfRange(world.repository, `${commit}..${commit}`), {}, world, "The head of the default branch is measured against itself.", "nightly");
		}
	}
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
async function admitComment({ number, text, by, at }, world) {
	const command = parseCommand(text);
	if (command === void 0) return {
		kind: "nothing",
		why: "The comment is no command."
	};
	const found = await fetched(number, world);
	const { pullRequest } = found;
	switch (command.kind) {
		case "mistaken": return {
			kind: "mistaken",
			pullRequest,
			why: command.why
		};
		case "help": return {
			kind: "help",
			pullRequest,
			why: ""
		};
		case "cancel": {
			const occasion = {
				kind: "commanded",
				by,
				at,
				commit: pullRequest.headCommit
			};
			const { config, rules } = await rulesFor(found, {}, world);
			const { kind, why } = await authorize(occasion, found, rules);
			return kind === "allowed" ? {
				kind: "cancel",
				pullRequest,
				why: `${by} has cancelled it.`
			} : {
				kind: "refused",
				pullRequest,
				config,
				name: noticeName,
				why
			};
		}
		case "run":
		case "rerun":
		case "extend": {
			const occasion = {
				kind: "commanded",
				by,
				at,
				...command.commit === void 0 ? {} : { commit: command.commit }
			};
			return (command.kind === "run" ? admitPullRequest(found, {
				...occasion,
				...otherwise(command.ask)
			}, command.ask, world) : admitAgain(found, occasion, command, world)).catch((error) => {
				if (!(error instanceof UsageError)) throw error;
				return {
					kind: "mistaken",
					pullRequest,
					why: error.message
				};
			});
		}
	}
}
/** More or fewer runs, and profiles, never pass what would not be passed. */
const otherwise = ({ maxRuns: _, profile: __, ...held }) => ({ isOtherwise: Object.keys(held).length > 0 });
async function admitDispatched(trigger, world) {
	const { by, patch: name, ask } = trigger;
	if (/^(?:D[1-9]|diff:|https?:)/.test(name)) return admitRevision(trigger, world);
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
	if (more.length > 0) throw new UsageError(`patch: ${numbersOf(all)} have the head ${commit}: write /ppsgate run ${commit.slice(0, 12)} at the one that is meant.`);
	if (found !== void 0) return admitPullRequest(found, {
		...occasion,
		commit
	}, ask, world);
	return go(await patchOfRange(world.repository, `${commit}^..${commit}`), ask, world, `${by} started it.`, "patch");
}
/** A relay has looked whose diff it is, and people who may start a job may have any measured. */
async function admitRevision(trigger, world) {
	const { by, ask, key, build } = trigger;
	const { patch, config } = await world.readRevision(trigger);
	const priority = world.priority ?? "patch";
	const { data: revisionAnswer, error } = requestSchema.shape.revisionAnswer.safeParse({
		key,
		build
	});
	if (error !== void 0) {
		const names = error.issues.map(({ path }) => path.join(".")).join(" and ");
		throw new UsageError(`client_payload: ${names} is none that a relay gives.`);
	}
	return {
		kind: "go",
		request: {
			patch,
			ask,
			priority,
			purpose: "patch",
			revisionAnswer
		},
		config,
		why: `${by} started it for ${patchName(patch)}.`
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
		why: `There is no experiment to extend for ${pullRequest.headCommit.slice(0, 12)}: write /ppsgate run first.`
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
		case "push": return fromPush(read(event, pushPayload));
		case "schedule": return {
			kind: "schedule",
			commit: event.commit
		};
		default: throw new UsageError(`The event ${event.name} names nothing to gate: run ppsgate on pull_request, pull_request_target, issue_comment, check_run, workflow_dispatch, repository_dispatch, schedule or push.`);
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
	const { patch = "", key, build, "max-runs": maxRuns, ...rest } = asked;
	const { scenarios, families, margin, profile, testbed, earlier } = rest;
	const ask = withoutEmpty({
		scenarios,
		families,
		margin,
		profile,
		testbed,
		earlier,
		maxRuns
	});
	return {
		kind: "dispatched",
		by,
		patch: patch.trim(),
		ask,
		...withoutEmpty({
			key,
			build
		})
	};
}
const given = ({ patch, ask }) => {
	const { maxRuns = "", ...rest } = ask;
	return withoutEmpty({
		patch,
		...rest,
		"max-runs": maxRuns
	});
};
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
	const number = pullRequestOfCheck(check_run.external_id ?? "");
	return {
		kind: "button",
		by: sender.login,
		button: asked,
		headCommit: check_run.head_sha,
		...number !== void 0 && { number }
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

// src/action/run-admit.ts
/** Hands what may be measured to the next job, by outputs; the exit code is that of a refusal where there is one. */
async function runAdmit(context) {
	const admission = await admitEvent(context);
	setOutput("go", admission.kind === "go");
	setOutput("cancel", admission.kind === "cancel");
	if (admission.kind === "cancel") setOutput("subject", `#${admission.pullRequest.number}`);
	if (admission.kind !== "go") return exitCodeOf(admission);
	const { request, config } = admission;
	const { runId } = context.inputs.job;
	setOutput("request", requestText(request));
	setOutput("subject", subjectOf(request));
	for (const name of gateNames(wishesFor(config, request.ask, context.inputs))) {
		const answer = await answerFor(context, request, config, {
			name,
			runId
		});
		answer.queued("waits for a runner of the lab");
		await answer.left();
	}
	return exitCodes.pass;
}
/** What the event asks for; people are answered where that is nothing to measure. */
async function admitEvent(context) {
	const { inputs, octokit, repository, readConfig } = context;
	const { job, patch, priority, overrides, earlier } = inputs;
	const { scenarios, families, margin, maxRuns, profile } = overrides;
	const event = {
		name: job.eventName,
		payload: await readEvent(job),
		commit: job.commit
	};
	const trigger = triggerOf(event, {
		patch,
		ask: {
			scenarios,
			families,
			margin,
			maxRuns,
			profile,
			earlier
		}
	});
	await acknowledge(trigger, context);
	const asked = priority || (job.isRerun ? "rerun" : "");
	const admission = await admit(trigger, {
		octokit,
		repositoryName: job.repository,
		repository,
		readConfig,
		readRevision: (asked) => readRevision(asked, context),
		nameOf(config, ask) {
			const wishes = wishesFor(config, ask, inputs);
			const asked = applyOverrides(config, ask);
			for (const wish of wishes) testbedsFor(asked, wish);
			return gateNames(wishes)[0] ?? "ppsgate";
		},
		priority: asked === "" ? void 0 : parsePriority(asked)
	});
	if (admission.kind !== "refused") log.info(admission.why);
	else log.error(admission.why);
	await tell(admission, context);
	return admission;
}
/** What keeps it from being a patch is for its author, too. */
async function readRevision({ patch: text, ask, key, build }, context) {
	const config = await context.readConfig(context.inputs.job.commit);
	const world = revisionWorldOf(context, config);
	const name = parseRevisionName(text, world.conduit.url);
	if (name === void 0) throw new UsageError(`patch: expected a revision like D27401 or D27401:80677, found "${text}".`);
	const { number, diff } = await findRevision(world.conduit, name);
	try {
		const which = parseEarlier(ask.earlier || "none");
		return {
			patch: await patchOfRevision({
				revision: number,
				diff: diff.id
			}, which, world),
			config
		};
	} catch (error) {
		const place = {
			name: "ppsgate",
			runId: context.inputs.job.runId,
			...key && { key },
			...build && { build }
		};
		await answerOnPhabricator(context, config, {
			number,
			diff: diff.id
		}, place).ended(endingOfError(error));
		throw error;
	}
}
const exitCodeOf = ({ kind }) => kind === "refused" || kind === "mistaken" ? exitCodes.usage : exitCodes.pass;
/** At once, and whatever comes of it. */
async function acknowledge(trigger, { octokit, inputs }) {
	if (trigger.kind !== "comment") return;
	const [owner = "", repo = ""] = inputs.job.repository.split("/");
	const { id: comment_id } = trigger;
	await octokit.rest.reactions.createForIssueComment({
		owner,
		repo,
		comment_id,
		content: "eyes"
	}).catch((error) => log.info(`The command got no reaction (${error.message}).`));
}
/** A refusal takes the place of what the comment told of an earlier push; the answer to a command has one of its own. */
async function tell(admission, context) {
	if (admission.kind === "go" || admission.kind === "nothing") return;
	const { octokit, inputs } = context;
	if (admission.kind === "refused") {
		await tellRefusal(context, {
			...admission,
			runId: inputs.job.runId
		});
		return;
	}
	const compose = () => answerTo(admission);
	const { pullRequest } = admission;
	const published = await publishComment(octokit, pullRequest, compose, { marker: notice });
	if (published.kind === "not-published") log.warn(published.why);
}
/**
* Also in the name of a job whose token may only read. A check on the head that was passed for another base, or another
* pull request, fails from now on.
*/
async function tellRefusal(context, refusal) {
	const { pullRequest, config, name, why, runId: run } = refusal;
	const { octokit, inputs } = context;
	const { number, headCommit } = pullRequest;
	const body = `### ⏸️ ppsgate: #${number} waits for a maintainer\n\n${codeSpan(withoutPaths(why), 1e3)}`;
	const writing = {
		name,
		run,
		headCommit,
		at: /* @__PURE__ */ new Date()
	};
	const compose = (before) => name !== "ppsgate notice" && isTold(before, headCommit) ? void 0 : composeComment(before, body, writing);
	const published = await publishComment(octokit, pullRequest, compose, { marker: markerOf(name) });
	if (published.kind === "not-published") log.warn(published.why);
	if (name === "ppsgate notice") return;
	const subject = {
		repository: pullRequest.repository,
		patch: pullRequest
	};
	for (const gate of gateNames(wishesFor(config, {}, inputs))) {
		if (!await standsForAnother(octokit, subject, gate)) continue;
		const marks = await marksFor(context, pullRequest, config.github, {
			name: gate,
			runId: run
		});
		const ending = endingOfFailure(exitCodes.usage, why);
		await marks.ended({
			...ending,
			title: "⏸️ waits for a maintainer"
		});
	}
}
/** Or whoever opens it again would wipe out what was measured of the same head. */
const isTold = (comment, headCommit) => comment !== void 0 && readMemory(comment)?.headCommit === headCommit;
const notice = markerOf(noticeName);
function answerTo({ kind, why }) {
	const said = codeSpan(withoutPaths(why), 1e3);
	return [notice, ...{
		cancel: ["### ⏹️ ppsgate: cancelled", said],
		mistaken: [
			"### 🤔 ppsgate did not understand",
			said,
			help
		],
		help: ["### ppsgate", help]
	}[kind]].join("\n\n");
}
const help = `| write | to |
|---|---|
| \`/ppsgate run\` | measure the pull request as it stands |
| \`/ppsgate run forwarding inet6 margin=1% runs=20 testbed=chelsio\` | the same with scenarios, families, margin, most runs or testbed of your own |
| \`/ppsgate run 1a2b3c4d5e6f\` | the same, if that is the head: for a patch from a fork |
| \`/ppsgate rerun\` | measure again what was asked for last |
| \`/ppsgate extend runs=40\` | go on with an experiment that was inconclusive |
| \`/ppsgate cancel\` | end what runs |`;

// src/publish/data-branch.ts
/**
* Puts results into the branch in one commit, or with none brings its badges up to date; makes the branch where there
* is none. What others publish meanwhile is kept, and the same result again replaces itself. Never throws for what
* GitHub or the network did: the result is then in `why`, one sentence.
*/
async function publishToBranch(octokit, place, publications, options) {
	try {
		const { commit, published } = await publishPatiently(branchOf(octokit, place), publications, {
			...options,
			isSite: place.pages !== void 0
		});
		return {
			kind: "published",
			commit,
			links: published.map((paths) => linksOf(place, paths))
		};
	} catch (error) {
		if (error instanceof BranchError) return {
			kind: "not-published",
			why: error.message
		};
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return {
			kind: "not-published",
			why: whyNot$1(failure, branchOf(octokit, place))
		};
	}
}
/**
* The history in the branch, for which a token needs `contents: read` alone; empty where there is no such branch.
* Throws an Error of one sentence where GitHub cannot be asked.
*/
async function readHistory(octokit, place) {
	const branch = branchOf(octokit, place);
	try {
		const tip = await readTip(branch);
		return tip === void 0 ? [] : parseHistory(await readText$1(branch, tip, historyPath));
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		throw new Error(`The history in the branch ${place.branch} of ${place.repository} cannot be read (${failure.said}): run the job again, and check that it has \`permissions: contents: read\`.`);
	}
}
/** Something about the branch that has to be put right first, in one sentence. */
var BranchError = class extends Error {};
function branchOf(octokit, { repository, branch }) {
	const [owner = "", repo = ""] = repository.split("/");
	return {
		octokit,
		owner,
		repo,
		name: branch
	};
}
function linksOf(place, paths) {
	const { result, report, page, graphs, badges } = paths;
	const link = (path) => linkTo(place, path);
	return {
		...result !== void 0 && { result: link(result) },
		...report !== void 0 && { report: link(report) },
		...page !== void 0 && { page: link(page) },
		graphs: new Map([...graphs].map(([anchor, path]) => [anchor, link(path)])),
		badges: badges.map(link)
	};
}
const mostFailures = 3;
/** Octokit itself has then tried each request several times. */
async function publishPatiently(branch, publications, options, failures = 1) {
	const { pause = realPause, random = Math.random } = options;
	try {
		return await publishInTurn(branch, publications, options);
	} catch (error) {
		if (failures === mostFailures || !isBreakdown(githubFailure(error))) throw error;
	}
	await pause((failures + random()) * 10);
	return publishPatiently(branch, publications, options, failures + 1);
}
const mostTries$1 = 10;
const longestPauseSeconds = 30;
/** Reads, computes and writes, until nobody else wrote meanwhile. */
async function publishInTurn(branch, publications, { now, pause = realPause, random = Math.random, ...options }) {
	const rules = {
		...options,
		now: now()
	};
	const repositoryId = await repositoryIdOf(branch);
	let refused;
	for (let tries = 1; tries <= mostTries$1; tries++) {
		const tip = await readTip(branch, "1");
		if (refused !== void 0 && refused.at === tip?.commit) throw refused.error;
		const { published, ...next } = nextFiles(await readStored$1(branch, tip), publications, rules);
		const tree = await writeTree(branch, tip, next);
		if (tip?.tree === tree) return {
			commit: tip.commit,
			published
		};
		const commit = await writeCommit(branch, tree);
		const move = await moveBranch(branch, repositoryId, {
			from: tip?.commit,
			to: commit
		});
		if (move.kind === "moved") return {
			commit,
			published
		};
		refused = {
			at: tip?.commit,
			error: move.error
		};
		await pause(random() * Math.min(2 ** tries, longestPauseSeconds));
	}
	throw new BranchError(`${nothing(branch)} because others changed it ${mostTries$1} times meanwhile: publish the result again later.`);
}
const realPause = (seconds) => setTimeout(seconds * 1e3);
async function repositoryIdOf(branch) {
	const { octokit, owner, repo } = branch;
	const query = "query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }";
	try {
		const answer = await octokit.graphql(query, {
			owner,
			repo
		});
		return object({ repository: object({ id: string() }) }).parse(answer).repository.id;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind !== "answered" || failure.status !== refusedByGraphql) throw error;
		throw new BranchError(`${nothing(branch)} because the token sees no such repository (${failure.said}): check its name, and what the token may read.`);
	}
}
/** GraphQL answers it whatever it says. */
const refusedByGraphql = 200;
/** Undefined where there is no such branch. With `recursive` files in folders are told, too. */
async function readTip(branch, recursive) {
	const commit = await readRef(branch);
	if (commit === void 0) return void 0;
	const { octokit, owner, repo } = branch;
	const { git } = octokit.rest;
	const { data } = await git.getCommit({
		owner,
		repo,
		commit_sha: commit
	});
	const tree_sha = data.tree.sha;
	const listed = await git.getTree({
		owner,
		repo,
		tree_sha,
		...recursive && { recursive }
	});
	return {
		commit,
		tree: tree_sha,
		files: new Map(listed.data.tree.flatMap(({ type, path, sha }) => type === "blob" ? [[path, sha]] : [])),
		isWhole: !listed.data.truncated
	};
}
async function readRef({ octokit, owner, repo, name }) {
	try {
		const { data } = await octokit.rest.git.getRef({
			owner,
			repo,
			ref: `heads/${name}`
		});
		return data.object.sha;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind === "answered" && failure.status === 404) return void 0;
		throw error;
	}
}
/** Throws a BranchError where the branch is somebody else's: it would lose its history. */
async function readStored$1(branch, tip) {
	if (tip === void 0) return {
		index: emptyIndex,
		history: []
	};
	const index = parseIndex(await readText$1(branch, tip, indexPath));
	if (index === void 0) throw new BranchError(`${nothing(branch)} because it has no ${indexPath} of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`);
	return {
		index,
		history: parseHistory(await readText$1(branch, tip, historyPath)),
		...tip.isWhole && { paths: new Set(tip.files.keys()) }
	};
}
/** Empty where there is no such file. */
async function readText$1({ octokit, owner, repo }, tip, path) {
	const file_sha = tip.files.get(path);
	if (file_sha === void 0) return "";
	const { data } = await octokit.rest.git.getBlob({
		owner,
		repo,
		file_sha
	});
	return Buffer.from(data.content, "base64").toString();
}
/** Longer files are sent one by one, so that no request grows with the number of results. */
const mostInlineCharacters = 1e5;
async function writeTree(branch, tip, { write, remove }) {
	const { octokit, owner, repo } = branch;
	const file = {
		mode: "100644",
		type: "blob"
	};
	const written = [];
	for (const [path, content] of write) {
		const held = content.length <= mostInlineCharacters ? { content } : { sha: await writeBlob(branch, content) };
		written.push({
			...file,
			path,
			...held
		});
	}
	const { data } = await octokit.rest.git.createTree({
		owner,
		repo,
		...tip && { base_tree: tip.tree },
		tree: [...written, ...remove.map((path) => ({
			...file,
			path,
			sha: null
		}))]
	});
	return data.sha;
}
async function writeBlob({ octokit, owner, repo }, content) {
	const { data } = await octokit.rest.git.createBlob({
		owner,
		repo,
		content,
		encoding: "utf-8"
	});
	return data.sha;
}
/** Without parents: what is not in the branch any more shall not be in a clone of it. */
async function writeCommit({ octokit, owner, repo }, tree) {
	const { data } = await octokit.rest.git.createCommit({
		owner,
		repo,
		message: "Results of ppsgate",
		tree,
		parents: []
	});
	return data.sha;
}
const noCommit = "0".repeat(40);
/**
* Moves the branch if it is still where it was read, which the REST API cannot be asked for. GitHub does not document
* how it words that it is not, so every refusal is taken for that until the branch is seen not to have moved.
*/
async function moveBranch({ octokit, name }, repositoryId, { from = noCommit, to }) {
	const mutation = "mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";
	const update = {
		name: `refs/heads/${name}`,
		beforeOid: from,
		afterOid: to,
		force: true
	};
	try {
		await octokit.graphql(mutation, { input: {
			repositoryId,
			refUpdates: [update]
		} });
		return { kind: "moved" };
	} catch (error) {
		if (githubFailure(error) === void 0) throw error;
		return {
			kind: "refused",
			error
		};
	}
}
const nothing = ({ owner, repo, name }) => `Nothing was published in the branch ${name} of ${owner}/${repo}`;
function whyNot$1(failure, branch) {
	const what = nothing(branch);
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): publish the result again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: publish the result again then.`;
	switch (failure.status) {
		case 401: return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
		case 403:
		case 404: return `${what} because the token may not (${failure.said}): give the job \`permissions: contents: write\`, or, for a pull request from a fork, publish from a workflow_run job; where rules protect the branch, let the token pass them.`;
		case refusedByGraphql:
		case 422: return `${what} because GitHub refused it (${failure.said}): where rules protect the branch, let the token pass them, or name another one in \`github.data.branch\`.`;
		default: return `${what} because GitHub answered ${failure.said}; the result itself is kept.`;
	}
}

// node_modules/pend/index.js
var require_pend = /* @__PURE__ */ __commonJSMin(((exports, module) => {
	module.exports = Pend;
	function Pend() {
		this.pending = 0;
		this.max = Infinity;
		this.listeners = [];
		this.waiting = [];
		this.error = null;
	}
	Pend.prototype.go = function(fn) {
		if (this.pending < this.max) pendGo(this, fn);
		else this.waiting.push(fn);
	};
	Pend.prototype.wait = function(cb) {
		if (this.pending === 0) cb(this.error);
		else this.listeners.push(cb);
	};
	Pend.prototype.hold = function() {
		return pendHold(this);
	};
	function pendHold(self) {
		self.pending += 1;
		var called = false;
		return onCb;
		function onCb(err) {
			if (called) throw new Error("callback called twice");
			called = true;
			self.error = self.error || err;
			self.pending -= 1;
			if (self.waiting.length > 0 && self.pending < self.max) pendGo(self, self.waiting.shift());
			else if (self.pending === 0) {
				var listeners = self.listeners;
				self.listeners = [];
				listeners.forEach(cbListener);
			}
		}
		function cbListener(listener) {
			listener(self.error);
		}
	}
	function pendGo(self, fn) {
		fn(pendHold(self));
	}
}));

// node_modules/yauzl/fd-slicer.js
var require_fd_slicer = /* @__PURE__ */ __commonJSMin(((exports) => {
	var fs = __require("fs");
	var util = __require("util");
	var stream = __require("stream");
	var Readable = stream.Readable;
	var PassThrough = stream.PassThrough;
	var Pend = require_pend();
	var EventEmitter = __require("events").EventEmitter;
	exports.BufferSlicer = BufferSlicer;
	exports.FdSlicer = FdSlicer;
	util.inherits(FdSlicer, EventEmitter);
	function FdSlicer(fd) {
		EventEmitter.call(this);
		this.fd = fd;
		this.pend = new Pend();
		this.pend.max = 1;
		this.refCount = 0;
	}
	FdSlicer.prototype.read = function(buffer, offset, length, position, callback) {
		var self = this;
		self.pend.go(function(cb) {
			fs.read(self.fd, buffer, offset, length, position, function(err, bytesRead, buffer) {
				cb();
				callback(err, bytesRead, buffer);
			});
		});
	};
	FdSlicer.prototype.createReadStream = function(options) {
		return new ReadStream(this, options);
	};
	FdSlicer.prototype.ref = function() {
		this.refCount += 1;
	};
	FdSlicer.prototype.unref = function() {
		var self = this;
		self.refCount -= 1;
		if (self.refCount < 0) throw new Error("invalid unref");
		if (self.refCount > 0) return;
		fs.close(self.fd, onCloseDone);
		function onCloseDone(err) {
			if (err) self.emit("error", err);
			else self.emit("close");
		}
	};
	util.inherits(ReadStream, Readable);
	function ReadStream(context, options) {
		options = options || {};
		Readable.call(this, options);
		this.context = context;
		this.context.ref();
		this.start = options.start || 0;
		this.endOffset = options.end;
		this.pos = this.start;
	}
	ReadStream.prototype._read = function(n) {
		var self = this;
		var toRead = Math.min(self._readableState.highWaterMark, n);
		if (self.endOffset != null) toRead = Math.min(toRead, self.endOffset - self.pos);
		if (toRead <= 0) {
			self.push(null);
			this._cleanup();
			return;
		}
		self.context.pend.go(function(cb) {
			var buffer = Buffer.allocUnsafe(toRead);
			fs.read(self.context.fd, buffer, 0, toRead, self.pos, function(err, bytesRead) {
				if (err) self.destroy(err);
				else if (bytesRead === 0) {
					self.push(null);
					self._cleanup();
				} else {
					self.pos += bytesRead;
					self.push(buffer.slice(0, bytesRead));
				}
				cb();
			});
		});
	};
	ReadStream.prototype._destroy = function(err, cb) {
		this._cleanup();
		cb(err);
	};
	ReadStream.prototype._cleanup = function() {
		if (this.context != null) {
			this.context.unref();
			this.context = null;
		}
	};
	util.inherits(BufferSlicer, EventEmitter);
	function BufferSlicer(buffer) {
		EventEmitter.call(this);
		this.refCount = 0;
		this.buffer = buffer;
	}
	BufferSlicer.prototype.read = function(buffer, offset, length, position, callback) {
		if (!(0 <= offset && offset <= buffer.length)) throw new RangeError("offset outside buffer: 0 <= " + offset + " <= " + buffer.length);
		if (position < 0) throw new RangeError("position is negative: " + position);
		if (offset + length > buffer.length) length = buffer.length - offset;
		if (position + length > this.buffer.length) length = this.buffer.length - position;
		if (length <= 0) {
			setImmediate(function() {
				callback(null, 0);
			});
			return;
		}
		this.buffer.copy(buffer, offset, position, position + length);
		setImmediate(function() {
			callback(null, length);
		});
	};
	BufferSlicer.prototype.createReadStream = function(options) {
		options = options || {};
		var readStream = new PassThrough(options);
		readStream.start = options.start || 0;
		readStream.endOffset = options.end;
		readStream.pos = readStream.endOffset || this.buffer.length;
		var entireSlice = this.buffer.slice(readStream.start, readStream.pos);
		var maxChunkSize = 65536;
		var offset = 0;
		while (true) {
			var nextOffset = offset + maxChunkSize;
			if (nextOffset >= entireSlice.length) {
				if (offset < entireSlice.length) readStream.write(entireSlice.slice(offset, entireSlice.length));
				break;
			}
			readStream.write(entireSlice.slice(offset, nextOffset));
			offset = nextOffset;
		}
		readStream.end();
		return readStream;
	};
	BufferSlicer.prototype.ref = function() {
		this.refCount += 1;
	};
	BufferSlicer.prototype.unref = function() {
		this.refCount -= 1;
		if (this.refCount < 0) throw new Error("invalid unref");
	};
}));

// node_modules/yauzl/crc32.js
var require_crc32 = /* @__PURE__ */ __commonJSMin(((exports, module) => {
	const CRC_TABLE = new Int32Array([
		0,
		1996959894,
		3993919788,
		2567524794,
		124634137,
		1886057615,
		3915621685,
		2657392035,
		249268274,
		2044508324,
		3772115230,
		2547177864,
		162941995,
		2125561021,
		3887607047,
		2428444049,
		498536548,
		1789927666,
		4089016648,
		2227061214,
		450548861,
		1843258603,
		4107580753,
		2211677639,
		325883990,
		1684777152,
		4251122042,
		2321926636,
		335633487,
		1661365465,
		4195302755,
		2366115317,
		997073096,
		1281953886,
		3579855332,
		2724688242,
		1006888145,
		1258607687,
		3524101629,
		2768942443,
		901097722,
		1119000684,
		3686517206,
		2898065728,
		853044451,
		1172266101,
		3705015759,
		2882616665,
		651767980,
		1373503546,
		3369554304,
		3218104598,
		565507253,
		1454621731,
		3485111705,
		3099436303,
		671266974,
		1594198024,
		3322730930,
		2970347812,
		795835527,
		1483230225,
		3244367275,
		3060149565,
		1994146192,
		31158534,
		2563907772,
		4023717930,
		1907459465,
		112637215,
		2680153253,
		3904427059,
		2013776290,
		251722036,
		2517215374,
		3775830040,
		2137656763,
		141376813,
		2439277719,
		3865271297,
		1802195444,
		476864866,
		2238001368,
		4066508878,
		1812370925,
		453092731,
		2181625025,
		4111451223,
		1706088902,
		314042704,
		2344532202,
		4240017532,
		1658658271,
		366619977,
		2362670323,
		4224994405,
		1303535960,
		984961486,
		2747007092,
		3569037538,
		1256170817,
		1037604311,
		2765210733,
		3554079995,
		1131014506,
		879679996,
		2909243462,
		3663771856,
		1141124467,
		855842277,
		2852801631,
		3708648649,
		1342533948,
		654459306,
		3188396048,
		3373015174,
		1466479909,
		544179635,
		3110523913,
		3462522015,
		1591671054,
		702138776,
		2966460450,
		3352799412,
		1504918807,
		783551873,
		3082640443,
		3233442989,
		3988292384,
		2596254646,
		62317068,
		1957810842,
		3939845945,
		2647816111,
		81470997,
		1943803523,
		3814918930,
		2489596804,
		225274430,
		2053790376,
		3826175755,
		2466906013,
		167816743,
		2097651377,
		4027552580,
		2265490386,
		503444072,
		1762050814,
		4150417245,
		2154129355,
		426522225,
		1852507879,
		4275313526,
		2312317920,
		282753626,
		1742555852,
		4189708143,
		2394877945,
		397917763,
		1622183637,
		3604390888,
		2714866558,
		953729732,
		1340076626,
		3518719985,
		2797360999,
		1068828381,
		1219638859,
		3624741850,
		2936675148,
		906185462,
		1090812512,
		3747672003,
		2825379669,
		829329135,
		1181335161,
		3412177804,
		3160834842,
		628085408,
		1382605366,
		3423369109,
		3138078467,
		570562233,
		1426400815,
		3317316542,
		2998733608,
		733239954,
		1555261956,
		3268935591,
		3050360625,
		752459403,
		1541320221,
		2607071920,
		3965973030,
		1969922972,
		40735498,
		2617837225,
		3943577151,
		1913087877,
		83908371,
		2512341634,
		3803740692,
		2075208622,
		213261112,
		2463272603,
		3855990285,
		2094854071,
		198958881,
		2262029012,
		4057260610,
		1759359992,
		534414190,
		2176718541,
		4139329115,
		1873836001,
		414664567,
		2282248934,
		4279200368,
		1711684554,
		285281116,
		2405801727,
		4167216745,
		1634467795,
		376229701,
		2685067896,
		3608007406,
		1308918612,
		956543938,
		2808555105,
		3495958263,
		1231636301,
		1047427035,
		2932959818,
		3654703836,
		1088359270,
		936918e3,
		2847714899,
		3736837829,
		1202900863,
		817233897,
		3183342108,
		3401237130,
		1404277552,
		615818150,
		3134207493,
		3453421203,
		1423857449,
		601450431,
		3009837614,
		3294710456,
		1567103746,
		711928724,
		3020668471,
		3272380065,
		1510334235,
		755167117
	]);
	function crc32(buf) {
		let crc = -1;
		for (let x of buf) crc = CRC_TABLE[(crc ^ x) & 255] ^ crc >>> 8;
		return (crc ^ -1) >>> 0;
	}
	module.exports = crc32;
}));

// node_modules/yauzl/index.js
var require_yauzl = /* @__PURE__ */ __commonJSMin(((exports) => {
	var fs = __require("fs");
	var zlib = __require("zlib");
	var fd_slicer = require_fd_slicer();
	var util = __require("util");
	var EventEmitter = __require("events").EventEmitter;
	var Transform = __require("stream").Transform;
	var PassThrough = __require("stream").PassThrough;
	var Writable = __require("stream").Writable;
	const crc32 = typeof zlib.crc32 === "function" ? zlib.crc32 : require_crc32();
	exports.fromBufferPromise = fromBufferPromise;
	function fromBufferPromise(buffer, options) {
		return new Promise((resolve, reject) => {
			fromBuffer(buffer, {
				...options,
				lazyEntries: true
			}, function(err, zipfile) {
				if (err) return reject(err);
				resolve(zipfile);
			});
		});
	}
	function fromBuffer(buffer, options, callback) {
		if (typeof options === "function") {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		options.autoClose = false;
		if (options.lazyEntries == null) options.lazyEntries = false;
		if (options.decodeStrings == null) options.decodeStrings = true;
		if (options.validateEntrySizes == null) options.validateEntrySizes = true;
		if (options.strictFileNames == null) options.strictFileNames = false;
		fromRandomAccessReader(new fd_slicer.BufferSlicer(buffer), buffer.length, options, callback);
	}
	function fromRandomAccessReader(reader, totalSize, options, callback) {
		if (typeof options === "function") {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		if (options.autoClose == null) options.autoClose = true;
		if (options.lazyEntries == null) options.lazyEntries = false;
		if (options.decodeStrings == null) options.decodeStrings = true;
		var decodeStrings = !!options.decodeStrings;
		if (options.validateEntrySizes == null) options.validateEntrySizes = true;
		if (options.strictFileNames == null) options.strictFileNames = false;
		if (callback == null) callback = defaultCallback;
		if (typeof totalSize !== "number") throw new Error("expected totalSize parameter to be a number");
		if (totalSize > Number.MAX_SAFE_INTEGER) throw new Error("zip file too large. only file sizes up to 2^52 are supported due to JavaScript's Number type being an IEEE 754 double.");
		reader.ref();
		var eocdrWithoutCommentSize = 22;
		var zip64EocdlSize = 20;
		var bufferSize = Math.min(zip64EocdlSize + eocdrWithoutCommentSize + 65535, totalSize);
		var buffer = newBuffer(bufferSize);
		readAndAssertNoEof(reader, buffer, 0, bufferSize, totalSize - buffer.length, function(err) {
			if (err) return callback(err);
			for (var i = bufferSize - eocdrWithoutCommentSize; i >= 0; i -= 1) {
				if (buffer.readUInt32LE(i) !== 101010256) continue;
				var eocdrBuffer = buffer.subarray(i);
				var diskNumber = eocdrBuffer.readUInt16LE(4);
				var entryCount = eocdrBuffer.readUInt16LE(10);
				var centralDirectoryOffset = eocdrBuffer.readUInt32LE(16);
				var commentLength = eocdrBuffer.readUInt16LE(20);
				var expectedCommentLength = eocdrBuffer.length - eocdrWithoutCommentSize;
				if (commentLength !== expectedCommentLength) return callback(/* @__PURE__ */ new Error("Invalid comment length. Expected: " + expectedCommentLength + ". Found: " + commentLength + ". Are there extra bytes at the end of the file? Or is the end of central dir signature `PK☺☻` in the comment?"));
				var comment = decodeStrings ? decodeBuffer(eocdrBuffer.subarray(22), false) : eocdrBuffer.subarray(22);
				if (i - zip64EocdlSize >= 0 && buffer.readUInt32LE(i - zip64EocdlSize) === 117853008) {
					var zip64EocdrOffset = readUInt64LE(buffer.subarray(i - zip64EocdlSize, i - zip64EocdlSize + zip64EocdlSize), 8);
					var zip64EocdrBuffer = newBuffer(56);
					return readAndAssertNoEof(reader, zip64EocdrBuffer, 0, zip64EocdrBuffer.length, zip64EocdrOffset, function(err) {
						if (err) return callback(err);
						if (zip64EocdrBuffer.readUInt32LE(0) !== 101075792) return callback(/* @__PURE__ */ new Error("invalid zip64 end of central directory record signature"));
						diskNumber = zip64EocdrBuffer.readUInt32LE(16);
						if (diskNumber !== 0) return callback(/* @__PURE__ */ new Error("multi-disk zip files are not supported: found disk number: " + diskNumber));
						entryCount = readUInt64LE(zip64EocdrBuffer, 32);
						centralDirectoryOffset = readUInt64LE(zip64EocdrBuffer, 48);
						return callback(null, new ZipFile(reader, centralDirectoryOffset, totalSize, entryCount, comment, options.autoClose, options.lazyEntries, decodeStrings, options.validateEntrySizes, options.strictFileNames));
					});
				}
				if (diskNumber !== 0) return callback(/* @__PURE__ */ new Error("multi-disk zip files are not supported: found disk number: " + diskNumber));
				return callback(null, new ZipFile(reader, centralDirectoryOffset, totalSize, entryCount, comment, options.autoClose, options.lazyEntries, decodeStrings, options.validateEntrySizes, options.strictFileNames));
			}
			callback(/* @__PURE__ */ new Error("End of central directory record signature not found. Either not a zip file, or file is truncated."));
		});
	}
	util.inherits(ZipFile, EventEmitter);
	function ZipFile(reader, centralDirectoryOffset, fileSize, entryCount, comment, autoClose, lazyEntries, decodeStrings, validateEntrySizes, strictFileNames) {
		var self = this;
		EventEmitter.call(self);
		self.reader = reader;
		self.reader.on("error", function(err) {
			emitError(self, err);
		});
		self.reader.once("close", function() {
			self.emit("close");
		});
		self.readEntryCursor = centralDirectoryOffset;
		self.fileSize = fileSize;
		self.entryCount = entryCount;
		self.comment = comment;
		self.entriesRead = 0;
		self.autoClose = !!autoClose;
		self.lazyEntries = !!lazyEntries;
		self.decodeStrings = !!decodeStrings;
		self.validateEntrySizes = !!validateEntrySizes;
		self.strictFileNames = !!strictFileNames;
		self.isOpen = true;
		self.emittedError = false;
		self.hasEachEntryBeenCalled = false;
		if (!self.lazyEntries) self._readEntry();
	}
	ZipFile.prototype.close = function() {
		if (!this.isOpen) return;
		this.isOpen = false;
		this.reader.unref();
	};
	function emitErrorAndAutoClose(self, err) {
		if (self.autoClose) self.close();
		emitError(self, err);
	}
	function emitError(self, err) {
		if (self.emittedError) return;
		self.emittedError = true;
		self.emit("error", err);
	}
	ZipFile.prototype.readEntry = function() {
		if (!this.lazyEntries) throw new Error("readEntry() called without lazyEntries:true");
		this._readEntry();
	};
	ZipFile.prototype._readEntry = function() {
		var self = this;
		if (self.entryCount === self.entriesRead) {
			setImmediate(function() {
				if (self.autoClose) self.close();
				if (self.emittedError) return;
				self.emit("end");
			});
			return;
		}
		if (self.emittedError) return;
		var buffer = newBuffer(46);
		readAndAssertNoEof(self.reader, buffer, 0, buffer.length, self.readEntryCursor, function(err) {
			if (err) return emitErrorAndAutoClose(self, err);
			if (self.emittedError) return;
			var entry = new Entry();
			var signature = buffer.readUInt32LE(0);
			if (signature !== 33639248) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("invalid central directory file header signature: 0x" + signature.toString(16)));
			entry.versionMadeBy = buffer.readUInt16LE(4);
			entry.versionNeededToExtract = buffer.readUInt16LE(6);
			entry.generalPurposeBitFlag = buffer.readUInt16LE(8);
			entry.compressionMethod = buffer.readUInt16LE(10);
			entry.lastModFileTime = buffer.readUInt16LE(12);
			entry.lastModFileDate = buffer.readUInt16LE(14);
			entry.crc32 = buffer.readUInt32LE(16);
			entry.compressedSize = buffer.readUInt32LE(20);
			entry.uncompressedSize = buffer.readUInt32LE(24);
			entry.fileNameLength = buffer.readUInt16LE(28);
			entry.extraFieldLength = buffer.readUInt16LE(30);
			entry.fileCommentLength = buffer.readUInt16LE(32);
			entry.internalFileAttributes = buffer.readUInt16LE(36);
			entry.externalFileAttributes = buffer.readUInt32LE(38);
			entry.relativeOffsetOfLocalHeader = buffer.readUInt32LE(42);
			if (entry.generalPurposeBitFlag & 64) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("strong encryption is not supported"));
			self.readEntryCursor += 46;
			buffer = newBuffer(entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength);
			readAndAssertNoEof(self.reader, buffer, 0, buffer.length, self.readEntryCursor, function(err) {
				if (err) return emitErrorAndAutoClose(self, err);
				if (self.emittedError) return;
				entry.fileNameRaw = buffer.subarray(0, entry.fileNameLength);
				var fileCommentStart = entry.fileNameLength + entry.extraFieldLength;
				entry.extraFieldRaw = buffer.subarray(entry.fileNameLength, fileCommentStart);
				entry.fileCommentRaw = buffer.subarray(fileCommentStart, fileCommentStart + entry.fileCommentLength);
				try {
					entry.extraFields = parseExtraFields(entry.extraFieldRaw);
				} catch (err) {
					return emitErrorAndAutoClose(self, err);
				}
				if (self.decodeStrings) {
					var isUtf8 = (entry.generalPurposeBitFlag & 2048) !== 0;
					entry.fileComment = decodeBuffer(entry.fileCommentRaw, isUtf8);
					entry.fileName = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, self.strictFileNames);
					var errorMessage = validateFileName(entry.fileName);
					if (errorMessage != null) return emitErrorAndAutoClose(self, new Error(errorMessage));
				} else {
					entry.fileComment = entry.fileCommentRaw;
					entry.fileName = entry.fileNameRaw;
				}
				entry.comment = entry.fileComment;
				self.readEntryCursor += buffer.length;
				self.entriesRead += 1;
				for (var i = 0; i < entry.extraFields.length; i++) {
					var extraField = entry.extraFields[i];
					if (extraField.id !== 1) continue;
					var zip64EiefBuffer = extraField.data;
					var index = 0;
					if (entry.uncompressedSize === 4294967295) {
						if (index + 8 > zip64EiefBuffer.length) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("zip64 extended information extra field does not include uncompressed size"));
						entry.uncompressedSize = readUInt64LE(zip64EiefBuffer, index);
						index += 8;
					}
					if (entry.compressedSize === 4294967295) {
						if (index + 8 > zip64EiefBuffer.length) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("zip64 extended information extra field does not include compressed size"));
						entry.compressedSize = readUInt64LE(zip64EiefBuffer, index);
						index += 8;
					}
					if (entry.relativeOffsetOfLocalHeader === 4294967295) {
						if (index + 8 > zip64EiefBuffer.length) return emitErrorAndAutoClose(self, /* @__PURE__ */ new Error("zip64 extended information extra field does not include relative header offset"));
						entry.relativeOffsetOfLocalHeader = readUInt64LE(zip64EiefBuffer, index);
						index += 8;
					}
					break;
				}
				if (self.validateEntrySizes && entry.compressionMethod === 0) {
					var expectedCompressedSize = entry.uncompressedSize;
					if (entry.isEncrypted()) expectedCompressedSize += 12;
					if (entry.compressedSize !== expectedCompressedSize) {
						var msg = "compressed/uncompressed size mismatch for stored file: " + entry.compressedSize + " != " + entry.uncompressedSize;
						return emitErrorAndAutoClose(self, new Error(msg));
					}
				}
				self.emit("entry", entry);
				if (!self.lazyEntries) self._readEntry();
			});
		});
	};
	ZipFile.prototype.eachEntry = function() {
		const self = this;
		if (!self.lazyEntries) throw new Error("eachEntry() requires lazyEntries: true");
		if (self.hasEachEntryBeenCalled) throw new Error("eachEntry() must only be called once per ZipFile");
		self.hasEachEntryBeenCalled = true;
		let pendingResolveReject = null;
		self.on("entry", onEntry);
		self.on("end", onEnd);
		self.on("error", onError);
		function cleanup() {
			self.removeListener("entry", onEntry);
			self.removeListener("end", onEnd);
			self.removeListener("error", onError);
			if (self.autoClose) self.close();
		}
		function onEntry(entry) {
			let { resolve } = pendingResolveReject;
			pendingResolveReject = null;
			resolve({ value: entry });
		}
		function onEnd() {
			let { resolve } = pendingResolveReject;
			pendingResolveReject = null;
			cleanup();
			resolve({ done: true });
		}
		function onError(err) {
			let { reject } = pendingResolveReject;
			pendingResolveReject = null;
			cleanup();
			reject(err);
		}
		return {
			[Symbol.asyncIterator]() {
				return this;
			},
			next() {
				const promise = new Promise((resolve, reject) => {
					if (pendingResolveReject != null) throw new Error("next() called before previous Promise was resolved.");
					pendingResolveReject = {
						resolve,
						reject
					};
				});
				self.readEntry();
				return promise;
			},
			return(value) {
				cleanup();
				return Promise.resolve({
					done: true,
					value
				});
			},
			throw(value) {
				cleanup();
				return Promise.reject(value);
			}
		};
	};
	ZipFile.prototype.openReadStream = function(entry, options, callback) {
		var self = this;
		var relativeStart = 0;
		var relativeEnd = entry.compressedSize;
		if (callback == null) {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		else {
			if (options.decodeFileData === false) {
				if (options.decrypt != null) throw new Error("cannot use options.decrypt when options.decodeFileData === false");
				if (options.decompress != null) throw new Error("cannot use options.decompress when options.decodeFileData === false");
			} else {
				if (options.decrypt != null) {
					if (!entry.isEncrypted()) throw new Error("options.decrypt can only be specified for encrypted entries. See also option decodeFileData.");
					if (options.decrypt !== false) throw new Error("invalid options.decrypt value: " + options.decrypt);
					if (entry.isCompressed()) {
						if (options.decompress !== false) throw new Error("entry is encrypted and compressed, and options.decompress !== false. See also option decodeFileData.");
					}
				}
				if (options.decompress != null) {
					if (!entry.isCompressed()) throw new Error("options.decompress can only be specified for compressed entries. See also option decodeFileData.");
					if (!(options.decompress === false || options.decompress === true)) throw new Error("invalid options.decompress value: " + options.decompress);
					decompress = options.decompress;
				}
			}
			if (options.start != null) {
				relativeStart = options.start;
				if (relativeStart < 0) throw new Error("options.start < 0");
				if (relativeStart > entry.compressedSize) throw new Error("options.start > entry.compressedSize");
			}
			if (options.end != null) {
				relativeEnd = options.end;
				if (relativeEnd < 0) throw new Error("options.end < 0");
				if (relativeEnd > entry.compressedSize) throw new Error("options.end > entry.compressedSize");
				if (relativeEnd < relativeStart) throw new Error("options.end < options.start");
			}
		}
		var rawMode = options.decodeFileData === false || (entry.compressionMethod === 0 || entry.compressionMethod === 8 && options.decompress === false) && (!entry.isEncrypted() || options.decrypt === false);
		if (options.start != null || options.end != null) {
			if (!rawMode) throw new Error("start/end range require options.decodeFileData === false for non-trivial encoded entries.");
		}
		if (!self.isOpen) return callback(/* @__PURE__ */ new Error("closed"));
		if (entry.isEncrypted() && !rawMode) {
			if (options.decrypt !== false) return callback(/* @__PURE__ */ new Error("entry is encrypted, and options.decodeFileData !== false"));
		}
		var decompress;
		if (rawMode) decompress = false;
		else if (entry.compressionMethod === 8) decompress = options.decodeFileData !== true;
		else return callback(/* @__PURE__ */ new Error("unsupported compression method: " + entry.compressionMethod));
		self.readLocalFileHeader(entry, { minimal: true }, function(err, localFileHeader) {
			if (err) return callback(err);
			self.openReadStreamLowLevel(localFileHeader.fileDataStart, entry.compressedSize, relativeStart, relativeEnd, decompress, entry.uncompressedSize, callback);
		});
	};
	ZipFile.prototype.openReadStreamLowLevel = function(fileDataStart, compressedSize, relativeStart, relativeEnd, decompress, uncompressedSize, callback) {
		var self = this;
		fileDataStart + compressedSize;
		var readStream = self.reader.createReadStream({
			start: fileDataStart + relativeStart,
			end: fileDataStart + relativeEnd
		});
		var endpointStream = readStream;
		if (decompress) {
			var destroyed = false;
			var inflateFilter = zlib.createInflateRaw();
			readStream.on("error", function(err) {
				setImmediate(function() {
					if (!destroyed) inflateFilter.emit("error", err);
				});
			});
			readStream.pipe(inflateFilter);
			if (self.validateEntrySizes) {
				endpointStream = new AssertByteCountStream(uncompressedSize);
				inflateFilter.on("error", function(err) {
					setImmediate(function() {
						if (!destroyed) endpointStream.emit("error", err);
					});
				});
				inflateFilter.pipe(endpointStream);
			} else endpointStream = inflateFilter;
			installDestroyFn(endpointStream, function() {
				destroyed = true;
				if (inflateFilter !== endpointStream) inflateFilter.unpipe(endpointStream);
				readStream.unpipe(inflateFilter);
				readStream.destroy();
			});
		}
		callback(null, endpointStream);
	};
	ZipFile.prototype.readLocalFileHeader = function(entry, options, callback) {
		var self = this;
		if (callback == null) {
			callback = options;
			options = null;
		}
		if (options == null) options = {};
		self.reader.ref();
		var buffer = newBuffer(30);
		readAndAssertNoEof(self.reader, buffer, 0, buffer.length, entry.relativeOffsetOfLocalHeader, function(err) {
			try {
				if (err) return callback(err);
				var signature = buffer.readUInt32LE(0);
				if (signature !== 67324752) return callback(/* @__PURE__ */ new Error("invalid local file header signature: 0x" + signature.toString(16)));
				var fileNameLength = buffer.readUInt16LE(26);
				var extraFieldLength = buffer.readUInt16LE(28);
				var fileDataStart = entry.relativeOffsetOfLocalHeader + 30 + fileNameLength + extraFieldLength;
				if (fileDataStart + entry.compressedSize > self.fileSize) return callback(/* @__PURE__ */ new Error("file data overflows file bounds: " + fileDataStart + " + " + entry.compressedSize + " > " + self.fileSize));
				if (options.minimal) return callback(null, { fileDataStart });
				var localFileHeader = new LocalFileHeader();
				localFileHeader.fileDataStart = fileDataStart;
				localFileHeader.versionNeededToExtract = buffer.readUInt16LE(4);
				localFileHeader.generalPurposeBitFlag = buffer.readUInt16LE(6);
				localFileHeader.compressionMethod = buffer.readUInt16LE(8);
				localFileHeader.lastModFileTime = buffer.readUInt16LE(10);
				localFileHeader.lastModFileDate = buffer.readUInt16LE(12);
				localFileHeader.crc32 = buffer.readUInt32LE(14);
				localFileHeader.compressedSize = buffer.readUInt32LE(18);
				localFileHeader.uncompressedSize = buffer.readUInt32LE(22);
				localFileHeader.fileNameLength = fileNameLength;
				localFileHeader.extraFieldLength = extraFieldLength;
				buffer = newBuffer(fileNameLength + extraFieldLength);
				self.reader.ref();
				readAndAssertNoEof(self.reader, buffer, 0, buffer.length, entry.relativeOffsetOfLocalHeader + 30, function(err) {
					try {
						if (err) return callback(err);
						localFileHeader.fileName = buffer.subarray(0, fileNameLength);
						localFileHeader.extraField = buffer.subarray(fileNameLength);
						return callback(null, localFileHeader);
					} finally {
						self.reader.unref();
					}
				});
			} finally {
				self.reader.unref();
			}
		});
	};
	ZipFile.prototype.openReadStreamPromise = function(entry, options) {
		return new Promise((resolve, reject) => {
			this.openReadStream(entry, options, function(err, readStream) {
				if (err) return reject(err);
				resolve(readStream);
			});
		});
	};
	ZipFile.prototype.openReadStreamLowLevelPromise = function(fileDataStart, compressedSize, relativeStart, relativeEnd, decompress, uncompressedSize) {
		return new Promise((resolve, reject) => {
			this.openReadStream(fileDataStart, compressedSize, relativeStart, relativeEnd, decompress, uncompressedSize, function(err, readStream) {
				if (err) return reject(err);
				resolve(readStream);
			});
		});
	};
	ZipFile.prototype.readLocalFileHeaderPromise = function(entry, options) {
		return new Promise((resolve, reject) => {
			this.readLocalFileHeader(entry, options, function(err, localFileHeader) {
				if (err) return reject(err);
				resolve(localFileHeader);
			});
		});
	};
	function Entry() {}
	Entry.prototype.getLastModDate = function(options) {
		if (options == null) options = {};
		if (!options.forceDosFormat) for (var i = 0; i < this.extraFields.length; i++) {
			var extraField = this.extraFields[i];
			if (extraField.id === 21589) {
				var data = extraField.data;
				if (data.length < 5) continue;
				if (!(data[0] & 1)) continue;
				var posixTimestamp = data.readInt32LE(1);
				return /* @__PURE__ */ new Date(posixTimestamp * 1e3);
			} else if (extraField.id === 10) {
				var data = extraField.data;
				if (data.length !== 32) continue;
				if (data.readUInt16LE(4) !== 1) continue;
				if (data.readUInt16LE(6) !== 24) continue;
				var millisecondsSince1970 = (data.readUInt32LE(8) + 4294967296 * data.readInt32LE(12)) / 1e4 - 0xa9730b66800;
				return new Date(millisecondsSince1970);
			}
		}
		return dosDateTimeToDate(this.lastModFileDate, this.lastModFileTime, options.timezone);
	};
	Entry.prototype.canDecodeFileData = function() {
		return !this.isEncrypted() && (this.compressionMethod === 0 || this.compressionMethod === 8);
	};
	Entry.prototype.isEncrypted = function() {
		return (this.generalPurposeBitFlag & 1) !== 0;
	};
	Entry.prototype.isCompressed = function() {
		return this.compressionMethod === 8;
	};
	function LocalFileHeader() {}
	function dosDateTimeToDate(date, time, timezone) {
		var day = date & 31;
		var month = (date >> 5 & 15) - 1;
		var year = (date >> 9 & 127) + 1980;
		var millisecond = 0;
		var second = (time & 31) * 2;
		var minute = time >> 5 & 63;
		var hour = time >> 11 & 31;
		if (timezone == null || timezone === "local") return new Date(year, month, day, hour, minute, second, millisecond);
		else if (timezone === "UTC") return new Date(Date.UTC(year, month, day, hour, minute, second, millisecond));
		else throw new Error("unrecognized options.timezone: " + options.timezone);
	}
	function getFileNameLowLevel(generalPurposeBitFlag, fileNameBuffer, extraFields, strictFileNames) {
		var fileName = null;
		for (var i = 0; i < extraFields.length; i++) {
			var extraField = extraFields[i];
			if (extraField.id === 28789) {
				if (extraField.data.length < 6) continue;
				if (extraField.data.readUInt8(0) !== 1) continue;
				var oldNameCrc32 = extraField.data.readUInt32LE(1);
				if (crc32(fileNameBuffer) !== oldNameCrc32) continue;
				fileName = decodeBuffer(extraField.data.subarray(5), true);
				break;
			}
		}
		if (fileName == null) fileName = decodeBuffer(fileNameBuffer, (generalPurposeBitFlag & 2048) !== 0);
		if (!strictFileNames) fileName = fileName.replace(/\\/g, "/");
		return fileName;
	}
	function validateFileName(fileName) {
		if (fileName.indexOf("\\") !== -1) return "invalid characters in fileName: " + fileName;
		if (/^[a-zA-Z]:/.test(fileName) || /^\//.test(fileName)) return "absolute path: " + fileName;
		if (fileName.split("/").indexOf("..") !== -1) return "invalid relative path: " + fileName;
		return null;
	}
	function parseExtraFields(extraFieldBuffer) {
		var extraFields = [];
		var i = 0;
		while (i < extraFieldBuffer.length - 3) {
			var headerId = extraFieldBuffer.readUInt16LE(i + 0);
			var dataSize = extraFieldBuffer.readUInt16LE(i + 2);
			var dataStart = i + 4;
			var dataEnd = dataStart + dataSize;
			if (dataEnd > extraFieldBuffer.length) throw new Error("extra field length exceeds extra field buffer size");
			var dataBuffer = extraFieldBuffer.subarray(dataStart, dataEnd);
			extraFields.push({
				id: headerId,
				data: dataBuffer
			});
			i = dataEnd;
		}
		return extraFields;
	}
	function readAndAssertNoEof(reader, buffer, offset, length, position, callback) {
		if (length === 0) return setImmediate(function() {
			callback(null, newBuffer(0));
		});
		reader.read(buffer, offset, length, position, function(err, bytesRead) {
			if (err) return callback(err);
			if (bytesRead < length) return callback(/* @__PURE__ */ new Error("unexpected EOF"));
			callback();
		});
	}
	util.inherits(AssertByteCountStream, Transform);
	function AssertByteCountStream(byteCount) {
		Transform.call(this);
		this.actualByteCount = 0;
		this.expectedByteCount = byteCount;
	}
	AssertByteCountStream.prototype._transform = function(chunk, encoding, cb) {
		this.actualByteCount += chunk.length;
		if (this.actualByteCount > this.expectedByteCount) {
			var msg = "too many bytes in the stream. expected " + this.expectedByteCount + ". got at least " + this.actualByteCount;
			return cb(new Error(msg));
		}
		cb(null, chunk);
	};
	AssertByteCountStream.prototype._flush = function(cb) {
		if (this.actualByteCount < this.expectedByteCount) {
			var msg = "not enough bytes in the stream. expected " + this.expectedByteCount + ". got only " + this.actualByteCount;
			return cb(new Error(msg));
		}
		cb();
	};
	util.inherits(RandomAccessReader, EventEmitter);
	function RandomAccessReader() {
		EventEmitter.call(this);
		this.refCount = 0;
	}
	RandomAccessReader.prototype.ref = function() {
		this.refCount += 1;
	};
	RandomAccessReader.prototype.unref = function() {
		var self = this;
		self.refCount -= 1;
		if (self.refCount > 0) return;
		if (self.refCount < 0) throw new Error("invalid unref");
		self.close(onCloseDone);
		function onCloseDone(err) {
			if (err) return self.emit("error", err);
			self.emit("close");
		}
	};
	RandomAccessReader.prototype.createReadStream = function(options) {
		if (options == null) options = {};
		var start = options.start;
		var end = options.end;
		if (start === end) {
			var emptyStream = new PassThrough();
			setImmediate(function() {
				emptyStream.end();
			});
			return emptyStream;
		}
		var stream = this._readStreamForRange(start, end);
		var destroyed = false;
		var refUnrefFilter = new RefUnrefFilter(this);
		stream.on("error", function(err) {
			setImmediate(function() {
				if (!destroyed) refUnrefFilter.emit("error", err);
			});
		});
		installDestroyFn(refUnrefFilter, function() {
			stream.unpipe(refUnrefFilter);
			refUnrefFilter.unref();
			stream.destroy();
		});
		var byteCounter = new AssertByteCountStream(end - start);
		refUnrefFilter.on("error", function(err) {
			setImmediate(function() {
				if (!destroyed) byteCounter.emit("error", err);
			});
		});
		installDestroyFn(byteCounter, function() {
			destroyed = true;
			refUnrefFilter.unpipe(byteCounter);
			refUnrefFilter.destroy();
		});
		return stream.pipe(refUnrefFilter).pipe(byteCounter);
	};
	RandomAccessReader.prototype._readStreamForRange = function(start, end) {
		throw new Error("not implemented");
	};
	RandomAccessReader.prototype.read = function(buffer, offset, length, position, callback) {
		var readStream = this.createReadStream({
			start: position,
			end: position + length
		});
		var writeStream = new Writable();
		var written = 0;
		writeStream._write = function(chunk, encoding, cb) {
			chunk.copy(buffer, offset + written, 0, chunk.length);
			written += chunk.length;
			cb();
		};
		writeStream.on("finish", callback);
		readStream.on("error", function(error) {
			callback(error);
		});
		readStream.pipe(writeStream);
	};
	RandomAccessReader.prototype.close = function(callback) {
		setImmediate(callback);
	};
	util.inherits(RefUnrefFilter, PassThrough);
	function RefUnrefFilter(context) {
		PassThrough.call(this);
		this.context = context;
		this.context.ref();
		this.unreffedYet = false;
	}
	RefUnrefFilter.prototype._flush = function(cb) {
		this.unref();
		cb();
	};
	RefUnrefFilter.prototype.unref = function(cb) {
		if (this.unreffedYet) return;
		this.unreffedYet = true;
		this.context.unref();
	};
	var cp437 = "\0☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼ !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~⌂ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xA0";
	function decodeBuffer(buffer, isUtf8) {
		if (isUtf8) return buffer.toString("utf8");
		else {
			var result = "";
			for (var i = 0; i < buffer.length; i++) result += cp437[buffer[i]];
			return result;
		}
	}
	function readUInt64LE(buffer, offset) {
		var lower32 = buffer.readUInt32LE(offset);
		return buffer.readUInt32LE(offset + 4) * 4294967296 + lower32;
	}
	var newBuffer;
	if (typeof Buffer.allocUnsafe === "function") newBuffer = function(len) {
		return Buffer.allocUnsafe(len);
	};
	else newBuffer = function(len) {
		return new Buffer(len);
	};
	function installDestroyFn(stream, fn) {
		if (typeof stream.destroy === "function") stream._destroy = function(err, cb) {
			fn();
			if (cb != null) cb(err);
		};
		else stream.destroy = fn;
	}
	function defaultCallback(err) {
		if (err) throw err;
	}
}));

// src/publish/artifact.ts
var import_yauzl = require_yauzl();
const artifactLimits = {
	zipBytes: 200 * 1024 ** 2,
	fileBytes: 16 * 1024 ** 2,
	files: 2e4,
	seconds: 300
};
/**
* Downloads the newest artifact of this name of a workflow run: a re-run of its job leaves another one. Needs a token
* with `actions: read`, which GitHub gets to see and the host that it points to never does.
*/
async function fetchArtifact(octokit, wanted, limits = artifactLimits) {
	try {
		const artifact = await newestArtifact(octokit, wanted);
		if (artifact === void 0) return none(`${called(wanted)} does not exist: look whether the job that uploads it has run.`);
		if (artifact.expired) return none(`${called(wanted)} has expired: judge the patch again.`);
		if (artifact.size_in_bytes > limits.zipBytes) return refused(tooLarge(wanted, limits));
		return await download(await placeOf(octokit, wanted, artifact.id), wanted, limits);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return failed(whyNot(failure, wanted));
	}
}
const none = (why) => ({
	kind: "none",
	why
});
const refused = (why) => ({
	kind: "refused",
	why
});
const failed = (why) => ({
	kind: "failed",
	why
});
const called = ({ repository, runId, name }) => `The artifact ${name} of run ${runId} of ${repository}`;
const tooLarge = (wanted, { zipBytes }) => `${called(wanted)} has more than ${zipBytes} bytes and was left alone: upload the work directory only.`;
const ownerAndRepo = ({ repository }) => {
	const [owner = "", repo = ""] = repository.split("/");
	return {
		owner,
		repo
	};
};
async function newestArtifact(octokit, wanted) {
	return (await octokit.paginate(octokit.rest.actions.listWorkflowRunArtifacts, {
		...ownerAndRepo(wanted),
		run_id: wanted.runId,
		name: wanted.name,
		per_page: 100
	})).filter(({ name }) => name === wanted.name).toSorted((a, b) => b.id - a.id).at(0);
}
/** Octokit would follow the redirect and read whatever comes into memory; so it is told not to. */
async function placeOf(octokit, wanted, id) {
	const { headers } = await octokit.rest.actions.downloadArtifact({
		...ownerAndRepo(wanted),
		artifact_id: id,
		archive_format: "zip",
		request: { redirect: "manual" }
	});
	return URL.parse(headers.location ?? "");
}
/** The place is a secret of its own for a minute, and is not named in full. */
async function download(place, wanted, limits) {
	if (place === null || !isTrusted(place)) return refused(`${called(wanted)} was not fetched because GitHub points to no https address for it: look whether the API's address is right.`);
	const again = "run the job again";
	try {
		const signal = AbortSignal.timeout(limits.seconds * 1e3);
		const response = await fetch(place, {
			redirect: "error",
			signal
		});
		if (response.status !== 200 || response.body === null) {
			await response.body?.cancel();
			return failed(`${called(wanted)} was not fetched because ${place.host} answered ${response.status}: ${again}.`);
		}
		const bytes = await bytesOf(response.body, limits.zipBytes);
		return bytes === void 0 ? refused(tooLarge(wanted, limits)) : {
			kind: "fetched",
			bytes
		};
	} catch (error) {
		const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
		return failed(`${called(wanted)} was not fetched from ${place.host} (${reasonOf(cause)}): ${again}.`);
	}
}
/** Without TLS only from this machine, where tests serve it. */
const isTrusted = ({ protocol, hostname, username, password }) => (protocol === "https:" || protocol === "http:" && loopback.has(hostname)) && username === "" && password === "";
const loopback = /* @__PURE__ */ new Set(["127.0.0.1", "localhost"]);
/** Undefined for more than `mostBytes`: the connection is then closed, whatever its headers promised. */
async function bytesOf(body, mostBytes) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of body) {
		bytes += chunk.length;
		if (bytes > mostBytes) return void 0;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
function whyNot(failure, wanted) {
	const what = `${called(wanted)} was not fetched`;
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): run the job again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: run the job again then.`;
	if (failure.status === 403) return `${what} because the token may not (${failure.said}): give the job \`permissions: actions: read\`.`;
	if (failure.status === 401) return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
	return `${what} because GitHub answered ${failure.said}: look whether the run and its artifact are still there.`;
}
/** The result in the text of a `result.json` that a stranger may have written. */
function parseResult(text) {
	try {
		if (commas(text) > mostCommas) throw new RangeError(`more than ${mostCommas} values`);
		return {
			kind: "read",
			result: resultSchema.parse(JSON.parse(text))
		};
	} catch {
		return refused("The result.json of the artifact is no result of this version of ppsgate: judge the patch again.");
	}
}
/** A result of 16 MiB as ppsgate writes it has fewer. */
const mostCommas = 5e5;
function commas(text) {
	let count = 0;
	for (const character of text) if (character === ",") count += 1;
	return count;
}
/**
* The files of these names out of a zip, as text, those that are there. They stand at the top or in one folder, those
* whose names have folders just there; of all other entries only the names are looked at. Nothing is written anywhere.
*/
async function readEntries(zip, names, limits = artifactLimits) {
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(names), limits);
		const texts = /* @__PURE__ */ new Map();
		for (const [name, entry] of entries) texts.set(name, await textOf({
			archive,
			zip,
			name,
			entry
		}, limits.fileBytes));
		return {
			kind: "read",
			texts
		};
	} catch (error) {
		return refusalOf(error);
	}
}
var Refusal = class extends Error {};
function refusalOf(error) {
	if (error instanceof Refusal) return refused(error.message);
	const [said] = reasonOf(error).split(/[.:]/);
	return refused(`The artifact is no zip that can be read (${said}): run its job again.`);
}
/** Of all profiles of one result; flamegraphs of more are not drawn. */
const mostProfileBytes = 64 * 1024 ** 2;
/** One of each variant in each cell: the longest experiments have some hundred. */
const mostProfiles = 500;
const tooManyBytes = `The profiles of the artifact have more than ${mostProfileBytes} bytes together: of the rest no flamegraphs are drawn.`;
/**
* The profiles that a result of the artifact tells of, which lie below `folder`; what cannot be read is left out, and
* `leftOut` hears why. The zip is gone through once, however many files are named.
*/
async function profilesIn(zip, result, folder, leftOut = () => {}) {
	const paths = profilePaths(result);
	if (paths.length > mostProfiles) {
		leftOut(`The result names ${paths.length} profiles, and at most ${mostProfiles} are read: no flamegraphs are drawn.`);
		return [];
	}
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(paths.map((path) => folder + path)), artifactLimits);
		let left = mostProfileBytes;
		const textAt = async (path) => {
			const name = folder + path;
			const entry = entries.get(name);
			if (entry === void 0) return void 0;
			const bytes = Math.min(left, artifactLimits.fileBytes);
			left -= bytes;
			try {
				if (bytes === 0) throw new Refusal(tooManyBytes);
				const text = await textOf({
					archive,
					zip,
					name,
					entry
				}, bytes);
				left += bytes - Math.min(bytes, text.length);
				return text;
			} catch (error) {
				leftOut(refusalOf(error).why);
				return;
			}
		};
		return await readProfiles(result, textAt, leftOut);
	} catch (error) {
		leftOut(refusalOf(error).why);
		return [];
	}
}
function profilePaths({ outcome }) {
	return (outcome.kind === "judged" ? outcome.cells : []).flatMap(({ profiles }) => profiles.flatMap((one) => one.kind === "profiled" ? one.file : []));
}
async function entriesOf(archive, names, { files }) {
	if (archive.entryCount > files) throw new Refusal(`The artifact says that it holds ${archive.entryCount} files, and at most ${files} are looked at: upload the work directory only.`);
	const found = /* @__PURE__ */ new Map();
	for await (const entry of archive.eachEntry()) {
		const path = entry.fileNameRaw.toString();
		const name = names.has(path) ? path : nameOf(path);
		if (name === void 0 || !names.has(name)) continue;
		if (found.has(name)) throw new Refusal(`The artifact holds more than one ${name}, and it is not told which one counts: upload one work directory.`);
		found.set(name, entry);
	}
	return found;
}
/** Without its folder; undefined for what lies deeper, or outside. */
function nameOf(path) {
	const parts = path.split("/");
	const [folder, name] = parts.length === 1 ? ["top", ...parts] : parts;
	return parts.length > 2 || [
		"",
		".",
		".."
	].includes(folder ?? "") ? void 0 : name;
}
async function textOf(found, mostBytes) {
	const { name, entry } = found;
	if (!isRegularFile(entry)) throw new Refusal(`The artifact's ${name} is no regular file: upload the work directory as it is.`);
	if (!entry.canDecodeFileData()) throw new Refusal(`The artifact's ${name} is encrypted, or packed in a way other than deflate: upload it with actions/upload-artifact.`);
	const content = await contentOf(found, mostBytes);
	if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw new Refusal(`The artifact's ${name} is damaged: run the job that uploads it again.`);
	if (!isUtf8(content)) throw new Refusal(`The artifact's ${name} is no UTF-8 text: judge the patch again.`);
	return content.toString();
}
/** By the type in st_mode(2), which Unix zips keep in the upper half; others keep nothing there. */
function isRegularFile({ externalFileAttributes }) {
	const type = externalFileAttributes >>> 16 & 61440;
	return type === 0 || type === 32768;
}
/** What the entry says of its size is not believed: inflating stops at the bound. */
async function contentOf({ archive, zip, name, entry }, mostBytes) {
	const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
	const packed = zip.subarray(fileDataStart, fileDataStart + entry.compressedSize);
	const tooMuch = `The artifact's ${name} has more than ${mostBytes} bytes: nothing of that size is a result.`;
	if (entry.compressionMethod === 0) {
		if (packed.length > mostBytes) throw new Refusal(tooMuch);
		return packed;
	}
	try {
		return inflateRawSync(packed, { maxOutputLength: mostBytes });
	} catch (error) {
		const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
		throw new Refusal(isTooMuch ? tooMuch : `The artifact's ${name} is damaged: run the job that uploads it again.`);
	}
}
/** What the result is of that GitHub does not say of the patch, as a sentence; undefined where they agree. */
function agreesWith({ patch }, meant) {
	const place = meant.kind === "pull-request" ? ` of ${meant.repository}` : "";
	const called = meant.kind === "revision" ? `D${meant.number}:${meant.diff}` : `${patchName(meant)}${place}`;
	const isOf = (other) => `The result is of ${other}, not of ${called}: judge that again.`;
	if (patch.kind !== meant.kind) return isOf(kindNames[patch.kind]);
	if (patch.kind === "pull-request" && meant.kind === "pull-request") {
		if (patch.repository.toLowerCase() !== meant.repository.toLowerCase()) return isOf("another repository");
		if (patch.number !== meant.number) return isOf(patchName(patch));
	}
	if (patch.kind === "revision" && meant.kind === "revision") {
		if (!(patch.number === meant.number && patch.diff === meant.diff)) return isOf(`D${patch.number}:${patch.diff}`);
	}
	for (const side of ["base", "head"]) {
		const [judged, current] = [patch[`${side}Commit`], meant[`${side}Commit`]];
		if (judged === current) continue;
		return `The result is of ${called} with ${judged} as its ${side}, which is ${current} on GitHub: judge it again.`;
	}
}
const kindNames = {
	"pull-request": "a pull request",
	revision: "a revision",
	range: "a range of commits"
};
/** Title, author, links and names as GitHub has them, not as the artifact. */
const withPatch = (result, patch) => ({
	...result,
	patch
});

// src/action/extend.ts
const artifactName = "ppsgate-result";
/**
* Lays plan and journal into the work directory. What they say is laid on the DUT, so only those of a run count whose
* workflow is the repository's own: a fork's pull request brings its own. Throws a `UsageError` for what cannot go on.
*/
async function fetchExperiment(octokit, repository, { run, patch }, directory) {
	const again = `write /ppsgate run to measure ${patchName(patch)} from the start.`;
	await refuseForeign(octokit, repository, run, again);
	const artifact = await fetchArtifact(octokit, {
		repository,
		runId: run,
		name: artifactName
	});
	if (artifact.kind !== "fetched") throw new UsageError(`${artifact.why} Else ${again}`);
	const names = ["experiment.json", "journal.jsonl"];
	const entries = await readEntries(artifact.bytes, names);
	if (entries.kind === "refused") throw new UsageError(`${entries.why} Else ${again}`);
	await mkdir(directory, { recursive: true });
	for (const name of names) {
		const text = entries.texts.get(name);
		if (text === void 0) throw new UsageError(`The experiment to extend has no ${name}: ${again}`);
		await writeFile(join(directory, name), text);
	}
	const { patch: judged, variants } = await readPlan(directory);
	if (variants.some(({ kernel }) => kernel?.kind === "archive")) throw new UsageError(`The experiment to extend boots a kernel from a file: ${again}`);
	if (judged.headCommit !== patch.headCommit || judged.baseCommit !== patch.baseCommit) throw new UsageError(`The experiment to extend is of other commits than are there now: ${again}`);
}
/** As many as are asked for, or twice as many as there may have been. */
async function runsToExtend(directory, asked) {
	if (asked !== void 0) return parseMaxRuns(asked);
	const { cells } = await readPlan(directory);
	return 2 * Math.max(...cells.flatMap(({ design }) => design.budgets));
}
async function refuseForeign(octokit, repository, run_id, again) {
	const [owner = "", repo = ""] = repository.split("/");
	const { data } = await octokit.rest.actions.getWorkflowRun({
		owner,
		repo,
		run_id
	}).catch((error) => {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		if (failure.kind === "answered" && failure.status === 404) throw new UsageError(`The experiment to extend is gone from GitHub: ${again}`);
		throw new Error(`GitHub did not tell which run the experiment to extend is of (${failure.said}): run the job again.`);
	});
	if (data.event === "pull_request_target" || data.head_repository?.full_name === data.repository.full_name) return;
	throw new UsageError(`The experiment to extend was run by the workflow of a fork: ${again}`);
}

// src/publish/data-directory.ts
/** A directory that cannot be published in. */
var DataDirectoryError = class extends Error {
	name = "DataDirectoryError";
};
/**
* Puts results into the directory, which need not exist yet, or with none brings its badges up to date; answers the
* paths of each in it. Each file is there whole or not at all, and the index never tells of one that is not. Others
* who publish there are waited for, up to a minute. Throws a DataDirectoryError where there is something else.
*/
async function publishToDirectory(directory, publications, { pause = (seconds) => setTimeout(seconds * 1e3), ...rules }) {
	await mkdir(directory, { recursive: true });
	return inTurn(directory, pause, async () => {
		const { write, remove, published } = nextFiles(await readStored(directory), publications, {
			...rules,
			isSite: true
		});
		for (const [path, text] of write) await replaceFile(join(directory, path), text);
		for (const path of remove) await removeFile(join(directory, path));
		return published;
	});
}
const mostTries = 60;
/** Node has no flock(2), but SQLite locks a file, and the kernel unlocks it when the process ends. */
async function inTurn(directory, pause, work) {
	const lock = new DatabaseSync(join(directory, ".lock"));
	try {
		for (let tries = 1; !isLocked(lock); tries++) {
			if (tries === mostTries) throw new DataDirectoryError(`${directory} was written to by somebody else for a minute: publish the result again later.`);
			await pause(1);
		}
		return await work();
	} finally {
		lock.close();
	}
}
function isLocked(lock) {
	try {
		lock.exec("BEGIN EXCLUSIVE");
		return true;
	} catch {
		return false;
	}
}
async function readStored(directory) {
	const text = await readText(join(directory, indexPath));
	if (text === void 0) return {
		index: emptyIndex,
		history: [],
		paths: /* @__PURE__ */ new Set()
	};
	const index = parseIndex(text);
	if (index === void 0) throw new DataDirectoryError(`${join(directory, indexPath)} is no index of this version of ppsgate: name another directory, or remove this one.`);
	return {
		index,
		history: parseHistory(await readText(join(directory, "history.jsonl")) ?? ""),
		paths: await pathsIn(directory)
	};
}
const readText = (path) => readFile(path, "utf8").catch((error) => {
	if (error.code === "ENOENT") return void 0;
	throw new DataDirectoryError(`${path} cannot be read (${error.code}): check who may read it.`);
});
async function pathsIn(directory) {
	const files = (await readdir(directory, {
		recursive: true,
		withFileTypes: true
	})).filter((entry) => !entry.isDirectory());
	return new Set(files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll(sep, "/")));
}
/** And its folder, when that is empty then. */
async function removeFile(path) {
	await rm(path, { force: true });
	await rmdir(dirname(path)).catch(() => {});
}

// src/action/publish-data.ts
/** With no publication the badges are brought up to date. What cannot be kept is a warning: the verdict stands. */
async function publishData({ octokit, inputs: { job } }, { github }, asked) {
	const warned = /* @__PURE__ */ new Set();
	const leftOut = (why) => {
		if (!warned.has(why)) log.warn(why);
		warned.add(why);
	};
	const usual = {
		rerun: `comment \`/ppsgate rerun\`, or ${`[run this job again](${job.runUrl})`}`,
		rawData: `the [job](${job.runUrl})`
	};
	const publications = asked.map((publication) => ({
		...publication,
		leftOut
	}));
	const all = publications.map(() => usual);
	const { branch, directory, pages, keep, staleSeconds } = github.data;
	if (directory !== void 0) await publishToDirectory(directory, publications, {
		keep,
		staleSeconds,
		now: /* @__PURE__ */ new Date()
	}).catch((error) => log.warn(`${directory} did not get the result (${reasonOf(error)}).`));
	if (branch === void 0) return all;
	const published = await publishToBranch(octokit, {
		repository: job.repository,
		branch,
		serverUrl: job.serverUrl,
		...pages && { pages }
	}, publications, {
		keep,
		staleSeconds,
		now: () => /* @__PURE__ */ new Date()
	});
	if (published.kind === "not-published") {
		log.warn(published.why);
		return all;
	}
	return published.links.map(({ result, report, page, graphs }) => {
		const rawData = [
			report && `[report](${report})`,
			result && `[result](${result})`,
			usual.rawData
		].filter(Boolean).join(", ");
		return {
			...usual,
			rawData,
			...page && { page },
			graph: (anchor) => graphs.get(anchor)
		};
	});
}

// src/action/run-gate.ts
/** Answers the exit code of the worst verdict; throws for what kept it from one. */
async function runGate(context, signal) {
	const { request: handed } = context.inputs;
	if (handed !== "") {
		const request = readRequest(handed);
		const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
		if (request.patch.kind === "revision") await restoreRevision(request.patch, revisionWorldOf(context, config));
		return measure(request, config, {
			context,
			isAlone: false,
			signal
		});
	}
	const admission = await admitEvent(context);
	if (admission.kind === "refused") await keepRefusal(admission.why, context);
	if (admission.kind !== "go") return exitCodeOf(admission);
	return measure(admission.request, admission.config, {
		context,
		isAlone: true,
		signal
	});
}
async function measure(request, written, job) {
	const { config, wishes, testbeds } = await planned(request, written, job);
	if (testbeds.flat().some((name) => config.testbeds[name]?.kind === "embedded-linux")) {
		const exitCode = await readyMachine(log.info);
		if (exitCode !== void 0) return exitCode;
		saveState(labState, "up");
	}
	const folder = await newFolder(job.context);
	saveState(leaseState, folder);
	const done = [];
	for (const [index, name] of gateNames(wishes).entries()) {
		const place = {
			...job,
			folder,
			directory: wishes.length === 1 ? folder : join(folder, String(index + 1)),
			file: (base) => join(folder, fileOf(base, index, wishes.length))
		};
		const answer = await openAnswer(request, config, name, place);
		if (job.isAlone) saveState(answerState, openAnswerText({
			name,
			request
		}));
		const ending = await answering(answer, job.signal, () => judge({
			request,
			config,
			testbeds: testbeds[index] ?? []
		}, place, answer)).catch(async (error) => {
			await keepFailure(error, place);
			throw error;
		}).finally(() => saveState(answerState, ""));
		done.push({
			ending,
			directory: place.directory
		});
		tellOutputs(worstOf(done));
	}
	return exitCodeFor(request.purpose, done.map(({ ending }) => ending.exitCode));
}
/** A job that nobody waits for need not be red because noise had its way: that is what it is there to learn. */
function exitCodeFor(purpose, codes) {
	const code = worstExitCode(codes);
	return purpose !== "patch" && code === exitCodes.undecided || purpose === "nightly" && code === exitCodes.patchAtFault ? exitCodes.pass : code;
}
/** What cannot be carried out as it is configured is told before anything is reserved, and not in the log alone. */
async function planned(request, written, { context, isAlone }) {
	const { inputs } = context;
	try {
		const config = applyOverrides(applyOverrides(written, inputs.overrides), request.ask);
		const wishes = wishesFor(config, request.ask, inputs);
		return {
			config,
			wishes,
			testbeds: wishes.map((wish) => testbedsFor(config, wish))
		};
	} catch (error) {
		if (isAlone) {
			const place = {
				name: "ppsgate",
				runId: inputs.job.runId
			};
			await (await answerFor(context, request, written, place)).ended(endingOfError(error));
		}
		throw error;
	}
}
/** It is uploaded, whatever comes to lie there: workflows look for it at its place, which no output can change. */
async function newFolder({ inputs: { job } }) {
	const folder = await makeFirst(join(job.temporary, "ppsgate"));
	setOutput("directory", folder);
	return folder;
}
/** The path, or where an earlier step has that one, `path-2`, `path-3` and so on. */
async function makeFirst(path, number = 1) {
	const folder = number === 1 ? path : `${path}-${number}`;
	try {
		await mkdir(folder);
		return folder;
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
		return makeFirst(path, number + 1);
	}
}
const openAnswer = async (request, config, name, { context, isAlone }) => isAlone ? answerFor(context, request, config, {
	name,
	runId: context.inputs.job.runId,
	keepComment: (url) => setOutput("comment-url", url)
}) : together([]);
async function judge(task, place, answer) {
	const { context, isAlone, directory } = place;
	const { request, config } = task;
	const result = await measured(task, place, answer);
	log.info(headline(result));
	const written = join(directory, "result.json");
	if (place.file("result") !== written) await copyFile(written, place.file("result"));
	const ending = {
		...endingOfResult(result, {}),
		result
	};
	if (!isAlone) return summarized(ending);
	const make = async () => {
		const { profiles } = await explained(result, directory, log.warn);
		const isDefaultBranch = request.purpose !== "patch";
		const [links = {}] = await publishData(context, config, [{
			result,
			profiles,
			isDefaultBranch,
			isTrusted: true
		}]);
		return links;
	};
	return summarized(await linkedAfterwards(answer, ending, make, log.warn));
}
/** The summary of the job holds the result also where nothing else can be written. */
async function summarized(ending) {
	await summary.addRaw(ending.summary).write();
	return ending;
}
/** Plain lines even where a runner offers a terminal, as act does: what it is told must begin a line. */
const jobLog = (hears) => ({ write(text) {
	hears(text.trim());
	return process.stdout.write(text);
} });
async function measured({ request, config, testbeds }, { context, folder, directory, signal }, answer) {
	const { inputs, octokit, repository } = context;
	const { job } = inputs;
	let testbed;
	const output = jobLog((line) => {
		if (testbed !== void 0) answer.measuring(testbed, line);
	});
	const progress = showProgress(output, config.gate.metric, () => performance.now());
	const tell = (text) => progress.onEvent({
		kind: "preparing",
		text
	});
	await using reservations = await openReservations(config, {
		signal,
		tell,
		onWait(outlook, text) {
			tell(text);
			answer.waiting(outlook, text);
		}
	});
	const world = {
		repository,
		async reserve(names) {
			const reserved = await reserveFor(request, names, {
				context,
				reservations,
				folder
			});
			testbed = reserved.name;
			answer.measuring(testbed);
			return reserved;
		},
		history: sharedHistory(config, context),
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent,
		signal
	};
	const { patch, extend } = request;
	try {
		if (extend === void 0) {
			const seed = randomSeed();
			return await gate({
				patch,
				config,
				testbeds: [...testbeds],
				seed
			}, directory, world);
		}
		await fetchExperiment(octokit, job.repository, {
			...extend,
			patch
		}, directory);
		return await resumeGate(directory, world, await runsToExtend(directory, extend.maxRuns));
	} finally {
		progress.end();
	}
}
function reserveFor(request, names, { context, reservations, folder }) {
	const { job } = context.inputs;
	const { patch, priority } = request;
	const holder = {
		who: job.who,
		purpose: "gate",
		patch: patchName(patch),
		url: job.runUrl
	};
	const subject = `${job.repository}${subjectOf(request)} by ${job.workflow}`;
	return reservations.reserve(names, {
		priority,
		holder,
		subject
	}, folder);
}
/** What this machine has learnt, and what the data branch has; a runner that is made anew each time knows nothing. */
function sharedHistory(config, { octokit, inputs: { job } }) {
	const file = historyFile(config.history);
	const { branch } = config.github.data;
	return {
		async read() {
			if (branch === void 0) return file.read();
			return [...await readHistory(octokit, {
				repository: job.repository,
				branch
			}).catch((error) => {
				log.warn(reasonOf(error));
				return [];
			}), ...await file.read()];
		},
		append: file.append
	};
}
/** For the job that publishes, which may follow also where this one answers: a fork's token may only read. */
async function keepFailure(error, { file }) {
	await writeFile(file("failure"), JSON.stringify(failureOf(error)));
}
async function keepRefusal(why, context) {
	const folder = await newFolder(context);
	const said = withoutPaths(why);
	const failure = {
		exitCode: exitCodes.usage,
		said,
		isRefused: true
	};
	await writeFile(join(folder, fileOf("failure", 0, 1)), JSON.stringify(failure));
}
function worstOf(done) {
	const codes = done.map(({ ending }) => ending.exitCode);
	return done[codes.indexOf(worstExitCode(codes))];
}
function tellOutputs(done) {
	if (done?.ending.result === void 0) return;
	setOutput("verdict", outcomeName(done.ending.result));
	setOutput("result-path", join(done.directory, "result.json"));
	setOutput("report-path", join(done.directory, "report.md"));
}

// src/experiment/recompute.ts
/**
* The same result, with the policy, cells, designs and traffic of the configuration and all that follows from the runs
* under these. What earlier experiments told of a cell's noise is taken for numbers, as the runs are; so is that a cell
* is invalid, which lets nothing pass. The profiles keep their place, and reasons have to be found again.
*/
function recompute(claimed, asked) {
	const { config, testbeds } = asked;
	if (!testbeds.includes(claimed.testbed.name)) return {
		kind: "refused",
		why: `The result is of the testbed ${claimed.testbed.name}, and not of ${testbeds.join(" or ")}: judge the patch again.`
	};
	const { flows, frameBytes, offeredPps, measureSeconds } = config.traffic;
	const result = {
		...claimed,
		policy: policyOf(config),
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
		},
		variants: variantsOf(claimed, asked.patch),
		leftOut: claimed.leftOut.filter(({ variant }) => othersOf(asked.patch).includes(variant)),
		outcome: outcomeOf(claimed, asked)
	};
	return {
		kind: "computed",
		result,
		refused: differences(claimed, result).slice(0, mostTold)
	};
}
/** A result that lies may do so of any number of cells. */
const mostTold = 20;
/** The commits are those that leave was given for; where the patch parted from its base only its history tells. */
function variantsOf({ variants }, patch) {
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	const commits = [{
		name: "patched",
		commit: patch.headCommit
	}, ...earlier.map(({ diff, headCommit }) => ({
		name: diffName(diff),
		commit: headCommit
	}))];
	const claimOf = (name) => variants.find((one) => one.name === name);
	return [claimOf("base") ?? {
		name: "base",
		commit: patch.baseCommit,
		files: []
	}, ...commits.map((one) => ({
		files: [],
		...claimOf(one.name),
		...one
	}))];
}
const othersOf = (patch) => patch.kind === "revision" ? patch.earlier.map(({ diff }) => diffName(diff)) : [];
function outcomeOf({ outcome }, asked) {
	if (outcome.kind !== "judged") return outcome;
	const policy = policyOf(asked.config);
	const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
	const inputs = cellsOf(asked.config).map((cell) => inputOf(cell, claims, asked));
	const cells = standings(inputs, policy).map((standing) => {
		const { claim, runs } = standing.input;
		const ofBase = baseNumbers(runs, policy.metric);
		const computed = cellResult(standing, policy, ofBase, othersOf(asked.patch));
		const stays = claim?.verdict.kind === "invalid" && computed.verdict.kind !== "regression";
		return {
			...computed,
			...stays && { verdict: claim.verdict },
			...claim === void 0 && { verdict: notMeasured },
			profiles: profilesOf(claim, asked.patch)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const notMeasured = {
	kind: "invalid",
	reason: "the result has no such cell"
};
function inputOf(cell, claims, { patch, config, isExtended }) {
	const claim = claims.get(cellName(cell));
	const others = othersOf(patch);
	const history = claim?.history;
	const planned = designOf(config, 2 + others.length, history);
	const budgets = isExtended ? extended(planned, claim?.design.budgets ?? []) : planned.budgets;
	const design = {
		...planned,
		budgets
	};
	const isOurs = ({ variant }) => isJudged(variant) || others.includes(variant);
	const runs = claim?.runs.filter(isOurs) ?? [];
	const input = {
		cell,
		claim,
		design,
		...history && { history },
		runs,
		failures: []
	};
	return {
		...input,
		closedPairs: closedPairsOf(input, policyOf(config))
	};
}
/**
* Pairs of the last look that has its runs. Where all looks up to there tell something, but the result says that the
* cell is invalid, the experiment ended with the next one, whose runs were lost for good.
*/
function closedPairsOf(input, { metric }) {
	const { claim, design, history, runs } = input;
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	const sizes = lookSizes({
		...design,
		earlierDegreesOfFreedom
	});
	const lacking = sizes.findIndex((size) => !isThere(runs, size));
	if (lacking === -1) return sizes.at(-1) ?? 0;
	const closedPairs = sizes[lacking - 1] ?? 0;
	const tells = (size) => evidenceAt({
		...input,
		closedPairs
	}, size, metric) !== void 0;
	return claim?.verdict.kind === "invalid" && sizes.slice(0, lacking).every(tells) ? sizes[lacking] ?? 0 : closedPairs;
}
/** As many as `parseMaxRuns` lets anybody ask for. */
const mostRuns = 1e4;
/** Doubled each time, ten reach those runs; each has half the error rate of the one before, which soon is no number. */
const mostBudgets = 20;
/** The budgets that extensions have added to the one that was planned, where they can be such. */
function extended({ budgets: planned, pairsPerStep }, claimed) {
	return claimed.every((budget, stage) => (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) && budget % pairsPerStep === 0 && budget < mostRuns + pairsPerStep) && claimed.length > 0 && claimed.length <= mostBudgets ? claimed : planned;
}
/** Whether a look has its runs; it can do without some. */
function isThere(runs, size) {
	const pairsOf = (name) => new Set(runs.flatMap(({ variant, pair }) => variant === name && pair <= size ? pair : []));
	return isEnough(pairsOf("base").intersection(pairsOf("patched")).size, size);
}
/** One of each variant, so that their number is bounded. */
function profilesOf(claim, patch) {
	return [
		"base",
		"patched",
		...othersOf(patch)
	].flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}
/** What the result says otherwise, in sentences. */
const differences = (claimed, result) => [
	...ofPolicy(claimed.policy, result.policy),
	...ofTraffic(claimed.traffic, result.traffic),
	...ofOutcome(claimed.outcome, result.outcome)
];
function ofPolicy(claimed, asked) {
	const metric = [claimed.metric, asked.metric];
	const ratios = ratioNames.map(([key, name]) => {
		const [said, wanted] = [claimed[key], asked[key]];
		return said === wanted ? [] : `It was held to ${name} of ${formatPercent(said)}, and ${formatPercent(wanted)} is asked for.`;
	});
	return [metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, and ${metric[1]} is asked for.`, ...ratios].flat();
}
const ratioNames = [
	["marginRatio", "a margin"],
	["confidenceRatio", "a confidence"],
	["falseAlarmRatio", "a rate of false alarms"],
	["missRatio", "a rate of misses"]
];
function ofTraffic(claimed, asked) {
	return [
		"flows",
		"frameBytes",
		"offeredPps",
		"measureSeconds"
	].flatMap((key) => claimed[key] === asked[key] ? [] : `Its traffic has ${key} ${claimed[key] ?? "unbounded"}, and ${asked[key] ?? "unbounded"} is asked for.`);
}
function ofOutcome(claimed, computed) {
	if (claimed.kind !== "judged" || computed.kind !== "judged") return [];
	const asked = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
	const unasked = claimed.cells.filter(({ cell }) => !asked.has(cellName(cell)));
	const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
	return [
		...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which is not asked for.`),
		...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
		...claimed.verdict === computed.verdict ? [] : [`It says ${claimed.verdict} of the patch, and its cells say ${computed.verdict}.`]
	];
}
function ofCell(claim, { cell, verdict, comparisons }) {
	const name = cellName(cell);
	if (claim === void 0) return [`It has no cell ${name}, which is asked for.`];
	if (claim.verdict.kind !== verdict.kind) return [`It says ${claim.verdict.kind} of ${name}, and its runs say ${verdict.kind}.`];
	return comparisons.every((one) => claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other))) ? [] : [`Its numbers of ${name} are not those of its runs.`];
}
/** Another machine may round otherwise. */
const isAlmost = (a, b) => [
	[a.base, b.base],
	[a.patched, b.patched],
	...[
		"change",
		"low",
		"high"
	].map((key) => [a.interval[key], b.interval[key]])
].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));

// src/action/run-publish.ts
/** Passes when the patch is answered, whatever the verdict: that is for the check to say. */
async function runPublish(context) {
	const source = await sourceOf(context);
	if (source === void 0) return exitCodes.pass;
	const { request, isTrusted } = source;
	const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
	const wishes = wishesFor(config, request.ask, context.inputs);
	const names = gateNames(wishes);
	const endings = await endingsOf(source, {
		config,
		wishes,
		context
	});
	const { runId } = source;
	const isOpen = runId === context.inputs.job.runId;
	const answered = [];
	for (const [index, name] of names.entries()) {
		const ending = endings[index] ?? cancelled;
		if (ending.refused !== void 0 && request.patch.kind === "pull-request") {
			const refusal = {
				pullRequest: request.patch,
				config,
				name,
				why: ending.refused,
				runId
			};
			await tellRefusal(context, refusal);
			continue;
		}
		const answer = await answerFor(context, request, config, {
			name,
			runId,
			isOpen
		});
		await answer.ended(ending);
		answered.push({
			answer,
			ending
		});
		if (ending.result === void 0) log.info(ending.title);
		if (ending.result !== void 0) await summary.addRaw(ending.summary).write();
	}
	for (const { answer, ending } of answered) await withLinks(answer, ending, {
		request,
		isTrusted
	}, config, context);
	return exitCodes.pass;
}
/** The patch as an earlier job of this run fixed it, or as GitHub says that a fork's own run was for. */
async function sourceOf(context) {
	const { inputs } = context;
	const { job } = inputs;
	if (inputs.request !== "") return {
		request: readRequest(inputs.request),
		runId: job.runId,
		isTrusted: true
	};
	if (job.eventName !== "workflow_run") throw new UsageError("publish: expected the input `request` of an earlier job, or the event workflow_run.");
	const { workflow_run: run } = workflowRun.parse(await readEvent(job));
	const all = await pullRequestsOfBranch(context.octokit, job.repository, {
		owner: run.head_repository.owner.login,
		branch: run.head_branch,
		commit: run.head_sha
	});
	const [found, ...more] = all;
	if (more.length > 0) throw new UsageError(`${numbersOf(all)} have the head ${run.head_sha}, and GitHub does not tell which of them was measured: write /ppsgate run ${run.head_sha.slice(0, 12)} at the one that is meant.`);
	if (found === void 0) {
		log.info(`No open pull request has ${run.head_sha} as its head any more: nobody is answered.`);
		return;
	}
	const { pullRequest: patch } = found;
	return {
		request: {
			patch,
			ask: {},
			priority: "patch",
			purpose: "patch"
		},
		runId: run.id,
		isTrusted: false
	};
}
const workflowRun = object({ workflow_run: object({
	id: int().positive(),
	head_sha: string(),
	head_branch: string(),
	head_repository: object({ owner: object({ login: string() }) })
}) });
/** How each gate ended, one for each wish, as far as the artifact can be believed. */
async function endingsOf({ request, runId, isTrusted }, { config, wishes, context }) {
	const { octokit, repository, inputs } = context;
	const { job, overrides } = inputs;
	const of = wishes.length;
	const everywhere = (ending) => new Array(of).fill(ending);
	const { patch } = request;
	if (!isTrusted) {
		const own = await changedOfGate(patch, repository, job);
		if (own !== void 0) return everywhere(endingOfFailure(exitCodes.usage, selfMade(patch, own)));
	}
	const artifact = await fetchArtifact(octokit, {
		repository: job.repository,
		runId,
		name: artifactName
	});
	if (artifact.kind === "none") return everywhere(cancelled);
	if (artifact.kind !== "fetched") return everywhere(endingOfFailure(exitCodes.infrastructure, artifact.why));
	const files = Array.from({ length: of }, (_, index) => ({
		result: fileOf("result", index, of),
		failure: fileOf("failure", index, of)
	}));
	const wanted = files.flatMap(({ result, failure }) => [result, failure]);
	const entries = await readEntries(artifact.bytes, wanted);
	if (entries.kind === "refused") return everywhere(endingOfFailure(exitCodes.infrastructure, entries.why));
	const asked = applyOverrides(applyOverrides(config, overrides), request.ask);
	return Promise.all(files.map(async ({ result, failure }, index) => {
		const measured = entries.texts.get(result);
		if (measured === void 0) return endingOfText(entries.texts.get(failure));
		const read = believed(measured, {
			patch,
			config: asked,
			testbeds: testbedsFor(asked, wishes[index]),
			isExtended: request.extend !== void 0
		});
		if (read.kind === "refused") return endingOfFailure(exitCodes.infrastructure, read.why);
		for (const sentence of read.refused) log.warn(`The artifact is not believed: ${sentence}`);
		const folder = of === 1 ? "" : `${index + 1}/`;
		const profiles = await profilesIn(artifact.bytes, read.result, folder, log.warn);
		const explained = withReasons(read.result, profiles);
		const corrections = read.refused;
		return {
			...endingOfResult(explained, { corrections }),
			profiles,
			corrections
		};
	}));
}
/** Of all that the artifact says only the numbers: what follows from them is computed again. */
function believed(text, asked) {
	const read = parseResult(text);
	if (read.kind === "refused") return read;
	const why = agreesWith(read.result, asked.patch);
	if (why !== void 0) return {
		kind: "refused",
		why
	};
	return recompute(withPatch(read.result, asked.patch), asked);
}
/** A gate that was cut short has left neither a result nor a word. */
function endingOfText(text) {
	if (text === void 0) return cancelled;
	try {
		const { exitCode, said, isRefused } = failureSchema.parse(JSON.parse(text));
		const isUsage = exitCode === exitCodes.usage;
		const ending = endingOfFailure(isUsage ? exitCode : exitCodes.infrastructure, said);
		return isRefused ? {
			...ending,
			refused: said
		} : ending;
	} catch {
		return cancelled;
	}
}
/**
* What the patch changes of that which measures it, which could then write any result: the workflows, and where the
* action lies in the repository all that runs with it.
*/
async function changedOfGate({ baseCommit, headCommit }, repository, { isOwnAction, workspace }, code = import.meta.dirname) {
	const base = await repository.mergeBase(baseCommit, headCommit);
	for (const path of [".github/", ...isOwnAction ? pathsOfAction(relative(workspace, code)) : []]) {
		const [before, after] = await Promise.all([base, headCommit].map((commit) => repository.idAt(commit, path.replace(/\/$/, ""))));
		if (before !== after) return path;
	}
}
/** Node looks for modules and for package.json beside what it runs, and in every folder above. */
function pathsOfAction(code) {
	const isInside = code !== "" && !code.startsWith("..");
	const folders = isInside ? code.split("/").map((_, end, names) => names.slice(0, end)) : [[]];
	const beside = [
		"dist/",
		"action.yml",
		"action.yaml",
		"package.json",
		"node_modules/"
	];
	return [...isInside ? [`${code}/`] : [], ...folders.flatMap((names) => beside.map((name) => [...names, name].join("/")))];
}
const selfMade = (patch, path) => `${patchName(patch)} changes ${path}, and so could say anything of itself: a maintainer who has read it can write /ppsgate run ${patch.headCommit.slice(0, 12)}.`;
async function withLinks(answer, ending, { request, isTrusted }, config, context) {
	const { result, profiles = [], corrections = [] } = ending;
	const isDefaultBranch = request.purpose !== "patch";
	if (result === void 0) {
		await publishData(context, config, []);
		return;
	}
	log.info(headline(result));
	const make = async () => {
		const [links = {}] = await publishData(context, config, [{
			result,
			profiles,
			isDefaultBranch,
			isTrusted
		}]);
		return {
			...links,
			corrections
		};
	};
	await linkedAfterwards(answer, {
		...ending,
		result
	}, make, log.warn);
}

// src/action/main.ts
/** Ends the process with the verdict's exit code; what kept it from a verdict becomes an annotation. */
async function runAction() {
	await runToExit(runCommand, { tell: log.error });
}
async function runCommand(signal) {
	const context = await openJob();
	switch (context.inputs.command) {
		case "admit": return runAdmit(context);
		case "gate": return runGate(context, signal);
		case "publish": return runPublish(context);
	}
}

export { runAction };