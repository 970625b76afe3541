import { patchOf } from "../../forge/patch.js";
import { openPhabricator, phabricatorOf } from "../../forge/phabricator.js";
import { hasPlan, readPlan } from "../../gate/experiment/first.js";
import { UsageError, worstConclusion } from "../../model/first-plain.js";
import { openBuild, openRevisionComment } from "../../publish/reporters.js";
import { cancelledOutcome, combineReporters, conclusionOf, outcomeOfError, outcomeOfResult, reportOutcome } from "../../publish/reporters/first.js";
import { keptOf } from "../../relay.js";
import { readResult } from "../../report.js";
import { required, stderrLog } from "./gate-call.js";
import { gatesOf, judgeAll } from "./judge-gate.js";
import { keptAnswers, pinnedDiff } from "./kept-answers.js";
import { patientIfAnswered, revisionNamed } from "./revision-named.js";
const { basename } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/gate-revision.ts
/** Posts one comment per gate, and one build status for the worst of them. */
async function judgeAndAnswer(gateCall) {
	const { config, options, signal } = gateCall;
	const { run = `by-hand-${Date.now()}`, build, details, site } = options;
	const phabricator = phabricatorOf(config);
	const { undecided } = phabricator;
	const conduit = await openPhabricator(phabricator, { log: stderrLog });
	const diff = await diffOf(conduit, gateCall);
	const patch = patchOf({
		revision: diff.number,
		...diff
	});
	const call = {
		...gateCall,
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
		return kept.keeping(live, (reportedOutcome) => ({
			kind: "build",
			revision: diff,
			build,
			...about,
			ending: keptOf(reportedOutcome)
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
		return kept.keeping(live, (reportedOutcome) => ({
			kind: "comment",
			revision: diff,
			...about,
			ending: keptOf(reportedOutcome)
		}));
	};
	let ended = [];
	await reportOutcome(buildAnswer, signal, async () => {
		const gates = await gatesOf(call).catch(async (error) => {
			await comment(0).conclude(signal.aborted ? cancelledOutcome : outcomeOfError(error));
			throw error;
		});
		ended = await judgeAll(gates, call, (index) => combineReporters([comment(index, pageOf(gates, index, site)), whileItLasts(buildAnswer)]));
		return worstOf(ended.map(reportedOf));
	});
	return ended;
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
		const { patch } = await patchPlannedIn(options.resume);
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
/** A gate with nothing to measure has a result, but no plan. */
async function patchPlannedIn(directory) {
	if (await hasPlan(directory)) return readPlan(directory);
	return readResult(directory).catch(() => readPlan(directory));
}
/** Leaves the rest to the caller, which knows all outcomes. */
const whileItLasts = (answer) => ({
	...answer,
	conclude: async () => "delivered"
});
const reportedOf = (settled) => settled.status === "fulfilled" ? outcomeOfResult(settled.value.result, {}) : outcomeOfError(settled.reason);
function worstOf(reportedOutcomes) {
	const worst = worstConclusion(reportedOutcomes.map(conclusionOf));
	return reportedOutcomes.find((reportedOutcome) => conclusionOf(reportedOutcome) === worst) ?? reportedOutcomes[0] ?? outcomeOfError(/* @__PURE__ */ new Error("No gate ran."));
}

export { judgeAndAnswer };