import { uniformInt, xoroshiro128plus } from "./vendor/pure-rand.js";
import { mean, quantile, sum, sumNthPowerDeviations } from "./vendor/simple-statistics.js";
import { cellSource, earlierNoise, relevantTo, sumOf } from "./stats.js";

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
/** Generalized likelihood ratios: that good and bad differ, and that a position is at neither level. */
const reproducedAt = 150;
const thirdLevelAt = 1e3;
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
	const deviation = deviationOf(known.noise);
	const [clearest] = inside.flatMap((position) => {
		const own = mean(valuesAt(known, position));
		const isOff = (from, to) => {
			const others = known.places.filter((place) => place >= from && place <= to && place !== position).flatMap((place) => valuesAt(known, place));
			const distance = Math.abs(own - mean(others));
			return distance > leastLevelRatio && distance > 4 * deviation;
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
	const found = endings.flatMap((ending) => ending.kind === "found" ? foundOf(ending) : []);
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
const foundOf = ({ after, last, probability }) => ({
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
	const { degreesOfFreedom } = known.noise;
	const error = deviationOf(known.noise) * Math.sqrt(1 / a.length + 1 / b.length);
	return (1 + ((mean([...a]) - mean([...b])) / error) ** 2 / degreesOfFreedom) ** ((degreesOfFreedom + 2) / 2);
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

export { simulateBisect };