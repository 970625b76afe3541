import { require_dist } from "../../vendor/yaml.js";
import { createOctokit } from "../../forge/github.js";
import { UsageError, excerpt, exitCodes } from "../../model.js";
import { runToExit } from "../../system/exit.js";
import { approvalLabel, createLabel, findFiles, freebsdImageSteps, freebsdRulesConfig, freebsdTreeConfig, freebsdTreeSteps, hostedConfig, labConfig, labelByHand, lackingOverlay, ownAction, parseAction, parseBranch, parseImage, parseRepository, parseRunner, placeFile, readClone, readIfThere, splitWorkflow, starterRules } from "../init.js";
import { columns } from "./columns.js";
import { askOnTerminal } from "./prompt.js";
import { oneLine, print, printJson } from "./table.js";
import { join } from "node:path";

// src/cli/commands/init.ts
var import_dist = require_dist();
function define(command) {
	command.option("--kind <name>", "linux, for the rules of a router; freebsd, for a tree of FreeBSD, or for rules of pf or ipfw (default: by the rules found)").option("--image <url>", "with --kind freebsd: the official image that guests boot").option("--sha512 <sum>", "of that image, from the CHECKSUM.SHA512 beside it").option("--runner <labels>", "ubuntu-latest, with the lab inside it, or self-hosted,LABEL").option("--action <pin>", "OWNER/ppsgate@COMMIT (default: the ppsgate that runs, if cloned)").option("--branch <name>", "default branch of the repository (default: as git knows it)").option("--repository <name>", "OWNER/NAME on GitHub (default: that of origin)").option("--force", "overwrite workflows that differ; ppsgate.yml never is").option("--yes", "do not ask").option("--dry-run", "show what would be written, and write nothing").option("--json", "answer as JSON").addHelpText("after", details).action(async (options) => {
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

At a terminal it asks for what no flag tells, and whether to begin with a small
dut/nftables.conf where the repository has no rules yet; --yes writes one. It
finds nftables.conf, sysctl.conf, pf.conf and ipfw.rules at the top and in etc/,
and has changes of these measured. The
label is made with the token in GITHUB_TOKEN, where there is one.

Run it again at any time: a file that is as it would be written stays, and one
that differs is kept and told of.

Exits with 0 also when files were kept, with 2 on wrong usage, with 4 when
something else went wrong.`;
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
	const label = dryRun ? labelByHand("With --dry-run the label is not made.", selectors.repository) : await placeLabel(selectors, deps);
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
		leftOut: /* @__PURE__ */ new Map()
	};
	if (kind === void 0 && options.image === void 0 && options.yes) throw new UsageError(`${[...freebsd.values()].join(" and ")} is measured on guests with FreeBSD: name their official image by --image and --sha512, or take \`--kind linux\` to begin with other rules.`);
	const [first, ...others] = [...freebsd];
	return {
		system,
		found: new Map(first && [first]),
		leftOut: new Map(others)
	};
}
async function readSelectors(options, clone, ask) {
	const answer = async (flag, question, usual = "") => flag ?? (await ask?.(usual === "" ? `${question} ` : `${question} [${usual}] `) || usual);
	const isGuest = clone.system === "freebsd";
	const image = isGuest && {
		url: await answer(options.image, "Which official image of FreeBSD, by its https address?"),
		sha512: await answer(options.sha512, "Which SHA-512 has it, by the CHECKSUM.SHA512 beside it?")
	};
	const usual = isGuest ? "ubuntu-24.04" : "ubuntu-latest";
	const runner = await answer(options.runner, `Which runner measures: ${usual}, or self-hosted with its labels?`, usual);
	const own = await ownAction(import.meta.dirname);
	const pin = await answer(options.action, "Which ppsgate, as OWNER/ppsgate@COMMIT?", own);
	const branch = await answer(options.branch, "What is the default branch?", clone.branch);
	const repository = await answer(options.repository, "Which repository on GitHub, as OWNER/NAME?", clone.repository);
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
	if (kind === "linux" && stray !== void 0) throw new UsageError(`${stray}: goes with --kind freebsd; drop it, or add that.`);
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
	const answer = await ask?.(`There is no file in ${folder} for patches to change: write a small nftables.conf there? [yes] `);
	return answer !== void 0 && /^(?:y|yes|)$/i.test(answer);
}
const workDirectories = {
	path: ".gitignore",
	line: "/ppsgate-*/",
	isThere: /^\/?ppsgate-\*\/?$/
};
async function placeLabel({ repository }, { token, apiUrl }) {
	const what = `The label ${approvalLabel} is not made yet`;
	if (repository === void 0) return labelByHand(`${what}: this clone has no origin on GitHub, so tell which repository is meant by --repository OWNER/NAME.`, repository);
	if (!token) return labelByHand(`${what}: GITHUB_TOKEN holds no token for it.`, repository);
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
	kept: "differs from what would be written; --force overwrites workflows, and never ppsgate.yml",
	overwritten: "",
	extended: "",
	left: "is of no use beside the workflow with three jobs, and never runs: delete it",
	missing: "the lab has nothing to measure without: add one, or let `ppsgate init --yes` write a small one"
};
function textOf(files, label, { branch, found, leftOut }) {
	const texts = files.flatMap(({ path, text }) => text === void 0 ? [] : [`--- ${path}`, text]);
	const rows = files.map(({ path, kind }) => [
		kind,
		path,
		kind === "missing" && found.size > 0 ? `write \`overlay: { files: { ${[...found].map((one) => one.join(": ")).join(", ")} } }\` in ppsgate.yml, to measure the files that are there` : told[kind]
	]);
	return [
		...texts,
		...texts.length > 0 ? ["Nothing is written yet. This would come of it:"] : [],
		...columns([
			...rows,
			...leftOutRows(found, leftOut),
			...labelRow(label)
		]),
		...label.kind === "not-created" ? [oneLine(label.why), `  ${label.command}`] : [],
		"",
		`1. Commit these files to ${branch}: they count from there, never from a patch.`,
		`2. Put the label ${approvalLabel} on a pull request from a fork, once you have read it, to have it measured as it stands.`,
		"3. Comment `/ppsgate run` on any pull request to have it measured."
	].join("\n");
}
/** Both firewalls at once are no scenario. */
const leftOutRows = (found, leftOut) => [...leftOut].map(([name, path]) => [
	"left out",
	path,
	`${[...found.values()].join()} is measured, and a scenario has one firewall; to measure this one, write \`overlay: { files: { ${name}: ${path} } }\` in ppsgate.yml`
]);
const labelRow = (label) => label.kind === "not-created" ? [] : [[
	label.kind,
	`label ${approvalLabel}`,
	`of ${label.repository}`
]];

export { define, runInit };