import { applyOverrides, loadConfig, parseFrameSize, parseMostBoots, parsePriority, parseSeed, testbedsFor, withFrameSize } from "../../config.js";
import { metricChoice, namingStyles } from "../../config/parameters.js";
import { lineOfDiffs, openRepository, parseEarlier, patchOfRevision, withoutShortIds } from "../../forge/patch.js";
import { bisect, gateFindingOf, planBisection, resumeBisection } from "../../gate/bisect.js";
import { bisectionEstimateLines, estimateBisection } from "../../gate/estimate.js";
import { cellsOf, historyFile, randomSeed, resumeAdvice } from "../../gate/experiment.js";
import { inSession, showProgress } from "../../gate.js";
import { whoami } from "../../gate/testbeds.js";
import { WorkDirectory } from "../../gate/plain.js";
import { UsageError, conclusionOfBisection, exitCodes } from "../../model/plain.js";
import { callOnPhabricator, patchName } from "../../model.js";
import { excerpt } from "../../model/excerpt.js";
import { bisectHeadline, readAnyResult } from "../../report.js";
import { runToExit } from "../../system/exit.js";
import { openPhabricator, phabricatorOf } from "../../forge/phabricator.js";
import { bisectCommand, openRevisionComment, reportOutcome } from "../../publish/reporters.js";
import { keptOf } from "../../relay.js";
import { isWorthResuming, patientIfAnswered, revisionNamed, stderrLog } from "./judge-gate.js";
import { keptAnswers, pinnedDiff } from "./kept-answers.js";
import { usualConfig } from "./find-config.js";
import { configPath } from "./named-testbed.js";
import { print, printJson } from "../init/plain.js";
import { resolve } from "node:path";

// src/cli/commands/bisect-revision.ts
const optionName = namingStyles.bisectFlag;
/** Returns the base of the diff, and a commit with the diff and the earlier ones stacked. */
async function endsOfRevision({ patch: text, earlier }, repository, { config, signal, ...patience }) {
	const phabricator = phabricatorOf(config);
	const opened = await openPhabricator(phabricator, {
		log: stderrLog,
		signal
	});
	const conduit = patientIfAnswered(opened, {
		...patience,
		signal
	});
	const name = revisionNamed(text, {
		config,
		optionName
	});
	const patch = await patchOfRevision(name, earlier, {
		conduit,
		repository,
		config: phabricator
	});
	return lineOfDiffs(patch, repository);
}
/** Posts one comment at the end, kept until Phabricator accepts it. */
async function bisectAndAnswer({ patch, run: typed, details, site, overrides, config, signal }, work) {
	const run = typed ?? `by-hand-${Date.now()}`;
	const phabricator = phabricatorOf(config);
	const conduit = await openPhabricator(phabricator, { log: stderrLog });
	const patience = {
		answer: true,
		run: typed,
		signal
	};
	const name = revisionNamed(patch, {
		config,
		optionName
	});
	const revision = await pinnedDiff(patientIfAnswered(conduit, patience), name);
	using kept = keptAnswers(phabricator, conduit);
	const about = {
		run,
		takesCommands: typed !== void 0,
		rerun: bisectCommand(callOnPhabricator, overrides, revision.diff),
		...details !== void 0 && { details },
		...site !== void 0 && { page: `${site.replace(/\/+$/, "")}/report/index.html` }
	};
	const live = openRevisionComment(conduit, revision, {
		...about,
		log: stderrLog
	});
	const answer = kept.keeping(live, (reportedOutcome) => ({
		kind: "comment",
		revision,
		...about,
		ending: keptOf(reportedOutcome)
	}));
	const { result } = await reportOutcome(answer, signal, async () => {
		return {
			kind: "bisected",
			result: await work(answer),
			request: overrides,
			links: {}
		};
	});
	return result;
}

// src/cli/commands/bisect.ts
function define(command) {
	command.option("--good <commit>", "commit before the loss").option("--bad <commit>", "commit after the loss").option("-p, --patch <revision>", "bisect the diffs of a revision: D27401 or D27401:80677").option("--earlier <diffs>", "with --patch: all earlier diffs, or ids separated by commas", "all").option("--from <result>", "work directory of a gate: uses its base, patched and worst cell").option("--fix-up <commit>", "FIX or FIX:FIRST, applied to commits that need it", also, []).option("--skip <commits>", "a commit or A..B to leave out; with --resume, only commits", also, []).option("-r, --repository <dir>", "git repository with the commits", ".").option("-c, --config <file>", "configuration", usualConfig).option("-t, --testbed <selector>", "name, or required properties like \"mellanox and 40G\"").option("--scenario <name>", "scenario of the cell to measure").option("--family <name>", "family of that cell: inet4 or inet6").option("--frame-size <size>", "frame size of that cell, like 64B").option("--metric <metric>", metricChoice).option("--profile <how>", "on, off, or the sampling time, like 20s").option("--max-boots <number>", "maximum number of boots; with --resume more than before", String(60)).option("--verify-revert", "also measure the bad commit with the culprit reverted").option("--dry-run", "show the estimate, and reserve nothing").option("--priority <name>", "priority in the queue: release, patch or rerun", "patch").option("-d, --directory <dir>", "work directory (default: a new ppsgate-bisect-…)").option("--seed <number>", "seed of the order of runs (default: random)").option("--resume <dir>", "continue an interrupted one in its work directory").option("--answer", "post the outcome as a comment on the revision").option("--run <key>", "with --answer: key of this run, for one comment per run").option("--details <url>", "with --answer: page with the details").option("--site <url>", "with --answer: URL of the work directory for browsers").option("--json", "print the result as JSON").addHelpText("after", details).action(async (options) => {
		const closingLines = [];
		const isTyped = command.getOptionValueSource("maxBoots") === "cli";
		const given = {
			...options,
			...!isTyped && { maxBoots: void 0 }
		};
		await runToExit((signal) => runBisect(given, signal, closingLines), {
			...command.optsWithGlobals(),
			closingLines
		});
	});
}
const details = `
Example:
  ppsgate bisect --good v1.2 --bad main --scenario forwarding --family inet4
  ppsgate bisect --from ppsgate-gate-20261120-231655 --dry-run

Exits 0 if it names one commit or a few, 2 on wrong usage, 3 if undecided, and
4 if the lab failed.`;
const also = (text, before) => [...before, ...text.split(",").map((part) => part.trim())];
/** Returns the exit code. Throws on errors, and puts the way to resume into `closingLines`. */
async function runBisect(options, signal, closingLines) {
	const written = await loadConfig(configPath(options.config));
	if (options.dryRun) return printEstimate(options, await requestOf(options, written, signal));
	await using work = new WorkDirectory("ppsgate-bisect", stderrLog.warn);
	const directory = await work.open(options);
	const result = await found(options, written, directory, signal).catch(async (error) => {
		if (await isWorthResuming(error, directory)) closingLines.push(resumeAdvice(directory, commandOf(options)));
		throw error;
	});
	if (options.json) printJson(result);
	else print(`${bisectHeadline(result)}\nReport: ${directory}/report/index.html`);
	return exitCodes[conclusionOfBisection(result)];
}
const commandOf = ({ config }) => config === "ppsgate.yml" ? "ppsgate bisect" : `ppsgate bisect --config ${config}`;
async function found(options, written, directory, signal) {
	const { patch = "", run, details, site } = options;
	if (options.answer && patch === "") missing("patch");
	const search = (answer) => searched(options, written, directory, signal, answer);
	if (!options.answer) return search();
	const about = {
		...run && { run },
		...details && { details },
		...site && { site },
		patch,
		overrides: overridesOf(options),
		config: written,
		signal
	};
	return bisectAndAnswer(about, search);
}
function overridesOf(options) {
	const { good, bad, earlier, scenario, family, metric, profile, testbed, maxBoots } = options;
	return {
		good,
		bad,
		...earlier !== "all" && { earlier },
		scenarios: scenario,
		families: family,
		metric,
		profile,
		testbed,
		maxBoots,
		fixUp: options.fixUp.join(","),
		skip: options.skip.join(","),
		...options.verifyRevert && { verifyRevert: "true" }
	};
}
async function searched(options, written, directory, signal, answer) {
	const { resume } = options;
	const request = resume === void 0 ? await requestOf(options, written, signal) : void 0;
	const mostBoots = options.maxBoots === void 0 ? void 0 : parseMostBoots(options.maxBoots, "--max-boots");
	const config = request?.config ?? written;
	const priority = parsePriority(options.priority, "--priority");
	const repository = repositoryOf(options);
	const session = {
		config,
		signal,
		repository,
		answer,
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
	return inSession(session, (deps) => request === void 0 ? resumeBisection(directory, {
		...deps,
		repository
	}, {
		mostBoots,
		skips: options.skip
	}) : bisect(request, directory, {
		...deps,
		repository
	}));
}
/** Rejects short ids in a clone that measures revisions: authors of diffs choose the ids of commits made of them. */
function repositoryOf({ repository, patch }) {
	const opened = openRepository(resolve(repository));
	return patch === void 0 ? opened : withoutShortIds(opened);
}
async function requestOf(options, written, signal) {
	const from = options.from === void 0 ? void 0 : await readGateFinding(options.from);
	const config = withOneCell(options, written, from);
	const ends = await endsOf(options, from, {
		config,
		signal
	});
	const { seed, fixUp: fixUps, skip: skips, maxBoots } = options;
	return {
		...ends,
		fixUps,
		skips,
		config,
		from,
		testbeds: testbedsFor(config, options.testbed ?? from?.testbed, "--testbed"),
		seed: seed === void 0 ? randomSeed() : parseSeed(seed, "--seed"),
		mostBoots: parseMostBoots(maxBoots, "--max-boots"),
		isVerified: options.verifyRevert === true
	};
}
/** Named commits take precedence: a revision may be given only for its answer. */
async function endsOf({ good, bad, patch, earlier, repository, answer, run }, from, surroundings) {
	if (patch && !good && !bad && from === void 0) {
		const [, first, last] = /^(.+?)\.\.\.?(.+)$/.exec(patch) ?? [];
		if (first !== void 0 && last !== void 0) throw new UsageError(`--patch: expected a revision like D27401; for commits, write --good ${excerpt(first)} --bad ${excerpt(last)}.`);
		const revision = {
			patch,
			earlier: parseEarlier(earlier, "--earlier")
		};
		const about = {
			...surroundings,
			answer,
			run
		};
		return endsOfRevision(revision, openRepository(resolve(repository)), about);
	}
	return {
		good: good ?? from?.good ?? missing("good"),
		bad: bad ?? from?.bad ?? missing("bad")
	};
}
function missing(name) {
	throw new UsageError(`--${name} is missing: see \`ppsgate bisect --help\`.`);
}
async function readGateFinding(path) {
	const { result } = await readAnyResult(path);
	if (!("kind" in result)) return gateFindingOf(result);
	throw new UsageError(`--from: ${path} is the result of a bisection; name that of a gate.`);
}
/** Reduces the configuration to the requested cell, the gate's cell, or its only cell. */
function withOneCell(options, written, from) {
	const { metric, profile, frameSize } = options;
	const { scenario, family, frameBytes } = from?.cell ?? {};
	const given = {
		scenarios: options.scenario ?? scenario,
		families: options.family ?? family,
		metric,
		profile
	};
	const config = applyOverrides(written, given, namingStyles.bisectFlag);
	const bytes = frameSize === void 0 ? frameBytes : parseFrameSize(frameSize, "--frame-size");
	const one = bytes === void 0 ? config : withFrameSize(config, bytes);
	const { scenarios, families, frameSizes = [] } = one;
	if (cellsOf(one).length === 1) return one;
	const chosen = [
		oneOf("--scenario", scenarios),
		oneOf("--family", families),
		oneOf("--frame-size", frameSizes.map((size) => `${size}B`))
	].filter((text) => text !== void 0);
	throw new UsageError(`A bisection measures one cell: name ${chosen.join(" and ")}.`);
}
const oneOf = (option, names) => names.length > 1 ? `${option} (one of ${names.join(", ")})` : void 0;
async function printEstimate(options, request) {
	const progress = showProgress(process.stderr, request.config.gate.metric, () => performance.now());
	const plan = await planBisection(request, {
		repository: repositoryOf(options),
		history: historyFile(request.config.history),
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent
	}).finally(progress.end);
	const { boots, minutes, noise } = estimateBisection(plan);
	if (options.json) {
		const { range, testbed, cell, mostBoots } = plan;
		printJson({
			testbed,
			cell,
			range,
			boots,
			minutes,
			mostBoots,
			...noise
		});
	} else for (const line of bisectionEstimateLines(plan)) print(line);
	return exitCodes.pass;
}

export { define };