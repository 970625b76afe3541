import { answering, endingOfError, endingOfResult, openBuild, openRevisionComment, together, upshotOf } from "../answer.js";
import { goingOn, hasPlan, historyFile, randomSeed, readPlan } from "../experiment.js";
import { findRevision, looksLikeRevision, openPhabricator, parseRevisionName, phabricatorOf } from "../phabricator.js";
import { InboxError, inboxIn, keeping, keptOf, openInbox } from "../relay.js";
import { readResult } from "../report.js";
import { UsageError, excerpt, expected, patchName, upshotOfError, worstUpshot } from "../words.js";
import { parseMaxRuns, parsePriority, parseSeed } from "../config.js";
import { timestampedDirectory, whoami } from "../controller.js";
import { gate, resumeGate } from "../gate.js";
import { testbedsFor, wishesOf } from "../inventory.js";
import { NoRepositoryError, RepositoryError, openRepository, parseEarlier, patchOfRange, patchOfRevision, rangeLike } from "../patch.js";
import { labelled } from "../progress.js";
import { inSession } from "../session.js";
import { basename, join, resolve } from "node:path";

// src/commands/judge-gate.ts
/** All at once, and each to its end. */
const judgeAll = (gates, call, answerOf) => Promise.allSettled(gates.map(async (one, index) => {
	try {
		return {
			...one,
			result: await judge(one, call, answerOf(index))
		};
	} catch (error) {
		if (upshotOfError(error) !== "usage" && await hasPlan(one.directory)) call.lastWords.push(goingOn(one.directory, commandOf(call)));
		throw error;
	}
}));
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
	if (options.record !== void 0 && wishes.length > 1) throw new UsageError(`${called("record")}: only one testbed can be recorded at a time; ask for one of them.`);
	return wishes.map((wish) => {
		const isOnly = wishes.length === 1;
		const directory = isOnly ? folder : join(folder, wish.replace(/[^\w.-]+/g, "-"));
		const isMeasuredAnyway = options.measureAnyway === true;
		const testbeds = testbedsFor(config, wish);
		const request = {
			patch,
			config,
			testbeds,
			seed,
			kernels,
			isMeasuredAnyway
		};
		return {
			name: isOnly ? "" : wish,
			directory,
			start: (world) => gate(request, directory, world)
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

// src/commands/answered-gate.ts
/** A comment for each gate, and one end of the build, by the worst of them. */
async function judgeAndAnswer(asked) {
	const { config, options, signal } = asked;
	const { run = `by-hand-${Date.now()}`, build, details, site } = options;
	const phabricator = phabricatorOf(config);
	const { undecided } = phabricator;
	const conduit = await openPhabricator(phabricator, { log: stderrLog });
	const diff = await diffOf(conduit, asked);
	const patch = `D${diff.number}:${diff.diff}`;
	const call = {
		...asked,
		options: {
			...options,
			patch
		}
	};
	using kept = keptAnswers(phabricator, conduit);
	const shared = {
		run,
		...details !== void 0 && { details }
	};
	const openKeptBuild = (build) => {
		const about = {
			...shared,
			undecided
		};
		const live = openBuild(conduit, build, diff, {
			...about,
			log: stderrLog
		});
		return kept.keeping(live, (ending) => ({
			kind: "build",
			revision: diff,
			build,
			...about,
			ending: keptOf(ending)
		}));
	};
	const buildAnswer = build === void 0 ? together([]) : openKeptBuild(build);
	const comment = (index, page) => {
		const about = {
			...shared,
			run: index === 0 ? run : `${run}.${index}`,
			takesCommands: options.run !== void 0,
			...page !== void 0 && { page }
		};
		const live = openRevisionComment(conduit, diff, {
			...about,
			log: stderrLog
		});
		return kept.keeping(live, (ending) => ({
			kind: "comment",
			revision: diff,
			...about,
			ending: keptOf(ending)
		}));
	};
	let ended = [];
	await answering(buildAnswer, signal, async () => {
		const gates = await gatesOf(call).catch(async (error) => {
			await comment(0).ended(endingOfError(error));
			throw error;
		});
		ended = await judgeAll(gates, call, (index) => together([comment(index, pageOf(gates, index, site)), whileItLasts(buildAnswer)]));
		return worstOf(ended.map(endingOf));
	});
	return ended;
}
/** Where nothing can be kept, answers are given all the same. */
function keptAnswers({ relay }, conduit) {
	const now = () => /* @__PURE__ */ new Date();
	try {
		const inbox = openInbox(inboxIn(relay.directory), now);
		const { signal } = new AbortController();
		const world = {
			conduit,
			inbox,
			now,
			log: stderrLog,
			signal
		};
		return {
			keeping: (answer, keptEnd) => keeping(answer, keptEnd, world),
			[Symbol.dispose]: inbox[Symbol.dispose]
		};
	} catch (error) {
		if (!(error instanceof InboxError)) throw error;
		stderrLog.warn(error.message);
		return {
			keeping: (answer) => answer,
			[Symbol.dispose]() {}
		};
	}
}
/** Each of several gates has a folder of its own in the work directory. */
function pageOf(gates, index, site) {
	const directory = gates[index]?.directory;
	if (site === void 0 || directory === void 0) return void 0;
	const folder = gates.length === 1 ? "" : `/${basename(directory)}`;
	return `${site.replace(/\/+$/, "")}${folder}/report/index.html`;
}
/** The diff that is judged, for good: a newer one may come at any time. */
async function diffOf(conduit, call) {
	const { options } = call;
	if (options.resume !== void 0) {
		const { patch } = await toldIn(options.resume);
		if (patch.kind === "revision") return patch;
		throw new UsageError(`--answer: ${options.resume} holds no gate of a revision.`);
	}
	const name = revisionNamed(required("patch", call), call);
	const { number, diff } = await findRevision(conduit, name);
	return {
		number,
		diff: diff.id
	};
}
/** A gate that had nothing to measure has a result, and no plan. */
async function toldIn(directory) {
	if (await hasPlan(directory)) return readPlan(directory);
	return readResult(directory).catch(() => readPlan(directory));
}
/** The rest of it is for whoever knows how all gates ended. */
const whileItLasts = (answer) => ({
	...answer,
	ended: async () => "given"
});
const endingOf = (settled) => settled.status === "fulfilled" ? endingOfResult(settled.value.result, {}) : endingOfError(settled.reason);
function worstOf(endings) {
	const worst = worstUpshot(endings.map(upshotOf));
	return endings.find((ending) => upshotOf(ending) === worst) ?? endings[0] ?? endingOfError(/* @__PURE__ */ new Error("There was no gate."));
}

export { gatesOf, judgeAll, judgeAndAnswer, keptAnswers, revisionNamed, stderrLog, usualConfig };