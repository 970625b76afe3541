import { bisect, gateRunsOf, hasBisectPlan, outlookLines, outlookOf, planBisection, resumeBisection } from "../bisect.js";
import { applyOverrides, calledAs, loadConfig, parseFrameSize, parseMostBoots, parsePriority, parseSeed } from "../config.js";
import { timestampedDirectory, whoami } from "../controller.js";
import { runToExit } from "../exit.js";
import { cellsOf, goingOn, historyFile, randomSeed } from "../experiment.js";
import { testbedsFor } from "../inventory.js";
import { openRepository } from "../patch.js";
import { showProgress } from "../progress.js";
import { bisectHeadline, readAnyResult } from "../report.js";
import { inSession } from "../session.js";
import { UsageError, exitCodes, patchName, upshotOfBisection, upshotOfError } from "../words.js";
import { usualConfig } from "./judge-gate.js";
import { print, printJson } from "./table.js";
import { resolve } from "node:path";

// src/commands/bisect.ts
function define(command) {
	command.option("--good <commit>", "from before the loss").option("--bad <commit>", "from after it").option("--from <result>", "a gate's work directory: its base, its patched, its worst cell").option("--fix-up <commit>", "FIX or FIX:FIRST, on top of commits that need it", also, []).option("--skip <commits>", "A commit or A..B, which are not tried", also, []).option("-r, --repository <dir>", "git repository that has them", ".").option("-c, --config <file>", "configuration", usualConfig).option("-t, --testbed <wish>", "a name, or what it has to be, like \"mellanox and 40G\"").option("--scenario <name>", "of the one cell that is measured").option("--family <name>", "of that cell: inet4 or inet6").option("--frame-size <size>", "of that cell, like 64B").option("--metric <metric>", "pps or nsPerPacket").option("--profile <how>", "on, off, or for how long samples are taken, like 20s").option("--max-boots <number>", "before it gives up; with --resume more than before", String(60)).option("--verify-revert", "measure the bad one without the culprit, too").option("--dry-run", "say what it would take, and reserve nothing").option("--priority <name>", "in the queue: release, patch or rerun", "patch").option("-d, --directory <dir>", "work directory (default: a new ppsgate-bisect-…)").option("--seed <number>", "of the order of runs (default: by chance)").option("--resume <dir>", "go on in the work directory of one that was cut short").option("--json", "print the result as JSON").addHelpText("after", details).action(async (options) => {
		const lastWords = [];
		const isTyped = command.getOptionValueSource("maxBoots") === "cli";
		const asked = {
			...options,
			...!isTyped && { maxBoots: void 0 }
		};
		await runToExit((signal) => runBisect(asked, signal, lastWords), {
			...command.optsWithGlobals(),
			lastWords
		});
	});
}
const details = `
Example:
  ppsgate bisect --good v1.2 --bad main --scenario forwarding --family inet4
  ppsgate bisect --from ppsgate-gate-20261120-231655 --dry-run

Exits 0 when a commit is named, or a few of which it is one, 2 on wrong usage,
3 when nobody can say, 4 when the lab failed.`;
/** Of an option that may be typed several times. */
const also = (text, before) => [...before, text];
/** Answers the exit code; throws for what kept it from an answer, and says into `lastWords` how it goes on. */
async function runBisect(options, signal, lastWords) {
	const written = await loadConfig(resolve(options.config));
	if (options.dryRun) return foretell(options, await requestOf(options, written));
	const directory = options.resume ?? options.directory ?? timestampedDirectory("ppsgate-bisect");
	const result = await found(options, written, directory, signal).catch(async (error) => {
		if (upshotOfError(error) !== "usage" && await hasBisectPlan(directory)) lastWords.push(goingOn(directory, commandOf(options)));
		throw error;
	});
	if (options.json) printJson(result);
	else print(`${bisectHeadline(result)}\nReport: ${directory}/report/index.html`);
	return exitCodes[upshotOfBisection(result)];
}
const commandOf = ({ config }) => config === "ppsgate.yml" ? "ppsgate bisect" : `ppsgate bisect --config ${config}`;
async function found(options, written, directory, signal) {
	const { resume } = options;
	const request = resume === void 0 ? await requestOf(options, written) : void 0;
	const mostBoots = options.maxBoots === void 0 ? void 0 : parseMostBoots(options.maxBoots, "--max-boots");
	const config = request?.config ?? written;
	const priority = parsePriority(options.priority, "--priority");
	const repository = openRepository(resolve(options.repository));
	const session = {
		config,
		signal,
		repository,
		history: historyFile(config.history),
		output: process.stderr,
		requestFor: (patch) => ({
			priority,
			holder: {
				who: whoami(),
				purpose: "bisect",
				patch: patchName(patch)
			}
		}),
		leaseFolder: directory
	};
	return inSession(session, (world) => request === void 0 ? resumeBisection(directory, {
		...world,
		repository
	}, mostBoots) : bisect(request, directory, {
		...world,
		repository
	}));
}
async function requestOf(options, written) {
	const from = options.from === void 0 ? void 0 : await readGateRuns(options.from);
	const config = withOneCell(options, written, from);
	const { seed, fixUp: fixUps, skip: skips, maxBoots } = options;
	return {
		good: options.good ?? from?.good ?? missing("good"),
		bad: options.bad ?? from?.bad ?? missing("bad"),
		fixUps,
		skips,
		config,
		from,
		testbeds: testbedsFor(config, options.testbed ?? from?.testbed),
		seed: seed === void 0 ? randomSeed() : parseSeed(seed, "--seed"),
		mostBoots: parseMostBoots(maxBoots, "--max-boots"),
		isVerified: options.verifyRevert === true
	};
}
function missing(name) {
	throw new UsageError(`--${name} is missing: see \`ppsgate bisect --help\`.`);
}
async function readGateRuns(path) {
	const { result } = await readAnyResult(path);
	if (!("kind" in result)) return gateRunsOf(result);
	throw new UsageError(`--from: ${path} is the result of a bisection: name a gate's.`);
}
/** The configuration with the cell that is asked for, that of the gate, or the only one that it has. */
function withOneCell(options, written, from) {
	const { metric, profile, frameSize } = options;
	const { scenario, family, frameBytes } = from?.cell ?? {};
	const asked = {
		scenarios: options.scenario ?? scenario,
		families: options.family ?? family,
		metric,
		profile
	};
	const called = (name) => {
		if (name === "scenarios") return "--scenario";
		return name === "families" ? "--family" : calledAs.flag(name);
	};
	const config = applyOverrides(written, asked, called);
	const bytes = frameSize === void 0 ? frameBytes : parseFrameSize(frameSize, "--frame-size");
	const one = bytes === void 0 ? config : {
		...config,
		frameSizes: [bytes]
	};
	const { scenarios, families, frameSizes = [] } = one;
	if (cellsOf(one).length === 1) return one;
	const told = [
		oneOf("--scenario", scenarios),
		oneOf("--family", families),
		oneOf("--frame-size", frameSizes.map((size) => `${size}B`))
	].filter((text) => text !== void 0);
	throw new UsageError(`A bisection is of one cell: name ${told.join(" and ")}.`);
}
const oneOf = (option, names) => names.length > 1 ? `${option} (one of ${names.join(", ")})` : void 0;
/** Says what a bisection would take. */
async function foretell(options, request) {
	const progress = showProgress(process.stderr, request.config.gate.metric, () => performance.now());
	const plan = await planBisection(request, {
		repository: openRepository(resolve(options.repository)),
		history: historyFile(request.config.history),
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent
	}).finally(progress.end);
	const { boots, minutes, forecast } = outlookOf(plan);
	if (options.json) {
		const { range, testbed, cell, mostBoots } = plan;
		printJson({
			testbed,
			cell,
			range,
			boots,
			minutes,
			mostBoots,
			forecast
		});
	} else for (const line of outlookLines(plan)) print(line);
	return exitCodes.pass;
}

export { define };