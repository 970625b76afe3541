import { parseMaxRuns, parsePriority, parseSeed, selectorCalled, selectorsOf, testbedsFor } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { named, ownChanges, patchOfCommits } from "../../forge/patch/first.js";
import { hasMeasured, historyFile, randomSeed, resumeAdvice } from "../../gate/experiment/first.js";
import { gate, inSession, labelled } from "../../gate/first.js";
import { MisconfiguredError, whoami } from "../../gate/testbeds/first.js";
import { UsageError, conclusionOfError } from "../../model/first-plain.js";
import { patchName, shortId } from "../../model/first.js";
import { excerpt } from "../../model/excerpt.js";
import { outcomeOfResult, reportOutcome } from "../../publish/reporters/first.js";
import { usualConfig } from "../find-config.js";
import { asUsageError, repositoryOf, required, stderrLog } from "./gate-call.js";
const { join, resolve } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/judge-gate.ts
/** Runs gates concurrently, each to its end. */
const judgeAll = (gates, call, answerOf) => Promise.allSettled(gates.map(async (one, index) => {
	try {
		return {
			...one,
			result: await judge(one, call, answerOf(index))
		};
	} catch (error) {
		if (await isWorthResuming(error, one.directory)) call.closingLines.push(resumeAdvice(one.directory, commandOf(call)));
		throw error;
	}
}));
/** True if the directory has measurements, and the command itself was correct. */
const isWorthResuming = async (error, directory) => (conclusionOfError(error) !== "usage" || error instanceof MisconfiguredError) && await hasMeasured(directory);
const commandOf = ({ options: { config = usualConfig } }) => config === "ppsgate.yml" ? "ppsgate gate" : `ppsgate gate --config ${config}`;
async function gatesOf(call) {
	const { config, options, optionName } = call;
	const { resume, maxRuns } = options;
	if (resume !== void 0) {
		const most = maxRuns === void 0 ? void 0 : parseMaxRuns(maxRuns, optionName("maxRuns"));
		await call.work.open({ resume });
		const { resumeGate } = await import("../../gate/resume-gate.js");
		return [{
			name: "",
			directory: resume,
			start: (deps) => resumeGate(resume, deps, most)
		}];
	}
	const seed = options.seed === void 0 ? randomSeed() : parseSeed(options.seed, optionName("seed"));
	const kernels = givenKernels(call);
	const patch = call.patch ?? await patchOf(call);
	const selectors = selectorsOf(config, options, optionName);
	const from = selectorCalled(options, optionName);
	const chosen = await Promise.all(selectors.map((selector) => bootable(kernels, testbedsFor(config, selector, from), call)));
	const folder = await call.work.open(options);
	const judged = options.layoutNoise === true ? (await import("../../gate/layout-noise-gate.js")).gateLayoutNoise : gate;
	return selectors.map((selector, index) => {
		const isOnly = selectors.length === 1;
		const directory = isOnly ? folder : join(folder, selector.replace(/[^\w.-]+/g, "-"));
		const isMeasuredAnyway = options.measureAnyway === true;
		const request = {
			patch,
			config,
			testbeds: chosen[index] ?? [],
			seed,
			kernels,
			isMeasuredAnyway
		};
		return {
			name: isOnly ? "" : selector,
			directory,
			start: (deps) => judged(request, directory, deps)
		};
	});
}
async function patchOf(call) {
	const { options, optionName } = call;
	if (/^(?:[a-z][a-z+]*:\/\/|[\w.-]+@[\w.-]+:)/.test(options.repository ?? "")) {
		const address = excerpt(options.repository ?? "");
		throw new UsageError(`${optionName("repository")}: "${address}" is an address: clone it, and name the folder.`);
	}
	if (options.patch === void 0 && optionName === namingStyles.flag) return patchOfOwnChanges(call);
	const { patchNamed } = await import("./named-patch.js");
	return patchNamed(call);
}
/** Judges the changes of the checkout, and describes them. */
async function patchOfOwnChanges({ options, optionName }) {
	const { since, baseCommit, headCommit, uncommitted, untracked } = await ownChanges(resolve(options.repository ?? ".")).catch(asUsageError(optionName));
	stderrLog.info(`Patch: changes since ${since} (${shortId(baseCommit)}).`);
	if (uncommitted.length > 0) stderrLog.warn(`measured with uncommitted changes: ${named(uncommitted)}`);
	if (untracked.length > 0) stderrLog.warn(`not measured, as git does not track it: ${named(untracked)}`);
	return patchOfCommits(repositoryOf(options), baseCommit, headCommit);
}
async function judge({ name, directory, start }, { config, options, optionName, signal, flightLog }, answer) {
	const priority = parsePriority(options.priority, optionName("priority"));
	const session = {
		config,
		signal,
		repository: repositoryOf(options),
		history: historyFile(config.history),
		output: labelled(process.stderr, name),
		observer: options.answer && answer,
		requestFor: (patch) => ({
			priority,
			holder: {
				who: whoami(),
				purpose: "gate",
				patch: patchName(patch)
			}
		}),
		leaseFolder: directory,
		flightLog
	};
	const work = async () => outcomeOfResult(await inSession(session, start), {});
	const { result } = await reportOutcome(answer, signal, work);
	return result;
}
function givenKernels(call) {
	const { baseKernel, patchedKernel } = call.options;
	if (!baseKernel && !patchedKernel) return void 0;
	return {
		base: required("baseKernel", call),
		patched: required("patchedKernel", call)
	};
}
/** Returns the testbeds that boot the given kernels; throws a UsageError, which names the option, if there is none. */
async function bootable(kernels, testbeds, { config, optionName }) {
	if (kernels === void 0) return testbeds;
	const { kernelFormOf } = await import("../../lab/given-kernel.js");
	const formOf = (testbed) => kernelFormOf(config.testbeds[testbed]);
	const forms = [...new Set(testbeds.map(formOf))].filter((form) => form !== void 0);
	if (forms.length === 0) throw new UsageError(`${optionName("baseKernel")}: ${testbeds.join(", ")} installs files and boots no kernels: choose a testbed of kind freebsd or virtual, or drop both kernels.`);
	const fitting = /* @__PURE__ */ new Set();
	const failures = [];
	for (const form of forms) {
		const failure = await whyUnbootable(kernels, form, optionName);
		if (failure === void 0) fitting.add(form);
		else failures.push(failure);
	}
	const [failure] = failures;
	if (fitting.size === 0 && failure !== void 0) throw failure;
	return testbeds.filter((testbed) => {
		const form = formOf(testbed);
		return form !== void 0 && fitting.has(form);
	});
}
async function whyUnbootable(kernels, form, optionName) {
	const { expectKernel } = await import("../../lab/given-kernel.js");
	try {
		await expectKernel(optionName("baseKernel"), kernels.base, form);
		await expectKernel(optionName("patchedKernel"), kernels.patched, form);
		return;
	} catch (error) {
		if (error instanceof UsageError) return error;
		throw error;
	}
}

export { gatesOf, isWorthResuming, judgeAll, patchOf };