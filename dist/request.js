import { i as exitCodes } from "./exit.js";
import { C as object, E as string, g as boolean, m as array, p as _enum, y as int } from "./scenario.js";
import { t as datetime } from "./iso.js";
import { r as reasonOf } from "./one-line.js";
import { a as codeSpan, c as plainLine } from "./variant-name.js";
import { K as patchName, q as patchSchema } from "./markdown.js";
import { _ as timeText, g as secondsFor, h as placeInLine, l as cancelled, p as expectation, r as askSchema, s as newestTeller, u as endingOfError } from "./harbormaster.js";
import { a as githubFailure, i as publishComment } from "./github.js";
import { d as priorities, t as UsageError } from "./overrides.js";
import { t as jobSchema } from "./job.js";

// src/report/annotations.ts
const mostAnnotations = 20;
/** Of the lines of compilers, `git apply` and rule parsers, which begin with a file's path and a line's number. */
function annotationsOf({ outcome }) {
	if (outcome.kind === "judged") return [];
	return outcome.message.split("\n").flatMap((line) => annotation(line) ?? []).slice(0, mostAnnotations);
}
/** `/usr/src/sys/netinet/ip.c:12:3: error: …`, `error: patch failed: sys/netinet/ip.c:12`, `pf.conf:3: syntax error`. */
function annotation(line) {
	const text = line.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
	const [, found = "", digits] = /^(?:error: patch failed: )?([\w./+-]{1,300}):(\d{1,7})(?::|$|\s)/.exec(text) ?? [];
	const path = withinTree(found);
	const isPath = /[a-z]/i.test(path) && !path.split("/").includes("..");
	if (digits === void 0 || !isPath || !/error/i.test(text)) return void 0;
	const number = Math.max(1, Number(digits));
	return {
		path,
		start_line: number,
		end_line: number,
		annotation_level: "failure",
		message: text.slice(0, 1e3).replace(/\p{Cs}/gu, "")
	};
}
/** A builder's tree lies anywhere; FreeBSD's kernel sources lie in `sys/` of it. */
function withinTree(path) {
	return (/(?:^|\/)(sys\/.+)$/.exec(path)?.[1] ?? path.replace(/^\/+/, "")).replace(/^(?:\.\/)+/, "");
}

// src/publish/check.ts
/**
* One check run on the head of the patch, created with the first thing there is to show. What is shown next is sent at
* most every 10 s, but the end at once. Where GitHub refuses, as it does a token without `checks: write`, that is said
* once and not tried again.
*/
function openCheck(octokit, subject, options) {
	const { detailsUrl, now, undecided, hasButtons } = options;
	const teller = newestTeller(checkRunOf(octokit, subject, options), {
		...options,
		secondsBetween: 10,
		tooSlow: tooSlow$1
	});
	const withJob = (summary) => `${summary}\n\n[The job](${detailsUrl})`.trimStart();
	let since;
	return {
		queued(text) {
			teller.tell({
				status: "queued",
				output: {
					title: text,
					summary: withJob("")
				}
			});
		},
		waiting(outlook, text) {
			const summary = withJob(`${codeSpan(text, 1e3)}\n\n${expectation(outlook, now())}`);
			teller.tell({
				status: "queued",
				output: {
					title: placeInLine(outlook),
					summary
				}
			});
		},
		measuring(testbed, line = "") {
			since ??= now();
			const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
			const summary = withJob([where, codeSpan(line)].filter(Boolean).join("\n\n"));
			teller.tell({
				status: "in_progress",
				output: {
					title: `measuring on ${testbed}`,
					summary
				}
			});
		},
		ended(ending) {
			const { title, summary, result } = ending;
			const annotations = result === void 0 ? [] : annotationsOf(result);
			const output = {
				title,
				summary: withJob(summary),
				annotations
			};
			const conclusion = conclusionOf(ending, undecided);
			const actions = hasButtons ? buttonsFor(ending) : [];
			return teller.tellLast({
				status: "completed",
				conclusion,
				output,
				actions
			}, secondsFor(ending));
		},
		linked: (ending) => teller.tellInstead({
			status: "linked",
			output: {
				title: ending.title,
				summary: withJob(ending.summary)
			}
		}, secondsFor(ending)),
		left: teller.left
	};
}
/**
* Completes what a killed job left open, which may have known of its check or not; answers, in a sentence for people,
* why that failed.
*/
async function closeLeftCheck(octokit, { repository, patch }, { name, detailsUrl }) {
	const [owner = "", repo = ""] = repository.split("/");
	const { title, summary } = cancelled;
	const { checks } = octokit.rest;
	try {
		const found = await checks.listForRef({
			owner,
			repo,
			ref: patch.headCommit,
			check_name: name,
			filter: "all",
			per_page: 100
		});
		const ours = externalIdOf(patch, detailsUrl);
		for (const { id: check_run_id, external_id, status } of found.data.check_runs) {
			if (external_id !== ours || status === "completed") continue;
			const ending = {
				status: "completed",
				conclusion: "cancelled",
				output: {
					title,
					summary
				}
			};
			await checks.update({
				owner,
				repo,
				check_run_id,
				...ending
			});
		}
		return;
	} catch (error) {
		return `A check of ppsgate on ${repository} may stay open, because the job ended early and GitHub could not be told (${githubFailure(error)?.said ?? reasonOf(error)}): run the job again.`;
	}
}
/**
* Whether the newest check of this name on the head was passed, or left open, for another pull request or another base:
* a check stands on a commit, and speaks for whatever has that commit. True as well where GitHub does not tell.
*/
async function standsForAnother(octokit, { repository, patch }, name) {
	const [owner = "", repo = ""] = repository.split("/");
	try {
		const newest = (await octokit.rest.checks.listForRef({
			owner,
			repo,
			ref: patch.headCommit,
			check_name: name,
			filter: "all",
			per_page: 100
		})).data.check_runs.toSorted((a, b) => b.id - a.id)[0];
		return (newest?.conclusion === "success" || newest?.conclusion === "neutral") && !newest.external_id?.startsWith(externalIdOf(patch, ""));
	} catch {
		return true;
	}
}
/** `#7 main https://…`: what a check was made for. No branch has a space in its name. */
const externalIdOf = (patch, detailsUrl) => patch.kind === "pull-request" ? `#${patch.number} ${patch.baseBranch ?? "?"} ${detailsUrl}` : detailsUrl;
/** The number of the pull request that a check was made for, by its `external_id`. */
function pullRequestOfCheck(externalId) {
	const [, digits] = /^#([1-9]\d{0,9}) /.exec(externalId) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
/**
* What makes the job red makes the check red, and only a pass makes it green. `neutral` would be fair where nobody can
* say, but a branch rule that requires the check takes it for a pass, so a site has to ask for it; where nothing was
* measured at all it is never given. Whose fault it is stands in the title.
*/
function conclusionOf({ exitCode }, undecided) {
	switch (exitCode) {
		case exitCodes.pass: return "success";
		case exitCodes.cancelled: return "cancelled";
		case exitCodes.undecided: return undecided;
		default: return "failure";
	}
}
/** Within the 20, 40 and 20 characters that GitHub allows. */
const rerun = {
	label: "Re-run",
	description: "Measure this commit again",
	identifier: "rerun"
};
const extend = {
	label: "Extend",
	description: "Go on with more runs",
	identifier: "extend"
};
const buttonsFor = ({ exitCode }) => exitCode === exitCodes.undecided ? [extend, rerun] : [rerun];
const tooSlow$1 = (seconds) => `The check on the commit may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the check is required.`;
/** Shows views in one check run, the first by creating it. */
function checkRunOf(octokit, subject, { name, detailsUrl, isOpen = false }) {
	const [owner = "", repo = ""] = subject.repository.split("/");
	const { headCommit } = subject.patch;
	const request = { retries: 0 };
	const { checks } = octokit.rest;
	const external_id = externalIdOf(subject.patch, detailsUrl);
	let id;
	let mayExist = isOpen;
	let mayBeComplete = false;
	const create = async (view) => {
		const about = {
			name,
			head_sha: headCommit,
			details_url: detailsUrl
		};
		const { data } = await checks.create({
			owner,
			repo,
			...about,
			external_id,
			request,
			...view
		});
		return data.id;
	};
	/** The answer may be lost after GitHub did what was asked. What an earlier attempt of this run completed is not it. */
	const find = async (view) => {
		return (await checks.listForRef({
			owner,
			repo,
			ref: headCommit,
			check_name: name,
			filter: "all",
			per_page: 100
		})).data.check_runs.find((run) => {
			if (id !== void 0) return run.id === id;
			if (run.external_id !== external_id) return false;
			return run.status !== "completed" || hasEnded(run, view);
		});
	};
	return async (view) => {
		try {
			if (view.status === "linked") {
				if (id === void 0) return { kind: "told" };
				await checks.update({
					owner,
					repo,
					check_run_id: id,
					request,
					output: view.output
				});
				return { kind: "told" };
			}
			if (id === void 0 ? mayExist : mayBeComplete) {
				const found = await find(view);
				id ??= found?.id;
				if (found?.status === "completed") return { kind: "told" };
			}
			mayExist = true;
			mayBeComplete = view.status === "completed";
			if (id === void 0) id = await create(view);
			else await checks.update({
				owner,
				repo,
				check_run_id: id,
				request,
				...view
			});
			return { kind: "told" };
		} catch (error) {
			return notTold(error, name, subject);
		}
	};
}
const hasEnded = ({ conclusion, output }, view) => view.status === "completed" && conclusion === view.conclusion && output.title === view.output.title;
function notTold(error, name, { repository, patch }) {
	const what = `The check ${name} on ${patchName(patch)} of ${repository} does not show how things stand`;
	const failure = githubFailure(error);
	if (failure === void 0) return {
		kind: "refused",
		why: `${what} (${reasonOf(error)}).`
	};
	if (failure.kind !== "answered" || failure.status >= 500) return {
		kind: "failed",
		why: `${what} because GitHub could not be told (${failure.said}): run the job again where the check is required.`
	};
	if (failure.status === 403) return {
		kind: "refused",
		why: `${what} because the token may not (${failure.said}): give the job \`permissions: checks: write\`; the gate goes on without.`
	};
	return {
		kind: "refused",
		why: `${what} because GitHub answered ${failure.said}; the gate goes on without.`
	};
}

// src/report/comment.ts
const mostEarlier = 10;
const longestTitle = 160;
const verdict = object({
	/** Id of the workflow run that has its journal. */
	run: int().nonnegative(),
	headCommit: string().max(64),
	at: datetime(),
	/** `🔴 #7 loses 10.4 % (forwarding inet4)`. */
	title: string().max(longestTitle)
});
/** Kept in the comment itself, where readers do not see it. */
const memorySchema = object({
	/** Id of the workflow run that wrote last: a later one has a greater. */
	run: int().nonnegative(),
	headCommit: string().max(64),
	/** Since when the comment has named this head. */
	since: datetime(),
	/** What was asked of the gate last. */
	ask: askSchema,
	last: verdict.optional(),
	/** Newest first. */
	earlier: array(verdict).max(mostEarlier)
});
/** The first line of the comment, by which it is found again. */
const markerOf = (name) => `<!-- ${name.replace(/[^\w :.,-]/g, "")} -->`;
/**
* The whole comment around `body`, which is Markdown; undefined where a later run has written meanwhile, and so must not
* be overwritten.
*/
function composeComment(before, body, writing) {
	const known = before === void 0 ? void 0 : readMemory(before);
	if (known !== void 0 && known.run > writing.run) return void 0;
	return fitted(writing.name, body.trimEnd(), nextMemory(known, writing));
}
/**
* What a comment of ours remembers; undefined where somebody has taken that out, or put something else there. It stands
* at the very end, where no text of others ever does.
*/
function readMemory(comment) {
	const start = comment.lastIndexOf(opening);
	if (start < 0) return void 0;
	const [, encoded] = /^([\w-]+) -->\s*$/.exec(comment.slice(start + opening.length)) ?? [];
	if (encoded === void 0) return void 0;
	try {
		return memorySchema.parse(JSON.parse(Buffer.from(encoded, "base64url").toString()));
	} catch {
		return;
	}
}
const opening = "<!-- ppsgate remembers: ";
function nextMemory(known, writing) {
	const { run, headCommit, ask, at, title } = writing;
	const { last, earlier = [] } = known ?? {};
	const now = at.toISOString();
	const head = {
		run,
		headCommit,
		since: known?.headCommit === headCommit ? known.since : now,
		ask: ask ?? known?.ask ?? {}
	};
	if (title === void 0) return {
		...head,
		...last && { last },
		earlier
	};
	const before = last === void 0 || last.run === run ? earlier : [last, ...earlier];
	return {
		...head,
		last: {
			run,
			headCommit,
			at: now,
			title: plainLine(title, longestTitle)
		},
		earlier: before.slice(0, mostEarlier)
	};
}
/** GitHub's own limit for a comment. */
const mostCharacters = 65536;
/** The oldest verdicts are forgotten where there is no room for all. */
function fitted(name, body, memory) {
	const remembered = Buffer.from(JSON.stringify(memory)).toString("base64url");
	const comment = [
		markerOf(name),
		body,
		...earlierPushes(memory),
		`${opening}${remembered} -->`
	].join("\n\n");
	const { earlier } = memory;
	if (comment.length <= mostCharacters || earlier.length === 0) return comment;
	return fitted(name, body, {
		...memory,
		earlier: earlier.slice(0, -1)
	});
}
/** All verdicts but the one that the comment shows. */
function earlierPushes({ run, last, earlier }) {
	const all = last === void 0 || last.run === run ? earlier : [last, ...earlier];
	if (all.length === 0) return [];
	return [`<details><summary>earlier pushes</summary>\n\n${[
		"| commit | judged | |",
		"|---|---|---|",
		...all.map(({ headCommit, at, title }) => {
			return `| ${[
				headCommit.slice(0, 12),
				at.slice(0, 10),
				title
			].map((cell) => codeSpan(cell).replaceAll("|", "\\|")).join(" | ")} |`;
		})
	].join("\n")}\n\n</details>`];
}

// src/publish/comment.ts
/** Where GitHub refuses, as it does a token that may only read, that is said once and not tried again. */
function openComment(octokit, pullRequest, { name, run, ask, detailsUrl, log, now, pause, keep = () => {} }) {
	const { headCommit } = pullRequest;
	const put = async ({ body, title }) => {
		const writing = {
			name,
			run,
			headCommit,
			ask,
			at: now(),
			...title && { title }
		};
		try {
			const published = await publishComment(octokit, pullRequest, (before) => composeComment(before, body, writing), {
				marker: markerOf(name),
				...pause && { pause: (seconds) => pause(seconds, never) }
			});
			if (published.kind === "left") return {
				kind: "refused",
				why: superseded
			};
			if (published.kind !== "not-published") {
				keep(published.url);
				return { kind: "told" };
			}
			return {
				kind: published.isFinal ? "refused" : "failed",
				why: published.why
			};
		} catch (error) {
			return {
				kind: "refused",
				why: `The comment on ${patchName(pullRequest)} was not written (${reasonOf(error)}).`
			};
		}
	};
	const teller = newestTeller(put, {
		log: {
			...log,
			info: (sentence) => (sentence === superseded ? log.info : log.warn)(sentence)
		},
		secondsBetween: 60,
		tooSlow,
		...pause && { pause }
	});
	const heading = (text) => `### ⏳ ppsgate: ${patchName(pullRequest)} ${text}`;
	const job = `<sub>[the job](${detailsUrl}) · commit ${codeSpan(headCommit)}</sub>`;
	const said = (...parts) => ({ body: parts.filter(Boolean).join("\n\n") });
	const ended = (ending) => ending.result === void 0 ? said(unmeasured(pullRequest, ending), job) : {
		body: ending.summary,
		title: ending.title
	};
	let since;
	return {
		queued(text) {
			teller.tell(said(heading(text), job));
		},
		waiting(outlook, text) {
			const title = heading(`waits for a testbed: ${placeInLine(outlook)}`);
			teller.tell(said(title, `${codeSpan(text, 1e3)}\n\n${expectation(outlook, now())}`, job));
		},
		measuring(testbed, line = "") {
			since ??= now();
			const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
			teller.tell(said(heading("is being measured"), where, codeSpan(line), job));
		},
		ended: (ending) => teller.tellLast(ended(ending), secondsFor(ending)),
		linked: (ending) => teller.tellInstead(ended(ending), secondsFor(ending)),
		left: teller.left
	};
}
const never = new AbortController().signal;
const superseded = "The comment is left to a later run for the same pull request.";
const tooSlow = (seconds) => `The comment on the pull request may not show how the gate ended, because GitHub did not answer within ${seconds} s; the result is in the job's summary.`;
/** `⚪ not measured: …` becomes `### ⚪ ppsgate: #7 not measured: …`. */
function unmeasured(pullRequest, { title, summary }) {
	const [symbol = "", ...words] = title.split(" ");
	return `### ${symbol} ppsgate: ${patchName(pullRequest)} ${words.join(" ")}\n\n${summary}`;
}

// src/action/request.ts
const purposes = [
	"patch",
	"history",
	"nightly"
];
const requestSchema = object({
	/** With both commits fixed when leave was given. */
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
const requestText = (request) => JSON.stringify(request);
/** Throws a `UsageError` for a text that `requestText` did not write. */
function readRequest(text) {
	try {
		return requestSchema.parse(JSON.parse(text));
	} catch {
		throw new UsageError("request: expected the output `request` of a step with `command: admit`, found something else.");
	}
}
/** Names the patch among all that are judged, for a workflow's `concurrency` and for the queue. */
const subjectOf = ({ patch, purpose }) => purpose === "patch" ? patchName(patch) : purpose;
/** What the files of one of several gates are called that the job which publishes looks for. */
const fileOf = (base, index, of) => of === 1 ? `${base}.json` : `${base}-${index + 1}.json`;
/** What a gate leaves that came to no result. */
const failureSchema = object({
	exitCode: int(),
	/** In a sentence, which may hold anybody's text. */
	said: string().max(2e4),
	/** For lack of leave. */
	isRefused: boolean()
});
/** The artifact it lies in is for everybody who sees the repository. */
function failureOf(error) {
	const { exitCode, said = "" } = endingOfError(error);
	return {
		exitCode,
		said,
		isRefused: false
	};
}

export { requestSchema as a, openComment as c, readMemory as d, closeLeftCheck as f, standsForAnother as h, readRequest as i, composeComment as l, pullRequestOfCheck as m, failureSchema as n, requestText as o, openCheck as p, fileOf as r, subjectOf as s, failureOf as t, markerOf as u };