import { loadConfig, scenariosIn } from "../../config/first.js";
import { isCommitName } from "../../forge/patch/first.js";
import { cellsOf } from "../../gate/experiment/first.js";
import { UsageError, exitCodes } from "../../model/first-plain.js";
import { expected } from "../../model/excerpt.js";
import { linkTo } from "../../publish/data-branch/plain.js";
import { badgeLabel, badgePath, samePath } from "../../publish/data-branch.js";
import { configPath, namedTestbed } from "../find-config.js";
import { print, printJson } from "../table.js";
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");

// src/cli/reports/badge.ts
async function run(options) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const names = options.testbed ?? Object.keys(config.testbeds);
	const place = await placeOf(config, options);
	const badges = names.flatMap((testbed) => [...cellsOn(config, namedTestbed(config, path, testbed)).map((cell) => badgeOf(place, badgeLabel({
		testbed,
		cell
	}), badgePath({
		testbed,
		cell
	}))), badgeOf(place, `${testbed} A/A`, samePath(testbed))]);
	const texts = badges.map(({ markdown }) => markdown);
	if (options.json) printJson(badges);
	else print(texts.join("\n"));
	return exitCodes.pass;
}
async function placeOf(config, options) {
	const { branch = config.github.data.branch, repository = await originOnGithub() } = options;
	if (branch === void 0) throw new UsageError("--branch: the configuration stores no results on GitHub; set `github.data.branch`, or name a branch.");
	if (!isCommitName(branch)) throw new UsageError(`--branch: ${expected("the name of a branch")({ input: branch })}.`);
	if (repository === void 0) throw new UsageError("--repository: the remote origin is not on github.com; give OWNER/NAME of the repository.");
	if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new UsageError(`--repository: expected OWNER/NAME, found "${repository}".`);
	const { pages } = config.github.data;
	return {
		repository,
		branch,
		serverUrl: process.env.GITHUB_SERVER_URL || "https://github.com",
		...pages !== void 0 && { pages }
	};
}
/** `owner/name`, for any spelling of the URL; undefined if the remote origin is missing or not on github.com. */
async function originOnGithub() {
	const { stdout } = await promisify(execFile)("git", [
		"remote",
		"get-url",
		"origin"
	]).catch(() => ({ stdout: "" }));
	return /^(?:https:\/\/(?:[^@/]*@)?|ssh:\/\/git@|git@)github\.com[/:](.+?)(?:\.git)?\/?$/i.exec(stdout.trim())?.[1];
}
function cellsOn(config, testbed) {
	const carried = scenariosIn({
		testbeds: { testbed },
		rules: config.rules
	});
	const scenarios = config.scenarios.filter((scenario) => carried.includes(scenario));
	return cellsOf({
		...config,
		scenarios
	});
}
function badgeOf(place, label, path) {
	const image = linkTo(place, `${path}.svg`);
	const target = linkTo(place, "README.md");
	return {
		label,
		image,
		endpoint: linkTo(place, `${path}.json`),
		markdown: `[![${label}](${image})](${target})`
	};
}

export { run };