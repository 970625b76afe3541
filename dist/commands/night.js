import { loadConfig, parsePriority } from "../config.js";
import { timestampedDirectory, whoami } from "../controller.js";
import { isOfGate, publishToDirectory, readDirectoryTrend, tonight } from "../data-branch.js";
import { runToExit } from "../exit.js";
import { goingOn, hasPlan, historyFile, randomSeed } from "../experiment.js";
import { testbedsFor } from "../inventory.js";
import { factsOf, folderOf, night, resumeNight } from "../night.js";
import { openRepository, patchOfRange } from "../patch.js";
import { explained, headline } from "../report.js";
import { inSession } from "../session.js";
import { UsageError, exitCodes, patchName, upshotOfError, upshotOfResult } from "../words.js";
import { stderrLog, usualConfig } from "./judge-gate.js";
import { print, printJson } from "./table.js";
import { join, resolve } from "node:path";

// src/commands/night.ts
function define(command) {
	command.option("--commit <name>", "that is measured against itself", "HEAD").option("-r, --repository <dir>", "git repository that has it", ".").option("-c, --config <file>", "configuration", usualConfig).option("-t, --testbed <wish>", "a name, or what it has to be, like \"mellanox and 40G\"").option("--data <dir>", "where nights and results are kept (default: as configured)").option("--priority <name>", "in the queue: release, patch or rerun", "rerun").option("-d, --directory <dir>", "work directory (default: a new ppsgate-night-…)").option("--resume <dir>", "go on in the work directory of one that was cut short").option("--json", "print the result of the commit against itself as JSON").addHelpText("after", details).action(async (options) => {
		const lastWords = [];
		await runToExit((signal) => runNight(options, signal, lastWords), {
			...command.optsWithGlobals(),
			lastWords
		});
	});
}
const details = `
What is not where the nights before were is measured again at once. Where a
change lasts, its last good commit is gated against its first bad one; what
that confirms is bisected, with \`trend: { bisect: true }\` in ppsgate.yml.

Example:
  ppsgate night --commit origin/main --data /srv/www/ppsgate

Exits 0 when it was measured, 2 on wrong usage, 4 when the lab failed.`;
/** Answers the exit code; throws for what kept it from a result, and says into `lastWords` how it goes on. */
async function runNight(options, signal, lastWords) {
	const config = await loadConfig(resolve(options.config));
	const kept = options.data ?? config.github.data.directory;
	if (kept === void 0) throw new UsageError("--data is missing: name a folder in which nights are kept, or set `github.data.directory` in ppsgate.yml.");
	const directory = options.resume ?? options.directory ?? timestampedDirectory("ppsgate-night");
	const result = await measured(options, {
		config,
		data: resolve(kept),
		directory
	}, signal).catch(async (error) => {
		if (upshotOfError(error) !== "usage" && await hasPlan(directory)) lastWords.push(goingOn(directory, commandOf(options)));
		throw error;
	});
	if (options.json) printJson(result);
	else print(`${headline(result)}\nReport: ${directory}/report/index.html`);
	const isOfLab = upshotOfResult(result) === "infrastructure";
	return exitCodes[isOfLab ? "infrastructure" : "pass"];
}
const commandOf = ({ config, data }) => [
	"ppsgate night",
	config === "ppsgate.yml" ? [] : ["--config", config],
	data === void 0 ? [] : ["--data", data]
].flat().join(" ");
async function measured(options, { config, data, directory }, signal) {
	const repository = openRepository(resolve(options.repository));
	const priority = parsePriority(options.priority, "--priority");
	const seed = randomSeed();
	const { resume, commit, testbed } = options;
	const request = resume === void 0 ? {
		patch: await patchOfRange(repository, `${commit}..${commit}`),
		testbeds: testbedsFor(config, testbed)
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
				purpose: "night",
				patch: patchName(patch)
			}
		}),
		leaseFolder: directory
	};
	return inSession(session, (world) => {
		const ours = nightWorld(world, repository, {
			config,
			data,
			directory
		});
		return request === void 0 ? resumeNight({
			config,
			seed
		}, directory, ours) : night({
			...request,
			config,
			seed
		}, directory, ours);
	});
}
function nightWorld(world, repository, { config, data, directory }) {
	const { keep, staleSeconds } = config.github.data;
	const compareUrl = config.trend.compare;
	return {
		...world,
		repository,
		async trend(testbed, { headCommit }) {
			const { commits } = await factsOf(headCommit, repository);
			return tonight(await readDirectoryTrend(data), {
				testbed,
				commits,
				now: world.now
			});
		},
		async keep(told) {
			const folder = join(directory, folderOf(told));
			const { result, profiles } = await explained(told.result, folder, stderrLog.warn);
			const facts = told.isDefaultBranch && isOfGate(result) ? await factsOf(result.patch.headCommit, repository) : {};
			const publication = {
				...told,
				...facts,
				...compareUrl && { compareUrl },
				profiles
			};
			await publishToDirectory(data, [publication], {
				keep,
				staleSeconds,
				now: world.now()
			});
		}
	};
}

export { define };