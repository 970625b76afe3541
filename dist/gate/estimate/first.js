import { counted, formatEstimate, formatPercent, formatRoughly, isCompleted } from "../../model/first-plain.js";
import { object } from "../../vendor/zod.js";
import { bounds_exports, cellName, count } from "../../model/first.js";
import { quantile } from "../../vendor/simple-statistics.js";
import { analysesSharedBy, maxEarlierRuns, median, moderated, simulate } from "../../analysis/stats/first.js";
import { analysisSizes, criticalT } from "../../analysis/stats/first-plain.js";
import { bootKindOf, bootOf } from "./first-plain.js";
import { assign, byTurn, insertInOrder, testbedsOf } from "../reserve/first-plain.js";
import { linesOf, lostOutcome, readLog, rivalsOf } from "../reserve/first.js";

// src/gate/estimate/durations.ts
const { seconds } = bounds_exports;
const gateDurations = object({
	/** From the end of a trial to the next one in another boot; 0 without boots. */
	bootSeconds: seconds,
	/** Includes the time to load rules, to wait for ports, and the traffic. */
	trialSeconds: seconds,
	trafficSeconds: seconds,
	/** Wait for kernels, and everything else before the first boot. */
	buildSeconds: seconds
});
/** A self-test measures neither traffic nor builds. */
const durationsSchema = gateDurations.partial({
	trafficSeconds: true,
	buildSeconds: true
});
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
	const steps = later.map((trial, index) => {
		const before = trials[index] ?? first;
		return {
			seconds: secondsBetween(before.startedAt, trial.startedAt),
			isBoot: bootOf(before) !== bootOf(trial)
		};
	});
	const within = steps.filter(({ isBoot }) => !isBoot);
	const boots = steps.filter(({ isBoot }) => isBoot);
	const trafficSeconds = median(trials.map((trial) => trial.trafficSeconds));
	const trialSeconds = Math.max(trafficSeconds, quantileOf(within, .5) ?? 0);
	const measured = trials.flatMap((trial) => trial.bootSeconds ?? []);
	const bootSeconds = measured.length > 0 ? quantile(measured, .25) : Math.max(0, (quantileOf(boots, .25) ?? trialSeconds) - trialSeconds);
	const usual = bootSeconds + trialSeconds;
	return {
		bootSeconds,
		trialSeconds,
		trafficSeconds,
		buildSeconds: Math.max(0, secondsBetween(result.startedAt, first.startedAt) - bootSeconds) + Math.max(0, (boots[0]?.seconds ?? usual) - usual)
	};
}
/** Names the boot of a trial: its variant's, its pair's guests', or none if variants share a kernel. */
function bootsIn({ outcome }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const byTrial = Map.groupBy(runs, ({ trial, attempt }) => `${trial}.${attempt}`);
	return ({ number, attempt, kernels }) => {
		const own = byTrial.get(`${number}.${attempt}`) ?? [];
		const alone = own.length === 1 ? "each" : "none";
		return bootOf(own, kernels === void 0 ? alone : "pair");
	};
}
const quantileOf = (steps, share) => steps.length === 0 ? void 0 : quantile(steps.map((step) => step.seconds), share);
const secondsBetween = (from, to) => Math.max(0, (Date.parse(to) - Date.parse(from)) / 1e3);
/** Medians of the latest gates on the testbed. `entries` are lines of its history, several per gate. */
function expectedDurationsOn(entries, testbed, config) {
	const latest = [...new Map(entries.flatMap(({ at, testbed: name, durations }) => name === testbed && durations !== void 0 ? [[at, durations]] : []))].toSorted(([a], [b]) => a.localeCompare(b)).slice(-maxGates).map(([, durations]) => durations);
	const usual = usualDurations(config, testbed);
	const medianBy = (part) => {
		const known = latest.flatMap((durations) => durations[part] ?? []);
		return known.length === 0 ? usual[part] : median(known);
	};
	const trialSeconds = medianBy("trialSeconds");
	return {
		bootSeconds: medianBy("bootSeconds"),
		trialSeconds,
		trafficSeconds: Math.min(trialSeconds, medianBy("trafficSeconds")),
		buildSeconds: medianBy("buildSeconds"),
		gates: latest.length
	};
}
const maxGates = 10;
/** A server's boot and a kernel that is not cached, as in docs/how-to/lab.md. */
const assumed = {
	bootSeconds: 240,
	buildSeconds: 600,
	laySeconds: 2
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
	const { warmUpSeconds, settleSeconds, measureAtLeastSeconds, runsPerTrial } = traffic;
	const testbed = testbeds[name];
	if (testbed?.kind === "virtual" && traffic.windows !== void 0) {
		const { count, packets } = traffic.windows;
		const trafficSeconds = 2 * (count + 1) * (packets / assumedOfGuests.pps);
		return {
			bootSeconds: assumedOfGuests.bootSeconds[testbed.system],
			buildSeconds: 0,
			trafficSeconds,
			trialSeconds: trafficSeconds + assumed.laySeconds
		};
	}
	if (testbed?.kind !== "freebsd") {
		const trafficSeconds = warmUpSeconds + runsPerTrial * (settleSeconds + measureAtLeastSeconds);
		return {
			bootSeconds: 0,
			buildSeconds: 0,
			trafficSeconds,
			trialSeconds: trafficSeconds + assumed.laySeconds
		};
	}
	const trafficSeconds = warmUpSeconds + runsPerTrial * measureAtLeastSeconds;
	return {
		bootSeconds: Math.min(assumed.bootSeconds, testbed.dut.boot.limitSeconds) + settleSeconds,
		buildSeconds: testbed.builder === void 0 ? 0 : assumed.buildSeconds,
		trafficSeconds,
		trialSeconds: trafficSeconds + assumed.laySeconds
	};
}

// src/gate/estimate/runs.ts
/**
* Undefined if runs are compared with their neighbours, or if noise is neither known nor assumed.
*
* @param assumedNoiseRatio standard deviation of a run, as a ratio.
*/
function estimateRuns({ design, history }, policy, cells, assumedNoiseRatio) {
	const known = noiseOf(history);
	const noiseRatio = known ?? assumedNoiseRatio;
	if (noiseRatio === void 0 || design.method === "paired") return void 0;
	const runsAt = (effect) => simulate({
		noise: {
			kind: "normal",
			cv: noiseRatio
		},
		design: {
			name: design.name,
			budgets: design.budgets
		},
		historyRuns: history === void 0 ? 0 : earlierRunsOf(history),
		sessionDegreesOfFreedom: history?.sessionDegreesOfFreedom,
		rates: {
			falseAlarms: policy.falseAlarmRatio,
			misses: policy.missRatio
		},
		cells,
		marginRatio: policy.marginRatio,
		effect,
		experiments: 1e3,
		seed: 1
	});
	const [unchanged, lost] = [runsAt(0), runsAt(-policy.marginRatio)];
	return {
		noiseRatio,
		isAssumed: known === void 0,
		runsIfUnchanged: unchanged.meanRuns,
		runsIfLost: lost.meanRuns,
		mostRunsIfUnchanged: unchanged.meanMostRuns,
		mostRunsIfLost: lost.meanMostRuns,
		reachableMarginRatio: reachableMargin({
			design,
			history
		}, noiseRatio, policy, cells)
	};
}
/** A prior keeps few degrees of freedom even of a long history. */
const earlierRunsOf = ({ degreesOfFreedom }) => Math.min(degreesOfFreedom + 1, maxEarlierRuns);
const minDegreesOfFreedom = 4;
function noiseOf(history) {
	if (history === void 0 || history.degreesOfFreedom < minDegreesOfFreedom) return void 0;
	return Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
}
/** Considers the last analysis only: its critical value, and a fifth of the permitted misses. */
function reachableMargin({ design, history }, noiseRatio, policy, cells) {
	const last = analysesSharedBy(cells, { design }, policy).at(-1);
	if (last === void 0) return 1;
	const fitted = last.pairs < 3 ? 2 : 3;
	const degreesOfFreedom = 2 * last.pairs - fitted + moderated(history).degreesOfFreedom;
	const error = noiseRatio * Math.sqrt(2 / last.pairs);
	const reach = criticalT(degreesOfFreedom, last.levels.falseAlarms) + criticalT(degreesOfFreedom, policy.missRatio / 5);
	return -Math.expm1(-reach * error);
}

// src/gate/estimate/experiment.ts
const timeParts = [
	"building",
	"booting",
	"traffic",
	"settling",
	"profiles",
	"givingBack"
];
/** Typical noise for cells without a history; that of guests is from docs/how-to/virtual.md. */
const assumedNoiseRatios = {
	pps: .01,
	nsPerPacket: .01,
	instructionsPerPacket: .002
};
/** Deterministic by plan. Excludes the wait for the testbed. */
function estimateExperiment(outlined) {
	const { policy, cells } = outlined;
	const estimates = cells.map((planned) => {
		const assumed = assumedNoiseRatios[policy.metric];
		return {
			planned,
			expected: estimateRuns(planned, policy, cells.length, assumed)
		};
	});
	const course = (of) => courseOf(outlined, estimates.map(({ planned, expected }) => ({
		planned,
		pairs: (expected?.[`runsIf${of}`] ?? minRuns(planned)) / 2,
		maxPairs: (expected?.[`mostRunsIf${of}`] ?? minRuns(planned)) / 2
	})));
	return {
		cells: estimates.map(({ planned, expected }) => cellEstimate(planned, expected)),
		ifUnchanged: course("Unchanged"),
		ifLost: course("Lost")
	};
}
function cellEstimate(planned, expected) {
	const { cell, design } = planned;
	const maxRuns = 2 * (design.budgets.at(-1) ?? 0);
	if (expected === void 0) {
		const least = minRuns(planned);
		return {
			cell,
			basis: "least",
			runsIfUnchanged: least,
			runsIfLost: least,
			maxRuns
		};
	}
	const { noiseRatio, runsIfUnchanged, runsIfLost, reachableMarginRatio, isAssumed } = expected;
	return {
		cell,
		noiseRatio,
		basis: isAssumed ? "assumed" : "history",
		runsIfUnchanged,
		runsIfLost,
		maxRuns,
		reachableMarginRatio
	};
}
/** Runs of both variants up to the first interim analysis. */
const minRuns = ({ design }) => 2 * (analysisSizes(design)[0] ?? 0);
/** A boot serves all cells, so the slowest cell determines the number of boots. */
function courseOf({ traffic, profile, variants, durations }, cells) {
	const isShared = traffic.runsPerTrial > 1;
	const trials = sum(cells.map(({ planned, pairs }) => isShared ? pairs / planned.design.pairsPerStep : pairs * variants));
	const maxPairs = Math.max(...cells.map((cell) => cell.maxPairs));
	const bootsPerPair = {
		each: variants,
		pair: 1,
		none: 0
	}[bootKindOf({ traffic })];
	const boots = durations.bootSeconds === 0 ? 0 : bootsPerPair * maxPairs;
	const besideSeconds = durations.trialSeconds - durations.trafficSeconds;
	const profiles = profile === void 0 ? 0 : cells.length * variants;
	const seconds = {
		building: durations.buildSeconds,
		booting: boots * durations.bootSeconds,
		traffic: trials * durations.trafficSeconds,
		settling: trials * besideSeconds,
		profiles: profiles * ((profile?.seconds ?? 0) + besideSeconds),
		givingBack: boots === 0 || isShared ? 0 : durations.bootSeconds
	};
	return {
		boots,
		trials,
		seconds,
		totalSeconds: sum(Object.values(seconds))
	};
}
function experimentEstimateLine({ cells, ifUnchanged, ifLost }, { policy, durations }) {
	const { boots, trials, totalSeconds } = ifUnchanged;
	const isLeast = cells.some(({ basis }) => basis === "least");
	const isAssumed = cells.some(({ basis }) => basis === "assumed");
	const least = isLeast ? `at least ${formatRoughly(totalSeconds)}` : formatEstimate(totalSeconds);
	const many = [...boots > 0 ? [counted(Math.round(boots), "boot")] : [], counted(Math.round(trials), "trial")];
	const lost = `${formatRoughly(ifLost.totalSeconds)} if ${formatPercent(policy.marginRatio)} is`;
	const noise = `, assuming that runs vary by ${formatPercent(assumedNoiseRatios[policy.metric])}`;
	return `${least} if nothing is lost (${many.join(" and ")}), ${lost}; ${basisText(durations)}${isAssumed ? noise : ""}`;
}
function basisText({ gates }) {
	if (gates === 0) return "from default values, because no gate has run here yet";
	return gates === 1 ? "from the last gate here" : `from the last ${gates} gates here`;
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
function waysToShorten(outlined) {
	const now = estimateExperiment(outlined);
	return proposals.flatMap((proposal) => proposal(outlined, now)).map(({ how, instead }) => ({
		how,
		savedSeconds: now.ifUnchanged.totalSeconds - estimateExperiment({
			...outlined,
			...instead
		}).ifUnchanged.totalSeconds
	})).filter(({ savedSeconds }) => savedSeconds >= minSaved * now.ifUnchanged.totalSeconds).toSorted((a, b) => b.savedSeconds - a.savedSeconds);
}
const minSaved = .03;
const proposals = [
	function withHistory({ cells, policy }) {
		const noiseRatio = assumedNoiseRatios[policy.metric];
		const hasHistory = ({ history }) => (history?.runs ?? 0) >= historyRuns;
		if (cells.every((cell) => hasHistory(cell) || cell.design.method === "paired")) return [];
		return [{
			how: `${historyRuns} earlier runs of each cell: later gates get them from this one, a nightly run or \`ppsgate testbeds self-test\``,
			instead: { cells: cells.map((cell) => hasHistory(cell) ? cell : withAssumedHistory(cell, noiseRatio)) }
		}];
	},
	function withoutNoisiest({ cells }, now) {
		const noise = (one) => one.basis === "history" ? one.noiseRatio ?? 0 : 0;
		const [noisiest] = now.cells.toSorted((a, b) => noise(b) - noise(a));
		if (noisiest === void 0 || noise(noisiest) === 0 || cells.length < 2) return [];
		const name = cellName(noisiest.cell);
		return [{
			how: `without ${name}, the noisiest cell with ${formatPercent(noise(noisiest))}: --scenarios, --families, or find the source of its noise`,
			instead: { cells: cells.filter(({ cell }) => cellName(cell) !== name) }
		}];
	},
	function oneCell({ cells }, now) {
		const [quickest] = now.cells.toSorted((a, b) => a.runsIfUnchanged - b.runsIfUnchanged);
		const only = cells.find(({ cell }) => cell === quickest?.cell);
		if (only === void 0 || cells.length < 2) return [];
		return [{
			how: `${cellName(only.cell)} alone: --scenarios ${only.cell.scenario} --families ${only.cell.family}`,
			instead: { cells: [only] }
		}];
	},
	function widerMargin({ policy }) {
		const marginRatio = 2 * policy.marginRatio;
		if (marginRatio >= .5) return [];
		return [{
			how: `a margin of ${formatPercent(marginRatio)}: --margin ${formatPercent(marginRatio).replace(" ", "")}`,
			instead: { policy: {
				...policy,
				marginRatio
			} }
		}];
	},
	function withoutProfiles({ profile }) {
		return profile === void 0 ? [] : [{
			how: "no profiles: --profile off",
			instead: { profile: void 0 }
		}];
	},
	function fromCache({ durations }) {
		return [{
			how: "kernels in the builder cache: of an earlier base, or the same patch",
			instead: { durations: {
				...durations,
				buildSeconds: 0
			} }
		}];
	}
];
const historyRuns = 10;
/** Treats the cell as if it had a history. */
function withAssumedHistory({ history, ...cell }, assumedNoiseRatio) {
	const degreesOfFreedom = 9;
	const variance = history === void 0 || history.degreesOfFreedom === 0 ? assumedNoiseRatio ** 2 : history.sumOfSquares / history.degreesOfFreedom;
	return {
		...cell,
		history: {
			runs: historyRuns,
			typical: history?.typical ?? 1,
			typicalRuns: historyRuns,
			sumOfSquares: variance * degreesOfFreedom,
			degreesOfFreedom
		}
	};
}

// src/gate/estimate/remaining.ts
var RemainingTime = class {
	#observed = {
		boot: [],
		trial: [],
		profile: []
	};
	#decided = /* @__PURE__ */ new Set();
	#plan;
	#expectedTrials;
	#step;
	#boot;
	#rounds = {
		trials: 0,
		ofFirst: 1
	};
	/** Times are in seconds. */
	constructor(now) {
		this.#step = {
			kind: "trial",
			begunAt: now
		};
	}
	onEvent(event, now) {
		switch (event.kind) {
			case "planned":
				this.#begin(event.plan, now);
				return;
			case "decided":
				this.#decided.add(cellName(event.cell));
				return;
			case "profile":
				this.#next("profile", now);
				return;
			case "ended":
				this.#rounds.trials += 1;
				return;
			case "trial": {
				const kind = this.#plan === void 0 ? "none" : bootKindOf(this.#plan);
				const boot = bootOf(event.trial.runs, kind);
				if (this.#rounds.trials > 0 || this.#step.kind === "profile") this.#next(boot === this.#boot ? "trial" : "boot", now);
				else this.#step.kind = boot === void 0 ? "trial" : "boot";
				this.#boot = boot;
			}
		}
	}
	/**
	* Estimates at the start of a trial. Undefined until every cell has measured each variant, unless earlier gates are
	* known.
	*/
	left({ done, of }) {
		if (this.#rounds.trials < this.#rounds.ofFirst && this.#known === void 0) return void 0;
		const maxTrials = of - done;
		const most = this.#secondsFor(maxTrials);
		if (this.#expectedTrials === void 0) return { maxSeconds: most };
		const due = Math.max(this.#expectedTrials - done, this.#openCells() * this.#perCell());
		return {
			expectedSeconds: this.#secondsFor(Math.min(due, maxTrials)),
			maxSeconds: most
		};
	}
	#begin(plan, now) {
		this.#plan = plan;
		this.#step = {
			kind: "trial",
			begunAt: now
		};
		this.#rounds.ofFirst = plan.cells.length * this.#perCell();
		const { durations, variants } = plan;
		if (durations === void 0) return;
		const estimate = estimateExperiment({
			...plan,
			variants: variants.length,
			durations
		});
		if (estimate.cells.some(({ basis }) => basis === "least")) return;
		this.#expectedTrials = estimate.ifUnchanged.trials;
	}
	/** Ends the previous interval. */
	#next(kind, now) {
		this.#observed[this.#step.kind].push(now - this.#step.begunAt);
		this.#step = {
			kind,
			begunAt: now
		};
	}
	/** Durations of earlier gates here. */
	get #known() {
		const durations = this.#plan?.durations;
		return durations !== void 0 && durations.gates > 0 ? durations : void 0;
	}
	/** Trials in which a cell measures each variant once. */
	#perCell() {
		return this.#plan === void 0 || this.#plan.traffic.runsPerTrial > 1 ? 1 : this.#plan?.variants.length ?? 1;
	}
	#openCells() {
		return Math.max(1, (this.#plan?.cells.length ?? 1) - this.#decided.size);
	}
	#secondsFor(trials) {
		const boots = this.#plan === void 0 ? 0 : this.#bootsFor(trials, bootKindOf(this.#plan));
		return boots * this.#bootSeconds() + (trials - boots) * this.#trialSeconds() + this.#secondsForProfiles() + this.#secondsToGiveBack();
	}
	/** A boot serves all open cells. */
	#bootsFor(trials, kind) {
		return kind === "none" ? 0 : Math.ceil(trials / this.#openCells());
	}
	#trialSeconds() {
		const usual = this.#plan?.durations.trialSeconds ?? 0;
		return this.#usualOr(this.#observed.trial, usual, .5);
	}
	/** Includes the first trial. Waits for kernels and repairs of accidents lengthen only some boots. */
	#bootSeconds() {
		const usual = (this.#plan?.durations.bootSeconds ?? 0) + this.#trialSeconds();
		return this.#usualOr(this.#observed.boot, usual, .25);
	}
	#usualOr(observed, usual, share) {
		const values = this.#known === void 0 ? observed : [...observed, usual];
		return values.length === 0 ? usual : quantile([...values], share);
	}
	#secondsForProfiles() {
		if (this.#plan?.profile === void 0) return 0;
		const { cells, variants, profile } = this.#plan;
		const taken = this.#observed.profile;
		return (taken.length === 0 ? profile.seconds : quantile(taken, .5)) * Math.max(0, cells.length * variants.length - taken.length);
	}
	#secondsToGiveBack() {
		return this.#plan !== void 0 && bootKindOf(this.#plan) === "each" ? Math.max(0, this.#bootSeconds() - this.#trialSeconds()) : 0;
	}
};

// src/gate/estimate/queue.ts
/** Leases with this purpose only check a testbed, and last a moment. */
const healthPurpose = "health";
function estimateWait(lab, ticket, usualSeconds, now) {
	const expectedSeconds = expectedWait(loadOf(lab, usualSeconds, now), ticket.id);
	return {
		...placeOf(lab, ticket),
		...expectedSeconds !== void 0 && { expectedSeconds }
	};
}
function estimateWaits(lab, usualSeconds, now) {
	const starts = [...simulateQueue(loadOf(lab, usualSeconds, now))];
	const waits = new Map(starts.map(({ place, afterSeconds }) => [place.id, afterSeconds]));
	return new Map(lab.tickets.map((ticket) => {
		const expectedSeconds = waits.get(ticket.id);
		const expected = expectedSeconds !== void 0 && { expectedSeconds };
		return [ticket.id, {
			...placeOf(lab, ticket),
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
		revision: 0,
		wants: testbeds,
		holder: {
			who: "",
			purpose: ""
		},
		since: now.toISOString(),
		subject: void 0
	};
	const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
	const start = simulateQueue(loadOf({
		...lab,
		tickets
	}, usualSeconds, now)).find(({ place }) => place.id === newcomer.id);
	return start && {
		testbed: start.testbed,
		afterSeconds: start.afterSeconds
	};
}
function placeOf(lab, ticket) {
	const rivals = rivalsOf(lab, ticket);
	return {
		place: rivals.indexOf(ticket) + 1,
		of: rivals.length
	};
}
function loadOf(lab, usualSeconds, now) {
	const lines = linesOf(lab);
	const holdings = new Map([...lab.held.values()].map((holding) => [holding.id, holding]));
	return {
		lines,
		testbeds: testbedsOf(lines),
		held: [...holdings.values()].map(({ machines, testbed, since }) => {
			const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1e3);
			return {
				machines,
				secondsLeft: Math.max(usualSeconds(testbed) - elapsed, minSeconds)
			};
		}),
		usualSeconds
	};
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
/** Yields starts in order of time, until no remaining ticket can be served. */
function* simulateQueue({ lines, held, testbeds, usualSeconds }) {
	const queue = lines.map(({ wants, waiting }) => ({
		wants,
		waiting: [...waiting]
	}));
	const lineOf = new Map(queue.flatMap((line) => line.waiting.map((place) => [place, line])));
	const machines = openMachines(testbeds);
	const ends = held.map(({ machines, secondsLeft }) => ({
		machines,
		at: secondsLeft
	}));
	ends.sort(lastToEnd);
	for (const end of ends) machines.take(end.machines);
	for (let now = 0;;) {
		for (const grant of assign(queue, machines.free)) {
			yield {
				...grant,
				afterSeconds: now
			};
			lineOf.get(grant.place)?.waiting.shift();
			const taken = testbeds.get(grant.testbed) ?? [];
			machines.take(taken);
			insertInOrder(ends, {
				machines: taken,
				at: now + usualSeconds(grant.testbed)
			}, lastToEnd);
		}
		let next = ends.at(-1);
		if (next === void 0) return;
		now = Math.max(now, next.at);
		for (; next !== void 0 && next.at <= now; next = ends.at(-1)) {
			machines.giveBack(next.machines);
			ends.pop();
		}
	}
}
const lastToEnd = (a, b) => b.at - a.at;
/** Wait in seconds; undefined if the turn never comes. */
function expectedWait(load, id) {
	return simulateQueue(load).find(({ place }) => place.id === id)?.afterSeconds;
}
/** Tracks which testbeds are free while machines are taken and released. */
function openMachines(testbeds) {
	const uses = [...testbeds].flatMap(([testbed, machines]) => machines.map((machine) => ({
		testbed,
		machine
	})));
	const users = Map.groupBy(uses, ({ machine }) => machine);
	const testbedsOn = (machine) => (users.get(machine) ?? []).map(({ testbed }) => testbed);
	const taken = /* @__PURE__ */ new Set();
	const free = new Map(testbeds);
	return {
		free,
		take(machines) {
			for (const machine of machines) {
				taken.add(machine);
				for (const testbed of testbedsOn(machine)) free.delete(testbed);
			}
		},
		giveBack(machines) {
			for (const machine of machines) taken.delete(machine);
			for (const testbed of new Set(machines.flatMap(testbedsOn))) {
				const own = testbeds.get(testbed) ?? [];
				if (!own.some((machine) => taken.has(machine))) free.set(testbed, own);
			}
		}
	};
}

export { RemainingTime, basisText, durationsOf, durationsSchema, earlierRunsOf, estimateExperiment, estimateRuns, estimateStart, estimateWait, estimateWaits, expectedDurationsOn, expectedDurationsSchema, experimentEstimateLine, healthPurpose, readUsualSeconds, timeParts, waysToShorten };