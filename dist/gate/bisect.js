import { version } from "../package.js";
import { UsageError, counted, formatMetric, formatPercent, formatPps, formatRoughly, formatSize, isCost, pathName, plainLine, reasonOf } from "../model/first-plain.js";
import { _enum, boolean, int, literal, object, union } from "../vendor/zod.js";
import { byMetric, byName, cellSchema, change, commitId, count, historySchema, id, line, list, metricSchema, name, offeredTraffic, ordinal, ownRulesSchema, path as path$1, prose, shortId, testbedKindSchema, variant, verdictsWorstFirst } from "../model/first.js";
import { excerpt } from "../model/excerpt.js";
import { RepositoryError } from "../forge/patch/first-plain.js";
import { NoCommitError } from "../forge/patch/first.js";
import { systemOf, testbedKindOf } from "../config/first.js";
import { mean, sum, sumNthPowerDeviations } from "../vendor/simple-statistics.js";
import { boundsOf as boundsOf$1, changeOf as changeOf$1, median, moderated, noNoise, pooledEvidence, sumOf } from "../analysis/stats/first.js";
import { bisectConfidenceRatio, maxCommits, namedCommitSchema } from "../model.js";
import { baselineOf } from "../analysis/stats.js";
import { expectedDurationsOn, expectedDurationsSchema, noiseRatioOf } from "./estimate/first.js";
import { baseNumbers, cellsOf, earlierEntries, entriesOf, historyOf, journalIn, openJournal, plannedProfile, plannedTraffic, readJournal, readRules, rulesOn } from "./experiment/first.js";
import { explained, readAnyResult, writeResult } from "../report.js";
import { mayChangeKernel } from "../kernel/first-plain.js";
import { builderOf, entriesOf as entriesOf$1, pathsIn, readOverlay, sourceOf, submodule } from "../kernel/first.js";
import { beginPlanFile, hasPlanFile, readPlanFile, refuseUsed, replacePlanFile } from "./experiment/first-plain.js";
import { onTestbed } from "./first-plain.js";
import { keepLogIn, missingProfiles, profileOf, takeProfilesOf } from "./experiment.js";
import { bootsToLocate, informationOf, likelihoodOfOtherSide } from "./bisect/plain.js";
import { rejectionMessage } from "./experiment/plain.js";
const { join } = globalThis.process.getBuiltinModule("node:path");

// src/gate/bisect/trials.ts
/** True if variants change within a trial, as installed files do; false if each needs a boot. */
const isShared = ({ traffic }) => traffic.runsPerTrial > 1;
/** Limit of consecutive lost readings. A shared trial lasts seconds, and a machine may stay busy for minutes. */
const maxTriesOf = (plan) => isShared(plan) ? 10 : 3;
/**
* Plans a single boot, or all variants forwards and back (ABCD DCBA), so that a steady drift cancels. Rotates the order
* per trial.
*/
function plannedTrial({ cell, traffic }, number, variants) {
	const turns = Math.max(1, Math.floor(traffic.runsPerTrial / (2 * variants.length)));
	const first = number % variants.length;
	const order = [...variants.slice(first), ...variants.slice(0, first)];
	const rounds = traffic.runsPerTrial > 1 ? Array.from({ length: turns }, () => [order, order.toReversed()]).flat() : [order];
	const firstRun = (number - 1) * rounds.length * variants.length;
	return {
		number,
		cell,
		runs: rounds.flatMap((round, turn) => round.map((variant, index) => ({
			number: firstRun + turn * variants.length + index + 1,
			variant,
			pair: (number - 1) * rounds.length + turn + 1
		})))
	};
}
function readingsOf(plan, runs) {
	const byVariant = Map.groupBy(runs, ({ variant }) => variant);
	const alone = new Map([...byVariant].map(([name, own]) => [name, readingOf(own, plan.metric)]));
	return isShared(plan) ? againstEnds(plan, alone) : alone;
}
/** At least half of a variant's runs must count. */
function readingOf(runs, metric) {
	const counted = runs.filter(({ validity }) => validity.kind === "valid");
	const faults = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.reason : []);
	if (2 * counted.length < runs.length) return {
		kind: "lost",
		why: faults[0] ?? "nothing"
	};
	const pps = median(counted.map((run) => run.pps));
	if (pps === 0) return {
		kind: "measured",
		pps,
		values: counted.map(() => 0)
	};
	const values = counted.flatMap((run) => run.pps > 0 ? run[metric] ?? [] : []);
	if (values.length === 0) return {
		kind: "lost",
		why: `the DUT has no value of ${metric}`
	};
	return {
		kind: "measured",
		pps,
		values,
		level: median(values.map(Math.log))
	};
}
/** Levels are relative to the middle of both ends in the same trial, which cancels a slowdown of that trial. */
function againstEnds({ range }, alone) {
	const ends = [range.revisions.at(0), range.revisions.at(-1)].flatMap((end) => (end?.forms ?? []).map(({ variant }) => variant)).flatMap((name) => alone.get(name) ?? []);
	const levels = ends.flatMap((end) => end.kind === "measured" ? end.level ?? [] : []);
	const unknown = ends.find(({ kind }) => kind === "lost") ?? (levels.length === 0 ? {
		kind: "lost",
		why: "neither end forwarded a packet"
	} : void 0);
	if (unknown !== void 0) return new Map([...alone].map(([name]) => [name, unknown]));
	const middle = mean(levels);
	return new Map([...alone].map(([name, reading]) => {
		if (reading.kind === "lost" || reading.level === void 0) return [name, reading];
		return [name, {
			...reading,
			level: reading.level - middle
		}];
	}));
}

// src/gate/bisect/evidence.ts
/** Variant of the bad end without the culprit; not part of the range. */
const revertedName = "reverted";
function evidenceOf(plan, entries) {
	const findings = findingsOf(plan, triesOf(plan, entries));
	const positions = positionsOf(plan.range, findings);
	return {
		positions,
		findings,
		problem: problemOf(plan, positions, entries)
	};
}
const unknown = {
	levels: [],
	values: []
};
function triesOf(plan, entries) {
	const started = entries.findLastIndex(({ kind }) => kind === "started");
	const all = /* @__PURE__ */ new Map();
	const add = (variant, one) => all.set(variant, [...all.get(variant) ?? [], one]);
	for (const [index, entry] of entries.entries()) {
		const isRecent = index > started;
		if (entry.kind === "measured") for (const [name, reading] of readingsOf(plan, entry.runs)) add(name, {
			...reading,
			isRecent
		});
		else if (entry.kind === "failed") for (const name of entry.variants ?? []) add(name, {
			kind: "lost",
			why: entry.reason,
			isRecent
		});
		else if (entry.kind === "rejected") add(entry.variant, {
			kind: "rejected",
			rejection: entry.rejection,
			isRecent
		});
	}
	return all;
}
/**
* A variant forwards nothing if it forwards less than a tenth of the slower end: a different bug. If the bad end itself
* forwards nothing in any form, silence is the level to find. It then counts as a thousandth of the good end, as zero
* has no logarithm.
*/
function findingsOf({ range, metric }, tries) {
	const triesAt = ({ variant }) => tries.get(variant) ?? [];
	const asEnd = (form) => findingOf(triesAt(form), (pps) => pps === 0);
	const [good = [], bad = []] = [range.revisions.at(0)?.forms, range.revisions.at(-1)?.forms];
	const goodForm = good.find((form) => asEnd(form).levels.length > 0);
	if (goodForm !== void 0 && bad.every((form) => asEnd(form).failure?.isSure) && bad.some((form) => asEnd(form).failure?.fault.kind === "forwards-nothing")) {
		const away = isCost(metric) ? Math.log(1e3) : -Math.log(1e3);
		const silence = mean([...asEnd(goodForm).levels]) + away;
		return new Map([...tries].map(([name, own]) => [name, findingOf(own, () => false, silence)]));
	}
	const ends = [...good, ...bad];
	const medians = ends.map((end) => median(ratesOf(triesAt(end)))).filter((pps) => pps > 0);
	const minPps = Math.min(...medians) / 10;
	const names = new Set(ends.map(({ variant }) => variant));
	return new Map([...tries].map(([name, own]) => {
		const isSilent = (pps) => pps === 0 || !names.has(name) && pps < minPps;
		return [name, findingOf(own, isSilent)];
	}));
}
const ratesOf = (tries) => tries.flatMap((one) => one.kind === "measured" && one.pps > 0 ? one.pps : []);
/** @param silence level of a silent variant; absent: silence is a fault without a level. */
function findingOf(tries, isSilent, silence) {
	const attempts = tries.filter(({ kind }) => kind !== "lost");
	const measured = attempts.flatMap((one) => one.kind === "measured" ? one : []);
	const loud = measured.filter(({ pps }) => !isSilent(pps));
	const levels = loud.flatMap(({ level = silence }) => level ?? []);
	const failure = levels.length > 0 ? void 0 : failureOf(attempts);
	const values = (levels.length > 0 ? loud : measured).flatMap((one) => one.values);
	const lost = lostAfter(tries);
	return {
		levels,
		values,
		...failure && { failure },
		...lost && { lost }
	};
}
function failureOf(attempts) {
	const last = attempts.at(-1);
	if (last?.kind === "rejected") {
		const { rejection } = last;
		const times = attempts.filter((one) => isRejectedFor("build-failed", one)).length;
		return {
			fault: rejection,
			isSure: rejection.kind !== "build-failed" || times >= 2
		};
	}
	if (last?.kind !== "measured") return void 0;
	const times = attempts.filter(({ kind }) => kind === "measured").length;
	return {
		fault: {
			kind: "forwards-nothing",
			message: `${formatPps(last.pps)} was forwarded${times >= 2 ? `, as in ${counted(times - 1, "more boot")}` : ""}.`
		},
		isSure: times >= 2
	};
}
const isRejectedFor = (kind, one) => one.kind === "rejected" && one.rejection.kind === kind;
function lostAfter(tries) {
	const last = tries.at(-1);
	if (last?.kind !== "lost") return void 0;
	const before = tries.findLastIndex(({ kind }) => kind !== "lost");
	return {
		times: tries.slice(before + 1).filter(({ isRecent }) => isRecent).length,
		why: last.why
	};
}
/**
* Picks the form to measure of each revision: the first that has not failed or, if all have, the first with an unsure
* failure. If fix-ups helped a revision that could not be measured without them, uses them at once for the rest of its
* stretch.
*/
function positionsOf({ revisions }, findings) {
	const findingAt = ({ variant }) => findings.get(variant) ?? unknown;
	const stretches = stretchesOf$1(revisions, findingAt);
	const positions = [];
	for (const [index, { forms }] of revisions.entries()) {
		const helped = stretches.flatMap(({ after, end, fixUps }) => index > after && index < end ? fixUps : []);
		const isHelp = (form) => helped.includes(nameOfFixUps(form));
		const inOrder = forms.some((form) => isPlain(form) && works(findingAt(form))) ? forms : [...forms.filter(isHelp), ...forms.filter((form) => !isHelp(form))];
		const unfailed = inOrder.filter((form) => findingAt(form).failure === void 0);
		const unsure = inOrder.filter((form) => findingAt(form).failure?.isSure === false);
		const left = [...unfailed, ...unsure];
		const form = left[0] ?? inOrder.at(-1);
		if (form === void 0) continue;
		const before = positions.at(-1);
		if (before?.form.variant === form.variant) before.last = index;
		else {
			const isNextForm = unfailed.length < forms.length && !findings.has(form.variant);
			const own = {
				form,
				hasOther: left.length > 1,
				isNextForm,
				finding: findingAt(form)
			};
			positions.push({
				first: index,
				last: index,
				...own
			});
		}
	}
	return positions;
}
function stretchesOf$1(revisions, findingAt) {
	const isFineAlone = ({ forms }) => forms.some((form) => isPlain(form) && works(findingAt(form)));
	return revisions.flatMap(({ forms }, index) => {
		if (!forms.some((form) => isPlain(form) && findingAt(form).failure !== void 0)) return [];
		return forms.flatMap((form) => {
			if (isPlain(form) || !works(findingAt(form))) return [];
			const fixUps = nameOfFixUps(form);
			const lacks = (later) => !later.forms.some((one) => nameOfFixUps(one) === fixUps);
			const end = revisions.findIndex((later, at) => at > index && lacks(later));
			return {
				after: revisions.findLastIndex((earlier, at) => at < index && isFineAlone(earlier)),
				end: end === -1 ? revisions.length : end,
				fixUps
			};
		});
	});
}
const works = ({ levels }) => levels.length > 0;
const isPlain = ({ fixUps }) => fixUps.length === 0;
const nameOfFixUps = ({ fixUps }) => fixUps.join(" ");
function problemOf(plan, positions, entries) {
	const { range, history, mostBoots } = plan;
	const at = (notify) => new Map(positions.flatMap((position, index) => {
		const attempts = notify(position);
		return attempts === void 0 ? [] : [[index, attempts]];
	}));
	const isSkipped = ({ first, last }) => range.revisions.slice(first, last + 1).every((revision) => revision.isSkipped);
	return {
		steps: positions.length - 1,
		measured: at(({ finding }) => works(finding) ? finding.levels : void 0),
		failed: at(({ finding: { failure } }) => failure && {
			kind: failure.fault.kind,
			isSure: failure.isSure
		}),
		skipped: new Set(at((position) => isSkipped(position) ? true : void 0).keys()),
		history: isShared(plan) ? noNoise : moderated(history),
		mostBoots,
		boots: bootsOf(entries)
	};
}
/** Boots, or trials shared by variants, including those without a result. */
const bootsOf = (entries) => entries.filter(isBoot).length;
function isBoot(entry) {
	if (entry.kind === "rejected") return bootedFor.has(entry.rejection.kind);
	return entry.kind === "measured" || entry.kind === "failed";
}
const bootedFor = /* @__PURE__ */ new Set(["boot-failed", "panics-under-load"]);

// src/gate/bisect/search.ts
const wantedProbability = .99;
const bootsOfNeighbour = 2;
/** Greatest odds, for each neighbour, that it is on its side because of outliers alone. */
const maxWrongProbability = .01;
const maxBootsOfEnd = 20;
const bootsOfThirdLevel = 4;
const deepest = 4;
/** Minimum difference, beyond noise, of a separate level. */
const minLevelRatio = .01;
/**
* Thresholds of generalized likelihood ratios: good and bad differ; a position is at neither level; one of its boots
* is.
*/
const reproducedAt = 150;
const thirdLevelAt = 1e3;
const loneAt = 3e3;
/** Similar failures this close count as one, and the positions between are not tried. */
const nearFailures = 16;
/** Deterministic, and independent of the order of boots. */
function nextStep(problem, costs) {
	const { failed, steps } = problem;
	if (isLost(failed, 0) || isLost(failed, steps)) return ended({ kind: "not-reproduced" });
	const known = prepared(problem);
	const poorer = poorerOf(known, 0, steps);
	const boots = bootsAt(known, poorer);
	if (boots < 2 || ratioBetween(known, 0, steps) < reproducedAt) return boots >= maxBootsOfEnd || isOver(known) ? ended({ kind: "not-reproduced" }) : measure(poorer, "reproduce");
	const endings = [];
	for (const leaf of partsOfRange(known)) {
		const step = stepIn(known, leaf, costs);
		if (step.kind === "measure") {
			if (!isOver(known)) return step;
			endings.push(inconclusive(known, leaf.segment));
		} else endings.push(step.ending);
	}
	return ended(combined(known, endings));
}
/** Orders the builds besides finished and running ones: each halves the likeliest stretch without a build. */
function nextBuilds(problem, isBuilt, count) {
	const known = prepared(problem);
	const open = openPart(known);
	if (open === void 0) return [];
	const { low, high } = open.segment;
	return partings(known, open, positions(low, high).filter(isBuilt), count);
}
/** Returns the first part of the range that still needs search. */
function openPart(known) {
	const leaves = partsOfRange(known).map(({ segment }) => ({
		segment,
		chances: chancesIn(known, segment)
	}));
	const isOpen = ({ chances }) => stretchIn(known, chances).probability < wantedProbability;
	return leaves.find(isOpen) ?? leaves[0];
}
/** Returns positions that each split the likeliest of the remaining stretches. */
function partings(known, { segment, chances }, others, count) {
	const inside = others.filter((position) => position > segment.low && position < segment.high);
	const stops = [.../* @__PURE__ */ new Set([
		segment.low,
		...inside,
		segment.high
	])].sort((a, b) => a - b);
	const chosen = [];
	while (chosen.length < count) {
		const next = largestGap(stops, chances, (position) => !known.unfit.has(position));
		if (next === void 0) break;
		chosen.push(next);
		stops.push(next);
		stops.sort((a, b) => a - b);
	}
	return chosen;
}
/** Chooses up to `count` more positions: neighbours that a conclusion needs, then halves of likely stretches. */
function alsoInformative(problem, measured, count) {
	const known = prepared(problem);
	const open = openPart(known);
	if (open === void 0) return [];
	const { after, last } = stretchIn(known, open.chances);
	const wanted = [after, last].filter((position) => bootsAt(known, position) > 0 && bootsAt(known, position) < bootsOfNeighbour).filter((position) => !measured.includes(position)).slice(0, count);
	return [...wanted, ...partings(known, open, [
		...known.places,
		...measured,
		...wanted
	], count - wanted.length)];
}
/** Probability that each step is the change, by end position; 0 for position 0. */
function probabilities(problem) {
	const known = prepared(problem);
	const all = new Array(problem.steps + 1).fill(0);
	for (const { segment } of partsOfRange(known)) {
		const { upTo } = chancesIn(known, segment);
		for (const position of positions(segment.low + 1, segment.high)) all[position] = upTo(position) - upTo(position - 1);
	}
	return all;
}
/** Untried positions between two near failures of one kind. */
const takenForFailed = (problem) => failuresTogether(problem).flatMap(({ low, high }) => positions(low + 1, high - 1));
/** Consecutive similar failures near each other, with nothing measured between. */
function failuresTogether({ failed, measured }) {
	const known = [...failed.keys()].sort((a, b) => a - b);
	return known.slice(1).flatMap((high, index) => {
		const low = known[index] ?? high;
		const isAlike = failed.get(low)?.kind === failed.get(high)?.kind;
		const isParted = positions(low + 1, high - 1).some((position) => measured.has(position));
		return isAlike && high - low <= nearFailures && !isParted ? {
			low,
			high
		} : [];
	});
}
/** Sorts the boots, as the last digits of sums depend on their order. */
function prepared(problem) {
	const measured = new Map([...problem.measured].filter(([, values]) => values.length > 0).map(([position, values]) => [position, values.toSorted((a, b) => a - b)]));
	const { failed, skipped, history } = problem;
	const places = [...measured.keys()].sort((a, b) => a - b);
	const unfit = /* @__PURE__ */ new Set([
		...failed.keys(),
		...skipped,
		...takenForFailed(problem)
	]);
	const own = spreadOf(places.map((place) => measured.get(place) ?? []));
	return {
		...problem,
		measured,
		places,
		unfit,
		noise: sumOf(own, history),
		earlier: history
	};
}
function spreadOf(sets) {
	let sumOfSquares = 0;
	let degreesOfFreedom = 0;
	for (const values of sets) {
		if (values.length < 2) continue;
		sumOfSquares += sumNthPowerDeviations([...values], 2);
		degreesOfFreedom += values.length - 1;
	}
	return {
		sumOfSquares,
		degreesOfFreedom
	};
}
/** Splits the range at positions with their own level; each part contains a change. */
const partsOfRange = (known) => partsOf(known, {
	low: 0,
	high: known.steps
}, 0);
function partsOf(known, segment, depth) {
	const third = thirdLevelIn(known, segment);
	if (third === void 0) return [{
		segment,
		look: { kind: "plain" }
	}];
	const { position } = third;
	if (third.kind === "again") return [{
		segment,
		look: {
			kind: "again",
			position
		}
	}];
	if (depth === deepest) return [{
		segment,
		look: { kind: "too-deep" }
	}];
	const { low, high } = segment;
	return [...partsOf(known, {
		low,
		high: position
	}, depth + 1), ...partsOf(known, {
		low: position,
		high
	}, depth + 1)];
}
/** Finds a position at neither level. Repeats a single outlier; requires agreement of its boots and both ends. */
function thirdLevelIn(known, segment) {
	const { low, high } = segment;
	const inside = known.places.filter((place) => place > low && place < high);
	if (inside.length === 0) return void 0;
	const { likeliest } = chancesIn(known, segment);
	const [clearest] = inside.flatMap((position) => {
		const own = mean(valuesAt(known, position));
		const isOff = (from, to) => {
			const others = known.places.filter((place) => place >= from && place <= to && place !== position).flatMap((place) => valuesAt(known, place));
			const distance = Math.abs(own - mean(others));
			return distance > minLevelRatio && likelihoodRatio(known, distance) > loneAt;
		};
		const boots = bootsAt(known, position);
		const ends = [low, high];
		const ratio = Math.min(...ends.map((end) => ratioBetween(known, position, end)));
		const isFarFrom = (end) => Math.abs(own - mean(valuesAt(known, end))) > minLevelRatio;
		if (boots >= 2 && ratio >= thirdLevelAt && ends.every(isFarFrom)) return {
			position,
			ratio,
			wanting: [
				position,
				low,
				high
			]
		};
		return boots < 3 && isOff(low, likeliest.low) && isOff(likeliest.high, high) ? {
			position,
			ratio: 0,
			wanting: [position]
		} : [];
	}).toSorted((a, b) => b.ratio - a.ratio);
	if (clearest === void 0) return void 0;
	if (clearest.ratio === 0) return {
		kind: "again",
		position: clearest.position
	};
	const poor = clearest.wanting.find((place) => bootsAt(known, place) < bootsOfThirdLevel);
	return poor === void 0 ? {
		kind: "level",
		position: clearest.position
	} : {
		kind: "again",
		position: poor
	};
}
function stepIn(known, { segment, look }, costs) {
	const { low, high } = segment;
	if (look.kind === "again") return measure(look.position, "look again");
	if (look.kind === "too-deep") return ended({
		kind: "slide",
		at: [low, high]
	});
	const chances = chancesIn(known, segment);
	const stretch = stretchIn(known, chances);
	if (stretch.probability >= wantedProbability) {
		const unsure = unsureFailure(known, stretch);
		if (unsure !== void 0) return measure(unsure, "try again");
		const doubtful = doubtfulNeighbour(known, chances, stretch);
		if (doubtful !== void 0) return measure(doubtful, "confirm");
		return ended({
			kind: "found",
			...stretch
		});
	}
	const position = mostInformative(known, segment, chances, costs);
	const weak = weakEnd(known, segment, chances, position);
	if (weak !== void 0) return measure(weak, "strengthen an end");
	return position === void 0 ? ended(inconclusive(known, segment)) : measure(position, "search");
}
/**
* Returns the neighbour of a found change that needs another boot, as it may be on its side because of outliers alone:
* the change would then be in the steps up to the next measured position. Beyond an end there is none, and good and bad
* may be equal, which is as likely as all steps together.
*/
function doubtfulNeighbour(known, { segment: { low, high }, levels: { left, right } }, { after, last }) {
	const before = known.places.findLast((place) => place >= low && place < after);
	const behind = known.places.find((place) => place > last && place <= high);
	const deviation = deviationOf(known.noise);
	const [worst] = [{
		position: after,
		own: left,
		other: right,
		next: before
	}, {
		position: last,
		own: right,
		other: left,
		next: behind
	}].map(({ position, own, other, next }) => {
		const steps = next === void 0 ? high - low : Math.abs(position - next);
		const values = valuesAt(known, position);
		return {
			position,
			doubt: likelihoodOfOtherSide({
				values,
				own,
				other,
				deviation
			}) * steps / (last - after)
		};
	}).toSorted((a, b) => b.doubt - a.doubt);
	return worst !== void 0 && worst.doubt > maxWrongProbability ? worst.position : void 0;
}
function mostInformative(known, { low, high }, { upTo, distance }, { waitMinutes, runMinutes }) {
	const toFailure = distancesToFailure(known);
	let best;
	let most = 0;
	for (let position = low; position <= high; position++) {
		if (known.unfit.has(position)) continue;
		const works = bootsAt(known, position) > 0 ? 1 : chanceToWork(toFailure, position);
		const bits = informationOf(upTo(position), distance) * works;
		if (bits === 0) continue;
		const gain = bits / (waitMinutes(position) + runMinutes);
		if (gain > most * (1 + 1e-9)) {
			best = position;
			most = gain;
		}
	}
	return best;
}
/** Failures cluster, but a twentieth of untried positions fail in any case. */
const chanceToWork = (toFailure, position) => .95 * (1 - Math.exp(-toFailure(position) / 4));
function distancesToFailure({ failed }) {
	const known = [...failed.keys()];
	return (position) => Math.min(...known.map((other) => Math.abs(position - other)));
}
/**
* Returns the end of a segment with fewer boots: repeating the position itself would not improve its reference level.
*/
function weakEnd(known, { low, high }, { upTo }, position) {
	if (position === void 0) return void 0;
	const bootsWhere = (isThere) => sum(known.places.filter((place) => place >= low && place <= high && isThere(upTo(place))).map((place) => bootsAt(known, place)));
	const boots = bootsAt(known, position);
	if (boots >= bootsWhere((chance) => chance <= .05)) return low;
	return boots >= bootsWhere((chance) => chance >= .95) ? high : void 0;
}
/**
* Locates the change with both levels unknown. Each gap between measured neighbours splits the boots in two. Its
* likelihood is that of two homogeneous groups: the normal likelihood, with means and variance integrated out using the
* noise of earlier experiments. Steps within a gap are equally likely.
*/
function chancesIn(known, segment) {
	const { low, high } = segment;
	const stops = [.../* @__PURE__ */ new Set([
		low,
		...known.places.filter((place) => place > low && place < high),
		high
	])];
	const outside = known.places.filter((place) => place < low || place > high);
	const earlier = sumOf(known.earlier, spreadOf(outside.map((place) => valuesAt(known, place))));
	const logs = splitLogs(stops.map((stop) => valuesAt(known, stop)), earlier);
	const greatest = Math.max(...logs);
	const lengths = stops.slice(1).map((stop, index) => stop - (stops[index] ?? stop));
	const masses = logs.map((log, index) => Math.exp(log - greatest) * (lengths[index] ?? 0));
	const total = sum(masses);
	const before = [0];
	for (const mass of masses) before.push((before.at(-1) ?? 0) + mass / total);
	before[before.length - 1] = 1;
	const best = logs.indexOf(greatest);
	const levels = levelsAt(stops.map((stop) => valuesAt(known, stop)), best);
	return {
		segment,
		likeliest: {
			low: stops[best] ?? low,
			high: stops[best + 1] ?? high
		},
		levels,
		distance: Math.abs(levels.left - levels.right) / deviationOf(known.noise),
		upTo(position) {
			const gap = lastIndexAtMost(stops, position);
			const [from = 0, to = 1] = [before[gap], before[gap + 1]];
			const start = stops[gap] ?? low;
			return gap === stops.length - 1 ? 1 : from + (to - from) * (position - start) / (lengths[gap] ?? 1);
		}
	};
}
/** Log-likelihoods, up to a constant, of a change in each gap between sets of boots. */
function splitLogs(sets, earlier) {
	const origin = sets.find(({ length }) => length > 0)?.[0] ?? 0;
	const moments = sets.map((values) => momentsOf(values.map((value) => value - origin)));
	const whole = moments.reduce(added, nothing);
	let left = nothing;
	return moments.slice(0, -1).map((own) => {
		left = added(left, own);
		const right = {
			count: whole.count - left.count,
			sum: whole.sum - left.sum,
			squares: whole.squares - left.squares
		};
		if (left.count === 0 || right.count === 0) return 0;
		const degreesOfFreedom = earlier.degreesOfFreedom + whole.count - 2;
		const squares = Math.max(earlier.sumOfSquares + spread(left) + spread(right), leastSquares);
		return -(Math.log(left.count * right.count) + degreesOfFreedom * Math.log(squares)) / 2;
	});
}
/** Identical boots, for example in a simulator, have no noise to divide by. */
const leastSquares = 1e-12;
const nothing = {
	count: 0,
	sum: 0,
	squares: 0
};
const momentsOf = (values) => values.reduce((all, value) => added(all, {
	count: 1,
	sum: value,
	squares: value * value
}), nothing);
const added = (one, other) => ({
	count: one.count + other.count,
	sum: one.sum + other.sum,
	squares: one.squares + other.squares
});
const spread = ({ count, sum, squares }) => Math.max(0, squares - sum * sum / count);
function levelsAt(sets, gap) {
	const levelOf = (parts) => {
		const values = parts.flat();
		return values.length === 0 ? NaN : mean(values);
	};
	return {
		left: levelOf(sets.slice(0, gap + 1)),
		right: levelOf(sets.slice(gap + 1))
	};
}
/** Returns the likeliest run of steps between two measurable positions without another one in between. */
function stretchIn(known, { segment, upTo }) {
	let best = {
		after: segment.low,
		last: segment.high,
		probability: 0
	};
	let after = segment.low;
	for (let last = segment.low + 1; last <= segment.high; last++) {
		if (known.unfit.has(last) && last !== segment.high) continue;
		const probability = upTo(last) - upTo(after);
		if (probability > best.probability) best = {
			after,
			last,
			probability
		};
		after = last;
	}
	return best;
}
function inconclusive(known, segment) {
	const { upTo, distance } = chancesIn(known, segment);
	const steps = positions(segment.low + 1, segment.high).map((last) => ({
		last,
		probability: upTo(last) - upTo(last - 1)
	}));
	const best = steps.toSorted((a, b) => b.probability - a.probability).slice(0, 3);
	const bits = -sum(steps.map(({ probability: p }) => p > 0 ? p * Math.log2(p) : 0));
	return {
		kind: "inconclusive",
		best,
		bootsExpected: Math.ceil(bootsToLocate(bits, distance))
	};
}
function combined(known, endings) {
	const [only] = endings;
	if (endings.length === 1 && only !== void 0) return only;
	const found = endings.flatMap((ending) => ending.kind === "found" ? foundOf$1(ending) : []);
	const segments = partsOfRange(known).map(({ segment }) => segment);
	const open = segments.filter((_, index) => endings[index]?.kind !== "found").map(({ low, high }) => ({
		after: low,
		last: high
	}));
	if (found.length > 0) return {
		kind: "several",
		found,
		open
	};
	return {
		kind: "slide",
		at: [...segments.map(({ low }) => low), known.steps]
	};
}
const foundOf$1 = ({ after, last, probability }) => ({
	after,
	last,
	probability
});
/** Returns the position that best splits the heaviest gap between stops; undefined if none is left. */
function largestGap(stops, { upTo }, isFit) {
	return stops.slice(1).map((high, index) => ({
		low: stops[index] ?? high,
		high
	})).flatMap(({ low, high }) => {
		const middle = (upTo(low) + upTo(high)) / 2;
		const [best] = positions(low + 1, high - 1).filter(isFit).toSorted((a, b) => Math.abs(upTo(a) - middle) - Math.abs(upTo(b) - middle));
		return best === void 0 ? [] : {
			position: best,
			mass: upTo(high) - upTo(low)
		};
	}).toSorted((a, b) => b.mass - a.mass)[0]?.position;
}
/** Generalized likelihood ratio that two positions differ, with unknown noise. */
function ratioBetween(known, one, other) {
	const [a, b] = [valuesAt(known, one), valuesAt(known, other)];
	if (a.length === 0 || b.length === 0) return 0;
	return likelihoodRatio(known, (mean([...a]) - mean([...b])) / Math.sqrt(1 / a.length + 1 / b.length));
}
/** Likelihood ratio of Student's t, against chance, for a difference in deviations of one boot. */
function likelihoodRatio({ noise }, distance) {
	const { degreesOfFreedom } = noise;
	return (1 + (distance / deviationOf(noise)) ** 2 / degreesOfFreedom) ** ((degreesOfFreedom + 2) / 2);
}
const deviationOf = ({ sumOfSquares, degreesOfFreedom }) => Math.sqrt(Math.max(sumOfSquares, leastSquares) / Math.max(degreesOfFreedom, 1));
const valuesAt = ({ measured }, position) => measured.get(position) ?? [];
const bootsAt = (problem, position) => valuesAt(problem, position).length;
const poorerOf = (problem, one, other) => bootsAt(problem, other) < bootsAt(problem, one) ? other : one;
const isLost = (failed, position) => failed.get(position)?.isSure === true;
/** Finds a failure that happened once, and to no neighbour: the lab may have caused it. */
function unsureFailure(known, { after, last }) {
	const sure = new Set(failuresTogether(known).flatMap(({ low, high }) => [low, high]));
	return positions(after + 1, last - 1).find((position) => known.failed.get(position)?.isSure === false && !sure.has(position));
}
const isOver = ({ boots, mostBoots }) => boots >= mostBoots;
const measure = (position, why) => ({
	kind: "measure",
	position,
	why
});
const ended = (ending) => ({
	kind: "ended",
	ending
});
const positions = (low, high) => Array.from({ length: Math.max(0, high - low + 1) }, (_, index) => low + index);
const lastIndexAtMost = (ascending, value) => {
	let [low, high] = [0, ascending.length - 1];
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if ((ascending[middle] ?? 0) <= value) low = middle;
		else high = middle - 1;
	}
	return low;
};

// src/gate/bisect/next-boot.ts
const noCosts = {
	runMinutes: 1,
	buildMinutes: 0,
	isReady: () => true
};
function nextOf(plan, entries, costs) {
	const evidence = evidenceOf(plan, entries);
	const { positions, problem } = evidence;
	const [good, bad] = [positions.at(0), positions.at(-1)];
	if (good === void 0 || bad === void 0) throw new RangeError("A range has two ends.");
	if (good.finding.failure?.isSure) return {
		kind: "good-failed",
		fault: good.finding.failure.fault
	};
	if (problem.boots < problem.mostBoots) {
		const again = tryAgain(plan, entries, evidence);
		if (again !== void 0) return again;
	}
	const step = nextStep(problem, costsOf(evidence, costs));
	if (step.kind === "ended") return step;
	const anyway = [.../* @__PURE__ */ new Set([
		0,
		problem.steps,
		step.position
	])];
	const beside = isShared(plan) ? alsoInformative(problem, anyway, 4 - 1) : [];
	return measuring(plan, evidence, [step.position, ...beside].flatMap((position) => positions[position]?.form.variant ?? []), step.why);
}
const costsOf = ({ positions }, { runMinutes, buildMinutes, isReady }) => ({
	runMinutes,
	waitMinutes: (position) => isReady(positions[position]?.form.variant ?? "") ? 0 : buildMinutes
});
function measuring(plan, { positions }, variants, why) {
	const ends = [positions.at(0), positions.at(-1)].flatMap((end) => end?.form.variant ?? []);
	return {
		kind: "measure",
		variants: isShared(plan) ? [.../* @__PURE__ */ new Set([...ends, ...variants])] : [...variants],
		why
	};
}
/**
* Repeats at once a boot without a measurement, a build that failed once (it costs no boot), and a failed end. Also
* tries the next form of a failed revision at once. The search decides on other repeats.
*/
function tryAgain(plan, entries, evidence) {
	const { positions, problem } = evidence;
	const unfinished = positions.filter(({ finding, isNextForm }, index) => {
		if (problem.skipped.has(index)) return false;
		const isEnd = index === 0 || index === positions.length - 1;
		const { lost, failure } = finding;
		const isUnsure = failure?.isSure === false && (isEnd || failure.fault.kind === "build-failed");
		return lost !== void 0 || isUnsure || isNextForm;
	});
	const stuck = unfinished.find(({ finding }) => (finding.lost?.times ?? 0) >= maxTriesOf(plan));
	if (stuck !== void 0) return {
		kind: "stuck",
		variant: stuck.form.variant,
		why: stuck.finding.lost?.why ?? ""
	};
	const [first] = unfinished;
	if (first === void 0) return void 0;
	const { variant } = first.form;
	const base = positions[0]?.form.variant ?? "";
	if (lacksControl(entries, variant, base)) return measuring(plan, evidence, [base], "check that base works");
	const why = first.isNextForm ? "try a possible fix" : "try again";
	return measuring(plan, evidence, [variant], why);
}
const hasEnded = (plan, entries) => nextOf(plan, entries, noCosts).kind === "ended";
/** True if a variant failed since the testbed was last opened, and base has not been measured there since. */
function lacksControl(entries, variant, base) {
	return entries.reduce((isLacking, entry) => {
		if (entry.kind === "started") return false;
		if (entry.kind === "measured") return isLacking && !entry.runs.some((run) => run.variant === base);
		if (entry.kind !== "failed" || !entry.variants?.includes(variant)) return isLacking;
		return isLacking || entry.lacksControl === true;
	}, false);
}
const maxBuildsAhead = 3;
const maxKept = 4;
/** Orders the builds: the next to measure, possible successors, then ready ends and some near the likeliest change. */
function wantedVariants(plan, entries, next, isReady) {
	const { positions, problem } = evidenceOf(plan, entries);
	const variantAt = (position) => positions[position]?.form.variant ?? "";
	const isBuilt = (position) => isReady(variantAt(position)) || next.includes(variantAt(position));
	const ahead = nextBuilds(problem, isBuilt, maxBuildsAhead).map(variantAt);
	const chances = probabilities(problem);
	const likeliest = chances.indexOf(Math.max(...chances));
	const near = positions.map((_, position) => position).filter((one) => isReady(variantAt(one))).toSorted((a, b) => Math.abs(a - likeliest) - Math.abs(b - likeliest)).slice(0, maxKept).map(variantAt);
	const ends = [0, positions.length - 1].map(variantAt);
	return [.../* @__PURE__ */ new Set([
		...next,
		...ends.filter((end) => !isReady(end)),
		...ahead,
		...ends,
		...near
	])];
}

// src/gate/bisect/assemble.ts
/** Throws a RangeError for an unfinished bisection. */
function assembleBisection(plan, journal) {
	const evidence = evidenceOf(plan, journal);
	const started = journal.findLast((entry) => entry.kind === "started");
	const warned = journal.flatMap((entry) => entry.kind === "warned" ? entry.text : []);
	const answer = answerOf(plan, journal);
	const revert = revertOf(plan, answer, evidence);
	return {
		schemaVersion: 1,
		kind: "bisect",
		generator: {
			name: "ppsgate",
			version
		},
		good: plan.good,
		bad: plan.bad,
		...plan.range.badCommit !== void 0 && { badCommit: plan.range.badCommit },
		fixUps: plan.fixUps,
		testbed: {
			name: plan.testbed,
			...plan.kind !== void 0 && { kind: plan.kind },
			fingerprint: started?.fingerprint ?? {},
			warnings: [.../* @__PURE__ */ new Set([
				...plan.range.notes,
				...started?.warnings ?? [],
				...warned
			])]
		},
		cell: plan.cell,
		metric: plan.metric,
		traffic: {
			...offeredTraffic(plan.traffic),
			measureSeconds: plan.traffic.measureSeconds
		},
		...plan.history !== void 0 && { history: plan.history },
		isShared: isShared(plan),
		seed: plan.seed,
		startedAt: journal.at(0)?.at ?? epoch,
		finishedAt: journal.at(-1)?.at ?? epoch,
		revisions: revisionsOf(plan, evidence),
		answer,
		boots: bootsOf(journal),
		...revert !== void 0 && { revert },
		profiles: profilesOf(plan, journal, answer, evidence),
		runs: journal.flatMap((entry) => entry.kind === "measured" ? entry.runs : []),
		trials: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : [])
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function revisionsOf({ range }, evidence) {
	const { positions, findings, problem } = evidence;
	const chances = probabilities(problem);
	const chanceAt = new Map(positions.map(({ first }, index) => [first, chances[index] ?? 0]));
	const taken = new Set(takenForFailed(problem).flatMap((index) => {
		const { first = 0, last = -1 } = positions[index] ?? {};
		return range.revisions.slice(first, last + 1);
	}));
	const allUpdates = allUpdatesOf(range.revisions);
	return range.revisions.map((revision, index) => {
		const { forms, ...about } = revision;
		const tried = forms.flatMap(({ variant, fixUps }) => {
			const finding = findings.get(variant);
			if (finding === void 0 || allUpdates.get(variant) !== index) return [];
			const { values, failure } = finding;
			return {
				variant,
				fixUps,
				values: [...values],
				...failure && { fault: failure.fault }
			};
		});
		return {
			...about,
			isAssumedFailed: taken.has(revision),
			probability: chanceAt.get(index) ?? 0,
			forms: tried
		};
	});
}
/** Maps each variant to the revision that reports it: the first without a fix-up, as several may share a kernel. */
function allUpdatesOf(revisions) {
	const allUpdates = /* @__PURE__ */ new Map();
	const notify = (forms, index) => {
		for (const { variant } of forms) if (!allUpdates.has(variant)) allUpdates.set(variant, index);
	};
	for (const [index, { forms }] of revisions.entries()) notify(forms.slice(0, 1), index);
	for (const [index, { forms }] of revisions.entries()) notify(forms, index);
	return allUpdates;
}
/** Throws a RangeError for an unfinished bisection. */
function answerOf(plan, journal) {
	const evidence = evidenceOf(plan, journal);
	const next = nextOf(plan, journal, noCosts);
	if (next.kind !== "ended") throw new RangeError("The bisection has not ended.");
	const { ending } = next;
	const { positions } = evidence;
	const last = positions.length - 1;
	const whole = () => changeBetween(evidence, [0, 0], [last, last]);
	const firstOf = (position) => positions[position]?.first ?? 0;
	switch (ending.kind) {
		case "found": return foundOf(plan, evidence, ending, [0, last]);
		case "several": return {
			kind: "several",
			found: ending.found.map((one) => foundOf(plan, evidence, one, surroundingsOf(one, ending, last))),
			open: ending.open.map(({ after, last }) => ({
				after: positions[after]?.last ?? 0,
				last: firstOf(last)
			}))
		};
		case "slide": {
			const steps = ending.at.filter((position) => position > 0).map(firstOf);
			return {
				kind: "slide",
				change: whole() ?? noChange,
				steps
			};
		}
		case "inconclusive": {
			const { bootsExpected } = ending;
			const best = ending.best.map((one) => ({
				revision: firstOf(one.last),
				probability: one.probability
			}));
			return {
				kind: "inconclusive",
				change: whole() ?? noChange,
				best,
				bootsExpected
			};
		}
		case "not-reproduced": {
			const end = positions.at(-1);
			const failure = end?.finding.failure;
			if (end !== void 0 && failure?.isSure) return {
				kind: "not-reproduced",
				fault: {
					revision: end.last,
					fault: failure.fault
				}
			};
			const change = whole();
			return {
				kind: "not-reproduced",
				...change && { change }
			};
		}
	}
}
/** Change between ends that do not measurably differ; only for `not-reproduced`. */
const noChange = {
	change: 0,
	low: 0,
	high: 0,
	before: 0,
	after: 0
};
/** Finds positions around a change with the same rate on each side, up to the next changes and open stretches. */
function surroundingsOf({ after, last }, { found, open }, steps) {
	const others = [...found, ...open];
	const before = others.filter((other) => other.last <= after).map((other) => other.last);
	const behind = others.filter((other) => other.after >= last).map((other) => other.after);
	return [Math.max(0, ...before), Math.min(steps, ...behind)];
}
function foundOf(plan, evidence, { after, last, probability }, [from, to]) {
	const { positions } = evidence;
	const change = changeBetween(evidence, [from, after], [last, to]) ?? noChange;
	const [before, culprit] = [positions[after], positions[last]];
	const revision = culprit?.first ?? 0;
	if (last - after === 1) return {
		kind: "culprit",
		revision,
		probability,
		change,
		measuredWith: culprit?.form.fixUps ?? []
	};
	const likelyFix = positions[last - 1]?.finding.failure !== void 0 ? plan.range.revisions[revision]?.commit : void 0;
	return {
		kind: "group",
		after: before?.last ?? 0,
		last: revision,
		probability,
		change,
		...likelyFix !== void 0 && { likelyFix }
	};
}
const level = (1 - bisectConfidenceRatio) / 2;
/** Compares all measurements of two stretches of positions; undefined if there are too few. */
function changeBetween({ positions, problem }, before, after) {
	const findingsIn = ([first, last]) => positions.slice(first, last + 1).map(({ finding }) => finding);
	const unit = unitOf(positions[0]);
	return changeOf(findingsIn(before), findingsIn(after), problem.history, unit);
}
function changeOf(before, after, history, unit) {
	const levelsOf = (findings) => findings.flatMap(({ levels }) => levels);
	const [left, right] = [levelsOf(before), levelsOf(after)];
	const known = left.length + right.length - 2 + history.degreesOfFreedom;
	if (left.length === 0 || right.length === 0 || known < 1) return void 0;
	const [whole, half] = [left, right].map((levels) => unit * Math.exp(mean(levels)));
	const rates = {
		before: whole ?? 0,
		after: half ?? 0
	};
	if (after.every(({ values }) => values.every((value) => value === 0))) return {
		change: -1,
		low: -1,
		high: -1,
		before: rates.before,
		after: 0
	};
	const evidence = pooledEvidence(left.map(asMeasurement), right.map(asMeasurement), history);
	const { low, high } = boundsOf$1(evidence, level);
	return {
		change: changeOf$1(evidence.effect),
		low: changeOf$1(low),
		high: changeOf$1(high),
		...rates
	};
}
const asMeasurement = (level) => ({ value: Math.exp(level) });
/** The metric's value at level 0; 1 if levels are relative to the same trial instead of absolute. */
function unitOf(good) {
	if (good === void 0 || good.finding.values.length === 0) return 1;
	const { values, levels } = good.finding;
	return Math.exp(mean(values.map(Math.log)) - mean([...levels]));
}
function revertOf({ isVerified }, answer, { findings, positions, problem }) {
	const reverted = findings.get(revertedName);
	const bad = positions.at(-1);
	if (!isVerified || answer.kind !== "culprit" || !reverted || !bad) return void 0;
	const { failure, values } = reverted;
	if (failure !== void 0) return {
		kind: "impossible",
		why: failure.fault.message
	};
	const change = changeOf([bad.finding], [reverted], problem.history, unitOf(positions[0]));
	return change && {
		kind: "measured",
		values: [...values],
		change
	};
}
/** Variants of the culprit's parent and of the culprit; empty for any other conclusion. */
function variantsToProfile(answer, { positions }) {
	if (answer.kind !== "culprit") return void 0;
	const at = positions.findIndex(({ first }) => first === answer.revision);
	const [base, patched] = [positions[at - 1]?.form.variant, positions[at]?.form.variant];
	return base === void 0 || patched === void 0 ? void 0 : {
		base,
		patched
	};
}
function profilesOf({ profile, cell }, journal, answer, evidence) {
	const variants = variantsToProfile(answer, evidence);
	if (profile === void 0 || variants === void 0) return [];
	return Object.entries(variants).map(([name, variant]) => ({
		...profileOf(journal, cell, variant),
		variant: name
	}));
}

// src/gate/bisect/first-parents.ts
/** Resolves both ends and their distance. Throws if they form no range. */
async function endsOf(typed, repository) {
	const good = await commitNamed("--good", typed.good, repository);
	const bad = await commitNamed("--bad", typed.bad, repository);
	const [goodName, badName] = [excerpt(typed.good), excerpt(typed.bad)];
	if (await repository.isShallow()) throw new RepositoryError("The repository is a shallow clone, which lacks older history: check it out with its full history (fetch-depth: 0).");
	if (good === bad) throw new UsageError(`--good ${goodName} and --bad ${badName} are the same commit, ${shortId(good)}: name one from before the loss, and one from after it.`);
	if (await repository.contains(good, bad)) throw new UsageError(`--bad ${badName} is older than --good ${goodName}: swap them, --good ${badName} --bad ${goodName}.`);
	const steps = await repository.stepsSince(good, bad);
	const start = await repository.resolve(`${bad}~${steps}`).catch((error) => {
		if (error instanceof NoCommitError) return void 0;
		throw error;
	});
	if (start === void 0) throw new UsageError(`--good ${goodName} and --bad ${badName} have no common ancestor on the first-parent line of --bad: name two commits of one branch.`);
	if (start !== good) {
		const why = await repository.contains(bad, good) ? `was merged, and is not on the first-parent line of --bad ${badName}` : `is not an ancestor of --bad ${badName}`;
		throw new UsageError(`--good ${goodName} ${why}: the last commit of that line that it contains is ${shortId(start)}, so use --good ${shortId(start)}.`);
	}
	if (steps > 2e4) throw new UsageError(`There are ${steps} commits after --good ${goodName} up to --bad ${badName}, but at most ${maxCommits} can be bisected: name a later one, like --good ${badName}~${maxCommits}.`);
	return {
		good,
		bad,
		steps
	};
}
/** Resolves an option's commit to a full id. Throws a `RepositoryError` that names the option. */
function commitNamed(option, name, repository) {
	return repository.resolve(name).catch((error) => {
		throw error instanceof NoCommitError ? new RepositoryError(`${option}: ${error.message}`) : error;
	});
}
/** First place on the line that contains a commit; undefined if the bad end does not contain it. */
async function placeOf(commit, { bad, commits, places }, repository) {
	const own = places.get(commit);
	if (own !== void 0) return own;
	if (!await repository.contains(bad, commit)) return void 0;
	let [from, to] = [0, commits.length - 1];
	while (from < to) {
		const middle = Math.floor((from + to) / 2);
		if (await repository.contains(commits[middle] ?? bad, commit)) to = middle;
		else from = middle + 1;
	}
	return to;
}

// src/gate/bisect/fix-ups.ts
/** Reads `FIX` and `FIX:FIRST`. Throws a `UsageError` for a fix-up without use in the range. */
async function readFixUps(texts, line, installed, repository) {
	const fixUps = [];
	for (const text of texts) {
		const fixUp = await readFixUp(text, line, installed, repository);
		if (fixUps.some(({ commit }) => commit === fixUp.commit)) throw new UsageError(`${fixUp.called} is given twice: remove one.`);
		fixUps.push(fixUp);
	}
	return fixUps;
}
async function readFixUp(text, line, installed, repository) {
	const [, fix, first] = /^([^:]+)(?::([^:]+))?$/.exec(text) ?? [];
	if (fix === void 0) throw new UsageError(`--fix-up: expected FIX or FIX:FIRST, found "${excerpt(text)}".`);
	const called = `--fix-up ${excerpt(fix)}`;
	const commit = await commitNamed("--fix-up", fix, repository);
	const parent = await repository.resolve(`${commit}^1`).catch(() => {
		throw new UsageError(`${called} has no parent, so its changes are unknown: name another commit.`);
	});
	if (await repository.contains(line.good, commit)) throw new UsageError(`${called} is already contained in --good: remove it.`);
	const difference = await installed.difference(parent, commit);
	if (difference === "none") throw new UsageError(`${called} changes nothing in ${installed.what}: remove it.`);
	const from = first === void 0 ? 0 : await firstPlace({
		called,
		commit,
		first
	}, line, repository);
	const { has, twin } = await revisionsWith(commit, line, repository);
	return {
		called,
		commit,
		isAlways: first !== void 0,
		isNeededBy: ({ place, last }) => last >= from && !has(place),
		twin,
		isMixed: difference === "some",
		pick: await repository.picker(commit)
	};
}
async function firstPlace({ called, commit, first }, line, repository) {
	const id = await commitNamed("--fix-up", first, repository);
	const place = await placeOf(id, line, repository);
	if (place === void 0) throw new UsageError(`${called}: ${excerpt(first)} is not in the history of --bad: write FIX:FIRST, where FIRST is the first commit that needs FIX.`);
	if (await repository.contains(id, commit)) throw new UsageError(`${called}: ${excerpt(first)} already has the fix: write FIX:FIRST, where FIRST is the first commit that needs FIX.`);
	return place;
}
/** Finds the places that have a fix: from the fix, or the same change, to the commit that reverts it. */
async function revisionsWith(commit, line, repository) {
	const after = await repository.mergeBase(commit, line.good).catch((error) => {
		if (error instanceof RepositoryError) return void 0;
		throw error;
	});
	const range = {
		upTo: line.bad,
		...after !== void 0 && { after }
	};
	const changes = [{
		commit,
		isReverse: false
	}, ...(await repository.sameChanges(commit, range)).filter((change) => change.commit !== commit)];
	const events = [];
	for (const change of changes) {
		const place = await placeOf(change.commit, line, repository);
		if (place !== void 0) events.push({
			place,
			isReverse: change.isReverse
		});
	}
	const inOrder = events.toSorted((one, other) => one.place - other.place);
	return {
		has: (place) => inOrder.findLast((event) => event.place <= place)?.isReverse === false,
		twin: changes.find((change) => change.commit !== commit && !change.isReverse)?.commit
	};
}
/** Lists the forms of each kernel in the order of attempts; notes report fix-ups that do not apply. */
async function makeForms(kernels, fixUps, installed, onProgress) {
	const conflicts = new Map(fixUps.map((fixUp) => [fixUp, /* @__PURE__ */ new Map()]));
	const needing = kernels.filter((kernel) => fixUps.some((fixUp) => fixUp.isNeededBy(kernel)));
	let tried = 0;
	return {
		forms: await eachOf(kernels, async (kernel) => {
			const needed = fixUps.filter((fixUp) => fixUp.isNeededBy(kernel));
			if (needed.length === 0) return [plainly(kernel)];
			const note = (fixUp, paths) => conflicts.get(fixUp)?.set(kernel, paths);
			const made = await formsOf(kernel, needed, {
				installed,
				onConflict: note
			});
			tried += 1;
			if (tried % progressEvery === 0 || tried === needing.length) onProgress(`applying fix-ups: ${tried} of ${needing.length} commits`);
			return made;
		}),
		notes: fixUps.flatMap((fixUp) => {
			const inConflict = conflicts.get(fixUp) ?? /* @__PURE__ */ new Map();
			return notesOf(fixUp, kernels.filter((kernel) => fixUp.isNeededBy(kernel)), inConflict);
		})
	};
}
const progressEvery = 50;
const plainly = ({ commit, tree }) => ({
	commit,
	tree,
	fixUps: []
});
/** Tries the fix-ups that are always needed, then one more each, then all. */
async function formsOf(kernel, needed, { installed, onConflict }) {
	const always = needed.filter(({ isAlways }) => isAlways);
	const others = needed.filter(({ isAlways }) => !isAlways);
	const first = await onTop(plainly(kernel), always, {
		installed,
		onConflict
	});
	const forms = [first];
	for (const fixUp of others) forms.push(await onTop(first, [fixUp], {
		installed,
		onConflict
	}));
	if (others.length > 1) forms.push(await onTop(first, others, {
		installed,
		onConflict: () => void 0
	}));
	return forms;
}
async function onTop(start, fixUps, { installed, onConflict }) {
	let made = start;
	for (const fixUp of fixUps) {
		const picked = await fixUp.pick(made);
		if (picked.kind === "conflict") onConflict(fixUp, picked.paths);
		if (picked.kind !== "picked") continue;
		if (fixUp.isMixed && await installed.difference(made.commit, picked.tip.commit) === "none") continue;
		made = {
			...picked.tip,
			fixUps: [...made.fixUps, fixUp.commit]
		};
	}
	return made;
}
function notesOf({ called, twin }, needing, conflicts) {
	if (needing.length === 0) return [`No commit of the range needs ${called}${twin ? `: ${shortId(twin)} makes the same change` : ""}.`];
	const files = [...new Set([...conflicts.values()].flat())];
	const shown = [...files.slice(0, 3).map(excerpt), ...files.length > 3 ? ["…"] : []].join(", ");
	const later = needing.filter(({ place }) => place > 0);
	if (conflicts.size > 0 && later.every((kernel) => conflicts.has(kernel))) throw new UsageError(`${called} applies to no commit that needs it, because of conflicts in ${shown}: name another fix-up, or remove it.`);
	return stretchesOf(needing, conflicts).map(([first, last]) => `${called} does not apply ${first === last ? `to ${first}` : `from ${first} to ${last}`}, because of conflicts in ${shown}: those commits are measured without it.`);
}
/** Returns the first and the last of each stretch of consecutive conflicts. */
function stretchesOf(needing, conflicts) {
	const stretches = [];
	let isGoingOn = false;
	for (const kernel of needing) {
		const id = shortId(kernel.commit);
		const stretch = stretches.at(-1);
		const isIn = conflicts.has(kernel);
		if (isIn && isGoingOn && stretch !== void 0) stretch[1] = id;
		else if (isIn) stretches.push([id, id]);
		isGoingOn = isIn;
	}
	return stretches;
}
/** Limits concurrency, as each item starts processes. */
async function eachOf(items, work) {
	const answers = [];
	const queue = items.entries();
	const worker = async () => {
		for (const [index, item] of queue) answers[index] = await work(item);
	};
	await Promise.all(Array.from({ length: 4 }, worker));
	return answers;
}

// src/gate/bisect/installed-kernels.ts
async function installedOf(request, repository) {
	return request.system === "linux" ? filesOf(request, repository) : kernelsOf(request, repository);
}
async function filesOf({ overlay, good }, repository) {
	const source = await sourceOf(overlay, repository);
	const paths = pathsIn(source);
	const isIn = (path) => paths.some((own) => own === "" || path === own || path.startsWith(`${own}/`));
	let hasSubmodule = (await entriesOf$1(repository, good, source)).some(({ mode }) => mode === submodule);
	return {
		paths,
		what: `the installed files (${paths.join(", ") || "all files"})`,
		get goesById() {
			return !hasSubmodule;
		},
		async difference(first, second) {
			return shareOf(await repository.changedPaths(first, second), isIn);
		},
		async changesWith({ changes }) {
			const own = changes.filter(({ path }) => isIn(path));
			hasSubmodule ||= own.some(({ isSubmodule }) => isSubmodule);
			return hasSubmodule || own.length > 0;
		}
	};
}
/** Applies the same rule that decides whether a patch needs measuring. */
async function kernelsOf({ builder, good }, repository) {
	const makefileAt = (commit) => repository.read(`${commit}:${makefileName}`).catch(() => void 0);
	const matters = (path, makefile) => builder === void 0 || mayChangeKernel(path, builder, makefile);
	let current = await makefileAt(good);
	return {
		paths: [""],
		what: builder === void 0 ? "a file" : "the source of a kernel",
		goesById: true,
		async difference(first, second) {
			const [makefile, paths] = await Promise.all([makefileAt(first), repository.changedPaths(first, second)]);
			return shareOf(paths, (path) => matters(path, makefile));
		},
		async changesWith({ commit, changes }) {
			const isOther = changes.some(({ path }) => matters(path, current));
			if (changes.some(({ path }) => path === makefileName)) current = await makefileAt(commit);
			return isOther;
		}
	};
}
function shareOf(paths, matters) {
	const found = paths.filter(matters).length;
	if (found === 0) return "none";
	return found < paths.length ? "some" : "all";
}
const makefileName = "Makefile.inc1";

// src/gate/bisect/same-kernel.ts
/**
* Compares ids of the installed part. Where fix-ups begin or end it compares contents, as FIX^ with FIX on top is FIX.
*/
async function withKeys(built, installed, repository) {
	const commits = built.flatMap(({ forms }) => forms.map(({ commit }) => commit));
	const ids = installed.goesById ? await idsOf(commits, installed, repository) : commits;
	const own = new Map(commits.map((commit, index) => [commit, ids[index] ?? ""]));
	const earlier = /* @__PURE__ */ new Map();
	const keyOf = ({ commit }) => {
		const id = own.get(commit) ?? commit;
		return earlier.get(id) ?? id;
	};
	const isSame = async (before, form) => {
		if (!(before.fixUps.length + form.fixUps.length > 0) || keyOf(before) === keyOf(form)) return false;
		return await installed.difference(before.commit, form.commit) === "none";
	};
	for (const [index, kernel] of built.entries()) {
		const before = built[index - 1];
		if (before === void 0 || !installed.goesById) continue;
		if (onTopOf(before) === onTopOf(kernel)) continue;
		for (const form of kernel.forms) for (const other of before.forms) if (await isSame(other, form)) earlier.set(own.get(form.commit) ?? "", keyOf(other));
	}
	return built.map((kernel) => ({
		...kernel,
		forms: kernel.forms.map((form) => ({
			...form,
			key: keyOf(form)
		}))
	}));
}
/** Returns an id for each commit that covers everything installed. */
async function idsOf(commits, { paths }, repository) {
	const each = await Promise.all(paths.map((path) => repository.idsAt(commits, path)));
	return commits.map((_, index) => each.map((ids) => ids[index] ?? "").join(" "));
}
const onTopOf = ({ forms }) => forms.map(({ fixUps }) => fixUps.join(" ")).join();
/** Merges neighbours whose first form has the same kernel. Throws a `UsageError` if both ends do. */
function mergeAlike(kernels) {
	const distinct = [];
	for (const kernel of kernels) {
		const before = distinct.at(-1);
		if (before === void 0 || keyOf(before) !== keyOf(kernel)) distinct.push({ ...kernel });
		else before.last = kernel.last;
	}
	const [first, last] = [distinct.at(0), distinct.at(-1)];
	if (first === void 0 || last === void 0 || keyOf(first) === keyOf(last)) throw new UsageError("--good and --bad have the same content, so there is no difference to find: the changes between them were reverted, or are part of a fix-up.");
	return distinct;
}
const keyOf = ({ forms }) => forms[0]?.key;
/** The ends are `base` and `patched`; others are named by commit. A repeated kernel keeps its name. */
function withNames(kernels) {
	const [base, patched] = [kernels.at(0), kernels.at(-1)].map((end) => end?.forms[0]?.key ?? "");
	const names = /* @__PURE__ */ new Map([[base, "base"], [patched, "patched"]]);
	const taken = /* @__PURE__ */ new Set();
	return kernels.map((kernel) => {
		const forms = /* @__PURE__ */ new Map();
		for (const { key, commit, fixUps } of kernel.forms) {
			const nameBy = (idOf) => [idOf(kernel.commit), ...fixUps.length > 0 ? ["with", ...fixUps.map(idOf)] : []].join("-");
			const name = nameBy(shortId);
			const variant = names.get(key) ?? (taken.has(name) ? nameBy(String) : name);
			taken.add(name);
			names.set(key, variant);
			if (!forms.has(variant)) forms.set(variant, {
				variant,
				commit,
				fixUps
			});
		}
		return {
			...kernel,
			forms: [...forms.values()]
		};
	});
}

// src/gate/bisect/skips.ts
/** Reads `COMMIT`, or `A..B` as in git: in B but not in A. Throws a `UsageError` if empty. */
async function readSkip(text, line, repository) {
	const { first, last } = await boundsOf(text, line, repository);
	if (first > last) throw new UsageError(`--skip ${excerpt(text)} names no commit on the first-parent line from --good to --bad: name one of those, or A..B.`);
	return {
		text,
		isNamed: (place) => first <= place && place <= last
	};
}
async function boundsOf(text, { bad, commits, places }, repository) {
	const [, after, upTo] = /^(.+?)(?<!\.)\.\.(?!\.)(.+)$/.exec(text) ?? [];
	if (after === void 0 || upTo === void 0) {
		const place = places.get(await commitNamed("--skip", text, repository)) ?? Infinity;
		return {
			first: place,
			last: place === Infinity ? -1 : place
		};
	}
	/** Place of the last commit in its history; below 0 if before the good one. */
	const lastIn = async (name) => {
		const commit = await commitNamed("--skip", name, repository);
		return commits.length - 1 - await repository.stepsSince(commit, bad);
	};
	return {
		first: Math.max(0, await lastIn(after) + 1),
		last: await lastIn(upTo)
	};
}
/** Places of the skipped revisions. Throws a `UsageError` for an end, as both must be measured. */
function skippedOf(revisions, skips) {
	const places = skips.flatMap(({ text, isNamed }) => {
		const named = revisions.filter(({ place }) => isNamed(place));
		const chosen = named.length > 0 ? named : revisions.filter(isAnyNamed(isNamed));
		for (const [end, option] of [[revisions.at(0), "--good"], [revisions.at(-1), "--bad"]]) {
			if (end === void 0 || !chosen.includes(end)) continue;
			throw new UsageError(`--skip ${excerpt(text)} names ${option}, or a commit with the same content, but both ends must be measured: skip other commits.`);
		}
		return chosen.map(({ place }) => place);
	});
	return new Set(places);
}
const isAnyNamed = (isNamed) => ({ place, last }) => Array.from({ length: last - place + 1 }, (_, index) => place + index).some(isNamed);

// src/gate/bisect/range.ts
const formSchema = object({
	/** Names the variant; equal kernels have equal names. */
	variant,
	/** The revision's own commit, or one made from it with the fix-ups, only in this repository. */
	commit: commitId,
	fixUps: list(commitId, 100)
});
const revisionSchema = object({
	place: count,
	commit: commitId,
	/** Id of the diff from which it was made. */
	diff: id.exactOptional(),
	subject: line,
	author: line,
	alike: count,
	isSkipped: boolean(),
	forms: list(formSchema, 1e3).min(1)
});
const rangeSchema = object({
	/** Number of commits after the good one, through the bad one. */
	commits: ordinal,
	/** Absent: the last revision. */
	badCommit: namedCommitSchema.exactOptional(),
	/** Good first, bad last. A commit with an unchanged kernel is merged with the one before. */
	revisions: list(revisionSchema, maxCommits + 1).min(2),
	/** Notes on fix-ups that do not apply everywhere. */
	notes: list(prose(), 1e3)
});
/**
* Reads the range to bisect. Throws a `UsageError` or a `RepositoryError` that names the option if the range is empty.
*
* @param onProgress receives short progress texts.
*/
async function readRange(request, repository, onProgress) {
	const { good, bad, steps } = await endsOf(request, repository);
	const installed = await installedOf({
		...request,
		good
	}, repository);
	onProgress(steps === 1 ? "Reading one commit" : `reading ${steps} commits`);
	const { line, kernels } = await readLine({
		good,
		bad
	}, installed, repository);
	if (kernels.length < 2) throw new UsageError(`0 commits of ${steps} after --good ${excerpt(request.good)} up to --bad ${excerpt(request.bad)} change ${installed.what}: name a range in which some do.`);
	const skips = [];
	for (const text of request.skips) skips.push(await readSkip(text, line, repository));
	const fixUps = await readFixUps(request.fixUps, line, installed, repository);
	const { forms, notes } = await makeForms(kernels, fixUps, installed, onProgress);
	const built = kernels.map((kernel, index) => ({
		...kernel,
		forms: forms[index] ?? []
	}));
	const distinct = mergeAlike(await withKeys(built, installed, repository));
	const skipped = skippedOf(distinct, skips);
	const diffOf = (commit) => {
		const diff = request.diffs?.get(commit);
		return diff === void 0 ? {} : { diff };
	};
	const revisions = withNames(distinct).map(({ last, tree, ...revision }) => {
		return {
			...revision,
			...diffOf(revision.commit),
			alike: last - revision.place,
			isSkipped: skipped.has(revision.place)
		};
	});
	return {
		commits: steps,
		badCommit: {
			commit: bad,
			...diffOf(bad),
			...await repository.describe(bad)
		},
		revisions,
		notes
	};
}
/** Returns the variant of a form on the testbed. Recreates missing commits. */
async function variantOf({ commit: baseCommit }, { variant, commit, fixUps }, { system, overlay }, repository) {
	await makeAgain({
		baseCommit,
		commit,
		fixUps
	}, repository);
	if (system === "linux") return readOverlay(repository, {
		variant,
		commit
	}, await sourceOf(overlay, repository));
	const kernel = {
		kind: "tree",
		baseCommit
	};
	if (commit === baseCommit) return {
		variant,
		commit,
		files: [],
		kernel
	};
	const diff = (await repository.diff(baseCommit, commit)).toString("base64");
	return {
		variant,
		commit,
		files: [],
		kernel: {
			...kernel,
			diff
		}
	};
}
async function makeAgain({ baseCommit, commit, fixUps }, repository) {
	if (fixUps.length === 0) return;
	let made = {
		commit: baseCommit,
		tree: await repository.idAt(baseCommit, "") ?? ""
	};
	for (const fixUp of fixUps) {
		const picked = await (await repository.picker(fixUp))(made);
		if (picked.kind === "picked") made = picked.tip;
	}
	if (made.commit === commit) return;
	throw new RepositoryError(`${shortId(baseCommit)} with ${fixUps.map(shortId).join(" and ")} on top has a different content than at the start of the bisection: this git merges differently, so start a new bisection.`);
}
/** Merges commits of an unchanged kernel with the one before. */
async function readLine({ good, bad }, installed, repository) {
	let current = {
		place: 0,
		last: 0,
		commit: good,
		tree: await repository.idAt(good, "") ?? "",
		...await repository.describe(good)
	};
	const kernels = [current];
	const commits = [good];
	for await (const next of repository.firstParents(good, bad)) {
		const place = commits.push(next.commit) - 1;
		current.last = place;
		if (!await installed.changesWith(next)) continue;
		current.last = place - 1;
		const { changes, ...about } = next;
		current = {
			place,
			last: place,
			...about
		};
		kernels.push(current);
	}
	return {
		line: {
			good,
			bad,
			commits,
			places: new Map(commits.map((commit, place) => [commit, place]))
		},
		kernels
	};
}

// src/gate/bisect/bisect-plan.ts
const bisectPlanSchema = object({
	schemaVersion: literal(1),
	/** Ends, fix-ups and skips, as typed. */
	good: name,
	bad: name,
	fixUps: list(name, 100),
	skips: list(name),
	range: rangeSchema,
	testbed: name,
	kind: testbedKindSchema.exactOptional(),
	system: _enum(["linux", "freebsd"]),
	/** Files installed over the DUT's, on Linux. */
	overlay: union([object({
		path: path$1,
		beside: path$1
	}), object({
		files: byName(path$1),
		beside: path$1
	})]),
	cell: cellSchema,
	metric: metricSchema,
	traffic: plannedTraffic,
	rules: byName(ownRulesSchema),
	profile: plannedProfile.optional(),
	history: historySchema.optional(),
	durations: expectedDurationsSchema,
	/** Expected change as a ratio: that of a gate, or the loss that matters. */
	effect: change,
	seed: int(),
	mostBoots: ordinal,
	isVerified: boolean()
});
const file = "bisect.json";
/** Writes the plan atomically. Throws a `PlanError` for a directory in use. */
const writeBisectPlan = (directory, plan) => beginPlanFile(directory, file, plan);
const replaceBisectPlan = (directory, plan) => replacePlanFile(directory, file, plan);
const readBisectPlan = (directory) => readPlanFile(directory, file, bisectPlanSchema);
const hasBisectPlan = (directory) => hasPlanFile(directory, file);
/** Excludes commits from the range. Throws a `UsageError` for an end, or a commit outside the range. */
function withSkipped(plan, commits) {
	const { revisions } = plan.range;
	const between = revisions.slice(1, -1).map(({ commit }) => commit);
	const stranger = commits.find((commit) => !between.includes(commit));
	if (stranger !== void 0) throw new UsageError(`--skip: ${shortId(stranger)} is not a separately measured commit between the ends of this bisection: name one from its progress lines.`);
	const skipped = revisions.map((revision) => commits.includes(revision.commit) ? {
		...revision,
		isSkipped: true
	} : revision);
	return {
		...plan,
		range: {
			...plan.range,
			revisions: skipped
		}
	};
}
/** Allows more boots. Throws a `UsageError` if the plan already allows as many. */
function withMostBoots(plan, mostBoots) {
	if (mostBoots > plan.mostBoots) return {
		...plan,
		mostBoots
	};
	throw new UsageError(`--max-boots: expected more than the ${plan.mostBoots} boots that the bisection already allows, found ${mostBoots}.`);
}

// src/gate/bisect/estimate.ts
/** Counts one boot per halving of the range, and more for noise that hides the change. */
function estimateBisection(plan) {
	const { range, effect, history, durations } = plan;
	const { bootSeconds, trialSeconds, buildSeconds } = durations;
	const steps = range.revisions.length - 1;
	if (isShared(plan)) {
		const boots = Math.max(2, Math.ceil(Math.log(steps) / Math.log(4 + 1))) + 1;
		return {
			boots,
			minutes: Math.ceil(boots * trialSeconds / 60)
		};
	}
	const noiseRatio = noiseRatioOf(history);
	const halvings = Math.ceil(Math.log2(steps));
	const distance = noiseRatio === void 0 ? Number.POSITIVE_INFINITY : Math.abs(Math.log1p(effect)) / noiseRatio;
	const boots = 4 + Math.round(bootsToLocate(halvings, distance)) + 2;
	const seconds = boots * (bootSeconds + trialSeconds) + (2 + halvings) * buildSeconds;
	return {
		boots,
		minutes: Math.round(seconds / 60),
		...noiseRatio !== void 0 && { noiseRatio }
	};
}
/** Formats the range's size, the estimate, and the plan's notes. */
function bisectionEstimateLines(plan) {
	const { range, testbed, mostBoots, effect, system } = plan;
	const { commits, revisions, notes } = range;
	const skipped = revisions.filter(({ isSkipped }) => isSkipped).length;
	const skippedText = skipped > 0 ? `, ${skipped} of them skipped` : "";
	const things = system === "linux" ? "files" : "kernels";
	const distinct = `${counted(commits, "commit")} after good, ${revisions.length - 1} with different ${things}${skippedText}`;
	const { boots, minutes, noiseRatio } = estimateBisection(plan);
	const unit = isShared(plan) ? "trials" : "boots";
	const estimate = `${distinct}: about ${boots} ${unit} on ${testbed}, ${formatRoughly(minutes * 60)}, and at most ${mostBoots} ${unit}`;
	if (noiseRatio === void 0) return [estimate, ...notes];
	return [
		`${estimate} for a change of ${formatSize(effect)}, as boots vary by ${formatPercent(noiseRatio)}`,
		...boots > mostBoots ? ["the noise is too large to name a commit: allow more boots, or choose a quieter cell"] : [],
		...notes
	];
}
/** Tracks how many minutes boots and builds need. */
var BootPace = class {
	#plan;
	#testbed;
	#runs = [];
	#waits = [];
	constructor(plan, testbed) {
		this.#plan = plan;
		this.#testbed = testbed;
	}
	/** Never 0, as information is divided by it. */
	get runMinutes() {
		const { bootSeconds, trialSeconds } = this.#plan.durations;
		return Math.max(this.#runs.length === 0 ? (bootSeconds + trialSeconds) / 60 : median(this.#runs), .01);
	}
	get buildMinutes() {
		return this.#waits.length === 0 ? this.#plan.durations.buildSeconds / 60 : median(this.#waits);
	}
	isReady = (variant) => this.#testbed.ready().has(variant);
	/** `wasReady`: the boot did not wait for a build. */
	add(minutes, wasReady) {
		if (wasReady) this.#runs.push(minutes);
		else this.#waits.push(Math.max(0, minutes - this.runMinutes));
	}
};

// src/gate/bisect/revert.ts
/** `bad` is a form of the bad end. `impossible` explains why the culprit cannot be reverted. */
async function revertedVariant({ culprit, bad }, plan, repository) {
	const end = plan.range.revisions.at(-1);
	if (end === void 0) throw new RangeError("A range has two ends.");
	await variantOf(end, bad, plan, repository);
	const tree = await repository.idAt(bad.commit, "") ?? "";
	const picked = await (await repository.picker(culprit, true))({
		commit: bad.commit,
		tree
	});
	const name = shortId(culprit);
	if (picked.kind === "conflict") return { impossible: `The changes of ${name} were changed again later, in ${plainLine(picked.paths.slice(0, 3).join(", "), 200)}.` };
	if (picked.kind === "nothing-to-do") return { impossible: `The changes of ${name} are no longer in the bad commit.` };
	const form = {
		variant: revertedName,
		commit: picked.tip.commit,
		fixUps: []
	};
	return variantOf(end, form, plan, repository);
}

// src/gate/bisect/run-bisection.ts
/** Returns the whole journal. Throws if the lab prevents a conclusion; the bisection can then be resumed. */
async function runBisection(options) {
	const journal = await openJournal(journalIn(options.directory));
	try {
		const run = new BisectionRun(options, journal);
		await run.inspect();
		await run.search();
		const answer = answerOf(options.plan, journal.entries);
		if (options.plan.isVerified) await run.verify(answer);
		await run.profile(answer);
		await run.finish();
		return journal.entries;
	} finally {
		await journal.close();
	}
}
var BisectionRun = class {
	#options;
	#journal;
	#pace;
	#made = /* @__PURE__ */ new Map();
	constructor(options, journal) {
		this.#options = options;
		this.#journal = journal;
		this.#pace = new BootPace(options.plan, options.testbed);
	}
	async inspect() {
		const { plan, testbed } = this.#options;
		const inspection = await testbed.inspect([plan.cell]);
		await this.#journal.append({
			kind: "started",
			at: this.#at(),
			...inspection
		});
		for (const text of inspection.warnings) this.#warn(text);
	}
	async search() {
		const { plan, testbed, signal } = this.#options;
		for (;;) {
			signal.throwIfAborted();
			const { entries } = this.#journal;
			const next = nextOf(plan, entries, this.#pace);
			if (next.kind === "ended") return;
			const { variants, why } = this.#measurable(next);
			const isReady = (variant) => testbed.ready().has(variant);
			await this.#boot(variants, wantedVariants(plan, entries, variants, isReady), why);
		}
	}
	async verify(answer) {
		if (answer.kind !== "culprit") return;
		const { plan, signal, variants } = this.#options;
		const { commit } = plan.range.revisions[answer.revision] ?? { commit: "" };
		for (;;) {
			signal.throwIfAborted();
			const { findings, positions } = evidenceOf(plan, this.#journal.entries);
			const { levels = [], failure, lost } = findings.get("reverted") ?? {};
			if (levels.length >= bootsOfReverted || failure?.isSure) return;
			const most = maxTriesOf(plan);
			if (lost !== void 0 && lost.times >= most) throw new StuckError(revertedName, most, lost.why);
			const bad = positions.at(-1)?.form;
			if (bad === void 0) return;
			const made = this.#made.get("reverted") ?? await variants.without(commit, bad);
			if ("impossible" in made) {
				const rejection = {
					kind: "does-not-apply",
					message: made.impossible
				};
				await this.#reject({
					kind: "rejected",
					variant: revertedName,
					rejection
				});
				return;
			}
			this.#made.set(revertedName, made);
			const ends = [positions[0]?.form.variant ?? "", bad.variant];
			const names = isShared(plan) ? [...ends, revertedName] : [revertedName];
			await this.#boot(names, names, `${shortId(commit)} reverted in the bad commit`);
		}
	}
	async profile(answer) {
		const { directory, plan, testbed, onEvent, signal } = this.#options;
		const variants = variantsToProfile(answer, evidenceOf(plan, this.#journal.entries));
		if (plan.profile === void 0 || variants === void 0) return;
		const names = [variants.base, variants.patched];
		const nextIn = (entries) => names.flatMap((name) => missingProfiles(plan, entries, [plan.cell], name)).at(0);
		if (nextIn(this.#journal.entries) === void 0) return;
		if (!await this.#prepare(names, names)) return;
		await takeProfilesOf({
			profile: plan.profile,
			testbed,
			journal: this.#journal,
			at: () => this.#at(),
			signal,
			warn: (text) => this.#warn(text),
			keepLogIn: (folder) => keepLogIn(directory, folder),
			onNext: (next) => onEvent({
				kind: "profile",
				...next
			})
		}, nextIn);
	}
	async finish() {
		await this.#journal.append({
			kind: "finished",
			at: this.#at()
		});
	}
	#measurable(next) {
		if (next.kind === "good-failed") throw new GoodEndError(next.fault);
		if (next.kind === "measure") return next;
		throw new StuckError(next.variant, maxTriesOf(this.#options.plan), next.why);
	}
	/** Measures variants in one trial, or one variant in its own boot; meanwhile prepares the other wanted ones. */
	async #boot(names, wanted, why) {
		if (!await this.#prepare(names, wanted)) return;
		const { directory, plan, testbed, now, onEvent, signal } = this.#options;
		const unit = isShared(plan) ? "trial" : "boot";
		const number = nextTrialNumber(this.#journal.entries);
		const label = names.join(", ");
		onEvent({
			kind: "preparing",
			text: `${unit} ${number} of at most ${plan.mostBoots} · ${label} · ${why}`
		});
		const logs = join("trials", logFolder(number, names));
		const wasReady = names.every((name) => testbed.ready().has(name));
		const begun = now();
		const trial = plannedTrial(plan, number, names);
		const outcome = await testbed.trial(trial, keepLogIn(directory, logs), signal);
		this.#pace.add((now().getTime() - begun.getTime()) / 6e4, wasReady);
		for (const warning of outcome.warnings ?? []) {
			await this.#journal.append({
				kind: "warned",
				at: this.#at(),
				text: warning
			});
			this.#warn(warning);
		}
		if (outcome.kind === "rejected") return this.#reject(outcome);
		const entry = entryOf(outcome, {
			at: this.#at(),
			number,
			names,
			logs
		});
		await this.#journal.append(entry);
		onEvent({
			kind: "note",
			text: `${unit} ${number} · ${measuredText(plan, entry, label)}`
		});
	}
	/** Lists the wanted variants, next ones first. False if one of the next was rejected. */
	async #prepare(names, wanted) {
		if (this.#journal.entries.some((entry) => entry.kind === "rejected" && names.includes(entry.variant))) await this.#list(wanted.filter((name) => !names.includes(name)));
		let remaining = [...wanted];
		for (;;) {
			const prepared = await this.#list(remaining);
			if (prepared.kind === "ready") return true;
			await this.#reject(prepared);
			if (names.includes(prepared.variant)) return false;
			remaining = remaining.filter((name) => name !== prepared.variant);
			this.#options.signal.throwIfAborted();
		}
	}
	async #list(names) {
		const { directory, plan, testbed, onEvent, signal } = this.#options;
		const variants = [];
		for (const name of names) variants.push(this.#made.get(name) ?? await this.#variantNamed(name));
		return testbed.prepare({
			variants,
			rules: plan.rules,
			cells: [plan.cell],
			mayDiffer: true,
			keepLog: keepLogIn(directory, "builds"),
			notify: (text) => onEvent({
				kind: "preparing",
				text
			}),
			signal
		});
	}
	async #variantNamed(name) {
		const { plan, variants } = this.#options;
		for (const revision of plan.range.revisions) {
			const form = revision.forms.find(({ variant }) => variant === name);
			if (form === void 0) continue;
			const variant = await variants.of(revision, form);
			this.#made.set(name, variant);
			return variant;
		}
		throw new RangeError(`The range has no variant ${name}.`);
	}
	async #reject({ variant, rejection }) {
		const { plan, onEvent } = this.#options;
		if (rejection.kind === "out-of-disk") throw new Error(`There is no disk space for ${variant}, so the bisection stops here: ${reasonOf(rejection.message)}`);
		const [good] = evidenceOf(plan, this.#journal.entries).positions;
		const isSure = rejection.kind !== "build-failed" || good?.finding.failure !== void 0;
		if (good?.form.variant === variant && !good.hasOther && isSure) throw new GoodEndError(rejection);
		await this.#journal.append({
			kind: "rejected",
			at: this.#at(),
			variant,
			rejection
		});
		onEvent({
			kind: "note",
			text: `${variant} ${plainLine(rejectionMessage(rejection), 300)}`
		});
	}
	#at() {
		return this.#options.now().toISOString();
	}
	#warn(text) {
		this.#options.onEvent({
			kind: "warning",
			text
		});
	}
};
const bootsOfReverted = 2;
function entryOf(outcome, { at, number, names, logs }) {
	if (outcome.kind === "measured") return {
		kind: "measured",
		at,
		summary: {
			...outcome.summary,
			attempt: 1,
			logs
		},
		runs: outcome.runs.map((run) => ({
			...run,
			attempt: 1
		}))
	};
	const { warnings: _, ...failed } = outcome;
	return {
		...failed,
		at,
		trial: number,
		variants: [...names]
	};
}
/** Numbers trials in the order of sending; rejected ones have no number. */
const nextTrialNumber = (entries) => 1 + Math.max(0, ...entries.flatMap((entry) => {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.trial : [];
}));
/** `007-4f5e6d7c8b9a`, or `007` if several variants share the trial. */
function logFolder(number, [first = "", ...others]) {
	const digits = String(number).padStart(3, "0");
	return others.length > 0 ? digits : `${digits}-${pathName(first)}`;
}
/** `f8f5b459d21e: 11.83 Mpps`. */
function measuredText(plan, entry, label) {
	if (entry.kind === "failed") return `${label}: ${plainLine(entry.reason, 300)}`;
	const runs = entry.kind === "measured" ? entry.runs : [];
	return [...readingsOf(plan, runs)].map(([name, reading]) => reading.kind === "lost" ? `${name}: ${plainLine(reading.why, 300)}` : `${name}: ${formatMetric(median(reading.values), plan.metric)}`).join(", ");
}
var GoodEndError = class extends Error {
	name = "GoodEndError";
	constructor(fault) {
		const what = fault.kind === "forwards-nothing" ? `forwards nothing: ${fault.message}` : rejectionMessage(fault);
		super(`The good commit itself ${what} Name a good commit that works here.`);
	}
};
var StuckError = class extends Error {
	name = "StuckError";
	constructor(variant, times, why) {
		super(`${times} attempts in a row to measure ${variant} failed, most recently because of this: ${reasonOf(why)}. No commit is blamed for that: fix the testbed, or continue without that commit with --resume and --skip ${variant}.`);
	}
};

// src/gate/bisect/bisect.ts
/** Bisects a range. Writes the plan, the journal, raw logs, `result.json` and the report to the work directory. */
async function bisect(request, directory, deps) {
	await refuseUsed(directory);
	const plans = await plansFor(request, deps);
	return onTestbed(request.testbeds, patchOf([...plans.values()]), deps, nameOf, async (reserved) => {
		const plan = plans.get(reserved.name);
		if (plan === void 0) throw new RangeError(`${reserved.name} was not requested.`);
		await writeBisectPlan(directory, plan);
		for (const text of bisectionEstimateLines(plan)) deps.onEvent({
			kind: "note",
			text
		});
		return carryOut(plan, directory, reserved, deps);
	});
}
/**
* `mostBoots` also resumes an inconclusive bisection; `skips` excludes commits. A finished bisection needs no testbed.
*/
async function resumeBisection(directory, deps, { mostBoots, skips = [] } = {}) {
	const written = await readBisectPlan(directory);
	const extended = mostBoots === void 0 ? written : withMostBoots(written, mostBoots);
	const commits = await Promise.all(skips.map((name) => deps.repository.resolve(name)));
	const plan = commits.length === 0 ? extended : withSkipped(extended, commits);
	const journal = await readJournal(journalIn(directory));
	if (journal.at(-1)?.kind === "finished" && hasEnded(plan, journal)) {
		const result = (await readAnyResult(directory).catch(() => void 0))?.result;
		return result !== void 0 && "kind" in result && result.finishedAt === journal.at(-1)?.at ? result : conclude(plan, journal, directory, deps);
	}
	return onTestbed([plan.testbed], patchOf([plan]), deps, nameOf, async (reserved) => {
		if (plan !== written) await replaceBisectPlan(directory, plan);
		return carryOut(plan, directory, reserved, deps);
	});
}
const nameOf = ({ answer }) => answer.kind;
async function planBisection(request, deps) {
	const [testbed = ""] = request.testbeds;
	const plan = (await plansFor({
		...request,
		testbeds: [testbed]
	}, deps)).get(testbed);
	if (plan === void 0) throw new RangeError("No testbed was requested.");
	return plan;
}
/** Each testbed has its own plan, as the build decides which kernels are equal. */
async function plansFor(request, { repository, history, now, onEvent }) {
	const { config } = request;
	const [cell, another] = cellsOf(config);
	if (cell === void 0 || another !== void 0) throw new UsageError("A bisection measures one scenario, one family and one frame size.");
	const entries = earlierEntries(await history.read(), now());
	const rules = await readRules(config);
	const { good, bad, diffs, fixUps, skips, seed, mostBoots, isVerified, from } = request;
	const { traffic, profile, overlay } = config;
	const { metric, marginRatio: margin } = config.gate;
	const notify = (text) => onEvent({
		kind: "preparing",
		text
	});
	const ranges = /* @__PURE__ */ new Map();
	const rangeOn = async (testbed, system) => {
		const builder = builderOf(config, testbed);
		const key = JSON.stringify([system, builder]);
		const options = {
			good,
			bad,
			diffs,
			skips,
			fixUps,
			system,
			overlay,
			builder
		};
		const range = ranges.get(key) ?? await readRange(options, repository, notify);
		ranges.set(key, range);
		return range;
	};
	const plans = /* @__PURE__ */ new Map();
	for (const testbed of request.testbeds) {
		refuseBuiltGuests(config, testbed);
		const system = systemOf(config, testbed);
		const range = await rangeOn(testbed, system);
		const kind = testbedKindOf(config, testbed);
		const own = entriesOf(entries, {
			testbed,
			kind
		});
		const known = historyOf(own, {
			testbed,
			cell,
			traffic,
			metric
		});
		plans.set(testbed, {
			schemaVersion: 1,
			good,
			bad,
			fixUps: [...fixUps],
			skips: [...skips],
			range,
			testbed,
			...kind !== void 0 && { kind },
			system,
			overlay,
			cell,
			metric,
			traffic,
			rules: rulesOn(testbed, config, rules),
			seed,
			mostBoots,
			isVerified,
			...profile !== void 0 && { profile },
			...known !== void 0 && { history: known },
			durations: expectedDurationsOn(own, testbed, config),
			effect: from?.effect ?? (isCost(metric) ? margin : -margin)
		});
	}
	return plans;
}
function patchOf([plan]) {
	const { commit: baseCommit = "" } = plan?.range.revisions.at(0) ?? {};
	const { commit: headCommit = "", author = "" } = plan?.range.revisions.at(-1) ?? {};
	return {
		kind: "range",
		title: `Bisection from ${plan?.good} to ${plan?.bad}`,
		author,
		baseCommit,
		headCommit
	};
}
async function carryOut(plan, directory, reserved, deps) {
	const { now, onEvent, repository } = deps;
	const signal = AbortSignal.any([deps.signal, reserved.signal]);
	const testbed = await reserved.open(plan.traffic);
	try {
		return await conclude(plan, await runBisection({
			plan,
			testbed,
			variants: {
				of: (revision, form) => variantOf(revision, form, plan, repository),
				without: (culprit, bad) => revertedVariant({
					culprit,
					bad
				}, plan, repository)
			},
			directory,
			now,
			onEvent,
			signal
		}), directory, deps);
	} finally {
		await testbed.restore();
	}
}
/** Writes the history first, so that an existing result implies it. */
async function conclude(plan, journal, directory, { history, onEvent }) {
	const warn = (text) => onEvent({
		kind: "warning",
		text
	});
	const { result, profiles } = await explained(assembleBisection(plan, journal), directory, warn);
	await history.append(historyEntriesOf(plan, result));
	await writeResult(directory, result, profiles, warn);
	return result;
}
/** Runs of the good end count as runs of base. */
function historyEntriesOf(plan, result) {
	const { startedAt: at, testbed, cell, runs } = result;
	const { measureSeconds: _, ...traffic } = result.traffic;
	const numbers = byMetric((metric) => baseNumbers(runs, metric));
	if (numbers.pps.length === 0) return [];
	const [good] = plan.range.revisions;
	const commit = good?.forms.find(({ variant }) => variant === "base")?.commit ?? "";
	const moved = baselineOf(baseNumbers(runs, plan.metric), plan.history).kind === "moved";
	const { name, kind } = testbed;
	return [{
		at,
		testbed: name,
		...kind !== void 0 && { kind },
		cell,
		traffic,
		commit,
		...numbers,
		moved
	}];
}
/** Virtual testbeds read the range as files, so a range of kernels would show no change. */
function refuseBuiltGuests({ testbeds }, name) {
	const testbed = testbeds[name];
	if (testbed?.kind !== "virtual") return;
	if (testbed.system === "linux" && testbed.builder === void 0) return;
	const fix = testbed.system === "linux" ? "remove its `builder`, or " : "";
	throw new UsageError(`${name} boots kernels of commits, but on virtual testbeds a bisection covers only the files of an overlay: ${fix}gate single commits.`);
}

// src/gate/bisect/from-gate.ts
/** Picks the cell with the greatest loss among those of the worst verdict. Throws a `UsageError` if there is none. */
function gateFindingOf({ outcome, variants, testbed }) {
	const commitOf = (name) => variants.find((variant) => variant.name === name)?.commit;
	const [good, bad] = [commitOf("base"), commitOf("patched")];
	const [worst] = (outcome.kind === "judged" ? outcome.cells : []).toSorted((a, b) => rankOf(a) - rankOf(b) || lossOf(b) - lossOf(a));
	if (worst === void 0 || good === void 0 || bad === void 0) throw new UsageError("--from: that gate judged no cell, so there is no change to find: name another result.");
	const { cell, comparisons } = worst;
	const effect = comparisons[0]?.interval.change;
	const known = effect === void 0 || effect === 0 ? {} : { effect };
	return {
		good,
		bad,
		testbed: testbed.name,
		cell,
		...known
	};
}
const rankOf = ({ verdict }) => verdictsWorstFirst.indexOf(verdict.kind);
const lossOf = ({ comparisons: [known] }) => {
	const change = known?.interval.change ?? 0;
	return known !== void 0 && isCost(known.metric) ? change : -change;
};

export { bisect, bisectionEstimateLines, estimateBisection, gateFindingOf, hasBisectPlan, planBisection, resumeBisection };