import { version } from "../package.js";
import { diffName, formatPercent, isJudged, reasonOf, withoutPaths } from "../model/first-plain.js";
import { cellName, offeredTraffic, packetsText } from "../model/first.js";
import { makeFolders } from "../system/give-to-caller.js";
import { testbedKindOf } from "../config/first.js";
import { limitsOf } from "../analysis/stats/plain.js";
import { evidenceAt, interimResults, isEnough, runCounts, validPairs } from "../analysis/stats/first.js";
import { cellResult, cellVerdict, runsApart, withLimits, worstVerdict } from "../analysis/stats.js";
import { analysisSizes } from "../analysis/stats/first-plain.js";
import { baseNumbers, cellsOf, designOf, earlierGates, entriesOf, gateOfLine, journalIn, openJournal, policyOf, policyOfExtended, readJournal } from "./experiment/first.js";
import { ForeignFileError, readForeignText } from "../system/foreign-files.js";
import { isPlaceLeftAlone } from "../kernel/first-plain.js";
import { BaseRejectedError, faultOf } from "./experiment/plain.js";
import { freebsdLogNames, readFreebsdLogs } from "../lab/freebsd.js";
import { logNames, readLinuxLogs } from "../lab/netns.js";
import { pairsOf as pairsOf$1, readVirtualLogs, windowsLogName } from "../lab/qemu.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { isDeepStrictEqual } = globalThis.process.getBuiltinModule("node:util");
const { writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/gate/experiment/cells.ts
const leftOutIn = (entries) => entries.flatMap((entry) => entry.kind === "rejected" && !isJudged(entry.variant) ? {
	variant: entry.variant,
	rejection: entry.rejection
} : []);
function variantsLeft({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.filter(({ variant }) => !out.has(variant));
}
function cellsSoFar(plan, entries) {
	const byTrial = Map.groupBy(entries, numberOf);
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return plan.cells.map((planned) => {
		const own = plan.trials.filter((trial) => isSameCell(trial.cell, planned.cell));
		const triesAt = ({ number }) => byTrial.get(number) ?? [];
		const decided = limitsOf(own.flatMap(triesAt).flatMap(runsOf));
		const all = own.map((trial) => {
			const tries = triesAt(trial).map((entry) => entry.kind === "measured" ? {
				...entry,
				runs: entry.runs.map(decided)
			} : entry);
			return triesOf$1(without(out, trial), tries);
		});
		const entriesOf = (trials) => trials.flatMap(({ tries }) => tries);
		return {
			...planned,
			...reached(planned, all.filter(isOfVerdict)),
			trials: all.filter(({ trial }) => trial.runs.length > 0),
			runs: entriesOf(all).flatMap(runsOf),
			failures: entriesOf(all.filter(isOfVerdict)).flatMap((entry) => entry.kind === "failed" ? entry.reason : [])
		};
	});
}
const runsOf = (entry) => entry.kind === "measured" ? entry.runs : [];
const without = (out, trial) => ({
	...trial,
	runs: trial.runs.filter(({ variant }) => !out.has(variant))
});
/** True for trials with base or patched: other variants do not decide the number of runs. */
const isOfVerdict = ({ trial }) => trial.runs.some(({ variant }) => isJudged(variant));
function triesOf$1(trial, tries) {
	const most = isOfVerdict({ trial }) ? maxTriesOf(tries) : 1;
	return {
		trial,
		tries,
		needed: tries.length < most && !tries.some(isWhole(trial))
	};
}
/** Accepts a limit of sender or receiver after two tries. */
const maxTriesOf = (tries) => tries.length > 0 && tries.every(isLimited) ? 2 : 3;
const isLimited = (entry) => entry.kind === "measured" && entry.runs.filter(({ variant }) => isJudged(variant)).every(({ validity }) => validity.kind === "invalid" && limits.has(validity.cause));
const limits = /* @__PURE__ */ new Set(["generator-limited", "receiver-limited"]);
const isSameCell = (a, b) => cellName(a) === cellName(b);
function numberOf(entry) {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.trial : void 0;
}
const isWhole = ({ runs }) => (entry) => {
	if (entry.kind !== "measured") return false;
	const pairs = pairsOf(runs);
	return pairs === 1 ? entry.runs.every((run) => run.validity.kind === "valid" && run.pps > 0) : isEnough(validPairs(entry.runs).length, pairs);
};
const pairsOf = (runs) => new Set(runs.map(({ pair }) => pair)).size;
/**
* Returns the last interim analysis that has all its trials, and the trials that the next one lacks. Repeats outliers
* once.
*/
function reached({ design }, trials) {
	let closedPairs = 0;
	for (const size of analysisSizes(design)) {
		const inLook = trials.filter(({ trial }) => trial.runs.every((run) => run.pair <= size));
		if (!isEnough(size - lostPairs(inLook), size)) return {
			closedPairs: size,
			nextPairs: size,
			open: []
		};
		const missing = inLook.filter(({ needed }) => needed);
		const open = missing.length > 0 ? missing : interimApart(inLook);
		if (open.length > 0) return {
			closedPairs,
			nextPairs: size,
			open
		};
		closedPairs = size;
	}
	return {
		closedPairs,
		nextPairs: closedPairs,
		open: []
	};
}
/** Counts lost pairs in trials of at most one pair, which is measured whole or not at all. */
function lostPairs(trials) {
	const lost = trials.filter(({ trial, tries, needed }) => pairsOf(trial.runs) === 1 && !needed && !tries.some(isWhole(trial)));
	return new Set(lost.flatMap(({ trial }) => trial.runs.map((run) => run.pair))).size;
}
/** Returns outlying single runs that were tried only once. */
function interimApart(trials) {
	const single = trials.flatMap((one) => {
		const run = one.tries.flatMap(runsOf).find(({ validity }) => validity.kind === "valid");
		return one.trial.runs.length === 1 && run !== void 0 ? {
			one,
			run
		} : [];
	});
	const apart = new Set(runsApart(single.map(({ run }) => run)));
	return single.flatMap(({ one, run }) => apart.has(run) && one.tries.length === 1 ? one : []);
}

// src/gate/experiment/profiles.ts
const takeProfiles = (plan, deps) => takeProfilesOf(deps, (entries) => nextProfile(plan, entries));
/** Takes profiles until none is missing. If the testbed fails, skips the rest: the measurements stay valid. */
async function takeProfilesOf(deps, nextOf) {
	const { journal, warn } = deps;
	for (;;) {
		const next = nextOf(journal.entries);
		if (next === void 0) return;
		const failure = await take(next, deps);
		if (failure !== void 0) {
			warn(`profiling is switched off: ${failure}`);
			return;
		}
	}
}
/** Runs at the end of a variant's boot. Missed profiles get another chance in a later boot, or at the end. */
async function takeProfilesOfBoot(plan, deps) {
	const { testbed, journal, warn } = deps;
	const variant = testbed.booted();
	if (variant === void 0) return;
	for (const next of missingProfiles(plan, journal.entries, measuredCells(plan, journal.entries, variant), variant)) {
		if (testbed.booted() !== variant) return;
		const failure = await take(next, deps);
		if (failure !== void 0) {
			warn(`no profile in this boot of ${variant}: ${failure}`);
			return;
		}
	}
}
/** Journals the outcome. Returns the reason if the testbed failed. */
async function take(next, { profile: wanted, testbed, journal, keepLogIn, at, onNext, signal }) {
	signal.throwIfAborted();
	if (wanted === void 0) return void 0;
	onNext(next);
	const { cell, variant } = next;
	const folder = folderOf(next);
	try {
		const request = {
			...next,
			...wanted
		};
		const outcome = await testbed.profile(request, keepLogIn(folder), signal);
		const profile = outcome.kind === "profiled" ? {
			...withoutLog(outcome),
			variant,
			seconds: wanted.seconds,
			file: `${folder}/${outcome.log}`
		} : {
			kind: "missing",
			variant,
			reason: outcome.reason
		};
		const isFinal = outcome.kind !== "missed";
		await journal.append({
			kind: "profiled",
			at: at(),
			cell,
			profile,
			isFinal
		});
		return;
	} catch (error) {
		signal.throwIfAborted();
		const reason = reasonOf(error);
		const profile = {
			kind: "missing",
			variant,
			reason: withoutPaths(reason)
		};
		await journal.append({
			kind: "profiled",
			at: at(),
			cell,
			profile,
			isFinal: false
		});
		return reason;
	}
}
function withoutLog({ log: _, ...rest }) {
	return rest;
}
const maxAttempts = 3;
/** Proceeds by variant, as each may need a boot; starts with the variant that ran last. */
function nextProfile(plan, entries) {
	const cells = interimResults(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, stopped, input }) => stopped || !isTimed(judgement) ? [] : input.cell);
	return variantsInOrder(plan, entries).flatMap((variant) => missingProfiles(plan, entries, cells, variant)).at(0);
}
/** Missing profiles of the variant, except those tried often enough, or impossible on this machine. */
function missingProfiles({ profile }, entries, cells, variant) {
	if (profile === void 0 || impossibleOf(entries, variant) !== void 0) return [];
	return cells.flatMap((cell) => {
		const tries = triesOf(entries, cell, variant);
		return tries.length >= maxAttempts || tries.some(({ isFinal }) => isFinal) ? [] : {
			cell,
			variant,
			attempt: tries.length + 1
		};
	});
}
/** None unless profiles were requested. */
function profilesOf$1(plan, entries, cell) {
	const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
	if (plan.profile === void 0 || !isJudged) return [];
	return variantsLeft(plan, entries).map(({ variant }) => profileOf(entries, cell, variant));
}
const profileOf = (entries, cell, variant) => triesOf(entries, cell, variant).at(-1)?.profile ?? impossibleOf(entries, variant)?.profile ?? {
	kind: "missing",
	variant,
	reason: "the experiment ended before"
};
/** Profiles explain nothing about packets that are not forwarded. */
const isTimed = (judgement) => judgement?.evidence !== void 0;
const judgedCells = (plan, entries) => interimResults(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) => isTimed(judgement) ? input.cell : []);
/** Cells with a valid run of the variant that have, or will have, a verdict. */
const measuredCells = (plan, entries, variant) => interimResults(cellsSoFar(plan, entries), plan.policy).flatMap((interim) => {
	const { judgement, closed, stopped, input } = interim;
	const isMeasured = input.runs.some((run) => run.variant === variant && run.validity.kind === "valid");
	const isWanted = !stopped && (isTimed(judgement) || !closed);
	return isMeasured && isWanted ? input.cell : [];
});
function variantsInOrder(plan, entries) {
	const last = entries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).at(-1)?.variant;
	const left = variantsLeft(plan, entries).map(({ variant }) => variant);
	return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}
const triesOf = (entries, cell, variant) => entries.flatMap((entry) => entry.kind === "profiled" && entry.profile.variant === variant && cellName(entry.cell) === cellName(cell) ? entry : []);
/** Returns the reason why a machine can take no profile, which is the same for all cells. */
const impossibleOf = (entries, variant) => entries.filter((entry) => entry.kind === "profiled").find(({ profile, isFinal }) => profile.kind === "missing" && profile.variant === variant && isFinal);
/** `profiles/forwarding-inet4-base`; for a second attempt, `profiles/forwarding-inet4-base.2`. */
function folderOf({ cell, variant, attempt }) {
	const name = `${cellName(cell)}-${variant}`.replaceAll(" ", "-");
	return join("profiles", attempt === 1 ? name : `${name}.${attempt}`);
}

// src/gate/experiment/log-folders.ts
/** `trials/003-forwarding-inet4`; for a second attempt, `trials/003-forwarding-inet4.2`. */
function trialFolder(trial, attempt) {
	const name = `${String(trial.number).padStart(3, "0")}-${cellName(trial.cell).replaceAll(" ", "-")}`;
	return join("trials", attempt === 1 ? name : `${name}.${attempt}`);
}
function keepLogIn(directory, folder) {
	return async (name, content) => {
		await makeFolders(join(directory, folder));
		await writeFile(join(directory, folder, name), content);
	};
}

// src/gate/experiment/next-trial.ts
/**
* Serves undecided cells, then other variants of decided ones. Repeats an invalid run at once while its variant is
* booted, and other failed trials last.
*/
function nextTrial(plan, entries) {
	const cells = interimResults(cellsSoFar(plan, entries), plan.policy);
	const open = cells.flatMap(openTrials).toSorted((a, b) => a.tries.length - b.tries.length || a.trial.number - b.trial.number);
	const next = open.find((one) => isStillBooted(one, entries.at(-1))) ?? open[0];
	if (next === void 0) return void 0;
	const { trial, tries } = next;
	return {
		trial,
		attempt: tries.length + 1,
		...trialCount(cells),
		...whyAgain(tries)
	};
}
/**
* Another boot costs more than a trial, but this boot may have caused a second invalid run. A boot has no effect on a
* limit of sender or receiver.
*/
const isStillBooted = ({ trial, tries }, last) => last?.kind === "measured" && last.summary.number === trial.number && trial.runs.length === 1 && tries.length === 1 && !isLimited(last) && last.runs.some(({ validity }) => validity.kind === "invalid");
function whyAgain(tries) {
	const last = tries.at(-1);
	if (last?.kind === "failed") return { why: last.reason };
	if (last?.kind !== "measured") return {};
	const faults = last.runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.reason : []);
	const [fault] = faults;
	const silent = last.runs.find(({ pps }) => pps === 0);
	if (fault === void 0) return { why: silent ? `${silent.variant} forwarded nothing` : "it was an outlier" };
	return { why: `${faults.length} of ${last.runs.length} runs do not count: ${fault}` };
}
/** Undefined while work remains. */
function finishedAt(plan, entries) {
	const last = entries.at(-1);
	return last?.kind === "finished" && nextTrial(plan, entries) === void 0 ? last.at : void 0;
}
/** Other variants are measured in as many pairs as patched, and no more. */
function openTrials({ input, judgement, closed, stopped }) {
	if (stopped) return [];
	const pairs = closed ? judgement?.analysis.pairs ?? 0 : input.nextPairs;
	const beside = input.trials.filter((one) => one.needed && !isOfVerdict(one) && one.trial.runs.every((run) => run.pair <= pairs));
	return closed ? beside : [...input.open, ...beside];
}
function decidedCells(plan, entries) {
	return interimResults(cellsSoFar(plan, entries), plan.policy).filter((one) => one.closed && openTrials(one).length === 0).map((interim) => ({
		cell: interim.input.cell,
		verdict: cellVerdict(interim, plan.policy),
		counts: runCounts({
			...interim.input,
			pairs: interim.judgement?.analysis.pairs ?? interim.input.closedPairs
		}, plan.policy.metric)
	}));
}
function trialCount(cells) {
	const trials = cells.flatMap((cell) => {
		const due = new Set(openTrials(cell));
		const open = /* @__PURE__ */ new Set([...cell.input.open, ...due]);
		return cell.input.trials.map((one) => {
			const isDone = !open.has(one) && one.tries.some(({ kind }) => kind === "measured");
			return {
				isDone,
				isAhead: (cell.closed ? due.has(one) : isOfVerdict(one) || one.needed) && !isDone
			};
		});
	});
	const done = trials.filter(({ isDone }) => isDone).length;
	return {
		done,
		of: done + trials.filter(({ isAhead }) => isAhead).length
	};
}

// src/gate/experiment/assemble.ts
/** Returns the interim result of an unfinished experiment. */
function assembleResult(plan, journal) {
	const started = journal.findLast((entry) => entry.kind === "started");
	const warned = journal.flatMap((entry) => entry.kind === "warned" ? entry.text : []);
	return withLimits({
		schemaVersion: 1,
		generator: {
			name: "ppsgate",
			version
		},
		patch: plan.patch,
		variants: plan.variants.map(({ variant, commit, folder, files }) => ({
			name: variant,
			commit,
			...folder !== void 0 && { folder },
			files: files.map(({ path, source, sha256 }) => ({
				path,
				...source !== void 0 && { source },
				sha256
			}))
		})),
		testbed: {
			name: plan.testbed,
			...plan.kind !== void 0 && { kind: plan.kind },
			fingerprint: started?.fingerprint ?? {},
			warnings: [.../* @__PURE__ */ new Set([...started?.warnings ?? [], ...warned])]
		},
		policy: plan.policy,
		traffic: {
			...offeredTraffic(plan.traffic),
			measureSeconds: plan.traffic.measureSeconds
		},
		seed: plan.seed,
		startedAt: journal.at(0)?.at ?? epoch,
		finishedAt: journal.at(-1)?.at ?? epoch,
		trials: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : []),
		leftOut: leftOutIn(journal),
		outcome: outcomeOf$1(plan, journal)
	});
}
/** Returns the result of an experiment that is not needed. `ignoredPaths` are files without effect on the testbed. */
function unchangedResult(plan, ignoredPaths, now) {
	const at = now.toISOString();
	const outcome = {
		kind: "unchanged",
		...ignoredPaths.length > 0 && { ignoredPaths: ignoredPaths.slice(0, 20) }
	};
	return {
		...assembleResult(plan, []),
		startedAt: at,
		finishedAt: at,
		outcome
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function outcomeOf$1(plan, journal) {
	const last = journal.findLast((entry) => entry.kind !== "started" && entry.kind !== "warned" && !leavesOut(entry));
	if (last?.kind === "rejected") return last.rejection;
	const others = plan.variants.map(({ variant }) => variant).filter((name) => !isJudged(name));
	const cells = interimResults(cellsSoFar(plan, journal), plan.policy).map((interim) => {
		const ofBase = baseNumbers(interim.input.runs, plan.policy.metric);
		const result = cellResult(interim, plan.policy, ofBase, others);
		const { earlierGates } = interim.input;
		return {
			...result,
			...earlierGates && { earlierGates },
			profiles: profilesOf$1(plan, journal, result.cell)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const leavesOut = (entry) => entry.kind === "rejected" && !isJudged(entry.variant);

// src/gate/experiment/experiment.ts
/** Returns the whole journal. Ends early if patched cannot be measured; omits any other such variant. */
async function runExperiment(options) {
	const journal = await openJournal(journalIn(options.directory));
	const at = () => options.now().toISOString();
	const experiment = {
		...options,
		journal,
		at,
		decided: /* @__PURE__ */ new Set()
	};
	try {
		await inspect$1(experiment);
		if (await prepare(experiment) && await measureAll(experiment)) await finish(experiment);
		return journal.entries;
	} finally {
		await journal.close();
	}
}
async function inspect$1({ plan, testbed, journal, at, onEvent }) {
	onEvent({
		kind: "planned",
		plan
	});
	const inspection = await testbed.inspect(plan.cells.map(({ cell }) => cell));
	await journal.append({
		kind: "started",
		at: at(),
		...inspection
	});
	for (const text of inspection.warnings) onEvent({
		kind: "warning",
		text
	});
}
/** Prepares all remaining variants. False if patched is rejected. */
async function prepare(experiment) {
	const { directory, plan, testbed, journal, onEvent, signal } = experiment;
	for (;;) {
		signal.throwIfAborted();
		const prepared = await testbed.prepare({
			variants: variantsLeft(plan, journal.entries),
			rules: plan.rules,
			cells: plan.cells.map(({ cell }) => cell),
			keepLog: keepLogIn(directory, "builds"),
			notify: (text) => onEvent({
				kind: "preparing",
				text
			}),
			signal
		});
		if (prepared.kind === "ready") return true;
		if (!await goesOnWithout(prepared, experiment)) return false;
	}
}
/** Measures until no cell needs a trial. False if patched is rejected. */
async function measureAll(experiment) {
	const { plan, journal, signal } = experiment;
	let boot;
	for (;;) {
		signal.throwIfAborted();
		const next = nextTrial(plan, journal.entries);
		if (next === void 0) return true;
		if (boot !== void 0 && boot !== bootOf(next.trial)) await takeProfilesOfBoot(plan, profilesDeps(experiment));
		boot = bootOf(next.trial);
		if (!await measure(next, experiment)) return false;
	}
}
/** Identifies a boot: booted variants run one per trial, and a boot serves all cells of a pair. */
const bootOf = ({ runs: [run] }) => `${run?.variant} ${run?.pair}`;
/** False if patched is rejected. */
async function measure(next, experiment) {
	const { directory, testbed, journal, at, onEvent, signal } = experiment;
	const { trial, attempt } = next;
	const logs = trialFolder(trial, attempt);
	onEvent({
		kind: "trial",
		...next
	});
	const outcome = await testbed.trial(trial, keepLogIn(directory, logs), signal);
	for (const text of outcome.warnings ?? []) {
		await journal.append({
			kind: "warned",
			at: at(),
			text
		});
		onEvent({
			kind: "warning",
			text
		});
	}
	if (outcome.kind === "rejected") return goesOnWithout(outcome, experiment);
	const entry = outcome.kind === "measured" ? {
		kind: "measured",
		at: at(),
		...measuredAs(trial, outcome, {
			attempt,
			logs
		})
	} : {
		kind: "failed",
		at: at(),
		trial: trial.number,
		reason: outcome.reason
	};
	await journal.append(entry);
	onEvent({
		kind: "ended",
		trial,
		entry
	});
	reportDecided(experiment);
	return true;
}
function reportDecided({ plan, journal, decided, onEvent }) {
	for (const one of decidedCells(plan, journal.entries)) {
		const name = cellName(one.cell);
		if (!decided.has(name)) onEvent({
			kind: "decided",
			...one
		});
		decided.add(name);
	}
}
async function finish(experiment) {
	await takeProfiles(experiment.plan, profilesDeps(experiment));
	await experiment.journal.append({
		kind: "finished",
		at: experiment.at()
	});
}
/** Journals the rejection of a variant. False if it is patched; throws if it is base. */
async function goesOnWithout({ variant, rejection }, { journal, at, onEvent }) {
	if (variant === "base") throw new BaseRejectedError(rejection);
	await journal.append({
		kind: "rejected",
		at: at(),
		variant,
		rejection
	});
	if (variant === "patched") return false;
	onEvent({
		kind: "warning",
		text: `${variant} ${faultOf(rejection)} and is left out: ${reasonOf(rejection.message)}`
	});
	return true;
}
const profilesDeps = (experiment) => {
	const { directory, plan, testbed, journal, at, onEvent, signal } = experiment;
	return {
		profile: plan.profile,
		testbed,
		journal,
		at,
		signal,
		keepLogIn: (folder) => keepLogIn(directory, folder),
		onNext: (next) => onEvent({
			kind: "profile",
			...next
		}),
		warn: (text) => onEvent({
			kind: "warning",
			text
		})
	};
};
const measuredAs = ({ number, runs: planned }, { summary, runs }, { attempt, logs }) => ({
	summary: {
		...summary,
		number,
		attempt,
		logs
	},
	runs: runs.map((run) => ({
		...run,
		...planned.length === 1 && planned[0],
		trial: number,
		attempt
	}))
});

// src/gate/experiment/recompute.ts
/**
* Applies the configuration's policy, cells, designs and traffic to the raw runs. Trusts the numbers on earlier noise
* as much as the runs, and an invalid cell, which passes nothing. Counts earlier gates again, and keeps the larger
* number. Keeps profiles, and recomputes reasons. The caller must check an unchanged patch against the repository.
*/
function recompute(claimed, requested) {
	const { config, testbeds } = requested;
	if (!testbeds.includes(claimed.testbed.name)) return {
		kind: "refused",
		why: `The result is of the testbed ${claimed.testbed.name} instead of ${testbeds.join(" or ")}: judge the patch again.`
	};
	const { kind: _, ...testbed } = claimed.testbed;
	const kind = testbedKindOf(config, testbed.name);
	const computed = {
		...claimed,
		testbed: {
			...testbed,
			...kind !== void 0 && { kind }
		},
		policy: requestedPolicy(requested),
		traffic: {
			...offeredTraffic(config.traffic),
			measureSeconds: config.traffic.measureSeconds
		},
		variants: variantsOf(claimed, requested),
		leftOut: claimed.leftOut.filter(({ variant }) => othersOf(requested.patch).includes(variant)),
		...claimed.outcome.kind === "unchanged" && { trials: [] },
		outcome: outcomeOf(claimed, requested)
	};
	const result = withLimits(withEarlierGates(computed, requested));
	return {
		kind: "computed",
		result,
		refused: differences(claimed, result).slice(0, maxDifferences)
	};
}
const requestedPolicy = ({ config, isExtended }) => isExtended ? policyOfExtended(policyOf(config)) : policyOf(config);
/** A forged result may have any number of such cells. */
const maxDifferences = 20;
/** Takes the approved commits. Without git, the fork point depends on the patch's history. */
function variantsOf({ variants }, { patch, mergeBase }) {
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	const commits = [{
		name: "patched",
		commit: patch.headCommit
	}, ...earlier.map(({ diff, headCommit }) => ({
		name: diffName(diff),
		commit: headCommit
	}))];
	const claimOf = (name) => variants.find((one) => one.name === name);
	const claimed = claimOf("base") ?? {
		name: "base",
		commit: patch.baseCommit,
		files: []
	};
	return [{
		...claimed,
		commit: mergeBase ?? claimed.commit
	}, ...commits.map((one) => ({
		files: [],
		...claimOf(one.name),
		...one
	}))];
}
/** Accepts claims of gates that the trusted side does not know, but restores any that a claim hides. */
function withEarlierGates(result, { patch, history = [], mergeBase }) {
	const { outcome, testbed, policy } = result;
	if (outcome.kind !== "judged") return result;
	const { measureSeconds: _, ...traffic } = result.traffic;
	const { baseCommit, headCommit: head } = patch;
	const base = baseCommit === head ? head : mergeBase;
	const own = entriesOf(history, {
		testbed: testbed.name,
		kind: testbed.kind
	});
	const cells = outcome.cells.map((one) => {
		const { earlierGates: claimed, ...rest } = one;
		const id = gateOfLine(result, one)?.id;
		const gate = {
			testbed: testbed.name,
			cell: one.cell,
			traffic,
			policy,
			base,
			head,
			id
		};
		const most = base === head ? void 0 : greaterOf(claimed, earlierGates(own, gate));
		return {
			...rest,
			...most && { earlierGates: most }
		};
	});
	return {
		...result,
		outcome: {
			...outcome,
			cells
		}
	};
}
function greaterOf(a, b) {
	if (a === void 0 || b === void 0) return a ?? b;
	return {
		count: Math.max(a.count, b.count),
		regressions: Math.max(a.regressions, b.regressions)
	};
}
const othersOf = (patch) => patch.kind === "revision" ? patch.earlier.map(({ diff }) => diffName(diff)) : [];
function outcomeOf({ outcome, testbed }, requested) {
	if (outcome.kind === "unchanged") {
		const { ignoredPaths: claimed = [] } = outcome;
		const on = {
			config: requested.config,
			testbed: testbed.name
		};
		const ignoredPaths = claimed.filter((place) => isPlaceLeftAlone(place, on));
		return {
			kind: "unchanged",
			...ignoredPaths.length > 0 && { ignoredPaths }
		};
	}
	if (outcome.kind !== "judged") return outcome;
	const policy = requestedPolicy(requested);
	const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
	const { cells: wanted = cellsOf(requested.config) } = requested;
	const inputs = wanted.map((cell) => inputOf(cell, claims, requested));
	const cells = interimResults(inputs, policy).map((interim) => {
		const { claim, runs } = interim.input;
		const ofBase = baseNumbers(runs, policy.metric);
		const computed = cellResult(interim, policy, ofBase, othersOf(requested.patch));
		const stays = claim?.verdict.kind === "invalid" && computed.verdict.kind !== "regression";
		return {
			...computed,
			...stays && { verdict: claim.verdict },
			...claim === void 0 && { verdict: notMeasured },
			...claim?.earlierGates && { earlierGates: claim.earlierGates },
			profiles: profilesOf(claim, requested.patch)
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
	const planned = designOf(config, 2 + others.length);
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
* Counts pairs of the last analysis that has all its runs. If every analysis so far has evidence but the result claims
* an invalid cell, the experiment ended with the next one, whose runs were lost.
*/
function closedPairsOf(input, policy) {
	const { claim, design, runs } = input;
	const sizes = analysisSizes(design);
	const lacking = sizes.findIndex((size) => !isThere(runs, size));
	if (lacking === -1) return sizes.at(-1) ?? 0;
	const closedPairs = sizes[lacking - 1] ?? 0;
	const hasEvidence = (size) => evidenceAt({
		...input,
		closedPairs
	}, size, policy) !== void 0;
	return claim?.verdict.kind === "invalid" && sizes.slice(0, lacking).every(hasEvidence) ? sizes[lacking] ?? 0 : closedPairs;
}
/** The maximum of `parseMaxRuns`. */
const maxRuns = 1e4;
/** Doubling reaches the maximum in ten steps. Each halves the error rate, which soon underflows. */
const maxBudgets = 20;
/** Returns budgets that extensions added, if they are plausible. */
function extended({ budgets: planned, pairsPerStep }, claimed) {
	return claimed.every((budget, stage) => (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) && budget % pairsPerStep === 0 && budget < maxRuns + pairsPerStep) && claimed.length > 0 && claimed.length <= maxBudgets ? claimed : planned;
}
function isThere(runs, size) {
	const pairsOf = (name) => new Set(runs.flatMap(({ variant, pair }) => variant === name && pair <= size ? pair : []));
	return isEnough(pairsOf("base").intersection(pairsOf("patched")).size, size);
}
/** Keeps only known variants, which bounds their number. */
function profilesOf(claim, patch) {
	return [
		"base",
		"patched",
		...othersOf(patch)
	].flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}
/** Lists, in sentences, claims that the recomputed result contradicts. */
const differences = (claimed, result) => [
	...ofPolicy(claimed.policy, result.policy),
	...ofTraffic(claimed.traffic, result.traffic),
	...ofOutcome(claimed.outcome, result.outcome)
];
function ofPolicy(claimed, requested) {
	const metric = [claimed.metric, requested.metric];
	const ratios = ratioNames.map(([key, name]) => {
		const [found, wanted] = [claimed[key], requested[key]];
		return found === wanted ? [] : `It used ${name} of ${formatPercent(found)}, but ${formatPercent(wanted)} was requested.`;
	});
	return [metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, but ${metric[1]} was requested.`, ...ratios].flat();
}
const ratioNames = [
	["marginRatio", "a margin"],
	["confidenceRatio", "a confidence"],
	["falseAlarmRatio", "a rate of false alarms"],
	["missRatio", "a rate of misses"]
];
function ofTraffic(claimed, requested) {
	const numbers = [
		"flows",
		"frameBytes",
		"offeredPps",
		"measureSeconds"
	].flatMap((key) => claimed[key] === requested[key] ? [] : `Its traffic has ${key} ${claimed[key] ?? "unbounded"}, and ${requested[key] ?? "unbounded"} was requested.`);
	if (isDeepStrictEqual(claimed.packets, requested.packets)) return numbers;
	const [found, wanted] = [claimed, requested].map(({ packets }) => packetsText(packets));
	return [...numbers, `Its packets are ${found} instead of ${wanted}.`];
}
function ofOutcome(claimed, computed) {
	if (claimed.kind !== "judged" || computed.kind !== "judged") return [];
	const requested = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
	const unasked = claimed.cells.filter(({ cell }) => !requested.has(cellName(cell)));
	const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
	return [
		...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which was not requested.`),
		...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
		...claimed.verdict === computed.verdict ? [] : [`It reports ${claimed.verdict} for the patch, but its cells yield ${computed.verdict}.`]
	];
}
function ofCell(claim, { cell, verdict, comparisons }) {
	const name = cellName(cell);
	if (claim === void 0) return [`It has no cell ${name}, which was requested.`];
	if (claim.verdict.kind !== verdict.kind) return [`It reports ${claim.verdict.kind} for ${name}, but its runs yield ${verdict.kind}.`];
	return comparisons.every((one) => claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other))) ? [] : [`Its numbers for ${name} do not match its runs.`];
}
/** Another machine may round differently. */
const isAlmost = (a, b) => [
	[a.base, b.base],
	[a.patched, b.patched],
	...[
		"change",
		"low",
		"high"
	].map((key) => [a.interval[key], b.interval[key]])
].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));

// src/gate/experiment/reread.ts
async function reread(directory, plan) {
	const entries = [];
	let unread = 0;
	for (const entry of await readJournal(journalIn(directory))) {
		const again = entry.kind === "measured" ? await measureAgain(directory, plan, entry) : entry;
		if (again === void 0) unread += 1;
		entries.push(again ?? entry);
	}
	return {
		entries,
		unread
	};
}
async function measureAgain(directory, plan, entry) {
	const { summary } = entry;
	const trial = plan.trials.find(({ number }) => number === summary.number);
	if (trial === void 0) return void 0;
	const numbers = new Set(entry.runs.map(({ number }) => number));
	const planned = {
		...trial,
		runs: trial.runs.filter(({ number }) => numbers.has(number))
	};
	const { attempt, startedAt, egressPackets, ingressPackets, lineGigabits } = summary;
	const { starvation, limits } = summary;
	const counted = {
		...egressPackets !== void 0 && { egressPackets },
		...ingressPackets !== void 0 && { ingressPackets },
		...lineGigabits !== void 0 && { lineGigabits },
		...starvation !== void 0 && { starvation },
		...limits !== void 0 && { limits }
	};
	const outcome = await outcomeIn(logsIn(directory, summary.logs)).catch((error) => {
		if (error instanceof ForeignFileError) return void 0;
		throw error;
	});
	if (outcome?.kind !== "measured") return void 0;
	return {
		...entry,
		summary: {
			...summary,
			...outcome.summary
		},
		runs: outcome.runs.map((run) => ({
			...run,
			attempt
		}))
	};
	async function outcomeIn(log) {
		const { traffic } = plan;
		if (traffic.windows !== void 0) {
			const virtual = await readVirtual(log, planned);
			return virtual && readVirtualLogs(planned, startedAt, traffic.windows.packets, virtual);
		}
		const linux = await readLinux(log);
		if (linux !== void 0) return readLinuxLogs(planned, startedAt, linux);
		const freebsd = await readFreebsd(log);
		return freebsd && readFreebsdLogs(planned, freebsd, {
			startedAt,
			traffic,
			summary: counted
		});
	}
}
/** A log has a few kilobytes for each second of its trial. */
const maxLogBytes = 64 * 1024 ** 2;
const logsIn = (directory, folder) => (name) => readForeignText(directory, `${folder}/${name}`, maxLogBytes);
async function readVirtual(log, planned) {
	const logs = /* @__PURE__ */ new Map();
	for (const [pair] of pairsOf$1(planned)) {
		const text = await log(windowsLogName(pair));
		if (text === void 0) return void 0;
		logs.set(pair, text);
	}
	return logs;
}
async function readLinux(log) {
	const [dut, sender, counters] = [
		await log(logNames.dut),
		await log(logNames.sender),
		await log(logNames.counters)
	];
	if (dut === void 0 || sender === void 0 || counters === void 0) return void 0;
	return {
		dut,
		sender,
		counters
	};
}
async function readFreebsd(log) {
	const receiver = await log(freebsdLogNames.receiver);
	if (receiver === void 0) return void 0;
	const senders = [];
	for (;;) {
		const sender = await log(freebsdLogNames.sender(senders.length));
		if (sender === void 0) return {
			receiver,
			senders
		};
		senders.push(sender);
	}
}

export { assembleResult, finishedAt, keepLogIn, missingProfiles, profileOf, recompute, reread, runExperiment, takeProfilesOf, unchangedResult };