import { summary } from "../vendor/actions-core.js";
import { summaryOf } from "../answer.js";
import { isOnThisMachine } from "../config.js";
import { readHistory } from "../data-branch.js";
import { historyFile } from "../experiment.js";
import { readyMachine } from "../linux-lab.js";
import { exitCodes, reasonOf, withoutPaths } from "../words.js";
import { labState, leaseState } from "./left.js";
import { log, saveState, setOutput } from "./log.js";
import { fileOf, requestText } from "./request.js";
import { join } from "node:path";
import { mkdir, writeFile } from "node:fs/promises";

// src/action/measuring.ts
/** Readies this machine where it is to be the lab; answers an exit code where that was done by another process. */
async function readyLab(config, testbeds) {
	const kinds = testbeds.flatMap((name) => {
		const testbed = config.testbeds[name];
		return isOnThisMachine(testbed) ? testbed.kind : [];
	});
	if (kinds.length === 0) return void 0;
	const exitCode = await readyMachine(log.info, kinds);
	if (exitCode === void 0) saveState(labState, "up");
	return exitCode;
}
/**
* A folder that is uploaded, whatever comes to lie there: workflows look for it at its place, which no output can change.
* Leases that lie in it are given back at the end of the job.
*/
async function newFolder({ inputs: { job } }) {
	const folder = await makeFirst(join(job.temporary, "ppsgate"));
	setOutput("directory", folder);
	saveState(leaseState, folder);
	return folder;
}
/** The path, or where an earlier step has that one, `path-2`, `path-3` and so on. */
async function makeFirst(path, number = 1) {
	const folder = number === 1 ? path : `${path}-${number}`;
	try {
		await mkdir(folder);
		return folder;
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
		return makeFirst(path, number + 1);
	}
}
/** Where the end is not taken, the output `request` has another job answer, with what this one leaves behind. */
const orElsewhere = (answer, request) => ({
	...answer,
	async ended(ending) {
		const given = await answer.ended(ending);
		if (given === "untaken") setOutput("request", requestText(request));
		return given;
	}
});
/** The summary of the job holds the result also where nothing else can be written. */
async function summarized(ending) {
	const write = async () => void await summary.addRaw(summaryOf(ending)).write();
	summaries = summaries.then(write, write);
	await summaries;
	return ending;
}
/** Gates that end at once write one after the other: the runner's toolkit has one buffer for all of them. */
let summaries = Promise.resolve();
/**
* Writes to the log alone, and to no terminal: a runner may offer one, as act does, and what it is told must begin a
* line.
*/
const jobLog = { write: (text) => process.stdout.write(text) };
/** What this machine has learnt, and what the data branch has; a runner that is made anew each time knows nothing. */
function sharedHistory(config, { octokit, inputs: { job } }) {
	const file = historyFile(config.history);
	const { branch } = config.github.data;
	return {
		async read() {
			if (branch === void 0) return file.read();
			return [...await readHistory(octokit, {
				repository: job.repository,
				branch
			}).catch((error) => {
				log.warn(reasonOf(error));
				return [];
			}), ...await file.read()];
		},
		append: file.append
	};
}
/** Keeps the reason for the job that publishes. */
async function keepRefusal(why, context) {
	const folder = await newFolder(context);
	const said = withoutPaths(why);
	const failure = {
		exitCode: exitCodes.usage,
		said,
		isRefused: true
	};
	await writeFile(join(folder, fileOf("failure", 0, 1)), JSON.stringify(failure));
}

export { jobLog, keepRefusal, newFolder, orElsewhere, readyLab, sharedHistory, summarized };