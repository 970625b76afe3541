import { _enum, array, boolean, datetime, discriminatedUnion, int, literal, number$1 as number, object, record, string, url } from "./vendor/zod.js";
import { errorFunction } from "./vendor/simple-statistics.js";

// src/words/scenario.ts
/** What a DUT of each system can be told to do with packets. */
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
/** Those that ppsgate brings. */
const scenarios = [.../* @__PURE__ */ new Set([...scenariosOf.linux, ...scenariosOf.freebsd])];
const families = ["inet4", "inet6"];
/** It stands in Markdown as it is, so GitHub must not make a link of it. */
const scenarioSchema = string().regex(/^(?!.*(?:www\.|gh-\d))[a-z0-9][\w.-]{0,62}$/i);
/** A site's own rules for a FreeBSD firewall: pf.conf(5), or ipfw(8)'s commands without its name. */
const ownRulesSchema = object({
	firewall: _enum(["pf", "ipfw"]),
	text: string(),
	/** A blast that then leaves no state for each flow was not measured under these rules. */
	keepsStates: boolean()
});
const familySchema = _enum(families);
const cellSchema = object({
	scenario: scenarioSchema,
	family: familySchema,
	/** With the 4 bytes of CRC; only where several sizes are measured. */
	frameBytes: int().optional()
});
/** `nftables-stateful inet6`, or `forwarding inet4 1518 B`: how a cell is called in tables, and the key of its runs. */
const cellName = ({ scenario, family, frameBytes }) => [
	scenario,
	family,
	frameBytes && `${frameBytes} B`
].filter(Boolean).join(" ");
const isLinuxScenario = (scenario) => scenariosOf.linux.some((name) => name === scenario);

// src/words/format.ts
/** `4.982 Mpps`, `805.3 kpps`. */
function formatPps(pps) {
	if (pps >= 1e6) return `${fourDigits(pps / 1e6)} Mpps`;
	return pps >= 1e3 ? `${fourDigits(pps / 1e3)} kpps` : `${fourDigits(pps)} pps`;
}
/** `1,057 ns`. */
const formatNanoseconds = (ns) => `${grouped(Number(ns.toPrecision(4)))} ns`;
const formatMetric = (value, metric) => metric === "pps" ? formatPps(value) : formatNanoseconds(value);
/** What a metric is called, and which way is better. */
const metricName = (metric) => metric === "pps" ? "packets per second (more is better)" : "CPU time per packet (less is better)";
/**
* Where on the report's page a flamegraph of a cell stands, `which` is a variant's or `difference`, and the name of its
* file: `flamegraph-forwarding-inet4-base`.
*/
const flamegraphAnchor = (cell, which) => `flamegraph-${cellName(cell)}-${which}`.replace(/[^\w.-]+/g, "-");
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** `+6.79 … +9.86`, in percent. */
const formatInterval = (low, high) => `${signedPercent(low)} … ${signedPercent(high)}`;
/** `2 %`. */
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `9.3`: a share in percent, where it stands beside another. */
const formatShare = (ratio) => (ratio * 100).toFixed(1);
/** `+3.1`, `−0.8`: what is between two numbers. */
function formatDifference(difference) {
	const shown = Math.abs(difference).toFixed(1);
	if (Number(shown) === 0) return `±${shown}`;
	return `${difference < 0 ? "−" : "+"}${shown}`;
}
/** `2,000`. */
const grouped = (value) => value.toLocaleString("en-US");
/** `41 s`, `2 min 5 s`. */
function formatDuration(seconds) {
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
/** `some 25 min`, of what is only expected. */
const expectedly = (seconds) => seconds < 30 ? roughly(seconds) : `some ${roughly(seconds)}`;
/** `25 min`: nobody plans by seconds. */
function roughly(seconds) {
	const minutes = Math.round(seconds / 60);
	if (minutes < 1) return "under 1 min";
	if (minutes < 120) return `${minutes} min`;
	const hours = Math.round(minutes / 60);
	return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
function signedPercent(ratio) {
	const percent = Math.abs(ratio * 100);
	const digits = percent < 10 ? 2 : percent < 100 ? 1 : 0;
	const shown = percent.toFixed(digits);
	if (Number(shown) === 0) return `±${shown}`;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
function fourDigits(value) {
	if (value === 0) return "0";
	return value < 1e3 ? value.toPrecision(4) : value.toFixed(0);
}

// src/words/patch.ts
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

// src/stats/student.ts
const confidencePercents = [
	80,
	90,
	95,
	98,
	99,
	99.5
];
/**
* The critical value that ministat(1) uses: its table has three decimals and rows for 1 to 100
* degrees of freedom; above 100 it uses the normal distribution.
*
* The table is the NIST handbook's of one-sided values, and ministat's last column is the one of
* 0.999: what it calls 99.5 % is 99.8 % two-sided. We keep that, or our errors would not be its errors.
*/
function studentT(degreesOfFreedom, confidencePercent) {
	const misprint = confidencePercent === 99.5 ? misprints.get(degreesOfFreedom) : void 0;
	if (misprint !== void 0) return misprint;
	const confidence = confidencePercent === 99.5 ? .998 : confidencePercent / 100;
	return Math.round(studentTExact(degreesOfFreedom > 100 ? Infinity : degreesOfFreedom, confidence) * 1e3) / 1e3;
}
/**
* The t with P(|T| ≤ t) = confidence, to a relative 1e-9 or better.
* `degreesOfFreedom` is any positive number (Welch's are fractions; infinity is the normal
* distribution), `confidence` a ratio in (0, 1).
*/
function studentTExact(degreesOfFreedom, confidence) {
	if (!(degreesOfFreedom > 0)) throw new RangeError(`Degrees of freedom are a positive number, not ${degreesOfFreedom}.`);
	if (!(confidence > 0 && confidence < 1)) throw new RangeError(`A confidence lies between 0 and 1, not at ${confidence}.`);
	if (degreesOfFreedom <= million) return quantile(degreesOfFreedom, confidence);
	const atMillion = quantile(million, confidence);
	const atInfinity = 2 * atMillion - quantile(million / 2, confidence);
	return atInfinity + (atMillion - atInfinity) * (million / degreesOfFreedom);
}
/** The t with P(T > t) = `level`, kept once computed: few of them are asked for, and each very often. */
function criticalT(degreesOfFreedom, level) {
	const key = `${degreesOfFreedom} ${level}`;
	const known = criticalValues.get(key);
	if (known !== void 0) return known;
	const t = studentTExact(degreesOfFreedom, 1 - 2 * level);
	criticalValues.set(key, t);
	return t;
}
const criticalValues = /* @__PURE__ */ new Map();
/**
* P(T > t), one-sided, for a `t` of at least 0. The normal distribution (infinite degrees of freedom) is
* taken from an approximation of erfc whose relative error is below 2e-7.
*/
function studentTail(t, degreesOfFreedom) {
	if (degreesOfFreedom === Infinity) return (1 - errorFunction(t / Math.SQRT2)) / 2;
	const { inTails, within } = twoSided(t, degreesOfFreedom);
	return (inTails ?? 1 - within) / 2;
}
/** Degrees of freedom at which the published last column is not the rounded quantile. */
const misprints = /* @__PURE__ */ new Map([
	[1, 318.313],
	[7, 4.782],
	[8, 4.499],
	[9, 4.296],
	[10, 4.143],
	[11, 4.024],
	[12, 3.929]
]);
const million = 1e6;
function quantile(degreesOfFreedom, confidence) {
	let high = 1;
	while (liesBelow(high, degreesOfFreedom, confidence)) high *= 2;
	let low = high === 1 ? 0 : high / 2;
	for (;;) {
		const middle = (low + high) / 2;
		if (middle <= low || middle >= high) return high;
		if (liesBelow(middle, degreesOfFreedom, confidence)) low = middle;
		else high = middle;
	}
}
function liesBelow(t, degreesOfFreedom, confidence) {
	const { inTails, within } = twoSided(t, degreesOfFreedom);
	return inTails === void 0 ? within < confidence : inTails > 1 - confidence;
}
/**
* P(|T| > t) or P(|T| ≤ t), whichever is told without a loss of digits: a regularized incomplete beta
* function of ν/2 and 1/2, whose continued fraction converges fast on one side of the mean.
*/
function twoSided(t, degreesOfFreedom) {
	const a = degreesOfFreedom / 2;
	const square = t * t;
	const beyond = degreesOfFreedom / (degreesOfFreedom + square);
	const within = square / (degreesOfFreedom + square);
	const factor = Math.exp(-a * Math.log1p(square / degreesOfFreedom)) * Math.sqrt(within / Math.PI) * gammaRatio(a);
	return beyond < (a + 1) / (a + 2.5) ? { inTails: factor / a * betaFraction(beyond, a, .5) } : { within: 2 * factor * betaFraction(within, .5, a) };
}
/** Γ(a + 1/2) / Γ(a), by its asymptotic series (DLMF 5.11.13) after stepping up to where that is exact. */
function gammaRatio(a) {
	let stepped = a;
	let correction = 1;
	for (; stepped < 40; stepped += 1) correction *= stepped / (stepped + .5);
	const x = 1 / stepped;
	const series = 1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - 399 / 262144 * x))));
	return correction * Math.sqrt(stepped) * series;
}
/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(x, a, b) {
	const tiny = 1e-300;
	let c = 1;
	let d = 1 / (1 - (a + b) * x / (a + 1) || tiny);
	let fraction = d;
	for (let m = 1; m < 1e5; m += 1) {
		const before = fraction;
		const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		for (const term of [even, odd]) {
			d = 1 / (1 + term * d || tiny);
			c = 1 + term / c || tiny;
			fraction *= c * d;
		}
		if (Math.abs(fraction - before) <= 1e-15 * fraction) return fraction;
	}
	return fraction;
}

// src/stats/boundary.ts
/**
* The one nominal one-sided level for every look, by Pocock (Biometrika 64, 1977): with it, data without any
* effect cross the boundary at some look with probability `level`. `sizes` are the pairs at each look, ascending.
*/
function constantLevels(sizes, level) {
	const levelsAt = (z) => sizes.map(() => studentTail(z, Infinity));
	return levelsFor(levelsAt, sizes, level);
}
/**
* The nominal level of each look where the generalized likelihood ratio of Student's model, (1 + t²/ν)^((ν + 2)/2)
* against the best fit, is held to one threshold at all of them (Lai, Annals of Statistics 16, 1988).
* `degreesOfFreedom` are ν at each look, earlier runs of the same cell included.
*/
function likelihoodLevels(sizes, degreesOfFreedom, level) {
	const levelsAt = (logThreshold) => degreesOfFreedom.map((df) => studentTail(Math.sqrt(df * Math.expm1(2 * logThreshold / (df + 2))), df));
	return levelsFor(levelsAt, sizes, level);
}
/** Levels fall as the parameter rises: halves until the levels spend what is asked and not more. */
function levelsFor(levelsAt, sizes, level) {
	const spends = (parameter) => crossingProbability(sizes, levelsAt(parameter));
	let low = 0;
	let high = 1;
	for (; spends(high) > level; high *= 2) low = high;
	while (high - low > 1e-4 * high) {
		const middle = (low + high) / 2;
		if (spends(middle) > level) low = middle;
		else high = middle;
	}
	return levelsAt(high);
}
/**
* The probability that data without any effect are, at some look, beyond its nominal one-sided level: the recursion
* of Armitage, McPherson and Rowe (J. R. Stat. Soc. A 132, 1969) over the sum of independent normal steps. Where the
* variance is estimated, as in Student's test, the same levels nearly hold (Jennison and Turnbull, Group Sequential
* Methods, 4.4): by simulation the sum is up to a seventh larger when the first look has four degrees of freedom.
*/
function crossingProbability(sizes, levels) {
	let total = 0;
	let inside = [{
		at: 0,
		mass: 1
	}];
	let reached = 0;
	for (const [index, size] of sizes.entries()) {
		const deviation = Math.sqrt(size - reached);
		const limit = criticalZ(levels[index] ?? 0) * Math.sqrt(size);
		total += sumOver(inside, ({ at, mass }) => mass * upperTail((limit - at) / deviation));
		const next = (sizes[index + 1] ?? Infinity) - size;
		const range = {
			low: -farthest * Math.sqrt(size),
			high: limit
		};
		inside = spread(inside, deviation, range, nodesFor(range, Math.sqrt(next)));
		reached = size;
	}
	return total;
}
/** The density after one more step, at `count` nodes of the range. */
function spread(from, deviation, { low, high }, count) {
	return gaussLegendre(count).map(({ at, weight }) => {
		const place = low + (high - low) * (at + 1) / 2;
		return {
			at: place,
			mass: sumOver(from, ({ at: start, mass }) => mass * normalDensity((place - start) / deviation)) / deviation * weight * (high - low) / 2
		};
	});
}
/** Nodes half as dense again as the deviations of the next step lie in the range: what follows is smooth at that scale. */
function nodesFor({ low, high }, nextDeviation) {
	return 16 * Math.ceil(Math.max(2, 1.5 * (high - low) / nextDeviation / 16));
}
/** Nobody is so many deviations below the mean. */
const farthest = 6;
/** Levels beyond the reach of a double are next to never crossed; half of all lie beyond one half, which is the most. */
const criticalZ = (level) => level < 1e-12 ? 7 : level >= .4999 ? 0 : studentTExact(Infinity, 1 - 2 * level);
const upperTail = (z) => studentTail(z, Infinity);
const normalDensity = (z) => Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
function sumOver(nodes, value) {
	let sum = 0;
	for (const node of nodes) sum += value(node);
	return sum;
}
/** Gauss and Legendre's nodes on −1 … 1, by Newton's method on the recurrence (Abramowitz and Stegun, 25.4.29). */
function gaussLegendre(count) {
	const known = quadratures.get(count);
	if (known !== void 0) return known;
	const nodes = Array.from({ length: count }, (_, index) => quadratureNode(count, index));
	quadratures.set(count, nodes);
	return nodes;
}
const quadratures = /* @__PURE__ */ new Map();
function quadratureNode(count, index) {
	let at = Math.cos(Math.PI * (index + .75) / (count + .5));
	let slope = 1;
	for (let step = 0; step < 8; step++) {
		let [before, value] = [0, 1];
		for (let degree = 0; degree < count; degree++) [before, value] = [value, ((2 * degree + 1) * at * value - degree * before) / (degree + 1)];
		slope = count * (at * value - before) / (at * at - 1);
		at -= value / slope;
	}
	return {
		at,
		weight: 2 / ((1 - at * at) * slope * slope)
	};
}

// src/stats/design.ts
const designNames = [
	"fixed",
	"group-sequential",
	"glr"
];
/**
* The looks of a design, in order. The error rates hold over all of them, extensions included: the budget that was
* planned spends four fifths of each rate, and every extension half of what is then left.
*/
function looksOf(design, rates) {
	const key = JSON.stringify([design, rates]);
	const looks = knownLooks.get(key) ?? computeLooks(design, rates);
	knownLooks.set(key, looks);
	return looks;
}
/** They take a tenth of a second to compute, and are asked for after every blast. */
const knownLooks = /* @__PURE__ */ new Map();
function computeLooks(design, rates) {
	return design.budgets.flatMap((budget, stage) => {
		const sizes = sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design);
		const levelsOf = (rate) => nominalLevels(design, sizes, rate * shareOf(stage));
		const falseAlarms = levelsOf(rates.falseAlarms);
		const misses = levelsOf(rates.misses);
		const outside = levelsOf(rates.outside);
		return sizes.map((pairs, index) => ({
			pairs,
			levels: {
				falseAlarms: falseAlarms[index] ?? 0,
				misses: misses[index] ?? 0,
				outside: outside[index] ?? 0
			}
		}));
	});
}
const shareOf = (stage) => stage === 0 ? .8 : .2 * .5 ** stage;
/** The pairs at each look. */
const lookSizes = (design) => design.budgets.flatMap((budget, stage) => sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design));
function sizesUpTo(budget, after, design) {
	if (design.name === "fixed") return [budget];
	const sizes = [];
	for (let size = firstSize(design); size < budget; size = sizeAfter(size, design)) if (size > after) sizes.push(size);
	return [...sizes, budget];
}
/** The spread of four runs alone tells too little of a noise with heavy tails. */
function firstSize({ name, pairsPerStep, earlierDegreesOfFreedom }) {
	if (pairsPerStep > 1) return pairsPerStep;
	return name === "glr" && earlierDegreesOfFreedom >= 4 ? 2 : 3;
}
/** After every step, and where they have become many, after every twentieth part more. */
function sizeAfter(size, { name, pairsPerStep }) {
	if (name === "group-sequential" && pairsPerStep === 1) {
		const looks = Math.round(Math.log(size / 3) / Math.log(1.6)) + 1;
		return Math.round(3 * 1.6 ** looks);
	}
	return size + pairsPerStep * Math.max(1, Math.round(size / 20 / pairsPerStep));
}
function nominalLevels(design, sizes, level) {
	if (design.name !== "glr") return constantLevels(sizes, level);
	const degreesOfFreedom = sizes.map((pairs) => design.method === "paired" ? pairs - 1 : 2 * pairs - 2 + design.earlierDegreesOfFreedom);
	return likelihoodLevels(sizes, degreesOfFreedom, level);
}

// src/words/units.ts
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
/** At most 40 characters of somebody's text on one line: it may be a secret, or made to mislead a terminal. */
function excerpt(text) {
	return (text.length > 40 ? `${text.slice(0, 39)}…` : text).replace(/[\p{C}\p{Zl}\p{Zp}"`]/gu, "?");
}
function quantity(form, units, limit) {
	const written = new RegExp(`^(\\d{1,15}(?:\\.\\d{1,15})?) ?(${Object.keys(units).join("|")})$`);
	const read = (text) => inBaseUnit(written.exec(text), units);
	return string({ error: expected(form) }).regex(written, {
		error: expected(form),
		abort: true
	}).refine((text) => limit.holds(read(text)), { error: expected(limit.says) }).transform(read);
}
/** Rounds to the 15 digits that a double keeps, so that 2.01 Mpps are 2010000 pps and not 2009999.9999999998. */
function inBaseUnit(match, units) {
	const [, digits = "", unit = ""] = match ?? [];
	const value = Number(digits) * (units[unit] ?? NaN);
	return Number(value.toPrecision(15));
}
function shown(value) {
	if (value === null) return "nothing";
	if (typeof value === "string") return `"${excerpt(value)}"`;
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object") return "keys and values";
	return String(value);
}

// src/words/escape.ts
/** As text, for what can say more only by markup of its own. */
const plain = {
	code: (text, mostCharacters) => plainLine(text, mostCharacters),
	name: (name) => name
};
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
const plainBlock = (text, mostCharacters = 4e3) => shortened$1(withoutControls(text).trimEnd(), mostCharacters);
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
function shortened$1(text, mostCharacters) {
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

// src/words/result.ts
const metricSchema = _enum(["pps", "nsPerPacket"]);
const validitySchema = discriminatedUnion("kind", [object({ kind: literal("valid") }), object({
	kind: literal("invalid"),
	cause: _enum([
		"broken-log",
		"too-short",
		"unsteady",
		"hole",
		"generator-limited",
		"machine-busy"
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

// src/words/variant-name.ts
/** Base and patched, of which a verdict is given; all others are shown beside them. */
const isJudged = (variant) => variant === "base" || variant === "patched";
/** Of an earlier diff of a revision: `diff 80345`. */
const diffName = (diff) => `diff ${diff}`;
/** As a part of a path, or of the name of a boot environment: `diff-80345`. */
const pathName = (variant) => variant.replaceAll(" ", "-");

// src/words/one-line.ts
/** Of an error, or of whatever else was thrown. */
function reasonOf(error) {
	if (!(error instanceof Error)) return oneLine(String(error));
	if (error.message === "" && "code" in error) return String(error.code);
	return oneLine(error.message);
}
/** A command as a message names it. */
function shortened(text) {
	const line = oneLine(text);
	return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
/** The last that is not blank; undefined where all are. */
const lastLine = (text) => text.split("\n").map(oneLine).findLast(Boolean);
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

// src/words/without-paths.ts
/**
* With `[path]` in place of each absolute path, be it of this machine or of the lab: nobody can tell them apart in what
* Node, git or ssh say. URLs, commands to ppsgate and paths within a tree stay.
*/
const withoutPaths = (text) => text.replace(quotedPath, "[path]").replace(barePath, (found) => `[path]${endOf(found)}`);
/** A line's number and what ends a sentence; of a longer end nobody would want more. */
const endOf = (found) => /(?::\d+)*[.,;:!?…)\]}]*$/.exec(found.slice(-40))?.[0] ?? "";
const quotes = "'\"`‘’“”";
const start = "(?:file:/+|~[\\w.-]{0,64}/|/+)";
/** How ppsgate is called, and the length of a prefix as in ::/0. */
const noPath = `(?!/(?:ppsgate|\\d{1,3})(?:[\\s${quotes}.,;:)]|$))`;
const letter = `[^\\s${quotes}]`;
/** There may be blanks in it, as where Node writes `open '/home/alice/my lab/key'`. */
const quotedPath = new RegExp(`(?<=[${quotes}])${noPath}${start}[^${quotes}\\n]{1,4096}(?=[${quotes}])`, "gu");
/** After a blank, a word that has a slash in it goes on with the path. */
const barePath = new RegExp(`(?<![\\p{L}\\p{N}_./<~+-])(?!(?<=:)//)${noPath}${start}(?!/)${letter}+(?:(?<![.,;:!?)]) (?!/|~|${letter}*://)${letter}*/${letter}*)*`, "gu");

// src/words/xml.ts
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

export { blastSchema, cellName, cellProfileSchema, cellSchema, codeBlock, codeSpan, commitId, confidencePercents, criticalT, designNames, designSchema, diffName, duration, escaped, excerpt, expected, expectedly, families, familySchema, flamegraphAnchor, formatChange, formatDifference, formatDuration, formatInterval, formatMetric, formatPercent, formatPps, formatShare, grouped, historySchema, isJudged, isLinuxScenario, lastLine, lookSizes, looksOf, metricName, metricSchema, oneLine, ownRulesSchema, patchName, patchSchema, pathName, plain, plainBlock, plainLine, policySchema, rate, ratio, reasonOf, rejectionSchema, resultSchema, roughly, runSchema, scenarioSchema, scenarios, scenariosOf, shortened, size, studentT, studentTail, withoutPaths, withoutSequences };