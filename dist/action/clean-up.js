import { getState } from "../vendor/actions-core.js";
import { cancelled, closeLeftCheckRun, openBuild, openComment } from "../answer.js";
import { createOctokit } from "../github.js";
import { labDown, rerunAsRoot } from "../linux-lab.js";
import { openConduit } from "../phabricator.js";
import { directoriesWithLease, releaseLeft } from "../reservation.js";
import { readInputs } from "./inputs.js";
import { isBisection, openBisectComment } from "./request.js";
import { answerState, labState, leaseState, readOpenAnswers } from "./left.js";
import { log } from "./log.js";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

// src/action/clean-up.ts
async function cleanUp() {
	const hasLab = getState(labState) !== "";
	if (hasLab && await rerunAsRoot() !== void 0) return;
	const folder = getState(leaseState);
	if (folder !== "") for (const directory of await directoriesWithLease(folder)) {
		const testbed = await releaseLeft(directory, /* @__PURE__ */ new Date()).catch(warn);
		if (testbed !== void 0) log.info(`Gave ${testbed} back, which the job had left.`);
	}
	if (hasLab) await labDown().catch(warn);
	for (const open of readOpenAnswers(getState(answerState))) await endAnswer(open).catch(warn);
	if (folder !== "") await handOver(folder).catch(warn);
}
async function endAnswer({ name, request }) {
	const { patch, revisionAnswer } = request;
	const { token, conduitToken, job } = readInputs(process.env);
	if (isBisection(request) && patch.kind !== "pull-request") return;
	if (patch.kind === "revision") {
		const conduit = openConduit({
			url: patch.server,
			token: conduitToken,
			log
		});
		const { key = `${job.runId}`, build } = revisionAnswer ?? {};
		if (build === void 0) return;
		await openBuild(conduit, build, patch, {
			run: key,
			undecided: "failure",
			log
		}).ended(cancelled);
		return;
	}
	const octokit = await createOctokit({
		token,
		apiUrl: job.apiUrl,
		log
	});
	const now = () => /* @__PURE__ */ new Date();
	const seen = {
		run: job.runId,
		detailsUrl: job.runUrl,
		log,
		now
	};
	if (isBisection(request)) {
		await openBisectComment(octokit, request, seen)?.ended(cancelled);
		return;
	}
	const place = {
		name,
		detailsUrl: job.runUrl
	};
	const repository = patch.kind === "pull-request" ? patch.repository : job.repository;
	const trouble = await closeLeftCheckRun(octokit, {
		repository,
		patch
	}, place);
	if (trouble !== void 0) log.warn(trouble);
	if (patch.kind !== "pull-request") return;
	await openComment(octokit, patch, {
		...seen,
		name,
		ask: request.ask
	}).ended(cancelled);
}
/** A runner that is not root could not empty its folder for the next job, which would find the files of this one. */
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