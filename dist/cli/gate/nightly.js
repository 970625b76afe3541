import { loadConfig, parsePriority, testbedsFor } from "../../config/first.js";
import { openRepository, patchOfRange } from "../../forge/patch/first.js";
import { RepositoryError } from "../../forge/patch/first-plain.js";
import { historyFile, randomSeed, resumeAdvice } from "../../gate/experiment/first.js";
import { inSession } from "../../gate/first.js";
import { whoami } from "../../gate/testbeds/first.js";
import { WorkDirectory, refuseNoFolder } from "../../gate/first-plain.js";
import { UsageError, conclusionOfResult, exitCodes } from "../../model/first-plain.js";
import { patchName } from "../../model/first.js";
import { isOfGate, planFollowUps, publishToDirectory, readDirectoryTrend } from "../../publish/data-branch.js";
import { commitFacts, nightlyFolder, nightlyRun, resumeNightly } from "../../publish.js";
import { explained, headline } from "../../report.js";
import { configPath, usualConfig } from "../find-config.js";
import { print, printJson } from "../table.js";
import { stderrLog } from "./gate-call.js";
import { isWorthResuming } from "./judge-gate.js";
const { join, resolve } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/nightly.ts
/** Returns the exit code. Throws on errors, and puts the way to resume into `closingLines`. */
async function run(options, { signal, closingLines }) {
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

export { run };