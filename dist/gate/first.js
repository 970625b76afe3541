import { formatDuration, formatEstimate, formatMetric, formatPercent, formatRuns, outcomeName, plainLine } from "../model/first-plain.js";
import { cellName } from "../model/first.js";
import { median } from "../analysis/stats/first.js";
import { RemainingTime, estimateExperiment, experimentEstimateLine } from "./estimate/first.js";
import { cellsOf, earlierEntries, makePlan, readRules, writePlan } from "./experiment/first.js";
import { withoutOperatorsPart } from "../lab/netns/first-plain.js";
import { touchedCells } from "../kernel/first-plain.js";
import { makingOf, pathsThatCount, placesLeftAlone, testbedsThatDiffer, variantsByMaking } from "../kernel/first.js";
import { refuseUsed } from "./experiment/first-plain.js";
import { onTestbed } from "./first-plain.js";
import { openReservations, requireHere } from "./testbeds/first.js";

// src/gate/progress.ts
/** Renders the events of one experiment. `now` is in milliseconds. */
function showProgress(output, metric, now) {
	const line = output.isTTY ? changingLine(output) : lineAfterLine(output);
	const remaining = new RemainingTime();
	let last = { text: "" };
	return {
		onEvent(event) {
			remaining.onEvent(event, now() / 1e3);
			switch (event.kind) {
				case "planned":
					for (const text of planLines(event.plan)) line.say(text);
					break;
				case "finished-before":
					line.say(`It finished at ${event.at}: its result is shown again without a measurement; --max-runs N requests more runs.`);
					break;
				case "warning":
					line.say(`warning: ${event.text}`);
					break;
				case "note":
					line.say(event.text);
					break;
				case "decided":
					line.say(decision(event));
					break;
				case "preparing":
					line.show(`${event.text} …`);
					break;
				case "trial": {
					const { trial, attempt, done, of, why } = event;
					const because = why === void 0 ? "" : `: ${plainLine(why, 120)}`;
					const again = attempt > 1 ? ` (try ${attempt}${because})` : "";
					const left = timeLeft(remaining.left(event));
					const place = `trial ${done + 1} of at most ${of}${again} · ${runRange(trial.runs)}`;
					const cell = cellName(trial.cell);
					const { text } = last;
					const ofOther = last.cell === void 0 || last.cell === cell ? "" : ` (${last.cell})`;
					const shown = text === "" || text === why ? "" : `last${ofOther}: ${text}`;
					line.show([
						place,
						cell,
						shown,
						left
					].filter(Boolean).join(" · "));
					break;
				}
				case "profile": {
					const again = event.attempt > 1 ? ` (try ${event.attempt})` : "";
					line.show(`profile of ${event.variant}${again} · ${cellName(event.cell)}`);
					break;
				}
				case "ended": last = lastOf(event.entry, metric);
			}
		},
		end: () => line.end()
	};
}
const labelled = (output, label) => label === "" ? output : { write: (text) => output.write(`${label}: ${text}`) };
/** Lists the design of each cell, and cells that cannot reach the required power. */
function planLines(plan) {
	const { cells, policy } = plan;
	const outlined = {
		...plan,
		variants: plan.variants.length
	};
	const estimate = estimateExperiment(outlined);
	return [...cells.flatMap((planned, index) => {
		const { cell, design, history } = planned;
		const most = design.budgets.at(-1) ?? 0;
		const budget = `at most ${most} + ${most} runs`;
		const start = `${cellName(cell)}: ${design.name}, ${budget}`;
		const expected = estimate.cells[index];
		if (expected?.basis !== "history") return start;
		const { noiseRatio = 0, runsIfUnchanged, runsIfLost, reachableMarginRatio = 0 } = expected;
		const margin = formatPercent(policy.marginRatio);
		const expectation = `${start}; noise ${formatPercent(noiseRatio)} (${history?.runs} earlier runs): about ${Math.round(runsIfUnchanged)} runs without a loss, ${Math.round(runsIfLost)} with a loss of ${margin}`;
		if (reachableMarginRatio <= policy.marginRatio) return expectation;
		const reachable = formatPercent(reachableMarginRatio);
		const power = formatPercent(1 - policy.missRatio);
		return [expectation, `${cellName(cell)}: too noisy to find a loss of ${margin} in ${power} of cases; it can find ${reachable}: widen the margin, or allow more runs`];
	}), experimentEstimateLine(estimate, outlined)];
}
function decision({ cell, verdict, counts }) {
	const after = `after ${formatRuns(counts.counted, counts.made)} runs`;
	return verdict.kind === "invalid" ? `${cellName(cell)}: invalid: ${plainLine(verdict.reason, 300)}` : verdict.kind === "inconclusive" && verdict.isStopped ? `${cellName(cell)}: not decided ${after}, because another cell has a loss` : `${cellName(cell)}: ${verdict.kind} ${after}`;
}
function runRange(runs) {
	const [first] = runs;
	return runs.length === 1 ? `run ${first?.number}, ${first?.variant}` : `runs ${first?.number}–${runs.at(-1)?.number}`;
}
function timeLeft(left) {
	if (left === void 0) return "";
	const { expectedSeconds, maxSeconds } = left;
	const most = `${formatDuration(maxSeconds)} left at most`;
	return expectedSeconds === void 0 || expectedSeconds >= maxSeconds ? most : `${formatEstimate(expectedSeconds)} left if nothing is lost, ${most}`;
}
/** `base 1,057 ns, patched 1,170 ns`; for a variant without a valid run, the reason. */
function lastOf(entry, metric) {
	if (entry.kind !== "measured") return { text: entry.kind === "failed" ? entry.reason : "" };
	const medians = [...Map.groupBy(entry.runs, (run) => run.variant)].toSorted().map(([variant, runs]) => {
		const valid = runs.filter(({ validity }) => validity.kind === "valid");
		const values = valid.flatMap((run) => run[metric] ?? []);
		const [fault] = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.reason : []);
		return valid.length === 0 && fault !== void 0 ? `${variant} does not count: ${plainLine(fault, 120)}` : `${variant} ${formatMetric(median(values), metric)}`;
	});
	return {
		cell: cellName(entry.summary.cell),
		text: medians.join(", ")
	};
}
function changingLine(output) {
	return {
		show(text) {
			output.write(`\r\x1b[2K${text.slice(0, (output.columns ?? 80) - 1)}`);
		},
		say: (text) => void output.write(`\r\x1b[2K${text}\n`),
		end() {
			output.write("\r\x1B[2K");
		}
	};
}
function lineAfterLine(output) {
	const say = (text) => void output.write(`${text.replace(/\s+/g, " ")}\n`);
	return {
		show: say,
		say,
		end() {}
	};
}

// src/gate/session.ts
/** Runs or resumes a gate in `work`. Rethrows its error after releasing the testbed. */
async function inSession(session, work) {
	const { config, repository, history, output, observer, requestFor, leaseFolder, signal } = session;
	let testbed;
	const shown = observer === void 0 ? output : observed(output, (line) => {
		if (testbed !== void 0) observer.measuring(testbed, line);
	});
	const progress = showProgress(shown, config.gate.metric, () => performance.now());
	const notify = (text) => progress.onEvent({
		kind: "preparing",
		text
	});
	await using reservations = await openReservations(config, {
		signal,
		notify,
		flightLog: session.flightLog,
		onWait(estimate, text) {
			notify(text);
			observer?.waiting(estimate, text);
		}
	});
	return await work({
		repository,
		async reserve(names, patch) {
			await requireHere(names, config);
			const reserved = await reservations.reserve(names, requestFor(patch), leaseFolder);
			testbed = reserved.name;
			observer?.measuring(testbed);
			return reserved;
		},
		history,
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent,
		signal
	}).finally(progress.end);
}
/** Prints plain lines even on a terminal or in a runner, as each is also reported elsewhere. */
const observed = (output, onLine) => ({ write(text) {
	onLine(withoutOperatorsPart(text.trim()));
	return output.write(text);
} });

// src/gate/first-cells.ts
/** Returns none if git cannot list the differences, for example between distant trees. */
async function firstCells([base, patched], cells, on, repository) {
	if (base === void 0 || patched === void 0) return [];
	const changed = await pathsThatCount(base, patched, on, repository).catch(() => []);
	return touchedCells(changed, cells, on);
}
function firstCellsText({ cells }) {
	const first = cells.flatMap(({ cell, isFirst }) => isFirst ? cellName(cell) : []);
	if (first.length === 0) return void 0;
	return `These cells depend most on the changed files and are measured first: ${first.join(", ")}.`;
}

// src/gate/gate.ts
/**
* Judges a patch. Writes the plan, the journal, raw logs, `result.json` and `report.md` to the work directory. A patch
* that changes nothing installed on any testbed gets its result without a plan or a reservation.
*/
async function gate(request, directory, deps) {
	const { patch, config, cells = cellsOf(config) } = request;
	const { repository, onEvent } = deps;
	await refuseUsed(directory);
	const rules = await readRules(config);
	const history = earlierEntries(await deps.history.read(), deps.now());
	const variants = await variantsByMaking(request, repository);
	const planOn = async (testbed) => {
		const own = variants.get(makingOf(config, testbed, request.kernels)) ?? [];
		const first = await firstCells(own, cells, {
			config,
			testbed
		}, repository);
		return makePlan({
			...request,
			testbed,
			rules,
			first
		}, own, history);
	};
	const testbeds = request.isMeasuredAnyway ? request.testbeds : await testbedsThatDiffer({
		...request,
		variants
	}, repository);
	if (testbeds.length === 0) {
		const [first = ""] = request.testbeds;
		const ignoredPaths = await placesLeftAlone(first, {
			...request,
			variants
		}, repository);
		const { unchangedResult } = await import("./experiment/assemble.js");
		const { writeResult } = await import("../report/write-reports.js");
		const result = unchangedResult(await planOn(first), ignoredPaths, deps.now());
		await writeResult(directory, result);
		return result;
	}
	return onTestbed(testbeds, patch, deps, outcomeName, async (reserved) => {
		const plan = await planOn(reserved.name);
		await writePlan(directory, plan);
		const text = firstCellsText(plan);
		if (text !== void 0) onEvent({
			kind: "note",
			text
		});
		const { measure } = await import("./measure.js");
		return measure(plan, directory, reserved, deps);
	});
}

export { gate, inSession, labelled, showProgress };