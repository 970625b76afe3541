import { answering, endingOfError, endingOfResult, openBuild, openRevisionComment, together, upshotOf } from "../answer.js";
import { applyOverrides, calledAs, isOfGate, loadConfig, parameter, parametersThat } from "../config.js";
import { runToExit } from "../exit.js";
import { recordTo } from "../recording.js";
import { headline, readResult } from "../report.js";
import { UsageError, exitCodes, upshotOfResult, worstUpshot } from "../words.js";
import { hasPlan, readPlan } from "../experiment.js";
import { findRevision, openPhabricator, phabricatorOf } from "../phabricator.js";
import { InboxError, inboxIn, keeping, keptOf, openInbox } from "../relay.js";
import { gatesOf, judgeAll, required, revisionNamed, stderrLog, usualConfig } from "./judge-gate.js";
import { printJson } from "./table.js";
import { basename, resolve } from "node:path";

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

// src/commands/gate.ts
function define(command) {
	for (const name of parametersThat((one) => isOfGate(one) && one.option !== void 0)) {
		const { flags = calledAs.flag(name), value, says = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, says, usual);
	}
	command.addHelpText("after", `
Example:
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Exits 0 on a pass, 1 when the patch is at fault, 2 on wrong usage, 3 when
nobody can say, 4 when the lab failed.`).action(async (options) => {
		const lastWords = [];
		await runToExit((signal) => runGate(options, signal, lastWords), {
			...command.optsWithGlobals(),
			lastWords
		});
	});
}
/** Answers the exit code of the worst verdict; throws for what kept it from one, and says into `lastWords` how it goes on. */
async function runGate(options, signal, lastWords) {
	const path = resolve(options.config ?? "ppsgate.yml");
	const called = process.env.PPSGATE_WORDS === void 0 ? calledAs.flag : calledAs.step;
	const config = applyOverrides(await loadConfig(path), options, called);
	const { record } = options;
	const call = {
		config,
		options,
		called,
		signal,
		lastWords,
		recorder: record === void 0 ? void 0 : await recordTo(record, "gate", Object.values(config.testbeds))
	};
	const ended = options.answer ? await judgeAndAnswer(call) : await judgeAll(await gatesOf(call), call, () => together([]));
	const judged = ended.flatMap((one) => one.status === "fulfilled" ? one.value : []);
	if (options.json) {
		const results = judged.map(({ result }) => result);
		const printed = ended.length === 1 ? results[0] : results;
		if (printed !== void 0) printJson(printed);
	} else for (const { result, directory } of judged) process.stdout.write(`${headline(result)}\nReport: ${directory}/report/index.html\n`);
	const failure = ended.find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
	return exitCodes[worstUpshot(judged.map(({ result }) => upshotOfResult(result)))];
}

export { define };