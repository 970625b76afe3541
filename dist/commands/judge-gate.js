import { answering, endingOfResult } from "../answer.js";
import { parseMaxRuns, parsePriority, parseSeed } from "../config.js";
import { timestampedDirectory, whoami } from "../controller.js";
import { goingOn, hasPlan, historyFile, randomSeed } from "../experiment.js";
import { gate, resumeGate } from "../gate.js";
import { chosenFor, wishesOf } from "../inventory.js";
import { NoRepositoryError, RepositoryError, openRepository, parseEarlier, patchOfRange, patchOfRevision, rangeLike } from "../patch.js";
import { looksLikeRevision, openPhabricator, parseRevisionName, phabricatorOf } from "../phabricator.js";
import { labelled } from "../progress.js";
import { readResult } from "../report.js";
import { inSession } from "../session.js";
import { splitGate } from "../split.js";
import { UsageError, excerpt, expected, patchName, upshotOfError } from "../words.js";
import { join, resolve } from "node:path";
import { readdir } from "node:fs/promises";

// src/commands/judge-gate.ts
/** All at once, and each to its end. */
const judgeAll = (gates, call, answerOf) => Promise.allSettled(gates.map(async (one, index) => {
	try {
		return {
			...one,
			result: await judge(one, call, answerOf(index))
		};
	} catch (error) {
		const begun = upshotOfError(error) === "usage" ? [] : await begunIn(one.directory);
		call.lastWords.push(...begun.map((directory) => goingOn(directory, commandOf(call))));
		throw error;
	}
}));
/** Directories of gates without a result: this one, or those of its parts where it was split. */
async function begunIn(directory) {
	if (await hasPlan(directory)) return [directory];
	const names = await readdir(directory).catch(() => []);
	return (await Promise.all(names.map(async (name) => {
		const part = join(directory, name);
		return await hasPlan(part) && !await hasResult(part) ? [part] : [];
	}))).flat();
}
const hasResult = (directory) => readResult(directory).then(() => true, () => false);
const commandOf = ({ options: { config = usualConfig } }) => config === "ppsgate.yml" ? "ppsgate gate" : `ppsgate gate --config ${config}`;
/** Where nobody names another. */
const usualConfig = "ppsgate.yml";
async function gatesOf(call) {
	const { config, options, called } = call;
	const { resume, maxRuns } = options;
	if (resume !== void 0) {
		const most = maxRuns === void 0 ? void 0 : parseMaxRuns(maxRuns, called("maxRuns"));
		return [{
			name: "",
			directory: resume,
			start: (world) => resumeGate(resume, world, most)
		}];
	}
	const patch = await patchOf(call);
	const seed = options.seed === void 0 ? randomSeed() : parseSeed(options.seed, called("seed"));
	const kernels = givenKernels(call);
	const folder = options.directory ?? timestampedDirectory("ppsgate-gate");
	const wishes = wishesOf(config, options, called);
	const chosen = wishes.map((wish) => chosenFor(config, wish));
	const isSplit = config.split === true && chosen.some(({ testbeds }) => testbeds.length > 1);
	if (options.record !== void 0 && (wishes.length > 1 || isSplit)) throw new UsageError(`${called("record")}: only one testbed can be recorded at a time; ask for one of them.`);
	return wishes.map((wish, index) => {
		const isOnly = wishes.length === 1;
		const directory = isOnly ? folder : join(folder, wish.replace(/[^\w.-]+/g, "-"));
		const isMeasuredAnyway = options.measureAnyway === true;
		const { testbeds = [], leftOut = [] } = chosen[index] ?? {};
		const isRelinked = options.relinked === true;
		const request = {
			patch,
			config,
			testbeds,
			leftOut,
			seed,
			kernels,
			isMeasuredAnyway,
			isRelinked
		};
		return {
			name: isOnly ? "" : wish,
			directory,
			start: (world) => isSplit ? splitGate(request, directory, world) : gate(request, directory, world)
		};
	});
}
/** A range of commits, or a revision of the configured Phabricator. */
async function patchOf(call) {
	const { config, options, called, signal } = call;
	const text = required("patch", call);
	const repository = repositoryOf(options);
	const earlier = parseEarlier(options.earlier || "none", called("earlier"));
	if (text.includes("..")) {
		if (earlier === "none") return patchOfRange(repository, text).catch(wrongly(called));
		throw new UsageError(`${called("earlier")}: "${excerpt(text)}" is no revision, and only those have earlier diffs.`);
	}
	if (!looksLikeRevision(text)) {
		const what = `commits as BASE..HEAD, like ${await rangeLike(repository, text)}, or a revision like D27401 or D27401:80677`;
		throw new UsageError(`${called("patch")}: ${expected(what)({ input: text })}.`);
	}
	const name = revisionNamed(text, call);
	const phabricator = phabricatorOf(config);
	const conduit = await openPhabricator(phabricator, {
		log: stderrLog,
		signal
	});
	return patchOfRevision(name, earlier, {
		conduit,
		repository,
		config: phabricator
	});
}
const wrongly = (called) => (error) => {
	if (!(error instanceof RepositoryError)) throw error;
	const which = error instanceof NoRepositoryError ? "repository" : "patch";
	throw new UsageError(`${called(which)}: ${error.message}`);
};
/** Throws a `UsageError` for what is no revision. */
function revisionNamed(text, { config, called }) {
	const name = parseRevisionName(text, phabricatorOf(config).url);
	if (name !== void 0) return name;
	throw new UsageError(`${called("patch")}: ${expected("a revision like D27401 or D27401:80677")({ input: text })}.`);
}
const stderrLog = {
	info: (sentence) => process.stderr.write(`${sentence}\n`),
	warn: (sentence) => process.stderr.write(`warning: ${sentence}\n`)
};
const repositoryOf = ({ repository }) => openRepository(resolve(repository ?? "."));
async function judge({ name, directory, start }, { config, options, called, signal, recorder }, answer) {
	const priority = parsePriority(options.priority, called("priority"));
	const session = {
		config,
		signal,
		repository: repositoryOf(options),
		history: historyFile(config.history),
		output: labelled(process.stderr, name),
		answer: options.answer && answer,
		requestFor: (patch) => ({
			priority,
			holder: {
				who: whoami(),
				purpose: "gate",
				patch: patchName(patch)
			}
		}),
		leaseFolder: directory,
		recorder
	};
	const work = async () => endingOfResult(await inSession(session, start), {});
	const { result } = await answering(answer, signal, work);
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
/** An empty one says no more than none. */
function required(name, { options, called }) {
	const text = options[name];
	if (text) return text;
	throw new UsageError(`${called(name)} is missing: see \`ppsgate gate --help\`.`);
}

export { gatesOf, judgeAll, patchOf, required, revisionNamed, stderrLog, usualConfig };