import "../config/parameters.js";
import { codeBlock, codeSpan, formatChange, formatInterval, formatMetric, formatPercent, isCost, metricNouns, outcomeName, pageUrl, parseJson, plainBlock, plainLine, realPause, reasonOf } from "../model/first-plain.js";
import { _enum, boolean, int, object, unknown } from "../vendor/zod.js";
import { byName, callOnGithub, callOnPhabricator, cellName, change, document, list, name, ordinal, patchName, shortId, text, time, total, word } from "../model/first.js";
import { bisectWords, gateOverridesSchema } from "../forge/patch.js";
import { ConduitError, isFinal } from "../forge/phabricator/plain.js";
import { whyAnother } from "../forge/phabricator.js";
import { cancelledOutcome, combineReporters, conclusionOf, deliverySeconds, expectedStart, queuePosition, resultOf, timeText } from "./reporters/first.js";
import { remarkupText } from "../model/plain.js";
import { isOpen, lossesOf, seriesKey, worstOf } from "../analysis/trend.js";
import { changeStates } from "../model.js";
import { annotationsOf, pngOf } from "../report/plain.js";
import { bisectHeadline, bisectPlot, bisectSymbol, intervalPlot, invalidLines, plainText, remarkOf, renderMarkdown, renderRemarkup, renderRemarkupFailure, sentence, unchangedMeaning, verdictLine } from "../report.js";
import { createIssue, githubFailure, isGone, makeLabel, mayPassSoon, mergedAs, openIssues, ownLogin, placeOf, publishComment, pullRequestsWithHead, replaceLabel, updateIssue, whyNotDone } from "../forge/github.js";
import { ThrottledUpdates, pausesWithin } from "./reporters/plain.js";
const { isDeepStrictEqual } = globalThis.process.getBuiltinModule("node:util");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");

// src/publish/reporters/newer-diff.ts
/**
* Names the revision's newest diff in a sentence, and its build by the same plan, if any. Undefined if none is newer.
* Throws a ConduitError.
*
* @param build PHID of the older diff's build
*/
async function newerDiff(conduit, build, { number, diff }) {
	const ofRevision = { constraints: { ids: [number] } };
	const [revision] = await conduit.search("differential.revision.search", ofRevision, revisions$1);
	if (revision === void 0) return void 0;
	const { diffPHID } = revision.fields;
	const ofDiff = { constraints: { phids: [diffPHID] } };
	const [newest] = await conduit.search("differential.diff.search", ofDiff, diffs);
	if (newest === void 0 || newest.id <= diff) return void 0;
	const replaced = `Diff ${newest.id} is newer and has replaced it`;
	const its = await buildableOf(conduit, diffPHID, build).catch(() => void 0);
	if (its === void 0) return `${replaced}: the newer diff is measured.`;
	return `${replaced}: see its build, B${its.id} (${its.fields.uri}).`;
}
const revisions$1 = object({ fields: object({ diffPHID: word }) });
const diffs = object({ id: int() });
/** Newest buildable of that diff with a build by the same plan. */
async function buildableOf(conduit, diffPHID, build) {
	const ofOurs = { constraints: { phids: [build] } };
	const [ours] = await conduit.search("harbormaster.build.search", ofOurs, builds$1);
	const ofDiff = { constraints: { objectPHIDs: [diffPHID] } };
	const all = await conduit.search("harbormaster.buildable.search", ofDiff, buildables);
	if (ours === void 0 || all.length === 0) return void 0;
	const plans = [ours.fields.buildPlanPHID];
	const ofPlan = { constraints: {
		buildables: all.map(({ phid }) => phid),
		plans
	} };
	const [its] = await conduit.search("harbormaster.build.search", ofPlan, builds$1);
	return all.find(({ phid }) => phid === its?.fields.buildablePHID);
}
const buildables = object({
	id: int(),
	phid: word,
	fields: object({ uri: word })
});
const builds$1 = object({ fields: object({
	buildPlanPHID: word,
	buildablePHID: word
}) });

// src/publish/reporters/build.ts
/**
* Reports to the build's waiting target: a restart makes a new one, and Harbormaster silently accepts messages to the
* old one. A finished build gets no more messages.
*
* @param build its PHID: PHID-HMBD-…
*/
function openBuild(conduit, build, revision, options) {
	const log = {
		info: eachOnce(options.log.info),
		warn: eachOnce(options.log.warn)
	};
	const updater = new BuildUpdater(conduit, build, revision, {
		...options,
		log
	});
	const updates = new ThrottledUpdates((view) => updater.post(view), {
		...options,
		log,
		secondsBetween: 60,
		tooSlow: (seconds) => notShown(revision, `Phabricator did not respond within ${seconds} s`)
	});
	const working = () => updates.send("working");
	return {
		queued: working,
		waiting: working,
		measuring: working,
		conclude: (reportedOutcome) => updates.sendLast(reportedOutcome, deliverySeconds(reportedOutcome, options.patienceSeconds)),
		addLinks: async () => {},
		leaveOpen: () => updates.stop()
	};
}
/**
* Warns if the build holds a draft revision back from its reviewers, or if its failure would return the draft to its
* author: a benchmark should do neither. Throws a ConduitError.
*/
async function draftWarning(conduit, build, revision) {
	const constraints = { ids: [revision.number] };
	const [own] = await conduit.search("differential.revision.search", { constraints }, revisions);
	if (own?.fields.status.value !== "draft" || own.fields.holdAsDraft) return void 0;
	const plan = await planOf(conduit, build);
	if (plan?.behaviors["hold-drafts"]?.value === "never") return void 0;
	const named = plan === void 0 ? "its build plan" : `the build plan "${plan.name}"`;
	return `D${revision.number} is a draft until its builds pass, so this build passes with any outcome: set "Hold Drafts" of ${named} to "Never" so that it shows the result.`;
}
const revisions = object({ fields: object({
	status: object({ value: word }),
	holdAsDraft: boolean()
}) });
const plans = object({ fields: object({
	name: word,
	behaviors: byName(object({ value: word }))
}) });
async function planOf(conduit, build) {
	const fields = await buildFields(conduit, build);
	if (fields === void 0) return void 0;
	const constraints = { phids: [fields.buildPlanPHID] };
	const [plan] = await conduit.search("harbormaster.buildplan.search", { constraints }, plans);
	return plan?.fields;
}
const builds = object({ fields: object({
	buildPlanPHID: word,
	buildStatus: object({ value: word })
}) });
async function buildFields(conduit, build) {
	const constraints = { phids: [build] };
	const [own] = await conduit.search("harbormaster.build.search", { constraints }, builds);
	return own?.fields;
}
function attemptOfError(error, sentence) {
	const why = sentence(reasonOf(error).replace(/\.$/, ""));
	if (!(error instanceof ConduitError) || isFinal(error)) return {
		kind: "refused",
		why
	};
	return {
		kind: error.kind === "unsure" && error.code !== void 0 ? "not-yet" : "failed",
		why
	};
}
/**
* Sends `work` and an outcome, each once per target, as Harbormaster adds up the units of all messages. It acts a
* second or two after its reply, or never: the outcome counts as delivered once the target shows it.
*/
var BuildUpdater = class {
	#conduit;
	#build;
	#revision;
	#options;
	#pause;
	#log;
	#workedOn = /* @__PURE__ */ new Set();
	#linked = /* @__PURE__ */ new Set();
	#ends = /* @__PURE__ */ new Map();
	#newer;
	constructor(conduit, build, revision, options) {
		this.#conduit = conduit;
		this.#build = build;
		this.#revision = revision;
		this.#options = options;
		this.#pause = options.pause ?? realPause;
		this.#log = {
			info: eachOnce(options.log.info),
			warn: eachOnce(options.log.warn)
		};
	}
	/** Never throws. */
	async post(view) {
		const attempt = await this.#tryPosting(view).catch((error) => attemptOfError(error, (why) => notShown(this.#revision, why)));
		if (view !== "working" || attempt.kind !== "refused") return attempt;
		this.#log.info(attempt.why);
		return { kind: "delivered" };
	}
	async #tryPosting(view) {
		for (const seconds of [
			0,
			1,
			2,
			4,
			8
		]) {
			if (seconds > 0) await this.#pause(seconds, never$2);
			const current = await readBuildStatus(this.#conduit, this.#build);
			if (current === void 0) return {
				kind: "refused",
				why: unseen(this.#revision)
			};
			const { status, targets } = current;
			const ended = targets.find(({ phid }) => this.#ends.has(phid));
			const end = ended && this.#ends.get(ended.phid);
			if (ended !== void 0 && ended.status !== waiting) {
				if (ended.status !== end?.shows) this.#log.info(endedElsewhere(this.#revision, ended.status));
				return { kind: "delivered" };
			}
			if (over.has(status)) {
				this.#log.info(`${buildName(this.#revision)} is ${status}: it gets no further updates.`);
				return { kind: "delivered" };
			}
			const isSent = end !== void 0 && (end.isSure || seconds > 0);
			const target = targets.find(({ status }) => status === waiting);
			if (!isSent && target !== void 0) await this.#send(target.phid, view);
			if (view === "working") return { kind: "delivered" };
		}
		return {
			kind: "not-yet",
			why: notShown(this.#revision, "none of its targets accepted it")
		};
	}
	async #send(target, view) {
		await this.#link(target);
		if (view === "working" && this.#workedOn.has(target)) return;
		const message = await this.#messageFor(view);
		const isSure = await send(this.#conduit, target, message);
		if (message.type === "work") this.#workedOn.add(target);
		else this.#ends.set(target, {
			shows: `target/${message.type}ed`,
			isSure
		});
	}
	async #messageFor(view) {
		const message = view === "working" ? { type: "work" } : messageOf(await this.#withReason(view), this.#options.undecided);
		if (message.type === "pass") return message;
		const warning = await draftWarning(this.#conduit, this.#build, this.#revision);
		if (warning === void 0) return message;
		this.#log.warn(warning);
		const { unit = [] } = message;
		return {
			type: "pass",
			unit: [aUnit(view === "working" ? "result comes as a comment" : "passed for the draft", "skip", warning), ...unit]
		};
	}
	/** Names the newer diff of a cancelled gate. Asks once, and only briefly, as the job is killed soon. */
	async #withReason(outcome) {
		if (outcome.kind !== "unmeasured" || outcome.reason !== "cancelled") return outcome;
		this.#newer ??= unlessSlow(newerDiff(this.#conduit, this.#build, this.#revision), this.#pause);
		const message = await this.#newer;
		return message === void 0 ? outcome : {
			...outcome,
			message
		};
	}
	/** May fail, as the comment contains the link, too. */
	async #link(target) {
		const { details, run } = this.#options;
		if (details === void 0 || this.#linked.has(target)) return;
		const link = linkTo(target, run, details);
		try {
			await this.#conduit.call("harbormaster.createartifact", link, unknown());
			this.#linked.add(target);
		} catch (error) {
			const why = reasonOf(error);
			if (/duplicate entry/i.test(why)) this.#linked.add(target);
			else this.#log.info(`${buildName(this.#revision)} does not show the link to ${details} (${why}).`);
		}
	}
};
const never$2 = new AbortController().signal;
const slowSeconds = 3;
async function unlessSlow(request, pause) {
	const isSettled = new AbortController();
	const tooLate = pause(slowSeconds, isSettled.signal).then(() => void 0);
	const first = await Promise.race([request.catch(() => void 0), tooLate]);
	isSettled.abort();
	return first;
}
function eachOnce(log) {
	const logged = /* @__PURE__ */ new Set();
	return (sentence) => {
		if (!logged.has(sentence)) log(sentence);
		logged.add(sentence);
	};
}
const buildName = (revision) => `The build of D${revision.number} on Harbormaster`;
const unseen = (revision) => `${buildName(revision)} gets no updates, because it does not exist or is hidden from the bot.`;
const endedElsewhere = (revision, status) => `${buildName(revision)} shows ${status}, set by another client.`;
const notShown = (revision, why) => `${buildName(revision)} may not show the gate's progress (${why}).`;
/** Resolves to false if the reply was lost. */
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
/** Excludes `paused`: such a build continues. */
const over = /* @__PURE__ */ new Set([
	"passed",
	"failed",
	"aborted",
	"error",
	"deadlocked"
]);
const targetSchema = object({
	phid: word,
	fields: object({
		buildGeneration: int(),
		status: object({ value: word })
	})
});
/** Reads the targets since the last start, oldest first; earlier ones stay `waiting`. Undefined for a hidden build. */
async function readBuildStatus(conduit, build) {
	const fields = await buildFields(conduit, build);
	if (fields === void 0) return void 0;
	const constraints = { buildPHIDs: [build] };
	const all = await conduit.search("harbormaster.target.search", { constraints }, targetSchema);
	const newest = Math.max(...all.map(({ fields }) => fields.buildGeneration));
	const targets = all.filter(({ fields }) => fields.buildGeneration === newest).map(({ phid, fields }) => ({
		phid,
		status: fields.status.value
	})).toReversed();
	return {
		status: fields.buildStatus.value,
		targets
	};
}
/** `ui.external` must be a boolean in this encoding. The key is unique within a target. */
const linkTo = (target, run, uri) => ({
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
* Only a pass passes, unless the site lets undecided gates pass. A cancelled gate fails with its reason: otherwise the
* build would wait forever, and `abort` shows no reason. Both can be restarted.
*/
function messageOf(reported, undecided) {
	const conclusion = conclusionOf(reported);
	return {
		type: conclusion === "pass" || conclusion === "undecided" && undecided === "neutral" ? "pass" : "fail",
		unit: unitsOf(reported)
	};
}
function unitsOf(reported) {
	if (reported.kind === "unmeasured") return [aUnit("gate", resultsWithout[conclusionOf(reported)] ?? "broken", reported.message)];
	if (reported.kind === "bisected") {
		const blame = conclusionOf(reported) === "pass" ? "pass" : "unsound";
		return [aUnit("bisection", blame, bisectHeadline(reported.result))];
	}
	const result = resultOf(reported);
	const { outcome } = result;
	if (outcome.kind === "judged") return unitsOfCells(outcome.cells, result);
	if (outcome.kind === "unchanged") return [aUnit("unchanged", "skip", unchangedMeaning(outcome))];
	const blame = outcome.kind === "out-of-disk" ? "broken" : "fail";
	return [aUnit(outcomeName(result), blame, outcome.message)];
}
const resultsWithout = {
	patchAtFault: "fail",
	cancelled: "skip"
};
/** Returns one unit for all cells if none was measured, as Harbormaster shows only five. */
function unitsOfCells(cells, result) {
	if (cells.some(({ verdict }) => verdict.kind !== "invalid") || cells.length === 1) return cells.map((cell) => unitOf(cell, result));
	const lines = [`invalid: ${plainText(sentence(result))}`, ...invalidLines(cells).map(plainText)];
	return [aUnit("gate", unitResults.invalid, lines.join("\n"))];
}
function unitOf(cell, { trials, policy }) {
	const name = cellName(cell.cell);
	const seconds = trials.filter((trial) => cellName(trial.cell) === name).reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0);
	const [comparison] = cell.comparisons;
	const confidence = formatPercent(policy.confidenceRatio);
	const details = [cell.verdict.kind === "invalid" ? `invalid: ${cell.verdict.reason}` : `${cell.verdict.kind}${remarkOf(cell)}`, comparison && changeText(comparison, confidence)].filter(Boolean).join("\n");
	return {
		...aUnit(name, unitResults[cell.verdict.kind], details),
		duration: seconds
	};
}
/** `805.3 kpps → 721.5 kpps: −10.4 %, 95 % interval −11.2 … −9.60 %`. */
const changeText = ({ metric, base, patched, interval }, confidence) => [`${formatMetric(base, metric)} → ${formatMetric(patched, metric)}: ${formatChange(interval.change)}`, `${confidence} interval ${formatInterval(interval.low, interval.high)} %`].join(", ");
/** `unsound`: measured without a verdict; `broken`: not measured. The revision hides a `skip` and its reason. */
const unitResults = {
	"no-regression": "pass",
	improvement: "pass",
	regression: "fail",
	inconclusive: "unsound",
	invalid: "broken"
};
const aUnit = (name, result, details) => ({
	engine: "ppsgate",
	format: "text",
	name,
	result,
	details: plainBlock(details, 2e3)
});

// src/publish/reporters/outcome-text.ts
/** Returns one line of plain text: `🔴 #7 loses 10.4 % (forwarding inet4)`, `⚪ not measured: cancelled`. */
function outcomeTitle(outcome) {
	switch (outcome.kind) {
		case "measured": return verdictLine(outcome.result);
		case "bisected": return `${bisectSymbol(outcome.result)} ${bisectHeadline(outcome.result)}`;
		case "unmeasured": {
			const { symbol, text } = failureTexts[outcome.reason];
			return `${symbol} ${text}`;
		}
		case "uncounted": return `⚪ does not count: ${outcome.title}`;
	}
}
function outcomeMarkdown(outcome) {
	switch (outcome.kind) {
		case "measured": return renderMarkdown(outcome.result, outcome.links);
		case "bisected": {
			const { result, request, links } = outcome;
			return renderMarkdown(result, {
				...links,
				ways: bisectCommands(callOnGithub, request)
			});
		}
		case "unmeasured": return outcome.reason === "cancelled" ? outcome.message : codeBlock(outcome.message);
		case "uncounted": return `${outcome.why}\n\n${outcomeMarkdown(outcome.measured)}`;
	}
}
/** Command that repeats the bisection. Without named ends, `diff` is the last one of the search. */
const bisectCommand = (call, request, diff) => `${call} ${bisectWords(request, diff)}`;
/** Commands for a comment that request the bisections proposed by a result. */
function bisectCommands(call, request, diff) {
	const command = (more) => `\`${bisectCommand(call, {
		...request,
		...more
	}, diff)}\``;
	const { fixUp, maxBoots = 60 } = request;
	return {
		fixUp: (commit) => command({ fixUp: [fixUp, commit].filter(Boolean).join(",") }),
		goOn: command({ maxBoots: String(2 * Number(maxBoots)) }),
		verifyRevert: command({ verifyRevert: "true" })
	};
}
const failureTexts = {
	cancelled: {
		symbol: "⚪",
		text: "not measured: cancelled"
	},
	usage: {
		symbol: "⚪",
		text: "not measured: the request cannot be carried out"
	},
	patchAtFault: {
		symbol: "🔴",
		text: "not measured: the patch does not apply"
	},
	"binary-file": {
		symbol: "🔴",
		text: "not measured: the diff changes a binary file"
	},
	"without-prefixes": {
		symbol: "🔴",
		text: "not measured: the diff was sent without the prefixes of git"
	},
	"unusable-diff": {
		symbol: "🔴",
		text: "not measured: the diff cannot be used"
	},
	infrastructure: {
		symbol: "⚪",
		text: "not measured: a failure outside the patch"
	},
	"waits-for-approval": {
		symbol: "⏸️",
		text: "waits for a maintainer"
	},
	"left-to-merge-queue": {
		symbol: "⏸️",
		text: "not measured yet: the merge queue measures it"
	}
};

// src/publish/reporters/check-run.ts
/**
* Keeps one check run on the patch's head, created by the first update. Sends updates at most every 10 s, and the
* outcome at once. A refusal of GitHub, such as for a token without `checks: write`, is logged once and not retried.
*/
function openCheckRun(octokit, subject, options) {
	const { detailsUrl, now, undecided, isOwnApp, patienceSeconds } = options;
	const updates = new ThrottledUpdates(checkRunOf(octokit, subject, options), {
		...options,
		secondsBetween: 10,
		tooSlow: tooSlow$2
	});
	const withJob = (summary) => isOwnApp ? summary : `${summary}\n\n[The job](${detailsUrl})`;
	let since;
	return {
		queued(text) {
			updates.send({
				status: "queued",
				output: {
					title: text,
					summary: withJob(text)
				}
			});
		},
		waiting(estimate, text) {
			const summary = withJob(`${codeSpan(text, 1e3)}\n\n${expectedStart(estimate, now())}`);
			updates.send({
				status: "queued",
				output: {
					title: queuePosition(estimate),
					summary
				}
			});
		},
		measuring(testbed, line = "") {
			since ??= now();
			const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
			const summary = withJob([where, codeSpan(line)].filter(Boolean).join("\n\n"));
			updates.send({
				status: "in_progress",
				output: {
					title: `measuring on ${testbed}`,
					summary
				}
			});
		},
		conclude(outcome) {
			const result = resultOf(outcome);
			const annotations = result === void 0 ? [] : annotationsOf(result);
			const output = {
				title: outcomeTitle(outcome),
				summary: withJob(outcomeMarkdown(outcome)),
				annotations
			};
			const conclusion = checkConclusionOf(outcome, undecided);
			const actions = isOwnApp ? buttonsFor(outcome) : [];
			return updates.sendLast({
				status: "completed",
				conclusion,
				output,
				actions
			}, deliverySeconds(outcome, patienceSeconds));
		},
		addLinks: (outcome) => updates.replaceLast({
			status: "linked",
			output: {
				title: outcomeTitle(outcome),
				summary: withJob(outcomeMarkdown(outcome))
			}
		}, deliverySeconds(outcome, patienceSeconds)),
		leaveOpen: () => updates.stop()
	};
}
/** Completes the checks that a killed job left open. Returns a sentence for people if that failed. */
async function closeOpenCheckRun(octokit, { repository, patch }, { name, detailsUrl }) {
	const { owner, repo } = placeOf(repository);
	try {
		const all = await checkRunsOn(octokit, repository, patch.headCommit, name);
		const ours = externalIdOf(patch, detailsUrl);
		for (const { id: check_run_id, external_id, status } of all) {
			if (external_id !== ours || status === "completed") continue;
			const output = {
				title: outcomeTitle(cancelledOutcome),
				summary: outcomeMarkdown(cancelledOutcome)
			};
			await octokit.request(updateCheck, {
				owner,
				repo,
				check_run_id,
				status: "completed",
				conclusion: "cancelled",
				output
			});
		}
		return;
	} catch (error) {
		return `A check of ppsgate on ${repository} may stay open, because the job ended early and GitHub could not be notified (${githubFailure(error)?.detail ?? reasonOf(error)}): run the job again.`;
	}
}
/** True if the newest check of this name passed for another pull request or base, or if GitHub cannot be read. */
async function checkIsForAnother(octokit, { repository, patch }, name) {
	try {
		const newest = await newestCheckRun(octokit, {
			repository,
			patch
		}, name);
		return (newest?.conclusion === "success" || newest?.conclusion === "neutral") && !newest.external_id?.startsWith(externalIdOf(patch, ""));
	} catch {
		return true;
	}
}
/** Also true if GitHub cannot be read. */
const hasCheckRun = (octokit, subject, name) => newestCheckRun(octokit, subject, name).then((newest) => newest !== void 0, () => true);
async function newestCheckRun(octokit, { repository, patch }, name) {
	return (await checkRunsOn(octokit, repository, patch.headCommit, name)).toSorted((a, b) => Number(b.id) - Number(a.id))[0];
}
async function checkRunsOn(octokit, repository, commit, name) {
	const { owner, repo } = placeOf(repository);
	const { data } = await octokit.request("GET /repos/{owner}/{repo}/commits/{ref}/check-runs", {
		owner,
		repo,
		ref: commit,
		check_name: name,
		filter: "all",
		per_page: 100
	});
	return data.check_runs;
}
/** Formats `#7 main https://…`; no branch name contains a space. */
const externalIdOf = (patch, detailsUrl) => patch.kind === "pull-request" ? `#${patch.number} ${patch.baseBranch ?? "?"} ${detailsUrl}` : detailsUrl;
/** Number of the pull request that a check belongs to, from its `external_id`. */
function pullRequestOfCheckRun(externalId) {
	const [, digits] = /^#([1-9]\d{0,9}) /.exec(externalId) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
const updateCheck = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}";
/**
* Only a measured pass is green, and every failure of the job is red. Branch rules accept `neutral` as a pass. A
* failure never gets it, and an undecided gate only by the site's choice. A patch that needs no measurement, or none
* yet, gets it. The title names the fault.
*/
function checkConclusionOf(outcome, undecided) {
	switch (conclusionOf(outcome)) {
		case "pass": return resultOf(outcome)?.outcome.kind === "judged" ? "success" : "neutral";
		case "cancelled": return "cancelled";
		case "undecided": return undecided;
		case "patchAtFault":
		case "usage":
		case "infrastructure": return "failure";
	}
}
/** GitHub allows 20, 40 and 20 characters. */
const rerun = {
	label: "Re-run",
	description: "Measure this commit again",
	identifier: "rerun"
};
const extend = {
	label: "Extend",
	description: "Continue with more runs",
	identifier: "extend"
};
const buttonsFor = (outcome) => conclusionOf(outcome) === "undecided" ? [extend, rerun] : [rerun];
const tooSlow$2 = (seconds) => `The check on the commit may not show the outcome, because GitHub did not respond within ${seconds} s: if the check is required, run the job again.`;
/** Posts updates to one check run, which the first update creates. */
function checkRunOf(octokit, subject, { name, detailsUrl, isOwnApp, isOpen = false }) {
	const { owner, repo } = placeOf(subject.repository);
	const { headCommit } = subject.patch;
	const request = { retries: 0 };
	const external_id = externalIdOf(subject.patch, detailsUrl);
	let id;
	let mayExist = isOpen;
	let mayBeComplete = false;
	const create = async (view) => {
		const about = {
			name,
			head_sha: headCommit,
			...isOwnApp ? { details_url: detailsUrl } : {}
		};
		const { data } = await octokit.request("POST /repos/{owner}/{repo}/check-runs", {
			owner,
			repo,
			...about,
			external_id,
			request,
			...view
		});
		return data.id;
	};
	const update = (check_run_id, changes) => octokit.request(updateCheck, {
		owner,
		repo,
		check_run_id,
		request,
		...changes
	});
	/**
	* Finds the check if a reply was lost after GitHub acted. A check completed by an earlier attempt of this run is
	* another.
	*/
	const find = async (view) => {
		return (await checkRunsOn(octokit, subject.repository, headCommit, name)).find((run) => {
			if (id !== void 0) return run.id === id;
			if (run.external_id !== external_id) return false;
			return run.status !== "completed" || hasEnded(run, view);
		});
	};
	return async (view) => {
		try {
			if (view.status === "linked") {
				if (id === void 0) return { kind: "delivered" };
				await update(id, { output: view.output });
				return { kind: "delivered" };
			}
			if (id === void 0 ? mayExist : mayBeComplete) {
				const found = await find(view);
				id ??= found?.id;
				if (found?.status === "completed") return { kind: "delivered" };
			}
			mayExist = true;
			mayBeComplete = view.status === "completed";
			if (id === void 0) id = await create(view);
			else await update(id, view);
			return { kind: "delivered" };
		} catch (error) {
			return failedAttempt$1(error, name, subject);
		}
	};
}
const hasEnded = ({ conclusion, output }, view) => view.status === "completed" && conclusion === view.conclusion && output.title === view.output.title;
function failedAttempt$1(error, name, { repository, patch }) {
	const what = `The check ${name} on ${patchName(patch)} of ${repository} does not show the current state`;
	const failure = githubFailure(error);
	if (failure === void 0) return {
		kind: "refused",
		why: `${what} (${reasonOf(error)}).`
	};
	if (failure.kind !== "answered" || failure.status >= 500) return {
		kind: "failed",
		why: `${what} because GitHub could not be notified (${failure.detail}): if the check is required, run the job again.`
	};
	return {
		kind: "refused",
		why: whyNotDone(what, failure, {
			again: "run the job",
			permission: "give the job `permissions: checks: write`; the gate continues without it",
			otherwise: "; the gate continues without it"
		})
	};
}

// src/publish/reporters/comment-text.ts
const maxEarlier = 10;
const longestTitle = 160;
/** Exceeds the number of pushes while a person writes a command. */
const maxHeads = 20;
const verdict = object({
	/** Id of the workflow run that has the journal. */
	run: total,
	headCommit: text(64),
	at: time,
	/** `🔴 #7 loses 10.4 % (forwarding inet4)`. */
	title: text(longestTitle)
});
/** Stored in the comment itself, hidden. */
const memorySchema = object({
	/** Id of the workflow run that wrote last; ids of later runs are greater. */
	run: total,
	headCommit: text(64),
	/** Time from which the comment shows this head. */
	since: time,
	/** Heads shown before, newest first. */
	heads: list(text(64), maxHeads).optional(),
	overrides: gateOverridesSchema,
	last: verdict.optional(),
	earlier: list(verdict, maxEarlier)
});
/** First line of the comment, by which it is found again. */
const markerOf = (name) => `<!-- ${name.replace(/[^\w :.,-]/g, "")} -->`;
/** Wraps the Markdown `body`. Undefined if a later run has written meanwhile and must not be overwritten. */
function composeComment(before, body, update) {
	const memory = before === void 0 ? void 0 : readMemory(before);
	if (memory !== void 0 && memory.run > update.run) return void 0;
	return fitted(update.name, body.trimEnd(), nextMemory(memory, update));
}
/** Reads the record at the very end, where foreign text never is. Undefined if an edit removed or changed it. */
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
function nextMemory(memory, update) {
	const { run, headCommit, overrides, at, title } = update;
	const { last, earlier = [] } = memory ?? {};
	const now = at.toISOString();
	const since = memory?.headCommit === headCommit ? memory.since : now;
	const shown = memory === void 0 ? [] : [memory.headCommit, ...memory.heads ?? []];
	const heads = [...new Set(shown)].filter((one) => one !== headCommit).slice(0, maxHeads);
	const head = {
		run,
		headCommit,
		since,
		...heads.length > 0 && { heads },
		overrides: overrides ?? memory?.overrides ?? {}
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
		earlier: before.slice(0, maxEarlier)
	};
}
const maxCharacters$1 = 65536;
function fitted(name, body, memory) {
	const remembered = Buffer.from(JSON.stringify(memory)).toString("base64url");
	const isNamed = body.includes(memory.headCommit);
	const comment = [
		markerOf(name),
		body,
		...isNamed ? [] : [`<sub>commit ${codeSpan(memory.headCommit)}</sub>`],
		...earlierVerdicts(memory),
		`${opening}${remembered} -->`
	].join("\n\n");
	const { earlier, heads = [] } = memory;
	if (comment.length <= maxCharacters$1) return comment;
	if (earlier.length > 0) return fitted(name, body, {
		...memory,
		earlier: earlier.slice(0, -1)
	});
	if (heads.length === 0) return comment;
	return fitted(name, body, {
		...memory,
		heads: heads.slice(0, -1)
	});
}
function earlierVerdicts({ run, last, earlier }) {
	const all = last === void 0 || last.run === run ? earlier : [last, ...earlier];
	if (all.length === 0) return [];
	return [`<details><summary>earlier verdicts</summary>\n\n${[
		"| commit | judged | |",
		"|---|---|---|",
		...all.map(({ headCommit, at, title }) => {
			return `| ${[
				shortId(headCommit),
				at.slice(0, 10),
				title
			].map((cell) => codeSpan(cell).replaceAll("|", "\\|")).join(" | ")} |`;
		})
	].join("\n")}\n\n</details>`];
}

// src/publish/reporters/comment.ts
/** A refusal of GitHub, such as for a read-only token, is logged once and not retried. */
function openComment(octokit, pullRequest, options) {
	const { name, run, overrides, detailsUrl, log, now, pause, patienceSeconds, keep = () => {} } = options;
	const { headCommit } = pullRequest;
	const { subject = patchName(pullRequest) } = options;
	const post = async ({ body, title }) => {
		const writing = {
			name,
			run,
			headCommit,
			overrides,
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
				return { kind: "delivered" };
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
	const updates = new ThrottledUpdates(post, {
		log: {
			...log,
			info: (sentence) => (sentence === superseded ? log.info : log.warn)(sentence)
		},
		secondsBetween: 60,
		tooSlow: tooSlow$1,
		...pause && { pause }
	});
	const heading = (text) => `### ⏳ ppsgate: ${subject} ${text}`;
	const job = `<sub>[the job](${detailsUrl}) · commit ${codeSpan(headCommit)}</sub>`;
	const view = (...parts) => ({ body: parts.filter(Boolean).join("\n\n") });
	const viewOf = (outcome) => outcome.kind === "unmeasured" ? view(unmeasured(subject, outcome), job) : {
		body: outcomeMarkdown(outcome),
		title: outcomeTitle(outcome)
	};
	let since;
	return {
		queued(text) {
			updates.send(view(heading(text), job));
		},
		waiting(estimate, text) {
			const title = heading(`waits for a testbed: ${queuePosition(estimate)}`);
			updates.send(view(title, `${codeSpan(text, 1e3)}\n\n${expectedStart(estimate, now())}`, job));
		},
		measuring(testbed, line = "") {
			since ??= now();
			const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
			updates.send(view(heading("is being measured"), where, codeSpan(line), job));
		},
		conclude: (outcome) => updates.sendLast(viewOf(outcome), deliverySeconds(outcome, patienceSeconds)),
		addLinks: (outcome) => updates.replaceLast(viewOf(outcome), deliverySeconds(outcome, patienceSeconds)),
		leaveOpen: () => updates.stop()
	};
}
const never$1 = new AbortController().signal;
const superseded = "A later run for the same pull request writes the comment.";
const tooSlow$1 = (seconds) => `The comment on the pull request may not show the outcome, because GitHub did not respond within ${seconds} s; the result is in the job's summary.`;
function unmeasured(subject, outcome) {
	const { symbol, text } = failureTexts[outcome.reason];
	return `### ${symbol} ppsgate: ${subject} ${text}\n\n${outcomeMarkdown(outcome)}`;
}

// src/publish/reporters/revision-comment.ts
const openRevisionReporter = (conduit, revision, { build, ...options }) => combineReporters([...build === void 0 ? [] : [openBuild(conduit, build, revision, options)], openRevisionComment(conduit, revision, options)]);
/** Posts one comment with the outcome and, if the upload succeeds, its plot. All subscribers get mail. */
function openRevisionComment(conduit, revision, options) {
	const { log, pause, patienceSeconds } = options;
	const updates = new ThrottledUpdates(revisionCommenter(conduit, revision, options), {
		log: {
			info: log.warn,
			warn: log.warn
		},
		secondsBetween: 60,
		tooSlow: (seconds) => maybeMissing(revision.number, `Phabricator did not respond within ${seconds} s`),
		...pause && { pause }
	});
	const nothing = () => {};
	return {
		queued: nothing,
		waiting: nothing,
		measuring: nothing,
		conclude: (outcome) => updates.sendLast(outcome, deliverySeconds(outcome, patienceSeconds)),
		addLinks: async () => {},
		leaveOpen: () => updates.stop()
	};
}
/** Returns a function that posts the comment once per run, even if called several times. The function never throws. */
function revisionCommenter(conduit, revision, { run, details, page, takesCommands, rerun, log }) {
	const { number, diff } = revision;
	const marker = `ppsgate D${number}:${diff} run ${run}`;
	const plot = plotOf(conduit, revision);
	return async (outcome) => {
		if (conclusionOf(outcome) === "cancelled") return { kind: "delivered" };
		const links = {
			...details !== void 0 && { details },
			...page !== void 0 && { page },
			...takesCommands && {
				rerun: outcome.kind === "bisected" ? bisectCommand("@ppsgate", outcome.request, diff) : rerun ?? `${"@ppsgate"} rerun`,
				goOn: `${"@ppsgate"} extend`
			}
		};
		let missing;
		const attempt = await postOnce(conduit, revision, marker, async () => {
			if (outcome.kind === "unmeasured") return renderRemarkupFailure({
				...failureTexts[outcome.reason],
				message: outcome.message
			}, links);
			const { image, why } = await plot(() => outcome.kind === "bisected" ? bisectPlot(outcome.result) : intervalPlot(resultOf(outcome)));
			missing = why;
			const withImage = {
				...links,
				...image && { image }
			};
			if (outcome.kind !== "bisected") return renderRemarkup(resultOf(outcome), withImage);
			const ways = bisectCommands(callOnPhabricator, outcome.request, diff);
			return renderRemarkup(outcome.result, {
				...withImage,
				...takesCommands && { ways }
			});
		});
		if (attempt.kind === "delivered" && missing !== void 0) log.info(missing);
		return attempt;
	};
}
/**
* Posts a short reply, once per key. `text` is Remarkup; foreign text in it must be escaped by remarkupText. Never
* throws.
*
* @param revision 27401 for D27401
* @param phid absent: any revision that has the number
*/
const postReply = (conduit, revision, text, key, phid) => postOnce(conduit, {
	number: revision,
	...phid && { phids: { revision: phid } }
}, `ppsgate D${revision} reply ${key}`, async () => text);
/**
* Searches for the marker first, as Phabricator accepts duplicates. It is the last line, as Remarkup cannot hide text.
*/
async function postOnce(conduit, revision, marker, compose) {
	const { number, phids } = revision;
	const objectIdentifier = phids?.revision ?? `D${number}`;
	const lastLine = `\`${marker}\``;
	try {
		const why = await whyAnother(conduit, revision);
		if (why !== void 0) return {
			kind: "pointless",
			why
		};
		if (await isPosted(conduit, objectIdentifier, lastLine)) return { kind: "delivered" };
		const comment = {
			objectIdentifier,
			transactions: [{
				type: "comment",
				value: `${await compose()}\n\n${lastLine}`
			}]
		};
		await conduit.call("differential.revision.edit", comment, unknown());
		return { kind: "delivered" };
	} catch (error) {
		return attemptOfError(error, (why) => maybeMissing(number, why));
	}
}
const maybeMissing = (revision, why) => `The comment on D${revision} may be missing (${why}).`;
const maxTransactions = 500;
/** Reads only the last lines of our own account's comments: others may have written the marker elsewhere. */
async function isPosted(conduit, objectIdentifier, lastLine) {
	const { phid } = await conduit.call("user.whoami", {}, object({ phid: word }));
	const query = {
		objectIdentifier,
		constraints: { authorPHIDs: [phid] }
	};
	return (await conduit.search("transaction.search", query, commentSchema, maxTransactions)).flatMap(({ comments }) => comments.map(({ content }) => content.raw)).some((text) => text.trimEnd().split("\n").at(-1) === lastLine);
}
const commentSchema = object({ comments: list(object({ content: object({ raw: document }) })) });
/** Uploads the plot once: a comment shows only bitmap images that are on the server. */
function plotOf(conduit, { number, diff }) {
	let uploaded;
	return async (draw) => {
		if (uploaded !== void 0) return uploaded;
		try {
			const svg = draw();
			if (svg === void 0) return {};
			const png = Buffer.from(await pngOf(svg));
			uploaded = { image: await upload(conduit, `ppsgate-D${number}-${diff}.png`, png) };
			return uploaded;
		} catch (error) {
			return { why: `The comment on D${number} has no plot (${reasonOf(error)}).` };
		}
	};
}
/** Uploads a public file, as a comment by Conduit does not make it visible. Returns its name, such as `F123`. */
async function upload(conduit, name, bytes) {
	const content = {
		name,
		data_base64: bytes.toString("base64"),
		viewPolicy: "public"
	};
	const constraints = { phids: [await conduit.call("file.upload", content, word)] };
	const ids = object({ id: int() });
	const [file] = await conduit.search("file.search", { constraints }, ids);
	if (file === void 0) throw new Error(`${conduit.url} does not show ${name}, although it accepted it`);
	return `F${file.id}`;
}

// src/publish/reporters/shared-head.ts
/** Includes the patch's own pull request, in case it was retargeted meanwhile. */
function failingOnSharedHead(octokit, patch, reporter, { patienceSeconds, pause = realPause } = {}) {
	let otherBase;
	const withOtherBase = (outcome) => {
		if (otherBase === void 0) return outcome;
		if (outcome.kind === "measured") return {
			kind: "uncounted",
			measured: outcome,
			...otherBase
		};
		return isLeftToQueue(outcome) ? {
			...outcome,
			reason: "waits-for-approval"
		} : outcome;
	};
	return {
		...reporter,
		async conclude(outcome) {
			if (mayPass(outcome)) otherBase = await findOtherBase(octokit, patch, {
				most: deliverySeconds(outcome, patienceSeconds),
				pause
			});
			return reporter.conclude(withOtherBase(outcome));
		},
		addLinks: (outcome) => reporter.addLinks(withOtherBase(outcome))
	};
}
const isLeftToQueue = (outcome) => outcome.kind === "unmeasured" && outcome.reason === "left-to-merge-queue";
/** Branch rules accept a neutral check as a pass. */
const mayPass = (outcome) => ["pass", "undecided"].includes(conclusionOf(outcome));
async function findOtherBase(octokit, patch, { most, pause }) {
	const { repository, headCommit, baseBranch } = patch;
	try {
		const elsewhere = (await retried(() => pullRequestsWithHead(octokit, repository, headCommit), [...pausesWithin(most)], pause)).find(({ pullRequest }) => pullRequest.baseBranch !== baseBranch);
		if (elsewhere === void 0) return void 0;
		const { number, baseBranch: branch = "" } = elsewhere.pullRequest;
		const goes = number === patch.number ? "goes" : "has the same head and targets";
		return {
			title: "this commit also targets another branch",
			why: `${patchName(patch)} was measured for ${codeSpan(baseBranch ?? "another branch")}, but #${number} ${goes} ${codeSpan(branch)}: a commit has one check for all of them. Close the other, or push to one of them, and write \`/ppsgate rerun\` in the one to be merged.`
		};
	} catch (error) {
		return {
			title: "the base branches of this commit are unknown",
			why: `GitHub did not report whether another pull request has this commit: ${codeSpan(reasonOf(error), 500)} Write \`/ppsgate rerun\`.`
		};
	}
}
/** Repeats a request after each pause while GitHub's failure may be temporary. */
async function retried(request, [seconds, ...later], pause) {
	try {
		return await request();
	} catch (error) {
		const cause = error instanceof Error ? error.cause : void 0;
		if (seconds === void 0 || !mayPassSoon(githubFailure(cause))) throw error;
		await pause(seconds, never);
		return retried(request, later, pause);
	}
}
const never = new AbortController().signal;

// src/publish/reporters/status.ts
/** A status has no neutral state, so an undecided gate fails it. */
function openStatus(octokit, subject, options) {
	const { name, detailsUrl, patienceSeconds } = options;
	const { owner, repo } = placeOf(subject.repository);
	const post = async ({ state, description }) => {
		try {
			await octokit.request("POST /repos/{owner}/{repo}/statuses/{sha}", {
				owner,
				repo,
				sha: subject.patch.headCommit,
				state,
				description: plain(description),
				context: name,
				target_url: detailsUrl
			});
			return { kind: "delivered" };
		} catch (error) {
			return failedAttempt(error);
		}
	};
	const updates = new ThrottledUpdates(post, {
		...options,
		secondsBetween: 60,
		tooSlow
	});
	return {
		waiting: (estimate) => updates.send({
			state: "pending",
			description: queuePosition(estimate)
		}),
		queued: (text) => updates.send({
			state: "pending",
			description: text
		}),
		measuring: (testbed) => updates.send({
			state: "pending",
			description: `measuring on ${testbed}`
		}),
		conclude(outcome) {
			const state = states[conclusionOf(outcome)];
			return updates.sendLast({
				state,
				description: outcomeTitle(outcome)
			}, deliverySeconds(outcome, patienceSeconds));
		},
		addLinks: async () => {},
		leaveOpen: () => updates.stop()
	};
}
const maxCharacters = 140;
/** GitHub rejects descriptions with four-byte characters, such as most emoji. The state has its own colour. */
const plain = (description) => description.replace(/[\u{10000}-\u{10ffff}]/gu, "").trim().slice(0, maxCharacters);
const states = {
	pass: "success",
	patchAtFault: "failure",
	undecided: "failure",
	usage: "error",
	infrastructure: "error",
	cancelled: "error"
};
const tooSlow = (seconds) => `The commit status may not show the outcome, because GitHub did not respond within ${seconds} s: if the status is required, run the job again.`;
function failedAttempt(error) {
	const what = "The commit status does not show the current state";
	const failure = githubFailure(error);
	if (failure === void 0) return {
		kind: "refused",
		why: `${what} (${reasonOf(error)}).`
	};
	const why = `${what} (${failure.detail}): give the job \`permissions: statuses: write\`, or set github.status to false.`;
	return {
		kind: failure.kind === "answered" && failure.status < 500 ? "refused" : "failed",
		why
	};
}

// src/publish/reporters/alert-text.ts
/** Hidden first line of an issue; identifies its change. */
const alertMarker = (id) => `<!-- ppsgate change ${id} -->`;
const changeIdIn = (body) => /^<!-- ppsgate change ([0-9a-f]{12}(?:[0-9a-f]{28})?) -->/.exec(body)?.[1];
/** Identifies news, so that it is posted only once. */
const newsMarker = ({ id }, state) => `<!-- ppsgate change ${id} news ${createHash("sha256").update(state).digest("hex")} -->`;
const alertLabels = {
	code: {
		name: "ppsgate-regression",
		color: "d73a4a",
		description: "A commit made the branch slower; a gate has confirmed it"
	},
	testbed: {
		name: "ppsgate-testbed",
		color: "fbca04",
		description: "A testbed measures less than before, but no commit is the cause"
	}
};
const issueStateSchema = object({
	state: _enum(changeStates),
	cells: ordinal,
	/** The worst cell's `changeRatio`. */
	worstRatio: change,
	culprit: name.optional()
});
const issueStateText = (change) => JSON.stringify({
	state: change.state,
	cells: losses(change).length,
	worstRatio: worstOf(change).changeRatio,
	...change.bisection?.culprit !== void 0 && { culprit: change.bisection.culprit }
});
const readIssueState = (text) => issueStateSchema.safeParse(parseJson(text ?? "")).data;
/** Lists news as Markdown sentences; a loss counts from half a margin. Without `before`, only the end is news. */
function issueNews(before, change, marginRatio) {
	const { state, bisection } = change;
	if (state !== before?.state && !isOpen(change)) return [stateNews(change)].flatMap((one) => one ?? []);
	if (before === void 0 || !isOpen(change)) return [];
	const { changeRatio, cell } = worstOf(change);
	const cells = losses(change);
	const culprit = bisection?.culprit;
	const isWorse = Math.abs(changeRatio) >= Math.abs(before.worstRatio) + marginRatio / 2;
	return [
		state === before.state ? void 0 : stateNews(change),
		culprit === void 0 || culprit === before.culprit ? void 0 : `A bisection found the commit: ${shortId(culprit)}.`,
		cells.length > before.cells ? `More cells have a loss: ${cells.map((level) => sizeIn(level)).join(", ")}.` : void 0,
		isWorse ? `The loss has grown: ${cellName(cell)} ${formatChange(changeRatio)}, after ${formatChange(before.worstRatio)}.` : void 0
	].flatMap((one) => one ?? []);
}
function stateNews({ state, good, bad }) {
	switch (state) {
		case "code": return "A gate of both commits on the same testbed confirms the loss: the code is the cause.";
		case "testbed": return good === bad ? "The same commit was measured before and after: the testbed or chance is the cause." : "A gate of both commits on the same testbed finds no loss of the margin: the testbed or chance is the cause.";
		case "accepted": return "The new level is accepted: from now on nightly runs are compared with it.";
		case "recovered": return "The old level is back.";
		default: return;
	}
}
const sizeIn = ({ cell, changeRatio }) => `${cellName(cell)} ${formatChange(changeRatio)}`;
/** `ipfw-stateful inet4 −4.10 % in 1a2b3c4d5e6f..5d6e7f8a9b0c (3 cells, hp-t540)`, with the worst cell. */
function alertTitle(change) {
	const count = losses(change).length;
	const of = isCost(change.metric) ? ` ${metricNouns[change.metric]}` : "";
	const cells = count === 1 ? "1 cell" : `${count} cells`;
	return `${sizeIn(worstOf(change))}${of} in ${commitsOf(change)} (${cells}, ${plainLine(change.testbed, 60)})`;
}
/** Markdown that contains no text from a commit. */
function alertBody(change, links) {
	const { id, metric, gates, bisection } = change;
	const result = ({ path, text }) => links.result === void 0 ? text : `[${text}](${links.result(path)})`;
	const gateLinks = gates.map(({ at, verdict, result: path }) => result({
		path,
		text: `${verdict} on ${at.slice(0, 10)}`
	}));
	const culprit = bisection?.culprit;
	const facts = [
		`- Commits: ${commitsLink(change, links)}`,
		...culprit === void 0 ? [] : [`- The commit, as a bisection found: ${culprit}`],
		...bisection === void 0 ? [] : [`- ${result({
			path: bisection.result,
			text: "The bisection"
		})}`],
		...gateLinks.length === 0 ? [] : [`- Gates of the two commits: ${gateLinks.join(", ")}`]
	];
	return [
		alertMarker(id),
		`On ${codeSpan(change.testbed)} ${metricNouns[metric]} of the default branch changed permanently. ${stateNews(change) ?? ""}`.trim(),
		tableOf(change),
		facts.join("\n"),
		`<sub>A maintainer can accept the new level permanently: comment \`${callOnGithub} accept\`. This issue is closed automatically when the old level comes back.</sub>`
	].join("\n\n");
}
function tableOf(change) {
	const { metric, cells, gates } = change;
	const judged = gates.at(-1)?.cells ?? [];
	return [
		"| cell | before | after | change | in the gate |",
		"|---|--:|--:|--:|--:|",
		...cells.map(({ cell, before, after, changeRatio }) => {
			const interval = judged.find((one) => cellName(one.cell) === cellName(cell))?.interval;
			const inGate = interval === void 0 ? "" : `${formatInterval(interval.low, interval.high)} %`;
			const levels = [before, after].map((level) => formatMetric(level, metric));
			return `| ${[
				cellName(cell),
				...levels,
				formatChange(changeRatio),
				inGate
			].join(" | ")} |`;
		})
	].join("\n");
}
const pullRequestText = (change, issue) => [
	alertMarker(change.id),
	`### 🔴 ppsgate: ${alertTitle(change)}`,
	`This was merged as ${change.bisection?.culprit ?? change.bad}, and a gate of the commits on ${codeSpan(change.testbed)} confirms the loss. #${issue} has the rest.`,
	tableOf(change)
].join("\n\n");
const revisionText = (change, issueUrl) => [
	`This landed as ${remarkupText(change.bisection?.culprit ?? change.bad)} and lost packets per second, or costs more for each, on ${remarkupText(change.testbed)}; a gate of the commits confirms it.`,
	losses(change).map((level) => `- ${remarkupText(sizeIn(level))}`).join("\n"),
	issueUrl
].join("\n\n");
/** Cells with a loss, worst first; for a change without a loss, all its cells. */
function losses(change) {
	const lost = lossesOf(change);
	return (lost.length > 0 ? lost : change.cells).toSorted((a, b) => Math.abs(b.changeRatio) - Math.abs(a.changeRatio));
}
function commitsOf({ good, bad, bisection }) {
	if (bisection?.culprit !== void 0) return shortId(bisection.culprit);
	return good === bad ? shortId(bad) : `${shortId(good)}..${shortId(bad)}`;
}
function commitsLink(change, { compareUrl }) {
	const { good, bad } = change;
	if (good === bad) return `${bad} in both nightly runs, with no commit in between`;
	const filled = compareUrl?.replaceAll("{from}", good).replaceAll("{to}", bad);
	const url = filled && pageUrl(filled);
	const text = `${shortId(good)}..${shortId(bad)}`;
	return url === void 0 || url === "" ? text : `[${text}](${url})`;
}

// src/publish/reporters/alerts.ts
/**
* Updates issues and comments for these changes, and returns the changes with their new alerts. The next call retries
* all that failed. A failure of GitHub, Phabricator or the network is a warning.
*/
async function reportChanges(changes, deps) {
	if (changes.length === 0) return [];
	const { octokit, repository, log } = deps;
	const warned = /* @__PURE__ */ new Set();
	const warn = (sentence) => {
		if (!warned.has(sentence)) log.warn(sentence);
		warned.add(sentence);
	};
	const run = {
		...deps,
		log: {
			...log,
			warn
		}
	};
	let latest = changes;
	try {
		const issues = await openIssues({
			octokit,
			repository
		}, await ownLogin(octokit));
		const alerts = /* @__PURE__ */ new Map();
		for (const change of changes) {
			const alert = await reportOne(change, issues.filter(({ body }) => body.startsWith(alertMarker(change.id))).map(({ number }) => number), run);
			if (!isDeepStrictEqual(alert, change.alert)) alerts.set(change.id, alert);
		}
		if (alerts.size > 0) latest = (await deps.edit(recording(alerts))).changes;
	} catch (error) {
		log.warn(`Changes of the branch may not have been reported (${reasonOf(error)}): the next nightly run reports them.`);
	}
	return changes.map((change) => latest.find(({ id }) => id === change.id) ?? change);
}
const recording = (alerts) => (index) => ({
	...index,
	changes: index.changes.map((change) => {
		const alert = alerts.get(change.id);
		if (alert === void 0) return change;
		const [issue] = [change.alert.issue, alert.issue].flatMap((one) => one ?? []).toSorted((a, b) => a - b);
		return {
			...change,
			alert: {
				...alert,
				...issue !== void 0 && { issue }
			}
		};
	})
});
/** @param found open issues of this change, oldest first */
async function reportOne(change, found, deps) {
	const { alert } = change;
	const issue = alert.issue ?? found[0];
	let reported;
	try {
		for (const number of found) if (number !== issue) await updateIssue(deps, number, { closedAs: "not_planned" });
		if (issue !== void 0) reported = await withNews(change, issue, deps);
		else if (isAlert(change, deps)) reported = await withIssue(change, deps);
		else return alert;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		deps.log.warn(whyNotDone("The issue of a change was not created or updated", failure, fixes));
		return alert;
	}
	return withReviewers({
		...change,
		alert: reported
	}, deps);
}
const fixes = {
	again: "publish a nightly run",
	permission: "give the job `permissions: issues: write`, or write `trend: { issues: false }` in ppsgate.yml",
	otherwise: "; the change itself is on the data branch"
};
/** Number of nightly runs for which a testbed's new level must last before it is reported. */
const minNightlyRuns = 5;
/** Accepts losses that a gate confirmed, and lasting levels of a testbed, as a gate misses losses below the margin. */
function isAlert(change, { nightlyRuns, marginRatio }) {
	const { state } = change;
	const lost = lossesOf(change);
	if (lost.length === 0) return false;
	if (state === "code") return true;
	const isLarge = lost.some(({ changeRatio }) => Math.abs(changeRatio) >= marginRatio);
	return state === "testbed" && isLarge && nightlyRunsSince(change, nightlyRuns) >= minNightlyRuns;
}
function nightlyRunsSince({ testbed, cells, changedAt }, nightlyRuns) {
	const counts = cells.map(({ cell }) => {
		return (nightlyRuns.get(seriesKey({
			testbed,
			cell
		})) ?? []).filter(({ at, occasion }) => at >= changedAt && occasion !== "again").length;
	});
	return Math.max(...counts);
}
async function withIssue(change, { links, ...place }) {
	const label = alertLabels[change.state === "testbed" ? "testbed" : "code"];
	await makeLabel(place, label);
	const text = {
		title: alertTitle(change),
		body: alertBody(change, links),
		label: label.name
	};
	return {
		...change.alert,
		issue: await createIssue(place, text),
		postedText: issueStateText(change)
	};
}
/** Updates the issue and posts news. `postedText` stays unchanged on a failure. */
async function withNews(change, number, deps) {
	const { links, marginRatio, log, repository, octokit, pause } = deps;
	const { state } = change;
	const alert = {
		...change.alert,
		issue: number
	};
	const before = readIssueState(alert.postedText);
	const news = issueNews(before, change, marginRatio);
	if (news.length === 0 && (before !== void 0 || !isOpen(change))) return alert;
	const postedText = issueStateText(change);
	try {
		const text = {
			title: alertTitle(change),
			body: alertBody(change, links)
		};
		await updateIssue(deps, number, {
			...text,
			closedAs: closings[state]
		});
		if (before?.state === "testbed" && state === "code") await replaceLabel(deps, number, {
			old: alertLabels.testbed.name,
			label: alertLabels.code
		});
		else if (before?.state === "code" && state === "testbed") await replaceLabel(deps, number, {
			old: alertLabels.code.name,
			label: alertLabels.testbed
		});
	} catch (error) {
		if (isGone(githubFailure(error))) return {
			...alert,
			postedText
		};
		throw error;
	}
	if (news.length === 0) return {
		...alert,
		postedText
	};
	const marker = newsMarker(change, postedText);
	const compose = (written) => written ?? [marker, ...news].join("\n\n");
	const published = await publishComment(octokit, {
		repository,
		number
	}, compose, {
		marker,
		...pause && { pause }
	});
	if (published.kind !== "not-published") return {
		...alert,
		postedText
	};
	log.warn(published.why);
	return published.isFinal ? {
		...alert,
		postedText
	} : alert;
}
const closings = {
	recovered: "completed",
	accepted: "not_planned"
};
/** Notifies the culprit's reviewers once there is an issue to link. A refusal is final. */
async function withReviewers(change, deps) {
	const { octokit, repository, serverUrl, commentOnRevision, log, pause } = deps;
	const { alert } = change;
	const { issue } = alert;
	if (issue === void 0 || change.state !== "code" || !isAlert(change, deps)) return alert;
	const culprit = await culpritOf(change, deps);
	if (culprit === void 0 || culprit === alert.commentedCommit) return alert;
	const notifiedBefore = new Set(alert.told);
	try {
		const number = await mergedAs(octokit, repository, culprit);
		if (number !== void 0 && !notifiedBefore.has(`#${number}`)) {
			const published = await publishComment(octokit, {
				repository,
				number
			}, (written) => written ?? pullRequestText(change, issue), {
				marker: alertMarker(change.id),
				...pause && { pause }
			});
			if (published.kind !== "not-published") notifiedBefore.add(`#${number}`);
			else {
				log.warn(published.why);
				if (!published.isFinal) return alert;
			}
		}
		const text = revisionText(change, `${serverUrl}/${repository}/issues/${issue}`);
		const revision = await commentOnRevision?.(culprit, text, `change ${change.id}`);
		if (revision?.attempt.kind === "delivered") notifiedBefore.add(revision.name);
		else if (revision !== void 0) {
			log.warn(revision.attempt.why);
			if (revision.attempt.kind !== "refused") return {
				...alert,
				told: [...notifiedBefore]
			};
		}
		return {
			...alert,
			told: [...notifiedBefore],
			commentedCommit: culprit
		};
	} catch (error) {
		log.warn(`The reviewers of ${culprit} were not notified (${reasonOf(error)}): the next nightly run tries again.`);
		return {
			...alert,
			told: [...notifiedBefore]
		};
	}
}
async function culpritOf(change, deps) {
	const named = change.bisection?.culprit;
	if (named !== void 0) return named;
	return deps.onlyCommitOf(change).catch((error) => {
		deps.log.info(`The reviewers of the change ${change.id} are not looked up, because git cannot list its commits (${reasonOf(error)}).`);
	});
}

export { BuildUpdater, bisectCommand, changeIdIn, checkIsForAnother, closeOpenCheckRun, composeComment, failingOnSharedHead, hasCheckRun, markerOf, openBuild, openCheckRun, openComment, openRevisionComment, openRevisionReporter, openStatus, outcomeMarkdown, outcomeTitle, postReply, pullRequestOfCheckRun, readMemory, reportChanges, revisionCommenter };