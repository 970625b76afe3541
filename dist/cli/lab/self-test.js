import { loadConfig, whyNotSent } from "../../config/first.js";
import { historyFile, readRules } from "../../gate/experiment/first.js";
import { openFlightLog } from "../../gate/plain.js";
import { readLab } from "../../gate/reserve/first.js";
import { beginJournal, resumeJournal, runSelfTest } from "../../gate/self-test.js";
import { selfTestParts } from "../../gate/self-test/plain.js";
import { openReservations, realDeps, whoami } from "../../gate/testbeds/first.js";
import { selfTestDirectory } from "../../gate/first-plain.js";
import { expectKernel, kernelFormOf } from "../../lab/plain.js";
import { UsageError, endedEarly, exitCodes } from "../../model/first-plain.js";
import { expected } from "../../model/excerpt.js";
import { configPath, namedTestbed } from "../find-config.js";
import { askOnTerminal } from "../prompt.js";
import { hasColours, oneLine, print, printJson } from "../table.js";
import { diagnosticText, summary } from "./diagnostics-text.js";
const { dirname, join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { mkdir, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/lab/self-test.ts
/** Prints each diagnostic at once, or with `json` all at the end. */
async function run(name, options, { signal, closingLines }) {
	const { json, yes = false, baseKernel, resume, record } = options;
	const skip = partsOf(options.skip);
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const testbed = freebsdOnly(namedTestbed(config, path, name), name);
	const form = kernelFormOf(testbed);
	if (baseKernel !== void 0 && form) await expectKernel("--base-kernel", baseKernel, form);
	const unsent = whyNotSent(config.traffic.packets);
	if (unsent !== void 0) throw new UsageError(`${name} ${unsent.why}: ${unsent.fix}.`);
	const rules = await readRules(config);
	const earlier = resume === void 0 ? void 0 : resumeJournal(resolve(resume), name);
	const notify = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
	using flightLog = record === void 0 ? void 0 : await openFlightLog(record, config);
	await using place = selfTestDirectory(notify);
	const directory = resolve(await place.open({ resume }));
	const diagnostics = [];
	const resumeAdvice = `Continue with 'ppsgate testbeds self-test ${name}${sameWords(options)} --resume ${directory}'.`;
	const work = async (machines, held) => {
		const journal = earlier ?? await begun(directory, name);
		closingLines.push(resumeAdvice);
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
		const deps = {
			...machines,
			notify,
			signal: held,
			agrees: agreement(yes, held),
			keepLog: keepIn(directory),
			history: historyFile(config.history)
		};
		for await (const diagnostic of runSelfTest(request, deps)) {
			diagnostics.push(diagnostic);
			if (!json) print(diagnosticText(diagnostic, hasColours(process.stdout)));
		}
	};
	await onTestbed({
		name,
		testbed,
		config,
		notify,
		signal,
		flightLog
	}, work);
	const isWell = diagnostics.every(({ kind }) => kind !== "wrong");
	if (json) printJson({
		testbed: name,
		directory,
		diagnostics
	});
	else print(isWell ? summary(diagnostics) : `${summary(diagnostics)} ${resumeAdvice}`);
	return isWell ? exitCodes.pass : exitCodes.infrastructure;
}
function freebsdOnly(testbed, name) {
	if (testbed.kind === "freebsd") return testbed;
	throw new UsageError(`${name} is of kind ${testbed.kind}, which boots no kernel: self-test a testbed of kind freebsd, or see \`ppsgate testbeds check ${name}\`.`);
}
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
		const part = selfTestParts.find((known) => known === word);
		if (part !== void 0) return part;
		throw new UsageError(`--skip: ${expected(`one of ${selfTestParts.join(", ")}`)({ input: word })}.`);
	}));
}
async function begun(directory, name) {
	await mkdir(directory, { recursive: true });
	return beginJournal(directory, name, /* @__PURE__ */ new Date());
}
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
/** Waits until the testbed is free; within `ppsgate reserve` it is held already. */
async function onTestbed({ name, testbed, config, notify, signal, flightLog }, work) {
	if (process.env.PPSGATE_TESTBED === name) return work(flightLog?.wrap(realDeps) ?? realDeps, signal);
	const onWait = (_, text) => notify(text);
	await using reservations = await openReservations(config, {
		signal,
		notify,
		onWait,
		flightLog
	});
	const quarantine = (await readLab(reservations.store)).quarantines.get(name);
	if (quarantine !== void 0) throw new UsageError(`${name} is in quarantine (${oneLine(quarantine.reason)}): lift it with \`ppsgate quarantine ${name} --lift\`, and run the self-test again.`);
	const holder = {
		who: whoami(),
		purpose: "self-test"
	};
	const reserved = await reservations.reserve([name], {
		priority: "patch",
		holder
	});
	let outcome = endedEarly("its self-test did not finish");
	try {
		const held = AbortSignal.any([signal, reserved.signal]);
		await work(reserved.depsOf(testbed), held);
		outcome = "was self-tested";
	} finally {
		const trouble = await reserved.giveBack(outcome);
		if (trouble !== void 0) notify(trouble);
	}
}

export { run };