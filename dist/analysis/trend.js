import { isJudged, jsonLines, plainLine } from "../model/first-plain.js";
import { byMetric, cellName, isLoss, packetsText } from "../model/first.js";
import { nightlySchema } from "../model.js";
import { median, trialNumbers } from "./stats/first.js";
import { sumNthPowerDeviations } from "../vendor/simple-statistics.js";
import { lowerBound, upperBound } from "./stats/plain.js";
import { machineFacts } from "../model/plain.js";
import { changePoints, lastLevel, minChangeRatio, nightlySigmaRatio } from "./stats.js";
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");

// src/analysis/trend/fingerprint.ts
/**
* Covers the traffic, and facts that no kernel under test changes; on Linux, where variants share it, also the kernel.
*/
function fingerprintOf({ testbed, trials, traffic }) {
	const hasOwnKernels = trials.some(({ kernel }) => kernel !== void 0);
	const { flows, frameBytes, offeredPps, packets } = traffic;
	const recorded = {
		...hasOwnKernels ? machineFacts(testbed.fingerprint) : testbed.fingerprint,
		flows: `${flows}`,
		"frame bytes": `${frameBytes}`,
		"offered pps": offeredPps === void 0 ? "as many as the sender can" : `${offeredPps}`,
		...packets !== void 0 && { packets: packetsText(packets) }
	};
	const sorted = Object.entries(recorded).toSorted(([a], [b]) => a < b ? -1 : 1);
	return {
		id: createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 12),
		facts: Object.fromEntries(sorted)
	};
}
/** Records the testbed's current fingerprint, and its differences from the previous one. */
function withFingerprint(index, result) {
	const { id, facts } = fingerprintOf(result);
	const testbed = result.testbed.name;
	const own = index.fingerprints.filter((known) => known.testbed === testbed);
	const last = own.find((known) => known.facts !== void 0);
	if (last?.id === id) return index;
	const known = own.find((one) => one.id === id);
	const since = new Date(result.startedAt).toISOString();
	const differs = last?.facts === void 0 ? [] : differences(last.facts, facts);
	const current = {
		...known ?? {
			id,
			testbed,
			since,
			differs
		},
		facts
	};
	const fingerprints = [...index.fingerprints.filter((one) => one !== known).map((one) => one === last ? withoutFacts(one) : one), current];
	return {
		...index,
		fingerprints: fingerprints.toSorted((a, b) => a.since < b.since ? -1 : 1)
	};
}
function withoutFacts({ facts: _, ...kept }) {
	return kept;
}
const differences = (before, after) => [.../* @__PURE__ */ new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]).map((name) => `${plainLine(name)}: ${plainLine(after[name] ?? "not told any more")}`);

// src/analysis/trend/aa-runs.ts
const isOfOneCommit = ({ patch }) => patch.baseCommit === patch.headCommit;
/** True if base and patched booted disjoint sets of layouts. */
function measuresLayoutNoise({ outcome }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const [base, patched] = ["base", "patched"].map((name) => new Set(runs.filter(({ variant }) => variant === name).map(layoutOf)));
	if (!base?.size || !patched?.size) return false;
	return ![...base].some((layout) => patched.has(layout));
}
const layoutOf = ({ layout = 1 }) => layout;
/**
* Adds an A/A run to the index; any other gate leaves it unchanged. `path` is the folder of its result. Another method
* or a changed machine starts a new count. A gate that was extended or published again counts once.
*/
function withSameGate(index, gate, path) {
	const { outcome } = gate;
	if (outcome.kind !== "judged" || !isOfOneCommit(gate)) return index;
	const [first] = outcome.cells;
	if (first === void 0) return index;
	const added = gateOf(gate, outcome.cells);
	const fresh = emptyCount(gate, first, added.at);
	const known = index.aaRuns.find((count) => isSameTest(count, fresh));
	const count = counted(known ?? fresh, added);
	if (count === known) return index;
	const alarm = {
		at: added.at,
		cells: outcome.cells.filter(isAlarm).map(({ cell }) => cell),
		result: path
	};
	const alarmed = [...count.alarmed.filter(({ at }) => at !== added.at), ...added.alarms > 0 ? [alarm] : []].toSorted((a, b) => a.at < b.at ? -1 : 1).slice(-maxAlarms);
	const settled = index.aaRuns.filter((other) => other !== known).map((other) => isOfSameRow(other, fresh) ? withoutNewest(other) : other);
	return {
		...index,
		aaRuns: [...settled, {
			...count,
			alarmed
		}].toSorted((a, b) => a.since < b.since ? -1 : 1)
	};
}
function sameSummary({ gates, alarms, falseAlarmRatio }) {
	const [upper, lower] = [upperBound(alarms, gates), lowerBound(alarms, gates)];
	if (lower > falseAlarmRatio) return {
		upper,
		lower,
		promise: "broken"
	};
	return {
		upper,
		lower,
		promise: upper <= falseAlarmRatio ? "kept" : "open"
	};
}
/** `0 of 41 gates, ≤ 7.1 %`, with the bound rounded up. */
const sameText = (count) => `${count.alarms} of ${count.gates} gates, ≤ ${(Math.ceil(sameSummary(count).upper * 1e3) / 10).toFixed(1)} %`;
/** Returns the current counts, one per testbed and kind, and all ended ones, newest first. */
function countsOf(index) {
	return [...Map.groupBy(index.aaRuns, ({ testbed, kind }) => `${kind} ${testbed}`).values()].flatMap((row) => {
		const [current, ...earlier] = row.toSorted((a, b) => a.last < b.last ? 1 : -1);
		return current === void 0 ? [] : {
			current,
			earlier
		};
	});
}
/** Scatter of changes between two layouts beyond the noise of their runs, as a ratio; undefined without gates. */
function layoutNoise(count) {
	const gates = count.scatter.reduce((sum, cell) => sum + cell.gates, 0);
	if (gates === 0) return void 0;
	const beyond = count.scatter.reduce((sum, { sumOfSquares, runSumOfSquares }) => sum + sumOfSquares - runSumOfSquares, 0);
	return Math.sqrt(Math.max(beyond, 0) / gates / 2);
}
const maxAlarms = 20;
/** Enough for gates that are extended or published late, as gates of one testbed follow each other. */
const maxNewest = 10;
function gateOf(gate, cells) {
	const countOf = (kind) => cells.filter(({ verdict }) => verdict.kind === kind).length;
	const [inconclusive, invalid] = [countOf("inconclusive"), countOf("invalid")];
	const judged = cells.length - inconclusive - invalid;
	const cellAlarms = cells.filter(isAlarm).length;
	return {
		at: new Date(gate.startedAt).toISOString(),
		gates: Math.min(judged, 1),
		alarms: Math.min(cellAlarms, 1),
		cells: judged,
		cellAlarms,
		inconclusive,
		invalid,
		scatter: measuresLayoutNoise(gate) ? cells.flatMap((cell) => scatterOf(cell, gate.policy.metric)) : []
	};
}
/** The promised rate is that of regressions. */
const isAlarm = ({ verdict }) => verdict.kind === "regression";
function scatterOf({ cell, runs, comparisons }, metric) {
	const change = comparisons.find((comparison) => comparison.metric === metric)?.interval.change;
	const variants = ["base", "patched"].map((name) => runs.filter(({ variant }) => variant === name));
	const variances = variants.map((own) => varianceOfMean(own, metric));
	if (change === void 0 || change <= -1 || variances.some(Number.isNaN)) return [];
	const scale = 2 / variants.map((own) => new Set(own.map(layoutOf)).size).reduce((sum, count) => sum + 1 / count, 0);
	return [{
		cell,
		sumOfSquares: fourDigits(scale * Math.log1p(change) ** 2),
		runSumOfSquares: fourDigits(scale * variances.reduce((sum, variance) => sum + variance, 0))
	}];
}
const fourDigits = (value) => Number(value.toPrecision(4));
/** Squared standard error of the mean logarithm, from the spread of runs of one layout; NaN for too few. */
function varianceOfMean(runs, metric) {
	const layouts = [...Map.groupBy(runs, layoutOf).values()].map((own) => trialNumbers(own, metric).map(Math.log));
	const numbers = layouts.flat();
	const freedom = numbers.length - layouts.filter((own) => own.length > 0).length;
	if (freedom <= 0) return NaN;
	return layouts.reduce((sum, own) => sum + (own.length > 0 ? sumNthPowerDeviations(own, 2) : 0), 0) / freedom / numbers.length;
}
const emptyCount = (gate, { design }, at) => {
	const { metric, marginRatio, falseAlarmRatio } = gate.policy;
	return {
		kind: measuresLayoutNoise(gate) ? "layout-noise" : "same-build",
		testbed: gate.testbed.name,
		fingerprint: fingerprintOf(gate).id,
		metric,
		marginRatio,
		falseAlarmRatio,
		design: design.name,
		since: at,
		last: at,
		...noSums,
		alarmed: [],
		scatter: [],
		newest: []
	};
};
const noSums = {
	gates: 0,
	alarms: 0,
	cells: 0,
	cellAlarms: 0,
	inconclusive: 0,
	invalid: 0
};
const sums = [
	"gates",
	"alarms",
	"cells",
	"cellAlarms",
	"inconclusive",
	"invalid"
];
const isOfSameRow = (a, b) => a.kind === b.kind && a.testbed === b.testbed;
const isSameTest = (a, b) => isOfSameRow(a, b) && a.fingerprint === b.fingerprint && a.metric === b.metric && a.marginRatio === b.marginRatio && a.falseAlarmRatio === b.falseAlarmRatio && a.design === b.design;
/** Adds this gate once. Returns the count unchanged if it has the gate, or if the gate is too old to decide. */
function counted(count, added) {
	const newest = count.newest ?? [];
	const before = newest.find(({ at }) => at === added.at);
	if (before !== void 0 && JSON.stringify(before) === JSON.stringify(added)) return count;
	const isSettled = count.newest === void 0 || newest.length === maxNewest;
	if (before === void 0 && isSettled && added.at <= oldestKnown(count)) return count;
	const without = before === void 0 ? count : plus(count, before, -1);
	const others = newest.filter((gate) => gate !== before);
	return {
		...plus(without, added, 1),
		since: count.since < added.at ? count.since : added.at,
		last: count.last > added.at ? count.last : added.at,
		newest: [...others, added].toSorted((a, b) => a.at < b.at ? -1 : 1).slice(-10)
	};
}
/** Gates up to this time are assumed to be in the sums. */
const oldestKnown = ({ newest: [oldest] = [], last }) => oldest?.at ?? last;
function plus(count, gate, sign) {
	const total = Object.fromEntries(sums.map((name) => [name, count[name] + sign * gate[name]]));
	return {
		...count,
		...total,
		scatter: scatterPlus(count.scatter, gate.scatter, sign)
	};
}
function scatterPlus(scatter, added, sign) {
	const cells = new Map(scatter.map((entry) => [cellName(entry.cell), entry]));
	for (const { cell, sumOfSquares, runSumOfSquares } of added) {
		const known = cells.get(cellName(cell));
		cells.set(cellName(cell), {
			cell,
			gates: (known?.gates ?? 0) + sign,
			sumOfSquares: sumUp(known?.sumOfSquares, sign * sumOfSquares),
			runSumOfSquares: sumUp(known?.runSumOfSquares, sign * runSumOfSquares)
		});
	}
	return [...cells.values()].filter(({ gates }) => gates > 0);
}
const sumUp = (sum = 0, more) => Math.max(sum + more, 0);
const withoutNewest = ({ newest: _, ...count }) => count;

// src/analysis/trend/change-history.ts
const seriesKey = ({ testbed, cell }) => `${testbed} ${cellName(cell)}`;
/** Sorts by commit. Sessions of one commit, or of unknown commits, sort by their own time. */
const byCommit = (a, b) => (a.committedAt ?? a.at).localeCompare(b.committedAt ?? b.at) || a.at.localeCompare(b.at);
/** Cells that lost in a change; empty for a gain. */
const lossesOf = (change) => change.cells.filter(({ changeRatio }) => isLoss(change, changeRatio));
function worstOf(change) {
	const lost = lossesOf(change);
	return (lost.length > 0 ? lost : change.cells).reduce((worst, one) => Math.abs(one.changeRatio) > Math.abs(worst.changeRatio) ? one : worst);
}
/** Median of a nightly run; NaN without runs of the metric. */
const nightlyRunValue = (nightlyRun, metric) => median(nightlyRun[metric]);
const valuesOf = (nightlyRuns, metric) => nightlyRuns.map((nightlyRun) => nightlyRunValue(nightlyRun, metric));
/**
* Updates the index from the nightly runs of some series: new changes, cells that join a change, grown losses, returned
* levels. Nightly runs are keyed by `seriesKey`, and sorted by `byCommit`.
*/
function judgeTrend(index, nightlyRuns, policy, now) {
	const { metric } = policy;
	const series = index.cells.flatMap(({ testbed, cell }) => {
		const own = nightlyRuns.get(seriesKey({
			testbed,
			cell
		}))?.filter((nightlyRun) => nightlyRun[metric].length);
		return own ? [{
			testbed,
			cell,
			nightlyRuns: own
		}] : [];
	});
	const found = series.reduce((changes, one) => withFound(changes, one, policy, now), index.changes);
	return {
		...index,
		changes: found.map((change) => followed(change, found, series, policy, now))
	};
}
function withFound(changes, series, { metric, marginRatio }, now) {
	const known = cutsOf(changes, series, metric);
	const fresh = changePoints(valuesOf(series.nightlyRuns, metric), known, marginRatio / 2);
	const cuts = [...known, ...fresh.map(({ index }) => index)].toSorted((a, b) => a - b);
	return fresh.reduce((all, point) => withPoint(all, series, point, levelAt(series, point.index, cuts, metric), metric, now), [...changes]);
}
/** Indexes at which a series begins a new level, by its recorded changes; ascending. */
function cutsOf(changes, series, metric) {
	const firsts = new Set(changes.filter((change) => change.testbed === series.testbed && change.metric === metric).flatMap(({ cells }) => cells.filter(isOf(series)).map(({ firstAt }) => firstAt)));
	return series.nightlyRuns.flatMap(({ at }, place) => firsts.has(at) ? [place] : []);
}
const isOf = ({ cell }) => (other) => cellName(other.cell) === cellName(cell);
function levelAt({ cell, nightlyRuns }, index, cuts, metric) {
	const start = cuts.findLast((cut) => cut < index) ?? 0;
	const end = cuts.find((cut) => cut > index) ?? nightlyRuns.length;
	const before = median(valuesOf(nightlyRuns.slice(start, index), metric));
	const after = median(valuesOf(nightlyRuns.slice(index, end), metric));
	const firstAt = nightlyRuns[index]?.at ?? "";
	return {
		cell,
		before,
		after,
		changeRatio: after / before - 1,
		firstAt
	};
}
/** Adds a change point: as a new change, or as another cell of a change between the same commits. */
function withPoint(changes, { testbed, nightlyRuns }, { index, earliest, latest }, level, metric, now) {
	const good = nightlyRuns[earliest - 1]?.commit ?? "";
	const bad = nightlyRuns[latest]?.commit ?? "";
	const id = changeId(testbed, good, bad);
	const isSame = (change) => change.testbed === testbed && change.good === good && change.bad === bad || change.testbed === testbed && change.metric === metric && isOpen(change) && !change.cells.some(isOf(level)) && nightlyRuns.findLastIndex(({ commit }) => commit === change.good) < index && nightlyRuns.findIndex(({ commit }) => commit === change.bad) >= index;
	const same = changes.find(isSame);
	if (same) return changes.map((change) => change === same ? joined(same, level, now) : change);
	const foundAt = now.toISOString();
	return [...changes, {
		id,
		testbed,
		metric,
		good,
		bad,
		cells: [level],
		state: good === bad ? "testbed" : "candidate",
		foundAt,
		changedAt: foundAt,
		gates: [],
		alert: { told: [] }
	}];
}
const changeId = (...parts) => createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 40);
/** True while the change is unsettled and the old level has not returned. */
const isOpen = ({ state }) => state !== "accepted" && state !== "recovered";
/** A gate that found nothing in other cells does not apply to this one. */
function joined(change, level, now) {
	const cells = [...change.cells.filter((other) => !isOf(level)(other)), level];
	return change.state === "testbed" && change.gates.length > 0 && isLoss(change, level.changeRatio) ? moved({
		...change,
		cells
	}, "confirming", now) : {
		...change,
		cells
	};
}
const moved = (change, state, now) => change.state === state ? change : {
	...change,
	state,
	changedAt: now.toISOString()
};
/** Updates a change from later nightly runs: its size, a return to the old level, or a loss of another half margin. */
function followed(change, changes, all, { metric, marginRatio }, now) {
	if (change.metric !== metric || !isOpen(change)) return change;
	const isLostBy = (least, ratio) => isLoss(change, ratio) && Math.abs(ratio) >= least;
	const half = marginRatio / 2;
	const levels = change.cells.map((level) => {
		const series = all.find((one) => one.testbed === change.testbed && isOf(one)(level));
		return {
			level,
			since: series && sinceLastCut(series, cutsOf(changes, series, metric), metric)
		};
	});
	const lost = levels.filter(({ level }) => isLoss(change, level.changeRatio));
	const isBack = ({ level, since }) => since !== void 0 && !isLostBy(Math.min(half, Math.abs(level.changeRatio) / 2), since.typical / level.before - 1);
	if (lost.length > 0 && lost.every(isBack)) return moved(change, "recovered", now);
	const cells = levels.map(({ level, since }) => {
		if (since?.firstAt !== level.firstAt) return level;
		if (!(since.nightlyRuns <= nightlyRunsThatSettle || isLostBy(half, since.typical / level.after - 1))) return level;
		return {
			...level,
			after: since.typical,
			changeRatio: since.typical / level.before - 1
		};
	});
	return {
		...change,
		cells
	};
}
/** Nightly runs for which the size of a new level is refined. */
const nightlyRunsThatSettle = 10;
function sinceLastCut({ nightlyRuns }, cuts, metric) {
	const start = cuts.at(-1) ?? 0;
	const since = nightlyRuns.slice(start);
	const typical = median(valuesOf(since, metric));
	return {
		firstAt: since[0]?.at,
		nightlyRuns: since.length,
		typical
	};
}
/**
* Applies a gate between a change's last good commit (base) and suspect (patched) on the same testbed. Without such an
* open change, leaves the index unchanged. A loss in the gate, too, means that the code is at fault.
*/
function withGate(index, gate, path) {
	const commitOf = (name) => gate.variants.find((variant) => variant.name === name)?.commit;
	return withChange(index, (change) => isGateRequested(change) && change.testbed === gate.testbed.name && change.good === commitOf("base") && change.bad === commitOf("patched"), (change) => gated(change, gate, path));
}
const withChange = (index, isMeant, edit) => ({
	...index,
	changes: index.changes.map((change) => isMeant(change) ? edit(change) : change)
});
/** True if a gate is due, or was inconclusive. */
const isGateRequested = ({ state }) => state === "candidate" || state === "confirming";
function gated(change, { outcome, finishedAt }, path) {
	const cells = (outcome.kind === "judged" ? outcome.cells : []).filter((cell) => change.cells.some(isOf(cell)));
	const now = new Date(finishedAt);
	const gate = {
		at: now.toISOString(),
		result: path,
		verdict: verdictOf(outcome),
		cells: cells.map(({ cell, comparisons }) => {
			const interval = comparisons.find(({ metric }) => metric === change.metric)?.interval;
			return {
				cell,
				...interval && { interval }
			};
		})
	};
	const verdicts = lossesOf(change).map((level) => cells.find(isOf(level))?.verdict.kind);
	const others = change.gates.filter(({ at }) => at !== gate.at);
	return moved({
		...change,
		gates: [...others, gate]
	}, stateAfter(verdicts, outcome.kind === "unchanged"), now);
}
function verdictOf(outcome) {
	if (outcome.kind === "judged") return outcome.verdict;
	return outcome.kind === "unchanged" ? "no-regression" : "invalid";
}
/** `said` has the verdicts of the cells that lost. Two commits with the same kernel cannot differ. */
function stateAfter(verdicts, isSameKernel) {
	if (verdicts.includes("regression")) return "code";
	const isFree = (kind) => kind === "no-regression" || kind === "improvement";
	return isSameKernel || verdicts.every(isFree) ? "testbed" : "confirming";
}
function withBisection(index, { testbed, good, bad, revisions, answer }, path) {
	const culprit = answer.kind === "culprit" ? revisions[answer.revision]?.commit : void 0;
	return withChange(index, (change) => change.testbed === testbed.name && change.good === good && change.bad === bad, (change) => ({
		...change,
		bisection: {
			result: path,
			...culprit && { culprit }
		}
	}));
}
/** Accepts the level of change `id` as the new one; undefined if no such change is open. */
function accepted(index, id, now) {
	const isMeant = (change) => change.id === id && isOpen(change);
	if (!index.changes.some(isMeant)) return void 0;
	return withChange(index, isMeant, (change) => moved(change, "accepted", now));
}
/**
* True if a run is more than 1 % and four deviations off the level of `before`, sorted by `byCommit`; false if that is
* too short.
*/
function isOff(before, nightlyRun, metric) {
	if (nightlyRun[metric].length === 0) return false;
	const level = lastLevel(valuesOf(before.filter((other) => other[metric].length), metric));
	if (!level) return false;
	const step = Math.log(nightlyRunValue(nightlyRun, metric) / level.typical);
	return Math.abs(step) > Math.max(deviationsOff * level.sigmaRatio, minChangeRatio);
}
const deviationsOff = 4;
/** Changes that a gate should compare, oldest first: unexplained losses, at most three times each. */
const changesToGate = ({ changes }, testbed) => changes.filter((change) => change.testbed === testbed && isGateRequested(change) && change.gates.length < maxGates && lossesOf(change).length > 0);
const maxGates = 3;
/** Code changes that were not bisected, oldest first. Git decides whether there are commits in between. */
const changesToBisect = ({ changes }, testbed) => changes.filter((change) => change.testbed === testbed && change.state === "code" && !change.bisection);
/** Splits a series, sorted by `byCommit`, at its recorded changes. Omits nightly runs without the metric. */
function levelsOf({ changes }, series, nightlyRuns, metric) {
	const cuts = cutsOf(changes, {
		...series,
		nightlyRuns
	}, metric).filter((cut) => cut > 0);
	return [0, ...cuts].flatMap((from, place) => {
		const to = cuts[place] ?? nightlyRuns.length;
		const values = valuesOf(nightlyRuns.slice(from, to).filter((nightlyRun) => nightlyRun[metric].length), metric);
		if (values.length === 0) return [];
		return [{
			from,
			to,
			typical: median(values),
			sigmaRatio: nightlySigmaRatio(values)
		}];
	});
}

// src/analysis/trend/nightly-runs.ts
const emptyTrend = {
	index: {
		schemaVersion: 1,
		cells: [],
		fingerprints: [],
		changes: [],
		aaRuns: [],
		releases: []
	},
	nightlyRuns: /* @__PURE__ */ new Map()
};
/**
* Returns a nightly run for each cell with forwarded packets. An A/A run measures its commit with both variants, unless
* patched is another layout; any other gate measures its patched commit. `committedAt` is unverified if it is later
* than the session.
*/
function nightlyRunsOf(result, occasion, committedAt, path) {
	const { outcome, patch, startedAt } = result;
	if (outcome.kind !== "judged") return [];
	const at = new Date(startedAt).toISOString();
	const commit = patch.headCommit;
	const made = timeBefore(at, committedAt(commit));
	const about = {
		at,
		commit,
		...made !== void 0 && { committedAt: made },
		occasion
	};
	const fingerprint = fingerprintOf(result).id;
	return outcome.cells.flatMap(({ cell, runs }) => {
		const numbers = numbersOf(runs.filter(isOfCommit(result)));
		if (numbers.pps.length === 0) return [];
		return {
			cell,
			nightlyRun: {
				...about,
				...numbers,
				fingerprint,
				result: path
			}
		};
	});
}
/** Replaces a session that was extended or published again. */
const withNightlyRun = (nightlyRuns, nightlyRun) => [...nightlyRuns.filter((other) => !isSameSession(other, nightlyRun)), nightlyRun].toSorted(byCommit);
const isSameSession = (a, b) => a.at === b.at && a.commit === b.commit && a.occasion === b.occasion;
/** Limit of lines per year: a nightly run every six minutes. */
const maxLines = 1e5;
/** Returns a year's readable lines: people can edit the branch, and a bad line must not stop a gate. */
function parseNightlyRuns(text) {
	const nightlyRuns = [];
	for (const line of jsonLines(text, maxLines)) {
		const { data } = nightlySchema.safeParse(line);
		if (data !== void 0) nightlyRuns.push(data);
	}
	return nightlyRuns;
}
function timeBefore(at, written) {
	const time = new Date(written ?? NaN);
	if (Number.isNaN(time.getTime()) || time > new Date(at)) return void 0;
	return time.toISOString();
}
function isOfCommit(result) {
	const { baseCommit, headCommit } = result.patch;
	if (baseCommit !== headCommit) return ({ variant }) => variant === "patched";
	if (measuresLayoutNoise(result)) return ({ variant }) => variant === "base";
	return ({ variant }) => isJudged(variant);
}
const numbersOf = (runs) => byMetric((metric) => rounded(trialNumbers(runs, metric), metric));
const rounded = (values, metric) => values.map(roundings[metric]).filter((value) => value > 0);
/**
* Rounds away digits of a rate, a time (10⁻⁴) or instructions (10⁻⁶) that are noise, as short lines keep the branch
* small.
*/
const roundings = {
	pps: Math.round,
	nsPerPacket: (value) => Number(value.toPrecision(4)),
	instructionsPerPacket: (value) => Number(value.toPrecision(6))
};

export { accepted, byCommit, changesToBisect, changesToGate, countsOf, emptyTrend, isOfOneCommit, isOff, isOpen, judgeTrend, layoutNoise, levelsOf, lossesOf, measuresLayoutNoise, nightlyRunsOf, parseNightlyRuns, sameSummary, sameText, seriesKey, withBisection, withFingerprint, withGate, withNightlyRun, withSameGate, worstOf };