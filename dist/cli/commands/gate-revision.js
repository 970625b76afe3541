import { patchOf } from "../../forge/patch.js";
import { findRevision, openPhabricator, phabricatorOf, phidsOf } from "../../forge/phabricator.js";
import { hasPlan, readPlan } from "../../gate/experiment.js";
import { UsageError, worstConclusion } from "../../model.js";
import { cancelledOutcome, combineReporters, conclusionOf, openBuild, openRevisionComment, outcomeOfError, outcomeOfResult, reportOutcome } from "../../publish/reporters.js";
import { InboxError, inboxIn, keeping, keptOf, openInbox } from "../../relay.js";
import { readResult } from "../../report.js";
import { gatesOf, judgeAll, patientIfAnswered, required, revisionNamed, stderrLog } from "./judge-gate.js";
import { basename } from "node:path";

// src/cli/commands/gate-revision.ts
/** Posts one comment per gate, and one build status for the worst of them. */
async function judgeAndAnswer(asked) {
	const { config, options, signal } = asked;
	const { run = `by-hand-${Date.now()}`, build, details, site } = options;
	const phabricator = phabricatorOf(config);
	const { undecided } = phabricator;
	const conduit = await openPhabricator(phabricator, { log: stderrLog });
	const diff = await diffOf(conduit, asked);
	const patch = patchOf({
		revision: diff.number,
		...diff
	});
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
	const buildAnswer = build === void 0 ? combineReporters([]) : openKeptBuild(build);
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
	await reportOutcome(buildAnswer, signal, async () => {
		const gates = await gatesOf(call).catch(async (error) => {
			await comment(0).conclude(signal.aborted ? cancelledOutcome : outcomeOfError(error));
			throw error;
		});
		ended = await judgeAll(gates, call, (index) => combineReporters([comment(index, pageOf(gates, index, site)), whileItLasts(buildAnswer)]));
		return worstOf(ended.map(endingOf));
	});
	return ended;
}
/** Posts reports even if nothing can be kept. */
function keptAnswers({ relay }, conduit) {
	const now = () => /* @__PURE__ */ new Date();
	try {
		const inbox = openInbox(inboxIn(relay.directory), now);
		const { signal } = new AbortController();
		const deps = {
			conduit,
			inbox,
			now,
			log: stderrLog,
			signal
		};
		return {
			keeping: (answer, keptEnd) => keeping(answer, keptEnd, deps),
			[Symbol.dispose]: () => inbox[Symbol.dispose]()
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
function pageOf(gates, index, site) {
	const directory = gates[index]?.directory;
	if (site === void 0 || directory === void 0) return void 0;
	const folder = gates.length === 1 ? "" : `/${basename(directory)}`;
	return `${site.replace(/\/+$/, "")}${folder}/report/index.html`;
}
/** Fixes the judged diff: a newer one may arrive at any time. */
async function diffOf(conduit, call) {
	const { options } = call;
	if (options.resume !== void 0) {
		const { patch } = await toldIn(options.resume);
		if (patch.kind === "revision") {
			const { number, diff, phids } = patch;
			return {
				number,
				diff,
				...phids && { phids }
			};
		}
		throw new UsageError(`--answer: ${options.resume} is not the work directory of a gate of a revision.`);
	}
	const name = revisionNamed(required("patch", call), call);
	return pinnedDiff(patientIfAnswered(conduit, {
		...options,
		signal: call.signal
	}), name);
}
/** Reads nothing if a relay has pinned it. */
async function pinnedDiff(conduit, name) {
	const { revision: number, diff, phids } = name;
	if (number !== void 0 && diff !== void 0 && phids !== void 0) return {
		number,
		diff,
		phids
	};
	const found = await findRevision(conduit, name);
	return {
		number: found.number,
		diff: found.diff.id,
		phids: phidsOf(found)
	};
}
/** A gate with nothing to measure has a result, but no plan. */
async function toldIn(directory) {
	if (await hasPlan(directory)) return readPlan(directory);
	return readResult(directory).catch(() => readPlan(directory));
}
/** The caller, which knows all outcomes, does the rest. */
const whileItLasts = (answer) => ({
	...answer,
	conclude: async () => "delivered"
});
const endingOf = (settled) => settled.status === "fulfilled" ? outcomeOfResult(settled.value.result, {}) : outcomeOfError(settled.reason);
function worstOf(endings) {
	const worst = worstConclusion(endings.map(conclusionOf));
	return endings.find((ending) => conclusionOf(ending) === worst) ?? endings[0] ?? outcomeOfError(/* @__PURE__ */ new Error("There was no gate."));
}

export { judgeAndAnswer, keptAnswers, pinnedDiff };