import { require_dist } from "../../vendor/yaml.js";
import { createOctokit } from "../../forge/github.js";
import { exitCodes } from "../../model/plain.js";
import { runToExit } from "../../system/exit.js";
import { approvalLabel, hostedConfig, initText, labConfig, placeFile, print, printJson, readIfThere, splitWorkflow, starterRules } from "../init/plain.js";
import { createLabel, freebsdImageSteps, freebsdRulesConfig, freebsdTreeConfig, freebsdTreeSteps, kindOf, labelByHand, missingOverlay, ownAction, readClone, readSelectors } from "../init.js";
import { askOnTerminal } from "./prompt.js";
import { join } from "node:path";

// src/cli/commands/init.ts
var import_dist = require_dist();
function define(command) {
	command.option("--kind <name>", "linux: rules of a router; freebsd: a source tree of FreeBSD, or rules of pf or ipfw (default: by the rules found)").option("--image <url>", "with --kind freebsd: the official image that guests boot").option("--sha512 <sum>", "SHA-512 of that image, from its CHECKSUM.SHA512").option("--runner <labels>", "ubuntu-latest, with the lab inside it, or self-hosted,LABEL").option("--action <pin>", "OWNER/ppsgate@COMMIT (default: the running ppsgate, if cloned)").option("--branch <name>", "default branch of the repository (default: git's)").option("--repository <name>", "OWNER/NAME on GitHub (default: that of origin)").option("--force", "overwrite workflows that differ; ppsgate.yml never is").option("--yes", "do not ask").option("--dry-run", "show what would be written, and write nothing").option("--json", "print the outcome as JSON").addHelpText("after", details).action(async (options) => {
		const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = "https://api.github.com" } = process.env;
		const directory = process.cwd();
		const own = await ownAction(import.meta.dirname);
		await runToExit((signal) => runInit(options, {
			directory,
			own,
			ask: askOnTerminal(signal),
			token,
			apiUrl
		}), command.optsWithGlobals());
	});
}
const details = `
Examples:
  ppsgate init
  ppsgate init --runner self-hosted,lab --action OWNER/ppsgate@COMMIT --yes
  ppsgate init --kind freebsd --image https://…-BASIC-CI-ufs.raw.xz --sha512 SUM

At a terminal it asks for missing options, and offers to write a small
dut/nftables.conf if the repository has no rules yet; --yes writes one. It finds
nftables.conf, sysctl.conf, pf.conf and ipfw.rules at the top and in etc/, and
configures measurements of their changes. If GITHUB_TOKEN has a token, it
creates the label.

Run it again at any time: it keeps and reports files that differ from what it
would write.

Exits 0 even if it kept files, 2 on wrong usage, and 4 on any other failure.`;
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

export { define, runInit };