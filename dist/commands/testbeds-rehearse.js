import { loadConfig } from "../config.js";
import { openReservations, realWorld, timestampedDirectory, whoami } from "../controller.js";
import { runToExit } from "../exit.js";
import { historyFile, readRules } from "../experiment.js";
import { recordTo, recordedRehearsal } from "../recording.js";
import { beginJournal, rehearsalParts, rehearse, resumeJournal } from "../rehearsal.js";
import { readLab } from "../reservation.js";
import { UsageError, brokenOff, exitCodes, expected } from "../words.js";
import { askOnTerminal } from "./ask.js";
import { findingText, summary } from "./findings.js";
import { configPath, namedTestbed } from "./named-testbed.js";
import { hasColours, oneLine, print, printJson } from "./table.js";
import { dirname, join, resolve } from "node:path";
import { mkdir, writeFile } from "node:fs/promises";

// src/commands/testbeds-rehearse.ts
function define(command) {
	command.argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--yes", "let the accidents happen without asking").option("--skip <parts>", `leave out, with commas, of ${rehearsalParts.join(", ")}`).option("--base-kernel <file>", "archive of the kernel to try, for nanobsd an image (default: the builder's, or the DUT's own)").option("--resume <dir>", "go on with a rehearsal that was cut short").option("--record <file>", "write down all that its machines are asked and say").option("--json", "print the findings as JSON, at the end").addHelpText("after", `
Boots a kernel under another name, lays each scenario, sends each cell, takes
a profile, makes the DUT panic and hang (each only after asking), measures the
noise of six boots, and undoes all of it.

Example:
  ppsgate testbeds rehearse hp-t540
  ppsgate testbeds rehearse hp-t540 --yes --skip hang,noise

Exits 0 when all is well, 2 on wrong usage, 4 when something is wrong.`).action(async (name, options) => {
		const lastWords = [];
		const work = (signal) => rehearseTestbed(name, options, signal, lastWords);
		await runToExit(work, {
			...command.optsWithGlobals(),
			lastWords
		});
	});
}
/** Prints each finding as it is made, or with `json` all of them at the end. */
async function rehearseTestbed(name, options, signal, lastWords) {
	const { json, yes = false, baseKernel, resume, record } = options;
	const skip = partsOf(options.skip);
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const testbed = freebsdOnly(namedTestbed(config, path, name), name);
	const rules = await readRules(config);
	const directory = resolve(resume ?? timestampedDirectory("ppsgate-rehearsal"));
	const earlier = resume === void 0 ? void 0 : resumeJournal(directory, name);
	const tell = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
	const recorder = record === void 0 ? void 0 : await recordTo(record, "testbeds rehearse", [testbed]);
	const findings = [];
	const goingOn = `Go on with 'ppsgate testbeds rehearse ${name}${sameWords(options)} --resume ${directory}'.`;
	const work = async (machines, held, token) => {
		const journal = earlier ?? await begun(directory, name);
		lastWords.push(goingOn);
		const request = {
			name,
			testbed,
			config,
			rules,
			skip,
			baseKernel,
			directory,
			journal
		};
		const world = {
			...machines,
			tell,
			signal: held,
			agrees: agreement(yes, held),
			keepLog: keepIn(directory),
			history: historyFile(config.history)
		};
		const found = recorder === void 0 ? rehearse(request, world) : recordedRehearsal(recorder, request, world, token);
		for await (const finding of found) {
			findings.push(finding);
			if (!json) print(findingText(finding, hasColours(process.stdout)));
		}
	};
	await onTestbed({
		name,
		testbed,
		config,
		tell,
		signal,
		recorder
	}, work);
	const isWell = findings.every(({ kind }) => kind !== "wrong");
	if (json) printJson({
		testbed: name,
		directory,
		findings
	});
	else print(isWell ? summary(findings) : `${summary(findings)} ${goingOn}`);
	return isWell ? exitCodes.pass : exitCodes.infrastructure;
}
function freebsdOnly(testbed, name) {
	if (testbed.kind === "freebsd") return testbed;
	throw new UsageError(`${name} is of kind ${testbed.kind}, where no kernel is booted: rehearse one of kind freebsd, or see \`ppsgate testbeds check ${name}\`.`);
}
/** What has to be said again of what was asked for. */
function sameWords({ config = "ppsgate.yml", skip, baseKernel }) {
	return [
		config === "ppsgate.yml" ? "" : ` --config ${config}`,
		skip === void 0 ? "" : ` --skip ${skip}`,
		baseKernel === void 0 ? "" : ` --base-kernel ${baseKernel}`
	].join("");
}
function partsOf(text = "") {
	const words = text.split(",").flatMap((word) => word.trim() || []);
	return new Set(words.map((word) => {
		const part = rehearsalParts.find((known) => known === word);
		if (part !== void 0) return part;
		throw new UsageError(`--skip: ${expected(`one of ${rehearsalParts.join(", ")}`)({ input: word })}.`);
	}));
}
async function begun(directory, name) {
	await mkdir(directory, { recursive: true });
	return beginJournal(directory, name, /* @__PURE__ */ new Date());
}
/** Nobody agrees where there is nobody to ask. */
function agreement(yes, signal) {
	const ask = askOnTerminal(signal);
	return async (question) => {
		if (yes) return true;
		return /^y(es)?$/i.test(await ask?.(`${question} [y/N] `) ?? "");
	};
}
const keepIn = (directory) => async (name, content) => {
	const path = join(directory, name);
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, content);
};
/** Waits until nobody measures there; whoever runs it inside of `ppsgate reserve` has it already. */
async function onTestbed({ name, testbed, config, tell, signal, recorder }, work) {
	if (process.env.PPSGATE_TESTBED === name) return work(recorder?.world(realWorld) ?? realWorld, signal);
	const onWait = (_, text) => tell(text);
	await using reservations = await openReservations(config, {
		signal,
		tell,
		onWait,
		recorder
	});
	const quarantine = (await readLab(reservations.store)).quarantines.get(name);
	if (quarantine !== void 0) throw new UsageError(`${name} is in quarantine (${oneLine(quarantine.reason)}): lift it with \`ppsgate quarantine ${name} --lift\`, and rehearse again.`);
	const holder = {
		who: whoami(),
		purpose: "rehearsal"
	};
	const reserved = await reservations.reserve([name], {
		priority: "patch",
		holder
	});
	let outcome = brokenOff("it was not rehearsed to its end");
	try {
		const held = AbortSignal.any([signal, reserved.signal]);
		await work(reserved.worldOf(testbed), held, reserved.lease.token);
		outcome = "was rehearsed";
	} finally {
		const trouble = await reserved.giveBack(outcome);
		if (trouble !== void 0) tell(trouble);
	}
}

export { define };