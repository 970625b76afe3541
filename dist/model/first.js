import { __exportAll } from "../rolldown-runtime.js";
import { isCost, metrics, readNetwork } from "./first-plain.js";
import { _enum, array, boolean, datetime, discriminatedUnion, int, literal, number$1 as number, object, record as record$1, string, url as url$1 } from "../vendor/zod.js";
import { expected } from "./excerpt.js";
const { isDeepStrictEqual } = globalThis.process.getBuiltinModule("node:util");

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
	maxChange: () => maxChange,
	maxDocument: () => maxDocument,
	measured: () => measured,
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
const maxCount = 1e7;
const minRate = 1e-9;
const maxRate = 0x38d7ea4c68000;
const maxChange = 1e300;
/** Runs, trials, boots, cells, commits, flows: small enough to loop over. */
const count = int().nonnegative().max(maxCount);
const ordinal = count.positive();
/** Packets, instructions, bytes, ids: never looped over; exact in a double. */
const total = int().nonnegative();
const id = int().positive();
/** Per second, or ns or instructions per packet. The logarithm of any ratio of two is finite. */
const measured = number().min(minRate).max(maxRate);
/** Like `measured`, or zero. */
const rate$1 = number().nonnegative().max(maxRate).refine((value) => value === 0 || value >= minRate);
const level = number().nonnegative().max(maxChange);
const sumOfSquares = number().nonnegative().max(0xe8d4a51000);
const seconds = number().nonnegative().max(1e9);
/** From 0 to 1; a sum of shares may exceed either by a rounding error. */
const share = number().min(-1e-6).max(1 + 1e-6);
/** Ratio to the earlier value, minus one. */
const change = number().min(-1).max(maxChange);
const text = (most) => string().max(most);
const name = text(250);
/** Also names each fix-up of a bisection's variant. */
const variant = text(2e3);
const path = text(4096);
/** Name, id or address in another service. */
const word = text(4096);
/** Size limit of a file, a diff, a comment or a command's output. */
const maxDocument = 32 * 1024 ** 2;
const document = text(maxDocument);
const url = url$1().max(4096);
/** An ISO time may have any number of decimals. */
const time = datetime().max(40);
/** Cuts text that only people read after `most` characters: lines of logs and patches have any length. */
const prose = (most = 2e4) => string().overwrite((written) => (written.length > most ? `${written.slice(0, most - 1)}…` : written).toWellFormed());
const line = prose(4e3);
const list = (item, most = 1e4) => array(item).max(most);
const record = (key, value, most) => record$1(key, value).refine((entries) => Object.keys(entries).length <= most);
const byName = (value) => record(name, value, 1e3);
const byVariant = (value) => record(variant, value, 1e3);
const facts = byName(line);

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
/** Anchor and file name: `flamegraph-forwarding-inet4-base`; `which` is a variant or `difference`. */
const flamegraphAnchor = (cell, which) => `flamegraph-${cellName(cell)}-${which}`.replace(/[^\w.-]+/g, "-");
const isLinuxScenario = (scenario) => scenariosOf.linux.some((name) => name === scenario);

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
	/** Target branch. */
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
	/** Sentence on the diff's base commit if it is missing here, for example that of an open parent revision. */
	missingBase: prose().optional(),
	/** Notes for the report, such as how the base was found and what was omitted. */
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

// src/model/traffic.ts
const port = int().min(1).max(65535);
/** A single port, or a range that the flows use in turn. */
const portRangeSchema = object({
	first: port,
	last: port
}).refine(({ first, last }) => first <= last);
const weightedSize = object({
	/** Includes 4 bytes of CRC. */
	frameBytes: int().min(64).max(1518),
	weight: int().min(1).max(100)
});
const maxSizes = 10;
const sidesOf = (family, form) => {
	const network = string().regex(form).refine((text) => readNetwork(text, family).kind === "read");
	return object({
		source: network.exactOptional(),
		destination: network.exactOptional()
	}).exactOptional();
};
const networksSchema = object({
	inet4: sidesOf("inet4", /^[\d.]{7,15}\/\d{1,2}$/),
	inet6: sidesOf("inet6", /^[\da-f:]{2,39}\/\d{1,3}$/)
});
const packetsSchema = object({
	/** Absent: UDP. TCP packets are SYN segments, none of which opens a connection. */
	protocol: literal("tcp").exactOptional(),
	/** Absent: ppsgate's own choice of ports. */
	ports: object({
		source: portRangeSchema.exactOptional(),
		destination: portRangeSchema.exactOptional()
	}).exactOptional(),
	/** In the form of `networkText`. */
	addresses: networksSchema.exactOptional(),
	/** A mix of sizes, the smallest first, whose mean is `frameBytes`; absent: one size. */
	sizes: list(weightedSize, 10).min(2).exactOptional()
});
const offeredTrafficSchema = object({
	flows: count,
	frameBytes: count,
	/** Absent: maximum speed of the sender. */
	offeredPps: rate$1.optional(),
	/** Absent: the usual packets. */
	packets: packetsSchema.optional()
});
/** Omits durations and absent properties. */
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
function packetsText({ addresses = {}, ...packets } = {}) {
	const networks = Object.values(addresses).map(networksText);
	return [kindText(packets), ...networks.length === 0 ? [] : [networks.join(" and ")]].join(", ");
}
function kindText({ protocol, ports = {}, sizes }) {
	const { source, destination } = ports;
	const headers = [
		protocol === "tcp" ? "TCP SYN" : "UDP",
		...source === void 0 ? [] : [`from ${portsText(source)}`],
		...destination === void 0 ? [] : [`to ${portsText(destination)}`]
	].join(" ");
	return sizes === void 0 ? headers : `${headers}, ${sizesText(sizes)}`;
}
const networksText = ({ source, destination }) => [...source === void 0 ? [] : [`from ${source}`], ...destination === void 0 ? [] : [`to ${destination}`]].join(" ");
function sizesText(sizes) {
	const weights = sizes.map(({ weight }) => weight).join(":");
	if (isDeepStrictEqual(sizes, imix)) return `IMIX (${weights})`;
	return `frames of ${sizes.map(({ frameBytes }) => frameBytes).join(", ")} bytes (${weights})`;
}
const portsText = ({ first, last }) => first === last ? `port ${first}` : `ports ${first}–${last}`;

// src/model/limits.ts
const maxDrops = 200;
const dropSchema = object({
	place: _enum([
		"before-dut",
		"card",
		"driver",
		"backlog",
		"ip",
		"firewall",
		"state-table",
		"output-queue",
		"after-dut"
	]),
	cause: name
});
/** Readings of one variant in one trial; all counters cover the same stretch of traffic. */
const trialLimitsSchema = object({
	offeredPackets: total,
	receivedPackets: total,
	/** Absent if unknown, or if the stretch is too short for clock ticks. */
	busiestCpuRatio: share.exactOptional(),
	drops: list(dropSchema.extend({ packets: total }), 200)
});
/** Medians over the trials of one variant. */
const variantLimitsSchema = object({
	/** Share of the offered packets that were not received; below 0 if more arrived than the counted offered packets. */
	lostRatio: number().min(-1e3).max(1),
	busiestCpuRatio: share.exactOptional(),
	/** Shares of the offered packets, largest first. */
	drops: list(dropSchema.extend({ ratio: level }), 200)
});
const cellLimitsSchema = object({
	base: variantLimitsSchema,
	patched: variantLimitsSchema
});

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

// src/model/result.ts
/** A cell has at most 10,000 pairs, and each run of a trial may be repeated. */
const maxRuns = 2e5;
const maxTrials = 2e5;
const maxSamples = 1e5;
const maxCells = 1e3;
const maxVariants = 1e3;
const metricSchema = _enum(metrics);
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
/** A single measurement of a variant: one number per metric, and its samples. */
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
	}), maxSamples),
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
	* last changed. Absent in a simulated history.
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
	/** Named as the profiler prints it: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
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
	/** Frames whose stacks were omitted as idle; only those that occurred. */
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
	* Compares earlier diffs with base: shown, not judged. Their intervals have the plain confidence level of a fixed
	* number of runs, as early stopping depends on base, and so partly on them.
	*/
	others: list(object({
		variant,
		comparisons: list(comparisonSchema, 10)
	}), maxVariants).default([]),
	runs: list(runSchema, maxRuns),
	/** Empty unless requested. */
	profiles: list(cellProfileSchema, maxVariants).default([]),
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
	/** Packets sent towards the receiver, as counted by the DUT; absent if unknown. */
	egressPackets: total.optional(),
	/** Packets that arrived from the senders, including dropped ones, as counted by the DUT; absent if unknown. */
	ingressPackets: total.optional(),
	/** Speed of the DUT's port towards the senders, in Gbit/s; absent if unknown. */
	lineGigabits: number().positive().max(1e5).exactOptional(),
	/** The guest that waited longest for its host's CPUs. Absent if none waited long, or no machine is a guest. */
	starvation: object({
		machine: line,
		deniedRatio: number().min(0).max(1)
	}).exactOptional(),
	/** Absent if the variants share a kernel. */
	kernel: line.optional(),
	/** Kernels by variant, for guests that ran side by side. */
	kernels: byVariant(line).exactOptional(),
	/** Time from the trial's beginning until its guests were up. Absent without a boot, and for machines. */
	bootSeconds: seconds.exactOptional(),
	/** The busiest CPU and drops by the DUT's own counters; absent for a variant without such readings. */
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
		cells: list(cellResultSchema, maxCells).min(1)
	}),
	object({
		kind: literal("unchanged"),
		/** Changed files that matter only on other testbeds, or that ppsgate.yml ignores. */
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
		/** Path in the repository, if the overlay is no folder. */
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
	variants: list(variantSummarySchema, maxVariants),
	testbed: object({
		name,
		/** Absent in imported results. */
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
	trials: list(trialSchema, maxTrials),
	/** Variants other than base and patched that could not be measured. */
	leftOut: list(object({
		variant,
		rejection: rejectionSchema
	}), maxVariants).default([]),
	outcome: outcomeSchema
});
const isLoss = ({ metric }, change) => isCost(metric) ? change > 0 : change < 0;
const byMetric = (of) => ({
	pps: of("pps"),
	nsPerPacket: of("nsPerPacket"),
	instructionsPerPacket: of("instructionsPerPacket")
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
/** Rotates pairs through the layouts; both are counted from 1. */
const layoutOfPair = (pair, layouts) => (pair - 1) % layouts + 1;

export { bounds_exports, byMetric, byName, callOnGithub, callOnPhabricator, cellName, cellProfileSchema, cellSchema, change, commitId, comparedNames, comparisonName, count, designNames, designSchema, diffPhids, document, duration, earlierGatesSchema, facts, families, familySchema, flamegraphAnchor, historySchema, id, imix, intervalSchema, isLinuxScenario, isLoss, isSameTraffic, layoutOfPair, level, line, list, maxChange, maxDocument, maxEarlierGates, maxRuns, maxTrials, maxVariants, meanFrameBytes, measured, metricSchema, name, offeredTraffic, offeredTrafficSchema, ordinal, ownRulesSchema, packetsText, patchIdentity, patchName, patchSchema, path, plannedTrialSchema, policySchema, prose, rate, rate$1, ratio, reasonSchema, rejectionSchema, rejections, resultSchema, runSchema, scenarioSchema, scenarios, scenariosOf, seconds, share, shortId, size, sumOfSquares, systemOfTestbedKind, testbedKindSchema, text, time, total, trialLimitsSchema, trialSchema, url, variant, verdictsWorstFirst, word };