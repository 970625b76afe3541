import { counted, formatEstimate, formatPercent, formatRoughly, isCompleted } from "../../model/first-plain.js";
import { object } from "../../vendor/zod.js";
import { bounds_exports, cellName, count } from "../../model/first.js";
import { quantile } from "../../vendor/simple-statistics.js";
import { analysesSharedBy, median, moderated } from "../../analysis/stats/first.js";
import { analysisSizes, criticalT, studentTail } from "../../analysis/stats/first-plain.js";
import { byTurn } from "../reserve/first-plain.js";
import { lostOutcome, readLog, rivalsOf } from "../reserve/first.js";

// src/gate/estimate/durations.ts
const { seconds } = bounds_exports;
const gateDurations = object({
	/** From the end of a trial to the next one in another boot; 0 without boots. */
	bootSeconds: seconds,
	/** Includes the time to load rules, to wait for ports, and the traffic. */
	trialSeconds: seconds,
	/** Wait for kernels, and everything else before the first boot. */
	buildSeconds: seconds
});
/** A self-test measures no builds. */
const durationsSchema = gateDurations.partial({ buildSeconds: true });
/** Medians over `gates` gates; 0: usual values of such a testbed. */
const expectedDurationsSchema = gateDurations.extend({ gates: count });
/**
* Uses the median of trials but the lower quartile of boots, as waits for kernels, profiles and nightly runs lengthen
* some. Undefined for fewer than two trials. If each boot has one trial, all but its traffic counts as boot.
*/
function durationsOf(result) {
	const bootOf = bootsIn(result);
	const trials = result.trials.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
	const [first, ...later] = trials;
	if (first === void 0 || later.length === 0) return void 0;
	const within = [];
	const across = [];
	for (const [index, trial] of later.entries()) {
		const before = trials[index] ?? first;
		const interval = secondsBetween(before.startedAt, trial.startedAt);
		(bootOf(before) === bootOf(trial) ? within : across).push(interval);
	}
	const traffic = median(trials.map(({ trafficSeconds }) => trafficSeconds));
	const trialSeconds = Math.max(traffic, within.length === 0 ? 0 : median(within));
	const measured = trials.flatMap((trial) => trial.bootSeconds ?? []);
	const boots = measured.length > 0 ? measured : across.map((interval) => Math.max(0, interval - trialSeconds));
	const bootSeconds = boots.length === 0 ? 0 : quantile(boots, .25);
	const usual = bootSeconds + trialSeconds;
	return {
		bootSeconds,
		trialSeconds,
		buildSeconds: Math.max(0, secondsBetween(result.startedAt, first.startedAt) - bootSeconds) + Math.max(0, (across[0] ?? usual) - usual)
	};
}
/** Names the boot of a trial: its variant's, its pair's guests', or none if variants share a kernel. */
function bootsIn({ outcome }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const byTrial = Map.groupBy(runs, ({ trial, attempt }) => `${trial}.${attempt}`);
	return ({ number, attempt, kernels }) => {
		const own = byTrial.get(`${number}.${attempt}`) ?? [];
		const last = own.at(-1);
		if (kernels !== void 0) return `${last?.pair}`;
		return own.length === 1 ? `${last?.variant} ${last?.pair}` : void 0;
	};
}
const secondsBetween = (from, to) => Math.max(0, (Date.parse(to) - Date.parse(from)) / 1e3);
/** Medians of the latest gates on the testbed. `entries` are lines of its history, several per gate. */
function expectedDurationsOn(entries, testbed, config) {
	const latest = [...new Map(entries.flatMap(({ at, testbed: name, durations }) => name === testbed && durations !== void 0 ? [[at, durations]] : []))].toSorted(([a], [b]) => a.localeCompare(b)).slice(-maxGates).map(([, durations]) => durations);
	const usual = usualDurations(config, testbed);
	const medianOf = (part) => {
		const known = latest.flatMap((durations) => durations[part] ?? []);
		return known.length === 0 ? usual[part] : median(known);
	};
	return {
		bootSeconds: medianOf("bootSeconds"),
		trialSeconds: medianOf("trialSeconds"),
		buildSeconds: medianOf("buildSeconds"),
		gates: latest.length
	};
}
const maxGates = 10;
/** A server's boot and a kernel that is not cached, as in docs/how-to/lab.md, and the time to install files. */
const assumed = {
	bootSeconds: 240,
	buildSeconds: 600,
	installSeconds: 2
};
/** A pair of guests on two emulated CPUs: its boot, and the packets per second that one guest forwards. */
const assumedOfGuests = {
	bootSeconds: {
		linux: 15,
		freebsd: 60
	},
	pps: 15e3
};
function usualDurations({ testbeds, traffic }, name) {
	const { warmUpSeconds, settleSeconds, measureAtLeastSeconds, runsPerTrial, windows } = traffic;
	const testbed = testbeds[name];
	if (testbed?.kind === "virtual" && windows !== void 0) {
		const trafficSeconds = 2 * (windows.count + 1) * (windows.packets / assumedOfGuests.pps);
		return {
			bootSeconds: assumedOfGuests.bootSeconds[testbed.system],
			trialSeconds: trafficSeconds + assumed.installSeconds,
			buildSeconds: 0
		};
	}
	const trialSeconds = warmUpSeconds + runsPerTrial * (settleSeconds + measureAtLeastSeconds) + assumed.installSeconds;
	if (testbed?.kind !== "freebsd") return {
		bootSeconds: 0,
		trialSeconds,
		buildSeconds: 0
	};
	return {
		bootSeconds: Math.min(assumed.bootSeconds, testbed.dut.boot.limitSeconds),
		trialSeconds,
		buildSeconds: testbed.builder === void 0 ? 0 : assumed.buildSeconds
	};
}

// src/gate/estimate/experiment.ts
/** Typical noise for cells without a history; that of guests is from docs/how-to/kernels.md. */
const assumedNoiseRatios = {
	pps: .01,
	nsPerPacket: .01,
	instructionsPerPacket: .002
};
/** Excludes the wait for the testbed. */
function estimateExperiment(outlined) {
	const { cells, policy } = outlined;
	return {
		cells: cells.map(({ cell, ...planned }) => ({
			cell,
			...estimateRuns(planned, policy, cells.length)
		})),
		ifUnchanged: courseOf(outlined, "unchanged"),
		ifLost: courseOf(outlined, "lost")
	};
}
/** A boot serves all cells, so the slowest cell determines the number of boots. */
function courseOf(outlined, truth) {
	const { cells, policy, traffic, profile, variants, durations } = outlined;
	const steps = cells.map((planned) => stepsOf(planned, policy, cells.length, truth));
	const pairs = steps.reduce((sum, own) => sum + expectedPairs(own), 0);
	const isShared = traffic.runsPerTrial > 1;
	const trials = isShared ? pairs / (cells[0]?.design.pairsPerStep ?? 1) : pairs * variants;
	const boots = bootsPerPair(outlined) * expectedPairs(slowestOf(steps));
	const profiles = profile === void 0 ? 0 : cells.length * variants;
	const last = boots > 0 && !isShared ? 1 : 0;
	return {
		boots,
		trials,
		totalSeconds: durations.buildSeconds + secondsOf(boots + last, trials + profiles, durations)
	};
}
const secondsOf = (boots, trials, { bootSeconds, trialSeconds }) => boots * bootSeconds + trials * trialSeconds;
/** Variants boot one by one, all of a pair at once as guests, or not at all. */
function bootsPerPair({ traffic, durations, variants }) {
	if (durations.bootSeconds === 0) return 0;
	if (traffic.windows !== void 0) return 1;
	return traffic.runsPerTrial > 1 ? 0 : variants;
}
function estimateRuns({ design, history }, policy, cells) {
	const planned = {
		design,
		history
	};
	const runsIf = (truth) => 2 * expectedPairs(stepsOf(planned, policy, cells, truth));
	const estimate = {
		runsIfUnchanged: runsIf("unchanged"),
		runsIfLost: runsIf("lost"),
		maxRuns: 2 * (design.budgets.at(-1) ?? 0)
	};
	if (design.method === "paired") return {
		basis: "least",
		...estimate
	};
	const known = noiseRatioOf(history);
	const noiseRatio = known ?? assumedNoiseRatios[policy.metric];
	const reachableMarginRatio = reachableMargin(planned, noiseRatio, policy, cells);
	return {
		basis: known === void 0 ? "assumed" : "history",
		noiseRatio,
		...estimate,
		reachableMarginRatio
	};
}
/** Standard deviation of a run, as a ratio; undefined for too few earlier runs. */
function noiseRatioOf(history) {
	if (history === void 0 || history.degreesOfFreedom < 4) return void 0;
	return Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
}
/** Counts only the first analysis where runs are compared with their neighbours, as their noise is unknown. */
function stepsOf(planned, policy, cells, truth) {
	const { design, history } = planned;
	if (design.method === "paired") return analysisSizes(design).map((pairs) => ({
		pairs,
		open: 0
	}));
	const noiseRatio = noiseRatioOf(history) ?? assumedNoiseRatios[policy.metric];
	return analysesSharedBy(cells, planned, policy).map(({ pairs, levels }) => {
		const distance = -Math.log1p(-policy.marginRatio) / errorOf(noiseRatio, pairs);
		const level = truth === "lost" ? levels.falseAlarms : levels.misses;
		const beyond = distance - criticalT(degreesOfFreedom(pairs, history), level);
		const tail = studentTail(Math.abs(beyond), Number.POSITIVE_INFINITY);
		return {
			pairs,
			open: beyond > 0 ? tail : 1 - tail
		};
	});
}
const errorOf = (noiseRatio, pairs) => noiseRatio * Math.sqrt(2 / pairs);
/** From three pairs on, the fit has a drift besides both variants. */
const degreesOfFreedom = (pairs, history) => 2 * pairs - (pairs < 3 ? 2 : 3) + moderated(history).degreesOfFreedom;
function expectedPairs(steps) {
	let [sum, before, open] = [
		0,
		0,
		1
	];
	for (const step of steps) {
		sum += (step.pairs - before) * open;
		[before, open] = [step.pairs, step.open];
	}
	return sum;
}
/** All cells have the same interim analyses. */
const slowestOf = (cells) => (cells[0] ?? []).map(({ pairs }, index) => ({
	pairs,
	open: 1 - cells.reduce((decided, steps) => decided * (1 - (steps[index]?.open ?? 0)), 1)
}));
/** Considers the last analysis only: its critical value, and a fifth of the permitted misses. */
function reachableMargin(planned, noiseRatio, policy, cells) {
	const last = analysesSharedBy(cells, planned, policy).at(-1);
	if (last === void 0) return 1;
	const degrees = degreesOfFreedom(last.pairs, planned.history);
	const reach = criticalT(degrees, last.levels.falseAlarms) + criticalT(degrees, policy.missRatio / 5);
	return -Math.expm1(-reach * errorOf(noiseRatio, last.pairs));
}
function experimentEstimateLine({ cells, ifUnchanged, ifLost }, { policy, durations }) {
	const { boots, trials, totalSeconds } = ifUnchanged;
	const has = (basis) => cells.some((cell) => cell.basis === basis);
	const least = has("least") ? `at least ${formatRoughly(totalSeconds)}` : formatEstimate(totalSeconds);
	const many = [...boots > 0 ? [counted(Math.round(boots), "boot")] : [], counted(Math.round(trials), "trial")];
	const lost = `${formatRoughly(ifLost.totalSeconds)} if ${formatPercent(policy.marginRatio)} is`;
	const noise = `, assuming that runs vary by ${formatPercent(assumedNoiseRatios[policy.metric])}`;
	return `${least} if nothing is lost (${many.join(" and ")}), ${lost}; ${basisText(durations)}${has("assumed") ? noise : ""}`;
}
function basisText({ gates }) {
	if (gates === 0) return "from default values, because no gate has run here yet";
	return gates === 1 ? "from the last gate here" : `from the last ${gates} gates here`;
}
/** Estimates the remaining time of a running experiment, at its pace so far. Times are in seconds. */
var RemainingTime = class {
	#decided = /* @__PURE__ */ new Set();
	#outlined;
	#expectedTrials;
	/** Expected and actual seconds of the trials and profiles so far. */
	#past = {
		expected: 0,
		actual: 0
	};
	#step;
	onEvent(event, now) {
		switch (event.kind) {
			case "planned": {
				this.#outlined = {
					...event.plan,
					variants: event.plan.variants.length
				};
				const { cells, ifUnchanged } = estimateExperiment(this.#outlined);
				if (cells.every(({ basis }) => basis !== "least")) this.#expectedTrials = ifUnchanged.trials;
				return;
			}
			case "decided":
				this.#decided.add(cellName(event.cell));
				return;
			case "profile":
			case "trial":
				if (this.#outlined === void 0) return;
				if (this.#step !== void 0) {
					this.#past.expected += this.#step.expected;
					this.#past.actual += now - this.#step.begunAt;
				}
				this.#step = {
					expected: this.#secondsFor(1, this.#outlined),
					begunAt: now
				};
		}
	}
	/** Estimates at the start of a trial. Undefined before the first one ends, unless earlier gates are known. */
	left({ done, of }) {
		const outlined = this.#outlined;
		if (outlined === void 0) return void 0;
		const { durations, profile, cells, variants, traffic } = outlined;
		const known = durations.gates === 0 ? 0 : this.#secondsFor(cells.length, outlined);
		const [expected, actual] = [this.#past.expected + known, this.#past.actual + known];
		if (expected === 0) return void 0;
		const profiles = profile === void 0 ? 0 : cells.length * variants;
		const secondsLeft = (trials) => (this.#secondsFor(trials, outlined) + secondsOf(0, profiles, durations)) * (actual / expected);
		const maxSeconds = secondsLeft(of - done);
		if (this.#expectedTrials === void 0) return { maxSeconds };
		const due = Math.max(this.#expectedTrials - done, this.#openCells(cells) * (traffic.runsPerTrial > 1 ? 1 : variants));
		return {
			expectedSeconds: secondsLeft(Math.min(due, of - done)),
			maxSeconds
		};
	}
	/** A boot serves all open cells. */
	#secondsFor(trials, outlined) {
		const boots = bootsPerPair(outlined) === 0 ? 0 : trials / this.#openCells(outlined.cells);
		return secondsOf(boots, trials, outlined.durations);
	}
	#openCells(cells) {
		return Math.max(1, cells.length - this.#decided.size);
	}
};

// src/gate/estimate/queue.ts
/** Leases with this purpose only check a testbed, and last a moment. */
const healthPurpose = "health";
function estimateWaits(lab, usualSeconds, now) {
	const starts = startsOf(lab, usualSeconds, now);
	return new Map(lab.tickets.map((ticket) => {
		const rivals = rivalsOf(lab, ticket);
		const start = starts.get(ticket.id);
		const expected = start !== void 0 && { expectedSeconds: start.afterSeconds };
		return [ticket.id, {
			place: rivals.indexOf(ticket) + 1,
			of: rivals.length,
			...expected
		}];
	}));
}
/** Testbed that a new request would get, and its wait; undefined if no suitable testbed is healthy. */
function estimateStart(lab, { priority, testbeds }, usualSeconds, now) {
	const newcomer = {
		id: "",
		order: Number.POSITIVE_INFINITY,
		priority,
		wants: testbeds
	};
	const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
	return startsOf({
		...lab,
		tickets
	}, usualSeconds, now).get(newcomer.id);
}
/** Starts by ticket. Tickets are in the order of turns, and wait for testbeds in quarantine in vain. */
function startsOf({ tickets, held, quarantines }, usualSeconds, now) {
	const freeAfter = /* @__PURE__ */ new Map();
	for (const [machine, { testbed, since }] of held) {
		const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1e3);
		freeAfter.set(machine, Math.max(usualSeconds(testbed) - elapsed, minSeconds));
	}
	const starts = /* @__PURE__ */ new Map();
	for (const { id, wants } of tickets) {
		let start;
		for (const [testbed, machines] of wants) {
			if (quarantines.has(testbed)) continue;
			const afterSeconds = Math.max(0, ...machines.map((machine) => freeAfter.get(machine) ?? 0));
			if (start === void 0 || afterSeconds < start.afterSeconds) start = {
				testbed,
				afterSeconds
			};
		}
		if (start === void 0) continue;
		starts.set(id, start);
		const until = start.afterSeconds + usualSeconds(start.testbed);
		for (const machine of wants.get(start.testbed) ?? []) freeAfter.set(machine, until);
	}
	return starts;
}
/** Minimum if a holder exceeds the usual duration. */
const minSeconds = 60;
/** Guess without any log: a gate of one or two cells. */
const firstGuessSeconds = 1800;
async function readUsualSeconds(store, now) {
	const months = [new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)), now].map((date) => date.toISOString().slice(0, 7));
	return usualSecondsOf((await Promise.all(months.map((month) => readLog(store, month)))).flat());
}
function usualSecondsOf(log) {
	const held = log.flatMap(({ testbed, holder, since, until, outcome }) => since === void 0 || until === void 0 || outcome === "it was not renewed in time" || !isCompleted(outcome) || holder.purpose === "health" ? [] : [{
		testbed,
		seconds: (Date.parse(until) - Date.parse(since)) / 1e3
	}]);
	const byTestbed = Map.groupBy(held, ({ testbed }) => testbed);
	return (testbed) => {
		const known = (byTestbed.get(testbed) ?? held).slice(-20).map(({ seconds }) => seconds);
		return known.length === 0 ? firstGuessSeconds : median(known);
	};
}

export { RemainingTime, basisText, durationsOf, durationsSchema, estimateExperiment, estimateRuns, estimateStart, estimateWaits, expectedDurationsOn, expectedDurationsSchema, experimentEstimateLine, healthPurpose, noiseRatioOf, readUsualSeconds };