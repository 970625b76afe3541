import { _enum, boolean, discriminatedUnion, int, literal, object, string } from "./vendor/zod.js";
import { cellProfileSchema, cellSchema, change, commitId, count, designNames, facts, historySchema, id, intervalSchema, level, line, list, maxRuns, maxTrials, maxVariants, measured, metricSchema, name, offeredTrafficSchema, ordinal, prose, rate$1 as rate, reasonSchema, rejections, runSchema, seconds, share, sumOfSquares, testbedKindSchema, text, time, trialSchema, url, variant, verdictsWorstFirst } from "./model/first.js";

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
	/** Has a number for each trial; empty if the DUT measures none. */
	pps: rates,
	nsPerPacket: rates,
	instructionsPerPacket: rates,
	/** Key in `fingerprints` of the index. */
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
	/** Beginning of the first nightly run at the new level; identifies the change. */
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
const changeSchema$1 = object({
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
	/** Notifications about the change. */
	alert: object({
		issue: id.optional(),
		/** Text of the state that was posted last. */
		postedText: text(1e5).optional(),
		/** Commit whose pull request and revision were looked up and commented on. */
		commentedCommit: commitId.optional(),
		/** Pull requests and revisions that have a comment, like `#12` and `D27401`. */
		told: list(line)
	})
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
	/** The same for cells, with those that could not be judged. */
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
	changes: list(changeSchema$1),
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

// src/model/bisect-result.ts
const maxCommits = 2e4;
/** Includes the good end. */
const maxRevisions = 20001;
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
	values: list(rate),
	fault: faultSchema.optional()
});
/** A commit of the range, with later commits that leave the kernel or the installed files unchanged. */
const revisionSchema = object({
	/** Steps along first parents; 0 is the good end. */
	place: count,
	commit: commitId,
	/** Id of the Phabricator diff from which the commit was made, for a bisection of a revision's diffs. */
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
const changeSchema = object({
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
	change: changeSchema,
	/** Fix-ups on top of it, any of which could have caused the fault. */
	measuredWith: list(commitId, 100)
}), object({
	kind: literal("group"),
	after: count,
	last: ordinal,
	probability: share,
	change: changeSchema,
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
		change: changeSchema.optional(),
		fault: object({
			revision: count,
			fault: faultSchema
		}).optional()
	}),
	object({
		kind: literal("slide"),
		change: changeSchema,
		steps: list(ordinal, maxRevisions)
	}),
	object({
		kind: literal("inconclusive"),
		change: changeSchema,
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
	/** Absent: the last revision. */
	badCommit: namedCommitSchema.exactOptional(),
	fixUps: list(name, 100),
	testbed: object({
		name,
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
	revisions: list(revisionSchema, maxRevisions).min(2),
	answer: bisectAnswerSchema,
	/** Boots, or shared trials, including failed ones. */
	boots: count,
	/** The bad end with the culprit reverted; absent if not requested. */
	revert: discriminatedUnion("kind", [object({
		kind: literal("measured"),
		values: list(rate),
		change: changeSchema
	}), object({
		kind: literal("impossible"),
		why: prose()
	})]).optional(),
	/** `base` is the culprit's parent, `patched` the culprit. */
	profiles: list(cellProfileSchema, maxVariants),
	reason: reasonSchema.optional(),
	runs: list(runSchema, maxRuns),
	trials: list(trialSchema, maxTrials)
});

export { bisectConfidenceRatio, bisectResultSchema, changeStates, maxCommits, namedCommitSchema, nightlySchema, trendIndexSchema };