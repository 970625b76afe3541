import { createOctokit } from "../forge/github.js";
import { openConduit } from "../forge/phabricator.js";
import { directoriesWithLease, releaseLeft } from "../gate/reserve/first.js";
import { labDown, rerunAsRoot } from "../lab/netns/plain.js";
import { closeOpenCheckRun, openBuild, openComment } from "../publish/reporters.js";
import { cancelledOutcome } from "../publish/reporters/first.js";
import { isBisection } from "./approved-request.js";
import { readInputs } from "./inputs.js";
import { log, readState } from "./log.js";
import { openBisectComment, readOpenReporters } from "./reporters.js";
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");

// src/action/clean-up.ts
async function cleanUp() {
	const hasLab = readState("embedded-lab") !== "";
	if (hasLab && await rerunAsRoot() !== void 0) return;
	const folder = readState("lease");
	if (folder !== "") for (const directory of await directoriesWithLease(folder)) {
		const testbed = await releaseLeft(directory, /* @__PURE__ */ new Date()).catch(warn);
		if (testbed !== void 0) log.info(`Released ${testbed}, which the job still held.`);
	}
	if (hasLab) await labDown().catch(warn);
	for (const open of readOpenReporters(readState("open-reporters"))) await conclude(open).catch(warn);
	if (folder !== "") await handOver(folder).catch(warn);
}
async function conclude({ name, request }) {
	const { patch, relay } = request;
	const { token, conduitToken, job } = readInputs(process.env);
	if (isBisection(request) && patch.kind !== "pull-request") return;
	if (patch.kind === "revision") {
		const conduit = openConduit({
			url: patch.server,
			token: conduitToken,
			log
		});
		const { key = `${job.runId}`, build } = relay ?? {};
		if (build === void 0) return;
		await openBuild(conduit, build, patch, {
			run: key,
			undecided: "failure",
			log
		}).conclude(cancelledOutcome);
		return;
	}
	const octokit = await createOctokit({
		token,
		apiUrl: job.apiUrl,
		log
	});
	const now = () => /* @__PURE__ */ new Date();
	const shared = {
		run: job.runId,
		detailsUrl: job.runUrl,
		log,
		now
	};
	if (isBisection(request)) {
		await openBisectComment(octokit, request, shared)?.conclude(cancelledOutcome);
		return;
	}
	const place = {
		name,
		detailsUrl: job.runUrl
	};
	const repository = patch.kind === "pull-request" ? patch.repository : job.repository;
	const trouble = await closeOpenCheckRun(octokit, {
		repository,
		patch
	}, place);
	if (trouble !== void 0) log.warn(trouble);
	if (patch.kind !== "pull-request") return;
	await openComment(octokit, patch, {
		...shared,
		name,
		overrides: request.overrides
	}).conclude(cancelledOutcome);
}
/** Gives the files to the runner's user, who otherwise could not delete root's before the next job. */
async function handOver(folder) {
	const { SUDO_UID: user, SUDO_GID: group } = process.env;
	if (user === void 0 || process.getuid?.() !== 0) return;
	await run("chown", [
		"--recursive",
		"--no-dereference",
		`${user}:${group}`,
		folder
	]);
}
const run = promisify(execFile);
const warn = (error) => log.warn(error.message);

export { cleanUp };