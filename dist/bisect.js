import { builderOf, mayChangeKernel, readOverlay, submodule } from "./build.js";
import { systemOf } from "./config.js";
import { _enum, array, boolean, int, literal, number$1 as number, object, record, string } from "./vendor/zod.js";
import { baseNumbers, beginPlanFile, cellsOf, earlierEntries, hasPlanFile, historyOf, journalIn, keepLogIn, lackingOf, openJournal, plannedProfile, plannedTraffic, profileOf, readJournal, readPlanFile, readRules, refuseUsed, rejectionText, replacePlanFile, takeProfilesOf } from "./experiment.js";
import { onTestbed } from "./gate.js";
import { explained, readAnyResult, writeBisect } from "./report.js";
import { baselineOf, boundsOf as boundsOf$1, cellSource, earlierNoise, median, pooledEvidence, relevantTo, sumOf } from "./stats.js";
import { UsageError, bisectConfidenceRatio, byMetric, cellName, cellSchema, commitId, excerpt, formatMetric, formatPercent, formatPps, formatSize, historySchema, isCost, metricSchema, ownRulesSchema, pathName, plainLine, reasonOf, roughly, runSchema, shortId, verdictsWorstFirst } from "./words.js";
import { mean, quantile, sum, sumNthPowerDeviations } from "./vendor/simple-statistics.js";
import { version } from "./package.js";
import { uniformInt, xoroshiro128plus } from "./vendor/pure-rand.js";
import { NoCommitError, RepositoryError } from "./patch.js";
import { join } from "node:path";

// src/bisect/blasts.ts
/** Whether variants change within a blast, as files that are laid, or between boots. */
const isShared = ({ traffic }) => traffic.runsPerBlast > 1;
/** How often in a row nothing may be told of a variant: a shared blast takes seconds, and a busy machine may stay so for minutes. */
const mostTriesOf = (plan) => isShared(plan) ? 10 : 3;
/**
* A boot of the one variant, or a blast in which all come in turn and back again (ABCD DCBA), so that a steady drift
* cancels. The order begins with another one in each blast.
*/
function plannedBlast({ cell, traffic }, number, variants) {
	const turns = Math.max(1, Math.floor(traffic.runsPerBlast / (2 * variants.length)));
	const first = number % variants.length;
	const order = [...variants.slice(first), ...variants.slice(0, first)];
	const rounds = traffic.runsPerBlast > 1 ? Array.from({ length: turns }, () => [order, order.toReversed()]).flat() : [order];
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
/** What the runs of one blast tell, by variant. */
function readingsOf(plan, runs) {
	const byVariant = Map.groupBy(runs, ({ variant }) => variant);
	const alone = new Map([...byVariant].map(([name, own]) => [name, readingOf(own, plan.metric)]));
	return isShared(plan) ? againstEnds(plan, alone) : alone;
}
/** At least half of a variant's runs have to count. */
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
		why: `the DUT tells no ${metric}`
	};
	return {
		kind: "measured",
		pps,
		values,
		level: median(values.map(Math.log))
	};
}
/** What slows a whole blast cancels: levels are those above the middle of both ends in the same blast. */
function againstEnds({ range }, alone) {
	const ends = [range.revisions.at(0), range.revisions.at(-1)].flatMap((end) => (end?.forms ?? []).map(({ variant }) => variant)).flatMap((name) => alone.get(name) ?? []);
	const levels = ends.flatMap((end) => end.kind === "measured" ? end.level ?? [] : []);
	const unknown = ends.find(({ kind }) => kind === "lost") ?? (levels.length === 0 ? {
		kind: "lost",
		why: "neither end forwarded anything"
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

// src/bisect/evidence.ts
/** The bad end less the culprit: no part of the range. */
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
	for (const runs of Map.groupBy(plan.reproduction, blastOf).values()) for (const [name, reading] of readingsOf(plan, runs)) add(name, {
		...reading,
		isRecent: false
	});
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
const blastOf = ({ blast, attempt }) => `${blast}.${attempt}`;
/**
* A variant forwards nothing where less comes through than a tenth of what the slower end forwards: another bug than the
* one looked for. Where the bad end itself forwards nothing in whatever form, that is the level looked for, and so that
* it has a logarithm counts as a thousandth of what the good end forwards.
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
	const leastPps = Math.min(...medians) / 10;
	const names = new Set(ends.map(({ variant }) => variant));
	return new Map([...tries].map(([name, own]) => {
		const isSilent = (pps) => pps === 0 || !names.has(name) && pps < leastPps;
		return [name, findingOf(own, isSilent)];
	}));
}
const ratesOf = (tries) => tries.flatMap((one) => one.kind === "measured" && one.pps > 0 ? one.pps : []);
/** @param silence level of one that forwards nothing; absent: that is a fault, and tells no level. */
function findingOf(tries, isSilent, silence) {
	const told = tries.filter(({ kind }) => kind !== "lost");
	const measured = told.flatMap((one) => one.kind === "measured" ? one : []);
	const loud = measured.filter(({ pps }) => !isSilent(pps));
	const levels = loud.flatMap(({ level = silence }) => level ?? []);
	const failure = levels.length > 0 ? void 0 : failureOf(told);
	const values = (levels.length > 0 ? loud : measured).flatMap((one) => one.values);
	const lost = lostAfter(tries);
	return {
		levels,
		values,
		...failure && { failure },
		...lost && { lost }
	};
}
function failureOf(told) {
	const last = told.at(-1);
	if (last?.kind === "rejected") {
		const { rejection } = last;
		const times = told.filter((one) => isRejectedFor("build-failed", one)).length;
		return {
			fault: rejection,
			isSure: rejection.kind !== "build-failed" || times >= 2
		};
	}
	if (last?.kind !== "measured") return void 0;
	const times = told.filter(({ kind }) => kind === "measured").length;
	return {
		fault: {
			kind: "forwards-nothing",
			message: `${formatPps(last.pps)} came through${times >= 2 ? `, as in ${times - 1} more boots` : ""}.`
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
* The form of each revision that is measured now: the first that has not failed, or of those that all have the first that
* may not fail again. Where fix-ups have helped a revision whose own kernel could not be measured, the others of its stretch are measured with them straight away.
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
	const at = (tell) => new Map(positions.flatMap((position, index) => {
		const told = tell(position);
		return told === void 0 ? [] : [[index, told]];
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
		history: history !== void 0 && !isShared(plan) ? history : noNoise,
		mostBoots,
		boots: bootsOf(entries)
	};
}
const noNoise = {
	sumOfSquares: 0,
	degreesOfFreedom: 0
};
/** Boots, or blasts that variants shared: those that told nothing, too. */
const bootsOf = (entries) => entries.filter(isBoot).length;
function isBoot(entry) {
	if (entry.kind === "rejected") return bootedFor.has(entry.rejection.kind);
	return entry.kind === "measured" || entry.kind === "failed";
}
const bootedFor = /* @__PURE__ */ new Set(["boot-failed", "panics-under-load"]);

// src/bisect/information.ts
/**
* Mutual information, in bits, of a bit that is 1 with a probability, and a number drawn from a normal distribution of
* deviation 1 around 0 or around `distance`, by that bit: a sum over 160 points, tabled on a grid of 0.01 and 0.05.
*/
function informationOf(probability, distance) {
	const column = Math.min(columns, Math.round(Math.min(probability, 1 - probability) * 2 * columns));
	const row = Math.min(rows, Math.round(Math.abs(distance) / rowHeight));
	const index = row * (columns + 1) + column;
	const known = table[index] ?? NaN;
	if (!Number.isNaN(known)) return known;
	const value = compute(column / (2 * columns), row * rowHeight);
	table[index] = value;
	return value;
}
const columns = 50;
const rowHeight = .05;
/** Ten deviations apart nothing is left to doubt. */
const rows = 200;
const table = (/* @__PURE__ */ new Float64Array(10251)).fill(NaN);
const points = 160;
function compute(probability, distance) {
	if (probability === 0 || distance === 0) return 0;
	const from = -6;
	const width = (distance + 12) / points;
	let bits = 0;
	for (let point = 0; point < points; point++) {
		const at = from + (point + .5) * width;
		const [zero, one] = [density(at), density(at - distance)];
		const both = (1 - probability) * zero + probability * one;
		bits += (1 - probability) * partOf(zero, both) + probability * partOf(one, both);
	}
	return Math.max(0, bits * width);
}
const partOf = (own, both) => own > 0 && both > 0 ? own * Math.log2(own / both) : 0;
const density = (at) => Math.exp(-(at * at) / 2) / Math.sqrt(2 * Math.PI);

// src/bisect/search.ts
const wantedProbability = .99;
const bootsOfNeighbour = 2;
const mostBootsOfEnd = 20;
const bootsOfThirdLevel = 4;
const deepest = 4;
/** The least difference that makes a level of its own, beyond what chance says. */
const leastLevelRatio = .01;
/** Generalized likelihood ratios: that good and bad differ, that a position is at neither level, that one boot of it is. */
const reproducedAt = 150;
const thirdLevelAt = 1e3;
const loneAt = 3e3;
/** Failures that are alike so close to each other are one, and what lies between is not tried. */
const nearFailures = 16;
/** What to do next. The same problem gives the same step, whatever was the order of the boots. */
function nextStep(problem, costs) {
	const { failed, steps } = problem;
	if (isLost(failed, 0) || isLost(failed, steps)) return ended({ kind: "not-reproduced" });
	const known = readied(problem);
	const poorer = poorerOf(known, 0, steps);
	const boots = bootsAt(known, poorer);
	if (boots < 2 || ratioBetween(known, 0, steps) < reproducedAt) return boots >= mostBootsOfEnd || isOver(known) ? ended({ kind: "not-reproduced" }) : measure(poorer, "reproduce");
	const endings = [];
	for (const leaf of leavesOf(known)) {
		const step = stepIn(known, leaf, costs);
		if (step.kind === "measure") {
			if (!isOver(known)) return step;
			endings.push(inconclusive(known, leaf.segment));
		} else endings.push(step.ending);
	}
	return ended(together(known, endings));
}
/**
* The kernels to build next, the most useful first, beside those that are built or being built: each at the middle of
* the likeliest stretch without one.
*/
function nextBuilds(problem, isBuilt, count) {
	const known = readied(problem);
	const open = openLeaf(known);
	if (open === void 0) return [];
	const { low, high } = open.segment;
	return partings(known, open, positions(low, high).filter(isBuilt), count);
}
/** The part of the range in which something is still to be found, or the first. */
function openLeaf(known) {
	const leaves = leavesOf(known).map(({ segment }) => ({
		segment,
		chances: chancesIn(known, segment)
	}));
	const isOpen = ({ chances }) => stretchIn(known, chances).probability < wantedProbability;
	return leaves.find(isOpen) ?? leaves[0];
}
/** Positions, each of which parts the likeliest of the stretches that the others leave. */
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
/**
* What else to measure where several positions share a blast: the neighbours that an answer would need, and then those
* that part the likeliest stretches. At most `count` positions inside the range, beside those that are measured anyway.
*/
function alsoTelling(problem, measured, count) {
	const known = readied(problem);
	const open = openLeaf(known);
	if (open === void 0) return [];
	const { after, last } = stretchIn(known, open.chances);
	const wanted = [after, last].filter((position) => bootsAt(known, position) > 0 && bootsAt(known, position) < bootsOfNeighbour).filter((position) => !measured.includes(position)).slice(0, count);
	return [...wanted, ...partings(known, open, [
		...known.places,
		...measured,
		...wanted
	], count - wanted.length)];
}
/** How likely each step is the one that changed the rate, by the position at which it ends; that of 0 is 0. */
function probabilities(problem) {
	const known = readied(problem);
	const all = new Array(problem.steps + 1).fill(0);
	for (const { segment } of leavesOf(known)) {
		const { upTo } = chancesIn(known, segment);
		for (const position of positions(segment.low + 1, segment.high)) all[position] = upTo(position) - upTo(position - 1);
	}
	return all;
}
/** What lies between two failures of a kind, near each other, and was never tried. */
const takenForFailed = (problem) => failuresTogether(problem).flatMap(({ low, high }) => positions(low + 1, high - 1));
/** Neighbours among the failures that are alike and near each other, with nothing measured between. */
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
/** Boots in an order of their own: sums depend on it in their last digits. */
function readied(problem) {
	const measured = new Map([...problem.measured].filter(([, values]) => values.length > 0).map(([position, values]) => [position, values.toSorted((a, b) => a - b)]));
	const { failed, skipped, history } = problem;
	const places = [...measured.keys()].sort((a, b) => a - b);
	const unfit = /* @__PURE__ */ new Set([
		...failed.keys(),
		...skipped,
		...takenForFailed(problem)
	]);
	const own = spreadOf(places.map((place) => measured.get(place) ?? []));
	const earlier = relevantTo(own, history);
	return {
		...problem,
		measured,
		places,
		unfit,
		noise: sumOf(own, earlier),
		earlier
	};
}
/** Deviations of boots from the mean of their own position. */
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
/** The range, parted where a position has a level of its own: each part has a change to be found. */
const leavesOf = (known) => partsOf(known, {
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
/**
* A position at neither level. One boot that lies off may be chance, and is repeated; a level is believed when its
* boots and those of both ends say so.
*/
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
			return distance > leastLevelRatio && likelihoodRatio(known, distance) > loneAt;
		};
		const boots = bootsAt(known, position);
		const ends = [low, high];
		const ratio = Math.min(...ends.map((end) => ratioBetween(known, position, end)));
		const isFarFrom = (end) => Math.abs(own - mean(valuesAt(known, end))) > leastLevelRatio;
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
		const poorer = poorerOf(known, stretch.after, stretch.last);
		if (bootsAt(known, poorer) < bootsOfNeighbour) return measure(poorer, "confirm");
		return ended({
			kind: "found",
			...stretch
		});
	}
	const position = mostTelling(known, segment, chances, costs);
	const weak = weakEnd(known, segment, chances, position);
	if (weak !== void 0) return measure(weak, "strengthen an end");
	return position === void 0 ? ended(inconclusive(known, segment)) : measure(position, "search");
}
/** The position at which a boot tells most, a minute. */
function mostTelling(known, { low, high }, { upTo, distance }, { waitMinutes, runMinutes }) {
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
/** Failures come in clusters; a twentieth of what was never tried fails anyway. */
const chanceToWork = (toFailure, position) => .95 * (1 - Math.exp(-toFailure(position) / 4));
function distancesToFailure({ failed }) {
	const known = [...failed.keys()];
	return (position) => Math.min(...known.map((other) => Math.abs(position - other)));
}
/**
* The end of a segment of which less is known than of the position that is to be measured: to repeat that one for ever
* tells nothing of the level that it is held against.
*/
function weakEnd(known, { low, high }, { upTo }, position) {
	if (position === void 0) return void 0;
	const bootsWhere = (isThere) => sum(known.places.filter((place) => place >= low && place <= high && isThere(upTo(place))).map((place) => bootsAt(known, place)));
	const boots = bootsAt(known, position);
	if (boots >= bootsWhere((chance) => chance <= .05)) return low;
	return boots >= bootsWhere((chance) => chance >= .95) ? high : void 0;
}
/**
* Where the change lies, with both levels unknown: each gap between measured neighbours parts the boots in two, and is as
* likely as they are then alike (the normal likelihood, its means and variance integrated out with the noise of
* earlier experiments), its steps among each other equally.
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
		distance: Math.abs(levels.left - levels.right) / deviationOf(known.noise),
		upTo(position) {
			const gap = lastIndexAtMost(stops, position);
			const [from = 0, to = 1] = [before[gap], before[gap + 1]];
			const start = stops[gap] ?? low;
			return gap === stops.length - 1 ? 1 : from + (to - from) * (position - start) / (lengths[gap] ?? 1);
		}
	};
}
/** Logarithms of the likelihood, up to a constant, that the change lies in each gap between sets of boots. */
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
/** Boots that are all the same, as of a simulator, leave no noise at all to divide by. */
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
/** Means of all boots up to the set before a gap, and after it. */
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
/** The likeliest steps in a row between two positions that can be measured, with nothing between that can. */
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
		bootsExpected: Math.ceil(bits / Math.max(informationOf(.5, distance), .001) + 2 * Math.log(100) / distance ** 2)
	};
}
function together(known, endings) {
	const [only] = endings;
	if (endings.length === 1 && only !== void 0) return only;
	const found = endings.flatMap((ending) => ending.kind === "found" ? foundOf$1(ending) : []);
	const segments = leavesOf(known).map(({ segment }) => segment);
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
/** The position in the heaviest gap between stops that parts it best; undefined where there is none left. */
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
/** The generalized likelihood ratio of two positions that differ against two that are alike, with the noise unknown. */
function ratioBetween(known, one, other) {
	const [a, b] = [valuesAt(known, one), valuesAt(known, other)];
	if (a.length === 0 || b.length === 0) return 0;
	return likelihoodRatio(known, (mean([...a]) - mean([...b])) / Math.sqrt(1 / a.length + 1 / b.length));
}
/** That a number of the deviation of one boot is no chance: the likelihood ratio of Student's t. */
function likelihoodRatio({ noise }, distance) {
	const { degreesOfFreedom } = noise;
	return (1 + (distance / deviationOf(noise)) ** 2 / degreesOfFreedom) ** ((degreesOfFreedom + 2) / 2);
}
const deviationOf = ({ sumOfSquares, degreesOfFreedom }) => Math.sqrt(Math.max(sumOfSquares, leastSquares) / Math.max(degreesOfFreedom, 1));
const valuesAt = ({ measured }, position) => measured.get(position) ?? [];
const bootsAt = (problem, position) => valuesAt(problem, position).length;
const poorerOf = (problem, one, other) => bootsAt(problem, other) < bootsAt(problem, one) ? other : one;
const isLost = (failed, position) => failed.get(position)?.isSure === true;
/** One that happened but once, and to no neighbour: the laboratory may have been the reason. */
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
/** All from one to another, both included. */
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

// src/bisect/next.ts
/** Costs for whoever asks only whether it has ended. */
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
	const beside = isShared(plan) ? alsoTelling(problem, anyway, 4 - 1) : [];
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
* What told nothing comes again before anything else, so does a build that has failed once, as that costs no boot, and an
* end; where a form has failed the next one comes at once. Whether others have to be tried again is for the search to say.
* Where nobody can be blamed yet, as base was not measured since the testbed was opened, base comes in between.
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
	const stuck = unfinished.find(({ finding }) => (finding.lost?.times ?? 0) >= mostTriesOf(plan));
	if (stuck !== void 0) return {
		kind: "stuck",
		variant: stuck.form.variant,
		why: stuck.finding.lost?.why ?? ""
	};
	const [first] = unfinished;
	if (first === void 0) return void 0;
	const { variant } = first.form;
	const base = positions[0]?.form.variant ?? "";
	if (lacksControl(entries, variant, base)) return measuring(plan, evidence, [base], "see whether base works");
	const why = first.isNextForm ? "try what helps it" : "try again";
	return measuring(plan, evidence, [variant], why);
}
/** Whether nothing is left to be measured. */
const hasEnded = (plan, entries) => nextOf(plan, entries, noCosts).kind === "ended";
/** Whether a variant has failed since the testbed was opened last, and base has not shown since that it works there. */
function lacksControl(entries, variant, base) {
	return entries.reduce((isLacking, entry) => {
		if (entry.kind === "started") return false;
		if (entry.kind === "measured") return isLacking && !entry.runs.some((run) => run.variant === base);
		if (entry.kind !== "failed" || !entry.variants?.includes(variant)) return isLacking;
		return isLacking || entry.lacksControl === true;
	}, false);
}
const mostAhead = 3;
const mostKept = 4;
/**
* Variants in the order in which they are wanted, for a testbed that builds them: what is measured next, what may be
* after that, and of those that are there the ends, and some where the change is likeliest.
*/
function wantedVariants(plan, entries, next, isReady) {
	const { positions, problem } = evidenceOf(plan, entries);
	const variantAt = (position) => positions[position]?.form.variant ?? "";
	const isBuilt = (position) => isReady(variantAt(position)) || next.includes(variantAt(position));
	const ahead = nextBuilds(problem, isBuilt, mostAhead).map(variantAt);
	const chances = probabilities(problem);
	const likeliest = chances.indexOf(Math.max(...chances));
	const near = positions.map((_, position) => position).filter((one) => isReady(variantAt(one))).toSorted((a, b) => Math.abs(a - likeliest) - Math.abs(b - likeliest)).slice(0, mostKept).map(variantAt);
	const ends = [0, positions.length - 1].map(variantAt);
	return [.../* @__PURE__ */ new Set([
		...next,
		...ends.filter((end) => !isReady(end)),
		...ahead,
		...ends,
		...near
	])];
}

// src/bisect/assemble.ts
/** The result of a bisection that has ended; throws a RangeError for one that has not. */
function assembleBisection(plan, journal) {
	const evidence = evidenceOf(plan, journal);
	const { flows, frameBytes, offeredPps, measureSeconds } = plan.traffic;
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
		fixUps: plan.fixUps,
		testbed: {
			name: plan.testbed,
			fingerprint: started?.fingerprint ?? {},
			warnings: [
				...plan.range.notes,
				...started?.warnings ?? [],
				...warned
			]
		},
		cell: plan.cell,
		metric: plan.metric,
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
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
		blasts: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : [])
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
	const tellers = tellersOf(range.revisions);
	return range.revisions.map((revision, index) => {
		const { forms, ...about } = revision;
		const tried = forms.flatMap(({ variant, fixUps }) => {
			const finding = findings.get(variant);
			if (finding === void 0 || tellers.get(variant) !== index) return [];
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
			isTakenForFailed: taken.has(revision),
			probability: chanceAt.get(index) ?? 0,
			forms: tried
		};
	});
}
/** Where each variant is told of, for several revisions may share a kernel: at the first that has it without a fix-up. */
function tellersOf(revisions) {
	const tellers = /* @__PURE__ */ new Map();
	const tell = (forms, index) => {
		for (const { variant } of forms) if (!tellers.has(variant)) tellers.set(variant, index);
	};
	for (const [index, { forms }] of revisions.entries()) tell(forms.slice(0, 1), index);
	for (const [index, { forms }] of revisions.entries()) tell(forms, index);
	return tellers;
}
/** What a bisection that has ended tells; throws a RangeError for one that has not. */
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
/** The change between ends that were never told apart; only `not-reproduced` is answered of those. */
const noChange = {
	change: 0,
	low: 0,
	high: 0,
	before: 0,
	after: 0
};
/** The stretch around a change in which the rate stays the same on each side: to the next changes, and to what is open. */
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
/** What may lie beyond an interval to each side. */
const level = (1 - bisectConfidenceRatio) / 2;
/** The change from all that was measured in one stretch of positions to another; undefined where that is too little. */
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
	const told = {
		before: whole ?? 0,
		after: half ?? 0
	};
	if (after.every(({ values }) => values.every((value) => value === 0))) return {
		change: -1,
		low: -1,
		high: -1,
		before: told.before,
		after: 0
	};
	const evidence = pooledEvidence(left.map(Math.exp), right.map(Math.exp), history);
	const { low, high } = boundsOf$1(evidence, level);
	return {
		change: Math.expm1(evidence.effect),
		low: Math.expm1(low),
		high: Math.expm1(high),
		...told
	};
}
/** What a level of 0 is in the metric's unit: 1 where levels are not held against those of the same blast. */
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
/** Variants of the culprit's parent and of the culprit; none of any other answer. */
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

// src/bisect/from-gate.ts
/** The cell of a gate that lost the most, of those with the worst verdict; throws a `UsageError` where there is none. */
function gateRunsOf({ outcome, variants, testbed, traffic }) {
	const commitOf = (name) => variants.find((variant) => variant.name === name)?.commit;
	const [good, bad] = [commitOf("base"), commitOf("patched")];
	const [worst] = (outcome.kind === "judged" ? outcome.cells : []).toSorted((a, b) => rankOf(a) - rankOf(b) || lossOf(b) - lossOf(a));
	if (worst === void 0 || good === void 0 || bad === void 0) throw new UsageError("--from: that gate has judged no cell, so there is no change to be found: name another result.");
	const { cell, comparisons, runs } = worst;
	const effect = comparisons[0]?.interval.change;
	const told = effect === void 0 || effect === 0 ? {} : { effect };
	return {
		good,
		bad,
		testbed: testbed.name,
		cell,
		traffic,
		...told,
		runs
	};
}
const rankOf = ({ verdict }) => verdictsWorstFirst.indexOf(verdict.kind);
const lossOf = ({ comparisons: [told] }) => {
	const change = told?.interval.change ?? 0;
	return told !== void 0 && isCost(told.metric) ? change : -change;
};
/** A gate's runs of both ends where it measured just those, on the same testbed under the same traffic; else none. */
function reproductionOf(from, asked) {
	const commits = [asked.range.revisions.at(0), asked.range.revisions.at(-1)].map((end) => end?.forms[0]?.commit);
	if (!(from !== void 0 && from.testbed === asked.testbed && cellName(from.cell) === cellName(asked.cell) && from.good === commits[0] && from.bad === commits[1] && trafficKeys.every((key) => from.traffic[key] === asked.traffic[key]))) return [];
	return from.runs.filter(({ variant }) => variant === "base" || variant === "patched");
}
const trafficKeys = [
	"flows",
	"frameBytes",
	"offeredPps",
	"measureSeconds"
];

// src/bisect/simulate.ts
/** Draws worlds and has each searched; the same request gives the same row. */
function simulateBisect(request, search = ours) {
	const random = xoroshiro128plus(request.seed);
	const drawCell = cellSource(request.noise, random);
	const ends = [];
	for (let experiment = 0; experiment < request.experiments; experiment++) {
		const draw = drawCell();
		const history = Array.from({ length: request.historyRuns }, draw);
		const world = worldOf(request, random, draw);
		const earlier = earlierNoise(history) ?? {
			sumOfSquares: 0,
			degreesOfFreedom: 0
		};
		ends.push({
			...search(world, earlier, request),
			culprits: world.culprits
		});
	}
	return rowOf(ends);
}
function worldOf({ commits, effects, brokenRatio, brokenInARow }, random, draw) {
	const culprits = /* @__PURE__ */ new Map();
	for (const effect of effects) {
		if (effect === 0) continue;
		let at = uniformInt(random, 1, commits);
		while (culprits.has(at)) at = uniformInt(random, 1, commits);
		culprits.set(at, effect);
	}
	const broken = brokenOf({
		commits,
		brokenRatio,
		brokenInARow
	}, random);
	const levelAt = (position) => [...culprits].reduce((level, [at, effect]) => level + (at <= position ? Math.log1p(effect) : 0), 0);
	return {
		commits,
		culprits: [...culprits.keys()].sort((a, b) => a - b),
		boot: (position) => broken.has(position) ? void 0 : levelAt(position) + Math.log(draw())
	};
}
/** Good and bad can be measured, or nobody would search. */
function brokenOf({ commits, brokenRatio, brokenInARow }, random) {
	const broken = /* @__PURE__ */ new Set();
	const wanted = Math.min(Math.round(brokenRatio * commits), commits - 1);
	while (broken.size < wanted) {
		const from = uniformInt(random, 1, commits - 1);
		for (let at = from; at < Math.min(from + brokenInARow, commits); at++) if (broken.size < wanted) broken.add(at);
	}
	return broken;
}
/** The design itself, with builds ahead on a builder of its own. */
const ours = (world, history, { minutes, mostBoots }) => {
	const measured = /* @__PURE__ */ new Map();
	const failed = /* @__PURE__ */ new Map();
	const builder = newBuilder(minutes.build, (isBuilt) => nextBuilds(problem(), isBuilt, 1).at(0));
	let boots = 0;
	let now = 0;
	const problem = () => ({
		steps: world.commits,
		measured,
		failed,
		skipped: /* @__PURE__ */ new Set(),
		history,
		mostBoots,
		boots
	});
	for (;;) {
		const step = nextStep(problem(), {
			runMinutes: minutes.run,
			waitMinutes: (position) => builder.waitMinutes(position, now)
		});
		if (step.kind === "ended") return {
			...searched(step.ending),
			boots,
			minutes: now
		};
		const { position } = step;
		now = builder.need(position, now);
		const value = world.boot(position);
		if (value === void 0) {
			boots += 1;
			now += minutes.failure;
			builder.runUntil(now);
			failed.set(position, {
				kind: "broken",
				isSure: failed.has(position)
			});
		} else {
			boots += 1;
			now += minutes.run;
			builder.runUntil(now);
			measured.set(position, [...measured.get(position) ?? [], value]);
		}
	}
};
function searched(ending) {
	switch (ending.kind) {
		case "found": return {
			kind: "found",
			found: [ending]
		};
		case "several": return {
			kind: "found",
			found: ending.found
		};
		case "not-reproduced": return { kind: "not-reproduced" };
		case "slide":
		case "inconclusive": return { kind: "inconclusive" };
	}
}
function newBuilder(buildMinutes, next) {
	const built = /* @__PURE__ */ new Set();
	let building;
	const runUntil = (now) => {
		while (building !== void 0 && building.until <= now) {
			built.add(building.position);
			begin(building.until);
		}
		if (building === void 0) begin(now);
	};
	const begin = (at) => {
		const position = next((one) => built.has(one));
		building = position === void 0 ? void 0 : {
			position,
			until: at + buildMinutes
		};
	};
	const waitMinutes = (position, now) => {
		if (built.has(position)) return 0;
		return building?.position === position ? building.until - now : buildMinutes;
	};
	return {
		waitMinutes,
		need(position, now) {
			const at = now + waitMinutes(position, now);
			if (!built.has(position) && building?.position !== position) building = {
				position,
				until: at
			};
			runUntil(at);
			return at;
		},
		runUntil
	};
}
function rowOf(ends) {
	const share = (holds) => ends.filter(holds).length / ends.length;
	const named = ends.map(judge);
	const shareOf = (verdict) => named.filter((one) => one === verdict).length / ends.length;
	const boots = ends.map((end) => end.boots);
	const minutes = ends.map((end) => end.minutes);
	return {
		meanBoots: mean(boots),
		p95Boots: quantile(boots, .95),
		meanMinutes: mean(minutes),
		p95Minutes: quantile(minutes, .95),
		namedRight: shareOf("named-right"),
		namedWrong: shareOf("named-wrong"),
		groupRight: shareOf("group-right"),
		groupWrong: shareOf("group-wrong"),
		allFound: share(findsAll),
		inconclusive: share(({ kind }) => kind === "inconclusive"),
		notReproduced: share(({ kind }) => kind === "not-reproduced")
	};
}
/** One wrong name makes all wrong; a group beside names makes it a group. */
function judge(end) {
	if (end.kind !== "found") return "nothing";
	const holds = end.found.every(({ after, last }) => end.culprits.some((culprit) => culprit > after && culprit <= last));
	if (end.found.every(({ after, last }) => last - after === 1)) return holds ? "named-right" : "named-wrong";
	return holds ? "group-right" : "group-wrong";
}
const findsAll = (end) => end.kind === "found" && end.culprits.every((culprit) => end.found.some(({ after, last }) => culprit > after && culprit <= last));

// src/bisect/forecast.ts
/** Undefined where too little is known of the noise. Always the same for the same history. */
function forecastBisect({ steps, effect, history, ...rest }) {
	if (history.degreesOfFreedom < fewestDegreesOfFreedom) return void 0;
	const noiseRatio = Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
	const row = simulateBisect({
		...rest,
		noise: {
			kind: "normal",
			cv: noiseRatio
		},
		commits: steps,
		effects: [effect],
		brokenRatio: 0,
		brokenInARow: 1,
		historyRuns: history.degreesOfFreedom + 1,
		experiments: 100,
		seed: 1
	});
	return {
		noiseRatio,
		boots: row.meanBoots,
		minutes: row.meanMinutes,
		answeredRatio: row.namedRight + row.groupRight
	};
}
const fewestDegreesOfFreedom = 4;

// src/bisect/outlook.ts
/** Minutes of an incremental build of a kernel, of a boot with its blast, and of a boot that fails. */
const usualMinutes = {
	build: 10,
	run: 5,
	failure: 10
};
/** Boots and minutes by the noise of earlier experiments, and without such by what small noise takes: a boot for each halving. */
function outlookOf(plan) {
	const { range, effect, history, mostBoots } = plan;
	const steps = range.revisions.length - 1;
	const forecast = history === void 0 || isShared(plan) ? void 0 : forecastBisect({
		steps,
		effect,
		history,
		mostBoots,
		minutes: usualMinutes
	});
	if (forecast !== void 0) return {
		boots: Math.round(forecast.boots),
		minutes: Math.round(forecast.minutes),
		forecast
	};
	if (isShared(plan)) return sharedOutlook(steps, plan);
	const halvings = Math.ceil(Math.log2(steps));
	const boots = 4 + halvings + 2;
	return {
		boots,
		minutes: boots * usualMinutes.run + (2 + halvings) * usualMinutes.build
	};
}
/** Each blast parts the range by all that share it; two are needed anyway, and one more for the neighbours. */
function sharedOutlook(steps, { traffic }) {
	const { warmUpSeconds, settleSeconds, measureSeconds, runsPerBlast } = traffic;
	const partings = Math.ceil(Math.log(steps) / Math.log(4 + 1));
	const boots = Math.max(2, partings) + 1;
	const seconds = secondsToLay + warmUpSeconds + runsPerBlast * (settleSeconds + measureSeconds);
	return {
		boots,
		minutes: Math.ceil(boots * seconds / 60)
	};
}
/** All that share a blast are laid once before it. */
const secondsToLay = 5;
/** The plan in lines for people. */
function outlookLines(plan) {
	const { range, testbed, mostBoots, effect } = plan;
	const { commits, revisions, notes } = range;
	const skipped = revisions.filter(({ isSkipped }) => isSkipped).length;
	const left = skipped > 0 ? `, ${skipped} of them skipped` : "";
	const first = `${commits} commits, ${revisions.length - 1} kernels after the good one${left}`;
	const { boots, minutes, forecast } = outlookOf(plan);
	const what = isShared(plan) ? "blasts" : "boots";
	const took = `some ${boots} ${what} on ${testbed}, ${roughly(minutes * 60)}, and at most ${mostBoots} ${what}`;
	if (forecast === void 0) return [`${first}: ${took}`, ...notes];
	const { noiseRatio, answeredRatio } = forecast;
	const noise = `a boot is off by ${formatPercent(noiseRatio)}`;
	const size = formatSize(effect);
	const isTooNoisy = answeredRatio < leastAnswered;
	return [
		`${first}: ${took} for a change of ${size}, as ${noise}`,
		...isTooNoisy ? [`the noise is too large for that: ${formatPercent(answeredRatio)} of such bisections name a commit; allow more boots, or take a quieter cell`] : [],
		...notes
	];
}
const leastAnswered = .8;

// src/bisect/line.ts
const mostCommits = 2e4;
/** The commits that are meant, and how many steps lie between them. Throws where these make no range. */
async function endsOf(typed, repository) {
	const good = await commitNamed("--good", typed.good, repository);
	const bad = await commitNamed("--bad", typed.bad, repository);
	const [goodName, badName] = [excerpt(typed.good), excerpt(typed.bad)];
	if (await repository.isShallow()) throw new RepositoryError("The repository is a shallow clone, which lacks the beginning of its history: check it out with all of it (fetch-depth: 0).");
	if (good === bad) throw new UsageError(`--good ${goodName} and --bad ${badName} are the same commit, ${shortId(good)}: name one from before the loss, and one from after it.`);
	if (await repository.contains(good, bad)) throw new UsageError(`--bad ${badName} came before --good ${goodName}: write them the other way round, --good ${badName} --bad ${goodName}.`);
	const steps = await repository.stepsSince(good, bad);
	const start = await repository.resolve(`${bad}~${steps}`).catch((error) => {
		if (error instanceof NoCommitError) return void 0;
		throw error;
	});
	if (start === void 0) throw new UsageError(`--good ${goodName} and --bad ${badName} have no common ancestor on the line of first parents of --bad: name two commits of one branch.`);
	if (start !== good) {
		const why = await repository.contains(bad, good) ? `came in by a merge, and is not on the line of first parents of --bad ${badName}` : `is no ancestor of --bad ${badName}`;
		throw new UsageError(`--good ${goodName} ${why}: the last commit of that line which it contains is ${shortId(start)}, so take --good ${shortId(start)}.`);
	}
	if (steps > mostCommits) throw new UsageError(`There are ${steps} commits after --good ${goodName} up to --bad ${badName}, and at most ${mostCommits} can be bisected: name a nearer one, like --good ${badName}~${mostCommits}.`);
	return {
		good,
		bad,
		steps
	};
}
/** The full id of what an option names; throws a `RepositoryError` that begins with the option where it names nothing. */
function commitNamed(option, name, repository) {
	return repository.resolve(name).catch((error) => {
		throw error instanceof NoCommitError ? new RepositoryError(`${option}: ${error.message}`) : error;
	});
}
/** The first place of the line that contains a commit; undefined where not even the bad one does. */
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

// src/bisect/fix-ups.ts
/** Reads `FIX` and `FIX:FIRST`. Throws a `UsageError` for one that can be of no use in the range. */
async function readFixUps(texts, line, laid, repository) {
	const fixUps = [];
	for (const text of texts) {
		const fixUp = await readFixUp(text, line, laid, repository);
		if (fixUps.some(({ commit }) => commit === fixUp.commit)) throw new UsageError(`${fixUp.called} is given twice: leave one of them out.`);
		fixUps.push(fixUp);
	}
	return fixUps;
}
async function readFixUp(text, line, laid, repository) {
	const [, fix, first] = /^([^:]+)(?::([^:]+))?$/.exec(text) ?? [];
	if (fix === void 0) throw new UsageError(`--fix-up: expected FIX or FIX:FIRST, found "${excerpt(text)}".`);
	const called = `--fix-up ${excerpt(fix)}`;
	const commit = await commitNamed("--fix-up", fix, repository);
	const parent = await repository.resolve(`${commit}^1`).catch(() => {
		throw new UsageError(`${called} has no parent, so what it changes cannot be told: name another.`);
	});
	if (await repository.contains(line.good, commit)) throw new UsageError(`${called} is contained in --good already: leave it out.`);
	const difference = await laid.difference(parent, commit);
	if (difference === "none") throw new UsageError(`${called} changes nothing of ${laid.what}: leave it out.`);
	const from = first === void 0 ? 0 : await firstPlace({
		called,
		commit,
		first
	}, line, repository);
	const { has, twin } = await whoHas(commit, line, repository);
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
	if (place === void 0) throw new UsageError(`${called}: ${excerpt(first)} is not in the history of --bad: write FIX:FIRST, where FIRST is the commit from which on FIX is needed.`);
	if (await repository.contains(id, commit)) throw new UsageError(`${called}: ${excerpt(first)} has the fix already: write FIX:FIRST, where FIRST is the commit from which on FIX is needed.`);
	return place;
}
/** Which places of the line have a fix: since it, or one that makes the same change, and until one that takes it back. */
async function whoHas(commit, line, repository) {
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
/** What can be built of each kernel, what is tried first first; notes say where a fix-up does not apply. */
async function makeForms(kernels, fixUps, laid, onProgress) {
	const conflicts = new Map(fixUps.map((fixUp) => [fixUp, /* @__PURE__ */ new Map()]));
	const needing = kernels.filter((kernel) => fixUps.some((fixUp) => fixUp.isNeededBy(kernel)));
	let tried = 0;
	return {
		forms: await eachOf(kernels, async (kernel) => {
			const needed = fixUps.filter((fixUp) => fixUp.isNeededBy(kernel));
			if (needed.length === 0) return [plainly(kernel)];
			const note = (fixUp, paths) => conflicts.get(fixUp)?.set(kernel, paths);
			const made = await formsOf(kernel, needed, {
				laid,
				onConflict: note
			});
			tried += 1;
			if (tried % progressEvery === 0 || tried === needing.length) onProgress(`fix-ups are put on top: ${tried} of ${needing.length} commits`);
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
/** The forms of a kernel: with the fix-ups that are always needed; with one of the others on top of them; with all. */
async function formsOf(kernel, needed, { laid, onConflict }) {
	const always = needed.filter(({ isAlways }) => isAlways);
	const others = needed.filter(({ isAlways }) => !isAlways);
	const first = await onTop(plainly(kernel), always, {
		laid,
		onConflict
	});
	const forms = [first];
	for (const fixUp of others) forms.push(await onTop(first, [fixUp], {
		laid,
		onConflict
	}));
	if (others.length > 1) forms.push(await onTop(first, others, {
		laid,
		onConflict: () => void 0
	}));
	return forms;
}
async function onTop(start, fixUps, { laid, onConflict }) {
	let made = start;
	for (const fixUp of fixUps) {
		const picked = await fixUp.pick(made);
		if (picked.kind === "conflict") onConflict(fixUp, picked.paths);
		if (picked.kind !== "picked") continue;
		if (fixUp.isMixed && await laid.difference(made.commit, picked.tip.commit) === "none") continue;
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
	if (conflicts.size > 0 && later.every((kernel) => conflicts.has(kernel))) throw new UsageError(`${called} applies to no commit that needs it, for conflicts in ${shown}: name one that does, or leave it out.`);
	return stretchesOf(needing, conflicts).map(([first, last]) => `${called} does not apply ${first === last ? `to ${first}` : `from ${first} to ${last}`}, for conflicts in ${shown}: what is measured there goes without it.`);
}
/** First and last of those in conflict that follow each other among those that need it. */
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
/** A few at a time, for each starts processes. */
async function eachOf(items, work) {
	const answers = [];
	const queue = items.entries();
	const worker = async () => {
		for (const [index, item] of queue) answers[index] = await work(item);
	};
	await Promise.all(Array.from({ length: 4 }, worker));
	return answers;
}

// src/bisect/laid.ts
async function laidOf(request, repository) {
	return request.system === "linux" ? filesOf(request, repository) : kernelsOf(request, repository);
}
async function filesOf({ overlay, good }, repository) {
	const folder = await repository.pathOf(overlay);
	const isIn = (path) => folder === "" || path === folder || path.startsWith(`${folder}/`);
	let hasSubmodule = (await repository.list(good, folder)).some(({ mode }) => mode === submodule);
	return {
		folder,
		what: `what is laid (${folder || "all files"})`,
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
/** What kernels are made of, by the same rule as whether a patch is worth measuring at all. */
async function kernelsOf({ builder, good }, repository) {
	const makefileAt = (commit) => repository.read(`${commit}:${makefileName}`).catch(() => void 0);
	const matters = (path, makefile) => builder === void 0 || mayChangeKernel(path, builder, makefile);
	let current = await makefileAt(good);
	return {
		folder: "",
		what: builder === void 0 ? "a file" : "what a kernel is made of",
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

// src/bisect/same-kernel.ts
/** Goes by the ids of what is laid; and where fix-ups begin or end, by what differs: FIX^ with FIX on top is FIX. */
async function withKeys(built, laid, repository) {
	const commits = built.flatMap(({ forms }) => forms.map(({ commit }) => commit));
	const ids = laid.goesById ? await repository.idsAt(commits, laid.folder) : commits;
	const own = new Map(commits.map((commit, index) => [commit, ids[index] ?? ""]));
	const earlier = /* @__PURE__ */ new Map();
	const keyOf = ({ commit }) => {
		const id = own.get(commit) ?? commit;
		return earlier.get(id) ?? id;
	};
	const isSame = async (before, form) => {
		if (!(before.fixUps.length + form.fixUps.length > 0) || keyOf(before) === keyOf(form)) return false;
		return await laid.difference(before.commit, form.commit) === "none";
	};
	for (const [index, kernel] of built.entries()) {
		const before = built[index - 1];
		if (before === void 0 || !laid.goesById) continue;
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
const onTopOf = ({ forms }) => forms.map(({ fixUps }) => fixUps.join(" ")).join();
/** Tells with the one before what is the same kernel by what is tried first. Throws a `UsageError` where both ends are. */
function mergeAlike(kernels) {
	const distinct = [];
	for (const kernel of kernels) {
		const before = distinct.at(-1);
		if (before === void 0 || keyOf(before) !== keyOf(kernel)) distinct.push({ ...kernel });
		else before.last = kernel.last;
	}
	const [first, last] = [distinct.at(0), distinct.at(-1)];
	if (first === void 0 || last === void 0 || keyOf(first) === keyOf(last)) throw new UsageError("--good and --bad come out as the same, so there is no difference to be found: what was changed in between was taken back, or comes with a fix-up.");
	return distinct;
}
const keyOf = ({ forms }) => forms[0]?.key;
/** The ends are `base` and `patched`, all others go by their commits; a kernel that comes twice keeps its name. */
function withNames(kernels) {
	const [base, patched] = [kernels.at(0), kernels.at(-1)].map((end) => end?.forms[0]?.key ?? "");
	const names = /* @__PURE__ */ new Map([[base, "base"], [patched, "patched"]]);
	const taken = /* @__PURE__ */ new Set();
	return kernels.map((kernel) => {
		const forms = /* @__PURE__ */ new Map();
		for (const { key, commit, fixUps } of kernel.forms) {
			const onTop = fixUps.length > 0 ? `-with-${fixUps.map(shortId).join("-")}` : "";
			const name = `${shortId(kernel.commit)}${onTop}`;
			const variant = names.get(key) ?? (taken.has(name) ? `${kernel.commit}${onTop}` : name);
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

// src/bisect/skips.ts
/** Reads `COMMIT`, or `A..B` as git means it: what B contains and A does not. Throws a `UsageError` for one of nothing. */
async function readSkip(text, line, repository) {
	const { first, last } = await boundsOf(text, line, repository);
	if (first > last) throw new UsageError(`--skip ${excerpt(text)} names no commit on the line of first parents from --good to --bad: name one of those, or A..B.`);
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
	/** The place of the last commit that a name contains; below 0 where that came before the good one. */
	const lastIn = async (name) => {
		const commit = await commitNamed("--skip", name, repository);
		return commits.length - 1 - await repository.stepsSince(commit, bad);
	};
	return {
		first: Math.max(0, await lastIn(after) + 1),
		last: await lastIn(upTo)
	};
}
/** The places of the revisions that are skipped; both ends have to be measured, and throw a `UsageError`. */
function skippedOf(revisions, skips) {
	const places = skips.flatMap(({ text, isNamed }) => {
		const named = revisions.filter(({ place }) => isNamed(place));
		const chosen = named.length > 0 ? named : revisions.filter(isAnyNamed(isNamed));
		for (const [end, option] of [[revisions.at(0), "--good"], [revisions.at(-1), "--bad"]]) {
			if (end === void 0 || !chosen.includes(end)) continue;
			throw new UsageError(`--skip ${excerpt(text)} names ${option}, or what is the same as that, and both ends have to be measured: skip others.`);
		}
		return chosen.map(({ place }) => place);
	});
	return new Set(places);
}
const isAnyNamed = (isNamed) => ({ place, last }) => Array.from({ length: last - place + 1 }, (_, index) => place + index).some(isNamed);

// src/bisect/range.ts
/** What can be built of a revision. */
const formSchema = object({
	/** Names the variant: forms that are the same kernel have the same name. */
	variant: string(),
	/** What is built: the revision's own commit, or one that was made of it with the fix-ups, and is only in this repository. */
	commit: commitId,
	fixUps: array(commitId)
});
const revisionSchema = object({
	place: int().nonnegative(),
	commit: commitId,
	subject: string(),
	author: string(),
	alike: int().nonnegative(),
	isSkipped: boolean(),
	/** The first is tried first; the next one where that one cannot be measured. */
	forms: array(formSchema).min(1)
});
const rangeSchema = object({
	/** Commits after the good one, up to and with the bad one. */
	commits: int().positive(),
	/** Good one first, bad one last; those that are the same kernel as the one before are told with it. */
	revisions: array(revisionSchema).min(2),
	/** Sentences for people: fix-ups that apply nowhere it matters, or not to some. */
	notes: array(string())
});
/**
* What there is to bisect. Throws a `UsageError` or a `RepositoryError` that names the option where that is nothing.
*
* @param onProgress is told in a few words how far it is.
*/
async function readRange(request, repository, onProgress) {
	const { good, bad, steps } = await endsOf(request, repository);
	const laid = await laidOf({
		...request,
		good
	}, repository);
	onProgress(`${steps} commits are read`);
	const { line, kernels } = await readLine({
		good,
		bad
	}, laid, repository);
	if (kernels.length < 2) throw new UsageError(`0 commits of ${steps} after --good ${excerpt(request.good)} up to --bad ${excerpt(request.bad)} touch ${laid.what}: name a range with some that do.`);
	const skips = [];
	for (const text of request.skips) skips.push(await readSkip(text, line, repository));
	const fixUps = await readFixUps(request.fixUps, line, laid, repository);
	const { forms, notes } = await makeForms(kernels, fixUps, laid, onProgress);
	const built = kernels.map((kernel, index) => ({
		...kernel,
		forms: forms[index] ?? []
	}));
	const distinct = mergeAlike(await withKeys(built, laid, repository));
	const skipped = skippedOf(distinct, skips);
	return {
		commits: steps,
		revisions: withNames(distinct).map(({ last, tree, ...revision }) => ({
			...revision,
			alike: last - revision.place,
			isSkipped: skipped.has(revision.place)
		})),
		notes
	};
}
/** What the testbed is given to build of a form, or to lay: commits that were made are made anew where they are gone. */
async function variantOf({ commit: baseCommit }, { variant, commit, fixUps }, { system, overlay }, repository) {
	await makeAgain({
		baseCommit,
		commit,
		fixUps
	}, repository);
	if (system === "linux") return readOverlay(repository, {
		variant,
		commit
	}, await repository.pathOf(overlay));
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
	throw new RepositoryError(`${shortId(baseCommit)} with ${fixUps.map(shortId).join(" and ")} on top comes out otherwise than when the bisection began: this git merges in another way, so begin anew.`);
}
/** Commits that are the same kernel as the one before are told with it. */
async function readLine({ good, bad }, laid, repository) {
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
		if (!await laid.changesWith(next)) continue;
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

// src/bisect/plan.ts
const bisectPlanSchema = object({
	schemaVersion: literal(1),
	/** Both ends, fix-ups and skips, as they were typed. */
	good: string(),
	bad: string(),
	fixUps: array(string()),
	skips: array(string()),
	range: rangeSchema,
	testbed: string(),
	system: _enum(["linux", "freebsd"]),
	/** Folder whose files are laid over the DUT's, for Linux. */
	overlay: object({
		path: string(),
		beside: string()
	}),
	cell: cellSchema,
	metric: metricSchema,
	traffic: plannedTraffic,
	/** Rules of the scenario that is a site's own, by its name. */
	rules: record(string(), ownRulesSchema),
	/** How profiles are taken of the culprit and its parent; absent: none are taken. */
	profile: plannedProfile.optional(),
	history: historySchema.optional(),
	/** The change that is expected to be found, as a ratio: what a gate has told, or the loss that matters to one. */
	effect: number(),
	/** Runs of a gate on the same testbed under the same traffic: its base is the good end, and its patched the bad one. */
	reproduction: array(runSchema),
	seed: int(),
	mostBoots: int().positive(),
	/** Whether the bad end is measured without the culprit, too. */
	isVerified: boolean()
});
const file = "bisect.json";
/** Writes the plan so that it is there whole or not at all; a directory that is in use is a `PlanError`. */
const writeBisectPlan = (directory, plan) => beginPlanFile(directory, file, plan);
/** Writes a plan over the one that is there. */
const replaceBisectPlan = (directory, plan) => replacePlanFile(directory, file, plan);
/** Reads the plan of an earlier process; throws a `PlanError` where there is none. */
const readBisectPlan = (directory) => readPlanFile(directory, file, bisectPlanSchema);
const hasBisectPlan = (directory) => hasPlanFile(directory, file);
/** The same plan without some commits of its range; throws a `UsageError` for one that is none of it, or an end. */
function withSkipped(plan, commits) {
	const { revisions } = plan.range;
	const between = revisions.slice(1, -1).map(({ commit }) => commit);
	const stranger = commits.find((commit) => !between.includes(commit));
	if (stranger !== void 0) throw new UsageError(`--skip: ${shortId(stranger)} is no commit between the ends of this bisection that is measured by itself: name one of those that are told.`);
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
/** The same plan with more boots; throws a `UsageError` where it has as many already. */
function withMostBoots(plan, mostBoots) {
	if (mostBoots > plan.mostBoots) return {
		...plan,
		mostBoots
	};
	throw new UsageError(`--max-boots: the bisection has up to ${plan.mostBoots} already, found ${mostBoots}.`);
}

// src/bisect/revert.ts
/** `bad` is a form of the bad end; `impossible` says in a sentence why the culprit cannot be taken out of it. */
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
	if (picked.kind === "conflict") return { impossible: `What ${name} changed was changed again since, in ${plainLine(picked.paths.slice(0, 3).join(", "), 200)}.` };
	if (picked.kind === "nothing-to-do") return { impossible: `What ${name} changed is not in the bad end any more.` };
	const form = {
		variant: revertedName,
		commit: picked.tip.commit,
		fixUps: []
	};
	return variantOf(end, form, plan, repository);
}

// src/bisect/run.ts
/** Answers the whole journal; throws where the laboratory keeps it from an answer, which can then be gone on with. */
async function runBisection(options) {
	const { directory, plan, testbed, variants, now, onEvent, signal } = options;
	const journal = await openJournal(journalIn(directory));
	const at = () => now().toISOString();
	const warn = (text) => onEvent({
		kind: "warning",
		text
	});
	const pace = paceOf(testbed);
	const what = isShared(plan) ? "blast" : "boot";
	/** Variants that were listed before, by their names. */
	const known = /* @__PURE__ */ new Map();
	try {
		const inspection = await testbed.inspect([plan.cell]);
		await journal.append({
			kind: "started",
			at: at(),
			...inspection
		});
		for (const text of inspection.warnings) warn(text);
		for (;;) {
			signal.throwIfAborted();
			const next = nextOf(plan, journal.entries, pace);
			if (next.kind === "ended") break;
			await measure(next);
		}
		const answer = answerOf(plan, journal.entries);
		if (plan.isVerified) await verify(answer);
		await profile(answer);
		await journal.append({
			kind: "finished",
			at: at()
		});
		return journal.entries;
	} finally {
		await journal.close();
	}
	async function measure(next) {
		if (next.kind === "good-failed") throw new GoodEndError(next.fault);
		if (next.kind === "stuck") throw new StuckError(next.variant, mostTriesOf(plan), next.why);
		const isReady = (variant) => testbed.ready().has(variant);
		const wanted = wantedVariants(plan, journal.entries, next.variants, isReady);
		await boot(next.variants, wanted, next.why);
	}
	/** Measures variants in a blast, or in a boot of their own, while others are readied. */
	async function boot(names, wanted, why) {
		if (!await prepare(names, wanted)) return;
		const number = numberOfNext(journal.entries);
		const label = names.join(", ");
		onEvent({
			kind: "preparing",
			text: `${what} ${number} of at most ${plan.mostBoots} · ${label} · ${why}`
		});
		const blast = plannedBlast(plan, number, names);
		const logs = join("blasts", logFolder(number, names));
		const begun = {
			at: now(),
			isReady: names.every((name) => testbed.ready().has(name))
		};
		const outcome = await testbed.blast(blast, keepLogIn(directory, logs), signal);
		pace.add((now().getTime() - begun.at.getTime()) / 6e4, begun.isReady);
		for (const text of outcome.warnings ?? []) {
			await journal.append({
				kind: "warned",
				at: at(),
				text
			});
			warn(text);
		}
		if (outcome.kind === "rejected") return reject(outcome);
		const entry = outcome.kind === "measured" ? {
			kind: "measured",
			at: at(),
			summary: {
				...outcome.summary,
				attempt: 1,
				logs
			},
			runs: outcome.runs.map((run) => ({
				...run,
				attempt: 1
			}))
		} : {
			...withoutWarnings(outcome),
			at: at(),
			blast: number,
			variants: [...names]
		};
		await journal.append(entry);
		onEvent({
			kind: "told",
			text: `${what} ${number} · ${toldOf(plan, entry, label)}`
		});
	}
	/** Lists what is wanted, the next ones first; false where one of these was rejected. */
	async function prepare(names, wanted) {
		if (journal.entries.some((entry) => entry.kind === "rejected" && names.includes(entry.variant))) await list(wanted.filter((name) => !names.includes(name)));
		let left = [...wanted];
		for (;;) {
			const prepared = await list(left);
			if (prepared.kind === "ready") return true;
			await reject(prepared);
			if (names.includes(prepared.variant)) return false;
			left = left.filter((name) => name !== prepared.variant);
			signal.throwIfAborted();
		}
	}
	async function list(names) {
		const listed = [];
		for (const name of names) listed.push(known.get(name) ?? await variantNamed(name));
		return testbed.prepare({
			variants: listed,
			rules: plan.rules,
			cells: [plan.cell],
			mayDiffer: true,
			keepLog: keepLogIn(directory, "builds"),
			tell: (text) => onEvent({
				kind: "preparing",
				text
			}),
			signal
		});
	}
	async function variantNamed(name) {
		for (const revision of plan.range.revisions) {
			const form = revision.forms.find(({ variant }) => variant === name);
			if (form === void 0) continue;
			const variant = await variants.of(revision, form);
			known.set(name, variant);
			return variant;
		}
		throw new RangeError(`The range has no variant ${name}.`);
	}
	async function reject({ variant, rejection }) {
		if (rejection.kind === "out-of-disk") throw new Error(`There was no room for ${variant}, so the bisection stops here: ${reasonOf(rejection.message)}`);
		const { positions } = evidenceOf(plan, journal.entries);
		const good = positions[0];
		const isSure = rejection.kind !== "build-failed" || good?.finding.failure !== void 0;
		if (good?.form.variant === variant && !good.hasOther && isSure) throw new GoodEndError(rejection);
		await journal.append({
			kind: "rejected",
			at: at(),
			variant,
			rejection
		});
		onEvent({
			kind: "told",
			text: `${variant} ${plainLine(rejectionText(rejection), 300)}`
		});
	}
	/** Two boots of the bad end without the culprit. */
	async function verify(answer) {
		if (answer.kind !== "culprit") return;
		const { commit } = plan.range.revisions[answer.revision] ?? { commit: "" };
		for (;;) {
			signal.throwIfAborted();
			const { findings, positions } = evidenceOf(plan, journal.entries);
			const { levels = [], failure, lost } = findings.get("reverted") ?? {};
			if (levels.length >= bootsOfReverted || failure?.isSure) return;
			const most = mostTriesOf(plan);
			if (lost !== void 0 && lost.times >= most) throw new StuckError(revertedName, most, lost.why);
			const bad = positions.at(-1)?.form;
			if (bad === void 0) return;
			const made = known.get("reverted") ?? await variants.without(commit, bad);
			if ("impossible" in made) {
				const rejection = {
					kind: "does-not-apply",
					message: made.impossible
				};
				await reject({
					kind: "rejected",
					variant: revertedName,
					rejection
				});
				return;
			}
			known.set(revertedName, made);
			const ends = [positions[0]?.form.variant ?? "", bad.variant];
			const names = isShared(plan) ? [...ends, revertedName] : [revertedName];
			await boot(names, names, `${shortId(commit)} taken out of the bad end`);
		}
	}
	async function profile(answer) {
		const wanted = variantsToProfile(answer, evidenceOf(plan, journal.entries));
		if (plan.profile === void 0 || wanted === void 0) return;
		const names = [wanted.base, wanted.patched];
		const isLacking = () => lackingIn(journal.entries) !== void 0;
		const lackingIn = (entries) => names.flatMap((name) => lackingOf(plan, entries, [plan.cell], name)).at(0);
		if (!isLacking() || !await prepare(names, names)) return;
		await takeProfilesOf({
			profile: plan.profile,
			testbed,
			journal,
			at,
			signal,
			warn,
			keepLogIn: (folder) => keepLogIn(directory, folder),
			onNext: (next) => onEvent({
				kind: "profile",
				...next
			})
		}, lackingIn);
	}
}
const bootsOfReverted = 2;
/** The outcome as the journal has it, where warnings have lines of their own. */
function withoutWarnings({ warnings: _, ...rest }) {
	return rest;
}
/** Blasts are numbered by the order in which they were sent; one that was rejected has no number. */
const numberOfNext = (entries) => 1 + Math.max(0, ...entries.flatMap((entry) => {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.blast : [];
}));
/** `007-4f5e6d7c8b9a`, and `007` where several share the blast. */
function logFolder(number, [first = "", ...others]) {
	const digits = String(number).padStart(3, "0");
	return others.length > 0 ? digits : `${digits}-${pathName(first)}`;
}
/** `f8f5b459d21e: 11.83 Mpps`. */
function toldOf(plan, entry, label) {
	if (entry.kind === "failed") return `${label}: ${plainLine(entry.reason, 300)}`;
	const runs = entry.kind === "measured" ? entry.runs : [];
	return [...readingsOf(plan, runs)].map(([name, reading]) => reading.kind === "lost" ? `${name}: ${plainLine(reading.why, 300)}` : `${name}: ${formatMetric(median(reading.values), plan.metric)}`).join(", ");
}
/** Costs are divided by. */
const leastMinutes = .01;
/** What boots and builds have cost so far. */
function paceOf(testbed) {
	const runs = [];
	const waits = [];
	return {
		get runMinutes() {
			return runs.length === 0 ? usualMinutes.run : Math.max(median(runs), leastMinutes);
		},
		get buildMinutes() {
			return waits.length === 0 ? usualMinutes.build : median(waits);
		},
		isReady: (variant) => testbed.ready().has(variant),
		add(minutes, isReady) {
			if (isReady) runs.push(minutes);
			else waits.push(Math.max(0, minutes - this.runMinutes));
		}
	};
}
/** A good end with which nothing can be measured. */
var GoodEndError = class extends Error {
	name = "GoodEndError";
	constructor(fault) {
		const what = fault.kind === "forwards-nothing" ? `forwards nothing: ${fault.message}` : rejectionText(fault);
		super(`The good end itself ${what} Name a good commit that works here.`);
	}
};
/** The laboratory has told nothing of a variant, time and again. */
var StuckError = class extends Error {
	name = "StuckError";
	constructor(variant, times, why) {
		super(`${times} times in a row nothing was measured with ${variant}, at last for this: ${reasonOf(why)}. No commit is blamed for that: mend the testbed, or go on without that commit, by --skip ${variant} beside --resume.`);
	}
};

// src/bisect/bisect.ts
/**
* Finds the commits of a range that changed the rate; leaves the plan, the journal, raw logs, `result.json` and the
* report in the work directory.
*/
async function bisect(request, directory, world) {
	await refuseUsed(directory);
	const plans = await plansFor(request, world);
	return onTestbed(request.testbeds, patchOf([...plans.values()]), world, nameOf, async (reserved) => {
		const plan = plans.get(reserved.name);
		if (plan === void 0) throw new RangeError(`${reserved.name} was not asked for.`);
		await writeBisectPlan(directory, plan);
		for (const text of outlookLines(plan)) world.onEvent({
			kind: "told",
			text
		});
		return carryOut(plan, directory, reserved, world);
	});
}
/**
* Goes on with a bisection that was cut short: the plan of its work directory, less what its journal holds; with
* `mostBoots` also with one that stayed inconclusive, and with `skips` without those commits. One that has finished is
* told again, and needs no testbed.
*/
async function resumeBisection(directory, world, { mostBoots, skips = [] } = {}) {
	const written = await readBisectPlan(directory);
	const extended = mostBoots === void 0 ? written : withMostBoots(written, mostBoots);
	const commits = await Promise.all(skips.map((name) => world.repository.resolve(name)));
	const plan = commits.length === 0 ? extended : withSkipped(extended, commits);
	const journal = await readJournal(journalIn(directory));
	if (journal.at(-1)?.kind === "finished" && hasEnded(plan, journal)) {
		const result = (await readAnyResult(directory).catch(() => void 0))?.result;
		return result !== void 0 && "kind" in result && result.finishedAt === journal.at(-1)?.at ? result : conclude(plan, journal, directory, world);
	}
	return onTestbed([plan.testbed], patchOf([plan]), world, nameOf, async (reserved) => {
		if (plan !== written) await replaceBisectPlan(directory, plan);
		return carryOut(plan, directory, reserved, world);
	});
}
const nameOf = ({ answer }) => answer.kind;
/** What would be done on the first of the testbeds. */
async function planBisection(request, world) {
	const [testbed = ""] = request.testbeds;
	const plan = (await plansFor({
		...request,
		testbeds: [testbed]
	}, world)).get(testbed);
	if (plan === void 0) throw new RangeError("No testbed was asked for.");
	return plan;
}
/** A plan for each testbed: what is the same kernel depends on how it is built. */
async function plansFor(request, { repository, history, now, onEvent }) {
	const { config } = request;
	const [cell, another] = cellsOf(config);
	if (cell === void 0 || another !== void 0) throw new UsageError("A bisection is of one scenario, one family and one size of frames.");
	const entries = earlierEntries(await history.read(), now());
	const rules = await readRules(config);
	const { good, bad, fixUps, skips, seed, mostBoots, isVerified, from } = request;
	const { traffic, profile, overlay } = config;
	const { metric, marginRatio: margin } = config.gate;
	const tell = (text) => onEvent({
		kind: "preparing",
		text
	});
	const ranges = /* @__PURE__ */ new Map();
	const rangeOn = async (testbed, system) => {
		const builder = builderOf(config, testbed);
		const key = JSON.stringify([system, builder]);
		const asked = {
			good,
			bad,
			skips,
			fixUps,
			system,
			overlay,
			builder
		};
		const range = ranges.get(key) ?? await readRange(asked, repository, tell);
		ranges.set(key, range);
		return range;
	};
	const plans = /* @__PURE__ */ new Map();
	for (const testbed of request.testbeds) {
		refuseBuiltGuests(config, testbed);
		const system = systemOf(config, testbed);
		const range = await rangeOn(testbed, system);
		const known = historyOf(entries, {
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
			system,
			overlay,
			cell,
			metric,
			traffic,
			rules,
			seed,
			mostBoots,
			isVerified,
			...profile !== void 0 && { profile },
			...known !== void 0 && { history: known },
			effect: from?.effect ?? (isCost(metric) ? margin : -margin),
			reproduction: reproductionOf(from, {
				testbed,
				cell,
				traffic,
				range
			})
		});
	}
	return plans;
}
/** The patch that the testbed is said to be reserved for. */
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
async function carryOut(plan, directory, reserved, world) {
	const { now, onEvent, repository } = world;
	const signal = AbortSignal.any([world.signal, reserved.signal]);
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
		}), directory, world);
	} finally {
		await testbed.restore();
	}
}
/** The history first: a result that is there has taught it. */
async function conclude(plan, journal, directory, { history, onEvent }) {
	const warn = (text) => onEvent({
		kind: "warning",
		text
	});
	const { result, profiles } = await explained(assembleBisection(plan, journal), directory, warn);
	await history.append(historyEntriesOf(plan, result));
	await writeBisect(directory, result, profiles, warn);
	return result;
}
/** What it adds to the history: the runs of the good end, as those of a gate's base. */
function historyEntriesOf(plan, result) {
	const { startedAt: at, testbed, cell, runs } = result;
	const { measureSeconds: _, ...traffic } = result.traffic;
	const numbers = byMetric((metric) => baseNumbers(runs, metric));
	if (numbers.pps.length === 0) return [];
	const [good] = plan.range.revisions;
	const commit = good?.forms.find(({ variant }) => variant === "base")?.commit ?? "";
	const moved = baselineOf(baseNumbers(runs, plan.metric), plan.history).kind === "moved";
	return [{
		at,
		testbed: testbed.name,
		cell,
		traffic,
		commit,
		...numbers,
		moved
	}];
}
/** Of a virtual testbed a range is read as one of files, so that one of kernels would end as one in which nothing changes. */
function refuseBuiltGuests({ testbeds }, name) {
	const testbed = testbeds[name];
	if (testbed?.kind !== "virtual") return;
	if (testbed.system === "linux" && testbed.builder === void 0) return;
	const mend = testbed.system === "linux" ? "leave `builder` out for it, or " : "";
	throw new UsageError(`${name} boots kernels of commits, and on virtual testbeds a bisection goes over the files of an overlay alone: ${mend}gate single commits.`);
}

export { bisect, gateRunsOf, hasBisectPlan, outlookLines, outlookOf, planBisection, resumeBisection, simulateBisect };