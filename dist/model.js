import { __exportAll } from "./rolldown-runtime.js";
import { _enum, array, boolean, datetime, discriminatedUnion, int, literal, number$1 as number, object, record as record$1, string, url as url$1 } from "./vendor/zod.js";
import { excerpt } from "./model/excerpt.js";
import { isDeepStrictEqual } from "node:util";
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
/** Errors from outside the lab carry a property `conclusion`. */
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
/** Runs, trials, boots, cells, commits, flows: small enough to loop over. */
const count = int().nonnegative().max(mostCount);
const ordinal = count.positive();
/** Packets, instructions, bytes, ids: never looped over; exact in a double. */
const total = int().nonnegative();
const id = int().positive();
/** Per second, or ns or instructions per packet. The logarithm of any ratio of two is finite. */
const measured = number().min(leastRate).max(mostRate);
/** Like `measured`, or zero. */
const rate$1 = number().nonnegative().max(mostRate).refine((value) => value === 0 || value >= leastRate);
const level = number().nonnegative().max(mostChange);
const sumOfSquares = number().nonnegative().max(0xe8d4a51000);
const seconds = number().nonnegative().max(1e9);
/** From 0 to 1; a sum of shares may exceed either by a rounding error. */
const share = number().min(-1e-6).max(1 + 1e-6);
/** Ratio to the earlier value, minus one. */
const change = number().min(-1).max(mostChange);
const text = (most) => string().max(most);
const name = text(250);
/** A bisection's variant also names each fix-up. */
const variant = text(2e3);
const path = text(4096);
/** Name, id or address in another service. */
const word = text(4096);
/** Size limit of a file, a diff, a comment or a command's output. */
const mostDocument = 32 * 1024 ** 2;
const document = text(mostDocument);
const url = url$1().max(4096);
/** An ISO time may have any number of decimals. */
const time = datetime().max(40);
/** Cuts text that only people read after `most` characters: lines of logs and patches have any length. */
const prose = (most = 2e4) => string().overwrite((said) => (said.length > most ? `${said.slice(0, most - 1)}…` : said).toWellFormed());
const line = prose(4e3);
const list = (item, most = 1e4) => array(item).max(most);
const record = (key, value, most) => record$1(key, value).refine((entries) => Object.keys(entries).length <= most);
const byName = (value) => record(name, value, 1e3);
const byVariant = (value) => record(variant, value, 1e3);
const facts = byName(line);

// src/model/limits.ts
const mostCpus = 1024;
const mostQueues = 2048;
const mostDrops = 200;
const mostTables = 20;
const mostNotUnderstood = 50;
/** In the order of a packet's way. */
const dropPlaces = [
	"before-dut",
	"card",
	"driver",
	"backlog",
	"ip",
	"firewall",
	"state-table",
	"output-queue",
	"after-dut"
];
const dropPlaceSchema = _enum(dropPlaces);
const directionSchema = _enum(["receive", "send"]);
const stateTableSchema = object({
	name,
	states: total,
	limit: id
});
/** `softnet` and `netisr` count by CPU; other devices by queue of the card. */
const queueSchema = object({
	device: name,
	direction: directionSchema,
	number: count
});
const dropSchema = object({
	place: dropPlaceSchema,
	cause: name
});
/** Readings of one variant in one trial; all counts are of the same stretch of traffic. */
const trialLimitsSchema = object({
	offeredPackets: total,
	receivedPackets: total,
	/** Busy share of each CPU, by its number; empty if unknown, or if the stretch is too short for clock ticks. */
	cpuBusyRatios: list(share, mostCpus),
	queues: list(queueSchema.extend({ packets: total }), mostQueues),
	drops: list(dropSchema.extend({ packets: total }), 200),
	stateTables: list(stateTableSchema, mostTables),
	/** Readings in the log of counters without a known number. */
	notUnderstood: list(name, 50)
});
/** Medians over the trials of one variant. */
const variantLimitsSchema = object({
	trials: ordinal,
	/** Not received, as a share of the offered packets; below 0 if more arrived than the count of offered packets. */
	lostRatio: number().min(-1e3).max(1),
	cpuBusyRatios: list(share, mostCpus),
	/** `ratio` is the share of the device's packets in that direction. */
	queues: list(queueSchema.extend({ ratio: share }), mostQueues),
	/** Shares of the offered packets, largest first. */
	drops: list(dropSchema.extend({ ratio: level }), 200),
	/** With the most states of any trial. */
	stateTables: list(stateTableSchema, mostTables),
	notUnderstood: list(name, 50)
});
/** A CPU, a queue or a drop whose share differs between base and patched beyond chance. */
const differingLimitSchema = discriminatedUnion("kind", [
	object({
		kind: literal("cpu"),
		number: count
	}),
	object({
		kind: literal("queue"),
		...queueSchema.shape
	}),
	object({
		kind: literal("drop"),
		...dropSchema.shape
	})
]);
const cellLimitsSchema = object({
	base: variantLimitsSchema,
	patched: variantLimitsSchema,
	differing: list(differingLimitSchema, 3272)
});

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
	/** Target branch; absent in older results. */
	baseBranch: path.optional(),
	baseCommit: commitId,
	headCommit: commitId
});
/** PHIDs identify a revision and its diff even after a restored server has reused their numbers. */
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
	/** Computed from the diff alone; see `commitDiff` of repository.ts. */
	headCommit: commitId,
	/** Earlier diffs measured for comparison, oldest first. */
	earlier: list(object({
		diff: id,
		headCommit: commitId
	}), 1e3),
	/** Sentence on the diff's base commit, if it is missing here, such as that of an open parent revision. */
	missingBase: prose().optional(),
	/** Notes for the report: how the base was found, what was left out. */
	notes: list(prose(), 1e3)
});
const range = object({
	kind: literal("range"),
	/** `old.conf → new.conf` for two files outside any repository. Holds no Markdown, and mentions no user. */
	name: string().regex(/^[\w./ +→-]{1,200}$/).exactOptional(),
	title: line,
	author: line,
	baseCommit: commitId,
	headCommit: commitId
});
const between = " → ";
/** Names a comparison of two; see `name` of a range. */
const comparisonName = (old, other) => `${old}${between}${other}`;
/** Returns both names of a comparison; undefined for any other patch. */
function comparedNames(patch) {
	const [base, patched] = (patch.kind === "range" ? patch.name : void 0)?.split(between) ?? [];
	return base === void 0 || patched === void 0 ? void 0 : {
		base,
		patched
	};
}
/** Length as in git for a large repository, also used in variant names. */
const shortId = (commit) => commit.slice(0, 12);
const patchSchema = discriminatedUnion("kind", [
	pullRequest,
	revision,
	range
]);
/** First word of a command in a GitHub comment. */
const callOnGithub = "/ppsgate";
/** The same on Phabricator, where a slash has no meaning. */
const callOnPhabricator = "@ppsgate";
/** Like `patchName`, but with full ids: short ones can be forged. */
const patchIdentity = (patch) => patch.kind === "range" ? `${patch.baseCommit}..${patch.headCommit}` : patchName(patch);
/** `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
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
/** Appears unescaped in Markdown, so it must not become a link on GitHub. */
const scenarioSchema = string().regex(/^(?!.*(?:[wW]{3}\.|[gG][hH]-\d))[a-zA-Z0-9][\w.-]{0,62}$/);
/** A site's own firewall rules for FreeBSD: pf.conf(5), or commands of ipfw(8) without its name. */
const ownRulesSchema = object({
	firewall: _enum(["pf", "ipfw"]),
	text: text(1e6),
	/** If set, a trial that leaves fewer states than flows is invalid: other rules were measured. */
	keepsStates: boolean()
});
const familySchema = _enum(families);
const cellSchema = object({
	scenario: scenarioSchema,
	family: familySchema,
	/** Includes the 4 bytes of CRC; present only if several sizes are measured. */
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
	/** Up to 20 lines of the DUT's console, if recorded: from the panic on, or the last ones. */
	console: prose().optional(),
	/** Number of non-empty lines on the whole console; present if `console` omits some. */
	consoleLines: count.optional(),
	/** Log of a deleted guest's whole console. Absent for a machine, which is back on its own kernel. */
	guestConsole: name.exactOptional()
};
/** Exported as a list for use in a larger union. */
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
/** Undefined for scenarios of both systems, and for a site's own. */
function systemOfScenario(scenario) {
	const systems = ["linux", "freebsd"].filter((system) => scenariosOf[system].some((name) => name === scenario));
	return systems.length === 1 ? systems[0] : void 0;
}

// src/model/traffic.ts
const port = int().min(1).max(65535);
/** One port, or a range that the flows take in turn. */
const portRangeSchema = object({
	first: port,
	last: port
}).refine(({ first, last }) => first <= last);
const weightedSize = object({
	/** With 4 bytes of CRC. */
	frameBytes: int().min(64).max(1518),
	weight: int().min(1).max(100)
});
const mostSizes = 10;
const packetsSchema = object({
	/** Absent: UDP. TCP packets are SYN segments, none of which opens a connection. */
	protocol: literal("tcp").exactOptional(),
	/** Absent: ports of ppsgate's own choice. */
	ports: object({
		source: portRangeSchema.exactOptional(),
		destination: portRangeSchema.exactOptional()
	}).exactOptional(),
	/** A mix of sizes, the smallest first, whose mean is `frameBytes`; absent: one size. */
	sizes: list(weightedSize, 10).min(2).exactOptional(),
	/** A pcap file, whose packets replace all described here. */
	capture: object({
		sha256: string().regex(/^[0-9a-f]{64}$/),
		packets: ordinal,
		families: array(_enum(families)).min(1).max(families.length)
	}).exactOptional()
});
const offeredTrafficSchema = object({
	flows: count,
	frameBytes: count,
	/** Absent: maximum speed of the sender. */
	offeredPps: rate$1.optional(),
	/** Absent: the usual packets, and all of older versions. */
	packets: packetsSchema.optional()
});
/** Leaves out durations and absent properties. */
const offeredTraffic = ({ flows, frameBytes, offeredPps, packets }) => ({
	flows,
	frameBytes,
	...offeredPps !== void 0 && { offeredPps },
	...packets !== void 0 && { packets }
});
const isSameTraffic = (a, b) => isDeepStrictEqual(offeredTraffic(a), offeredTraffic(b));
/** The simple IMIX: IPv4 packets of 40, 576 and 1500 bytes, with 14 bytes of Ethernet and the CRC. */
const imix = [
	{
		frameBytes: 64,
		weight: 7
	},
	{
		frameBytes: 594,
		weight: 4
	},
	{
		frameBytes: 1518,
		weight: 1
	}
];
function meanFrameBytes(sizes) {
	const frames = sizes.reduce((sum, { weight }) => sum + weight, 0);
	return sizes.reduce((sum, { frameBytes, weight }) => sum + frameBytes * weight, 0) / frames;
}
/** `UDP`, `UDP to port 53, IMIX (7:4:1)`, `TCP SYN from ports 1024–65535 to port 443`. */
function packetsText({ protocol, ports = {}, sizes, capture } = {}) {
	if (capture !== void 0) return `${capture.packets} packets of a pcap (SHA-256 ${capture.sha256.slice(0, 12)}…)`;
	const { source, destination } = ports;
	const headers = [
		protocol === "tcp" ? "TCP SYN" : "UDP",
		...source === void 0 ? [] : [`from ${portsText(source)}`],
		...destination === void 0 ? [] : [`to ${portsText(destination)}`]
	].join(" ");
	return sizes === void 0 ? headers : `${headers}, ${sizesText(sizes)}`;
}
const hasOneSize = ({ sizes, capture } = {}) => sizes === void 0 && capture === void 0;
function sizesText(sizes) {
	const weights = sizes.map(({ weight }) => weight).join(":");
	if (isDeepStrictEqual(sizes, imix)) return `IMIX (${weights})`;
	return `frames of ${sizes.map(({ frameBytes }) => frameBytes).join(", ")} bytes (${weights})`;
}
const portsText = ({ first, last }) => first === last ? `port ${first}` : `ports ${first}–${last}`;

// src/model/result.ts
/** A cell has at most 10,000 pairs, and each run of a trial may be repeated. */
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
/** One variant measured once: one number per metric, and its samples. */
const runSchema = object({
	number: ordinal,
	trial: ordinal,
	/** A trial with an invalid run is repeated. All attempts are kept. */
	attempt: ordinal,
	/** A pair has one consecutive run of each variant in its cell. */
	pair: ordinal,
	variant,
	/** Seed of the section order of the booted kernel; 1 is the linker's own order. Absent if linked only once. */
	layout: ordinal.optional(),
	/** Sent by the DUT; the median of the samples. Zero can be valid, see `docs/how-to/reading-a-report.md`. */
	pps: rate$1,
	/** CPU time of the DUT's forwarding thread per packet, in ns; the median of the samples. Absent if unknown. */
	nsPerPacket: measured.optional(),
	/** Instructions that the guest executed per forwarded packet; absent if not counted. */
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
	/** Rule, chain or setting that dropped all packets, for a run that forwarded none; absent if unknown. */
	droppedBy: line.exactOptional()
});
/** Changes are ratios to base: −0.1 is 10 % less. */
const intervalSchema = object({
	change,
	low: change,
	high: change
});
/**
* Compares one metric of a cell, in packets per second, or in ns or instructions per packet. The change of patched is
* corrected for early stopping, and its interval holds at every interim analysis.
*/
const comparisonSchema = object({
	metric: metricSchema,
	base: level,
	/** In `others`, the level of that variant, as in `patchedRuns`. */
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
		/** Undecided when another cell's loss ended the experiment; see `gate.stopAtFirst`. */
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
	/** Maximum pairs: the planned number, then that of each extension; ascending. */
	budgets: list(ordinal, 100).min(1),
	pairsPerStep: ordinal,
	method: _enum(["paired", "pooled"])
});
const historySchema = object({
	runs: ordinal,
	/** Geometric mean and number of base's runs since its last change. */
	typical: measured,
	typicalRuns: ordinal,
	/**
	* Squared deviations of each session's mean log run from its level's mean; `sinceMove` counts the sessions since base
	* last changed. Absent in older results.
	*/
	sessionMeans: object({
		sinceMove: ordinal,
		sumOfSquares,
		degreesOfFreedom: count
	}).exactOptional(),
	/** Squared deviations of log runs from the mean of their experiment. */
	sumOfSquares,
	degreesOfFreedom: count,
	/**
	* Degrees of freedom of the variances of the testbed's sessions around that of their cell; few if sessions differ
	* much in noise. Absent before the tenth session.
	*/
	sessionDegreesOfFreedom: number().positive().max(16).exactOptional()
});
const maxEarlierGates = 1e3;
/** Earlier gates of the same base and head in this cell, from the history: same testbed, traffic and policy. */
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
/** Sampled in a run besides the measured ones; or the reason why there is none. */
const cellProfileSchema = discriminatedUnion("kind", [object({
	kind: literal("profiled"),
	variant,
	/** As the profiler names it: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
	event: name,
	kernel: line,
	seconds: seconds.positive(),
	/** Excludes idle samples. All shares are of these. */
	busySamples: id,
	idleSamples: total,
	/** Folded stacks; path relative to the result file. The DUT's raw output is next to it. */
	file: path
}), object({
	kind: literal("missing"),
	variant,
	reason: line
})]);
/** A function whose own cost, without callees, changed significantly. Ratios are shares of busy samples. */
const changedFunctionSchema = object({
	function: line,
	/** Kernel or module, without its folder; absent if unknown. */
	module: line.optional(),
	baseRatio: share,
	patchedRatio: share,
	/** Its share of the DUT's time per packet, in ns; absent if not measured. */
	nsPerPacket: object({
		base: level,
		patched: level
	}).optional(),
	/** Its share of the instructions per packet, if counted and sampled; replaces `nsPerPacket`. */
	instructionsPerPacket: object({
		base: level,
		patched: level
	}).optional()
});
const reasonSchema = object({
	/** Greatest change first, at most ten; empty if no function changed significantly. */
	changedFunctions: list(changedFunctionSchema, 100),
	/** Number of all functions that changed significantly. */
	moved: count,
	/** Frames whose stacks were left out as idle; only those that occurred. */
	idleFrames: list(line, 1e3)
});
const cellResultSchema = object({
	cell: cellSchema,
	verdict: cellVerdictSchema,
	design: designSchema,
	history: historySchema.optional(),
	/** Absent for the first gate. */
	earlierGates: earlierGatesSchema.exactOptional(),
	baseline: baselineSchema,
	/** Pairs available at the decision, or at the end of the budget. */
	pairs: count,
	/** The judged metric first, then the others; empty for a cell without enough runs. */
	comparisons: list(comparisonSchema, 10),
	/**
	* Earlier diffs against base: shown, not judged. Their intervals have the plain confidence level of a fixed number of
	* runs, as early stopping depends on base, and so partly on them.
	*/
	others: list(object({
		variant,
		comparisons: list(comparisonSchema, 10)
	}), mostVariants).default([]),
	runs: list(runSchema, mostRuns),
	/** Empty unless requested. */
	profiles: list(cellProfileSchema, mostVariants).default([]),
	/** Absent without profiles of both base and patched. */
	reason: reasonSchema.optional(),
	/** Absent unless read in trials of both base and patched. */
	limits: cellLimitsSchema.exactOptional()
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
	/** Packets sent towards the receiver, as counted by the DUT; absent if unknown. */
	egressPackets: total.optional(),
	/** Packets that arrived from the senders, including dropped ones, as counted by the DUT; absent if unknown. */
	ingressPackets: total.optional(),
	/** Speed of the DUT's port towards the senders, in Gbit/s; absent if unknown. */
	lineGigabits: number().positive().max(1e5).exactOptional(),
	/** The guest that waited longest for its host's CPUs. Absent if none waited long, or none is a guest. */
	starvation: object({
		machine: line,
		deniedRatio: number().min(0).max(1)
	}).exactOptional(),
	/** Absent if the variants share a kernel. */
	kernel: line.optional(),
	/** By variant, for guests that ran side by side. */
	kernels: byVariant(line).exactOptional(),
	/** Time from the trial's beginning until its guests were up. Absent without a boot, and for machines. */
	bootSeconds: seconds.exactOptional(),
	/** CPUs, queues and drops by the DUT's own counters; absent for a variant without such readings. */
	limits: byVariant(trialLimitsSchema).exactOptional(),
	/** Folder, relative to the result file. */
	logs: path
});
const policySchema = object({
	metric: metricSchema,
	marginRatio: share,
	/** Two-sided: 1 − 2 × `missRatio`, as verdicts rest on the interval. */
	confidenceRatio: share,
	/** Share of harmless patches that show a regression in any cell. */
	falseAlarmRatio: share,
	/** Share of cells that lost more than the margin and still passed. */
	missRatio: share,
	/** The first cell with a loss ends the runs of all others. Absent: each cell is measured to its own end. */
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
		/** Changed files that matter on other testbeds only, or that ppsgate.yml ignores. */
		ignoredPaths: array(string().regex(/^[\w+.*@/-]{1,200}$/)).min(1).max(20).exactOptional()
	}),
	...rejections
]);
const variantSummarySchema = object({
	name: variant,
	commit: name,
	/** Folder of the overlay in the repository, empty for the top; absent without an overlay. */
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
	traffic: offeredTrafficSchema.extend({ measureSeconds: seconds }),
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
/** Includes the better direction. */
const metricName = (metric) => `${metricNouns[metric]} (${isCost(metric) ? "less" : "more"} is better)`;
/** Anchor and file name: `flamegraph-forwarding-inet4-base`; `which` is a variant or `difference`. */
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
/** `9.3`: a share in percent, without its sign, next to another one. */
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
/** `24 + 24 of 26 + 26`: counted runs of base and patched, and the runs made if there were more. */
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
/** `some 25 min`: an estimate. */
const formatEstimate = (seconds) => seconds < 30 ? formatRoughly(seconds) : `some ${formatRoughly(seconds)}`;
/** `25 min`: omits the seconds. */
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
function quantity(form, units, limit) {
	const written = new RegExp(`^(\\d{1,15}(?:\\.\\d{1,15})?) ?(${Object.keys(units).join("|")})$`);
	const read = (text) => inBaseUnit(written.exec(text), units);
	return string({ error: expected(form) }).regex(written, {
		error: expected(form),
		abort: true
	}).refine((text) => limit.holds(read(text)), { error: expected(limit.description) }).meta({ title: limit.description }).transform(read);
}
/** Rounds to the 15 digits of a double, so that 2.01 Mpps is 2010000 pps, not 2009999.9999999998. */
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
const shortened$1 = (text) => shortenedTo(80, text);
function shortenedTo(most, text) {
	const line = oneLine(text);
	return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
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
/** A fenced code block; its middle is cut out if it is too long. */
function codeBlock(text, mostCharacters = 4e3) {
	const block = plainBlock(text, mostCharacters);
	const fence = fenceFor(block, 3);
	return `${fence}\n${block}\n${fence}`;
}
/** Removes control and format characters and joins lines; leaves markup as it is. */
const plainLine = (text, mostCharacters = 200) => cut(withoutControls(text).replace(/\s+/g, " ").trim(), mostCharacters);
/** Keeps line breaks; cuts out the middle if it is too long. */
const plainBlock = (text, mostCharacters = 4e3) => shortened(withoutControls(text).trimEnd(), mostCharacters);
function fenceFor(text, least) {
	const runs = text.match(/`+/g) ?? [];
	return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}
/** Control and format characters can colour a terminal, and reverse or hide text. Tabs and line ends stay. */
function withoutControls(text) {
	return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
/** Removes terminal sequences; keeps single control characters. */
const withoutSequences = (text) => text.replace(sequences, "");
/**
* Terminal sequences of ECMA-48: control sequences, terminated strings, and character set selection. Node's
* stripVTControlCharacters needs hours for a megabyte of unterminated strings. Here no part can begin within another.
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
/** A cut may have split a surrogate pair. */
const withoutHalves = (text) => text.replace(/\p{Cs}/gu, "");
/** Returns undefined unless the address is a web page and holds nothing that could end it in markup. */
function pageUrl(address) {
	const url = URL.parse(address);
	if (url === null || !["http:", "https:"].includes(url.protocol)) return void 0;
	return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}
const percentEncoded = (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

// src/model/json.ts
/** Returns undefined for invalid JSON. No JSON value is undefined, so every schema rejects it. */
function parseJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/** Parses each line that may be an object, and stops after `mostLines`. Does not split the text into all its lines. */
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
/** Resolves on abort; Node's own function rejects. */
const realPause = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});

// src/model/priority.ts
const priorities = [
	"release",
	"patch",
	"rerun"
];

// src/model/flows.ts
/**
* Splits a number of flows exactly into sources × destinations: 2000 as 20 × 100. Picks the largest divisor up to 100
* for the destinations that leaves every sender a source. Rejects numbers whose sources exceed their network.
*/
function flowRanges(flows, family, senders = 1) {
	if (!Number.isSafeInteger(flows) || flows < senders) return refused$1(`${flows} is no number of flows: choose a whole number from ${senders} on.`);
	const destinations = greatestDivisor(flows, Math.min(mostDestinations, flows / senders));
	const sources = flows / destinations;
	if (sources <= mostSources[family]) return {
		kind: "split",
		flows: {
			sources,
			destinations
		}
	};
	return refused$1(`${flows} flows of ${family} need ${sources} sources, and their network has ${mostSources[family]}: choose a multiple of 100.`);
}
const refused$1 = (message) => ({
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
* The interface for pkt-gen. A Chelsio port has a second, virtual one for netmap: see `hw.cxgbe.num_vis` in cxgbe(4).
*/
const netmapPort = (name) => name.replace(/^(?:cxgbe|cxl|cc)\d+$/, "v$&");
/** Driver names as in ifconfig(8) and in the manual: `cxl` and `cxgbe`. */
function driversOf(port) {
	const driver = port.replace(/\d+$/, "");
	return [driver, driverOfPort[driver] ?? driver];
}
/** Drivers whose ports have another name; see section 4 of the manual. */
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
/** Fills in the port's name and number. Empty for an unknown driver. */
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
/** Its pause frames, if it sends any, can be neither read nor fixed here. */
const isFlowControlUnknown = (port) => !withoutPauseFrames.includes(port.replace(/\d+$/, "")) && !driverSettingsOf(port).some(({ appliesToGenerators }) => appliesToGenerators);
/** Sysctls of the firmware. A Chelsio card has several ports, and a number of its own. */
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
/** Takes names as in messages; see freebsd-ports.ts. */
const isForwardingPathSetting = (name) => /^the (?:route|blackhole route|mac address|mtu) /i.test(name);

// src/model/overlay-files.ts
const overlayFiles = {
	linux: ["nftables.conf", "sysctl.conf"],
	freebsd: ["pf.conf", "ipfw.rules"]
};
/** A DUT loads no other file of an overlay, neither in base nor in patched. */
const isLoaded = (system, path) => overlayFiles[system].some((name) => name === path);
/** Git's modes; Debian's nftables.conf is executable. */
const plainModes = ["100644", "100755"];
/** False for a link or a submodule: its content is elsewhere. */
const isPlain = (mode) => plainModes.includes(mode);
/** Returns the first file that the DUT would load but that is a link, so cannot be loaded. */
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
* them. Keeps URLs, commands to ppsgate, and paths within a tree.
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
/** Includes the good end. */
const mostRevisions = 20001;
/**
* Reason why a commit cannot be measured. One failure is enough if nothing depended on it; otherwise it was seen twice,
* or on a neighbour too.
*/
const faultSchema = discriminatedUnion("kind", [...rejections, object({
	kind: literal("forwards-nothing"),
	message: prose()
})]);
/** A build of a revision: its own, or with fix-ups on top. */
const formSchema = object({
	/**
	* `base` for the good end, `patched` for the bad one; otherwise an abbreviated commit id, with those of its fix-ups.
	*/
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
	/** Between two similar failures, so it was not tried. */
	isAssumedFailed: boolean(),
	/** Posterior probability that this is the change. */
	probability: share,
	/** Tried variants; mostly empty. */
	forms: list(formSchema, 1e3)
});
/** The commit named as bad. Its kernel or files may be those of an earlier commit. */
const namedCommitSchema = revisionSchema.pick({
	commit: true,
	diff: true,
	subject: true,
	author: true
});
const bisectConfidenceRatio = .95;
const changeSchema$1 = object({
	...intervalSchema.shape,
	/** Geometric means before and after the change, up to the next one, in the metric's unit. */
	before: level,
	after: level
});
/** Indices into `revisions`. */
const foundSchema = discriminatedUnion("kind", [object({
	kind: literal("culprit"),
	revision: ordinal,
	probability: share,
	change: changeSchema$1,
	/** Fix-ups on top of it, any of which could have caused the fault. */
	measuredWith: list(commitId, 100)
}), object({
	kind: literal("group"),
	after: count,
	last: ordinal,
	probability: share,
	change: changeSchema$1,
	/** Probably fixed the commits before it, so it would help as a fix-up. */
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
	traffic: offeredTrafficSchema.extend({ measureSeconds: seconds }),
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
	/** The bad end with the culprit reverted; absent if not requested. */
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
/** Safe as text and in quoted attributes. Characters that XML forbids, or that hide or reverse text, become a space. */
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
/** Base and patched have a verdict; any other variant is shown next to them. */
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
/** The frequency follows the load, and the kernel chooses its route lookup by the number of routes. */
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
/** Takes a plain line: removing characters afterwards could join separate ones. */
function inCode(line) {
	const inside = line.replaceAll("`", "'").replaceAll("${{{", "$ {{{");
	return inside === "" ? "" : `\`${inside}\``;
}
/** Fits a table column, which is split at `|` before code is recognized, except between `[[` and `]]`. */
const remarkupCell = (untrusted, mostCharacters = 100) => inCode(plainLine(untrusted, mostCharacters).replaceAll("|", "¦").replace(/\[(?=\[)/g, "[ "));
/** Escapes one of our own lines that may contain untrusted parts: all but plain words becomes code. */
const remarkupWords = (line) => plainLine(line, 300).split(" ").map((word) => plainWord.test(word) ? word : remarkupText(word)).join(" ");
/** Excludes capitals, which may name a repository, and possible commit hashes. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;
/**
* A code block that scrolls beyond `visibleLines`; its middle is cut out if it is too long. A line that ends in three
* backticks would close it, and a first line like `lang=c` would set options.
*/
function remarkupBlock(name, untrusted, visibleLines = 12, mostCharacters = 6e3) {
	return `\`\`\`lang=text, name=${name.replace(/[^\w .-]+/g, "").trim()}, lines=${visibleLines}\n${plainBlock(untrusted, mostCharacters).replaceAll("```", "'''")}\n\`\`\``;
}
/**
* Alternative text of an image, as in `{F1, alt=…}`. Phorge shows the braces in place of the image if another rule
* takes effect in them. So letters and digits that could name an object or a commit are set apart.
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
	/** Orders commits; if absent, `at` does. */
	committedAt: time.optional(),
	/** `again` repeats a session whose numbers deviated. */
	occasion: _enum([
		"nightly",
		"push",
		"again"
	]),
	/** One number per trial; empty if the DUT measures none. */
	pps: rates,
	nsPerPacket: rates,
	/** Absent from older lines. */
	instructionsPerPacket: rates.default([]),
	/** Key in `fingerprints` of the index; empty in older lines. */
	fingerprint: name,
	/** Folder of the result, which may be gone. */
	result: resultPath.optional()
});
/** Identity of a testbed. Other firmware, other settings or, on Linux, another kernel make a new one. */
const fingerprintSchema = object({
	id: string().regex(/^[0-9a-f]{12}$/),
	testbed: name,
	since: time,
	/** New facts as `name: value`, for people; empty for the first identity. */
	differs: list(line, 1e3),
	/** Facts to compare with the next identity; only the testbed's last one has them. */
	facts: facts.optional()
});
const levelSchema = object({
	cell: cellSchema,
	/** Medians of nightly runs, in the metric's unit. */
	before: measured,
	after: measured,
	/** `after` to `before`, minus one: −0.041 is 4.1 % less. */
	changeRatio: change,
	/** Begin of the first nightly run at the new level; identifies the change. */
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
	/**
	* Forty hex digits that identify the testbed and both commits (twelve in old files); key of every comment on the
	* change.
	*/
	id: string().regex(/^[0-9a-f]{12}(?:[0-9a-f]{28})?$/),
	testbed: name,
	metric: metricSchema,
	/** Last commit of the old level, and first of the new one; equal if none is between. */
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
	/** Bisection of its range; has the commit if it named exactly one. */
	bisection: object({
		result: resultPath,
		culprit: commitId.optional()
	}).optional(),
	/** Notification about the change. `intended` is set before sending, and stays if the outcome is unknown. */
	alert: object({
		intended: time.optional(),
		/** Random name of the updating process, by which two concurrent updates detect each other. */
		updates: name.optional(),
		issue: id.optional(),
		/** Last text posted, as in `saidOf` of the alert. */
		postedText: text(1e5).optional(),
		/** Commit whose pull request and revision were looked up and commented on. */
		commentedCommit: commitId.optional(),
		/** Pull requests and revisions that have a comment, as `#12` and `D27401`. */
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
	/** Gates with a judged cell, and gates with a regression or an improvement. */
	gates: count,
	alarms: count,
	/** Likewise for cells, with those that could not be judged. */
	cells: count,
	cellAlarms: count,
	inconclusive: count,
	invalid: count
});
/** Counts false alarms of A/A runs, once for each method. */
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
	/** Compares the differences between two layouts with the noise of their runs. */
	scatter: list(changeSumsSchema.extend({ gates: ordinal }), 1e3),
	/** Newest gates, oldest first, so that republishing a gate counts it once; absent in old counts. */
	newest: list(object({
		at: time,
		...gateSumsSchema.shape,
		scatter: list(changeSumsSchema, 1e3)
	})).optional()
});
/** `trend/index.json`. */
const trendIndexSchema = object({
	schemaVersion: literal(1),
	/** Cells that have nightly runs; years ascending. */
	cells: list(object({
		testbed: name,
		cell: cellSchema,
		years: list(count, 1e3)
	})),
	fingerprints: list(fingerprintSchema),
	/** Oldest first; none is ever removed. */
	changes: list(changeSchema),
	aaRuns: list(aaRunCountsSchema),
	/** Release tags measured since; newest last. */
	releases: list(object({
		name,
		commit: commitId,
		at: time
	})),
	/** Page of the commits from `{from}` to `{to}`. */
	compareUrl: url.optional()
});

// src/model/capture.ts
const mostCaptureBytes = 4 * 1024 ** 2;
const mostPackets = 2e4;
const mostFrameBytes = 1514;
const fileHeaderBytes = 24;
const recordHeaderBytes = 16;
const ethernetHeaderBytes = 14;
const ethernet = 1;
/** Leaves out frames without IP, fragments, and IPv6 with extension headers, whose checksums have no known place. */
function parseCapture(file) {
	if (file.length > mostCaptureBytes) return refused(`has ${file.length} bytes, and may have ${mostCaptureBytes}: keep fewer packets`);
	if (file.length < fileHeaderBytes) return refused("is too short for a pcap file");
	const number = numbersOf(file);
	if (number === void 0) return file.readUInt32BE(0) === 168627466 ? refused("is a pcapng file: convert it with `editcap -F pcap`") : refused("is no pcap file: write one with `tcpdump -w`");
	const link = number(20) & 65535;
	if (link !== ethernet) return refused(`has the link type ${link}, and not Ethernet: capture on an Ethernet interface`);
	const packets = [];
	let count = 0;
	for (let at = fileHeaderBytes; at < file.length;) {
		count += 1;
		if (count > mostPackets) return refused(`has more than ${mostPackets} packets: keep fewer`);
		const start = at + recordHeaderBytes;
		if (start > file.length) return refused(`ends within packet ${count}: copy it again`);
		const [captured, length] = [number(at + 8), number(at + 12)];
		if (captured < length) return refused(`has packet ${count} only in part: capture with \`tcpdump -s 0\``);
		if (captured > mostFrameBytes) return refused(`has a packet ${count} of ${captured} bytes, and ${mostFrameBytes} are the most: capture without TSO and GRO`);
		at = start + captured;
		if (at > file.length) return refused(`ends within packet ${count}: copy it again`);
		packets.push(...packetIn(file.subarray(start, at)));
	}
	if (packets.length === 0) return refused("has no whole packet of IPv4 or IPv6 to send");
	return {
		kind: "read",
		packets
	};
}
const refused = (why) => ({
	kind: "refused",
	why
});
/** Reads in the byte order of the file; its times are in microseconds or nanoseconds. */
function numbersOf(file) {
	const magics = [2712847316, 2712812621];
	if (magics.includes(file.readUInt32LE(0))) return (at) => file.readUInt32LE(at);
	if (magics.includes(file.readUInt32BE(0))) return (at) => file.readUInt32BE(at);
}
function packetIn(frame) {
	if (frame.length < ethernetHeaderBytes) return [];
	const type = frame.readUInt16BE(12);
	const packet = frame.subarray(ethernetHeaderBytes);
	if (type === 2048) return whole(ipv4(packet));
	return type === 34525 ? whole(ipv6(packet)) : [];
}
/** RFC 791. */
function ipv4(packet) {
	if (packet.length < 20) return void 0;
	const [first = 0, length] = [packet[0], packet.readUInt16BE(2)];
	const payloadAt = (first & 15) * 4;
	const isFragment = (packet.readUInt16BE(6) & 16383) !== 0;
	if (first >>> 4 !== 4 || payloadAt < 20 || length < payloadAt || isFragment) return void 0;
	if (length > packet.length) return void 0;
	return {
		family: "inet4",
		bytes: packet.subarray(0, length),
		payloadAt,
		protocol: packet[9] ?? 0
	};
}
/** RFC 8200. */
function ipv6(packet) {
	if (packet.length < 40) return void 0;
	const [first = 0, protocol = 0] = [packet[0], packet[6]];
	const length = 40 + packet.readUInt16BE(4);
	if (first >>> 4 !== 6 || length > packet.length || extensions.includes(protocol)) return void 0;
	return {
		family: "inet6",
		bytes: packet.subarray(0, length),
		payloadAt: 40,
		protocol
	};
}
/** Hop-by-hop, routing, fragment, authentication, destination and mobility headers. */
const extensions = [
	0,
	43,
	44,
	51,
	60,
	135
];
const leastHeaderBytes = /* @__PURE__ */ new Map([
	[6, 20],
	[17, 8],
	[58, 4]
]);
const whole = (packet) => packet !== void 0 && packet.bytes.length - packet.payloadAt >= (leastHeaderBytes.get(packet.protocol) ?? 0) ? [packet] : [];
const sourceOf = ({ family, bytes }) => family === "inet4" ? bytes.toString("hex", 12, 16) : bytes.toString("hex", 8, 24);
const destinationOf = ({ family, bytes }) => family === "inet4" ? bytes.toString("hex", 16, 20) : bytes.toString("hex", 24, 40);
/** Packets of one protocol between the same addresses and ports are of one flow. */
function flowOf(packet) {
	const { bytes, payloadAt, protocol } = packet;
	const ports = protocol === 6 || protocol === 17 ? bytes.toString("hex", payloadAt, payloadAt + 4) : "";
	return [
		sourceOf(packet),
		destinationOf(packet),
		protocol,
		ports
	].join(" ");
}

// src/model/text-file.ts
/** Returns a clause on a file in UTF-16, or on a binary one; undefined for text. */
function whyNotText(bytes) {
	const [first, second] = bytes;
	if (first === 255 && second === 254 || first === 254 && second === 255) return "has the encoding UTF-16: save it as UTF-8";
	return bytes.includes(0) ? "is binary: name a text file" : void 0;
}
const byteOrderMark = [
	239,
	187,
	191
];
/** Editors of Windows begin UTF-8 with a byte order mark. */
const withoutMark = (bytes) => byteOrderMark.every((byte, index) => bytes[index] === byte) ? bytes.subarray(byteOrderMark.length) : bytes;

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
/** Rotates pairs through the layouts; both are counted from 1. */
const layoutOfPair = (pair, layouts) => (pair - 1) % layouts + 1;

// src/model/lease-outcome.ts
const notUsed = (why) => `not used: ${why}`;
const endedEarly = (why) => `ended: ${why}`;
/** Only completed uses count towards the usual duration of a lease. */
const isCompleted = (outcome) => ![notUsed(""), endedEarly("")].some((start) => outcome?.startsWith(start));

export { UsageError, bisectConfidenceRatio, bisectResultSchema, bounds_exports, byMetric, byName, callOnGithub, callOnPhabricator, cellName, cellProfileSchema, cellSchema, change, changeStates, codeBlock, codeSpan, commitId, comparedNames, comparisonName, conclusionOfBisection, conclusionOfError, conclusionOfResult, conclusionOfVerdict, count, counted, designNames, designSchema, destinationOf, diffName, diffPhids, document, driverSettingsOf, driversOf, duration, earlierGatesSchema, endedEarly, escaped, exitCodes, expected, facts, families, familySchema, firmwareNames, flamegraphAnchor, flowOf, flowRanges, flowSlices, formatChange, formatChangeAndError, formatDifference, formatDuration, formatEstimate, formatInterval, formatMetric, formatNumeral, formatOrdinal, formatPercent, formatPps, formatProbability, formatRoughly, formatRuns, formatShare, formatShortOrdinal, formatSigned, formatSize, formatSizeAndError, formatTick, formatTwoDigits, grouped, hasOneSize, historySchema, id, ignoredFiles, imix, interfaceRoles, isCompleted, isCost, isFlowControlUnknown, isForwardingPathSetting, isJudged, isLinuxScenario, isLoaded, isLoss, isPlain, isSameTraffic, jsonLines, kernelDependentFacts, lastLine, layoutName, layoutOfPair, level, line, linkAmong, list, machineFacts, maxEarlierGates, meanFrameBytes, measured, metricChoice, metricName, metricNouns, metricSchema, mostCaptureBytes, mostChange, mostCommits, mostCpus, mostDocument, mostQueues, mostRuns, mostTrials, mostVariants, name, namedCommitSchema, netmapPort, nightlySchema, notUsed, offeredTraffic, offeredTrafficSchema, oneLine, ordinal, overlayFiles, ownRulesSchema, packageOf, packagesOf, packetsSchema, packetsText, pageUrl, parseCapture, parseJson, patchIdentity, patchName, patchSchema, path, pathName, plainBlock, plainLine, plannedTrialSchema, policySchema, priorities, prose, rate, ratio, realPause, reasonOf, rejectionSchema, remarkupAlt, remarkupBlock, remarkupCell, remarkupText, remarkupWords, resultSchema, runSchema, scenarioSchema, scenarios, scenariosOf, seconds, share, shortId, shortened$1 as shortened, shortenedTo, size, sourceOf, systemOfScenario, systemOfTestbedKind, testbedKindSchema, text, time, total, trendIndexSchema, trialLimitsSchema, trialSchema, url, variant, verdictsWorstFirst, volatileFacts, waivableSettings, whyNotText, withoutKernelFacts, withoutMark, withoutPaths, withoutSequences, word, worstConclusion };