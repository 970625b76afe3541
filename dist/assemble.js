import { n as version } from "./package.js";
import { a as studentTail, c as mean, m as sumNthPowerDeviations, n as criticalT } from "./student.js";
import { C as object, E as string, T as record, b as literal, g as boolean, m as array, n as cellSchema, t as cellName, v as discriminatedUnion, y as int } from "./scenario.js";
import { t as datetime } from "./iso.js";
import { r as reasonOf } from "./one-line.js";
import { l as runSchema, n as cellProfileSchema, s as rejectionSchema, t as blastSchema } from "./result.js";
import { M as runsApart } from "./markdown.js";
import { n as isJudged } from "./variant-name.js";
import { n as lookSizes } from "./design.js";
import { t as median } from "./summary.js";
import { t as withoutPaths } from "./without-paths.js";
import { t as baseNumbers } from "./history.js";
import { t as xoroshiro128plus } from "./xoroshiro128plus.js";
import { i as boundsOf, r as judgeLook, t as standardNormal } from "./normal.js";
import { a as evidenceOf, d as valuesOf, i as evidenceAt, l as standings, n as countOf, o as isDecided, r as countedRuns, s as isEnough, t as allLost, u as validPairs } from "./standing.js";
import { join } from "node:path";
import { open, readFile, truncate } from "node:fs/promises";

// src/experiment/cells.ts
/** In the order in which it turned out. */
const leftOutIn = (entries) => entries.flatMap((entry) => entry.kind === "rejected" && !isJudged(entry.variant) ? {
	variant: entry.variant,
	rejection: entry.rejection
} : []);
function cellsSoFar(plan, entries) {
	const byBlast = Map.groupBy(entries, numberOf);
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return plan.cells.map((planned) => {
		const all = plan.blasts.filter((blast) => isSameCell(blast.cell, planned.cell)).map((blast) => triesOf$1(without(out, blast), byBlast.get(blast.number) ?? []));
		const entriesOf = (blasts) => blasts.flatMap(({ tries }) => tries);
		return {
			...planned,
			...reached(planned, all.filter(isOfVerdict)),
			blasts: all.filter(({ blast }) => blast.runs.length > 0),
			runs: entriesOf(all).flatMap((entry) => entry.kind === "measured" ? entry.runs : []),
			failures: entriesOf(all.filter(isOfVerdict)).flatMap((entry) => entry.kind === "failed" ? entry.reason : [])
		};
	});
}
const without = (out, blast) => ({
	...blast,
	runs: blast.runs.filter(({ variant }) => !out.has(variant))
});
/** Whether base or patched is in it: what is only shown beside them has no say in how many runs there are. */
const isOfVerdict = ({ blast }) => blast.runs.some(({ variant }) => isJudged(variant));
function triesOf$1(blast, tries) {
	const most = isOfVerdict({ blast }) ? mostTriesOf(tries) : 1;
	return {
		blast,
		tries,
		needed: tries.length < most && !tries.some(isWhole(blast))
	};
}
/** A generator that was the limit twice is the limit. */
const mostTriesOf = (tries) => tries.length > 0 && tries.every(isGeneratorLimited) ? 2 : 3;
const isGeneratorLimited = (entry) => entry.kind === "measured" && entry.runs.filter(({ variant }) => isJudged(variant)).every(({ validity }) => validity.kind === "invalid" && validity.cause === "generator-limited");
const isSameCell = (a, b) => cellName(a) === cellName(b);
function numberOf(entry) {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.blast : void 0;
}
const isWhole = ({ runs }) => (entry) => {
	if (entry.kind !== "measured") return false;
	const pairs = new Set(runs.map((run) => run.pair)).size;
	return runs.length === 1 ? entry.runs.every((run) => run.validity.kind === "valid") : isEnough(validPairs(entry.runs).length, pairs);
};
/** The last look that has all its blasts, and those that the next one lacks; runs that stand apart come once more. */
function reached({ design, history }, blasts) {
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	let closedPairs = 0;
	for (const size of lookSizes({
		...design,
		earlierDegreesOfFreedom
	})) {
		const inLook = blasts.filter(({ blast }) => blast.runs.every((run) => run.pair <= size));
		if (!isEnough(size - lostPairs(inLook), size)) return {
			closedPairs: size,
			nextPairs: size,
			open: []
		};
		const missing = inLook.filter(({ needed }) => needed);
		const open = missing.length > 0 ? missing : standingApart(inLook);
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
/** Of single runs, which a blast either gives or not. */
function lostPairs(blasts) {
	const lost = blasts.filter(({ blast, tries, needed }) => blast.runs.length === 1 && !needed && !tries.some(isWhole(blast)));
	return new Set(lost.flatMap(({ blast }) => blast.runs.map((run) => run.pair))).size;
}
/** Single runs beyond the rest of their variant, where they have been tried but once. */
function standingApart(blasts) {
	const single = blasts.flatMap((one) => {
		const run = one.tries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).find(({ validity }) => validity.kind === "valid");
		return one.blast.runs.length === 1 && run !== void 0 ? {
			one,
			run
		} : [];
	});
	const apart = new Set(runsApart(single.map(({ run }) => run)));
	return single.flatMap(({ one, run }) => apart.has(run) && one.tries.length === 1 ? one : []);
}

// src/experiment/journal.ts
const at = datetime();
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("started"),
		at,
		fingerprint: record(string(), string()),
		warnings: array(string())
	}),
	object({
		kind: literal("rejected"),
		at,
		variant: string(),
		rejection: rejectionSchema
	}),
	object({
		kind: literal("measured"),
		at,
		summary: blastSchema,
		runs: array(runSchema)
	}),
	object({
		kind: literal("failed"),
		at,
		blast: int(),
		reason: string()
	}),
	object({
		kind: literal("profiled"),
		at,
		cell: cellSchema,
		profile: cellProfileSchema,
		/** Nothing would come of another try. */
		isFinal: boolean()
	}),
	object({
		kind: literal("finished"),
		at
	})
]);
/** Opens or begins a journal; a last line that a kill cut short is dropped, any other bad line is a `JournalError`. */
async function openJournal(path) {
	const { entries, text, whole } = await read(path);
	if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
	const file = await open(path, "a");
	return {
		entries,
		async append(entry) {
			await file.appendFile(`${JSON.stringify(entry)}\n`);
			await file.datasync();
			entries.push(entry);
		},
		close: () => file.close()
	};
}
/** The entries of a journal, which is left as it is; none where there is no journal. */
const readJournal = async (path) => (await read(path)).entries;
/** `whole` is the text up to its last newline: what a kill cut short is no entry. */
async function read(path) {
	const text = await readFile(path, "utf8").catch(ifMissing);
	const whole = text.slice(0, text.lastIndexOf("\n") + 1);
	return {
		entries: whole.split("\n").filter(Boolean).map(parseLine(path)),
		text,
		whole
	};
}
var JournalError = class extends Error {
	name = "JournalError";
};
const parseLine = (path) => (line, index) => {
	try {
		return entrySchema.parse(JSON.parse(line));
	} catch {
		throw new JournalError(`${path}:${index + 1} is no line of an experiment's journal: the directory cannot be resumed; start anew.`);
	}
};
function ifMissing(error) {
	if (error.code === "ENOENT") return "";
	throw error;
}

// src/experiment/profiles.ts
/** Takes every profile that the journal lacks. Where the testbed fails the rest are not taken: what was measured stands. */
async function takeProfiles(world) {
	const { plan, testbed, journal, keepLogIn, at, onNext, warn, signal } = world;
	for (;;) {
		signal.throwIfAborted();
		const next = nextProfile(plan, journal.entries);
		if (next === void 0 || plan.profile === void 0) return;
		onNext(next);
		const { cell, variant } = next;
		const folder = folderOf(next);
		try {
			const request = {
				...next,
				...plan.profile
			};
			const outcome = await testbed.profile(request, keepLogIn(folder), signal);
			const profile = outcome.kind === "profiled" ? {
				...withoutLog(outcome),
				variant,
				seconds: plan.profile.seconds,
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
			warn(`no more profiles are taken: ${reason}`);
			return;
		}
	}
}
function withoutLog({ log: _, ...rest }) {
	return rest;
}
const mostAttempts = 3;
/** Variant by variant, as each may have to be booted; the one that ran last comes first. */
function nextProfile(plan, entries) {
	if (plan.profile === void 0) return void 0;
	const cells = judgedCells(plan, entries);
	const next = variantsInOrder(plan, entries).flatMap((variant) => cells.map((cell) => ({
		cell,
		variant,
		tries: triesOf(entries, cell, variant)
	}))).find(({ tries }) => tries.length < mostAttempts && !tries.some(({ isFinal }) => isFinal));
	return next && {
		cell: next.cell,
		variant: next.variant,
		attempt: next.tries.length + 1
	};
}
/** What came of each variant's profile in a cell; none where none were to be taken. */
function profilesOf(plan, entries, cell) {
	const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
	if (plan.profile === void 0 || !isJudged) return [];
	return variantsLeft(plan, entries).map((variant) => {
		return triesOf(entries, cell, variant).at(-1)?.profile ?? {
			kind: "missing",
			variant,
			reason: "the experiment ended before"
		};
	});
}
const judgedCells = (plan, entries) => standings(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) => judgement === void 0 ? [] : input.cell);
function variantsLeft({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.map(({ variant }) => variant).filter((variant) => !out.has(variant));
}
function variantsInOrder(plan, entries) {
	const last = entries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).at(-1)?.variant;
	const left = variantsLeft(plan, entries);
	return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}
const triesOf = (entries, cell, variant) => entries.flatMap((entry) => entry.kind === "profiled" && entry.profile.variant === variant && cellName(entry.cell) === cellName(cell) ? entry : []);
/** `profiles/forwarding-inet4-base`, and `profiles/forwarding-inet4-base.2` for a second attempt. */
function folderOf({ cell, variant, attempt }) {
	const name = `${cellName(cell)}-${variant}`.replaceAll(" ", "-");
	return join("profiles", attempt === 1 ? name : `${name}.${attempt}`);
}

// src/stats/baseline.ts
/** A base that stayed is called moved in one experiment of a hundred. */
const level = .005;
/**
* Student's test of the base's numbers (one a blast) against the runs since it last moved, on logarithms and with
* the pooled noise of both; unknown where there are too few of either.
*/
function baselineOf(base, history) {
	if (history === void 0 || history.typicalRuns < 3 || base.length < 2) return { kind: "unknown" };
	const logs = base.map(Math.log);
	const degreesOfFreedom = history.degreesOfFreedom + base.length - 1;
	const variance = (history.sumOfSquares + sumNthPowerDeviations(logs, 2)) / degreesOfFreedom;
	const effect = mean(logs) - Math.log(history.typical);
	const error = Math.sqrt(variance * (1 / base.length + 1 / history.typicalRuns));
	const reach = criticalT(degreesOfFreedom, level) * error;
	const interval = {
		change: Math.expm1(effect),
		low: Math.expm1(effect - reach),
		high: Math.expm1(effect + reach)
	};
	return {
		kind: Math.abs(effect) > reach + rounding ? "moved" : "steady",
		interval
	};
}
/** Where all runs agree to the last packet the reach is zero, but not what logarithms have lost of their digits. */
const rounding = 1e-12;

// src/stats/estimate.ts
/**
* The effect less the bias that stopping gave it: an experiment ends when its data happen to look clear, so that a
* loss is shown too large on average. The bias is that of experiments whose true effect is the one seen (Whitehead,
* Biometrika 73, 1986), here of 4,000 that are simulated in antithetic pairs with a known normal noise.
*/
function unbiasedEffect({ evidence, look }, looks, rule) {
	const { effect, method } = evidence;
	const deviation = standardErrorOf(evidence) * Math.sqrt(look.pairs);
	if (looks.length === 1 || !Number.isFinite(effect) || !Number.isFinite(deviation)) return effect;
	const random = xoroshiro128plus(1);
	let bias = 0;
	for (let path = 0; path < 2e3; path++) {
		const steps = looks.map(() => standardNormal(random));
		const negated = steps.map((step) => -step);
		for (const way of [steps, negated]) bias += (stoppedEffect(way, {
			method,
			effect,
			deviation
		}, looks, rule) - effect) / 4e3;
	}
	const { low, high } = boundsOf(evidence, look.levels.outside);
	return Math.min(high, Math.max(low, effect - bias));
}
/**
* What an experiment sees when it stops; `steps` are its standard normal increments from look to look. Of ranks, a
* look of few pairs decides nothing: that all n lie on one side happens by chance with 2⁻ⁿ.
*/
function stoppedEffect(steps, { method, effect, deviation }, looks, rule) {
	let sum = 0;
	let pairs = 0;
	let seen = effect;
	for (const [index, look] of looks.entries()) {
		sum += (steps[index] ?? 0) * Math.sqrt(look.pairs - pairs);
		pairs = look.pairs;
		seen = effect + deviation * sum / pairs;
		const error = deviation / Math.sqrt(pairs);
		const canBeSure = (level) => method === "pooled" || level >= .5 ** look.pairs;
		const boundsAt = (level) => canBeSure(level) ? around(seen, criticalT(Infinity, level) * error) : around(seen, Infinity);
		if (judgeLook(boundsAt, look.levels, rule) !== "inconclusive") break;
	}
	return seen;
}
const around = (center, reach) => ({
	low: center - reach,
	high: center + reach
});
/** Of ranks: half the interval that would be one standard error to each side, were they normal. */
function standardErrorOf(evidence) {
	if (evidence.method === "pooled") return evidence.standardError;
	const { low, high } = boundsOf(evidence, studentTail(1, Infinity));
	return (high - low) / 2;
}

// src/stats/verdict.ts
/** A cell that has ended, or what it is worth so far. `baseNumbers` are the base's, one a blast; `others` are shown beside patched. */
function cellResult(standing, policy, baseNumbers, others) {
	const { input, judgement } = standing;
	const { cell, design, history, runs } = input;
	const metrics = metricsInOrder(policy.metric);
	return {
		cell,
		verdict: cellVerdict(standing, policy),
		design,
		...history && { history },
		baseline: baselineOf(baseNumbers, history),
		pairs: judgement?.look.pairs ?? input.closedPairs,
		comparisons: metrics.flatMap((metric) => compare(standing, metric, policy)),
		others: others.map((variant) => ({
			variant,
			comparisons: metrics.flatMap((metric) => compareOther(standing, variant, metric, policy))
		})),
		runs,
		profiles: []
	};
}
/** Invalid where it is closed without a decision, or no look could be made. */
function cellVerdict(standing, policy) {
	const { judgement, closed } = standing;
	if (judgement !== void 0 && (isDecided(judgement) || !closed)) return { kind: judgement.verdict };
	return {
		kind: "invalid",
		reason: tooFew(standing, policy.metric)
	};
}
const metricsInOrder = (first) => first === "pps" ? ["pps", "nsPerPacket"] : ["nsPerPacket", "pps"];
/** One metric by the runs that were judged, or where none were by all that count; nothing where they tell nothing. */
function compare({ input, looks, judgement }, metric, policy) {
	const counted = countedRuns(input, judgement?.look.pairs ?? input.closedPairs);
	if (judgement?.evidence.effect === allLost(policy.metric).effect) return metric === "pps" ? [nothingLeft(counted)] : [];
	const look = judgement?.look ?? looks[0];
	const isOfVerdict = judgement !== void 0 && metric === policy.metric;
	return comparison(counted, input, {
		metric,
		policy,
		level: look?.levels.outside ?? 0
	}, (evidence) => isOfVerdict ? unbiasedEffect(judgement, looks, policy) : evidence.effect);
}
/**
* The same of another variant, in the pairs that patched was judged by. Its interval has the plain confidence level: it
* holds that often where the number of runs was fixed beforehand. Where it was not, base and patched ended them whatever
* this variant did; but as base is what both are compared with, a 95 % interval then misses in up to 7 % of simulated
* experiments. Nothing is allowed for the number of variants that are shown.
*/
function compareOther({ input, judgement }, variant, metric, policy) {
	const asPatched = {
		...input,
		runs: inPlaceOfPatched(variant, input.runs)
	};
	const counted = countedRuns(asPatched, judgement?.look.pairs ?? input.closedPairs);
	const moving = counted.patched.filter(({ pps }) => pps > 0);
	if (counted.base.length === 0 || counted.patched.length === 0) return [];
	if (moving.length === 0) return metric === "pps" ? [nothingLeft(counted)] : [];
	if (!isEnough(moving.length, counted.patched.length)) return [];
	return comparison(counted, asPatched, {
		metric,
		policy,
		level: (1 - policy.confidenceRatio) / 2
	}, ({ effect }) => effect);
}
const inPlaceOfPatched = (variant, runs) => runs.filter((run) => run.variant === "base" || run.variant === variant).map((run) => run.variant === variant ? {
	...run,
	variant: "patched"
} : run);
function comparison(counted, { design, history }, { metric, policy, level }, effectOf) {
	const values = {
		base: valuesOf(counted.base, metric),
		patched: valuesOf(counted.patched, metric)
	};
	if (values.base.length === 0 || values.patched.length === 0) return [];
	const earlier = metric === policy.metric ? history : void 0;
	const evidence = evidenceOf(counted, metric, design.method, earlier);
	const { low, high } = boundsOf(evidence, level);
	if (!Number.isFinite(low + high)) return [];
	const effect = effectOf(evidence);
	return [{
		metric,
		base: evidence.base,
		patched: evidence.base * Math.exp(effect),
		baseRuns: values.base.length,
		patchedRuns: values.patched.length,
		interval: {
			change: Math.expm1(effect),
			low: Math.expm1(low),
			high: Math.expm1(high)
		}
	}];
}
function nothingLeft({ base, patched }) {
	return {
		metric: "pps",
		base: median(base.map((run) => run.pps)),
		patched: 0,
		baseRuns: base.length,
		patchedRuns: patched.length,
		interval: {
			change: -1,
			low: -1,
			high: -1
		}
	};
}
/** Why no look could be made: how many pairs count, and what is the matter with most of those that do not. */
function tooFew({ input, looks }, metric) {
	const { failures } = input;
	const runs = input.runs.filter(({ variant }) => isJudged(variant));
	const asked = looks.find(({ pairs }) => evidenceAt(input, pairs, metric) === void 0)?.pairs ?? 0;
	const count = `${Math.min(asked, countOf(countedRuns(input, asked), metric))} of ${asked} pairs of runs count`;
	const why = mostFrequent([...failures.map((reason) => ({
		cause: reason,
		reason
	})), ...runs.flatMap((run) => whyNot(run, metric))]);
	if (why === void 0) return count;
	return why.cause === "generator-limited" ? `${why.reason}; ${count}` : `${count}: ${why.reason}`;
}
function whyNot(run, metric) {
	if (run.validity.kind === "invalid") return run.validity;
	if (run.pps === 0) return {
		cause: run.variant,
		reason: `${run.variant} forwarded nothing`
	};
	return run[metric] === void 0 ? {
		cause: metric,
		reason: `the DUT tells no ${metric}`
	} : [];
}
function mostFrequent(faults) {
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}
/** The verdict of a patch is the worst of its cells; it gains only where nothing is lost or unknown. */
function worstVerdict(cells) {
	const kinds = cells.map(({ verdict }) => verdict.kind);
	return [
		"regression",
		"invalid",
		"inconclusive",
		"improvement"
	].find((kind) => kinds.includes(kind)) ?? "no-regression";
}

// src/report/assemble.ts
/** The result of an experiment that has ended; of one that has not, what its journal is worth so far. */
function assembleResult(plan, journal) {
	const { flows, frameBytes, offeredPps, measureSeconds } = plan.traffic;
	const started = journal.findLast((entry) => entry.kind === "started");
	return {
		schemaVersion: 1,
		generator: {
			name: "ppsgate",
			version
		},
		patch: plan.patch,
		variants: plan.variants.map(({ variant, commit, files }) => ({
			name: variant,
			commit,
			files: files.map(({ path, sha256 }) => ({
				path,
				sha256
			}))
		})),
		testbed: {
			name: plan.testbed,
			fingerprint: started?.fingerprint ?? {},
			warnings: started?.warnings ?? []
		},
		policy: plan.policy,
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
		},
		seed: plan.seed,
		startedAt: journal.at(0)?.at ?? epoch,
		finishedAt: journal.at(-1)?.at ?? epoch,
		blasts: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : []),
		leftOut: leftOutIn(journal),
		outcome: outcomeOf(plan, journal)
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function outcomeOf(plan, journal) {
	const last = journal.findLast((entry) => entry.kind !== "started" && !leavesOut(entry));
	if (last?.kind === "rejected") return last.rejection;
	const others = plan.variants.map(({ variant }) => variant).filter((name) => !isJudged(name));
	const cells = standings(cellsSoFar(plan, journal), plan.policy).map((standing) => {
		const ofBase = baseNumbers(standing.input.runs, plan.policy.metric);
		const result = cellResult(standing, plan.policy, ofBase, others);
		return {
			...result,
			profiles: profilesOf(plan, journal, result.cell)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const leavesOut = (entry) => entry.kind === "rejected" && !isJudged(entry.variant);

export { worstVerdict as a, readJournal as c, leftOutIn as d, compare as i, cellsSoFar as l, cellResult as n, takeProfiles as o, cellVerdict as r, openJournal as s, assembleResult as t, isOfVerdict as u };