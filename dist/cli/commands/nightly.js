import { loadConfig, parsePriority, testbedsFor } from "../../config.js";
import { openRepository, patchOfRange } from "../../forge/patch.js";
import { historyFile, randomSeed, resumeAdvice } from "../../gate/experiment.js";
import { RepositoryError } from "../../forge/patch/plain.js";
import { inSession } from "../../gate.js";
import { whoami } from "../../gate/testbeds.js";
import { WorkDirectory, refuseNoFolder } from "../../gate/plain.js";
import { UsageError, conclusionOfResult, exitCodes } from "../../model/plain.js";
import { patchName } from "../../model.js";
import { isOfGate, planFollowUps, publishToDirectory, readDirectoryTrend } from "../../publish/data-branch.js";
import { commitFacts, nightlyFolder, nightlyRun, resumeNightly } from "../../publish.js";
import { explained, headline } from "../../report.js";
import { runToExit } from "../../system/exit.js";
import { usualConfig } from "./find-config.js";
import { isWorthResuming, stderrLog } from "./judge-gate.js";
import { configPath } from "./named-testbed.js";
import { print, printJson } from "../init/plain.js";
import { join, resolve } from "node:path";

// src/cli/commands/nightly.ts
function define(command) {
	command.option("--commit <name>", "commit to measure against itself", "HEAD").option("-r, --repository <dir>", "git repository with the commit", ".").option("-c, --config <file>", "configuration", usualConfig).option("-t, --testbed <selector>", "name, or required properties like \"mellanox and 40G\"").option("--data <dir>", "folder of nightly runs and results (default: as configured)").option("--priority <name>", "priority in the queue: release, patch or rerun", "rerun").option("-d, --directory <dir>", "work directory (default: a new ppsgate-nightly-…)").option("--resume <dir>", "continue an interrupted one in its work directory").option("--json", "print the result of the A/A run as JSON").addHelpText("after", details).action(async (options) => {
		const closingLines = [];
		await runToExit((signal) => runNightly(options, signal, closingLines), {
			...command.optsWithGlobals(),
			closingLines
		});
	});
}
const details = `
Cells that differ from earlier nightly runs are measured again at once. If a
change lasts, a gate compares its last good commit with its first bad one; with
\`trend: { bisect: true }\` in ppsgate.yml, a confirmed change is bisected.

Example:
  ppsgate nightly --commit origin/main --data /srv/www/ppsgate

Exits 0 if it was measured, 2 on wrong usage, and 4 if the lab failed.`;
/** Returns the exit code. Throws on errors, and puts the way to resume into `closingLines`. */
async function runNightly(options, signal, closingLines) {
	const config = await loadConfig(configPath(options.config));
	const kept = options.data ?? config.github.data.directory;
	if (kept === void 0) throw new UsageError("--data is missing: name a folder for nightly runs, or set `github.data.directory` in ppsgate.yml.");
	await using work = new WorkDirectory("ppsgate-nightly", stderrLog.warn);
	refuseNoFolder(kept, "--data");
	const directory = await work.open(options);
	const result = await measured(options, {
		config,
		data: resolve(kept),
		directory
	}, signal).catch(async (error) => {
		if (await isWorthResuming(error, directory)) closingLines.push(resumeAdvice(directory, commandOf(options)));
		throw error;
	});
	if (options.json) printJson(result);
	else print(`${headline(result)}\nReport: ${directory}/report/index.html`);
	const isOfLab = conclusionOfResult(result) === "infrastructure";
	return exitCodes[isOfLab ? "infrastructure" : "pass"];
}
const commandOf = ({ config, data }) => [
	"ppsgate nightly",
	config === "ppsgate.yml" ? [] : ["--config", config],
	data === void 0 ? [] : ["--data", data]
].flat().join(" ");
async function measured(options, { config, data, directory }, signal) {
	const repository = openRepository(resolve(options.repository));
	const priority = parsePriority(options.priority, "--priority");
	const seed = randomSeed();
	const { resume, commit, testbed } = options;
	const request = resume === void 0 ? {
		patch: await patchOfCommit(commit, repository),
		testbeds: testbedsFor(config, testbed, "--testbed")
	} : void 0;
	const session = {
		config,
		repository,
		signal,
		history: historyFile(config.history),
		output: process.stderr,
		requestFor: (patch) => ({
			priority,
			holder: {
				who: whoami(),
				purpose: "nightly",
				patch: patchName(patch)
			}
		}),
		leaseFolder: directory
	};
	return inSession(session, (deps) => {
		const ours = nightlyDeps(deps, repository, {
			config,
			data,
			directory
		});
		return request === void 0 ? resumeNightly({
			config,
			seed
		}, directory, ours) : nightlyRun({
			...request,
			config,
			seed
		}, directory, ours);
	});
}
async function patchOfCommit(commit, repository) {
	const id = await repository.resolve(commit).catch((error) => {
		if (!(error instanceof RepositoryError)) throw error;
		throw new UsageError(`--commit: ${error.message}`);
	});
	return patchOfRange(repository, `${id}..${id}`);
}
function nightlyDeps(deps, repository, { config, data, directory }) {
	const { keep, staleSeconds } = config.github.data;
	const compareUrl = config.trend.compare;
	return {
		...deps,
		repository,
		async trend(testbed, { headCommit }) {
			const { commits } = await commitFacts(headCommit, repository);
			return planFollowUps(await readDirectoryTrend(data), {
				testbed,
				commits,
				now: deps.now
			});
		},
		async keep(update) {
			const folder = join(directory, nightlyFolder(update));
			const { result, profiles } = await explained(update.result, folder, stderrLog.warn);
			const facts = update.isDefaultBranch && isOfGate(result) ? await commitFacts(result.patch.headCommit, repository) : {};
			const publication = {
				...update,
				...facts,
				...compareUrl && { compareUrl },
				profiles
			};
			await publishToDirectory(data, [publication], {
				keep,
				staleSeconds,
				now: deps.now()
			});
		}
	};
}

export { define };