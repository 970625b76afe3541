import { _ as record, b as _isoDateTime, c as ZodISODateTime, f as discriminatedUnion, g as object, h as number, i as cellSchema, l as _enum, m as literal, n as patchSchema, o as scenarioSchema, p as int, u as array, v as string } from "./patch.js";

// node_modules/zod/v4/classic/iso.js
function datetime(params) {
	return _isoDateTime(ZodISODateTime, params);
}

// src/report/result.ts
const metricSchema = _enum(["pps", "nsPerPacket"]);
const validitySchema = discriminatedUnion("kind", [object({ kind: literal("valid") }), object({
	kind: literal("invalid"),
	reason: string()
})]);
/** One variant laid once and measured once: a number per metric, and the samples that it comes from. */
const runSchema = object({
	number: int().positive(),
	blast: int().positive(),
	/** Which try of the blast: a blast with an invalid run is repeated, and all its tries are kept. */
	attempt: int().positive(),
	/** The runs of one pair follow each other directly, one of each variant. */
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
		busySeconds: number().nonnegative().optional()
	})),
	validity: validitySchema
});
/** A change is a ratio to base: −0.1 is 10 % less. */
const intervalSchema = object({
	change: number(),
	low: number(),
	high: number()
});
/** What one metric says of a cell; absolute values in packets per second, or ns per packet. */
const comparisonSchema = object({
	metric: metricSchema,
	base: number(),
	patched: number(),
	pairs: int().positive(),
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
const cellResultSchema = object({
	cell: cellSchema,
	verdict: cellVerdictSchema,
	/** The metric that was judged comes first; none where the cell is invalid for lack of runs. */
	comparisons: array(comparisonSchema),
	runs: array(runSchema)
});
const blastSchema = object({
	number: int().positive(),
	attempt: int().positive(),
	cell: cellSchema,
	startedAt: datetime(),
	/** How long packets flowed. */
	trafficSeconds: number().nonnegative(),
	offeredPps: number().nonnegative(),
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
	runsPerVariant: int()
});
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
		kind: literal("does-not-apply"),
		message: string()
	}),
	object({
		kind: literal("does-not-load"),
		scenario: scenarioSchema,
		message: string()
	})
]);
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
		fingerprint: record(string(), string())
	}),
	policy: policySchema,
	/** How the packets were sent, and for how long each run was measured. */
	traffic: object({
		flows: int(),
		frameBytes: int(),
		offeredPps: number(),
		measureSeconds: number()
	}),
	/** Seed of the order of runs. */
	seed: int(),
	startedAt: datetime(),
	finishedAt: datetime(),
	blasts: array(blastSchema),
	outcome: outcomeSchema
});

export { datetime as a, runSchema as i, policySchema as n, resultSchema as r, blastSchema as t };