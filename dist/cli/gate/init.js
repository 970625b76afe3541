import { require_dist } from "../../vendor/yaml.js";
import { createOctokit } from "../../forge/github.js";
import { exitCodes } from "../../model/first-plain.js";
import { approvalLabel, hostedConfig, initText, labConfig, placeFile, readIfThere, splitWorkflow, starterRules } from "../init/plain.js";
import { createLabel, freebsdImageSteps, freebsdRulesConfig, freebsdTreeConfig, freebsdTreeSteps, kindOf, labelByHand, missingOverlay, ownAction, readClone, readSelectors } from "../init.js";
import { askOnTerminal } from "../prompt.js";
import { print, printJson } from "../table.js";
const { join } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/init.ts
var import_dist = require_dist();
async function run(options, { signal }) {
	const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = "https://api.github.com" } = process.env;
	const own = await ownAction(import.meta.dirname);
	return runInit(options, {
		directory: process.cwd(),
		own,
		ask: askOnTerminal(signal),
		token,
		apiUrl
	});
}
async function runInit(options, deps) {
	const { force = false, dryRun = false, json = false } = options;
	const clone = await readClone(deps.directory);
	const { directory } = clone;
	const ask = options.yes ? void 0 : deps.ask;
	const kind = await kindOf(options, directory);
	const selectors = await readSelectors(options, {
		...clone,
		...kind
	}, {
		own: deps.own,
		ask
	});
	const config = configFor(selectors);
	const rules = selectors.image === void 0 ? await rulesFor(directory, config.text, async (folder) => selectors.found.size > 0 ? false : options.yes ? true : wantsRules(folder, ask)) : [];
	const files = [];
	const workflows = workflowsFor(selectors, namesPhabricator(await readIfThere(join(directory, config.path)) ?? config.text));
	for (const file of [
		...workflows,
		config,
		...rules,
		workDirectories
	]) {
		if ("isObsolete" in file && files.some(({ kind }) => kind === "kept")) continue;
		const placed = await placeFile(file, {
			directory,
			force,
			dryRun
		});
		if (placed !== void 0) files.push(placed);
	}
	const label = await labelFor(selectors, deps, dryRun);
	if (json) printJson({
		files,
		label
	});
	else print(initText(files, label, selectors));
	return exitCodes.pass;
}
function workflowsFor({ runner, action, branch, image, found }, hasPhabricator) {
	if (action === void 0) return [];
	const setting = {
		name: "ppsgate",
		branch,
		action,
		runner: runner.labels,
		hasPhabricator,
		...image !== void 0 && { readyRunner: found.size > 0 ? freebsdImageSteps(image) : freebsdTreeSteps(image) }
	};
	return [{
		path: ".github/workflows/ppsgate.yml",
		text: splitWorkflow(setting)
	}, {
		path: ".github/workflows/ppsgate-publish.yml",
		isObsolete: true
	}];
}
/** False for an invalid file, which the gate refuses. */
function namesPhabricator(config) {
	try {
		const parsed = (0, import_dist.parse)(config);
		return typeof parsed === "object" && parsed !== null && "phabricator" in parsed;
	} catch {
		return false;
	}
}
function configFor(selectors) {
	return {
		path: "ppsgate.yml",
		text: configText(selectors),
		isTheirs: true
	};
}
function configText({ runner, action, image, found }) {
	if (image !== void 0 && found.size > 0) return freebsdRulesConfig(action, image, found);
	if (image !== void 0) return freebsdTreeConfig(action, image);
	return runner.kind === "hosted" ? hostedConfig(action, found) : labConfig(action, found);
}
/** Empty if the lab already has files to install. */
async function rulesFor(directory, config, isWanted) {
	const folder = await missingOverlay(directory, config);
	if (folder === void 0) return [];
	const path = join(folder, "nftables.conf");
	return [await isWanted(folder) ? {
		path,
		text: starterRules
	} : {
		path,
		isMissing: true
	}];
}
async function wantsRules(folder, ask) {
	const answer = await ask?.(`${folder} has no rules to measure yet: write a small nftables.conf there? [yes] `);
	return answer !== void 0 && /^(?:y|yes|)$/i.test(answer);
}
const workDirectories = {
	path: ".gitignore",
	line: "/ppsgate-*/",
	isThere: /^\/?ppsgate-\*\/?$/
};
/** Undefined without a workflow, which alone reads the label. */
async function labelFor({ repository, action }, { token, apiUrl }, dryRun) {
	if (action === void 0) return void 0;
	if (dryRun) return labelByHand("With --dry-run the label is not created.", repository);
	const what = `The label ${approvalLabel} does not exist yet`;
	if (repository === void 0) return labelByHand(`${what}: this clone has no origin on GitHub; name the repository with --repository OWNER/NAME.`, repository);
	if (!token) return labelByHand(`${what}: GITHUB_TOKEN has no token to create it.`, repository);
	return createLabel(await createOctokit({
		token,
		apiUrl,
		log: silence
	}), repository);
}
/** The text has each failure once, with instructions. */
const silence = {
	debug() {},
	info() {},
	warn() {},
	error() {}
};

export { run, runInit };