import { require_dist } from "../../vendor/yaml.js";
import { createOctokit } from "../../forge/github.js";
import { UsageError, exitCodes } from "../../model.js";
import { excerpt } from "../../model/excerpt.js";
import { runToExit } from "../../system/exit.js";
import { approvalLabel, createLabel, findFiles, freebsdImageSteps, freebsdRulesConfig, freebsdTreeConfig, freebsdTreeSteps, hostedConfig, labConfig, labelByHand, lackingOverlay, ownAction, parseAction, parseBranch, parseImage, parseRepository, parseRunner, placeFile, readClone, readIfThere, splitWorkflow, starterRules } from "../init.js";
import { columns } from "./columns.js";
import { askOnTerminal } from "./prompt.js";
import { oneLine, print, printJson } from "./table.js";
import { join } from "node:path";

// src/cli/commands/init.ts
var import_dist = require_dist();
function define(command) {
	command.option("--kind <name>", "linux: rules of a router; freebsd: a source tree of FreeBSD, or rules of pf or ipfw (default: by the rules found)").option("--image <url>", "with --kind freebsd: the official image that guests boot").option("--sha512 <sum>", "SHA-512 of that image, from its CHECKSUM.SHA512").option("--runner <labels>", "ubuntu-latest, with the lab inside it, or self-hosted,LABEL").option("--action <pin>", "OWNER/ppsgate@COMMIT (default: the running ppsgate, if cloned)").option("--branch <name>", "default branch of the repository (default: git's)").option("--repository <name>", "OWNER/NAME on GitHub (default: that of origin)").option("--force", "overwrite workflows that differ; ppsgate.yml never is").option("--yes", "do not ask").option("--dry-run", "show what would be written, and write nothing").option("--json", "print the outcome as JSON").addHelpText("after", details).action(async (options) => {
		const { GITHUB_TOKEN: token, GITHUB_API_URL: apiUrl = "https://api.github.com" } = process.env;
		const directory = process.cwd();
		await runToExit((signal) => runInit(options, {
			directory,
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
	}, ask);
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
	const label = dryRun ? labelByHand("With --dry-run the label is not created.", selectors.repository) : await placeLabel(selectors, deps);
	if (json) printJson({
		files,
		label
	});
	else print(textOf(files, label, selectors));
	return exitCodes.pass;
}
/** By the flag; without it FreeBSD where the only rules are those of pf or ipfw. */
async function kindOf(options, directory) {
	const { kind } = options;
	const linux = await findFiles(directory, "linux");
	const freebsd = await findFiles(directory, "freebsd");
	const usual = freebsd.size > 0 && !linux.has("nftables.conf") ? "freebsd" : "linux";
	const system = isFreebsd({
		...options,
		kind: kind ?? usual
	}) ? "freebsd" : "linux";
	if (system === "linux") return {
		system,
		found: linux,
		leftOut: kind === void 0 ? ofFreebsd(linux, freebsd) : []
	};
	if (kind === void 0 && options.image === void 0 && options.yes) throw new UsageError(`${[...freebsd.values()].join(" and ")} is measured on FreeBSD guests: name their official image with --image and --sha512, or begin with other rules with \`--kind linux\`.`);
	const [first, ...others] = [...freebsd];
	return {
		system,
		found: new Map(first && [first]),
		leftOut: others.map(([name, path]) => ({
			path,
			why: `${first?.[1]} is measured, and a scenario has one firewall; to measure this one, write \`overlay: { files: { ${name}: ${path} } }\` in ppsgate.yml`
		}))
	};
}
/** Explains a choice that the user did not make. */
const ofFreebsd = (linux, freebsd) => [...freebsd.values()].map((path) => ({
	path,
	why: `is for FreeBSD, and ppsgate chose Linux because of ${linux.get("nftables.conf") ?? "its files"}; to measure this one, run \`ppsgate init --kind freebsd\``
}));
async function readSelectors(options, clone, ask) {
	const answer = async (flag, question, usual = "") => flag ?? (await ask?.(usual === "" ? `${question} ` : `${question} [${usual}] `) || usual);
	const isGuest = clone.system === "freebsd";
	const image = isGuest && {
		url: await answer(options.image, "https address of the official FreeBSD image?"),
		sha512: await answer(options.sha512, "Its SHA-512, from its CHECKSUM.SHA512?")
	};
	const usual = isGuest ? "ubuntu-24.04" : "ubuntu-latest";
	const runner = await answer(options.runner, `Runner for measurements: ${usual}, or self-hosted with its labels?`, usual);
	const own = await ownAction(import.meta.dirname);
	const pin = await answer(options.action, "Version of ppsgate, as OWNER/ppsgate@COMMIT?", own);
	const branch = await answer(options.branch, "Default branch?", clone.branch);
	const repository = await answer(options.repository, "Repository on GitHub, as OWNER/NAME?", clone.repository);
	return {
		runner: parseRunner(runner),
		action: own?.startsWith(`${parseAction(pin)} `) ? own : parseAction(pin),
		branch: parseBranch(branch),
		repository: repository === "" ? void 0 : parseRepository(repository),
		found: clone.found,
		leftOut: clone.leftOut,
		...image && { image: parseImage(image.url, image.sha512) }
	};
}
function isFreebsd({ kind = "linux", image, sha512 }) {
	if (kind !== "linux" && kind !== "freebsd") throw new UsageError(`--kind: expected linux or freebsd, found "${excerpt(kind)}".`);
	const stray = image === void 0 ? sha512 && "--sha512" : "--image";
	if (kind === "linux" && stray !== void 0) throw new UsageError(`${stray}: requires --kind freebsd; add that, or drop it.`);
	return kind === "freebsd";
}
function workflowsFor({ runner, action, branch, image, found }, hasPhabricator) {
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
/** False for a file that is wrong, which the gate refuses. */
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
	const folder = await lackingOverlay(directory, config);
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
async function placeLabel({ repository }, { token, apiUrl }) {
	const what = `The label ${approvalLabel} does not exist yet`;
	if (repository === void 0) return labelByHand(`${what}: this clone has no origin on GitHub; name the repository with --repository OWNER/NAME.`, repository);
	if (!token) return labelByHand(`${what}: GITHUB_TOKEN has no token to create it.`, repository);
	return createLabel(await createOctokit({
		token,
		apiUrl,
		log: silence
	}), repository);
}
/** Failures are printed once, with instructions. */
const silence = {
	debug() {},
	info() {},
	warn() {},
	error() {}
};
const told = {
	created: "",
	unchanged: "",
	kept: "differs from the generated file; --force overwrites workflows, but never ppsgate.yml",
	overwritten: "",
	extended: "",
	left: "is not used by the workflow with three jobs, and never runs: delete it",
	missing: "without it the lab has nothing to measure: add one, or let `ppsgate init --yes` write a small one"
};
function textOf(files, label, { branch, found, leftOut }) {
	const texts = files.flatMap(({ path, text }) => text === void 0 ? [] : [`--- ${path}`, text]);
	const rows = files.map(({ path, kind }) => [
		kind,
		path,
		kind === "missing" && found.size > 0 ? `write \`overlay: { files: { ${[...found].map((one) => one.join(": ")).join(", ")} } }\` in ppsgate.yml, to measure the existing files` : told[kind]
	]);
	return [
		...texts,
		...texts.length > 0 ? ["Nothing is written yet. This would come of it:"] : [],
		...columns([
			...rows,
			...leftOut.map(({ path, why }) => [
				"left out",
				path,
				why
			]),
			...labelRow(label)
		]),
		...label.kind === "not-created" ? [oneLine(label.why), `  ${label.command}`] : [],
		"",
		`1. Commit these files to ${branch}: only that version counts, never one in a patch.`,
		`2. To have a pull request from a fork measured as it is, read it, then add the label ${approvalLabel}.`,
		"3. Comment `/ppsgate run` on any pull request to measure it."
	].join("\n");
}
const labelRow = (label) => label.kind === "not-created" ? [] : [[
	label.kind,
	`label ${approvalLabel}`,
	`of ${label.repository}`
]];

export { define, runInit };