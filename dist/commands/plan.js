import { makingOf, testbedsThatDiffer, variantsByMaking } from "../build.js";
import { applyOverrides, calledAs, loadConfig, parameter } from "../config.js";
import { runToExit } from "../exit.js";
import { basisText, cellsOf, dealt, earlierEntries, historyFile, linksOn, outlookOf, parts, planCells, policyOf, shareOf, shorterWays, timesOn } from "../experiment.js";
import { chosenFor, machinesOf, sameAs, wishesOf } from "../inventory.js";
import { openRepository } from "../patch.js";
import { StoreError, openStore, readLab, readUsualSeconds, startOf } from "../reservation.js";
import { cellName, exitCodes, expectedly, formatDuration, formatPercent, patchName } from "../words.js";
import { patchOf } from "./judge-gate.js";
import { configPath } from "./named-testbed.js";
import { columns, print, printJson } from "./table.js";

// src/commands/plan.ts
/** Parameters of a gate that change how long it takes. */
const told = [
	...[
		"patch",
		"repository",
		"config",
		"testbed",
		"each",
		"scenarios",
		"families"
	],
	...[
		"metric",
		"margin",
		"falseAlarms",
		"power",
		"design",
		"maxRuns",
		"profile"
	],
	...[
		"measureAnyway",
		"earlier",
		"split",
		"stopAtFirst"
	]
];
function define(command) {
	for (const name of told) {
		const { flags = calledAs.flag(name), value, says = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, says, usual);
	}
	command.option("--json", "print it as JSON, in seconds").addHelpText("after", `
Example:
  ppsgate plan --testbed chelsio --scenarios forwarding --margin 1%

Takes the options of \`ppsgate gate\` that change how long it takes, and
reserves nothing and asks no machine.
Minutes are those that earlier gates on the testbed took, and runs those that
the noise of its history asks for. With --patch it says as well where a patch
would not be measured at all, because it changes nothing that is laid.`).action(async (options) => {
		await runToExit((signal) => plan(options, signal), command.optsWithGlobals());
	});
}
async function plan(options, signal) {
	const written = await loadConfig(configPath(options.config));
	const config = applyOverrides(written, options, calledAs.flag);
	const call = {
		config,
		options,
		called: calledAs.flag,
		signal,
		lastWords: []
	};
	const wishes = wishesOf(config, options, calledAs.flag).map((wish) => chosenFor(config, wish).testbeds);
	const patch = options.patch ? await patchOf(call) : void 0;
	const entries = earlierEntries(await historyFile(config.history).read(), /* @__PURE__ */ new Date());
	const starts = await startsOf(config, wishes);
	const planned = [];
	for (const [index, testbeds] of wishes.entries()) {
		const start = starts?.[index];
		const change = await changeOf(config, start === void 0 ? testbeds : [start.testbed], patch, options);
		const testbed = change.testbed;
		planned.push({
			testbed,
			...start !== void 0 && { waitSeconds: start.afterSeconds },
			isUnchanged: change.isUnchanged,
			...outlined(config, {
				testbed,
				testbeds,
				variants: change.variants
			}, entries)
		});
	}
	if (options.json) printJson(planned.map(printable));
	else print(planned.map((one) => textOf(one, patch)).join("\n\n"));
	return exitCodes.pass;
}
/** The testbed on which each wish would be served first, and after how long; undefined where the store cannot be asked. */
async function startsOf(config, wishes) {
	try {
		const store = await openStore(config.reservations);
		try {
			const [lab, now] = [await readLab(store), /* @__PURE__ */ new Date()];
			const usualSeconds = await readUsualSeconds(store, now);
			return wishes.map((names) => {
				const testbeds = new Map(names.flatMap((name) => {
					const testbed = config.testbeds[name];
					return testbed === void 0 ? [] : [[name, machinesOf(testbed)]];
				}));
				return startOf(lab, {
					priority: "patch",
					testbeds
				}, usualSeconds, now);
			});
		} finally {
			await store.close();
		}
	} catch (error) {
		if (!(error instanceof StoreError)) throw error;
		process.stderr.write(`Nobody can say how long a testbed is waited for: ${error.message}\n`);
		return;
	}
}
/** What of a patch would be measured; without one base and patched are. */
async function changeOf(config, testbeds, patch, { repository: path = ".", measureAnyway }) {
	const [first = ""] = testbeds;
	if (patch === void 0) return {
		testbed: first,
		variants: 2,
		isUnchanged: false
	};
	const repository = openRepository(path);
	const question = {
		patch,
		config,
		testbeds
	};
	const variants = await variantsByMaking(question, repository);
	const differ = measureAnyway ? testbeds : await testbedsThatDiffer({
		...question,
		variants
	}, repository);
	const testbed = differ[0] ?? first;
	return {
		testbed,
		variants: variants.get(makingOf(config, testbed))?.length ?? 2,
		isUnchanged: differ.length === 0
	};
}
/** The outline of the largest part, where cells are split. */
function outlined(whole, { testbed, testbeds, variants }, history) {
	const { traffic, profile, reservations, split = false } = whole;
	const isLinkedOften = linksOn(whole, testbed) > 1;
	const all = cellsOf(whole);
	const [cells = all] = dealt(all, split ? testbeds.length : 1);
	const config = shareOf(whole, cells.length, all.length);
	const place = {
		testbed,
		cells,
		variants,
		isLinkedOften
	};
	const isSingle = variants === 2 && traffic.runsPerBlast === 1 && !isLinkedOften;
	const outlined = {
		cells: planCells(config, place, history),
		policy: policyOf(config),
		...!split && { alike: sameAs(whole, testbed).length },
		isAlone: isSingle && reservations.mostTogether === void 0,
		traffic,
		...profile !== void 0 && { profile },
		variants,
		times: timesOn(history, testbed, config)
	};
	return {
		outlined,
		outlook: outlookOf(outlined),
		shorter: shorterWays(outlined)
	};
}
function printable({ testbed, waitSeconds, isUnchanged, outlined, outlook, shorter }) {
	const { times, variants } = outlined;
	return {
		testbed,
		...waitSeconds !== void 0 && { waitSeconds },
		isUnchanged,
		variants,
		times,
		...outlook,
		shorter
	};
}
function textOf({ testbed, waitSeconds, isUnchanged, ...rest }, patch) {
	const { outlined, outlook, shorter } = rest;
	if (isUnchanged && patch !== void 0) return `${patchName(patch)} changes nothing that ${testbed} would lay or boot: nothing is reserved or measured (--measure-anyway).`;
	return [
		`${testbed}: ${waitSeconds === void 0 ? "nobody can say when it is free" : waitText(waitSeconds)}`,
		coursesText(outlook, outlined),
		cellsText(outlook, outlined),
		timesText(outlined),
		...shorter.length === 0 ? [] : [shorterText(shorter)]
	].join("\n\n");
}
const waitText = (seconds) => seconds < 1 ? "free now" : `${expectedly(seconds)} to wait for it`;
const partNames = {
	building: "building kernels",
	booting: "booting",
	traffic: "traffic",
	settling: "settling, and the rest of blasts",
	profiles: "profiles",
	givingBack: "giving back"
};
function coursesText({ ifUnchanged, ifLost, cells }, { policy }) {
	const courses = [ifUnchanged, ifLost];
	const row = (name, of) => [name, ...courses.map(of)];
	const isLeast = cells.some(({ basis }) => basis === "least");
	const used = parts.filter((part) => courses.some(({ seconds }) => seconds[part] > 0));
	return columns([
		[
			"",
			"if nothing is lost",
			`if ${formatPercent(policy.marginRatio)} is`
		],
		...used.map((part) => row(partNames[part], ({ seconds }) => amount(seconds[part]))),
		row(isLeast ? "together, at least" : "together", ({ totalSeconds }) => amount(totalSeconds)),
		...ifLost.boots > 0 ? [row("boots", ({ boots }) => boots.toFixed(1))] : [],
		row("blasts", ({ blasts }) => blasts.toFixed(1))
	]).join("\n");
}
function cellsText({ cells }, { cells: planned, policy }) {
	const rows = cells.map(({ cell, basis, noiseRatio, ...runs }, index) => {
		const { design, history } = planned[index] ?? {};
		const noise = basis === "history" ? `${formatPercent(noiseRatio ?? 0)} (${history?.runs} earlier runs)` : basis === "assumed" ? `${formatPercent(noiseRatio ?? 0)}, assumed` : "unknown";
		const least = basis === "least" ? "from " : "";
		return [
			cellName(cell),
			design?.name ?? "",
			noise,
			`${least}${runs.runsIfUnchanged.toFixed(1)}`,
			`${least}${runs.runsIfLost.toFixed(1)}`,
			`${runs.mostRuns}`
		];
	});
	const lost = `if ${formatPercent(policy.marginRatio)} is lost`;
	return columns([[
		"cell",
		"design",
		"noise",
		"runs",
		lost,
		"at most"
	], ...rows]).join("\n");
}
function timesText({ times }) {
	const { bootSeconds, blastSeconds, trafficSeconds } = times;
	const boot = bootSeconds > 0 ? `a boot ${formatDuration(bootSeconds)}, ` : "";
	return `Reckoned ${basisText(times)}: ${boot}a blast ${formatDuration(blastSeconds)}, of which packets flow for ${formatDuration(trafficSeconds)}.`;
}
/** Seconds count in a lab in which all is over in minutes. */
const amount = (seconds) => seconds < 600 ? formatDuration(seconds) : `${Math.round(seconds / 60)} min`;
const shorterText = (shorter) => ["What would save some of it, if nothing is lost:", ...columns(shorter.map(({ how, savedSeconds }) => [`  ${amount(savedSeconds)}`, how]))].join("\n");

export { define };