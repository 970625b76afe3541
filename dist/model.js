import { __exportAll } from "./rolldown-runtime.js";
import { _enum, array, boolean, datetime, discriminatedUnion, int, literal, number$1 as number, object, record as record$1, string, url as url$1 } from "./vendor/zod.js";
import { setTimeout } from "node:timers/promises";

// src/model/conclusion.ts
const exitCodes = {
	pass: 0,
	patchAtFault: 1,
	usage: 2,
	undecided: 3,
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
/** The worst conclusion of several gates of one patch: the patch's own fault weighs most, a pass least. */
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
/** Errors outside the lab have a property `conclusion`. */
function conclusionOfError(error) {
	if (!(error instanceof Error && "conclusion" in error)) return "infrastructure";
	const { conclusion } = error;
	return isConclusion(conclusion) ? conclusion : "infrastructure";
}
const isConclusion = (value) => typeof value === "string" && Object.hasOwn(exitCodes, value);

// src/model/bounds.ts
var bounds_exports = /* @__PURE__ */ __exportAll({
	byName: () => byName,
	byVariant: () => byVariant,
	change: () => change,
	count: () => count,
	document: () => document,
	facts: () => facts,
	id: () => id,
	level: () => level,
	line: () => line,
	list: () => list,
	measured: () => measured,
	mostChange: () => mostChange,
	mostDocument: () => mostDocument,
	name: () => name,
	ordinal: () => ordinal,
	path: () => path,
	prose: () => prose,
	rate: () => rate$1,
	seconds: () => seconds,
	share: () => share,
	sumOfSquares: () => sumOfSquares,
	text: () => text,
	time: () => time,
	total: () => total,
	url: () => url,
	variant: () => variant,
	word: () => word
});
const mostCount = 1e7;
const leastRate = 1e-9;
const mostRate = 0x38d7ea4c68000;
const mostChange = 1e300;
/** Runs, trials, boots, cells, commits, flows: few enough for a loop. */
const count = int().nonnegative().max(mostCount);
const ordinal = count.positive();
/** Packets, instructions, bytes, ids: never looped over, exact in a double. */
const total = int().nonnegative();
const id = int().positive();
/** Per second, or ns or instructions per packet: the logarithm of any ratio is finite. */
const measured = number().min(leastRate).max(mostRate);
/** As `measured`, or nothing. */
const rate$1 = number().nonnegative().max(mostRate).refine((value) => value === 0 || value >= leastRate);
/** Computed from rates. */
const level = number().nonnegative().max(mostChange);
/** Squares of logarithms. */
const sumOfSquares = number().nonnegative().max(0xe8d4a51000);
const seconds = number().nonnegative().max(1e9);
/** From 0 to 1; sums of shares may miss both by a rounding. */
const share = number().min(-1e-6).max(1 + 1e-6);
/** Ratio to what was before, minus one. */
const change = number().min(-1).max(mostChange);
/** Refused beyond `most` characters. */
const text = (most) => string().max(most);
const name = text(250);
/** A bisection names each fix-up, too. */
const variant = text(2e3);
const path = text(4096);
/** Name, id or address in another service. */
const word = text(4096);
/** A file, a diff, a comment, the output of a command: the largest answer that is read. */
const mostDocument = 32 * 1024 ** 2;
const document = text(mostDocument);
const url = url$1().max(4096);
/** A format allows any number of decimals. */
const time = datetime().max(40);
/** Cuts text that only people read after `most` characters, as logs and patches have lines of any length. */
const prose = (most = 2e4) => string().overwrite((said) => (said.length > most ? `${said.slice(0, most - 1)}…` : said).toWellFormed());
const line = prose(4e3);
const list = (item, most = 1e4) => array(item).max(most);
const record = (key, value, most) => record$1(key, value).refine((entries) => Object.keys(entries).length <= most);
const byName = (value) => record(name, value, 1e3);
const byVariant = (value) => record(variant, value, 1e3);
const facts = byName(line);

// src/model/patch.ts
const commitId = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a full commit id");
const pullRequest = object({
	kind: literal("pull-request"),
	/** `owner/name` of the target repository. */
	repository: name,
	number: id,
	title: line,
	author: line,
	url,
	/** Target branch; absent in old results. */
	baseBranch: path.optional(),
	baseCommit: commitId,
	headCommit: commitId
});
/** Identify a revision and its diff also after a restore of the server, which gives their numbers to others. */
const diffPhids = object({
	revision: string().regex(/^PHID-DREV-[\w-]{1,100}$/),
	diff: string().regex(/^PHID-DIFF-[\w-]{1,100}$/)
});
const revision = object({
	kind: literal("revision"),
	/** Without a trailing slash. */
	server: url,
	/** 27401 of D27401. */
	number: id,
	/** Changes with each update by the author. */
	diff: id,
	phids: diffPhids.optional(),
	title: line,
	author: line,
	url,
	baseCommit: commitId,
	/** Derived from the diff deterministically, see `commitDiff` of repository.ts. */
	headCommit: commitId,
	/** Earlier diffs measured for comparison, oldest first. */
	earlier: list(object({
		diff: id,
		headCommit: commitId
	}), 1e3),
	/** A sentence on the commit that the diff was made on, where that is missing here, as an open parent's is. */
	missingBase: prose().optional(),
	/** Notes for the report: how the base was found, what was left out. */
	notes: list(prose(), 1e3)
});
const range = object({
	kind: literal("range"),
	/** `old.conf → new.conf` of two that are in no repository; without marks of Markdown, and no user is mentioned. */
	name: string().regex(/^[\w./ +→-]{1,200}$/).exactOptional(),
	title: line,
	author: line,
	baseCommit: commitId,
	headCommit: commitId
});
/** Length as in git for a large repository, also used in variant names. */
const shortId = (commit) => commit.slice(0, 12);
const patchSchema = discriminatedUnion("kind", [
	pullRequest,
	revision,
	range
]);
/** First word of a command in a comment. */
const callOnGithub = "/ppsgate";
/** The same on Phabricator, where a slash has no meaning. */
const callOnPhabricator = "@ppsgate";
/** Like `patchName`, but with full ids, as short ones can be made on purpose. */
const patchIdentity = (patch) => patch.kind === "range" ? `${patch.baseCommit}..${patch.headCommit}` : patchName(patch);
/** Names a patch to people: `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
function patchName(patch) {
	switch (patch.kind) {
		case "pull-request": return `#${patch.number}`;
		case "revision": return `D${patch.number}`;
		case "range": return patch.name ?? `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
	}
}

// src/model/scenario.ts
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
const scenarios = [.../* @__PURE__ */ new Set([...scenariosOf.linux, ...scenariosOf.freebsd])];
const families = ["inet4", "inet6"];
/** Appears in Markdown unescaped, so GitHub must not make a link of it. */
const scenarioSchema = string().regex(/^(?!.*(?:[wW]{3}\.|[gG][hH]-\d))[a-zA-Z0-9][\w.-]{0,62}$/);
/** A site's own firewall rules for FreeBSD: pf.conf(5), or ipfw(8) commands without its name. */
const ownRulesSchema = object({
	firewall: _enum(["pf", "ipfw"]),
	text: text(1e6),
	/** If set, a trial that leaves no state per flow was not measured under these rules. */
	keepsStates: boolean()
});
const familySchema = _enum(families);
const cellSchema = object({
	scenario: scenarioSchema,
	family: familySchema,
	/** With 4 bytes of CRC; only if several sizes are measured. */
	frameBytes: count.optional()
});
/** `nftables-stateful inet6`, or `forwarding inet4 1518 B`: name in tables, and key of its runs. */
const cellName = ({ scenario, family, frameBytes }) => [
	scenario,
	family,
	frameBytes && `${frameBytes} B`
].filter(Boolean).join(" ");
const isLinuxScenario = (scenario) => scenariosOf.linux.some((name) => name === scenario);

// src/model/rejection.ts
const message = prose();
const crashEvidence = {
	panic: prose().optional(),
	/** Up to 20 lines of the DUT's console, if recorded: from a panic on, or the last ones. */
	console: prose().optional(),
	/** Lines with text of the whole console, where `console` leaves out some. */
	consoleLines: count.optional(),
	/** Log of the whole console of a guest, which was thrown away; absent: a machine, which is back on its own kernel. */
	guestConsole: name.exactOptional()
};
/** Separate, for a larger union. */
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

// src/model/testbed-kind.ts
const testbedKinds = [
	"embedded-linux",
	"linux",
	"freebsd",
	"virtual-linux",
	"virtual-freebsd"
];
const testbedKindSchema = _enum(testbedKinds);
const systemOfTestbedKind = (kind) => kind.endsWith("freebsd") ? "freebsd" : "linux";
/** Undefined for scenarios that both systems have, and for a site's own. */
function systemOfScenario(scenario) {
	const systems = ["linux", "freebsd"].filter((system) => scenariosOf[system].some((name) => name === scenario));
	return systems.length === 1 ? systems[0] : void 0;
}

// src/model/result.ts
/** A cell has 10,000 pairs at most; each of a trial's runs may be repeated. */
const mostRuns = 2e5;
const mostTrials = 2e5;
const mostSamples = 1e5;
const mostCells = 1e3;
const mostVariants = 1e3;
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
	reason: line
})]);
/** A variant installed and measured once: a number per metric, and the samples behind it. */
const runSchema = object({
	number: ordinal,
	trial: ordinal,
	/** A trial with an invalid run is repeated; all attempts are kept. */
	attempt: ordinal,
	/** A pair has one consecutive run of each variant in its cell. */
	pair: ordinal,
	variant,
	/** Seed of the order of sections of the booted kernel, 1 for the linker's own; absent if linked only once. */
	layout: ordinal.optional(),
	/** Sent by the DUT, median of the samples; 0 may count, see `docs/how-to/reading-a-report.md`. */
	pps: rate$1,
	/** CPU time of the DUT's forwarding thread per packet, in ns, median of the samples; absent if unknown. */
	nsPerPacket: measured.optional(),
	/** Executed by the guest per forwarded packet; absent if not counted. */
	instructionsPerPacket: measured.optional(),
	samples: list(object({
		seconds: seconds.positive(),
		receivedPackets: total,
		forwardedPackets: total,
		busySeconds: seconds.optional(),
		/** Time in which the forwarding thread waited for its CPU. */
		deniedSeconds: seconds.optional(),
		instructions: total.optional()
	}), mostSamples),
	validity: validitySchema,
	/** Phrase for a run without a forwarded packet: the rule, chain or setting that dropped them; absent if unknown. */
	droppedBy: line.exactOptional()
});
/** Changes are ratios to base: −0.1 is 10 % less. */
const intervalSchema = object({
	change,
	low: change,
	high: change
});
/**
* Compares one metric of a cell; absolute values in packets per second, or in ns or instructions per packet. The change
* of patched is corrected for early stopping, and its interval holds at any look.
*/
const comparisonSchema = object({
	metric: metricSchema,
	base: level,
	/** In `others`, that of the variant, as in `patchedRuns`. */
	patched: level,
	baseRuns: ordinal,
	patchedRuns: ordinal,
	interval: intervalSchema
});
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
		/** Still open when another cell's loss ended the experiment: see `gate.stopAtFirst`. */
		isStopped: literal(true).exactOptional()
	}),
	object({
		kind: literal("invalid"),
		reason: line
	})
]);
const designNames = ["fixed", "group-sequential"];
/** The interim analyses of a cell, fixed before its first run. */
const designSchema = object({
	name: _enum(designNames),
	/** Maximum pairs: as planned, then of each extension; ascending. */
	budgets: list(ordinal, 100).min(1),
	pairsPerStep: ordinal,
	method: _enum(["paired", "pooled"])
});
const historySchema = object({
	runs: ordinal,
	/** Geometric mean and number of the runs since base last moved. */
	typical: measured,
	typicalRuns: ordinal,
	/**
	* Squared deviations of the mean log run of each session from that of its level; `sinceMove` counts the sessions since
	* base last moved. Absent from older results.
	*/
	sessionMeans: object({
		sinceMove: ordinal,
		sumOfSquares,
		degreesOfFreedom: count
	}).exactOptional(),
	/** Squared deviations of log runs from the mean of their own experiment. */
	sumOfSquares,
	degreesOfFreedom: count,
	/**
	* Degrees of freedom of the variances of the testbed's sessions around that of their cell: few where sessions differ much
	* in noise. Absent until ten sessions tell.
	*/
	sessionDegreesOfFreedom: number().positive().max(16).exactOptional()
});
const maxEarlierGates = 1e3;
/** Earlier gates of the same base and head in this cell, in the history: under the same testbed, traffic and policy. */
const earlierGatesSchema = object({
	count: int().min(1).max(maxEarlierGates),
	/** Counts the gates that found a regression in this cell. */
	regressions: int().nonnegative().max(maxEarlierGates)
}).refine(({ count, regressions }) => regressions <= count, "more regressions than gates");
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
/** From a separate run beside the measured ones; or why there is none. */
const cellProfileSchema = discriminatedUnion("kind", [object({
	kind: literal("profiled"),
	variant,
	/** In the tool's own words: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
	event: name,
	kernel: line,
	seconds: seconds.positive(),
	/** Non-idle; shares are of these. */
	busySamples: id,
	idleSamples: total,
	/** Folded stacks, relative to the result file; the DUT's raw output is beside them. */
	file: path
}), object({
	kind: literal("missing"),
	variant,
	reason: line
})]);
/** A function whose own cost, without callees, changed beyond chance; ratios are shares of busy samples. */
const changedFunctionSchema = object({
	function: line,
	/** Kernel or module without its folder; absent if unknown. */
	module: line.optional(),
	baseRatio: share,
	patchedRatio: share,
	/** Share of the DUT's time per packet, in ns; absent if not measured. */
	nsPerPacket: object({
		base: level,
		patched: level
	}).optional(),
	/** Share of the instructions per packet, if counted and sampled; replaces `nsPerPacket`. */
	instructionsPerPacket: object({
		base: level,
		patched: level
	}).optional()
});
const reasonSchema = object({
	/** Greatest change first, at most ten; empty if nothing moved beyond chance. */
	changedFunctions: list(changedFunctionSchema, 100),
	/** Number of all that moved beyond chance. */
	moved: count,
	/** Stacks with one of these were left out as idle; only those found. */
	idleFrames: list(line, 1e3)
});
const cellResultSchema = object({
	cell: cellSchema,
	verdict: cellVerdictSchema,
	design: designSchema,
	history: historySchema.optional(),
	/** Absent for a first gate. */
	earlierGates: earlierGatesSchema.exactOptional(),
	baseline: baselineSchema,
	/** Available pairs at the decision, or at the end of the budget. */
	pairs: count,
	/** The judged metric first, then the others; empty for a cell without enough runs. */
	comparisons: list(comparisonSchema, 10),
	/**
	* Earlier diffs against base: shown, not judged. Their intervals have the plain confidence level of a fixed number of
	* runs; early stopping depends on base, and so partly on them.
	*/
	others: list(object({
		variant,
		comparisons: list(comparisonSchema, 10)
	}), mostVariants).default([]),
	runs: list(runSchema, mostRuns),
	/** Empty unless requested. */
	profiles: list(cellProfileSchema, mostVariants).default([]),
	/** Absent without profiles of both base and patched. */
	reason: reasonSchema.optional()
});
const trialSchema = object({
	number: ordinal,
	attempt: ordinal,
	cell: cellSchema,
	startedAt: time,
	trafficSeconds: seconds,
	offeredPps: rate$1,
	/** Busy share of the DUT's busiest CPU; absent if unknown. */
	busiestCpuRatio: number().min(0).max(1e3).optional(),
	/** Packets sent towards the receiver, by the DUT's own count; absent if unknown. */
	egressPackets: total.optional(),
	/** Packets that arrived from the senders, dropped ones included, by the DUT's own count; absent if unknown. */
	ingressPackets: total.optional(),
	/** Speed of the DUT's port towards the senders, in Gbit/s; absent if unknown. */
	lineGigabits: number().positive().max(1e5).exactOptional(),
	/** The guest that waited longest for the CPUs of its host; absent where none waited for long, or none is a guest. */
	starvation: object({
		machine: line,
		deniedRatio: number().min(0).max(1)
	}).exactOptional(),
	/** Absent if the variants share a kernel. */
	kernel: line.optional(),
	/** By variant, if guests ran side by side. */
	kernels: byVariant(line).exactOptional(),
	/** Time from the trial's beginning until its guests were up; absent where it needed no boot, or machines boot. */
	bootSeconds: seconds.exactOptional(),
	/** Folder, relative to the result file. */
	logs: path
});
const policySchema = object({
	metric: metricSchema,
	marginRatio: share,
	/** Two-sided; 1 − 2 × `missRatio`, as verdicts rest on the interval. */
	confidenceRatio: share,
	/** Share of harmless patches with a regression in any cell. */
	falseAlarmRatio: share,
	/** Share of cells that lost the margin but passed. */
	missRatio: share,
	/** The first losing cell ends the runs of all others; absent: each is measured to its own end. */
	stopsAtFirst: literal(true).exactOptional()
});
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
		cells: list(cellResultSchema, mostCells).min(1)
	}),
	object({
		kind: literal("unchanged"),
		/** Paths of changed files that matter on other testbeds only, or are configured to be ignored. */
		ignoredPaths: array(string().regex(/^[\w+.*@/-]{1,200}$/)).min(1).max(20).exactOptional()
	}),
	...rejections
]);
const variantSummarySchema = object({
	name: variant,
	commit: name,
	/** Repository folder of the overlay files, empty for the top; absent without an overlay. */
	folder: path.optional(),
	files: list(object({
		path,
		/** Path in the repository where the overlay is no folder. */
		source: path.exactOptional(),
		sha256: name
	}))
});
const resultSchema = object({
	schemaVersion: literal(1),
	generator: object({
		name: literal("ppsgate"),
		version: name
	}),
	patch: patchSchema,
	variants: list(variantSummarySchema, mostVariants),
	testbed: object({
		name,
		/** Absent in older results. */
		kind: testbedKindSchema.exactOptional(),
		fingerprint: facts,
		/** Wrong settings that did not prevent the measurement. */
		warnings: list(line, 1e3)
	}),
	policy: policySchema,
	traffic: object({
		flows: count,
		frameBytes: count,
		/** Absent: maximum speed of the sender. */
		offeredPps: rate$1.optional(),
		measureSeconds: seconds
	}),
	seed: int(),
	startedAt: time,
	finishedAt: time,
	trials: list(trialSchema, mostTrials),
	/** Variants other than base and patched that could not be measured. */
	leftOut: list(object({
		variant,
		rejection: rejectionSchema
	}), mostVariants).default([]),
	outcome: outcomeSchema
});
const isCost = (metric) => metric !== "pps";
const isLoss = ({ metric }, change) => isCost(metric) ? change > 0 : change < 0;
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
/** Omits the unit, for axes: `8,314`. */
const formatTick = (value, metric) => metric === "instructionsPerPacket" ? formatCount(value) : formatMetric(value, metric);
const metricNouns = {
	pps: "packets per second",
	nsPerPacket: "CPU time per packet",
	instructionsPerPacket: "instructions per packet"
};
/** With the better direction. */
const metricName = (metric) => `${metricNouns[metric]} (${isCost(metric) ? "less" : "more"} is better)`;
/** Anchor and file name, `which` is a variant or `difference`: `flamegraph-forwarding-inet4-base`. */
const flamegraphAnchor = (cell, which) => `flamegraph-${cellName(cell)}-${which}`.replace(/[^\w.-]+/g, "-");
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** Without a sign, where words give the direction: `8.33 %`. */
const formatSize = (ratio) => `${percentDigits(ratio)} %`;
/** `55.9 ± 0.2 %`, where words give the direction; the error has one digit, at most two decimals. */
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
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `−5 %`, `+5.26 %`, `0`: limits and ticks. */
function formatSigned(ratio) {
	if (ratio === 0) return "0";
	return `${ratio < 0 ? "−" : "+"}${formatPercent(Math.abs(ratio))}`;
}
/** `9.3`: a share in percent beside another. */
const formatShare = (ratio) => (ratio * 100).toFixed(1);
function formatDifference(difference) {
	const shown = Math.abs(difference).toFixed(1);
	if (Number(shown) === 0) return `±${shown}`;
	return `${difference < 0 ? "−" : "+"}${shown}`;
}
/** `+38`, `−1,400`, `+0.85`: two significant digits. */
function formatTwoDigits(difference) {
	const shown = Number(Math.abs(difference).toPrecision(2));
	if (shown === 0) return "±0";
	return `${difference < 0 ? "−" : "+"}${grouped(shown)}`;
}
/** `24 + 24 of 26 + 26`: counted runs of base and patched, of those made if more. */
function formatRuns(counted, made) {
	const isMore = made.some((count, index) => count > (counted[index] ?? 0));
	return `${counted.join(" + ")}${isMore ? ` of ${made.join(" + ")}` : ""}`;
}
/** `pps, nsPerPacket or instructionsPerPacket`. */
const metricChoice = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(metricSchema.options);
const grouped = (value) => value.toLocaleString("en-US");
/** `41 s`, `2 min 5 s`. */
/** `1 run`, `1,200 runs`; the noun takes an s. */
const counted = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
function formatDuration(seconds) {
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
/** `some 25 min`, an estimate. */
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
const numerals = [
	"one",
	"two",
	"three",
	"four",
	"five",
	"six",
	"seven",
	"eight",
	"nine",
	"ten"
];
/** In words up to ten. */
const formatNumeral = (count) => numerals[count - 1] ?? grouped(count);
const ordinals = [
	"first",
	"second",
	"third",
	"fourth",
	"fifth",
	"sixth",
	"seventh",
	"eighth",
	"ninth",
	"tenth"
];
/** In words up to the tenth. */
const formatOrdinal = (number) => ordinals[number - 1] ?? formatShortOrdinal(number);
/** `1st`, `12th`. */
function formatShortOrdinal(number) {
	return `${number}${(number % 100 > 10 && number % 100 < 14 ? void 0 : [
		"th",
		"st",
		"nd",
		"rd"
	][number % 10]) ?? "th"}`;
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
/** Message of a zod issue: `expected a percentage like 2%, found 2`. */
const expected = (what) => ({ input }) => input === void 0 ? `missing; expected ${what}` : `expected ${what}, found ${shown(input)}`;
/** Adds a full stop unless it ends in a question. */
const sentence = (message) => message.endsWith("?") ? message : `${message}.`;
/** At most 40 characters of untrusted text on one line: it may be a secret, or control a terminal. */
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
/** Rounds to the 15 digits of a double: 2.01 Mpps are 2010000 pps, not 2009999.9999999998. */
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

// src/model/usage-error.ts
var UsageError = class extends Error {
	name = "UsageError";
	conclusion = "usage";
};

// src/model/one-line.ts
function reasonOf(error) {
	if (!(error instanceof Error)) return oneLine(String(error));
	if (error.message === "" && "code" in error) return String(error.code);
	return oneLine(error.message);
}
function shortened$1(text) {
	const line = oneLine(text);
	return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
const lastLine = (text) => text.split("\n").map(oneLine).findLast(Boolean);
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

// src/model/escape.ts
/** A code span, cut to `mostCharacters`: no mention, link, reference, markup or line break takes effect. */
function codeSpan(text, mostCharacters = 200) {
	const line = plainLine(text, mostCharacters);
	if (line === "") return "";
	const fence = fenceFor(line, 1);
	const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return `${fence}${padding}${line}${padding}${fence}`;
}
/** A fenced code block, shortened in the middle. */
function codeBlock(text, mostCharacters = 4e3) {
	const block = plainBlock(text, mostCharacters);
	const fence = fenceFor(block, 3);
	return `${fence}\n${block}\n${fence}`;
}
/** Removes control and format characters, on one line; markup stays markup. */
const plainLine = (text, mostCharacters = 200) => cut(withoutControls(text).replace(/\s+/g, " ").trim(), mostCharacters);
/** Several lines, shortened in the middle. */
const plainBlock = (text, mostCharacters = 4e3) => shortened(withoutControls(text).trimEnd(), mostCharacters);
function fenceFor(text, least) {
	const runs = text.match(/`+/g) ?? [];
	return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}
/** Control and format characters colour terminals, reverse text or hide it; tabs and line ends are kept. */
function withoutControls(text) {
	return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
/** Removes terminal sequences; keeps single control characters. */
const withoutSequences = (text) => text.replace(sequences, "");
/**
* Terminal sequences of ECMA-48: control sequences, terminated strings, and character set selection. Node's
* stripVTControlCharacters takes hours for a megabyte of unterminated strings; here no part can begin within another.
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
/** A cut may split a surrogate pair. */
const withoutHalves = (text) => text.replace(/\p{Cs}/gu, "");
/** Rejects anything that could end an address in markup; undefined if it is no page. */
function pageUrl(address) {
	const url = URL.parse(address);
	if (url === null || !["http:", "https:"].includes(url.protocol)) return void 0;
	return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}
const percentEncoded = (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

// src/model/json.ts
/** Returns undefined if it is none: undefined is no JSON value, so any schema rejects it. */
function parseJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/** Parses each line that may be an object, without splitting the text into all its lines; stops after `mostLines`. */
function* jsonLines(text, mostLines) {
	let start = 0;
	for (let lines = 0; lines < mostLines && start < text.length; lines += 1) {
		const newline = text.indexOf("\n", start);
		const end = newline === -1 ? text.length : newline;
		if (text.startsWith("{", start)) yield parseJson(text.slice(start, end));
		start = end + 1;
	}
}

// src/model/pause.ts
/** Resolves on abort, where node's own rejects. */
const realPause = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});

// src/model/priority.ts
const priorities = [
	"release",
	"patch",
	"rerun"
];

// src/model/flows.ts
/**
* Splits a number of flows exactly into sources × destinations: 2000 as 20 × 100. Uses the largest divisor up to 100 as
* destinations that leaves every sender a source; rejects numbers whose sources exceed their network.
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
/** 198.18.10.1 to 198.18.255.254; pkt-gen increments the last 16 bits only. */
const mostSources = {
	inet4: 62974,
	inet6: 65535
};
function greatestDivisor(value, most) {
	let divisor = Math.floor(most);
	while (value % divisor !== 0) divisor -= 1;
	return divisor;
}
/** Slices the sources evenly, one slice per sender. Throws a RangeError for more senders than sources. */
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
* The interface for pkt-gen: a Chelsio port has a second, virtual one for netmap, see cxgbe(4) on `hw.cxgbe.num_vis`.
*/
const netmapPort = (name) => name.replace(/^(?:cxgbe|cxl|cc)\d+$/, "v$&");
/** Driver names as in ifconfig(8) and in the manual: `cxl` and `cxgbe`. */
function driversOf(port) {
	const driver = port.replace(/\d+$/, "");
	return [driver, driverOfPort[driver] ?? driver];
}
/** Drivers whose ports have another name, see section 4 of the manual. */
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
/** `hw.cxgbe.nrxq10g` is no sysctl since FreeBSD 12. em(4) keeps one `fc` for all of its ports. */
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
		ports: ["bnxt"],
		name: "dev.PORT.N.fc.rx",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/bnxt/bnxt_en/bnxt_sysctl.c"
	},
	{
		ports: ["bnxt"],
		name: "dev.PORT.N.fc.tx",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/bnxt/bnxt_en/bnxt_sysctl.c"
	},
	{
		ports: ["igc"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/igc/if_igc.c"
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
	},
	{
		ports: ["mxge"],
		name: "dev.PORT.N.flow_control_enabled",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		permanent: "hw.mxge.flow_control_enabled=\"0\"",
		appliesToGenerators: true,
		source: "mxge(4), sys/dev/mxge/if_mxge.c"
	},
	{
		ports: ["lio"],
		name: "dev.PORT.N.fc",
		expected: "0",
		why: holdsBack,
		fix: "sysctl",
		appliesToGenerators: true,
		source: "sys/dev/liquidio/lio_sysctl.c"
	}
];
/** With the port's name and number filled in; empty for an unknown driver. */
function driverSettingsOf(port) {
	const [, driver = "", unit = ""] = /^(\D+)(\d+)$/.exec(port) ?? [];
	const named = (text) => text.replace("PORT.N", `${driver}.${unit}`);
	return driverSettings.filter(({ ports }) => ports.includes(driver)).map(({ name, fix, ...rest }) => ({
		...rest,
		name: named(name),
		fix: fix === "sysctl" ? fix : { loader: named(fix.loader) }
	}));
}
/** Virtual ports send no pause frames. */
const withoutPauseFrames = [
	"vtnet",
	"vmx",
	"ena",
	"gve",
	"hn",
	"xn",
	"epair",
	"tap",
	"ixv",
	"iavf"
];
/** Its pause frames, if any, are neither read nor fixed here. */
const isFlowControlUnknown = (port) => !withoutPauseFrames.includes(port.replace(/\d+$/, "")) && !driverSettingsOf(port).some(({ appliesToGenerators }) => appliesToGenerators);
/** Sysctls of the firmware: a Chelsio card has several ports, and its own number. */
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
/** Names as in messages; see freebsd-ports.ts. */
const isForwardingPathSetting = (name) => /^the (?:route|blackhole route|mac address|mtu) /i.test(name);

// src/model/overlay-files.ts
const overlayFiles = {
	linux: ["nftables.conf", "sysctl.conf"],
	freebsd: ["pf.conf", "ipfw.rules"]
};
/** A DUT loads no other file of an overlay, in base as little as in patched. */
const isLoaded = (system, path) => overlayFiles[system].some((name) => name === path);
/** Git's modes; Debian's nftables.conf is executable. */
const plainModes = ["100644", "100755"];
/** False for a link or a submodule, whose content is elsewhere. */
const isPlain = (mode) => plainModes.includes(mode);
/** Returns the first file that a DUT would load and cannot, as it is a link; undefined without one. */
const linkAmong = (files, system) => files.find(({ path, mode }) => isLoaded(system, path) && !isPlain(mode));
/** Returns a sentence for each file of the variants' overlays that no DUT of the system loads. */
function ignoredFiles(variants, system) {
	const paths = variants.flatMap(({ folder, files }) => files.filter(({ path }) => !isLoaded(system, path)).map(({ path }) => [folder, path].filter(Boolean).join("/")));
	const names = overlayFiles[system].join(" and ");
	return [...new Set(paths)].map((path) => `${path} is not measured: of an overlay this testbed loads ${names}.`);
}
/** Names in an overlay's files stand for the ports of a testbed, or for an interface that no packet uses. */
const interfaceRoles = [
	"ingress",
	"egress",
	"unused"
];

// src/model/without-paths.ts
/**
* Replaces absolute paths, of this machine or the lab, by `[path]`: messages of Node, git and ssh do not distinguish
* them. Keeps URLs, commands to ppsgate and paths within a tree.
*/
const withoutPaths = (text) => text.replace(quotedPath, "[path]").replace(barePath, (found) => `[path]${endOf(found)}`);
/** Line number and punctuation after a path, up to 40 characters. */
const endOf = (found) => /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? "";
const quotes = "'\"`‘’“”";
const start = "(?:file:/+|~[\\w.-]{0,64}/|/+)";
/** Excludes ppsgate's commands, and prefix lengths as in ::/0. */
const noPath = `(?!/(?:ppsgate|\\d{1,3})(?:[\\s${quotes}.,;:)]|$))`;
const letter = `[^\\s${quotes}]`;
/** May contain blanks, as in Node's `open '/home/alice/my lab/key'`. */
const quotedPath = new RegExp(`(?<=[${quotes}])${noPath}${start}[^${quotes}\\n]{1,4096}(?=[${quotes}])`, "gu");
/** A word with a slash after a blank continues the path. */
const barePath = new RegExp(`(?<![\\p{L}\\p{N}_./<~+-])(?!(?<=:)//)${noPath}${start}(?!/)${letter}+(?:(?<![.,;:!?)]) (?!/|~|${letter}*://)${letter}*/${letter}*)*`, "gu");

// src/model/bisect-result.ts
const mostCommits = 2e4;
/** With the good end. */
const mostRevisions = 20001;
/** Why a commit cannot be measured: seen twice, or on a neighbour too; or once, if nothing depended on it. */
const faultSchema = discriminatedUnion("kind", [...rejections, object({
	kind: literal("forwards-nothing"),
	message: prose()
})]);
/** A build of a revision: its own, or with fix-ups on top. */
const formSchema = object({
	/** `base` for the good end, `patched` for the bad one, else an abbreviated commit id, plus those of fix-ups. */
	variant,
	fixUps: list(commitId, 100),
	/** Rate of each boot, or of each run if variants share a trial, in the metric's unit. */
	values: list(rate$1),
	fault: faultSchema.optional()
});
/** A commit of the range, with later ones that leave the kernel or the installed files unchanged. */
const revisionSchema = object({
	/** Steps along first parents; 0 is the good end. */
	place: count,
	commit: commitId,
	/** Id of the Phabricator diff that the commit was made of, for a bisection of a revision's diffs. */
	diff: id.exactOptional(),
	subject: line,
	author: line,
	/** Number of following commits with the same kernel or files. */
	alike: count,
	isSkipped: boolean(),
	/** Untried, between two similar failures. */
	isAssumedFailed: boolean(),
	/** Probability of being the change, given all measurements. */
	probability: share,
	/** Tried variants; mostly empty. */
	forms: list(formSchema, 1e3)
});
/** The commit named as bad: its kernel or files may be those of an earlier one. */
const namedCommitSchema = revisionSchema.pick({
	commit: true,
	diff: true,
	subject: true,
	author: true
});
const bisectConfidenceRatio = .95;
const changeSchema$1 = object({
	...intervalSchema.shape,
	/** Geometric means before and after it, up to the next change, in the metric's unit. */
	before: level,
	after: level
});
/** Indices into `revisions`. */
const foundSchema = discriminatedUnion("kind", [object({
	kind: literal("culprit"),
	revision: ordinal,
	probability: share,
	change: changeSchema$1,
	/** Fix-ups on top of it, which could have caused the fault. */
	measuredWith: list(commitId, 100)
}), object({
	kind: literal("group"),
	after: count,
	last: ordinal,
	probability: share,
	change: changeSchema$1,
	/** The commit that probably fixed the ones before it: a fix-up that would help. */
	likelyFix: commitId.optional()
})]);
const bisectAnswerSchema = discriminatedUnion("kind", [
	...foundSchema.options,
	object({
		kind: literal("several"),
		found: list(foundSchema, 100).min(1),
		open: list(object({
			after: count,
			last: ordinal
		}), 100)
	}),
	object({
		kind: literal("not-reproduced"),
		/** Absent if an end could not be measured. */
		change: changeSchema$1.optional(),
		fault: object({
			revision: count,
			fault: faultSchema
		}).optional()
	}),
	object({
		kind: literal("slide"),
		change: changeSchema$1,
		steps: list(ordinal, mostRevisions)
	}),
	object({
		kind: literal("inconclusive"),
		change: changeSchema$1,
		best: list(object({
			revision: ordinal,
			probability: share
		})),
		bootsExpected: count
	})
]);
const bisectResultSchema = object({
	schemaVersion: literal(1),
	kind: literal("bisect"),
	generator: object({
		name: literal("ppsgate"),
		version: name
	}),
	good: name,
	bad: name,
	/** Absent in older results. */
	badCommit: namedCommitSchema.exactOptional(),
	fixUps: list(name, 100),
	testbed: object({
		name,
		/** Absent in older results. */
		kind: testbedKindSchema.exactOptional(),
		fingerprint: facts,
		warnings: list(line, 1e3)
	}),
	cell: cellSchema,
	metric: metricSchema,
	traffic: object({
		flows: count,
		frameBytes: count,
		offeredPps: rate$1.optional(),
		measureSeconds: seconds
	}),
	history: historySchema.optional(),
	/** Several variants share a trial; otherwise each boot has one. */
	isShared: boolean(),
	seed: int(),
	startedAt: time,
	finishedAt: time,
	revisions: list(revisionSchema, mostRevisions).min(2),
	answer: bisectAnswerSchema,
	/** Boots, or shared trials, including failed ones. */
	boots: count,
	/** The bad end without the culprit; absent if not requested. */
	revert: discriminatedUnion("kind", [object({
		kind: literal("measured"),
		values: list(rate$1),
		change: changeSchema$1
	}), object({
		kind: literal("impossible"),
		why: prose()
	})]).optional(),
	/** `base` is the culprit's parent, `patched` the culprit. */
	profiles: list(cellProfileSchema, mostVariants),
	reason: reasonSchema.optional(),
	runs: list(runSchema, mostRuns),
	trials: list(trialSchema, mostTrials)
});

// src/model/xml.ts
/** Fits text and quoted attributes. Characters that XML forbids, or that hide or reverse text, become a space. */
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
/** Only base and patched get a verdict; others are shown beside them. */
const isJudged = (variant) => variant === "base" || variant === "patched";
/** `diff 80345`: an earlier diff of a revision. */
const diffName = (diff) => `diff ${diff}`;
/** Names a kernel that was linked several times; see `Run`. */
const layoutName = (variant, layout) => layout === void 0 ? variant : `${variant} layout ${layout}`;
const pathName = (variant) => variant.replaceAll(" ", "-");

// src/model/freebsd-machine.ts
const withoutKernelFacts = (fingerprint) => Object.fromEntries(Object.entries(fingerprint).filter(([name]) => !kernelDependentFacts.has(name) && !kernelFacts.has(name)));
/** Facts that neither another kernel nor another boot changes. */
const machineFacts = (fingerprint) => Object.fromEntries(Object.entries(withoutKernelFacts(fingerprint)).filter(([name]) => !volatileFacts.has(name)));
const kernelFacts = /* @__PURE__ */ new Set([
	"ident",
	"RSS",
	"release"
]);
const kernelDependentFacts = /* @__PURE__ */ new Set([
	"kernel",
	"kern.bootfile",
	"kern.boottime",
	"kernel sha256"
]);
/** The frequency follows the load; the kernel chooses the route lookup by the number of routes, among others. */
const volatileFacts = /* @__PURE__ */ new Set([
	"dev.cpu.0.freq",
	"net.route.algo.inet.algo",
	"net.route.algo.inet6.algo"
]);

// src/model/remarkup.ts
/**
* Inline code, cut to `mostCharacters`: no mention, object, link, macro or line break takes effect. Must not follow a
* letter or digit directly, or its first backtick is literal.
*/
const remarkupText = (untrusted, mostCharacters = 200) => inCode(plainLine(untrusted, mostCharacters));
/** Takes a plain line: removing characters later could join separate ones. */
function inCode(line) {
	const inside = line.replaceAll("`", "'").replaceAll("${{{", "$ {{{");
	return inside === "" ? "" : `\`${inside}\``;
}
/** Fits a table column, which is split at `|` before code is recognized, except between `[[` and `]]`. */
const remarkupCell = (untrusted, mostCharacters = 100) => inCode(plainLine(untrusted, mostCharacters).replaceAll("|", "¦").replace(/\[(?=\[)/g, "[ "));
/** Escapes a line of our own that may contain untrusted parts: anything but plain words becomes code. */
const remarkupWords = (line) => plainLine(line, 300).split(" ").map((word) => plainWord.test(word) ? word : remarkupText(word)).join(" ");
/** Excludes capitals, which may name a repository, and possible commit hashes. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;
/**
* A code block that scrolls beyond `visibleLines`; shortened in the middle. A line that ends in three backticks would
* close it, and a first line like `lang=c` would set options, had the block none.
*/
function remarkupBlock(name, untrusted, visibleLines = 12, mostCharacters = 6e3) {
	return `\`\`\`lang=text, name=${name.replace(/[^\w .-]+/g, "").trim()}, lines=${visibleLines}\n${plainBlock(untrusted, mostCharacters).replaceAll("```", "'''")}\n\`\`\``;
}
/**
* Alternative text of an image, as in `{F1, alt=…}`. Phorge shows the braces in place of the image where another rule
* takes effect in them, so letters and digits that could name an object or a commit are set apart.
*/
const remarkupAlt = (text, mostCharacters = 300) => plainLine(text, mostCharacters).replaceAll(",", ";").replace(/[^\p{L}\p{N} .:;%±…–−+()-]+|:(?! )/gu, " ").replace(/[A-Z](?=\d)|r(?=[A-Z])|[0-9a-f]{6}(?=[0-9a-f])/g, "$& ").replace(/ +/g, " ").trim();

// src/model/packages.ts
/** Program → Debian's and Ubuntu's package, or FreeBSD's for its own programs. */
const packages = {
	bash: "bash",
	busybox: "busybox-static",
	chrt: "util-linux",
	cpio: "cpio",
	"dpkg-deb": "dpkg",
	ethtool: "ethtool",
	flock: "util-linux",
	gcc: "build-essential",
	git: "git",
	ip: "iproute2",
	kmod: "kmod",
	nft: "nftables",
	pkill: "procps",
	"pkt-gen": "pkt-gen",
	"qemu-system-x86_64": "qemu-system-x86",
	"ssh-keygen": "openssh-client",
	sshd: "openssh-server",
	sysctl: "procps",
	taskset: "util-linux",
	trafgen: "netsniff-ng",
	unshare: "util-linux",
	xz: "xz-utils",
	zstd: "zstd"
};
const packagesOf = (programs) => [...new Set(programs.map((program) => packages[program]))];
/** Undefined for a program that no lab needs. */
function packageOf(name) {
	return Object.entries(packages).find(([program]) => program === name)?.[1];
}

// src/model/trend.ts
const resultPath = name.regex(/^results\/\d{4}\/\w[\w.-]*$/);
const rates = list(measured);
/** A line of `trend/TESTBED/CELL/YEAR.jsonl`: one commit of the default branch in one session. */
const nightlySchema = object({
	at: time,
	commit: commitId,
	/** Orders commits; absent: unknown, `at` is used. */
	committedAt: time.optional(),
	/** `again` repeats a session that was off. */
	occasion: _enum([
		"nightly",
		"push",
		"again"
	]),
	/** Numbers of the trials; empty if the DUT has none. */
	pps: rates,
	nsPerPacket: rates,
	/** Absent from older lines. */
	instructionsPerPacket: rates.default([]),
	/** Key in `fingerprints` of the index; empty in older lines. */
	fingerprint: name,
	/** Folder of the result, which may be gone. */
	result: resultPath.optional()
});
/** Identity of a testbed: another firmware, setting, or for Linux kernel makes another one. */
const fingerprintSchema = object({
	id: string().regex(/^[0-9a-f]{12}$/),
	testbed: name,
	since: time,
	/** New facts as `name: value`, for people; empty for the first. */
	differs: list(line, 1e3),
	/** Kept for comparison with the next one; only the testbed's last one has them. */
	facts: facts.optional()
});
const levelSchema = object({
	cell: cellSchema,
	/** Medians of nightly runs, in the metric's unit. */
	before: measured,
	after: measured,
	/** `after` to `before`, minus one: −0.041 is 4.1 % less. */
	changeRatio: change,
	/** Begin of the first nightly run at the new level, which identifies it. */
	firstAt: time
});
const changeStates = [
	"candidate",
	"confirming",
	"code",
	"testbed",
	"accepted",
	"recovered"
];
/** A lasting step of a testbed's level, in all cells that stepped between the same two commits. */
const changeSchema = object({
	/** Forty hex digits of the testbed and both commits, twelve in old files: the key of all that is written about it. */
	id: string().regex(/^[0-9a-f]{12}(?:[0-9a-f]{28})?$/),
	testbed: name,
	metric: metricSchema,
	/** Last commit of the old level and first of the new one; equal if none came between. */
	good: commitId,
	bad: commitId,
	cells: list(levelSchema, 1e3).min(1),
	state: _enum(changeStates),
	foundAt: time,
	changedAt: time,
	gates: list(object({
		at: time,
		result: resultPath,
		verdict: _enum(verdictsWorstFirst),
		cells: list(object({
			cell: cellSchema,
			interval: intervalSchema.optional()
		}), 1e3)
	})),
	/** Bisection of its range; with the commit if it named a single one. */
	bisection: object({
		result: resultPath,
		culprit: commitId.optional()
	}).optional(),
	/** Notification of the change; `intended` is set before sending, and stays if the outcome is unknown. */
	alert: object({
		intended: time.optional(),
		/** Random name of the updating process, with which two concurrent ones detect each other. */
		updates: name.optional(),
		issue: id.optional(),
		/** Last posted text, as in `saidOf` of the alert. */
		postedText: text(1e5).optional(),
		/** The commit whose pull request and revision were looked up and commented. */
		commentedCommit: commitId.optional(),
		/** Commented pull requests and revisions, as `#12` and `D27401`. */
		told: list(line).default([])
	}).default({ told: [] })
});
const changeSumsSchema = object({
	cell: cellSchema,
	/** Sums over log changes, and over their squared standard errors. */
	sumOfSquares,
	runSumOfSquares: sumOfSquares
});
const gateSumsSchema = object({
	/** Gates with a judged cell, and those with a regression or an improvement. */
	gates: count,
	alarms: count,
	/** Cells likewise, and those that could not be judged. */
	cells: count,
	cellAlarms: count,
	inconclusive: count,
	invalid: count
});
/** Counts false alarms of A/A runs, one count per method. */
const aaRunCountsSchema = object({
	/** Both variants are one build, or two layouts of one tree. */
	kind: _enum(["same-build", "layout-noise"]),
	testbed: name,
	fingerprint: name,
	metric: metricSchema,
	marginRatio: share,
	falseAlarmRatio: share,
	design: _enum(designNames),
	since: time,
	last: time,
	...gateSumsSchema.shape,
	alarmed: list(object({
		at: time,
		cells: list(cellSchema, 1e3),
		result: resultPath
	})),
	/** Compares changes between two layouts with their runs. */
	scatter: list(changeSumsSchema.extend({ gates: ordinal }), 1e3),
	/** The newest gates, oldest first, so that a republished gate counts once; absent from old counts. */
	newest: list(object({
		at: time,
		...gateSumsSchema.shape,
		scatter: list(changeSumsSchema, 1e3)
	})).optional()
});
/** `trend/index.json`. */
const trendIndexSchema = object({
	schemaVersion: literal(1),
	/** Cells with nightly runs; years ascending. */
	cells: list(object({
		testbed: name,
		cell: cellSchema,
		years: list(count, 1e3)
	})),
	fingerprints: list(fingerprintSchema),
	/** Oldest first; never dropped. */
	changes: list(changeSchema),
	aaRuns: list(aaRunCountsSchema),
	/** Release tags measured since; newest last. */
	releases: list(object({
		name,
		commit: commitId,
		at: time
	})),
	/** Page of the commits between `{from}` and `{to}`. */
	compareUrl: url.optional()
});

// src/model/planned-trial.ts
const plannedRunSchema = object({
	number: ordinal,
	variant,
	pair: ordinal,
	layout: ordinal.optional()
});
const plannedTrialSchema = object({
	number: ordinal,
	cell: cellSchema,
	runs: list(plannedRunSchema).min(1)
});
/** Pairs rotate through the layouts, both counted from 1. */
const layoutOfPair = (pair, layouts) => (pair - 1) % layouts + 1;

// src/model/lease-outcome.ts
const notUsed = (why) => `not used: ${why}`;
const endedEarly = (why) => `ended: ${why}`;
/** Incomplete uses do not count for the usual duration of leases. */
const isCompleted = (outcome) => ![notUsed(""), endedEarly("")].some((start) => outcome?.startsWith(start));

export { UsageError, bisectConfidenceRatio, bisectResultSchema, bounds_exports, byMetric, byName, callOnGithub, callOnPhabricator, cellName, cellProfileSchema, cellSchema, change, changeStates, codeBlock, codeSpan, commitId, conclusionOfBisection, conclusionOfError, conclusionOfResult, conclusionOfVerdict, count, counted, designNames, designSchema, diffName, diffPhids, document, driverSettingsOf, driversOf, duration, earlierGatesSchema, endedEarly, escaped, excerpt, exitCodes, expected, facts, families, familySchema, firmwareNames, flamegraphAnchor, flowRanges, flowSlices, formatChange, formatChangeAndError, formatDifference, formatDuration, formatEstimate, formatInterval, formatMetric, formatNumeral, formatOrdinal, formatPercent, formatPps, formatProbability, formatRoughly, formatRuns, formatShare, formatShortOrdinal, formatSigned, formatSize, formatSizeAndError, formatTick, formatTwoDigits, grouped, historySchema, id, ignoredFiles, interfaceRoles, isCompleted, isCost, isFlowControlUnknown, isForwardingPathSetting, isJudged, isLinuxScenario, isLoaded, isLoss, isPlain, jsonLines, kernelDependentFacts, lastLine, layoutName, layoutOfPair, level, line, linkAmong, list, machineFacts, maxEarlierGates, measured, metricChoice, metricName, metricNouns, metricSchema, mostChange, mostCommits, mostDocument, mostRuns, mostTrials, mostVariants, name, namedCommitSchema, netmapPort, nightlySchema, notUsed, oneLine, ordinal, overlayFiles, ownRulesSchema, packageOf, packagesOf, pageUrl, parseJson, patchIdentity, patchName, patchSchema, path, pathName, plainBlock, plainLine, plannedTrialSchema, policySchema, priorities, prose, rate, rate$1, ratio, realPause, reasonOf, rejectionSchema, remarkupAlt, remarkupBlock, remarkupCell, remarkupText, remarkupWords, resultSchema, runSchema, scenarioSchema, scenarios, scenariosOf, seconds, sentence, share, shortId, shortened$1 as shortened, size, systemOfScenario, systemOfTestbedKind, testbedKindSchema, text, time, total, trendIndexSchema, trialSchema, url, variant, verdictsWorstFirst, volatileFacts, waivableSettings, withoutKernelFacts, withoutPaths, withoutSequences, word, worstConclusion };