import { n as version } from "./package.js";
import { C as object, E as string, T as record, b as literal, g as boolean, m as array, n as cellSchema, t as cellName, v as discriminatedUnion, y as int } from "./scenario.js";
import { t as datetime } from "./iso.js";
import { r as reasonOf } from "./one-line.js";
import { n as isJudged } from "./variant-name.js";
import { I as rejectionSchema, M as cellProfileSchema, R as runSchema, j as blastSchema, z as runsApart } from "./markdown.js";
import { S as lookSizes } from "./schema.js";
import { t as withoutPaths } from "./without-paths.js";
import { t as baseNumbers } from "./history.js";
import { l as standings, s as isEnough, u as validPairs } from "./standing.js";
import { i as worstVerdict, t as cellResult } from "./verdict.js";
import { join } from "node:path";
import { open, readFile, truncate } from "node:fs/promises";

// src/experiment/cells.ts
/** In the order in which it turned out. */
const leftOutIn = (entries) => entries.flatMap((entry) => entry.kind === "rejected" && !isJudged(entry.variant) ? {
	variant: entry.variant,
	rejection: entry.rejection
} : []);
function cellsSoFar(plan, entries) {
	const byBlast = Map.groupBy(entries, numberOf);
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return plan.cells.map((planned) => {
		const all = plan.blasts.filter((blast) => isSameCell(blast.cell, planned.cell)).map((blast) => triesOf$1(without(out, blast), byBlast.get(blast.number) ?? []));
		const entriesOf = (blasts) => blasts.flatMap(({ tries }) => tries);
		return {
			...planned,
			...reached(planned, all.filter(isOfVerdict)),
			blasts: all.filter(({ blast }) => blast.runs.length > 0),
			runs: entriesOf(all).flatMap((entry) => entry.kind === "measured" ? entry.runs : []),
			failures: entriesOf(all.filter(isOfVerdict)).flatMap((entry) => entry.kind === "failed" ? entry.reason : [])
		};
	});
}
const without = (out, blast) => ({
	...blast,
	runs: blast.runs.filter(({ variant }) => !out.has(variant))
});
/** Whether base or patched is in it: what is only shown beside them has no say in how many runs there are. */
const isOfVerdict = ({ blast }) => blast.runs.some(({ variant }) => isJudged(variant));
function triesOf$1(blast, tries) {
	const most = isOfVerdict({ blast }) ? mostTriesOf(tries) : 1;
	return {
		blast,
		tries,
		needed: tries.length < most && !tries.some(isWhole(blast))
	};
}
/** A generator that was the limit twice is the limit. */
const mostTriesOf = (tries) => tries.length > 0 && tries.every(isGeneratorLimited) ? 2 : 3;
const isGeneratorLimited = (entry) => entry.kind === "measured" && entry.runs.filter(({ variant }) => isJudged(variant)).every(({ validity }) => validity.kind === "invalid" && validity.cause === "generator-limited");
const isSameCell = (a, b) => cellName(a) === cellName(b);
function numberOf(entry) {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.blast : void 0;
}
const isWhole = ({ runs }) => (entry) => {
	if (entry.kind !== "measured") return false;
	const pairs = new Set(runs.map((run) => run.pair)).size;
	return runs.length === 1 ? entry.runs.every((run) => run.validity.kind === "valid") : isEnough(validPairs(entry.runs).length, pairs);
};
/** The last look that has all its blasts, and those that the next one lacks; runs that stand apart come once more. */
function reached({ design, history }, blasts) {
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	let closedPairs = 0;
	for (const size of lookSizes({
		...design,
		earlierDegreesOfFreedom
	})) {
		const inLook = blasts.filter(({ blast }) => blast.runs.every((run) => run.pair <= size));
		if (!isEnough(size - lostPairs(inLook), size)) return {
			closedPairs: size,
			nextPairs: size,
			open: []
		};
		const missing = inLook.filter(({ needed }) => needed);
		const open = missing.length > 0 ? missing : standingApart(inLook);
		if (open.length > 0) return {
			closedPairs,
			nextPairs: size,
			open
		};
		closedPairs = size;
	}
	return {
		closedPairs,
		nextPairs: closedPairs,
		open: []
	};
}
/** Of single runs, which a blast either gives or not. */
function lostPairs(blasts) {
	const lost = blasts.filter(({ blast, tries, needed }) => blast.runs.length === 1 && !needed && !tries.some(isWhole(blast)));
	return new Set(lost.flatMap(({ blast }) => blast.runs.map((run) => run.pair))).size;
}
/** Single runs beyond the rest of their variant, where they have been tried but once. */
function standingApart(blasts) {
	const single = blasts.flatMap((one) => {
		const run = one.tries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).find(({ validity }) => validity.kind === "valid");
		return one.blast.runs.length === 1 && run !== void 0 ? {
			one,
			run
		} : [];
	});
	const apart = new Set(runsApart(single.map(({ run }) => run)));
	return single.flatMap(({ one, run }) => apart.has(run) && one.tries.length === 1 ? one : []);
}

// src/experiment/journal.ts
const at = datetime();
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("started"),
		at,
		fingerprint: record(string(), string()),
		warnings: array(string())
	}),
	object({
		kind: literal("rejected"),
		at,
		variant: string(),
		rejection: rejectionSchema
	}),
	object({
		kind: literal("measured"),
		at,
		summary: blastSchema,
		runs: array(runSchema)
	}),
	object({
		kind: literal("failed"),
		at,
		blast: int(),
		reason: string()
	}),
	object({
		kind: literal("profiled"),
		at,
		cell: cellSchema,
		profile: cellProfileSchema,
		/** Nothing would come of another try. */
		isFinal: boolean()
	}),
	object({
		kind: literal("finished"),
		at
	})
]);
/** Opens or begins a journal; a last line that a kill cut short is dropped, any other bad line is a `JournalError`. */
async function openJournal(path) {
	const { entries, text, whole } = await read(path);
	if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
	const file = await open(path, "a");
	return {
		entries,
		async append(entry) {
			await file.appendFile(`${JSON.stringify(entry)}\n`);
			await file.datasync();
			entries.push(entry);
		},
		close: () => file.close()
	};
}
/** The entries of a journal, which is left as it is; none where there is no journal. */
const readJournal = async (path) => (await read(path)).entries;
/** `whole` is the text up to its last newline: what a kill cut short is no entry. */
async function read(path) {
	const text = await readFile(path, "utf8").catch(ifMissing);
	const whole = text.slice(0, text.lastIndexOf("\n") + 1);
	return {
		entries: whole.split("\n").filter(Boolean).map(parseLine(path)),
		text,
		whole
	};
}
var JournalError = class extends Error {
	name = "JournalError";
};
const parseLine = (path) => (line, index) => {
	try {
		return entrySchema.parse(JSON.parse(line));
	} catch {
		throw new JournalError(`${path}:${index + 1} is no line of an experiment's journal: the directory cannot be resumed; start anew.`);
	}
};
function ifMissing(error) {
	if (error.code === "ENOENT") return "";
	throw error;
}

// src/experiment/profiles.ts
/** Takes every profile that the journal lacks. Where the testbed fails the rest are not taken: what was measured stands. */
async function takeProfiles(world) {
	const { plan, testbed, journal, keepLogIn, at, onNext, warn, signal } = world;
	for (;;) {
		signal.throwIfAborted();
		const next = nextProfile(plan, journal.entries);
		if (next === void 0 || plan.profile === void 0) return;
		onNext(next);
		const { cell, variant } = next;
		const folder = folderOf(next);
		try {
			const request = {
				...next,
				...plan.profile
			};
			const outcome = await testbed.profile(request, keepLogIn(folder), signal);
			const profile = outcome.kind === "profiled" ? {
				...withoutLog(outcome),
				variant,
				seconds: plan.profile.seconds,
				file: `${folder}/${outcome.log}`
			} : {
				kind: "missing",
				variant,
				reason: outcome.reason
			};
			const isFinal = outcome.kind !== "missed";
			await journal.append({
				kind: "profiled",
				at: at(),
				cell,
				profile,
				isFinal
			});
		} catch (error) {
			signal.throwIfAborted();
			const reason = reasonOf(error);
			const profile = {
				kind: "missing",
				variant,
				reason: withoutPaths(reason)
			};
			await journal.append({
				kind: "profiled",
				at: at(),
				cell,
				profile,
				isFinal: false
			});
			warn(`no more profiles are taken: ${reason}`);
			return;
		}
	}
}
function withoutLog({ log: _, ...rest }) {
	return rest;
}
const mostAttempts = 3;
/** Variant by variant, as each may have to be booted; the one that ran last comes first. */
function nextProfile(plan, entries) {
	if (plan.profile === void 0) return void 0;
	const cells = judgedCells(plan, entries);
	const next = variantsInOrder(plan, entries).flatMap((variant) => cells.map((cell) => ({
		cell,
		variant,
		tries: triesOf(entries, cell, variant)
	}))).find(({ tries }) => tries.length < mostAttempts && !tries.some(({ isFinal }) => isFinal));
	return next && {
		cell: next.cell,
		variant: next.variant,
		attempt: next.tries.length + 1
	};
}
/** What came of each variant's profile in a cell; none where none were to be taken. */
function profilesOf(plan, entries, cell) {
	const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
	if (plan.profile === void 0 || !isJudged) return [];
	return variantsLeft(plan, entries).map((variant) => {
		return triesOf(entries, cell, variant).at(-1)?.profile ?? {
			kind: "missing",
			variant,
			reason: "the experiment ended before"
		};
	});
}
const judgedCells = (plan, entries) => standings(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) => judgement === void 0 ? [] : input.cell);
function variantsLeft({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.map(({ variant }) => variant).filter((variant) => !out.has(variant));
}
function variantsInOrder(plan, entries) {
	const last = entries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).at(-1)?.variant;
	const left = variantsLeft(plan, entries);
	return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}
const triesOf = (entries, cell, variant) => entries.flatMap((entry) => entry.kind === "profiled" && entry.profile.variant === variant && cellName(entry.cell) === cellName(cell) ? entry : []);
/** `profiles/forwarding-inet4-base`, and `profiles/forwarding-inet4-base.2` for a second attempt. */
function folderOf({ cell, variant, attempt }) {
	const name = `${cellName(cell)}-${variant}`.replaceAll(" ", "-");
	return join("profiles", attempt === 1 ? name : `${name}.${attempt}`);
}

// src/report/assemble.ts
/** The result of an experiment that has ended; of one that has not, what its journal is worth so far. */
function assembleResult(plan, journal) {
	const { flows, frameBytes, offeredPps, measureSeconds } = plan.traffic;
	const started = journal.findLast((entry) => entry.kind === "started");
	return {
		schemaVersion: 1,
		generator: {
			name: "ppsgate",
			version
		},
		patch: plan.patch,
		variants: plan.variants.map(({ variant, commit, files }) => ({
			name: variant,
			commit,
			files: files.map(({ path, sha256 }) => ({
				path,
				sha256
			}))
		})),
		testbed: {
			name: plan.testbed,
			fingerprint: started?.fingerprint ?? {},
			warnings: started?.warnings ?? []
		},
		policy: plan.policy,
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
		},
		seed: plan.seed,
		startedAt: journal.at(0)?.at ?? epoch,
		finishedAt: journal.at(-1)?.at ?? epoch,
		blasts: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : []),
		leftOut: leftOutIn(journal),
		outcome: outcomeOf(plan, journal)
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function outcomeOf(plan, journal) {
	const last = journal.findLast((entry) => entry.kind !== "started" && !leavesOut(entry));
	if (last?.kind === "rejected") return last.rejection;
	const others = plan.variants.map(({ variant }) => variant).filter((name) => !isJudged(name));
	const cells = standings(cellsSoFar(plan, journal), plan.policy).map((standing) => {
		const ofBase = baseNumbers(standing.input.runs, plan.policy.metric);
		const result = cellResult(standing, plan.policy, ofBase, others);
		return {
			...result,
			profiles: profilesOf(plan, journal, result.cell)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const leavesOut = (entry) => entry.kind === "rejected" && !isJudged(entry.variant);

export { cellsSoFar as a, readJournal as i, takeProfiles as n, isOfVerdict as o, openJournal as r, leftOutIn as s, assembleResult as t };