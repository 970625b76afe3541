import { outlookLine, outlookOf } from "./experiment.js";
import { median } from "./stats.js";
import { cellName, formatDuration, formatMetric, formatPercent, formatRuns, plainLine } from "./words.js";

// src/progress.ts
/** Tells of the events of one experiment; `now` in milliseconds. */
function showProgress(output, metric, now) {
	const line = output.isTTY ? changingLine(output) : lineAfterLine(output);
	const pace = {
		startedAt: now(),
		blasts: 0
	};
	let last = "";
	return {
		onEvent(event) {
			switch (event.kind) {
				case "planned":
					for (const text of planLines(event.plan)) line.say(text);
					break;
				case "finished-before":
					line.say(`It finished at ${event.at}: nothing is measured, and its result is told again; --max-runs N asks for more.`);
					break;
				case "warning":
					line.say(`warning: ${event.text}`);
					break;
				case "told":
					line.say(event.text);
					break;
				case "decided":
					line.say(decision(event));
					break;
				case "preparing":
					line.show(`${event.text} …`);
					break;
				case "blast": {
					const { blast, attempt, done, of, why } = event;
					const because = why === void 0 ? "" : `: ${plainLine(why, 120)}`;
					const again = attempt > 1 ? ` (try ${attempt}${because})` : "";
					const left = timeLeft((now() - pace.startedAt) / 1e3, pace.blasts, of - done);
					const place = `blast ${done + 1} of at most ${of}${again} · ${runRange(blast.runs)}`;
					const isTold = last === `last: ${why}`;
					const parts = [
						place,
						cellName(blast.cell),
						isTold ? "" : last,
						left
					];
					line.show(parts.filter(Boolean).join(" · "));
					break;
				}
				case "profile": {
					const again = event.attempt > 1 ? ` (try ${event.attempt})` : "";
					line.show(`profile of ${event.variant}${again} · ${cellName(event.cell)}`);
					break;
				}
				case "ended":
					pace.blasts += 1;
					last = summary(event.entry, metric);
			}
		},
		end: () => line.end()
	};
}
/** An output whose lines tell which of several gates they are of. */
const labelled = (output, label) => label === "" ? output : { write: (text) => output.write(`${label}: ${text}`) };
/** How every cell will be judged, and where that cannot be as sure as asked. */
function planLines(plan) {
	const { cells, policy, variants, times } = plan;
	const outlined = {
		...plan,
		variants: variants.length,
		times: times ?? nothingKnown
	};
	const outlook = outlookOf(outlined);
	const lines = cells.flatMap((planned, index) => {
		const { cell, design, history } = planned;
		const most = design.budgets.at(-1) ?? 0;
		const budget = `at most ${most} + ${most} runs`;
		const start = `${cellName(cell)}: ${design.name}, ${budget}`;
		const expected = outlook.cells[index];
		if (expected?.basis !== "history") return start;
		const { noiseRatio = 0, runsIfUnchanged, runsIfLost, reachableMarginRatio = 0 } = expected;
		const margin = formatPercent(policy.marginRatio);
		const told = `${start}; noise ${formatPercent(noiseRatio)} (${history?.runs} earlier runs), so some ${Math.round(runsIfUnchanged)} runs if nothing is lost and ${Math.round(runsIfLost)} if ${margin} is`;
		if (reachableMarginRatio <= policy.marginRatio) return told;
		const reachable = formatPercent(reachableMarginRatio);
		const power = formatPercent(1 - policy.missRatio);
		return [told, `${cellName(cell)}: too noisy to find a loss of ${margin} in ${power} of cases; ${reachable} is within reach: widen the margin, or allow more runs`];
	});
	return times === void 0 ? lines : [...lines, outlookLine(outlook, outlined)];
}
/** A plan from before it had its times. */
const nothingKnown = {
	bootSeconds: 0,
	blastSeconds: 0,
	trafficSeconds: 0,
	buildSeconds: 0,
	gates: 0
};
function decision({ cell, verdict, counts }) {
	const after = `after ${formatRuns(counts.counted, counts.made)} runs`;
	return verdict.kind === "invalid" ? `${cellName(cell)}: invalid: ${plainLine(verdict.reason, 300)}` : verdict.kind === "inconclusive" && verdict.isStopped ? `${cellName(cell)}: not decided ${after}, as another cell loses` : `${cellName(cell)}: ${verdict.kind} ${after}`;
}
function runRange(runs) {
	const [first] = runs;
	return runs.length === 1 ? `run ${first?.number}, ${first?.variant}` : `runs ${first?.number}–${runs.at(-1)?.number}`;
}
/** Nothing before the first blast has told how long one takes. */
function timeLeft(seconds, blasts, left) {
	return blasts === 0 ? "" : `${formatDuration(seconds / blasts * left)} left at most`;
}
/** `last: base 1,057 ns, patched 1,170 ns`. */
function summary(entry, metric) {
	if (entry.kind !== "measured") return entry.kind === "failed" ? `last: ${entry.reason}` : "";
	return `last: ${[...Map.groupBy(entry.runs, (run) => run.variant)].toSorted().map(([variant, runs]) => {
		const values = runs.flatMap((run) => run[metric] ?? []);
		return `${variant} ${formatMetric(median(values), metric)}`;
	}).join(", ")}`;
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

export { labelled, showProgress };