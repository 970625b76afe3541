import { exitCodeOfError, exitCodeOfResult, exitCodes } from "./exit.js";
import { _enum, array, boolean, datetime, int, literal, number$1 as number, object, record, string, unknown } from "./vendor/zod.js";
import { cellName, cellSchema, reasonOf } from "./config.js";
import { ConduitError, callOnPhabricator, githubFailure, isBreakdown, patchName, pullRequestsWithHead } from "./patch.js";
import { annotationsOf, badgeVerdicts, codeBlock, codeSpan, composeComment, drawGraph, earlierEntries, graphsOf, historyEntries, historyEntrySchema, intervalPlot, markerOf, outcomeName, plainBlock, pngOf, readProfiles, renderBadge, renderHtml, renderMarkdown, renderRemarkup, renderRemarkupFailure, replaceFile, resultSchema, verdictLine, withoutPaths } from "./report.js";
import { expectedly, formatChange, formatInterval, formatMetric, formatPercent } from "./stats.js";
import { require_yauzl } from "./vendor/yauzl.js";
import { dirname, join, relative, sep } from "node:path";
import { isUtf8 } from "node:buffer";
import { crc32, inflateRawSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, rmdir } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

// src/publish/answer.ts
/** Several answers as one: a comment, a check, a status. What they are told of the log is told without its paths. */
const together = (answers) => ({
	queued(text) {
		for (const answer of answers) answer.queued(withoutPaths(text));
	},
	waiting(outlook, text) {
		for (const answer of answers) answer.waiting(outlook, withoutPaths(text));
	},
	measuring(testbed, line) {
		const shown = line === void 0 ? [] : [withoutPaths(line)];
		for (const answer of answers) answer.measuring(testbed, ...shown);
	},
	async ended(ending) {
		await Promise.all(answers.map((answer) => answer.ended(ending)));
	},
	async linked(ending) {
		await Promise.all(answers.map((answer) => answer.linked(ending)));
	},
	async left() {
		await Promise.all(answers.map((answer) => answer.left()));
	}
});
/**
* Does the work of a gate and completes its answer as it ends, also where it throws. When it is cancelled the answer
* says so at once, because a job that is cancelled has only seconds left and a testbed may need minutes to be given back.
*/
async function answering(answer, signal, work) {
	const onCancelled = () => void answer.ended(cancelled);
	signal.addEventListener("abort", onCancelled, { once: true });
	try {
		const ending = await work();
		await answer.ended(ending);
		return ending;
	} catch (error) {
		await answer.ended(signal.aborted ? cancelled : endingOfError(error));
		throw error;
	} finally {
		signal.removeEventListener("abort", onCancelled);
	}
}
/**
* Answers with the result, and only then has made what there is to be linked to: whatever becomes of that, the verdict
* is known. Never throws for it; `warn` hears why there are no links.
*/
async function linkedAfterwards(answer, ending, make, warn) {
	await answer.ended(ending);
	try {
		const linked = endingOfResult(ending.result, await make());
		await answer.linked(linked);
		return linked;
	} catch (error) {
		warn(`The answer has no links, because the report was not kept (${reasonOf(error)}).`);
		return ending;
	}
}
/** A job that is cancelled is killed soon. */
const secondsFor = ({ exitCode }) => exitCode === exitCodes.cancelled ? 30 : 300;
const cutShort = "The job was cancelled before there was a verdict: run it again for one.";
const cancelled = {
	exitCode: exitCodes.cancelled,
	title: "⚪ not measured: cancelled",
	summary: cutShort,
	said: cutShort
};
const endingOfResult = (result, links) => ({
	exitCode: exitCodeOfResult(result),
	title: verdictLine(result),
	summary: renderMarkdown(result, links),
	result
});
function endingOfError(error) {
	const said = error instanceof Error ? error.message : String(error);
	return endingOfFailure(exitCodeOfError(error), said);
}
/** `sentence` is that of an error, which may hold anybody's text; the paths in it are for the log alone. */
function endingOfFailure(exitCode, sentence) {
	const said = withoutPaths(sentence);
	return {
		exitCode,
		title: failureTitles.get(exitCode) ?? "⚪ not measured: something failed that is not the patch",
		summary: codeBlock(said),
		said
	};
}
const failureTitles = /* @__PURE__ */ new Map([[exitCodes.usage, "⚪ not measured: what was asked for cannot be done"], [exitCodes.patchAtFault, "🔴 not measured: the patch does not apply"]]);
/** `2 of 3 in line, some 40 min`. */
function placeInLine({ place, of, expectedSeconds }) {
	const line = `${place} of ${of} in line`;
	return expectedSeconds === void 0 ? line : `${line}, ${expectedly(expectedSeconds)}`;
}
/** By the clock, for it is read later than it is written. */
function expectation({ expectedSeconds }, now) {
	const asOf = `as of ${timeText(now)}`;
	if (expectedSeconds === void 0) return `Nobody can say when it begins, ${asOf}: nothing that would do is healthy.`;
	const begin = new Date(now.getTime() + expectedSeconds * 1e3);
	return `Expected to begin at about ${timeText(begin)}, ${asOf}.`;
}
const timeText = (date) => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;

// src/publish/teller.ts
const mostTriesAtEnd = 6;
/**
* Tells one view at a time, and never waits for an answer but at the end. Where GitHub refuses, that is said once and
* not tried again; the last view is tried several times, for at most as long as is said with it.
*/
function newestTeller(put, { log, secondsBetween, tooSlow, pause = realPause$2 }) {
	const end = new AbortController();
	const gaveUp = new AbortController();
	const over = AbortSignal.any([end.signal, gaveUp.signal]);
	let untold;
	let telling;
	let ending;
	const giveUp = (say, why) => {
		if (!gaveUp.signal.aborted) say(why);
		gaveUp.abort();
	};
	const keepTelling = async () => {
		while (untold !== void 0 && !over.aborted) {
			const view = untold;
			const told = await put(view);
			if (told.kind === "refused") giveUp(log.info, told.why);
			if (told.kind === "told" && untold === view) untold = void 0;
			await pause(secondsBetween, over);
		}
		telling = void 0;
	};
	const tellEnd = async (view) => {
		await telling;
		for (let tries = 1; !gaveUp.signal.aborted; tries++) {
			const told = await put(view);
			if (told.kind === "told") return;
			if (told.kind === "refused") return giveUp(log.info, told.why);
			if (tries === mostTriesAtEnd) return giveUp(log.warn, told.why);
			await pause(tries ** 2, gaveUp.signal);
		}
	};
	const tellEndInTime = async (view, mostSeconds) => {
		end.abort();
		const isTold = new AbortController();
		const tooLate = pause(mostSeconds, isTold.signal).then(() => "too late");
		const first = await Promise.race([tellEnd(view), tooLate]);
		isTold.abort();
		if (first === "too late") giveUp(log.warn, tooSlow(mostSeconds));
	};
	return {
		tell(view) {
			untold = view;
			telling ??= keepTelling();
		},
		/** Stops, and resolves when what is being told is. */
		async left() {
			end.abort();
			await telling;
		},
		/** Only the first call counts. */
		tellLast(view, mostSeconds) {
			ending ??= tellEndInTime(view, mostSeconds);
			return ending;
		},
		/** Tells a view in the place of the last one, once that is told; nothing where the last could not be. */
		async tellInstead(view, mostSeconds) {
			if (ending === void 0) return;
			await ending;
			if (!gaveUp.signal.aborted) await tellEndInTime(view, mostSeconds);
		}
	};
}
/** Resolves, where node's own rejects, when the signal is aborted. */
const realPause$2 = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});

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
		tooSlow: tooSlow$2
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
const tooSlow$2 = (seconds) => `The check on the commit may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the check is required.`;
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
			return notTold$1(error, name, subject);
		}
	};
}
const hasEnded = ({ conclusion, output }, view) => view.status === "completed" && conclusion === view.conclusion && output.title === view.output.title;
function notTold$1(error, name, { repository, patch }) {
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

// src/publish/github.ts
/**
* Makes what `compose` answers our only comment with this marker on the pull request. Of several the oldest is kept and
* the others are deleted; a comment of anybody else is left alone, whatever it holds. Never throws for what GitHub or
* the network did: the result is then in `why`, one sentence.
*
* @param compose gets the comment as it is, if there is one, and answers Markdown that begins with the marker;
*   undefined leaves it as it is.
* @param options.marker an HTML comment, which readers do not see: `<!-- ppsgate -->`.
* @param options.pause how to wait before another try.
*/
async function publishComment(octokit, pullRequest, compose, options) {
	const [owner = "", repo = ""] = pullRequest.repository.split("/");
	const { marker, pause = (seconds) => setTimeout(seconds * 1e3) } = options;
	const place = {
		octokit,
		owner,
		repo,
		number: pullRequest.number,
		marker
	};
	try {
		const login = await ownLogin(octokit);
		return await putComment({
			...place,
			login,
			pause
		}, compose);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		const isFinal = failure.kind === "answered" && failure.status < 500;
		return {
			kind: "not-published",
			why: whyNot$2(failure, pullRequest),
			isFinal
		};
	}
}
/** Our comment with this marker as it stands, if there is one; throws what octokit throws. */
async function findComment(octokit, { repository, number }, marker) {
	const [owner = "", repo = ""] = repository.split("/");
	const login = await ownLogin(octokit);
	const [found] = await ownComments({
		octokit,
		owner,
		repo,
		number,
		marker
	}, login);
	return found?.body;
}
const mostTries$2 = 4;
/**
* Writing must not simply be sent again: the answer may be lost after GitHub did what was asked, and a later run may
* have written meanwhile. So octokit's own retries are off here, and before each further try we look.
*
* @param again.lost what was written, perhaps, by the try before.
*/
async function putComment(thread, compose, again = { tries: 1 }) {
	const [kept, ...others] = await ownComments(thread, thread.login);
	const body = compose(kept?.body);
	if (body === void 0 || body === kept?.body) {
		await deleteComments(thread, others);
		return {
			kind: body === void 0 ? "left" : again.lost ?? "updated",
			url: kept?.url ?? ""
		};
	}
	const { tries } = again;
	const kind = kept === void 0 ? "created" : "updated";
	try {
		const url = await writeComment(thread, kept?.id, body);
		await deleteComments(thread, others);
		if (kind === "updated" || await isOnly(thread, url)) return {
			kind,
			url
		};
	} catch (error) {
		if (tries === mostTries$2 || !isBreakdown(githubFailure(error))) throw error;
		await thread.pause(tries ** 2);
	}
	return putComment(thread, compose, {
		tries: tries + 1,
		lost: kind
	});
}
/** Not where another gate found none as well, and was faster: then that comment becomes ours. */
async function isOnly(thread, url) {
	const [oldest] = await ownComments(thread, thread.login);
	return oldest === void 0 || oldest.url === url;
}
async function writeComment({ octokit, owner, repo, number }, comment_id, body) {
	const { issues } = octokit.rest;
	const writing = {
		owner,
		repo,
		body,
		request: { retries: 0 }
	};
	const { data } = comment_id === void 0 ? await issues.createComment({
		...writing,
		issue_number: number
	}) : await issues.updateComment({
		...writing,
		comment_id
	});
	return data.html_url;
}
const viewer = object({ viewer: object({ login: string() }) });
/** Whose the token is: GET /user tells only people, and GraphQL apps too. */
async function ownLogin(octokit) {
	return viewer.parse(await octokit.graphql("{ viewer { login } }")).viewer.login;
}
/** Oldest first, as GitHub lists them. */
async function ownComments({ octokit, owner, repo, number, marker }, login) {
	return (await octokit.paginate(octokit.rest.issues.listComments, {
		owner,
		repo,
		issue_number: number,
		per_page: 100
	})).filter(({ user, body }) => user?.login === login && body?.startsWith(marker)).map(({ id, html_url, body = "" }) => ({
		id,
		url: html_url,
		body
	}));
}
/** A second comment that stays is a blemish, not a reason to call the first one unpublished. */
async function deleteComments({ octokit, owner, repo }, comments) {
	for (const { id } of comments) try {
		await octokit.rest.issues.deleteComment({
			owner,
			repo,
			comment_id: id
		});
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		if (failure.kind === "answered" && failure.status === 404) continue;
		octokit.log.warn(`An older comment of ppsgate's own could not be deleted (${failure.said}).`);
	}
}
function whyNot$2(failure, { repository, number }) {
	const what = `The comment on #${number} of ${repository} was not written`;
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): publish the result again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: publish the result again then.`;
	if (failure.status === 403 && /\block(?:ed)?\b/i.test(failure.said)) return `${what} because the conversation is locked (${failure.said}): the result is in the job's summary.`;
	if (failure.status === 404 || failure.status === 410) return `${what} because GitHub has no such pull request any more (${failure.said}); the result itself is kept.`;
	if (failure.status === 403) return `${what} because the token may not (${failure.said}): give the job \`permissions: pull-requests: write\`, or, for a pull request from a fork, publish from a workflow_run job.`;
	if (failure.status === 401) return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
	return `${what} because GitHub answered ${failure.said}; the result itself is kept.`;
}
/** The longest that a rate limit is waited for, in seconds, and how often in one request. */
const longestWait = 60;
const mostWaits = 2;
/**
* A client that tries a failed request again and waits for a short rate limit, by octokit's own plugins.
*
* @param settings.apiUrl as in `GITHUB_API_URL`.
* @param settings.log never gets to see the token.
* @param settings.answerSeconds how long one answer may take, its body included.
* @param settings.plugins replaces single settings of the plugins; tests wait less with it.
*/
async function createOctokit(settings) {
	const { token, apiUrl, log, answerSeconds = 30, plugins } = settings;
	const { Octokit } = await import("./vendor/octokit.js");
	return new Octokit({
		auth: token,
		baseUrl: apiUrl,
		userAgent: "ppsgate",
		log,
		request: { fetch: fetchWithin(answerSeconds) },
		retry: {
			doNotRetry: [
				400,
				401,
				403,
				404,
				410,
				422,
				429,
				451
			],
			...plugins?.retry
		},
		throttle: {
			onRateLimit: waitWhenShort(log),
			onSecondaryRateLimit: waitWhenShort(log),
			...!keepsPace(apiUrl) && unpaced,
			...plugins?.throttle
		}
	});
}
/**
* Whether a second has to lie between two writes and three between two comments, as octokit's plugin has it: GitHub's
* own hosts ask for that. A GitHub Enterprise Server has no limits but those that its administrator switched on
* (https://docs.github.com/enterprise-server/admin/configuration/configuring-your-enterprise/configuring-rate-limits),
* and tells when one is reached.
*/
function keepsPace(apiUrl) {
	const { hostname } = new URL(apiUrl);
	return hostname === "api.github.com" || hostname.endsWith(".ghe.com");
}
const atOnce = { key: () => ({ schedule: (_options, job) => job() }) };
/** The plugin takes other groups than its own for what is to be paced; its types do not say so. */
const unpaced = {
	write: atOnce,
	notifications: atOnce
};
/**
* The whole answer within so many seconds. Its body is read here because octokit takes one that was cut
* short for an empty one, and a list of comments without ours would make us write a second comment.
*/
function fetchWithin(seconds) {
	return async (input, init) => {
		const signal = AbortSignal.timeout(seconds * 1e3);
		const response = await fetch(input, {
			...init,
			signal
		});
		await response.clone().arrayBuffer();
		return response;
	};
}
/** GitHub asks to wait some seconds; true is for doing so, and then sending the request again. */
function waitWhenShort(log) {
	return (seconds, _request, _octokit, waits) => {
		if (seconds > longestWait || waits >= mostWaits) return false;
		log.info(`GitHub's rate limit is reached: going on in ${seconds} s.`);
		return true;
	};
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
				...pause && { pause: (seconds) => pause(seconds, never$1) }
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
		tooSlow: tooSlow$1,
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
const never$1 = new AbortController().signal;
const superseded = "The comment is left to a later run for the same pull request.";
const tooSlow$1 = (seconds) => `The comment on the pull request may not show how the gate ended, because GitHub did not answer within ${seconds} s; the result is in the job's summary.`;
/** `⚪ not measured: …` becomes `### ⚪ ppsgate: #7 not measured: …`. */
function unmeasured(pullRequest, { title, summary }) {
	const [symbol = "", ...words] = title.split(" ");
	return `### ${symbol} ppsgate: ${patchName(pullRequest)} ${words.join(" ")}\n\n${summary}`;
}

// src/publish/harbormaster.ts
/**
* Answers the target of the build that waits: a restart makes a new one, and Harbormaster takes messages to the old
* one without a word. A build that is over is told nothing more.
*
* @param build its PHID: PHID-HMBD-…
*/
function openBuild(conduit, build, revision, options) {
	const log = {
		info: eachOnce(options.log.info),
		warn: eachOnce(options.log.warn)
	};
	const teller = newestTeller(messagesTo(conduit, build, revision, {
		...options,
		log
	}), {
		...options,
		log,
		secondsBetween: 60,
		tooSlow: (seconds) => notTaken(revision, `Phabricator did not answer within ${seconds} s`)
	});
	const working = () => teller.tell("working");
	return {
		queued: working,
		waiting: working,
		measuring: working,
		ended: (ending) => teller.tellLast(ending, secondsFor(ending)),
		linked: async () => {},
		left: teller.left
	};
}
/**
* A sentence where the build keeps the revision from its reviewers while it lasts, or would send it back to its author
* by failing: a benchmark should do neither. Throws a ConduitError.
*/
async function draftWarning(conduit, build, revision) {
	const constraints = { ids: [revision.number] };
	const [found] = await conduit.search("differential.revision.search", { constraints }, revisions);
	if (found?.fields.status.value !== "draft" || found.fields.holdAsDraft) return void 0;
	const plan = await planOf(conduit, build);
	if (plan?.behaviors["hold-drafts"]?.value === "never") return void 0;
	const named = plan === void 0 ? "its build plan" : `the build plan "${plan.name}"`;
	return `D${revision.number} is a draft until its builds have passed, so this one passes whatever comes of it: set "Hold Drafts" of ${named} to "Never" to have it tell the result.`;
}
const revisions = object({ fields: object({
	status: object({ value: string() }),
	holdAsDraft: boolean()
}) });
const plans = object({ fields: object({
	name: string(),
	behaviors: record(string(), object({ value: string() }))
}) });
async function planOf(conduit, build) {
	const found = await buildOf(conduit, build);
	if (found === void 0) return void 0;
	const constraints = { phids: [found.buildPlanPHID] };
	const [plan] = await conduit.search("harbormaster.buildplan.search", { constraints }, plans);
	return plan?.fields;
}
const builds = object({ fields: object({
	buildPlanPHID: string(),
	buildStatus: object({ value: string() })
}) });
async function buildOf(conduit, build) {
	const constraints = { phids: [build] };
	const [found] = await conduit.search("harbormaster.build.search", { constraints }, builds);
	return found?.fields;
}
/** What a server that is busy, or whose answer was lost, may yet be told. */
function failureOf(error, sentence) {
	const isPassing = error instanceof ConduitError && error.kind !== "refused";
	const why = reasonOf(error).replace(/\.$/, "");
	return {
		kind: isPassing ? "failed" : "refused",
		why: sentence(why)
	};
}
/**
* `work` and an end, each once to a target, for Harbormaster adds up the units of all messages. It obeys a second or two
* after it has answered, or never: so the end is told when the target shows it.
*/
function messagesTo(conduit, build, revision, { run, details, undecided, log, pause = realPause$1 }) {
	const workedOn = /* @__PURE__ */ new Set();
	const linked = /* @__PURE__ */ new Set();
	const ends = /* @__PURE__ */ new Map();
	const what = buildName(revision);
	const put = async (view) => {
		for (const seconds of [
			0,
			1,
			2,
			4,
			8
		]) {
			if (seconds > 0) await pause(seconds, never);
			const standing = await standingOf(conduit, build);
			if (standing === void 0) return {
				kind: "refused",
				why: unseen(revision)
			};
			const { status, targets } = standing;
			const answered = targets.find(({ phid }) => ends.has(phid));
			const end = answered && ends.get(answered.phid);
			if (answered !== void 0 && answered.status !== waiting) {
				if (answered.status !== end?.shows) log.info(answeredElse(revision, answered.status));
				return { kind: "told" };
			}
			if (over.has(status)) {
				log.info(`${what} is ${status}: it is told nothing more.`);
				return { kind: "told" };
			}
			const isTold = end !== void 0 && (end.isSure || seconds > 0);
			const target = targets.find(({ status }) => status === waiting);
			if (!isTold && target !== void 0) await tell(target.phid, view);
			if (view === "working") return { kind: "told" };
		}
		return {
			kind: "failed",
			why: notTaken(revision, "none of its targets has taken it")
		};
	};
	const tell = async (target, view) => {
		await link(target);
		if (view === "working" && workedOn.has(target)) return;
		const message = await messageFor(view);
		const isSure = await send(conduit, target, message);
		if (message.type === "work") workedOn.add(target);
		else ends.set(target, {
			shows: `target/${message.type}ed`,
			isSure
		});
	};
	const messageFor = async (view) => {
		const message = view === "working" ? { type: "work" } : endOf(view, undecided);
		if (message.type === "pass") return message;
		const warning = await draftWarning(conduit, build, revision);
		if (warning === void 0) return message;
		log.warn(warning);
		const { unit = [] } = message;
		return {
			type: "pass",
			unit: [aUnit(view === "working" ? "result comes as a comment" : "passed for the draft", "skip", warning), ...unit]
		};
	};
	/** A convenience: the comment has the link as well. */
	const link = async (target) => {
		if (details === void 0 || linked.has(target)) return;
		try {
			await conduit.call("harbormaster.createartifact", linkTo$1(target, run, details), unknown());
			linked.add(target);
		} catch (error) {
			const why = reasonOf(error);
			if (/duplicate entry/i.test(why)) linked.add(target);
			else log.info(`${what} does not show the link to ${details} (${why}).`);
		}
	};
	return async (view) => {
		const told = await put(view).catch((error) => failureOf(error, (why) => notTaken(revision, why)));
		if (view !== "working" || told.kind !== "refused") return told;
		log.info(told.why);
		return { kind: "told" };
	};
}
const never = new AbortController().signal;
const realPause$1 = (seconds) => setTimeout(seconds * 1e3);
function eachOnce(say) {
	const said = /* @__PURE__ */ new Set();
	return (sentence) => {
		if (!said.has(sentence)) say(sentence);
		said.add(sentence);
	};
}
const buildName = (revision) => `The build of D${revision.number} on Harbormaster`;
const unseen = (revision) => `${buildName(revision)} is told nothing because it is not there, or not for the bot to see.`;
const answeredElse = (revision, status) => `${buildName(revision)} shows ${status}, which somebody else has told it.`;
const notTaken = (revision, why) => `${buildName(revision)} may not show how the gate stands (${why}): look at it, and restart or abort it there.`;
/** Resolves to whether it has surely got there: false where the answer was lost. */
async function send(conduit, receiver, message) {
	try {
		await conduit.call("harbormaster.sendmessage", {
			receiver,
			...message
		}, unknown());
		return true;
	} catch (error) {
		if (error instanceof ConduitError && error.kind === "unsure") return false;
		throw error;
	}
}
const waiting = "target/waiting";
/** A build that is `paused` goes on. */
const over = /* @__PURE__ */ new Set([
	"passed",
	"failed",
	"aborted",
	"error",
	"deadlocked"
]);
const targetSchema = object({
	phid: string(),
	fields: object({
		buildGeneration: int(),
		status: object({ value: string() })
	})
});
/**
* How the build stands, with the targets since its last start, the oldest first; those from before it stay `waiting` for ever.
* Undefined where the bot sees no such build.
*/
async function standingOf(conduit, build) {
	const found = await buildOf(conduit, build);
	if (found === void 0) return void 0;
	const constraints = { buildPHIDs: [build] };
	const all = await conduit.search("harbormaster.target.search", { constraints }, targetSchema);
	const newest = Math.max(...all.map(({ fields }) => fields.buildGeneration));
	const targets = all.filter(({ fields }) => fields.buildGeneration === newest).map(({ phid, fields }) => ({
		phid,
		status: fields.status.value
	})).toReversed();
	return {
		status: found.buildStatus.value,
		targets
	};
}
/** In this encoding `ui.external` has to be a boolean; the key is a target's own. */
const linkTo$1 = (target, run, uri) => ({
	buildTargetPHID: target,
	artifactKey: `ppsgate-${run}`,
	artifactType: "uri",
	artifactData: {
		uri,
		name: "ppsgate",
		"ui.external": true
	}
});
/**
* Only a pass is one, unless a site wants those passed of which nobody can say anything. A gate that is cancelled fails
* as well, and says so: the build would wait for ever, `abort` leaves no word of why, and whoever wants it to go on can
* restart it either way.
*/
function endOf(ending, undecided) {
	const { exitCode } = ending;
	return {
		type: exitCode === exitCodes.pass || exitCode === exitCodes.undecided && undecided === "neutral" ? "pass" : "fail",
		unit: unitsOf(ending)
	};
}
function unitsOf({ exitCode, title, said = title, result }) {
	if (result === void 0) return [aUnit("gate", resultsWithout.get(exitCode) ?? "broken", said)];
	const { outcome } = result;
	if (outcome.kind === "judged") return outcome.cells.map((cell) => unitOf(cell, result));
	const blame = outcome.kind === "out-of-disk" ? "broken" : "fail";
	return [aUnit(outcomeName(result), blame, outcome.message)];
}
const resultsWithout = /* @__PURE__ */ new Map([[exitCodes.patchAtFault, "fail"], [exitCodes.cancelled, "skip"]]);
function unitOf(cell, { blasts, policy }) {
	const name = cellName(cell.cell);
	const seconds = blasts.filter((blast) => cellName(blast.cell) === name).reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0);
	const [comparison] = cell.comparisons;
	const confidence = formatPercent(policy.confidenceRatio);
	const details = [cell.verdict.kind === "invalid" ? `invalid: ${cell.verdict.reason}` : cell.verdict.kind, comparison && changeText(comparison, confidence)].filter(Boolean).join("\n");
	return {
		...aUnit(name, resultOf[cell.verdict.kind], details),
		duration: seconds
	};
}
/** `805.3 kpps → 721.5 kpps: −10.4 %, 95 % interval −11.2 … −9.60 %`. */
const changeText = ({ metric, base, patched, interval }, confidence) => [`${formatMetric(base, metric)} → ${formatMetric(patched, metric)}: ${formatChange(interval.change)}`, `${confidence} interval ${formatInterval(interval.low, interval.high)} %`].join(", ");
/** `unsound` is measured without an answer, `skip` is not measured, by what these words mean to Harbormaster. */
const resultOf = {
	"no-regression": "pass",
	improvement: "pass",
	regression: "fail",
	inconclusive: "unsound",
	invalid: "skip"
};
const aUnit = (name, result, details) => ({
	engine: "ppsgate",
	format: "text",
	name,
	result,
	details: plainBlock(details, 2e3)
});

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

// src/publish/phabricator.ts
const openRevisionAnswer = (conduit, revision, { build, ...options }) => together([...build === void 0 ? [] : [openBuild(conduit, build, revision, options)], openRevisionComment(conduit, revision, options)]);
/** One comment when the gate has ended, with its plot where that can be uploaded; everybody who follows gets mail of it. */
function openRevisionComment(conduit, revision, { run, details, page, takesCommands, log, pause }) {
	const { number, diff } = revision;
	const marker = `ppsgate D${number}:${diff} run ${run}`;
	const plot = plotOf(conduit, revision);
	const put = async ({ title, said = title, result }) => {
		const links = {
			...details !== void 0 && { details },
			...page !== void 0 && { page },
			...takesCommands && { rerun: `${"@ppsgate"} rerun` }
		};
		let missing;
		const told = await postOnce(conduit, number, marker, async () => {
			if (result === void 0) return renderRemarkupFailure({
				title,
				said
			}, links);
			const { image, why } = await plot(result);
			missing = why;
			return renderRemarkup(result, {
				...links,
				...image && { image }
			});
		});
		if (told.kind === "told" && missing !== void 0) log.info(missing);
		return told;
	};
	const teller = newestTeller(put, {
		log: {
			info: log.warn,
			warn: log.warn
		},
		secondsBetween: 60,
		tooSlow: (seconds) => unsaid(number, `Phabricator did not answer within ${seconds} s`),
		...pause && { pause }
	});
	const nothing = () => {};
	return {
		queued: nothing,
		waiting: nothing,
		measuring: nothing,
		ended: async (ending) => {
			if (ending.exitCode === exitCodes.cancelled) return teller.left();
			await teller.tellLast(ending, secondsFor(ending));
		},
		linked: async () => {},
		left: teller.left
	};
}
/**
* Posts a short reply, once for each key. `text` is Remarkup of our own making: what others have written is in it only
* as remarkupText leaves it. Never throws.
*
* @param revision 27401 of D27401
*/
const say = (conduit, revision, text, key) => postOnce(conduit, revision, `ppsgate D${revision} reply ${key}`, async () => text);
/**
* Looks first whether it is there already, for Phabricator takes the same comment twice, and an answer can be lost after
* it was taken. Remarkup hides nothing, so the marker is the comment's last line for all to see.
*/
async function postOnce(conduit, revision, marker, compose) {
	const objectIdentifier = `D${revision}`;
	const ending = `\`${marker}\``;
	try {
		if (await isPosted(conduit, objectIdentifier, ending)) return { kind: "told" };
		const comment = {
			objectIdentifier,
			transactions: [{
				type: "comment",
				value: `${await compose()}\n\n${ending}`
			}]
		};
		await conduit.call("differential.revision.edit", comment, unknown());
		return { kind: "told" };
	} catch (error) {
		return failureOf(error, (why) => unsaid(revision, why));
	}
}
const unsaid = (revision, why) => `The comment on D${revision} may not be there (${why}).`;
const mostTransactions = 500;
/** By our own account, and at the end of the comment: elsewhere it may stand in what others have written. */
async function isPosted(conduit, objectIdentifier, ending) {
	const { phid } = await conduit.call("user.whoami", {}, object({ phid: string() }));
	const asked = {
		objectIdentifier,
		constraints: { authorPHIDs: [phid] }
	};
	return (await conduit.search("transaction.search", asked, commentSchema, mostTransactions)).flatMap(({ comments }) => comments.map(({ content }) => content.raw)).some((text) => text.trimEnd().endsWith(ending));
}
const commentSchema = object({ comments: array(object({ content: object({ raw: string() }) })) });
/** Uploads it once: a comment only shows what the server has, and of pictures only pixels. */
function plotOf(conduit, { number, diff }) {
	let uploaded;
	return async (result) => {
		if (uploaded !== void 0) return uploaded;
		try {
			const svg = intervalPlot(result);
			if (svg === void 0) return {};
			const png = Buffer.from(await pngOf(svg));
			uploaded = { image: await upload(conduit, `ppsgate-D${number}-${diff}.png`, png) };
			return uploaded;
		} catch (error) {
			return { why: `The comment on D${number} goes without its plot (${reasonOf(error)}).` };
		}
	};
}
/** For all who see the comment: one by Conduit does not make a file visible that is not. Answers its name, like `F123`. */
async function upload(conduit, name, bytes) {
	const file = {
		name,
		data_base64: bytes.toString("base64"),
		viewPolicy: "public"
	};
	const constraints = { phids: [await conduit.call("file.upload", file, string())] };
	const ids = object({ id: int() });
	const [found] = await conduit.search("file.search", { constraints }, ids);
	if (found === void 0) throw new Error(`${conduit.url} does not show ${name} that it has taken`);
	return `F${found.id}`;
}

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
				description: plain$1(description),
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
const plain$1 = (description) => description.replace(/[\u{10000}-\u{10ffff}]/gu, "").trim().slice(0, mostCharacters);
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

// src/publish/data-layout.ts
const indexPath = "index.json";
const historyPath = "history.jsonl";
const keptResultSchema = object({
	/** Folder of `result.json` and `report.md`, and of what else is named below. */
	path: string().regex(/^results\/\d{4}\/\w[\w.-]*$/),
	/** When the experiment began, or was published where it says that it began later. */
	at: datetime(),
	testbed: string(),
	patch: string(),
	outcome: string(),
	/** Flamegraphs, and the report as a page. */
	others: array(string().regex(/^\w[\w.-]*$/)).default([]),
	/** Of all its files. */
	bytes: int().nonnegative()
});
const badgeSchema = object({
	testbed: string(),
	cell: cellSchema,
	verdict: _enum(badgeVerdicts),
	pps: number().nonnegative().optional(),
	at: datetime(),
	/** Folder of the result that it tells of, which may be gone already. */
	result: keptResultSchema.shape.path
});
/** The base against itself: whatever it is called but the same is a false alarm of the testbed. */
const nightSchema = object({
	testbed: string(),
	at: datetime(),
	judged: int().nonnegative(),
	regressions: int().nonnegative(),
	improvements: int().nonnegative()
});
const indexSchema = object({
	schemaVersion: literal(1),
	/** Oldest first. */
	results: array(keptResultSchema),
	/** The last of each cell on the default branch. */
	badges: array(badgeSchema),
	/** Oldest first. */
	nights: array(nightSchema)
});
const emptyIndex = {
	schemaVersion: 1,
	results: [],
	badges: [],
	nights: []
};
/**
* The files that have to be written and removed to publish these results, or with none to bring the badges up to
* date. What results and badges are is decided by the index: other files in their folders go, and entries whose
* files are missing are forgotten. The same publication again changes nothing.
*/
function nextFiles(stored, publications, rules) {
	const fresh = publications.map((publication) => filesOfResult(publication, rules));
	const times = fresh.map(({ entry }) => entry.at);
	const before = {
		...stored,
		index: withoutFuture(stored.index, times, rules.now)
	};
	const results = retained([...withFiles(before), ...fresh.map(({ entry }) => entry)], rules.keep, rules.now);
	const index = {
		schemaVersion: 1,
		results,
		badges: publications.reduce(withBadgesOf(rules), before.index.badges),
		nights: publications.reduce(withNight(rules), before.index.nights)
	};
	const learnt = publications.flatMap(({ result, isTrusted }) => isTrusted ? historyEntries(result) : []);
	const history = boundedHistory(earlierEntries([...before.history, ...learnt], rules.now));
	const kept = new Set(results.map(({ path }) => path));
	const write = new Map([
		...fresh.flatMap(({ entry, files }) => kept.has(entry.path) ? files : []),
		...index.badges.flatMap((badge) => filesOfBadge(badge, rules)),
		["README.md", readme(index)],
		[".nojekyll", ""],
		[historyPath, history.map((entry) => `${JSON.stringify(entry)}\n`).join("")],
		[indexPath, `${JSON.stringify(index)}\n`]
	]);
	const stays = /* @__PURE__ */ new Set([...write.keys(), ...results.flatMap(pathsOfResult)]);
	return {
		write,
		remove: [...before.paths ?? before.index.results.flatMap(pathsOfResult)].filter((path) => /^(results|badges)\//.test(path) && !stays.has(path)),
		published: publications.map((publication, at) => {
			const entry = fresh[at]?.entry;
			return publishedPaths(publication, entry && kept.has(entry.path) ? entry : void 0);
		})
	};
}
/** Those lines of a history that can be read: people can edit a branch, and one bad line must not stop a gate. */
function parseHistory(text) {
	return text.split("\n").flatMap((line) => {
		if (!line.startsWith("{")) return [];
		const entry = historyEntrySchema.safeParse(parsedJson(line));
		return entry.success ? entry.data : [];
	});
}
/** Undefined where it is none of this version's. */
const parseIndex = (text) => indexSchema.safeParse(parsedJson(text)).data;
function parsedJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/**
* A time is a stranger's word, and whatever is of the future would outlive all that is honest: what an index has of it
* is no newer than what comes now, which are `times`.
*/
function withoutFuture(index, times, now) {
	const [latest = ""] = [now.toISOString(), ...times].toSorted(compare);
	const settled = (entry) => isFuture(entry.at, now) ? {
		...entry,
		at: latest
	} : entry;
	return {
		...index,
		results: index.results.map(settled),
		badges: index.badges.map(settled),
		nights: index.nights.filter(({ at }) => !isFuture(at, now))
	};
}
const isFuture = (at, now) => Date.parse(at) > now.getTime();
function withFiles({ index, paths }) {
	if (paths === void 0) return index.results;
	return index.results.filter((entry) => pathsOfResult(entry).every((file) => paths.has(file)));
}
const jsonName = "result.json";
const reportName = "report.md";
const pageName = "report.html";
const pathsOfResult = ({ path, others }) => [
	jsonName,
	reportName,
	...others
].map((name) => `${path}/${name}`);
function filesOfResult(publication, { isSite, now }) {
	const { result } = publication;
	const at = timeOf(result, now);
	const path = folderOf(result);
	const graphs = graphFiles(publication);
	const others = [...graphs, ...isSite ? pageFile(publication) : []];
	const graph = (anchor) => graphs.has(`${anchor}.svg`) ? `${anchor}.svg` : void 0;
	const links = {
		rawData: `[\`${jsonName}\`](${jsonName})`,
		graph
	};
	const named = [
		[jsonName, `${JSON.stringify(result)}\n`],
		[reportName, renderMarkdown(result, links)],
		...others
	];
	const bytes = named.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
	const { testbed, patch } = result;
	return {
		entry: {
			path,
			at,
			testbed: testbed.name,
			patch: patchName(patch),
			outcome: outcomeName(result),
			others: others.map(([name]) => name),
			bytes
		},
		files: named.map(([name, text]) => [`${path}/${name}`, text])
	};
}
/** The most bytes of all flamegraphs of one result: some hundred as those of kernels are, or whatever a hostile profile makes of one. */
const mostGraphBytes = 64 * 1024 ** 2;
function graphFiles({ result, profiles, leftOut = () => {} }) {
	const files = /* @__PURE__ */ new Map();
	let room = mostGraphBytes;
	for (const graph of graphsOf(result, profiles)) {
		const drawn = drawGraph(graph);
		if (drawn.kind === "left-out") {
			leftOut(drawn.why);
			continue;
		}
		room -= Buffer.byteLength(drawn.svg);
		if (room < 0) {
			leftOut(`Flamegraphs from that of ${graph.title} on are not kept: those of one result may have ${mostGraphBytes} bytes together.`);
			return files;
		}
		files.set(`${graph.anchor}.svg`, drawn.svg);
	}
	return files;
}
/** None where it cannot be made: the rest of the result is kept all the same. */
function pageFile({ result, profiles, leftOut = () => {} }) {
	try {
		return [[pageName, renderHtml(result, profiles)]];
	} catch (error) {
		leftOut(`The report is kept without its page (${reasonOf(error)}).`);
		return [];
	}
}
/** When the experiment began, as far as that is to be believed. */
const timeOf = ({ startedAt }, now) => isFuture(startedAt, now) ? now.toISOString() : isoTime(startedAt);
/** Times that are compared as texts have to be written alike. */
const isoTime = (text) => new Date(text).toISOString();
/** The path of a result: by the time that it tells, with a name that differs with all that makes the experiment what it is. */
function folderOf({ startedAt, testbed, patch }) {
	const at = isoTime(startedAt);
	const time = at.slice(0, 19).replaceAll(/[-:]/g, "");
	const identity = shortHash(JSON.stringify([
		startedAt,
		testbed.name,
		patch
	]));
	const words = [
		time,
		plain(testbed.name),
		plain(patchName(patch)),
		identity
	];
	return `results/${at.slice(0, 4)}/${words.filter(Boolean).join("-")}`;
}
const shortHash = (text) => createHash("sha256").update(text).digest("hex").slice(0, 10);
const plain = (text) => text.replaceAll(/[^a-z0-9._-]+/gi, "-").slice(0, 63).replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/gi, "");
/** Oldest first; the newest is always kept, and before it as many as no bound forbids. */
function retained(entries, keep, now) {
	const newestFirst = [...new Map(entries.map((entry) => [entry.path, entry])).values()].toReversed().toSorted((a, b) => compare(b.at, a.at));
	const oldest = (/* @__PURE__ */ new Date(now.getTime() - keep.seconds * 1e3)).toISOString();
	let bytes = 0;
	const end = newestFirst.findIndex((entry, place) => {
		bytes += entry.bytes;
		return place > 0 && (place >= keep.results || bytes > keep.bytes || entry.at < oldest);
	});
	return newestFirst.slice(0, end === -1 ? newestFirst.length : end).toReversed();
}
const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
const withBadgesOf = ({ now }) => (badges, { result, isDefaultBranch }) => {
	const newer = (isDefaultBranch ? lastOfCells(result, badges, now) : []).filter((badge) => !badges.some((known) => isOfSameCell(known, badge) && known.at > badge.at));
	return [...badges.filter((known) => !newer.some((badge) => isOfSameCell(known, badge))), ...newer].toSorted((a, b) => compare(badgePath(a), badgePath(b)));
};
/** A patch of which no cell was measured speaks for all cells that its testbed has badges of. */
function lastOfCells(result, known, now) {
	const { outcome, testbed } = result;
	const about = {
		testbed: testbed.name,
		at: timeOf(result, now),
		result: folderOf(result)
	};
	if (outcome.kind === "judged") return outcome.cells.map(({ cell, verdict, comparisons }) => ({
		...about,
		cell,
		verdict: verdict.kind,
		...patchedPps(comparisons)
	}));
	if (outcome.kind === "out-of-disk") return [];
	const verdict = outcome.kind;
	return known.flatMap(({ testbed: name, cell }) => name === testbed.name ? {
		...about,
		cell,
		verdict
	} : []);
}
const withNight = ({ now }) => (nights, { result }) => {
	const { patch, outcome, testbed, startedAt } = result;
	if (!(patch.baseCommit === patch.headCommit && !isFuture(startedAt, now)) || outcome.kind !== "judged") return [...nights];
	const called = (kind) => outcome.cells.filter(({ verdict }) => verdict.kind === kind).length;
	const night = {
		testbed: testbed.name,
		at: isoTime(startedAt),
		judged: outcome.cells.length - called("invalid"),
		regressions: called("regression"),
		improvements: called("improvement")
	};
	return [...nights.filter(({ at, testbed }) => at !== night.at || testbed !== night.testbed), night].toSorted((a, b) => compare(a.at, b.at)).slice(-1e3);
};
function patchedPps(comparisons) {
	const comparison = comparisons.find(({ metric }) => metric === "pps");
	return comparison === void 0 ? {} : { pps: comparison.patched };
}
const isOfSameCell = (a, b) => badgePath(a) === badgePath(b);
/** `badges/hp-t540/forwarding-inet4`, to which `.svg` or `.json` is added. */
function badgePath({ testbed, cell }) {
	const word = plain(testbed);
	return `badges/${word !== "" && word === testbed ? word : [word, shortHash(testbed)].filter(Boolean).join("-")}/${cellName(cell).replace(/ B$/, "B").replaceAll(" ", "-")}`;
}
/** `hp-t540 forwarding inet4`. */
const badgeLabel = ({ testbed, cell }) => `${testbed} ${cellName(cell)}`;
function filesOfBadge(badge, rules) {
	const { verdict, pps, at } = badge;
	const last = {
		verdict,
		pps,
		at: new Date(at)
	};
	const { endpoint, svg } = renderBadge({
		label: badgeLabel(badge),
		last
	}, rules);
	const path = badgePath(badge);
	return [[`${path}.svg`, svg], [`${path}.json`, `${JSON.stringify(endpoint)}\n`]];
}
/** With no entry the result was not kept. */
function publishedPaths({ result, isDefaultBranch }, entry) {
	const { outcome, testbed } = result;
	const badges = (isDefaultBranch && outcome.kind === "judged" ? outcome.cells : []).map(({ cell }) => `${badgePath({
		testbed: testbed.name,
		cell
	})}.svg`);
	if (entry === void 0) return {
		graphs: /* @__PURE__ */ new Map(),
		badges
	};
	const at = (name) => `${entry.path}/${name}`;
	const graphs = entry.others.filter((name) => name.endsWith(".svg"));
	return {
		result: at(jsonName),
		report: at(reportName),
		...entry.others.includes(pageName) && { page: at(pageName) },
		graphs: new Map(graphs.map((name) => [name.slice(0, -4), at(name)])),
		badges
	};
}
/** Twice what `historyOf` asks for. */
const enoughRuns = 60;
const metrics = ["pps", "nsPerPacket"];
/** The latest entries of each cell under each traffic, oldest first, as many as hold `enoughRuns` of every metric. */
function boundedHistory(entries) {
	return [...Map.groupBy(entries, ({ testbed, cell, traffic }) => JSON.stringify([
		testbed,
		cellName(cell),
		[
			traffic.flows,
			traffic.frameBytes,
			traffic.offeredPps ?? null
		]
	]))].toSorted(([a], [b]) => compare(a, b)).flatMap(([, group]) => latest(group)).toSorted((a, b) => compare(a.at, b.at));
}
function latest(group) {
	const byTime = new Map(group.map((entry) => [entry.at, entry]));
	const runs = {
		pps: 0,
		nsPerPacket: 0
	};
	return [...byTime.values()].toSorted((a, b) => compare(b.at, a.at)).filter((entry) => {
		const isWanted = metrics.some((metric) => entry[metric].length > 0 && runs[metric] < enoughRuns);
		for (const metric of metrics) runs[metric] += entry[metric].length;
		return isWanted;
	}).toReversed();
}
/** For people who find the branch. */
function readme({ results, badges, nights }) {
	const newest = results.slice(-20).toReversed();
	return `${[
		"# Results of ppsgate",
		"What ppsgate measured of patches to this repository. This branch is written by it: every publication replaces the one commit there is, so what is changed here by hand does not last.",
		...section("Default branch", badges.map(badgeLine)),
		...section("The base against itself", falseAlarms(nights)),
		...section("Newest results", newest.map(resultLine)),
		"## Files",
		[
			"- `results/YEAR/…/report.md` and `result.json`: what was found, for people and for programs; beside them flamegraphs",
			"- `badges/TESTBED/SCENARIO-FAMILY.svg` and `.json`: an image, and an endpoint for shields.io",
			"- `history.jsonl`: what the base did in earlier experiments, from which later ones learn",
			"- `index.json`: what there is"
		].join("\n")
	].join("\n\n")}\n`;
}
const section = (title, lines) => lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")];
const badgeLine = (badge) => `- ![${cellName(badge.cell)}](${badgePath(badge)}.svg)`;
/** What each testbed takes for a change where there is none. */
const falseAlarms = (nights) => [...Map.groupBy(nights, ({ testbed }) => testbed)].map(([testbed, own]) => {
	const sum = (of) => own.reduce((total, night) => total + night[of], 0);
	return `- ${codeSpan(testbed)}: of ${sum("judged")} cells in ${own.length} experiments ${sum("regressions")} were called a regression and ${sum("improvements")} an improvement`;
});
function resultLine({ path, at, testbed, patch, outcome }) {
	return `- [${at.slice(0, 16).replace("T", " ")}](${path}/report.md) ${`${codeSpan(patch)} on ${codeSpan(testbed)}: ${codeSpan(outcome)}`}`;
}

// src/publish/data-links.ts
/** The URL of a file of the branch: a page of GitHub's for reports and flamegraphs, the file itself for all else. */
function linkTo({ repository, branch, serverUrl, pages }, path) {
	const isMarkdown = path.endsWith(".md");
	if (pages !== void 0 && !isMarkdown) return `${pages}/${path}`;
	const isGraph = path.startsWith("results/") && path.endsWith(".svg");
	return `${serverUrl}/${repository}/${isMarkdown || isGraph ? "blob" : "raw"}/${branch}/${path}`;
}

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

export { agreesWith, answering, badgeLabel, badgePath, cancelled, closeLeftCheck, createOctokit, endingOfError, endingOfFailure, endingOfResult, fetchArtifact, findComment, forOneBase, linkTo, linkedAfterwards, openBuild, openCheck, openComment, openRevisionAnswer, openRevisionComment, openStatus, ownLogin, parseResult, profilesIn, publishComment, publishToBranch, publishToDirectory, pullRequestOfCheck, readEntries, readHistory, say, standsForAnother, together, withPatch };