import { simulate } from "../../analysis/stats.js";
import { configKeys, wholeGate } from "../../config/first.js";
import { array, string } from "../../vendor/zod.js";
import { UsageError, exitCodes, formatPercent, grouped } from "../../model/first-plain.js";
import { expected } from "../../model/excerpt.js";
import { ratio } from "../../model/first.js";
import { printJson } from "../table.js";
import { kebabCase } from "../../config/parameters.js";
import { simulateBisect } from "../../gate/bisect.js";
import { aligned, count, listOf, parse, readNoise, sharedOptions } from "./simulate-options.js";

// src/cli/tools/simulate-bisect.ts
const ofGates = [...[
	"design",
	"margin",
	"falseAlarms",
	"power",
	"cells",
	"maxRuns",
	"buildNoise"
], "layoutVariants"];
const ofBisections = [
	"commits",
	"broken",
	"buildMinutes",
	"maxBoots"
];
function refuseBisectOptions(options) {
	const [first] = ofBisections.filter((name) => options[name] !== void 0);
	if (first === void 0) return;
	throw new UsageError(`--${kebabCase(first)}: applies to bisections only; add --bisect.`);
}
/** Prints one row per number of commits and effect; throws a `UsageError` for an invalid option. */
async function printBisectRows(options) {
	const [gate] = ofGates.filter((name) => options[name] !== void 0);
	if (gate !== void 0) throw new UsageError(`--${kebabCase(gate)}: applies to gates only; drop it, or --bisect.`);
	const request = parse(ownOptions$1, options);
	const noise = await readNoise(request);
	const rows = rowsOf$1(request, noise.source);
	if (options.json) printJson({ rows });
	else process.stdout.write(`${noise.noiseText}\n${conditions$1(request)}\n\n${table$1(rows)}`);
}
const ownOptions$1 = sharedOptions.extend({
	commits: string().transform(listOf).pipe(array(count(1, 2e4))).prefault("256"),
	broken: ratio({
		description: "a percentage up to 90%",
		holds: (value) => value <= .9
	}).prefault("0%"),
	buildMinutes: string().regex(/^\d{1,4}(?:\.\d{1,3})?$/, { error: expected("a number of minutes like 10") }).transform(Number).prefault("10"),
	maxBoots: count(4, 1e3).prefault("60"),
	experiments: count(1, 1e6).prefault("1000")
});
/** Typical number if one commit breaks a driver and a later one fixes it. */
const brokenInARow = 6;
const usualEffects = [
	0,
	-.02,
	-.05,
	-.1
];
/** Shows progress after every row, from two seconds on. */
function rowsOf$1(request, noise) {
	const effects = [...new Set(request.effects ?? usualEffects)];
	const all = request.commits.flatMap((commits) => effects.map((effect) => ({
		commits,
		effect
	})));
	const startedAt = performance.now();
	return all.map(({ commits, effect }, index) => {
		const { allFound: _, ...row } = simulateBisect(simulationOf(request, noise, commits, effect));
		if (performance.now() - startedAt > 2e3) {
			const done = `${index + 1} of ${all.length}`;
			process.stderr.write(`${done}: ${commits} commits at ${formatPercent(effect)}\n`);
		}
		return {
			commits,
			effect,
			brokenRatio: request.broken,
			...row
		};
	});
}
function simulationOf({ broken, buildMinutes, reboot, traffic, history, maxBoots, experiments, seed }, noise, commits, effect) {
	const run = (reboot + traffic) / 60;
	return {
		noise,
		commits,
		brokenInARow,
		experiments,
		seed,
		effects: [effect],
		brokenRatio: broken,
		historyRuns: history,
		mostBoots: maxBoots,
		minutes: {
			build: buildMinutes,
			run,
			failure: 2 * run
		}
	};
}
function conditions$1({ broken, history, buildMinutes, maxBoots, experiments, seed }) {
	return [
		`${formatPercent(broken)} broken, ${brokenInARow} in a row`,
		`${history} of history`,
		`builds of ${buildMinutes} min`,
		`at most ${maxBoots} boots`,
		`${grouped(experiments)} experiments a row`,
		`seed ${seed}`
	].join(", ");
}
function table$1(rows) {
	const percent = (share) => `${(share * 100).toFixed(2)} %`;
	const lines = rows.map((row) => [
		String(row.commits),
		formatPercent(row.effect),
		row.meanBoots.toFixed(1),
		String(Math.ceil(row.p95Boots)),
		row.meanMinutes.toFixed(0),
		row.p95Minutes.toFixed(0),
		...[
			row.namedRight,
			row.namedWrong,
			row.groupRight,
			row.groupWrong
		].map(percent),
		...[row.inconclusive, row.notReproduced].map(percent)
	]);
	return `${aligned([[
		"commits",
		"change",
		"mean boots",
		"p95 boots",
		"mean minutes",
		"p95 minutes",
		"named",
		"named wrong",
		"group",
		"group wrong",
		"inconclusive",
		"not reproduced"
	], ...lines])}\n`;
}

// src/cli/tools/simulate.ts
async function run(options) {
	if (options.bisect) {
		await printBisectRows(options);
		return exitCodes.pass;
	}
	refuseBisectOptions(options);
	const request = parseOptions(options);
	const noise = await readNoise(request);
	const rows = rowsOf(request, noise.source);
	if (options.json) printJson({ rows });
	else process.stdout.write(`${noise.noiseText}\n${conditions(request)}\n\n${table(rows, request)}`);
	return exitCodes.pass;
}
/** Parses margin, falseAlarms, power and design as ppsgate.yml does. */
function parseOptions(options) {
	const { design = "fixed,group-sequential", margin, falseAlarms, power } = options;
	const { gate } = configKeys.shape;
	const { marginRatio, falseAlarmRatio, missRatio } = wholeGate(parse(gate, {
		margin,
		falseAlarms,
		power
	}));
	const designs = listOf(design).flatMap((name) => parse(gate, { design: name }).design ?? []);
	const own = parse(ownOptions, options);
	if (own.cells > own.experiments) throw new UsageError(`--cells: expected at most the number of experiments, ${own.experiments}, found ${own.cells}.`);
	const usualEffects = [
		0,
		-marginRatio / 2,
		-marginRatio,
		-.5
	];
	return {
		...own,
		designs: [...new Set(designs)],
		effects: [...new Set(own.effects ?? usualEffects)],
		marginRatio,
		falseAlarmRatio,
		missRatio
	};
}
const ownOptions = sharedOptions.extend({
	cells: count(1, 100).prefault("1"),
	maxRuns: count(2, 1e3).prefault("20"),
	buildNoise: ratio({
		description: "a percentage from 0% to 20%",
		holds: (value) => value >= 0 && value <= .2
	}).prefault("0%"),
	layoutVariants: count(1, 20).prefault("1"),
	experiments: count(1, 1e6).prefault("20000")
});
/** Shows progress after every row, from two seconds on. */
function rowsOf(request, noise) {
	const { designs, effects } = request;
	const startedAt = performance.now();
	const all = designs.flatMap((design) => effects.map((effect) => ({
		design,
		effect
	})));
	return all.map(({ design, effect }, index) => {
		const row = rowOf(request, noise, design, effect);
		if (performance.now() - startedAt > 2e3) {
			const done = `${index + 1} of ${all.length}`;
			process.stderr.write(`${done}: ${design} at ${formatPercent(effect)}\n`);
		}
		return row;
	});
}
function rowOf(request, noise, design, effect) {
	const { cells, reboot, traffic } = request;
	const { patchRegression, meanMostRuns: _, ...row } = simulate({
		noise,
		design: {
			name: design,
			budgets: [request.maxRuns]
		},
		historyRuns: request.history,
		rates: {
			falseAlarms: request.falseAlarmRatio,
			misses: request.missRatio
		},
		cells,
		marginRatio: request.marginRatio,
		effect,
		builds: {
			cv: request.buildNoise,
			layouts: request.layoutVariants
		},
		experiments: request.experiments,
		seed: request.seed
	});
	return {
		design,
		effect,
		...row,
		...cells > 1 && { patchRegression },
		meanMinutes: row.meanRuns * (reboot + traffic) / 60
	};
}
function conditions(request) {
	const { maxRuns, history, experiments, seed, marginRatio, falseAlarmRatio, missRatio } = request;
	const { buildNoise, layoutVariants } = request;
	return [
		`margin ${formatPercent(marginRatio)}`,
		`required false alarms ${formatPercent(falseAlarmRatio)}`,
		`power ${formatPercent(1 - missRatio)}`,
		`at most ${maxRuns} + ${maxRuns} runs`,
		...buildNoise > 0 ? [`build noise ${formatPercent(buildNoise)}`] : [],
		...layoutVariants > 1 ? [`each kernel linked ${layoutVariants} times`] : [],
		`${history} of history`,
		`${grouped(experiments)} experiments a row`,
		`seed ${seed}`
	].join(", ");
}
function table(rows, { cells, marginRatio }) {
	const percent = (share) => `${(share * 100).toFixed(2)} %`;
	const lines = rows.map((row) => [
		row.design,
		formatPercent(row.effect),
		percent(row.regression),
		percent(row.noRegression),
		percent(row.improvement),
		percent(row.inconclusive),
		...row.patchRegression === void 0 ? [] : [percent(row.patchRegression)],
		row.meanRuns.toFixed(2),
		String(Math.ceil(row.p95Runs)),
		row.meanMinutes.toFixed(1)
	]);
	const heads = [
		"design",
		"change",
		"regression",
		"no regression",
		"improvement",
		"inconclusive",
		...cells > 1 ? [`any of ${cells}`] : [],
		"mean runs",
		"p95 runs",
		"minutes"
	];
	return `${aligned([heads, ...lines])}\n\n${explanation(cells, marginRatio)}\n`;
}
function explanation(cells, marginRatio) {
	const patch = cells > 1 ? ` "any of ${cells}" are patches with a regression in at least one of their cells;` : "";
	return `Regressions at 0 % are false alarms, those at ${formatPercent(-marginRatio)} are the power, and no regression there is a miss;${patch} runs count both variants.`;
}

export { run };