import { A as url, C as object, E as string, S as number, T as record, b as literal, m as array, n as cellSchema, p as _enum, s as scenarioSchema, v as discriminatedUnion, y as int } from "./scenario.js";
import { t as datetime } from "./iso.js";
import { t as designNames } from "./design.js";

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

export { metricSchema as a, resultSchema as c, patchName as d, patchSchema as f, historySchema as i, runSchema as l, cellProfileSchema as n, policySchema as o, designSchema as r, rejectionSchema as s, blastSchema as t, commitId as u };