import { a as studentTail, i as studentTExact } from "./student.js";

// src/stats/boundary.ts
/**
* The one nominal one-sided level for every look, by Pocock (Biometrika 64, 1977): with it, data without any
* effect cross the boundary at some look with probability `level`. `sizes` are the pairs at each look, ascending.
*/
function constantLevels(sizes, level) {
	const levelsAt = (z) => sizes.map(() => studentTail(z, Infinity));
	return levelsFor(levelsAt, sizes, level);
}
/**
* The nominal level of each look where the generalized likelihood ratio of Student's model, (1 + t²/ν)^((ν + 2)/2)
* against the best fit, is held to one threshold at all of them (Lai, Annals of Statistics 16, 1988).
* `degreesOfFreedom` are ν at each look, earlier runs of the same cell included.
*/
function likelihoodLevels(sizes, degreesOfFreedom, level) {
	const levelsAt = (logThreshold) => degreesOfFreedom.map((df) => studentTail(Math.sqrt(df * Math.expm1(2 * logThreshold / (df + 2))), df));
	return levelsFor(levelsAt, sizes, level);
}
/** Levels fall as the parameter rises: halves until the levels spend what is asked and not more. */
function levelsFor(levelsAt, sizes, level) {
	const spends = (parameter) => crossingProbability(sizes, levelsAt(parameter));
	let low = 0;
	let high = 1;
	for (; spends(high) > level; high *= 2) low = high;
	while (high - low > 1e-4 * high) {
		const middle = (low + high) / 2;
		if (spends(middle) > level) low = middle;
		else high = middle;
	}
	return levelsAt(high);
}
/**
* The probability that data without any effect are, at some look, beyond its nominal one-sided level: the recursion
* of Armitage, McPherson and Rowe (J. R. Stat. Soc. A 132, 1969) over the sum of independent normal steps. Where the
* variance is estimated, as in Student's test, the same levels nearly hold (Jennison and Turnbull, Group Sequential
* Methods, 4.4): by simulation the sum is up to a seventh larger when the first look has four degrees of freedom.
*/
function crossingProbability(sizes, levels) {
	let total = 0;
	let inside = [{
		at: 0,
		mass: 1
	}];
	let reached = 0;
	for (const [index, size] of sizes.entries()) {
		const deviation = Math.sqrt(size - reached);
		const limit = criticalZ(levels[index] ?? 0) * Math.sqrt(size);
		total += sumOver(inside, ({ at, mass }) => mass * upperTail((limit - at) / deviation));
		const next = (sizes[index + 1] ?? Infinity) - size;
		const range = {
			low: -farthest * Math.sqrt(size),
			high: limit
		};
		inside = spread(inside, deviation, range, nodesFor(range, Math.sqrt(next)));
		reached = size;
	}
	return total;
}
/** The density after one more step, at `count` nodes of the range. */
function spread(from, deviation, { low, high }, count) {
	return gaussLegendre(count).map(({ at, weight }) => {
		const place = low + (high - low) * (at + 1) / 2;
		return {
			at: place,
			mass: sumOver(from, ({ at: start, mass }) => mass * normalDensity((place - start) / deviation)) / deviation * weight * (high - low) / 2
		};
	});
}
/** Nodes half as dense again as the deviations of the next step lie in the range: what follows is smooth at that scale. */
function nodesFor({ low, high }, nextDeviation) {
	return 16 * Math.ceil(Math.max(2, 1.5 * (high - low) / nextDeviation / 16));
}
/** Nobody is so many deviations below the mean. */
const farthest = 6;
/** Levels beyond the reach of a double are next to never crossed; half of all lie beyond one half, which is the most. */
const criticalZ = (level) => level < 1e-12 ? 7 : level >= .4999 ? 0 : studentTExact(Infinity, 1 - 2 * level);
const upperTail = (z) => studentTail(z, Infinity);
const normalDensity = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
function sumOver(nodes, value) {
	let sum = 0;
	for (const node of nodes) sum += value(node);
	return sum;
}
/** Gauss and Legendre's nodes on −1 … 1, by Newton's method on the recurrence (Abramowitz and Stegun, 25.4.29). */
function gaussLegendre(count) {
	const known = quadratures.get(count);
	if (known !== void 0) return known;
	const nodes = Array.from({ length: count }, (_, index) => quadratureNode(count, index));
	quadratures.set(count, nodes);
	return nodes;
}
const quadratures = /* @__PURE__ */ new Map();
function quadratureNode(count, index) {
	let at = Math.cos(Math.PI * (index + .75) / (count + .5));
	let slope = 1;
	for (let step = 0; step < 8; step++) {
		let [before, value] = [0, 1];
		for (let degree = 0; degree < count; degree++) [before, value] = [value, ((2 * degree + 1) * at * value - degree * before) / (degree + 1)];
		slope = count * (at * value - before) / (at * at - 1);
		at -= value / slope;
	}
	return {
		at,
		weight: 2 / ((1 - at * at) * slope * slope)
	};
}

// src/stats/design.ts
const designNames = [
	"fixed",
	"group-sequential",
	"glr"
];
/**
* The looks of a design, in order. The error rates hold over all of them, extensions included: the budget that was
* planned spends four fifths of each rate, and every extension half of what is then left.
*/
function looksOf(design, rates) {
	const key = JSON.stringify([design, rates]);
	const looks = knownLooks.get(key) ?? computeLooks(design, rates);
	knownLooks.set(key, looks);
	return looks;
}
/** They take a tenth of a second to compute, and are asked for after every blast. */
const knownLooks = /* @__PURE__ */ new Map();
function computeLooks(design, rates) {
	return design.budgets.flatMap((budget, stage) => {
		const sizes = sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design);
		const levelsOf = (rate) => nominalLevels(design, sizes, rate * shareOf(stage));
		const falseAlarms = levelsOf(rates.falseAlarms);
		const misses = levelsOf(rates.misses);
		const outside = levelsOf(rates.outside);
		return sizes.map((pairs, index) => ({
			pairs,
			levels: {
				falseAlarms: falseAlarms[index] ?? 0,
				misses: misses[index] ?? 0,
				outside: outside[index] ?? 0
			}
		}));
	});
}
const shareOf = (stage) => stage === 0 ? .8 : .2 * .5 ** stage;
/** The pairs at each look. */
const lookSizes = (design) => design.budgets.flatMap((budget, stage) => sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design));
function sizesUpTo(budget, after, design) {
	if (design.name === "fixed") return [budget];
	const sizes = [];
	for (let size = firstSize(design); size < budget; size = sizeAfter(size, design)) if (size > after) sizes.push(size);
	return [...sizes, budget];
}
/** The spread of four runs alone tells too little of a noise with heavy tails. */
function firstSize({ name, pairsPerStep, earlierDegreesOfFreedom }) {
	if (pairsPerStep > 1) return pairsPerStep;
	return name === "glr" && earlierDegreesOfFreedom >= 4 ? 2 : 3;
}
/** After every step, and where they have become many, after every twentieth part more. */
function sizeAfter(size, { name, pairsPerStep }) {
	if (name === "group-sequential" && pairsPerStep === 1) {
		const looks = Math.round(Math.log(size / 3) / Math.log(1.6)) + 1;
		return Math.round(3 * 1.6 ** looks);
	}
	return size + pairsPerStep * Math.max(1, Math.round(size / 20 / pairsPerStep));
}
function nominalLevels(design, sizes, level) {
	if (design.name !== "glr") return constantLevels(sizes, level);
	const degreesOfFreedom = sizes.map((pairs) => design.method === "paired" ? pairs - 1 : 2 * pairs - 2 + design.earlierDegreesOfFreedom);
	return likelihoodLevels(sizes, degreesOfFreedom, level);
}

export { lookSizes as n, looksOf as r, designNames as t };