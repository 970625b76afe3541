import { _enum, array, boolean, datetime, discriminatedUnion, int, literal, number$1 as number, object, record, string, url } from "./vendor/zod.js";
import { setTimeout } from "node:timers/promises";

// src/model/conclusion.ts
/** Each conclusion as the number that a program ends with. */
const exitCodes = {
	pass: 0,
	patchAtFault: 1,
	/** The request cannot be carried out. */
	usage: 2,
	undecided: 3,
	/** The lab kept it from being said. */
	infrastructure: 4,
	cancelled: 130
};
function conclusionOfResult({ outcome }) {
	switch (outcome.kind) {
		case "judged": return conclusionOfVerdict(outcome.verdict);
		case "unchanged": return "pass";
		case "out-of-disk": return "infrastructure";
		default: return "patchAtFault";
	}
}
/** Passes where a bisection names commits, one or a few, that changed the rate. */
function conclusionOfBisection({ answer }) {
	switch (answer.kind) {
		case "culprit":
		case "group":
		case "several": return "pass";
		case "not-reproduced":
		case "slide":
		case "inconclusive": return "undecided";
	}
}
/** The worst of several gates of one patch: the patch's own fault weighs most, a pass least. */
const worstConclusion = (conclusions) => byWeight.find((conclusion) => conclusions.includes(conclusion)) ?? "pass";
const byWeight = [
	"patchAtFault",
	"infrastructure",
	"undecided"
];
function conclusionOfVerdict(verdict) {
	switch (verdict) {
		case "no-regression":
		case "improvement": return "pass";
		case "regression": return "patchAtFault";
		case "inconclusive":
		case "invalid": return "undecided";
	}
}
/** An error that is not of the lab says so itself, by a property `conclusion`. */
function conclusionOfError(error) {
	if (!(error instanceof Error && "conclusion" in error)) return "infrastructure";
	const { conclusion } = error;
	return isConclusion(conclusion) ? conclusion : "infrastructure";
}
const isConclusion = (value) => typeof value === "string" && Object.hasOwn(exitCodes, value);

// src/model/one-line.ts
/** Returns the message of an error, or of any other thrown value, on one line. */
function reasonOf(error) {
	if (!(error instanceof Error)) return oneLine(String(error));
	if (error.message === "" && "code" in error) return String(error.code);
	return oneLine(error.message);
}
/** A command as a message names it. */
function shortened$1(text) {
	const line = oneLine(text);
	return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
/** The last that is not blank; undefined where all are. */
const lastLine = (text) => text.split("\n").map(oneLine).findLast(Boolean);
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

// src/model/patch.ts
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
	/** URL of Phabricator, without a slash at its end. */
	server: url(),
	/** 27401 of D27401. */
	number: int().positive(),
	/** Id of the diff, which is another one for each update of the author. */
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
/** The id of a commit as people write it, as git shows it in a large repository, and as names of variants have it. */
const shortId = (commit) => commit.slice(0, 12);
const patchSchema = discriminatedUnion("kind", [
	pullRequest,
	revision,
	range
]);
/** Returns the short name of a patch: `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
function patchName(patch) {
	switch (patch.kind) {
		case "pull-request": return `#${patch.number}`;
		case "revision": return `D${patch.number}`;
		case "range": return `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
	}
}

// src/model/scenario.ts
/** Scenarios of the DUTs of each system. */
const scenariosOf = {
	linux: [
		"forwarding",
		"nftables-stateless",
		"nftables-stateful"
	],
	freebsd: [
		"forwarding",
		"pf-stateless",
		"pf-stateful",
		"ipfw-stateless",
		"ipfw-stateful"
	]
};
/** Scenarios that ppsgate brings. */
const scenarios = [.../* @__PURE__ */ new Set([...scenariosOf.linux, ...scenariosOf.freebsd])];
const families = ["inet4", "inet6"];
/** It stands in Markdown as it is, so GitHub must not make a link of it. */
const scenarioSchema = string().regex(/^(?!.*(?:[wW]{3}\.|[gG][hH]-\d))[a-zA-Z0-9][\w.-]{0,62}$/);
/** A site's own rules for a FreeBSD firewall: pf.conf(5), or ipfw(8)'s commands without its name. */
const ownRulesSchema = object({
	firewall: _enum(["pf", "ipfw"]),
	text: string(),
	/** A trial that then leaves no state for each flow was not measured under these rules. */
	keepsStates: boolean()
});
const familySchema = _enum(families);
const cellSchema = object({
	scenario: scenarioSchema,
	family: familySchema,
	/** Size of the frames with their 4 bytes of CRC; only where several sizes are measured. */
	frameBytes: int().optional()
});
/** `nftables-stateful inet6`, or `forwarding inet4 1518 B`: how a cell is called in tables, and the key of its runs. */
const cellName = ({ scenario, family, frameBytes }) => [
	scenario,
	family,
	frameBytes && `${frameBytes} B`
].filter(Boolean).join(" ");
const isLinuxScenario = (scenario) => scenariosOf.linux.some((name) => name === scenario);

// src/model/rejection.ts
const message = string();
const crashEvidence = {
	/** Panic message of the kernel, where it is known. */
	panic: string().optional(),
	/** Up to 20 lines of the DUT's console, where it is recorded: from a panic on, or the last ones. */
	console: string().optional()
};
/** Each by itself, for a larger union. */
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
		...crashEvidence
	}),
	object({
		kind: literal("panics-under-load"),
		message,
		...crashEvidence
	})
];
const rejectionSchema = discriminatedUnion("kind", rejections);

// src/model/result.ts
const metricSchema = _enum([
	"pps",
	"nsPerPacket",
	"instructionsPerPacket"
]);
const validitySchema = discriminatedUnion("kind", [object({ kind: literal("valid") }), object({
	kind: literal("invalid"),
	cause: _enum([
		"broken-log",
		"too-short",
		"unsteady",
		"hole",
		"generator-limited",
		"receiver-limited",
		"machine-busy"
	]),
	/** A sentence for people, with the numbers. */
	reason: string()
})]);
/** One variant installed once and measured once: a number per metric, and the samples that it comes from. */
const runSchema = object({
	number: int().positive(),
	trial: int().positive(),
	/** Number of the attempt: a trial with an invalid run is repeated, and all attempts are kept. */
	attempt: int().positive(),
	/** The runs of one pair follow each other among those of their cell, one of each variant. */
	pair: int().positive(),
	variant: string(),
	/**
	* Layout of the variant's kernel that was booted: the same objects in another order of sections. The number is the seed
	* of that order, and 1 the linker's own; absent where the kernel was linked but once.
	*/
	layout: int().positive().optional(),
	/** Packets per second that left the DUT: the median of the samples. A run that counts may have 0, see `docs/reading-a-report.md`. */
	pps: number().nonnegative(),
	/** CPU time of the DUT's forwarding thread per packet, in ns: the median of the samples; absent where the DUT cannot tell. */
	nsPerPacket: number().positive().optional(),
	/** Instructions that the guest executed for each packet it forwarded; absent where they are not counted. */
	instructionsPerPacket: number().positive().optional(),
	samples: array(object({
		seconds: number().positive(),
		receivedPackets: int().nonnegative(),
		forwardedPackets: int().nonnegative(),
		/** CPU time of the DUT's forwarding thread, in seconds. */
		busySeconds: number().nonnegative().optional(),
		/** Time in which the forwarding thread was due and its CPU was given to others. */
		deniedSeconds: number().nonnegative().optional(),
		/** Instructions that the guest executed. */
		instructions: int().nonnegative().optional()
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
* Compares one metric of a cell; absolute values in packets per second, or in ns or instructions per packet. The change of
* patched is freed of the bias of stopping early, and its interval holds whichever look the experiment stopped at.
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
/** By how much they weigh among the cells of a patch: what keeps it from passing comes first. */
const verdictsWorstFirst = [
	"regression",
	"invalid",
	"inconclusive",
	"improvement",
	"no-regression"
];
const cellVerdictSchema = discriminatedUnion("kind", [
	object({ kind: literal("regression") }),
	object({ kind: literal("no-regression") }),
	object({ kind: literal("improvement") }),
	object({
		kind: literal("inconclusive"),
		/** The cell was open when another was found to lose, which ended the experiment: see `gate.stopAtFirst`. */
		isStopped: literal(true).exactOptional()
	}),
	object({
		kind: literal("invalid"),
		reason: string()
	})
]);
const designNames = [
	"fixed",
	"group-sequential",
	"glr"
];
/** Design of a cell's interim analyses, fixed before its first run. */
const designSchema = object({
	name: _enum(designNames),
	/** Most pairs: as planned, and then of each extension; ascending. */
	budgets: array(int().positive()).min(1),
	pairsPerStep: int().positive(),
	method: _enum(["paired", "pooled"])
});
/** Base of a cell in earlier experiments on the testbed. */
const historySchema = object({
	runs: int().positive(),
	/** Geometric mean of the runs since the base last moved, and their number. */
	typical: number().positive(),
	typicalRuns: int().positive(),
	/** Sum of the squares by which natural logarithms of runs are off the mean of their own experiment. */
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
/** Profile of a variant in a cell, from a run of its own beside the measured ones; or why there is none. */
const cellProfileSchema = discriminatedUnion("kind", [object({
	kind: literal("profiled"),
	variant: string(),
	/** Sampled event, in the tool's own words: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
	event: string(),
	/** Kernel on the DUT, as the profile itself recorded it. */
	kernel: string(),
	seconds: number().positive(),
	/** Samples in work; shares are of these. */
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
const changedFunctionSchema = object({
	function: string(),
	/** The kernel or module that it is of, without its folder; absent where the profile does not tell. */
	module: string().optional(),
	baseRatio: number(),
	patchedRatio: number(),
	/** Its share of the DUT's time for each packet, in ns; absent where nothing was measured that tells it. */
	nsPerPacket: object({
		base: number(),
		patched: number()
	}).optional(),
	/** Its share of the instructions for each packet, where these were counted and sampled; then it has no `nsPerPacket`. */
	instructionsPerPacket: object({
		base: number(),
		patched: number()
	}).optional()
});
/** Differences between the profiles of base and patched in a cell. */
const reasonSchema = object({
	/** Greatest change first, at most ten; none where nothing moved beyond chance. */
	changedFunctions: array(changedFunctionSchema),
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
	/** The metric that was judged comes first, then the others that were measured; none where the cell is invalid for lack of runs. */
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
const trialSchema = object({
	number: int().positive(),
	attempt: int().positive(),
	cell: cellSchema,
	startedAt: datetime(),
	trafficSeconds: number().nonnegative(),
	offeredPps: number().nonnegative(),
	/** Busy share of the CPU that was busiest on the DUT; absent where it does not tell. */
	busiestCpuRatio: number().optional(),
	/** Packets that left the DUT towards the receiver, as its own port counts them; absent where it does not tell. */
	egressPackets: int().nonnegative().optional(),
	/** Packets that came to the DUT's port from the senders, dropped ones too, by its own count; absent where it does not tell. */
	ingressPackets: int().nonnegative().optional(),
	/** Kernel on the DUT, as it reports itself; absent where the variants share a kernel. */
	kernel: string().optional(),
	/** The same of each variant by its name, where guests ran them side by side. */
	kernels: record(string(), string()).exactOptional(),
	/** Folder of the raw logs, relative to the result file. */
	logs: string()
});
/** Policy of a verdict. */
const policySchema = object({
	metric: metricSchema,
	/** The loss that matters, as a ratio to base. */
	marginRatio: number(),
	/** Confidence of the interval around a change, two-sided; since verdicts rest on it, 1 − 2 × `missRatio`. */
	confidenceRatio: number(),
	/** A regression in any cell of a patch that loses nothing, as a share of such patches. */
	falseAlarmRatio: number(),
	/** A cell passed that lost the margin, as a share of such cells. */
	missRatio: number(),
	/** The first cell that is found to lose ends the runs of all others; absent: each is measured to its own end. */
	stopsAtFirst: literal(true).exactOptional()
});
/** More would not be read. */
const maxIgnoredPaths = 20;
const outcomeSchema = discriminatedUnion("kind", [
	object({
		kind: literal("judged"),
		verdict: _enum([
			"regression",
			"no-regression",
			"improvement",
			"inconclusive",
			"invalid"
		]),
		cells: array(cellResultSchema).min(1)
	}),
	object({
		kind: literal("unchanged"),
		/** Places in the tree, as the gate has them, of changed files that count on other testbeds, or are said not to count. */
		ignoredPaths: array(string().regex(/^[\w+.*@/-]{1,200}$/)).min(1).max(20).exactOptional()
	}),
	...rejections
]);
const variantSummarySchema = object({
	name: string(),
	commit: string(),
	/** Path in the repository of the folder that the overlay files lie in, empty for its top; absent where none are installed. */
	folder: string().optional(),
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
		/** Facts of the DUT: kernel, CPU, interfaces, settings that matter. */
		fingerprint: record(string(), string()),
		/** Settings that did not hold while it was measured all the same. */
		warnings: array(string())
	}),
	policy: policySchema,
	/** Packets as they were sent, and the measured seconds of each run. */
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
	trials: array(trialSchema),
	/** Variants that could not be measured, beside base and patched, and why. */
	leftOut: array(object({
		variant: string(),
		rejection: rejectionSchema
	})).default([]),
	outcome: outcomeSchema
});
const isCost = (metric) => metric !== "pps";
/** Checks for a loss: fewer packets per second, or a higher cost of each. */
const isLoss = ({ metric }, change) => isCost(metric) ? change > 0 : change < 0;
/** Something of each metric. */
const byMetric = (of) => ({
	pps: of("pps"),
	nsPerPacket: of("nsPerPacket"),
	instructionsPerPacket: of("instructionsPerPacket")
});

// src/model/format.ts
/** `4.982 Mpps`, `805.3 kpps`. */
function formatPps(pps) {
	if (pps >= 1e6) return `${fourDigits(pps / 1e6)} Mpps`;
	return pps >= 1e3 ? `${fourDigits(pps / 1e3)} kpps` : `${fourDigits(pps)} pps`;
}
/** `1,057 ns`. */
const formatNanoseconds = (ns) => `${grouped(Number(ns.toPrecision(4)))} ns`;
/** `8,314`, of instructions. */
const formatCount = (count) => grouped(count < 1e3 ? Number(count.toPrecision(4)) : Math.round(count));
const formatMetric = (value, metric) => formats[metric](value);
const formats = {
	pps: formatPps,
	nsPerPacket: formatNanoseconds,
	instructionsPerPacket: (count) => `${formatCount(count)} instructions`
};
/** The same at an axis, where there is no room for a word: `8,314`. */
const formatTick = (value, metric) => metric === "instructionsPerPacket" ? formatCount(value) : formatMetric(value, metric);
const metricNouns = {
	pps: "packets per second",
	nsPerPacket: "CPU time per packet",
	instructionsPerPacket: "instructions per packet"
};
/** The same, and which way is better. */
const metricName = (metric) => `${metricNouns[metric]} (${isCost(metric) ? "less" : "more"} is better)`;
/**
* Anchor of a cell's flamegraph on the report's page, `which` is a variant's or `difference`, and the name of its
* file: `flamegraph-forwarding-inet4-base`.
*/
const flamegraphAnchor = (cell, which) => `flamegraph-${cellName(cell)}-${which}`.replace(/[^\w.-]+/g, "-");
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** The same without its sign: `8.33 %`, where words say which way. */
const formatSize = (ratio) => `${percentDigits(ratio)} %`;
/**
* `55.9 ± 0.2 %`, where words say which way: a change, and what it may be off by with that in one digit, as far as two
* digits behind the point.
*/
const formatSizeAndError = (ratio, error) => {
	const [percent, errorPercent] = [Math.abs(ratio) * 100, error * 100];
	const digits = Math.min(Math.max(-(errorPercent > 0 ? Math.floor(Math.log10(errorPercent)) : -1), 0), 2);
	return `${percent.toFixed(digits)} ± ${errorPercent.toFixed(digits)} %`;
};
/** `+0.1 ± 0.3 %`. */
function formatChangeAndError(ratio, error) {
	const shown = formatSizeAndError(ratio, error);
	if (Number.parseFloat(shown) === 0) return shown;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
/** `> 0.999`, `0.987`, `< 0.001`. */
function formatProbability(probability) {
	if (probability > .999) return "> 0.999";
	return probability < .001 ? "< 0.001" : probability.toFixed(3);
}
/** `+6.79 … +9.86`, in percent. */
const formatInterval = (low, high) => `${signedPercent(low)} … ${signedPercent(high)}`;
/** `2 %`. */
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `−5 %`, `+5.26 %`, `0`: where a limit or a tick of a scale lies. */
function formatSigned(ratio) {
	if (ratio === 0) return "0";
	return `${ratio < 0 ? "−" : "+"}${formatPercent(Math.abs(ratio))}`;
}
/** `9.3`: a share in percent, where it stands beside another. */
const formatShare = (ratio) => (ratio * 100).toFixed(1);
/** `+3.1`, `−0.8`: what is between two numbers. */
function formatDifference(difference) {
	const shown = Math.abs(difference).toFixed(1);
	if (Number(shown) === 0) return `±${shown}`;
	return `${difference < 0 ? "−" : "+"}${shown}`;
}
/** `+38`, `−1,400`, `+0.85`: an estimate of which two digits mean something. */
function formatTwoDigits(difference) {
	const shown = Number(Math.abs(difference).toPrecision(2));
	if (shown === 0) return "±0";
	return `${difference < 0 ? "−" : "+"}${grouped(shown)}`;
}
/** `24 + 24 of 26 + 26`: base's runs and patched's that count, and those that were made where these are more. */
function formatRuns(counted, made) {
	const isMore = made.some((count, index) => count > (counted[index] ?? 0));
	return `${counted.join(" + ")}${isMore ? ` of ${made.join(" + ")}` : ""}`;
}
/** `pps, nsPerPacket or instructionsPerPacket`: what may be asked for. */
const metricChoice = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(metricSchema.options);
/** `2,000`. */
const grouped = (value) => value.toLocaleString("en-US");
/** `41 s`, `2 min 5 s`. */
function formatDuration(seconds) {
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
/** `some 25 min`, of what is only expected. */
const formatEstimate = (seconds) => seconds < 30 ? formatRoughly(seconds) : `some ${formatRoughly(seconds)}`;
/** `25 min`, without the seconds. */
function formatRoughly(seconds) {
	const minutes = Math.round(seconds / 60);
	if (minutes < 1) return "under 1 min";
	if (minutes < 120) return `${minutes} min`;
	const hours = Math.round(minutes / 60);
	return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
function signedPercent(ratio) {
	const shown = percentDigits(ratio);
	if (Number(shown) === 0) return `±${shown}`;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
function percentDigits(ratio) {
	const percent = Math.abs(ratio * 100);
	return percent.toFixed(percent < 10 ? 2 : percent < 100 ? 1 : 0);
}
function fourDigits(value) {
	if (value === 0) return "0";
	return value < 1e3 ? value.toPrecision(4) : value.toFixed(0);
}

// src/model/units.ts
/** `2%`, `0.5 %` → a ratio: 0.02, 0.005. */
const ratio = (limit) => quantity("a percentage like 2%", { "%": .01 }, limit);
/** `14.88 Mpps`, `800 kpps`, `3000000 pps` → packets per second. */
const rate = (limit) => quantity("a rate like 3 Mpps, 800 kpps or 500 pps", {
	pps: 1,
	kpps: 1e3,
	Mpps: 1e6,
	Gpps: 1e9
}, limit);
/** `500 ms`, `12s`, `2 min`, `30 d` → seconds. */
const duration = (limit) => quantity("a duration like 500 ms, 12 s, 2 min or 30 d", {
	ms: .001,
	s: 1,
	min: 60,
	d: 86400
}, limit);
/** `64 bytes`, `64B`, `100 MiB` → bytes. */
const size = (limit) => quantity("a size like 64 bytes or 100 MiB", {
	bytes: 1,
	byte: 1,
	B: 1,
	MiB: 2 ** 20
}, limit);
/** The message of a zod issue, in the form they all have: `expected a percentage like 2%, found 2`. */
const expected = (what) => ({ input }) => input === void 0 ? `missing; expected ${what}` : `expected ${what}, found ${shown(input)}`;
/** Such a message as a sentence, which may end in a question already. */
const sentence = (message) => message.endsWith("?") ? message : `${message}.`;
/** At most 40 characters of untrusted text on one line: it may be a secret, or made to mislead a terminal. */
function excerpt(text) {
	return (text.length > 40 ? `${text.slice(0, 39)}…` : text).replace(/[\p{C}\p{Zl}\p{Zp}"`]/gu, "?");
}
function quantity(form, units, limit) {
	const written = new RegExp(`^(\\d{1,15}(?:\\.\\d{1,15})?) ?(${Object.keys(units).join("|")})$`);
	const read = (text) => inBaseUnit(written.exec(text), units);
	return string({ error: expected(form) }).regex(written, {
		error: expected(form),
		abort: true
	}).refine((text) => limit.holds(read(text)), { error: expected(limit.description) }).meta({ title: limit.description }).transform(read);
}
/** Rounds to the 15 digits that a double keeps, so that 2.01 Mpps are 2010000 pps and not 2009999.9999999998. */
function inBaseUnit(match, units) {
	const [, digits = "", unit = ""] = match ?? [];
	const value = Number(digits) * (units[unit] ?? NaN);
	return Number(value.toPrecision(15));
}
function shown(value) {
	if (value === null) return "nothing";
	if (Number.isNaN(value)) return "no number";
	if (typeof value === "string") return `"${excerpt(value)}"`;
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object") return "keys and values";
	return String(value);
}

// src/model/escape.ts
/** A code span, cut to `mostCharacters`: no mention, link, reference, markup or line break in it can take effect. */
function codeSpan(text, mostCharacters = 200) {
	const line = plainLine(text, mostCharacters);
	if (line === "") return "";
	const fence = fenceFor(line, 1);
	const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return `${fence}${padding}${line}${padding}${fence}`;
}
/** A fenced code block, shortened in the middle to `mostCharacters`. */
function codeBlock(text, mostCharacters = 4e3) {
	const block = plainBlock(text, mostCharacters);
	const fence = fenceFor(block, 3);
	return `${fence}\n${block}\n${fence}`;
}
/** One line without control and format characters, cut to `mostCharacters`: markup in it is still markup. */
const plainLine = (text, mostCharacters = 200) => cut(withoutControls(text).replace(/\s+/g, " ").trim(), mostCharacters);
/** The same of many lines, shortened in the middle. */
const plainBlock = (text, mostCharacters = 4e3) => shortened(withoutControls(text).trimEnd(), mostCharacters);
/** Longer than any run of backticks inside. */
function fenceFor(text, least) {
	const runs = text.match(/`+/g) ?? [];
	return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}
/** Control and format characters colour terminals, turn the direction of text or hide it; tabs and line ends stay. */
function withoutControls(text) {
	return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
/** Without what a terminal obeys; control characters that stand alone stay. */
const withoutSequences = (text) => text.replace(sequences, "");
/**
* What a terminal obeys by ECMA-48: control sequences, strings that end, and a character set's choice. Node's own
* stripVTControlCharacters takes hours for a megabyte of strings that do not end; here no part can begin in another.
*/
const sequences = new RegExp([
	"(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
	"(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)",
	"\\x1b[()#]?[0-9A-PR-TZcf-nq-uy=><~]"
].join("|"), "g");
function shortened(text, mostCharacters) {
	if (text.length <= mostCharacters) return text;
	const half = Math.floor(mostCharacters / 2);
	const left = text.length - 2 * half;
	const [first, last] = [text.slice(0, half), text.slice(-half)].map(withoutHalves);
	return `${first}\n… ${left} characters left out …\n${last}`;
}
function cut(text, mostCharacters) {
	if (text.length <= mostCharacters) return text;
	return `${withoutHalves(text.slice(0, mostCharacters - 1)).trimEnd()}…`;
}
/** A cut may go through a surrogate pair. */
const withoutHalves = (text) => text.replace(/\p{Cs}/gu, "");
/** Without what a markup could take for the address's end, or for markup in it; undefined where it is none of a page. */
function pageUrl(address) {
	const url = URL.parse(address);
	if (url === null || !["http:", "https:"].includes(url.protocol)) return void 0;
	return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}
const percentEncoded = (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

// src/model/without-paths.ts
/**
* The text with `[path]` in place of each absolute path, be it of this machine or of the lab: messages of Node,
* git and ssh do not tell them apart. URLs, commands to ppsgate and paths within a tree stay.
*/
const withoutPaths = (text) => text.replace(quotedPath, "[path]").replace(barePath, (found) => `[path]${endOf(found)}`);
/** Line number and punctuation after a path, as far as 40 characters. */
const endOf = (found) => /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? "";
const quotes = "'\"`‘’“”";
const start = "(?:file:/+|~[\\w.-]{0,64}/|/+)";
/** Names of ppsgate's commands, and the length of a prefix as in ::/0. */
const noPath = `(?!/(?:ppsgate|\\d{1,3})(?:[\\s${quotes}.,;:)]|$))`;
const letter = `[^\\s${quotes}]`;
/** There may be blanks in it, as where Node writes `open '/home/alice/my lab/key'`. */
const quotedPath = new RegExp(`(?<=[${quotes}])${noPath}${start}[^${quotes}\\n]{1,4096}(?=[${quotes}])`, "gu");
/** After a blank, a word that has a slash in it goes on with the path. */
const barePath = new RegExp(`(?<![\\p{L}\\p{N}_./<~+-])(?!(?<=:)//)${noPath}${start}(?!/)${letter}+(?:(?<![.,;:!?)]) (?!/|~|${letter}*://)${letter}*/${letter}*)*`, "gu");

// src/model/priority.ts
/** Release gates come before patches, and patches before reruns. */
const priorities = [
	"release",
	"patch",
	"rerun"
];

// src/model/usage-error.ts
/** An option or input that cannot be used. */
var UsageError = class extends Error {
	name = "UsageError";
	conclusion = "usage";
};

// src/model/flows.ts
/**
* A number of flows as sources × destinations, exactly: 2000 as 20 × 100. The destinations are as many as
* divide it, up to 100, and leave every sender a source; refused is a number whose sources would run out of their
* network.
*/
function flowRanges(flows, family, senders = 1) {
	if (!Number.isSafeInteger(flows) || flows < senders) return refused(`${flows} is no number of flows: choose a whole number from ${senders} on.`);
	const destinations = greatestDivisor(flows, Math.min(mostDestinations, flows / senders));
	const sources = flows / destinations;
	if (sources <= mostSources[family]) return {
		kind: "split",
		flows: {
			sources,
			destinations
		}
	};
	return refused(`${flows} flows of ${family} need ${sources} sources, and their network has ${mostSources[family]}: choose a multiple of 100.`);
}
const refused = (message) => ({
	kind: "refused",
	message
});
const mostDestinations = 100;
/** 198.18.10.1 to 198.18.255.254; what the last 16 bits hold, the only ones that pkt-gen counts up. */
const mostSources = {
	inet4: 62974,
	inet6: 65535
};
function greatestDivisor(value, most) {
	let divisor = Math.floor(most);
	while (value % divisor !== 0) divisor -= 1;
	return divisor;
}
/**
* The flows in slices of their sources, as even as can be, one for each sender. Throws a RangeError for more senders
* than sources.
*/
function flowSlices({ sources, destinations }, senders) {
	if (senders > sources) throw new RangeError(`${sources} source addresses cannot be shared by ${senders} senders: give each of them one at least.`);
	const end = (slice) => Math.floor(slice * sources / senders);
	return Array.from({ length: senders }, (_, slice) => ({
		firstSource: end(slice) + 1,
		sources: end(slice + 1) - end(slice),
		destinations
	}));
}

// src/model/freebsd-port.ts
/**
* The name by which pkt-gen opens an interface: a Chelsio port has a second, virtual one for netmap, see
* cxgbe(4) on `hw.cxgbe.num_vis`.
*/
const netmapPort = (name) => name.replace(/^(?:cxgbe|cxl|cc)\d+$/, "v$&");
/** The names of its driver, by which ifconfig(8) and by which the manual calls it: `cxl` and `cxgbe`. */
function driversOf(port) {
	const driver = port.replace(/\d+$/, "");
	return [driver, driverOfPort[driver] ?? driver];
}
/** FreeBSD's drivers whose ports are called otherwise, see section 4 of its manual. */
const driverOfPort = {
	cxl: "cxgbe",
	cc: "cxgbe",
	che: "cxgbe",
	cxlv: "cxgbev",
	ccv: "cxgbev",
	mce: "mlx5en",
	mlxen: "mlx4en",
	ix: "ixgbe",
	ixv: "ixgbe",
	ql: "qlxgbe"
};

// src/model/freebsd-drivers.ts
const chelsio = [
	"cxl",
	"cxgbe",
	"cc"
];
const holdsBack = "a full port then holds back its senders";
const queuesDecide = "the queues decide how many CPUs forward";
/**
* `hw.cxgbe.nrxq10g` is no sysctl since FreeBSD 12, and one number for all ports. em(4) keeps one `fc` for what all of
* its ports read, whichever was set: they are to be set together.
*/
const driverSettings = [
	{
		ports: chelsio,
		name: "dev.PORT.N.pause_settings",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		permanent: "hw.cxgbe.pause_settings=\"0\"",
		appliesToGenerators: true,
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "hw.cxgbe.toecaps_allowed",
		expected: "0",
		why: "the card then keeps resources for TCP offload",
		fix: { loader: "hw.cxgbe.toecaps_allowed" },
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "hw.cxgbe.fw_install",
		expected: "0",
		why: "a kernel with a newer firmware in it then flashes the card, for good and for all who come later",
		fix: { loader: "hw.cxgbe.fw_install" },
		isOptional: true,
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "dev.PORT.N.nrxq",
		expected: "queues",
		why: queuesDecide,
		fix: { loader: "hw.cxgbe.nrxq10g" },
		source: "cxgbe(4)"
	},
	{
		ports: chelsio,
		name: "dev.PORT.N.ntxq",
		expected: "queues",
		why: queuesDecide,
		fix: { loader: "hw.cxgbe.ntxq10g" },
		source: "cxgbe(4)"
	},
	{
		ports: ["mce"],
		name: "dev.PORT.N.rx_pauseframe_control",
		expected: "0",
		why: holdsBack,
		fix: { loader: "dev.PORT.N.rx_pauseframe_control" },
		appliesToGenerators: true,
		source: "sys/dev/mlx5/mlx5_en/mlx5_en_main.c"
	},
	{
		ports: ["mce"],
		name: "dev.PORT.N.tx_pauseframe_control",
		expected: "0",
		why: holdsBack,
		fix: { loader: "dev.PORT.N.tx_pauseframe_control" },
		appliesToGenerators: true,
		source: "sys/dev/mlx5/mlx5_en/mlx5_en_main.c"
	},
	{
		ports: ["mce"],
		name: "dev.PORT.N.conf.channels",
		expected: "queues",
		why: queuesDecide,
		fix: "sysctl",
		source: "sys/dev/mlx5/mlx5_en/mlx5_en_ethtool.c"
	},
	{
		ports: ["igb", "em"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/e1000/if_em.c"
	},
	{
		ports: ["ix"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/ixgbe/if_ix.c"
	},
	{
		ports: ["ixl"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/ixl/ixl_pf_main.c"
	},
	{
		ports: ["ice"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		alias: "None",
		appliesToGenerators: true,
		source: "ice(4)"
	}
];
/** The settings of a port, with its name and number in them; none of a driver that is not known. */
function driverSettingsOf(port) {
	const [, driver = "", unit = ""] = /^(\D+)(\d+)$/.exec(port) ?? [];
	const named = (text) => text.replace("PORT.N", `${driver}.${unit}`);
	return driverSettings.filter(({ ports }) => ports.includes(driver)).map(({ name, fix, ...rest }) => ({
		...rest,
		name: named(name),
		fix: fix === "sysctl" ? fix : { loader: named(fix.loader) }
	}));
}
/** Sysctls of a card's firmware: a card of Chelsio has several ports, and a number of its own. */
function firmwareNames(port) {
	const [, driver = "", unit = ""] = /^(\D+)(\d+)$/.exec(port) ?? [];
	const nexus = (/* @__PURE__ */ new Map([
		["cxgbe", "t4nex"],
		["cxl", "t5nex"],
		["cc", "t6nex"]
	])).get(driver);
	if (nexus !== void 0) return [0, 1].map((card) => `dev.${nexus}.${card}.firmware_version`);
	return [driver === "mce" ? `dev.mlx5_core.${unit}.hw.fw_version` : `dev.${driver}.${unit}.fw_version`];
}

// src/model/freebsd-waivable.ts
/** The names for a DUT with these ports. */
const waivableSettings = (ports) => [...general, ...new Set(ports.flatMap((port) => [
	`${port}'s LRO and TSO`,
	`${port}'s link`,
	...driverSettingsOf(port).map(({ name }) => name)
]))];
const general = [
	"debug.debugger_on_panic",
	"kern.shutdown.dumpdevname",
	"kern.random.harvest.mask",
	"machdep.hyperthreading_allowed",
	"net.isr.maxthreads",
	"net.isr.bindthreads",
	"net.inet.ip.forwarding",
	"net.inet.ip.redirect",
	"net.inet6.ip6.forwarding",
	"net.inet6.ip6.redirect",
	"kern.cp_time",
	"kern.boottime"
];
/** As they are called in messages; see freebsd-ports.ts. */
const isForwardingPathSetting = (name) => /^the (?:route|blackhole route|mac address|mtu) /i.test(name);

// src/model/bisect-result.ts
/** Reason why a commit cannot be measured: seen twice of it, or of it and of a neighbour; or once, where no more depended on it. */
const faultSchema = discriminatedUnion("kind", [...rejections, object({
	kind: literal("forwards-nothing"),
	message: string()
})]);
/** One that was built of a revision: its own, or with fix-ups on top. */
const formSchema = object({
	/** `base` of the good end, `patched` of the bad one, else the beginning of the commit's id; with fix-ups theirs too. */
	variant: string(),
	/** Commits that were applied on top, in their order. */
	fixUps: array(commitId),
	/** Rate of each boot, or of each run where several variants share a trial, in the metric's unit. */
	values: array(number().nonnegative()),
	fault: faultSchema.optional()
});
/** A commit of the range, with those after it that make the same kernel, or lay the same files. */
const revisionSchema = object({
	/** Steps along the line of first parents: 0 is the good one. */
	place: int().nonnegative(),
	commit: commitId,
	subject: string(),
	author: string(),
	/** Number of following commits that change nothing of what is booted or installed. */
	alike: int().nonnegative(),
	isSkipped: boolean(),
	/** Lies between two that failed alike, and was taken for failed without a try. */
	isAssumedFailed: boolean(),
	/** Probability that it changed the rate, by all measurements. */
	probability: number(),
	/** Variants that were tried of it; none of most. */
	forms: array(formSchema)
});
/** Confidence of the intervals around a bisection's changes, two-sided. */
const bisectConfidenceRatio = .95;
const changeSchema$1 = object({
	...intervalSchema.shape,
	/** Geometric means of all that was measured before and after it, as far as the next change, in the metric's unit. */
	before: number(),
	after: number()
});
/** Indices are those of `revisions`. */
const foundSchema = discriminatedUnion("kind", [object({
	kind: literal("culprit"),
	revision: int().positive(),
	probability: number(),
	change: changeSchema$1,
	/** Fix-ups that were on top of it: a fault of its own could be theirs, too. */
	measuredWith: array(commitId)
}), object({
	kind: literal("group"),
	after: int().nonnegative(),
	last: int().positive(),
	probability: number(),
	change: changeSchema$1,
	/** The commit that made the ones before it work again, as far as can be told: the fix-up that would tell more. */
	likelyFix: commitId.optional()
})]);
const bisectAnswerSchema = discriminatedUnion("kind", [
	...foundSchema.options,
	object({
		kind: literal("several"),
		found: array(foundSchema).min(1),
		open: array(object({
			after: int().nonnegative(),
			last: int().positive()
		}))
	}),
	object({
		kind: literal("not-reproduced"),
		/** Absent where an end could not be measured. */
		change: changeSchema$1.optional(),
		fault: object({
			revision: int().nonnegative(),
			fault: faultSchema
		}).optional()
	}),
	object({
		kind: literal("slide"),
		change: changeSchema$1,
		steps: array(int().positive())
	}),
	object({
		kind: literal("inconclusive"),
		change: changeSchema$1,
		best: array(object({
			revision: int().positive(),
			probability: number()
		})),
		/** Boots still needed for an answer, estimated. */
		bootsExpected: int().nonnegative()
	})
]);
const bisectResultSchema = object({
	schemaVersion: literal(1),
	kind: literal("bisect"),
	generator: object({
		name: literal("ppsgate"),
		version: string()
	}),
	/** Names of the commits as they were typed. */
	good: string(),
	bad: string(),
	fixUps: array(string()),
	testbed: object({
		name: string(),
		fingerprint: record(string(), string()),
		warnings: array(string())
	}),
	cell: cellSchema,
	metric: metricSchema,
	traffic: object({
		flows: int(),
		frameBytes: int(),
		offeredPps: number().optional(),
		measureSeconds: number()
	}),
	history: historySchema.optional(),
	/** Several variants share a trial; else each boot has one. */
	isShared: boolean(),
	seed: int(),
	startedAt: datetime(),
	finishedAt: datetime(),
	revisions: array(revisionSchema).min(2),
	answer: bisectAnswerSchema,
	/** Boots, or shared trials, those that failed too. */
	boots: int().nonnegative(),
	/** The bad end without the culprit; absent where that was not asked for. */
	revert: discriminatedUnion("kind", [object({
		kind: literal("measured"),
		values: array(number()),
		change: changeSchema$1
	}), object({
		kind: literal("impossible"),
		why: string()
	})]).optional(),
	/** `base` is the culprit's parent in them, and `patched` the culprit. */
	profiles: array(cellProfileSchema),
	reason: reasonSchema.optional(),
	runs: array(runSchema),
	trials: array(trialSchema)
});

// src/model/xml.ts
/** Between tags and in quoted attributes. A space stands for what XML has no place for, and for what hides text or turns it around. */
const escaped = (text) => text.replace(unfit, " ").replace(/[&<>"']/g, (one) => entities[one] ?? "");
const unfit = /[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu;
const entities = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	"\"": "&quot;",
	"'": "&#39;"
};

// src/model/variant-name.ts
/** Base and patched, of which a verdict is given; all others are shown beside them. */
const isJudged = (variant) => variant === "base" || variant === "patched";
/** Name of an earlier diff of a revision: `diff 80345`. */
const diffName = (diff) => `diff ${diff}`;
/** Name of a variant's kernel where it was linked several times; see `Run`. */
const layoutName = (variant, layout) => layout === void 0 ? variant : `${variant} layout ${layout}`;
/** As a part of a path, or of the name of a boot environment: `diff-80345`. */
const pathName = (variant) => variant.replaceAll(" ", "-");

// src/model/remarkup.ts
/**
* Code within a line, cut to `mostCharacters`: no mention, object, link, macro or line break in it can take effect. It
* must not follow a letter or a digit directly, for then its first backtick is none of code.
*/
const remarkupText = (untrusted, mostCharacters = 200) => inCode(plainLine(untrusted, mostCharacters));
/** Takes a line that is plain already: anything removed afterwards could join what was kept apart. */
function inCode(line) {
	const inside = line.replaceAll("`", "'").replaceAll("${{{", "$ {{{");
	return inside === "" ? "" : `\`${inside}\``;
}
/** The same in a column of a table, which is cut at `|` before code is looked for, but not between `[[` and `]]`. */
const remarkupCell = (untrusted, mostCharacters = 100) => inCode(plainLine(untrusted, mostCharacters).replaceAll("|", "¦").replace(/\[(?=\[)/g, "[ "));
/** A line of our own making in which something of others may be after all: what is no plain word stands in code. */
const remarkupWords = (line) => plainLine(line, 300).split(" ").map((word) => plainWord.test(word) ? word : remarkupText(word)).join(" ");
/** Neither capitals, which may name a repository, nor what may be a commit's hash. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;
/**
* A block of code that scrolls where it has more than `visibleLines`; shortened in the middle. A line that ends in
* three backticks would close it, and a first line like `lang=c` would set its options, had it none of its own.
*/
function remarkupBlock(name, untrusted, visibleLines = 12) {
	return `\`\`\`lang=text, name=${name.replace(/[^\w .-]+/g, "").trim()}, lines=${visibleLines}\n${plainBlock(untrusted, 6e3).replaceAll("```", "'''")}\n\`\`\``;
}

// src/model/pause.ts
/** Resolves, where node's own rejects, when the signal is aborted. */
const realPause = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});

// src/model/json.ts
/** Undefined where it is none, which no JSON is: a schema then refuses both alike. */
function parseJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}

// src/model/freebsd-machine.ts
/** Facts of the machine with any kernel. */
const withoutKernelFacts = (fingerprint) => Object.fromEntries(Object.entries(fingerprint).filter(([name]) => !kernelDependentFacts.has(name) && !kernelFacts.has(name)));
/** Facts that change with the machine only, with neither another kernel nor another boot. */
const machineFacts = (fingerprint) => Object.fromEntries(Object.entries(withoutKernelFacts(fingerprint)).filter(([name]) => !volatileFacts.has(name)));
const kernelFacts = /* @__PURE__ */ new Set([
	"ident",
	"RSS",
	"release"
]);
/** Facts that another kernel, or another boot, explains. */
const kernelDependentFacts = /* @__PURE__ */ new Set([
	"kernel",
	"kern.bootfile",
	"kern.boottime",
	"kernel sha256"
]);
/** A frequency follows the load; the kernel chooses how routes are looked up by how many there are, and by its own mind. */
const volatileFacts = /* @__PURE__ */ new Set([
	"dev.cpu.0.freq",
	"net.route.algo.inet.algo",
	"net.route.algo.inet6.algo"
]);

// src/model/trend.ts
const resultPath = string().regex(/^results\/\d{4}\/\w[\w.-]*$/);
const rates = array(number().positive());
/** A line of `trend/TESTBED/CELL/YEAR.jsonl`: what one commit of the default branch did in one session. */
const nightlySchema = object({
	/** When the session began. */
	at: datetime(),
	commit: commitId,
	/** Commit time, which orders commits; absent: not known, and `at` has to do. */
	committedAt: datetime().optional(),
	/** Reason of the run: nightly, after a push, or once more as the session before was off. */
	occasion: _enum([
		"nightly",
		"push",
		"again"
	]),
	/** Numbers of each metric, one a trial; none where the DUT cannot tell. */
	pps: rates,
	nsPerPacket: rates,
	/** Absent from lines of before it was counted. */
	instructionsPerPacket: rates.default([]),
	/** Id among `fingerprints` of the index; empty where it was measured before they were kept. */
	fingerprint: string(),
	/** Folder of the result, which may be gone. */
	result: resultPath.optional()
});
/** Identity of a testbed: another firmware, another setting, or for Linux another kernel makes another one. */
const fingerprintSchema = object({
	id: string().regex(/^[0-9a-f]{12}$/),
	testbed: string(),
	since: datetime(),
	/** Facts that the one before had not, as `name: value`; sentences for people, none for the first. */
	differs: array(string()),
	/** Facts that the next one is compared with; only the testbed's last one has them. */
	facts: record(string(), string()).optional()
});
const levelSchema = object({
	cell: cellSchema,
	/** Levels in the metric's unit: medians of nightly runs. */
	before: number().positive(),
	after: number().positive(),
	/** `after` to `before`, minus one: −0.041 is 4.1 % less of the metric. */
	changeRatio: number(),
	/** When the first nightly run of the new level began, by which it is found among the nightly runs. */
	firstAt: datetime()
});
const changeStates = [
	"candidate",
	"confirming",
	"code",
	"testbed",
	"accepted",
	"recovered"
];
/** A lasting step of one testbed's level, in one cell or in several that stepped between the same two commits. */
const changeSchema = object({
	/** Twelve hex digits of the testbed and both commits: the key of everything written about it. */
	id: string().regex(/^[0-9a-f]{12}$/),
	testbed: string(),
	metric: metricSchema,
	/** The last commit of the old level, and the first of the new one; the same where none came between. */
	good: commitId,
	bad: commitId,
	cells: array(levelSchema).min(1),
	state: _enum(changeStates),
	/** When it was found, and when its state last changed. */
	foundAt: datetime(),
	changedAt: datetime(),
	/** The gates that were asked, the last one last. */
	gates: array(object({
		at: datetime(),
		result: resultPath,
		verdict: _enum(verdictsWorstFirst),
		cells: array(object({
			cell: cellSchema,
			interval: intervalSchema.optional()
		}))
	})),
	/** The bisection of its range: the commit, where it named a single one. */
	bisection: object({
		result: resultPath,
		culprit: commitId.optional()
	}).optional(),
	/** Notification of the change; `intended` is set before it is sent, and stays where it is not known whether it was. */
	alert: object({
		intended: datetime().optional(),
		/** A random name of the process that began: of two that begin at once each sees whether it is the one. */
		updates: string().optional(),
		issue: int().positive().optional(),
		/** Text that was posted last, as `saidOf` of the alert has it. */
		postedText: string().optional(),
		/** The commit whose pull request and revision were looked for; where there are any they have their comment. */
		commentedCommit: commitId.optional(),
		/** Pull requests and revisions that have their comment, as `#12` and `D27401`. */
		told: array(string()).default([])
	}).default({ told: [] })
});
const changeSumsSchema = object({
	cell: cellSchema,
	/** Sum of squared changes, as natural logarithms, and of their squared standard errors. */
	sumOfSquares: number().nonnegative(),
	runSumOfSquares: number().nonnegative()
});
const gateSumsSchema = object({
	/** Gates of which some cell was judged, and those that called any a regression or an improvement. */
	gates: int().nonnegative(),
	alarms: int().nonnegative(),
	/** The same of cells, and those that could not be judged. */
	cells: int().nonnegative(),
	cellAlarms: int().nonnegative(),
	inconclusive: int().nonnegative(),
	invalid: int().nonnegative()
});
/** Counts false alarms of A/A runs; any other test has a count of its own. */
const aaRunCountsSchema = object({
	/** Both variants are one build, or two layouts of one tree. */
	kind: _enum(["same-build", "layout-noise"]),
	testbed: string(),
	fingerprint: string(),
	metric: metricSchema,
	marginRatio: number(),
	/** Promised rate of false alarms, which the bound is compared with. */
	falseAlarmRatio: number(),
	design: _enum(designNames),
	since: datetime(),
	last: datetime(),
	...gateSumsSchema.shape,
	/** The newest alarms, oldest first. */
	alarmed: array(object({
		at: datetime(),
		cells: array(cellSchema),
		result: resultPath
	})),
	/** Scatter of the changes between two layouts, and of their runs alone. */
	scatter: array(changeSumsSchema.extend({ gates: int().positive() })),
	/** Counts of each of the newest gates, oldest first, so that a gate published again counts once; absent from old counts. */
	newest: array(object({
		at: datetime(),
		...gateSumsSchema.shape,
		scatter: array(changeSumsSchema)
	})).optional()
});
/** `trend/index.json`. */
const trendIndexSchema = object({
	schemaVersion: literal(1),
	/** Cells that have nightly runs; years ascending. */
	cells: array(object({
		testbed: string(),
		cell: cellSchema,
		years: array(int())
	})),
	fingerprints: array(fingerprintSchema),
	/** Oldest first; none is ever dropped. */
	changes: array(changeSchema),
	aaRuns: array(aaRunCountsSchema),
	/** Tags that are releases, as far as nightly runs were measured since; the newest last. */
	releases: array(object({
		name: string(),
		commit: commitId,
		at: datetime()
	})),
	/** The page that shows the commits between two, with `{from}` and `{to}`; absent where there is none. */
	compareUrl: url().optional()
});

// src/model/planned-trial.ts
const plannedRunSchema = object({
	number: int().positive(),
	variant: string(),
	pair: int().positive(),
	/** See `Run`. */
	layout: int().positive().optional()
});
const plannedTrialSchema = object({
	number: int().positive(),
	cell: cellSchema,
	runs: array(plannedRunSchema).min(1)
});
/** Number of the layout of a variant's kernel that is booted for a pair, both from 1 on, in rotation. */
const layoutOfPair = (pair, layouts) => (pair - 1) % layouts + 1;

// src/model/lease-outcome.ts
const notUsed = (why) => `not used: ${why}`;
const endedEarly = (why) => `ended: ${why}`;
/** Such a use says nothing of how long a testbed is usually held. */
const isCompleted = (outcome) => ![notUsed(""), endedEarly("")].some((start) => outcome?.startsWith(start));

export { UsageError, bisectConfidenceRatio, bisectResultSchema, byMetric, cellName, cellProfileSchema, cellSchema, changeStates, codeBlock, codeSpan, commitId, conclusionOfBisection, conclusionOfError, conclusionOfResult, conclusionOfVerdict, designNames, designSchema, diffName, driverSettingsOf, driversOf, duration, endedEarly, escaped, excerpt, exitCodes, expected, families, familySchema, firmwareNames, flamegraphAnchor, flowRanges, flowSlices, formatChange, formatChangeAndError, formatDifference, formatDuration, formatEstimate, formatInterval, formatMetric, formatPercent, formatPps, formatProbability, formatRoughly, formatRuns, formatShare, formatSigned, formatSize, formatSizeAndError, formatTick, formatTwoDigits, grouped, historySchema, isCompleted, isCost, isForwardingPathSetting, isJudged, isLinuxScenario, isLoss, kernelDependentFacts, lastLine, layoutName, layoutOfPair, machineFacts, metricChoice, metricName, metricNouns, metricSchema, netmapPort, nightlySchema, notUsed, oneLine, ownRulesSchema, pageUrl, parseJson, patchName, patchSchema, pathName, plainBlock, plainLine, plannedTrialSchema, policySchema, priorities, rate, ratio, realPause, reasonOf, rejectionSchema, remarkupBlock, remarkupCell, remarkupText, remarkupWords, resultSchema, runSchema, scenarioSchema, scenarios, scenariosOf, sentence, shortId, shortened$1 as shortened, size, trendIndexSchema, trialSchema, verdictsWorstFirst, volatileFacts, waivableSettings, withoutKernelFacts, withoutPaths, withoutSequences, worstConclusion };