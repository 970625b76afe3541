import { a as codeSpan, i as codeBlock, n as isJudged } from "./variant-name.js";
import { t as datetime } from "./iso.js";
import { r as frameBytesFor, x as designNames } from "./schema.js";
import { A as url, C as object, E as string, S as number, T as record, b as literal, m as array, n as cellSchema, p as _enum, s as scenarioSchema, t as cellName, v as discriminatedUnion, y as int } from "./scenario.js";
import { r as renderMinistat } from "./ministat.js";
import { t as median } from "./summary.js";
import { t as confidencePercents } from "./student.js";
import { a as formatDuration, c as formatPercent, d as grouped, f as metricName, i as formatDifference, l as formatPps, n as flamegraphAnchor, o as formatInterval, r as formatChange, s as formatMetric, u as formatShare } from "./format.js";

// src/patch/patch.ts
const commitId = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a full commit id");
const pullRequest = object({
	kind: literal("pull-request"),
	/** `owner/name` of the repository that the pull request wants to change. */
	repository: string(),
	number: int().positive(),
	title: string(),
	author: string(),
	url: url(),
	/** The branch that it goes to; absent in results from before this was recorded. */
	baseBranch: string().optional(),
	baseCommit: commitId,
	headCommit: commitId
});
const revision = object({
	kind: literal("revision"),
	/** Of Phabricator, without a slash at its end. */
	server: url(),
	/** 27401 of D27401. */
	number: int().positive(),
	/** Its id, which is another one for whatever the author sends. */
	diff: int().positive(),
	title: string(),
	/** User name on Phabricator. */
	author: string(),
	url: url(),
	baseCommit: commitId,
	/** Made from the diff: the same from the same, see `commitDiff` of repository.ts. */
	headCommit: commitId,
	/** Diffs of the revision that are measured beside it for comparison, the oldest first. */
	earlier: array(object({
		diff: int().positive(),
		headCommit: commitId
	})),
	/** Sentences for the report: how the base was found, what was left out. */
	notes: array(string())
});
const range = object({
	kind: literal("range"),
	title: string(),
	author: string(),
	baseCommit: commitId,
	headCommit: commitId
});
const patchSchema = discriminatedUnion("kind", [
	pullRequest,
	revision,
	range
]);
/** How people call the patch: `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
function patchName(patch) {
	switch (patch.kind) {
		case "pull-request": return `#${patch.number}`;
		case "revision": return `D${patch.number}`;
		case "range": return `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
	}
}

// src/report/headline.ts
/** `🔴 ppsgate: #7 loses 10.4 % (forwarding inet4)`; plain text of our own making, without markup. */
function headline(result) {
	const { symbol, text } = sentence(result);
	return `${symbol} ppsgate: ${patchName(result.patch)} ${text}`;
}
/** The same where it stands under ppsgate's name already: `🔴 #7 loses 10.4 % (forwarding inet4)`. */
function verdictLine(result) {
	const { symbol, text } = sentence(result);
	return `${symbol} ${patchName(result.patch)} ${text}`;
}
/** `regression`, `boot-failed`: the verdict, or what kept a patch from one. */
const outcomeName = ({ outcome }) => outcome.kind === "judged" ? outcome.verdict : outcome.kind;
/** What is said of the patch; `named` writes the names of cells, where they could be taken for markup. */
function sentence({ outcome, policy }, named = (name) => name) {
	if (outcome.kind !== "judged") return rejections$1[outcome.kind];
	const { cells, verdict } = outcome;
	const margin = formatPercent(policy.marginRatio);
	switch (verdict) {
		case "regression": return {
			symbol: "🔴",
			text: changes("loses", withVerdict(cells, "regression"), named)
		};
		case "improvement": return {
			symbol: "🟢",
			text: `${changes("gains", withVerdict(cells, "improvement"), named)}; no regression`
		};
		case "no-regression": return {
			symbol: "🟢",
			text: `loses nothing that matters (less than ${margin})`
		};
		case "inconclusive": return {
			symbol: "🟡",
			text: `may lose ${margin} or not: ${withVerdict(cells, "inconclusive").length} of ${cells.length} cells need more runs`
		};
		case "invalid": return {
			symbol: "⚪",
			text: `was not measured: ${withVerdict(cells, "invalid").length} of ${cells.length} cells are invalid`
		};
	}
}
/** `does not boot`: what is said of a variant with which nothing can be measured. */
const rejectionText = ({ kind }) => rejections$1[kind].text;
const rejections$1 = {
	"does-not-apply": {
		symbol: "🔴",
		text: "does not apply"
	},
	"build-failed": {
		symbol: "🔴",
		text: "does not build"
	},
	"does-not-load": {
		symbol: "🔴",
		text: "does not load"
	},
	"boot-failed": {
		symbol: "🔴",
		text: "does not boot"
	},
	"panics-under-load": {
		symbol: "🔴",
		text: "panics under load"
	},
	"out-of-disk": {
		symbol: "⚪",
		text: "was not measured: a disk of the lab is full"
	}
};
const withVerdict = (cells, kind) => cells.filter((cell) => cell.verdict.kind === kind);
const mostNamed$1 = 3;
/** `loses 10.4 % (forwarding inet4) and 9.1 % (forwarding inet6)`, in packets per second whatever was judged. */
function changes(verb, cells, named) {
	const told = cells.slice(0, mostNamed$1).map((cell) => `${speedChange(cell)} (${named(cellName(cell.cell))})`);
	const rest = cells.length - told.length;
	if (rest > 0) told.push(`${rest} more`);
	const last = told.pop();
	return `${verb} ${[told.join(", "), last].filter(Boolean).join(" and ")}`;
}
/** Half the time per packet is twice the speed. */
function speedChange({ comparisons }) {
	const [comparison] = comparisons;
	if (comparison === void 0) return "an unknown share";
	const { metric, interval } = comparison;
	const ratio = metric === "pps" ? interval.change : 1 / (1 + interval.change) - 1;
	return `${(Math.abs(ratio) * 100).toFixed(1)} %`;
}

// src/stats/outlier.ts
/**
* Runs that count and whose modified z-score, 0.6745 · distance from the median / MAD, is above 3.5 (Iglewicz and
* Hoaglin, How to Detect and Handle Outliers, 1993). Distances are taken on logarithms from the median of the run's
* own variant, their MAD over all variants, without one distance for each: a median of a few runs is mostly one of them,
* at no distance. A variant with fewer than three runs has no run that stands apart.
*/
function runsApart(runs) {
	const counted = runs.filter((run) => run.validity.kind === "valid" && run.pps > 0);
	const variants = Map.groupBy(counted, (run) => run.variant);
	const centers = new Map([...variants].map(([name, group]) => [name, median(group.map(logOf))]));
	const distanceOf = (run) => Math.abs(logOf(run) - (centers.get(run.variant) ?? 0));
	const distances = counted.map(distanceOf).toSorted((a, b) => a - b);
	const deviation = Math.max(median(distances.slice(variants.size)), leastDeviation);
	return counted.filter((run) => (variants.get(run.variant)?.length ?? 0) >= 3 && .6745 * distanceOf(run) > 3.5 * deviation);
}
const logOf = (run) => Math.log(run.pps);
/** Runs that agree to the last packet do not make one that differs by 0.1 % stand apart. */
const leastDeviation = 5e-4;

// src/report/result.ts
const metricSchema = _enum(["pps", "nsPerPacket"]);
const validitySchema = discriminatedUnion("kind", [object({ kind: literal("valid") }), object({
	kind: literal("invalid"),
	cause: _enum([
		"broken-log",
		"too-short",
		"unsteady",
		"hole",
		"generator-limited"
	]),
	/** A sentence for people, with the numbers. */
	reason: string()
})]);
/** One variant laid once and measured once: a number per metric, and the samples that it comes from. */
const runSchema = object({
	number: int().positive(),
	blast: int().positive(),
	/** Which try of the blast: a blast with an invalid run is repeated, and all its tries are kept. */
	attempt: int().positive(),
	/** The runs of one pair follow each other among those of their cell, one of each variant. */
	pair: int().positive(),
	variant: string(),
	/** Packets per second that left the DUT: the median of the samples. */
	pps: number().nonnegative(),
	/** CPU time of the DUT's forwarding thread per packet, in ns: the median of the samples; absent where the DUT cannot tell. */
	nsPerPacket: number().positive().optional(),
	samples: array(object({
		seconds: number().positive(),
		receivedPackets: int().nonnegative(),
		forwardedPackets: int().nonnegative(),
		/** CPU time of the DUT's forwarding thread, in seconds. */
		busySeconds: number().nonnegative().optional(),
		/** In which that thread was due and its CPU was given to others. */
		deniedSeconds: number().nonnegative().optional()
	})),
	validity: validitySchema
});
/** A change is a ratio to base: −0.1 is 10 % less. */
const intervalSchema = object({
	change: number(),
	low: number(),
	high: number()
});
/**
* What one metric says of a cell; absolute values in packets per second, or ns per packet. The change of patched is
* freed of the bias of stopping early, and its interval holds whichever look the experiment stopped at.
*/
const comparisonSchema = object({
	metric: metricSchema,
	base: number(),
	/** Among `others` of that variant, as in `patchedRuns`. */
	patched: number(),
	/** Runs that count. */
	baseRuns: int().positive(),
	patchedRuns: int().positive(),
	interval: intervalSchema
});
const cellVerdictSchema = discriminatedUnion("kind", [
	object({ kind: literal("regression") }),
	object({ kind: literal("no-regression") }),
	object({ kind: literal("improvement") }),
	object({ kind: literal("inconclusive") }),
	object({
		kind: literal("invalid"),
		reason: string()
	})
]);
/** How the runs of a cell are looked at, fixed before the first of them. */
const designSchema = object({
	name: _enum(designNames),
	/** Most pairs: as planned, and then of each extension; ascending. */
	budgets: array(int().positive()).min(1),
	pairsPerStep: int().positive(),
	method: _enum(["paired", "pooled"])
});
/** What earlier experiments on the testbed tell of a cell's base. */
const historySchema = object({
	runs: int().positive(),
	/** Geometric mean of the runs since the base last moved, and their number. */
	typical: number().positive(),
	typicalRuns: int().positive(),
	/** Of the natural logarithms of runs around the mean of their own experiment. */
	sumOfSquares: number().nonnegative(),
	degreesOfFreedom: int().nonnegative()
});
const baselineSchema = discriminatedUnion("kind", [
	object({ kind: literal("unknown") }),
	object({
		kind: literal("steady"),
		interval: intervalSchema
	}),
	object({
		kind: literal("moved"),
		interval: intervalSchema
	})
]);
/** Where a variant's time went in a cell, from a run of its own beside the measured ones; or why nobody knows. */
const cellProfileSchema = discriminatedUnion("kind", [object({
	kind: literal("profiled"),
	variant: string(),
	/** What was sampled, in the tool's own words: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
	event: string(),
	/** What ran on the DUT, as the profile itself recorded it. */
	kernel: string(),
	/** For which samples were taken. */
	seconds: number().positive(),
	/** Those that fell into work; shares are of these. */
	busySamples: int().positive(),
	idleSamples: int().nonnegative(),
	/** Its folded stacks, relative to the result file; beside them lies what the DUT gave. */
	file: string()
}), object({
	kind: literal("missing"),
	variant: string(),
	reason: string()
})]);
/** A function whose own cost, without that of its callees, changed beyond chance; ratios are its share of busy samples. */
const moverSchema = object({
	function: string(),
	/** The kernel or module that it is of, without its folder; absent where the profile does not tell. */
	module: string().optional(),
	baseRatio: number(),
	patchedRatio: number(),
	/** Its share of the DUT's time for each packet, in ns; absent where nothing was measured that tells it. */
	nsPerPacket: object({
		base: number(),
		patched: number()
	}).optional()
});
/** What the profiles of base and patched say of a cell. */
const reasonSchema = object({
	/** Greatest change first, at most ten; none where nothing moved beyond chance. */
	movers: array(moverSchema),
	/** All that moved beyond chance, those that found no room too. */
	moved: int().nonnegative(),
	/** Stacks with one of these were left out, as the CPU was idle in them; only those that were found. */
	idleFrames: array(string())
});
const cellResultSchema = object({
	cell: cellSchema,
	verdict: cellVerdictSchema,
	design: designSchema,
	history: historySchema.optional(),
	/** The base of this experiment against its history. */
	baseline: baselineSchema,
	/** Pairs that were there when it was decided, or when the budget was used up. */
	pairs: int().nonnegative(),
	/** The metric that was judged comes first; none where the cell is invalid for lack of runs. */
	comparisons: array(comparisonSchema),
	/**
	* Earlier diffs beside base, each by itself: shown, and not judged. Their intervals have the plain confidence level,
	* which holds where the number of runs was fixed; stopping early depends on base, and so on a part of theirs too.
	*/
	others: array(object({
		variant: string(),
		comparisons: array(comparisonSchema)
	})).default([]),
	runs: array(runSchema),
	/** One of each variant; none where profiles were not asked for. */
	profiles: array(cellProfileSchema).default([]),
	/** Absent where a profile of base or patched is missing. */
	reason: reasonSchema.optional()
});
const blastSchema = object({
	number: int().positive(),
	attempt: int().positive(),
	cell: cellSchema,
	startedAt: datetime(),
	/** How long packets flowed. */
	trafficSeconds: number().nonnegative(),
	offeredPps: number().nonnegative(),
	/** Of the CPU that was busiest on the DUT; absent where it does not tell. */
	busiestCpuRatio: number().optional(),
	/** What ran on the DUT, by its own words; absent where the variants share a kernel. */
	kernel: string().optional(),
	/** Folder of the raw logs, relative to the result file. */
	logs: string()
});
/** What a verdict is held to. */
const policySchema = object({
	metric: metricSchema,
	/** The loss that matters, as a ratio to base. */
	marginRatio: number(),
	/** Of the interval around a change, two-sided. */
	confidenceRatio: number(),
	/** A regression in any cell of a patch that loses nothing, as a share of such patches. */
	falseAlarmRatio: number(),
	/** A cell passed that lost the margin, as a share of such cells. */
	missRatio: number()
});
const message = string();
/** Why nothing can be measured with a variant. */
const rejections = [
	object({
		kind: literal("does-not-apply"),
		message
	}),
	object({
		kind: literal("build-failed"),
		message
	}),
	object({
		kind: literal("out-of-disk"),
		message
	}),
	object({
		kind: literal("does-not-load"),
		scenario: scenarioSchema,
		message
	}),
	object({
		kind: literal("boot-failed"),
		message,
		panic: string().optional()
	}),
	object({
		kind: literal("panics-under-load"),
		message,
		panic: string().optional()
	})
];
const rejectionSchema = discriminatedUnion("kind", rejections);
const outcomeSchema = discriminatedUnion("kind", [object({
	kind: literal("judged"),
	verdict: _enum([
		"regression",
		"no-regression",
		"improvement",
		"inconclusive",
		"invalid"
	]),
	cells: array(cellResultSchema).min(1)
}), ...rejections]);
const variantSummarySchema = object({
	name: string(),
	commit: string(),
	/** Overlay files as `path` and SHA-256. */
	files: array(object({
		path: string(),
		sha256: string()
	}))
});
const resultSchema = object({
	schemaVersion: literal(1),
	generator: object({
		name: literal("ppsgate"),
		version: string()
	}),
	patch: patchSchema,
	variants: array(variantSummarySchema),
	testbed: object({
		name: string(),
		/** What the DUT says of itself: kernel, CPU, interfaces, settings that matter. */
		fingerprint: record(string(), string()),
		/** What was not as it should be, and was measured all the same. */
		warnings: array(string())
	}),
	policy: policySchema,
	/** How the packets were sent, and for how long each run was measured. */
	traffic: object({
		flows: int(),
		frameBytes: int(),
		/** Absent: as fast as the sender can. */
		offeredPps: number().optional(),
		measureSeconds: number()
	}),
	/** Seed of the order of runs. */
	seed: int(),
	startedAt: datetime(),
	finishedAt: datetime(),
	blasts: array(blastSchema),
	/** Variants that could not be measured, beside base and patched, and why. */
	leftOut: array(object({
		variant: string(),
		rejection: rejectionSchema
	})).default([]),
	outcome: outcomeSchema
});

// src/report/why.ts
/** A line for each of the first cells that changed, or in which functions did, and one for how many more there are. */
function whyLines(cells, quoting, flamegraphs = () => "") {
	const told = order.flatMap((kind) => cells.filter((cell) => cell.verdict.kind === kind && deservesLine(cell)));
	const lines = told.slice(0, mostTold).map((cell) => {
		return [`**Why** (${quoting.name(cellName(cell.cell))}): ${reasonText(cell, quoting)}`, flamegraphs(cell)].filter(Boolean).join(" · ");
	});
	const rest = told.length - lines.length;
	return rest > 0 ? [...lines, `**Why** of ${rest} more cells: below`] : lines;
}
const mostTold = 3;
const order = [
	"regression",
	"improvement",
	"inconclusive",
	"invalid",
	"no-regression"
];
function deservesLine(cell) {
	if (!isProfiled(cell)) return false;
	const { kind } = cell.verdict;
	return kind === "regression" || kind === "improvement" || cell.reason?.movers[0] !== void 0;
}
/** Whether base or patched was to be profiled, whatever came of it. */
const isProfiled = (cell) => judgedProfiles(cell).length > 0;
const judgedProfiles = ({ profiles }) => profiles.filter(({ variant }) => isJudged(variant));
const mostNamed = 3;
function reasonText(cell, quoting) {
	const { reason } = cell;
	if (reason === void 0) return missingTexts(cell, quoting).join(", ") || "not compared";
	if (reason.movers.length === 0) return unmoved;
	const named = reason.movers.slice(0, mostNamed).map((mover) => `${functionName(mover, quoting)} ${changeText(mover)}`);
	const rest = reason.moved - named.length;
	return [...named, ...rest > 0 ? [`${rest} more`] : []].join(", ");
}
const unmoved = "no function changed beyond chance";
const missingTexts = (cell, { code }) => judgedProfiles(cell).flatMap((profile) => profile.kind === "missing" ? `there is no profile of ${profile.variant}: ${code(profile.reason, 300)}` : []);
/** How long names of functions are cut. */
const functionName = (mover, { code }) => code(mover.function, 80);
/** `+3.1 % of cycles (9.3 → 12.4; +38.2 ns per packet)`. */
function changeText({ baseRatio, patchedRatio, nsPerPacket }) {
	const shares = `${formatShare(baseRatio)} → ${formatShare(patchedRatio)}`;
	const time = nsPerPacket ? `; ${nanosecondsText(nsPerPacket)} per packet` : "";
	return `${formatDifference((patchedRatio - baseRatio) * 100)} % of cycles (${shares}${time})`;
}
/** `+38.2 ns`. */
const nanosecondsText = ({ base, patched }) => `${formatDifference(patched - base)} ns`;
/** What the reason of a cell rests on: `5,932 samples of base, 6,010 samples of patched, left out as idle: cpu_idle`. */
function groundsText(cell, quoting) {
	const { reason } = cell;
	const idle = reason?.idleFrames.map((frame) => quoting.code(frame, 80)) ?? [];
	const rest = reason === void 0 ? 0 : reason.moved - reason.movers.length;
	return [
		...judgedProfiles(cell).flatMap((profile) => profile.kind === "profiled" ? `${grouped(profile.busySamples)} samples of ${profile.variant}` : []),
		...missingTexts(cell, quoting),
		...idle.length > 0 ? [`left out as idle: ${idle.join(" ")}`] : [],
		...reason?.movers.length === 0 ? [unmoved] : [],
		...rest > 0 ? [`${rest} functions more than are named`] : []
	].join(", ");
}
/** `flamegraphs: base · patched · difference`, each linked, as far as there are such; empty where there is none. */
function flamegraphsText(cell, links, link) {
	const linked = graphNames(cell).flatMap((which) => {
		const anchor = flamegraphAnchor(cell.cell, which);
		const address = links.graph?.(anchor) ?? (links.page && `${links.page}#${anchor}`);
		return address ? link(which, address) : [];
	});
	return linked.length > 0 ? `flamegraphs: ${linked.join(" · ")}` : "";
}
function graphNames(cell) {
	const names = judgedProfiles(cell).flatMap(({ kind, variant }) => kind === "profiled" ? variant : []);
	return names.length > 1 ? [...names, "difference"] : names;
}

// src/report/markdown.ts
/** GitHub refuses a comment of more characters; what ours remembers of earlier pushes needs some. */
const mostCharacters = 53248;
/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
function renderMarkdown(result, links = {}) {
	const { outcome } = result;
	const main = outcome.kind === "judged" ? [
		setting(result),
		...verdictTable(result, outcome.cells),
		...whyLines(outcome.cells, markdown, (cell) => flamegraphsText(cell, links, graphLink))
	] : [setting(result), failure(outcome)];
	const parts = outcome.kind === "judged" ? [
		...movedBaselines(outcome.cells),
		...leftOut(result),
		...otherMetrics(result, outcome.cells),
		...uncounted(outcome.cells),
		...standingApart(outcome.cells),
		...warnings(result),
		...notes(result),
		environment(result),
		howToRead(result),
		...why(outcome.cells, links),
		...ministatBlocks(result, outcome.cells)
	] : [
		...leftOut(result),
		...warnings(result),
		...notes(result),
		environment(result)
	];
	const said = (links.corrections ?? []).map((sentence) => codeSpan(sentence, 500));
	const corrections = folded("said otherwise where it was measured, and not believed", said);
	return fitted([`### ${headline(result)}`, ...main], [...corrections, ...parts], footer(links));
}
const markdown = {
	code: codeSpan,
	name: (name) => name
};
/** Where and how it was measured, on one line. */
function setting(result, quoting = markdown) {
	const { testbed, traffic, blasts } = result;
	const { cpu, kernel } = testbed.fingerprint;
	const [own, cpuName] = [kernel, cpu].map((text) => text && quoting.code(text));
	const hasKernels = blasts.some((blast) => blast.kernel !== void 0);
	const [measured = hasKernels ? void 0 : own] = kernelsOf(result, quoting).get("base") ?? [];
	const hardware = [cpuName, measured].filter((text) => text !== void 0);
	const parts = [quoting.code(testbed.name) + (hardware.length ? ` (${hardware.join(", ")})` : "")];
	if (blasts.length > 0) {
		const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
		const asked = traffic.offeredPps === void 0 ? "" : `${formatPps(traffic.offeredPps)} asked for, `;
		const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1e3;
		parts.push(`${grouped(traffic.flows)} flows of ${frameSizes(result)} UDP, ${asked}up to ${formatPps(sent)} sent`, `${formatDuration(seconds)}`);
	}
	return parts.join(" · ");
}
/** `64- and 66-byte`: as they were sent, for not every family fits the smallest. */
function frameSizes({ blasts, traffic }) {
	const sizes = [...new Set(blasts.map(({ cell }) => frameBytesFor(traffic, cell)))].toSorted((a, b) => a - b);
	const last = `${sizes.pop()}-byte`;
	if (sizes.length > 10) return `${sizes[0]}- to ${last}`;
	return [sizes.map((size) => `${size}-`).join(", "), last].filter(Boolean).join(" and ");
}
const verdictTable = (result, cells) => [rule(result.policy), table(result, cells, result.policy.metric)];
/** What the cells are judged by. */
const rule = ({ metric, marginRatio, falseAlarmRatio }) => `Judged by ${metricName(metric)} · a loss of ${formatPercent(marginRatio)} or more matters · false alarms ≤ ${formatPercent(falseAlarmRatio)}`;
function table(result, cells, metric) {
	const confidence = formatPercent(result.policy.confidenceRatio);
	const judged = metric === result.policy.metric;
	const columns = [
		"cell",
		"base",
		"patched",
		"change",
		`${confidence} interval`,
		"runs"
	];
	const header = judged ? [`| ${columns.join(" | ")} | verdict |`, "|---|--:|--:|--:|:-:|--:|---|"] : [`| ${columns.join(" | ")} |`, "|---|--:|--:|--:|:-:|--:|"];
	const rows = rowsThatFit(cells, (cell) => rowsOfCell(cell, metric, judged));
	return [...header, ...rows].join("\n");
}
/** The worst cells first when there is no room for all, and below them how many are left out. */
function rowsThatFit(cells, toRow) {
	const inOrder = fittingRows(cells, toRow);
	if (inOrder.length === cells.length) return inOrder;
	const worst = fittingRows(worstFirst(cells), toRow);
	const rest = cells.length - worst.length;
	return [
		...worst,
		"",
		`${rest} more cells, none of them worse, are in \`result.json\`.`
	];
}
const mostRows = 100;
/** A reason of a hundred backticks needs three hundred characters. */
const mostRowCharacters = 4e4;
function fittingRows(cells, toRow) {
	const rows = [];
	let room = mostRowCharacters;
	for (const cell of cells.slice(0, mostRows)) {
		const next = toRow(cell);
		room -= next.length + 1;
		if (room < 0) break;
		rows.push(next);
	}
	return rows;
}
const severity = [
	"regression",
	"invalid",
	"inconclusive",
	"improvement",
	"no-regression"
];
const worstFirst = (cells) => cells.toSorted((a, b) => severity.indexOf(a.verdict.kind) - severity.indexOf(b.verdict.kind));
/** The symbol stands first: on a phone the last columns are out of sight. Below a cell stand its other variants. */
function rowsOfCell({ cell, verdict, comparisons, others }, metric, judged) {
	return [row(judged ? `${symbols[verdict.kind]} ${cellName(cell)}` : cellName(cell), comparisons, metric, judged && verdictText(verdict)), ...others.map((other) => row(`↳ ${codeSpan(other.variant)}`, other.comparisons, metric, judged && "not judged"))].join("\n");
}
/** `verdict` is false where the metric was not judged. */
function row(name, comparisons, metric, verdict) {
	const columns = [
		name,
		...numbers(comparisons, metric, verdict !== false),
		...verdict === false ? [] : [verdict]
	];
	return tableRow(columns);
}
const tableRow = (columns) => `| ${columns.map((column) => column.replaceAll("|", "\\|")).join(" | ")} |`;
/** Base, patched, change, interval and runs, each kept to one line; a change that is clear is written by `bold`. */
function numbers(comparisons, metric, judged, bold = (text) => `**${text}**`) {
	return numbersOf(comparisons.find((one) => one.metric === metric) ?? (judged ? comparisons[0] : void 0), bold).map(unbroken);
}
const unbroken = (text) => text.replaceAll(" ", "\xA0");
function numbersOf(comparison, bold) {
	if (comparison === void 0) return [
		"–",
		"–",
		"–",
		"–",
		"–"
	];
	const { metric, base, patched, interval, baseRuns, patchedRuns } = comparison;
	const clear = interval.low > 0 || interval.high < 0;
	const change = formatChange(interval.change);
	return [
		formatMetric(base, metric),
		formatMetric(patched, metric),
		clear ? bold(change) : change,
		formatInterval(interval.low, interval.high),
		`${baseRuns} + ${patchedRuns}`
	];
}
const symbols = {
	regression: "🔴",
	improvement: "🟢",
	"no-regression": "🟢",
	inconclusive: "🟡",
	invalid: "⚪"
};
function verdictText(verdict) {
	const reason = verdict.kind === "invalid" ? `: ${codeSpan(verdict.reason, 200)}` : "";
	return `${verdict.kind}${reason}`;
}
const failure = (outcome) => `${failureText(outcome)}\n\n${codeBlock(failureSaid(outcome))}`;
/** The message, and what the kernel died of. */
function failureSaid(outcome) {
	const panic = "panic" in outcome && outcome.panic !== void 0 ? `panic: ${outcome.panic}` : "";
	return [outcome.message, panic].filter(Boolean).join("\n");
}
function failureText(outcome, { name } = markdown) {
	switch (outcome.kind) {
		case "does-not-apply": return "The patch does not apply, and nothing was measured:";
		case "build-failed": return "The base builds, the patched kernel does not; nothing was measured. The build says first:";
		case "out-of-disk": return "The patch is not to blame; free some space and run again:";
		case "does-not-load": return `The base loads, the patched files do not (${name(outcome.scenario)}); nothing was measured. The DUT says:`;
		case "boot-failed": return "The patched kernel does not come up, and nothing was measured with it. The DUT is back on its own kernel:";
		case "panics-under-load": return "The patched kernel panicked twice in the same blast, and no verdict was reached. The DUT is back on its own kernel:";
	}
}
function otherMetrics(result, cells) {
	return otherMetricsOf(result.policy, cells).map((metric) => details(metricName(metric), table(result, cells, metric)));
}
/** What was measured beside what was judged. */
const otherMetricsOf = ({ metric }, cells) => metricSchema.options.filter((other) => other !== metric && cells.some(({ comparisons }) => comparisons.some((one) => one.metric === other)));
/** All functions that moved, by cell. */
function why(cells, links) {
	const profiled = cells.filter(isProfiled);
	if (profiled.length === 0) return [];
	const sections = rowsThatFit(profiled, (cell) => `${whyOfCell(cell, links)}\n`);
	return [details("why", sections.join("\n").trimEnd())];
}
function whyOfCell(cell, links) {
	const head = [`${cellName(cell.cell)}: ${groundsText(cell, markdown)}`, flamegraphsText(cell, links, graphLink)].filter(Boolean).join(" · ");
	const movers = cell.reason?.movers ?? [];
	return movers.length === 0 ? head : `${head}\n\n${moverTable(movers)}`;
}
const moverTable = (movers) => [
	"| function | module | base | patched | change | per packet |",
	"|---|---|--:|--:|--:|--:|",
	...movers.map(moverRow)
].join("\n");
function moverRow(mover) {
	const { module, baseRatio, patchedRatio, nsPerPacket } = mover;
	const numbers = [
		`${formatShare(baseRatio)} %`,
		`${formatShare(patchedRatio)} %`,
		formatDifference((patchedRatio - baseRatio) * 100),
		nsPerPacket === void 0 ? "–" : nanosecondsText(nsPerPacket)
	].map(unbroken);
	return tableRow([
		functionName(mover, markdown),
		module ? codeSpan(module, 80) : "–",
		...numbers
	]);
}
/** One fold each, so that it can be left out alone. */
const ministatBlocks = (result, cells) => ministats(result.policy, cells).map(({ name, note, text }) => {
	const block = codeBlock(text, 6e3);
	return details(name, note === void 0 ? block : `${note}\n\n${block}`);
});
/** What people paste into mail: patched of each cell against base, and then its earlier diffs against base. */
const ministats = (policy, cells) => [...cells.flatMap((cell) => ministatOfPatched(policy, cell)), ...cells.flatMap((cell) => ministatOfOthers(policy, cell))];
function ministatOfPatched(policy, cell) {
	const [base, patched] = ministatSets(cell, ["base", "patched"], policy.metric);
	if (base === void 0 || patched === void 0) return [];
	const text = ministat([base, patched], policy);
	return [{
		name: `ministat: ${cellName(cell.cell)}`,
		note: ministatNote(cell),
		text
	}];
}
/** Each of them against base. */
function ministatOfOthers(policy, cell) {
	const names = cell.others.slice(0, mostOthers).map(({ variant }) => variant);
	const [base, ...others] = ministatSets(cell, ["base", ...names], policy.metric);
	if (base?.variant !== "base" || others.length === 0) return [];
	return [{
		name: `ministat of earlier diffs: ${cellName(cell.cell)}`,
		text: ministat([base, ...others], policy)
	}];
}
/** With base as many sets as ministat has symbols for. */
const mostOthers = 6;
/** Those of enough runs for a spread. */
const ministatSets = (cell, variants, metric) => variants.map((variant) => ({
	variant,
	name: `${variant}, ${cellName(cell.cell)}`,
	values: valuesOf(cell, variant, metric)
})).filter(({ values }) => values.length >= 3);
function ministat(sets, { confidenceRatio }) {
	const confidencePercent = ministatConfidence(confidenceRatio);
	return renderMinistat(sets, {
		separateBars: true,
		confidencePercent
	});
}
/** What tells the classic block from the table above it. */
function ministatNote({ design }) {
	return `ministat takes the runs to be independent${design.name === "fixed" ? "" : " and to be as many as were planned, so its error is too small where the experiment stopped early"}${design.method === "paired" ? ", while the table compares neighbouring runs, so that what slows both alike cancels" : ""}.`;
}
function valuesOf(cell, variant, metric) {
	const counted = cell.runs.filter((run) => run.variant === variant && run.validity.kind === "valid");
	return Float64Array.from(counted.flatMap((run) => run[metric] ?? []));
}
const ministatConfidence = (ratio) => confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;
const uncounted = (cells) => folded("runs that do not count", uncountedLines(cells));
/** Runs that were measured and do not count, by cause. */
const uncountedLines = (cells, { code, name } = markdown) => cells.flatMap(({ cell, runs }) => {
	const faults = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity : []);
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
		const [first, ...others] = group.map(({ reason }) => reason);
		const like = others.some((reason) => reason !== first) ? "the first of them: " : "";
		const count = `${group.length} of ${runs.length} runs`;
		return `${name(cellName(cell))}: ${count}, ${like}${code(first ?? "")}`;
	});
});
const standingApart = (cells) => folded("runs that stand apart, and count", standingApartLines(cells));
/** Single runs far from the others: they count, and each was repeated once. */
const standingApartLines = (cells, { code, name } = markdown) => cells.flatMap(({ cell, design, runs }) => (design.method === "pooled" ? runsApart(runs.filter(isOfVerdict)) : []).map(({ number, variant, pps }) => `${name(cellName(cell))}: run ${number} of ${code(variant)}, ${formatPps(pps)}`));
const isOfVerdict = ({ variant }) => isJudged(variant);
/** Not the patch's doing: whoever looks after the testbed or the branch wants to know. */
function movedBaselines(cells, quoting = markdown) {
	const lines = movedBaselineLines(cells, quoting);
	if (lines.length === 0) return [];
	return [`⚠️ **baseline moved**, which is not held against the patch:\n${bullets(lines)}`];
}
/** Of every cell whose base is not what it was. */
const movedBaselineLines = (cells, { name } = markdown) => cells.flatMap(({ cell, baseline }) => {
	if (baseline.kind !== "moved") return [];
	const { change, low, high } = baseline.interval;
	return `${name(cellName(cell))}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`;
});
function environment(result) {
	const { patch } = result;
	const patchLine = `patch: ${patchText(patch)} by ${codeSpan(patch.author)}`;
	return details("environment", bullets([patchLine, ...environmentLines(result)]));
}
/** What was run, on what, and in which order. */
function environmentLines(result, quoting = markdown) {
	const { variants, testbed, seed, generator } = result;
	const { code } = quoting;
	const kernels = kernelsOf(result, quoting);
	return [
		...variants.map(({ name, commit }) => [`${code(name)}: commit ${code(commit)}`, ...kernels.get(name) ?? []].join(", ")),
		...Object.entries(testbed.fingerprint).map(([key, value]) => `${code(key)}: ${code(value)}`),
		`order of runs: seed ${seed}`,
		`${generator.name} ${code(generator.version)}`
	];
}
function patchText(patch) {
	const title = codeSpan(patch.title);
	if (patch.kind !== "revision") return title;
	return `${link(patchName(patch), patch.url)} diff ${patch.diff}, ${title}`;
}
/** The text alone where the address is none of a page. */
function link(text, address) {
	const url = pageUrl(address);
	return url === void 0 ? text : `[${text}](${url})`;
}
/** To a page, or a file beside the report. */
const graphLink = (text, address) => /^\w[\w./-]*$/.test(address) ? `[${text}](${address})` : link(text, address);
/** Without what a markup could take for the address's end, or for markup in it; undefined where it is none of a page. */
function pageUrl(address) {
	const url = URL.parse(address);
	if (url === null || !["http:", "https:"].includes(url.protocol)) return void 0;
	return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}
const percentEncoded = (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
/** What ran where variants are kernels of their own, which a report had better not get wrong. */
function kernelsOf({ blasts, outcome }, { code }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const variantOf = new Map(runs.map((run) => [run.blast, run.variant]));
	const found = blasts.flatMap(({ number, kernel }) => kernel === void 0 ? [] : {
		variant: variantOf.get(number) ?? "",
		kernel
	});
	return new Map([...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [variant, [...new Set(group.map(({ kernel }) => code(kernel)))]]));
}
const warnings = ({ testbed }) => folded("settings of the DUT that do not hold", testbed.warnings.map((warning) => codeSpan(warning, 300)));
const notes = ({ patch }) => folded("notes on the revision", notesOf(patch).map((note) => codeSpan(note, 300)));
/** What is told of a revision: how its base was found, and what of it was not taken. */
const notesOf = (patch) => patch.kind === "revision" ? patch.notes : [];
/** Nothing that counts against the patch, but a row that a reader may miss. */
function leftOut(result, quoting = markdown) {
	const lines = leftOutLines(result, quoting);
	if (lines.length === 0) return [];
	return [`Left out of the comparison, which is not held against the patch:\n${bullets(lines)}`];
}
/** Of every variant that could not be measured beside base and patched. */
const leftOutLines = ({ leftOut }, { code } = markdown) => leftOut.map(({ variant, rejection }) => {
	const panic = "panic" in rejection && rejection.panic ? ` (panic: ${code(rejection.panic)})` : "";
	return `${code(variant)} ${rejectionText(rejection)}: ${code(rejection.message, 300)}${panic}`;
});
function howToRead(result) {
	const meanings = verdictMeanings(result.policy).map(([verdict, meaning]) => `**${verdict}**: ${meaning}`);
	return details("how to read this", [...howToReadTexts(result), bullets(meanings)].join("\n\n"));
}
/** How the numbers came about, a paragraph each. */
function howToReadTexts({ policy, variants }) {
	const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = policy;
	const confidence = formatPercent(confidenceRatio);
	const alone = variants.every(({ name }) => isJudged(name));
	return [`Runs of base and patched alternate, and each cell ends as soon as its runs tell. The interval holds the true change in ${confidence} of experiments or more, wherever they end; patched is base with the change. Of patches that lose nothing at most ${formatPercent(falseAlarmRatio)} are called a regression in any cell, and of cells that lose ${formatPercent(marginRatio)} at most ${formatPercent(missRatio)} are passed.`, ...alone ? [] : [`Earlier diffs (↳) are measured in the same rounds and compared with base, each by itself; its number stands in the column of patched. They decide neither the verdict nor how many runs there are, so their ${confidence} intervals are those of a fixed number of runs, and hold a little less often where a cell ended early.`]];
}
function verdictMeanings({ marginRatio }) {
	const margin = formatPercent(marginRatio);
	return [
		["regression", `surely a loss, and ${margin} is not excluded`],
		["improvement", "the mirror image"],
		["no-regression", `a loss of ${margin} is excluded`],
		["inconclusive", `neither; more runs would tell, with \`ppsgate gate --resume DIR --max-runs N\``],
		["invalid", "too few runs count, so nothing is said"]
	];
}
function footer({ rerun, rawData, page }) {
	const parts = [
		rerun && `Rerun: ${rerun}`,
		rawData && `Raw data: ${rawData}`,
		page && link("the whole report", page)
	].filter(Boolean);
	return parts.length > 0 ? `<sub>${parts.join(" · ")}</sub>` : "";
}
const details = (summary, body) => `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
/** Nothing where there are no lines. */
const folded = (summary, lines) => lines.length > 0 ? [details(summary, bullets(lines))] : [];
const bullets = (lines) => lines.map((line) => `- ${line}`).join("\n");
const inCharacters = (text) => text.length;
/** Keeps what fits of the parts, in their order, and says how many there was no room for; `sizeOf` is what may be `most`. */
function fitted(main, parts, end, { most, sizeOf } = {
	most: mostCharacters,
	sizeOf: inCharacters
}) {
	const kept = [];
	let room = most - sizeOf([...main, end].join("\n\n")) - 200;
	for (const part of parts) {
		const size = sizeOf(part) + 2;
		if (size > room) continue;
		room -= size;
		kept.push(part);
	}
	const missing = parts.length - kept.length;
	const notice = missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
	return `${[
		...main,
		...kept,
		...notice,
		end
	].filter(Boolean).join("\n\n")}\n`;
}

export { whyLines as A, headline as B, verdictMeanings as C, functionName as D, flamegraphsText as E, policySchema as F, commitId as G, rejectionText as H, rejectionSchema as I, patchName as K, resultSchema as L, cellProfileSchema as M, designSchema as N, groundsText as O, historySchema as P, runSchema as R, uncountedLines as S, changeText as T, sentence as U, outcomeName as V, verdictLine as W, rowsThatFit as _, howToReadTexts as a, standingApartLines as b, leftOutLines as c, movedBaselines as d, notesOf as f, renderMarkdown as g, pageUrl as h, fitted as i, blastSchema as j, isProfiled as k, ministats as l, otherMetricsOf as m, failureSaid as n, kernelsOf as o, numbers as p, patchSchema as q, failureText as r, leftOut as s, environmentLines as t, movedBaselineLines as u, rule as v, worstFirst as w, symbols as x, setting as y, runsApart as z };