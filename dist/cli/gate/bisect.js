import { applyOverrides, loadConfig, parseFrameSize, parseMostBoots, parsePriority, parseSeed, testbedsFor, withFrameSize } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { openRepository, withoutShortIds } from "../../forge/patch/first.js";
import { lineOfDiffs, parseEarlier, patchOfRevision } from "../../forge/patch.js";
import { bisect, bisectionEstimateLines, estimateBisection, gateFindingOf, planBisection, resumeBisection } from "../../gate/bisect.js";
import { cellsOf, historyFile, randomSeed, resumeAdvice } from "../../gate/experiment/first.js";
import { inSession, showProgress } from "../../gate/first.js";
import { whoami } from "../../gate/testbeds/first.js";
import { WorkDirectory } from "../../gate/first-plain.js";
import { UsageError, conclusionOfBisection, exitCodes } from "../../model/first-plain.js";
import { callOnPhabricator, patchName } from "../../model/first.js";
import { excerpt } from "../../model/excerpt.js";
import { bisectHeadline, readAnyResult } from "../../report.js";
import { configPath, usualConfig } from "../find-config.js";
import { print, printJson } from "../table.js";
import { openPhabricator, phabricatorOf } from "../../forge/phabricator.js";
import { bisectCommand, openRevisionComment } from "../../publish/reporters.js";
import { reportOutcome } from "../../publish/reporters/first.js";
import { keptOf } from "../../relay.js";
import { stderrLog } from "./gate-call.js";
import { keptAnswers, pinnedDiff } from "./kept-answers.js";
import { patientIfAnswered, revisionNamed } from "./revision-named.js";
import { isWorthResuming } from "./judge-gate.js";
const { resolve } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/bisect-revision.ts
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

// src/cli/gate/bisect.ts
/** Returns the exit code. Throws on errors, and puts the way to resume into `closingLines`. */
async function run(options, { signal, closingLines }) {
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
	if (options.json) {
		const { range, testbed, cell, mostBoots } = plan;
		printJson({
			testbed,
			cell,
			range,
			mostBoots,
			...estimateBisection(plan)
		});
	} else for (const line of bisectionEstimateLines(plan)) print(line);
	return exitCodes.pass;
}

export { run };