import { counted, formatPercent, formatRoughly, formatSize } from "../model/first-plain.js";
import { uniformFloat64, uniformInt, xoroshiro128plus } from "../vendor/pure-rand.js";
import { mean, quantile, sum, sumNthPowerDeviations } from "../vendor/simple-statistics.js";
import { cellSource, earlierNoise, median, moderated, sumOf } from "../analysis/stats/first.js";
import { informationOf, likelihoodOfOtherSide } from "./bisect/plain.js";
import { earlierRunsOf } from "./estimate/first.js";

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
		bootsExpected: Math.ceil(bits / Math.max(informationOf(.5, distance), .001) + 2 * Math.log(100) / distance ** 2)
	};
}
function combined(known, endings) {
	const [only] = endings;
	if (endings.length === 1 && only !== void 0) return only;
	const found = endings.flatMap((ending) => ending.kind === "found" ? foundOf(ending) : []);
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
const foundOf = ({ after, last, probability }) => ({
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

// src/gate/bisect/simulate-bisection.ts
/** Deterministic by request. */
function simulateBisect(request, search = sequentialSearch) {
	const random = xoroshiro128plus(request.seed);
	const drawCell = cellSource(request.noise, random);
	const ends = [];
	for (let experiment = 0; experiment < request.experiments; experiment++) {
		const openSession = drawCell();
		const drawSession = () => withSlowRuns(openSession(), request.slow, random);
		const earlier = earlierNoise(request.historyRuns, () => {
			const draw = drawSession();
			return (count) => Array.from({ length: count }, draw);
		});
		const deps = depsOf(request, random, drawSession());
		ends.push({
			...search(deps, moderated(earlier), request),
			culprits: deps.culprits
		});
	}
	return rowOf(ends);
}
function withSlowRuns(draw, slow, random) {
	if (slow === void 0) return draw;
	const { share, by } = slow;
	return () => draw() * (uniformFloat64(random) < share ? 1 - by : 1);
}
function depsOf({ commits, effects, brokenRatio, brokenInARow }, random, draw) {
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
/** Both ends can always be measured. */
function brokenOf({ commits, brokenRatio, brokenInARow }, random) {
	const broken = /* @__PURE__ */ new Set();
	const wanted = Math.min(Math.round(brokenRatio * commits), commits - 1);
	while (broken.size < wanted) {
		const from = uniformInt(random, 1, commits - 1);
		for (let at = from; at < Math.min(from + brokenInARow, commits); at++) if (broken.size < wanted) broken.add(at);
	}
	return broken;
}
/** Uses the real design, with builds ahead on a separate builder. */
const sequentialSearch = (deps, history, { minutes, mostBoots }) => {
	const measured = /* @__PURE__ */ new Map();
	const failed = /* @__PURE__ */ new Map();
	const builder = newBuilder(minutes.build, (isBuilt) => nextBuilds(problem(), isBuilt, 1).at(0));
	let boots = 0;
	let now = 0;
	const problem = () => ({
		steps: deps.commits,
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
		const value = deps.boot(position);
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
/** A single wrong name makes the conclusion wrong; a group next to names makes it a group. */
function judge(end) {
	if (end.kind !== "found") return "nothing";
	const holds = end.found.every(({ after, last }) => end.culprits.some((culprit) => culprit > after && culprit <= last));
	if (end.found.every(({ after, last }) => last - after === 1)) return holds ? "named-right" : "named-wrong";
	return holds ? "group-right" : "group-wrong";
}
const findsAll = (end) => end.kind === "found" && end.culprits.every((culprit) => end.found.some(({ after, last }) => culprit > after && culprit <= last));

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

// src/gate/estimate/bisection.ts
/** Minutes of an incremental kernel build, of a boot with its trial, and of a failed boot. */
const usualMinutes = {
	build: 10,
	run: 5,
	failure: 10
};
/** Simulates bisections with the noise of earlier experiments. Without it, counts one boot per halving. */
function estimateBisection(plan) {
	const { range, effect, history, mostBoots } = plan;
	const steps = range.revisions.length - 1;
	if (isShared(plan)) return estimateShared(steps, plan);
	const estimate = history && estimateByNoise({
		steps,
		effect,
		history,
		mostBoots,
		minutes: usualMinutes
	});
	if (estimate !== void 0) {
		const { boots, minutes, noise } = estimate;
		return {
			boots: Math.round(boots),
			minutes: Math.round(minutes),
			...noise && { noise }
		};
	}
	const halvings = Math.ceil(Math.log2(steps));
	const boots = 4 + halvings + 2;
	return {
		boots,
		minutes: boots * usualMinutes.run + (2 + halvings) * usualMinutes.build
	};
}
/** Each trial splits the range by its number of positions. Two are always needed, and one more for the neighbours. */
function estimateShared(steps, { traffic }) {
	const { warmUpSeconds, settleSeconds, measureSeconds, runsPerTrial } = traffic;
	const partings = Math.ceil(Math.log(steps) / Math.log(4 + 1));
	const boots = Math.max(2, partings) + 1;
	const seconds = secondsToInstall + warmUpSeconds + runsPerTrial * (settleSeconds + measureSeconds);
	return {
		boots,
		minutes: Math.ceil(boots * seconds / 60)
	};
}
/** A trial installs all of its variants once, before it starts. */
const secondsToInstall = 5;
/** Undefined if the noise is not known well enough. Deterministic by history. */
function estimateByNoise({ steps, effect, history, ...rest }) {
	if (history.degreesOfFreedom < minDegreesOfFreedom) return void 0;
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
		historyRuns: earlierRunsOf(history),
		experiments: 100,
		seed: 1
	});
	return {
		boots: row.meanBoots,
		minutes: row.meanMinutes,
		noise: {
			noiseRatio,
			answeredRatio: row.namedRight + row.groupRight
		}
	};
}
const minDegreesOfFreedom = 4;
/** Formats the range's size, the estimate, and the plan's notes. */
function bisectionEstimateLines(plan) {
	const { range, testbed, mostBoots, effect, system } = plan;
	const { commits, revisions, notes } = range;
	const skipped = revisions.filter(({ isSkipped }) => isSkipped).length;
	const skippedText = skipped > 0 ? `, ${skipped} of them skipped` : "";
	const things = system === "linux" ? "files" : "kernels";
	const distinct = `${counted(commits, "commit")} after good, ${revisions.length - 1} with different ${things}${skippedText}`;
	const { boots, minutes, noise } = estimateBisection(plan);
	const unit = isShared(plan) ? "trials" : "boots";
	const estimate = `${distinct}: about ${boots} ${unit} on ${testbed}, ${formatRoughly(minutes * 60)}, and at most ${mostBoots} ${unit}`;
	if (noise === void 0) return [estimate, ...notes];
	const { noiseRatio, answeredRatio } = noise;
	const tooNoisy = `the noise is too large: only ${formatPercent(answeredRatio)} of such bisections name a commit; allow more boots, or choose a quieter cell`;
	return [
		`${estimate} for a change of ${formatSize(effect)}, as boots vary by ${formatPercent(noiseRatio)}`,
		...answeredRatio < minAnswered ? [tooNoisy] : [],
		...notes
	];
}
const minAnswered = .8;

export { alsoInformative, bisectionEstimateLines, estimateBisection, isShared, maxTriesOf, nextBuilds, nextStep, plannedTrial, probabilities, readingsOf, simulateBisect, takenForFailed, usualMinutes };