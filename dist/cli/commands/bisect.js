import { applyOverrides, loadConfig, namingStyles, parseFrameSize, parseMostBoots, parsePriority, parseSeed, testbedsFor } from "../../config.js";
import { lineOfDiffs, openRepository, parseEarlier, patchOfRevision, withoutShortIds } from "../../forge/patch.js";
import { bisect, gateFindingOf, planBisection, resumeBisection } from "../../gate/bisect.js";
import { bisectionEstimateLines, estimateBisection } from "../../gate/estimate.js";
import { cellsOf, goingOn, historyFile, randomSeed } from "../../gate/experiment.js";
import { WorkDirectory, inSession, showProgress } from "../../gate.js";
import { whoami } from "../../gate/testbeds.js";
import { UsageError, callOnPhabricator, conclusionOfBisection, excerpt, exitCodes, metricChoice, patchName } from "../../model.js";
import { bisectHeadline, readAnyResult } from "../../report.js";
import { runToExit } from "../../system/exit.js";
import { openPhabricator, phabricatorOf } from "../../forge/phabricator.js";
import { bisectCommand, openRevisionComment, reportOutcome } from "../../publish/reporters.js";
import { keptOf } from "../../relay.js";
import { keptAnswers, pinnedDiff } from "./gate-revision.js";
import { isWorthResuming, patientIfAnswered, revisionNamed, stderrLog } from "./judge-gate.js";
import { usualConfig } from "./find-config.js";
import { configPath } from "./named-testbed.js";
import { print, printJson } from "./table.js";
import { resolve } from "node:path";

// src/cli/commands/bisect-revision.ts
const called = namingStyles.bisectFlag;
/** The base of the diff, and a commit with it and the earlier ones stacked. */
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
		called
	});
	const patch = await patchOfRevision(name, earlier, {
		conduit,
		repository,
		config: phabricator
	});
	return lineOfDiffs(patch, repository);
}
/** Posts one comment at the end, kept until Phabricator accepts it. */
async function bisectAndAnswer({ patch, run: typed, details, site, asked, config, signal }, work) {
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
		called
	});
	const revision = await pinnedDiff(patientIfAnswered(conduit, patience), name);
	using kept = keptAnswers(phabricator, conduit);
	const about = {
		run,
		takesCommands: typed !== void 0,
		rerun: bisectCommand(callOnPhabricator, asked, revision.diff),
		...details !== void 0 && { details },
		...site !== void 0 && { page: `${site.replace(/\/+$/, "")}/report/index.html` }
	};
	const live = openRevisionComment(conduit, revision, {
		...about,
		log: stderrLog
	});
	const answer = kept.keeping(live, (ending) => ({
		kind: "comment",
		revision,
		...about,
		ending: keptOf(ending)
	}));
	const { result } = await reportOutcome(answer, signal, async () => {
		return {
			kind: "bisected",
			result: await work(answer),
			request: asked,
			links: {}
		};
	});
	return result;
}

// src/cli/commands/bisect.ts
function define(command) {
	command.option("--good <commit>", "from before the loss").option("--bad <commit>", "from after it").option("-p, --patch <revision>", "the diffs of a revision like D27401 or D27401:80677").option("--earlier <diffs>", "with --patch: all diffs sent before it, or ids with commas", "all").option("--from <result>", "a gate's work directory: its base, its patched, its worst cell").option("--fix-up <commit>", "FIX or FIX:FIRST, on top of commits that need it", also, []).option("--skip <commits>", "a commit or A..B, which are not tried; with --resume, commits", also, []).option("-r, --repository <dir>", "git repository that has them", ".").option("-c, --config <file>", "configuration", usualConfig).option("-t, --testbed <selector>", "a name, or what it has to be, like \"mellanox and 40G\"").option("--scenario <name>", "of the one cell that is measured").option("--family <name>", "of that cell: inet4 or inet6").option("--frame-size <size>", "of that cell, like 64B").option("--metric <metric>", metricChoice).option("--profile <how>", "on, off, or for how long samples are taken, like 20s").option("--max-boots <number>", "before it gives up; with --resume more than before", String(60)).option("--verify-revert", "measure the bad one without the culprit, too").option("--dry-run", "say what it would take, and reserve nothing").option("--priority <name>", "in the queue: release, patch or rerun", "patch").option("-d, --directory <dir>", "work directory (default: a new ppsgate-bisect-…)").option("--seed <number>", "of the order of runs (default: by chance)").option("--resume <dir>", "go on in the work directory of one that was cut short").option("--answer", "tell on the revision how it ends, in a comment").option("--run <key>", "with --answer: of this run, which is answered once").option("--details <url>", "with --answer: where the rest is to be found").option("--site <url>", "with --answer: where browsers find the work directory").option("--json", "print the result as JSON").addHelpText("after", details).action(async (options) => {
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
3 when it stays undecided, 4 when the lab failed.`;
const also = (text, before) => [...before, ...text.split(",").map((part) => part.trim())];
/** Returns the exit code; on errors throws, and puts into `lastWords` how to resume. */
async function runBisect(options, signal, lastWords) {
	const written = await loadConfig(configPath(options.config));
	if (options.dryRun) return printEstimate(options, await requestOf(options, written, signal));
	await using work = new WorkDirectory("ppsgate-bisect", stderrLog.warn);
	const directory = await work.open(options);
	const result = await found(options, written, directory, signal).catch(async (error) => {
		if (await isWorthResuming(error, directory)) lastWords.push(goingOn(directory, commandOf(options)));
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
		asked: overridesOf(options),
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
/** A clone that measures revisions has commits made of diffs, whose authors choose their ids. */
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
		testbeds: testbedsFor(config, options.testbed ?? from?.testbed),
		seed: seed === void 0 ? randomSeed() : parseSeed(seed, "--seed"),
		mostBoots: parseMostBoots(maxBoots, "--max-boots"),
		isVerified: options.verifyRevert === true
	};
}
/** Named commits take precedence: a revision may be given only for its answer. */
async function endsOf({ good, bad, patch, earlier, repository, answer, run }, from, surroundings) {
	if (patch && !good && !bad && from === void 0) {
		const [, first, last] = /^(.+?)\.\.\.?(.+)$/.exec(patch) ?? [];
		if (first !== void 0 && last !== void 0) throw new UsageError(`--patch: names a revision like D27401 here: write --good ${excerpt(first)} --bad ${excerpt(last)} for commits.`);
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
	throw new UsageError(`--from: ${path} is the result of a bisection: name a gate's.`);
}
/** Reduces the configuration to the requested cell, that of the gate, or its only one. */
function withOneCell(options, written, from) {
	const { metric, profile, frameSize } = options;
	const { scenario, family, frameBytes } = from?.cell ?? {};
	const asked = {
		scenarios: options.scenario ?? scenario,
		families: options.family ?? family,
		metric,
		profile
	};
	const config = applyOverrides(written, asked, namingStyles.bisectFlag);
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