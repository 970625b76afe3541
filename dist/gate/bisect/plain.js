import { sum } from "../../vendor/simple-statistics.js";

// src/gate/bisect/information.ts
/**
* Mutual information, in bits, between a bit that is 1 with the given probability and a normal number of deviation 1.
* The number's mean is 0 or `distance`, by that bit. Sums over 160 points, tabulated by steps of 0.1 in the logarithm
* of the odds and of 0.05 in distance.
*/
function informationOf(probability, distance) {
	const odds = Math.min(probability, 1 - probability) / Math.max(probability, 1 - probability);
	if (odds === 0) return 0;
	const column = Math.min(columns, Math.round(-Math.log(odds) / columnWidth));
	const row = Math.min(rows, Math.round(Math.abs(distance) / rowHeight));
	const index = row * (columns + 1) + column;
	const known = table[index] ?? NaN;
	if (!Number.isNaN(known)) return known;
	const value = compute(1 / (1 + Math.exp(column * columnWidth)), row * rowHeight);
	table[index] = value;
	return value;
}
/** Boots that locate a change among so many bits of possibilities with near certainty, at `distance` deviations. */
const bootsToLocate = (bits, distance) => bits / Math.max(informationOf(.5, distance), .001) + 2 * Math.log(100) / distance ** 2;
/** The lowest odds are one in a hundred million. */
const columnWidth = .1;
const columns = 185;
const rowHeight = .05;
/** At ten deviations, the answer is certain. */
const rows = 200;
const table = (/* @__PURE__ */ new Float64Array(37386)).fill(NaN);
const points = 160;
function compute(probability, distance) {
	if (distance === 0) return 0;
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

// src/gate/bisect/outliers.ts
const maxBootPenalty = -Math.log(.05);
/** Likelihood ratio that a commit belongs to the other side. No boot counts for more than the ratio of an outlier. */
function likelihoodOfOtherSide({ values, own, other, deviation }) {
	const logs = values.map((value) => {
		const log = ((value - other) ** 2 - (value - own) ** 2) / (2 * deviation ** 2);
		return Math.max(-maxBootPenalty, Math.min(maxBootPenalty, log));
	});
	return Math.exp(-sum(logs));
}

export { bootsToLocate, informationOf, likelihoodOfOtherSide };