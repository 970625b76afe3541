import { s as geometricMean } from "./student.js";
import { C as looksOf } from "./schema.js";
import { a as pairedEvidence, i as boundsOf, n as judgeInOrder, o as pooledEvidence, r as judgeLook } from "./normal.js";

// src/stats/standing.ts
/**
* Judges every cell at its looks. The false alarms that a patch may raise are shared out evenly. As in Holm's
* procedure (Scandinavian Journal of Statistics 6, 1979), a cell that was found to lose leaves its share to those
* still open, which are judged with it at their last look; so the rate holds over the patch, whatever its cells lose.
*/
function standings(inputs, policy) {
	return relaxed(inputs.map((input) => {
		const looks = looksSharedBy(inputs.length, input, policy);
		const evidence = (pairs) => evidenceAt(input, pairs, policy.metric);
		const judgement = judgeInOrder(looks, evidence, policy);
		const isDead = looks.filter(({ pairs }) => pairs <= input.closedPairs).some(({ pairs }) => evidence(pairs) === void 0);
		return {
			input,
			looks,
			judgement,
			closed: isDecided(judgement) || isDead
		};
	}), policy);
}
const isDecided = (judgement) => judgement !== void 0 && judgement.verdict !== "inconclusive";
function relaxed(before, policy) {
	const count = (kind) => before.filter(({ judgement }) => judgement?.verdict === kind).length;
	const after = before.map((standing) => ["regression", "improvement"].reduce((now, kind) => rejudged(now, kind, before.length - count(kind), policy), standing));
	return after.every(({ closed }, index) => closed === before[index]?.closed) ? after : relaxed(after, policy);
}
/** An open cell at its last look, with the share that is left to it if only verdicts of that kind are counted. */
function rejudged(standing, kind, sharers, policy) {
	const { input, judgement } = standing;
	if (judgement === void 0 || standing.closed || sharers < 1) return standing;
	const looks = looksSharedBy(sharers, input, policy);
	const look = looks.find(({ pairs }) => pairs === judgement.look.pairs) ?? judgement.look;
	const boundsAt = (level) => boundsOf(judgement.evidence, level);
	const verdict = judgeLook(boundsAt, look.levels, policy);
	if (verdict !== kind) return standing;
	return {
		...standing,
		looks,
		judgement: {
			...judgement,
			verdict,
			look
		},
		closed: true
	};
}
/** The looks of a cell that shares the false alarms of its patch with so many, itself among them. */
function looksSharedBy(sharers, { design, history }, policy) {
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	return looksOf({
		...design,
		earlierDegreesOfFreedom
	}, {
		falseAlarms: policy.falseAlarmRatio / sharers,
		misses: policy.missRatio,
		outside: (1 - policy.confidenceRatio) / 2
	});
}
/** Undefined where not all of these pairs are there yet, or too few of them count. */
function evidenceAt(input, pairs, metric) {
	if (pairs > input.closedPairs) return void 0;
	const counted = countedRuns(input, pairs);
	const moving = {
		base: counted.base,
		patched: counted.patched.filter(({ pps }) => pps > 0)
	};
	if (moving.patched.length === 0 && isEnough(counted.patched.length, pairs)) return allLost(metric);
	if (!isEnough(moving.patched.length, counted.patched.length)) return void 0;
	if (!isEnough(countOf(moving, metric), pairs)) return void 0;
	return evidenceOf(moving, metric, input.design.method, input.history);
}
/** One pair in ten may be lost to a stall of a shared machine: the interval gets wider by what is missing. */
const isEnough = (counted, asked) => counted >= .9 * asked;
/** Valid runs of the first `pairs` pairs whose base forwards; of paired ones only where both runs are. */
function countedRuns({ runs, design }, pairs) {
	const valid = runs.filter((run) => run.pair <= pairs && run.validity.kind === "valid");
	const whole = design.method === "pooled" ? valid : validPairs(valid).flatMap(({ base, patched }) => base.pps > 0 ? [base, patched] : []);
	return {
		base: whole.filter((run) => run.variant === "base" && run.pps > 0),
		patched: whole.filter((run) => run.variant === "patched")
	};
}
const countOf = ({ base, patched }, metric) => Math.min(valuesOf(base, metric).length, valuesOf(patched, metric).length);
const valuesOf = (runs, metric) => runs.flatMap((run) => run[metric] || []);
function evidenceOf(counted, metric, method, earlier) {
	if (method === "pooled") return pooledEvidence(valuesOf(counted.base, metric), valuesOf(counted.patched, metric), earlier);
	return pairedEvidence(drawnPairs(counted, metric));
}
/**
* One pair for every order that chance drew: a pair and the one after it, which mirrors its order, are averaged. What
* disturbs the two neighbours in the middle of such four bends both pairs alike, so they do not count as two; the four
* favour either variant as the coin fell, whatever the disturbance, and Wilcoxon's test holds exactly.
*/
function drawnPairs({ base, patched }, metric) {
	const pairs = validPairs([...base, ...patched]).filter((pair) => pair.base[metric] && pair.patched[metric]);
	return [...Map.groupBy(pairs, (pair) => `${pair.base.blast}.${pair.base.attempt}/${Math.ceil(pair.base.pair / 2)}`).values()].map((mirrored) => ({
		base: geometricMean(mirrored.map((pair) => pair.base[metric] ?? 0)),
		patched: geometricMean(mirrored.map((pair) => pair.patched[metric] ?? 0))
	}));
}
/** A patched DUT that forwards nothing in any run. */
const allLost = (metric) => ({
	method: "pooled",
	base: 1,
	effect: metric === "pps" ? -Infinity : Infinity,
	standardError: 0,
	degreesOfFreedom: 1
});
/** The pairs of which both runs count, and come from the same try of the same blast. */
function validPairs(runs) {
	return [...Map.groupBy(runs, (run) => `${run.blast}.${run.attempt}/${run.pair}`).values()].flatMap((group) => {
		const valid = group.filter((run) => run.validity.kind === "valid");
		const base = valid.find((run) => run.variant === "base");
		const patched = valid.find((run) => run.variant === "patched");
		return base && patched ? [{
			base,
			patched
		}] : [];
	});
}

export { evidenceOf as a, looksSharedBy as c, valuesOf as d, evidenceAt as i, standings as l, countOf as n, isDecided as o, countedRuns as r, isEnough as s, allLost as t, validPairs as u };