import { O as expected, T as wrongName, i as scenariosIn, o as usualProfileSeconds, t as configKeys } from "./schema.js";

// src/reservation/queue.ts
/** Release gates come before patches, and patches before reruns. */
const priorities = [
	"release",
	"patch",
	"rerun"
];
const byTurn = (a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority) || a.order - b.order || (a.id < b.id ? -1 : 1);
/**
* What the free testbeds are to be given to, now, in the order of turns. Who must wait also keeps all that come later
* from the machines that he waits for, or testbeds that share one could be given past him for ever.
* Takes time by the lines and the free testbeds, not by those who wait.
*/
function assign(lines, free) {
	const open = new Map(free);
	const openMachines = new Set([...open.values()].flat());
	const heads = lines.filter(({ wants }) => !indexOf(wants).machines.isDisjointFrom(openMachines)).flatMap((line) => headOf(line, 0)).sort(lastInTurn);
	const grants = [];
	while (open.size > 0) {
		const head = heads.pop();
		if (head === void 0) break;
		const { line, index, place } = head;
		const testbed = bestOf(line.wants, open);
		if (testbed === void 0) close(open, indexOf(line.wants).machines);
		else {
			grants.push({
				place,
				testbed
			});
			close(open, new Set(open.get(testbed)));
			for (const next of headOf(line, index + 1)) insertInOrder(heads, next, lastInTurn);
		}
	}
	return grants;
}
function headOf(line, index) {
	const place = line.waiting[index];
	return place === void 0 ? [] : [{
		line,
		index,
		place
	}];
}
const lastInTurn = (a, b) => byTurn(b.place, a.place);
/** Into a list that is in that order, before what equals it. */
function insertInOrder(list, item, order) {
	let [low, high] = [0, list.length];
	while (low < high) {
		const middle = low + high >>> 1;
		const other = list[middle];
		if (other !== void 0 && order(other, item) < 0) low = middle + 1;
		else high = middle;
	}
	list.splice(low, 0, item);
}
/** All that somebody waits for. Where two know of different machines of one testbed, it takes the machines of both. */
function testbedsOf(lines) {
	const testbeds = /* @__PURE__ */ new Map();
	for (const [testbed, machines] of lines.flatMap(({ wants }) => [...wants])) {
		const known = testbeds.get(testbed) ?? [];
		testbeds.set(testbed, [.../* @__PURE__ */ new Set([...known, ...machines])]);
	}
	return testbeds;
}
/** Looks through the fewer of the two: few are open while many wait. */
function bestOf(wants, open) {
	if (wants.size <= open.size) return wants.keys().find((testbed) => open.has(testbed));
	const { rank } = indexOf(wants);
	const rankOf = (testbed) => rank.get(testbed) ?? Number.POSITIVE_INFINITY;
	let best;
	for (const testbed of open.keys()) if ((best === void 0 || rankOf(testbed) < rankOf(best)) && rank.has(testbed)) best = testbed;
	return best;
}
function close(open, machines) {
	for (const [testbed, own] of open) if (own.some((machine) => machines.has(machine))) open.delete(testbed);
}
const indexes = /* @__PURE__ */ new WeakMap();
/** Made once for all who want the same. */
function indexOf(wants) {
	const known = indexes.get(wants);
	if (known !== void 0) return known;
	const index = {
		rank: new Map([...wants.keys()].map((testbed, rank) => [testbed, rank])),
		machines: new Set([...wants.values()].flat())
	};
	indexes.set(wants, index);
	return index;
}

// src/config/overrides.ts
/** An option or input that cannot be used. */
var UsageError = class extends Error {
	name = "UsageError";
};
/** The configuration with the overrides in it; throws a `UsageError` that names the first wrong one. */
function applyOverrides(config, texts) {
	const { shape } = configKeys;
	const { scenarios, families, profile: asked } = texts;
	const { profile: written, ...rest } = config;
	const profile = asked ? profileAsked(config, asked) : written;
	return {
		...rest,
		...profile && { profile },
		...scenarios && { scenarios: namedScenarios(config, scenarios) },
		...families && { families: parse("families", shape.families, list(families)) },
		gate: overrideGate(config.gate, texts)
	};
}
function profileAsked(config, text) {
	const usual = config.profile ?? { seconds: usualProfileSeconds(config) };
	if (text === "on") return usual;
	if (text === "off") return void 0;
	if (!/^\d/.test(text)) throw new UsageError(`profile: ${expected("on, off or a duration like 20 s")({ input: text })}.`);
	const { window } = parse("profile", configKeys.shape.profile, { window: text });
	return {
		...usual,
		seconds: window ?? usual.seconds
	};
}
function namedScenarios(config, text) {
	const named = parse("scenarios", configKeys.shape.scenarios, list(text));
	const known = scenariosIn(config);
	const stranger = named.find((name) => !known.includes(name));
	if (stranger === void 0) return named;
	throw new UsageError(`scenarios: ${wrongName(known)({ input: stranger })}.`);
}
/** The same for what a verdict is held to alone, which without a configuration has its defaults. */
function overrideGate(gate, texts) {
	const schema = configKeys.shape.gate;
	const { metric, margin, falseAlarms, power, design, maxRuns } = texts;
	const read = (name, value) => parse(name, schema, { [name]: value });
	return {
		...gate ?? schema.parse({}),
		...metric && { metric: read("metric", metric).metric },
		...margin && { marginRatio: read("margin", margin).marginRatio },
		...falseAlarms && { falseAlarmRatio: read("falseAlarms", falseAlarms).falseAlarmRatio },
		...power && { missRatio: read("power", power).missRatio },
		...design && { design: read("design", design).design },
		...maxRuns && { maxRunsPerVariant: parseMaxRuns(maxRuns) }
	};
}
/** A seed of the order of runs: a whole number from 0 to 2³¹ − 1. */
function parseSeed(text) {
	const seed = Number(text);
	if (/^\d+$/.test(text) && seed < 2 ** 31) return seed;
	throw new UsageError(`seed: expected a whole number from 0 to 2147483647, found "${text}".`);
}
/** Where in the queue for a testbed; a patch's place when absent. */
function parsePriority(text) {
	const named = text || "patch";
	const priority = priorities.find((one) => one === named);
	if (priority !== void 0) return priority;
	throw new UsageError(`priority: ${wrongName(priorities)({ input: named })}.`);
}
/** Most runs of a variant and cell. */
function parseMaxRuns(text) {
	const { maxRunsPerVariant } = parse("maxRuns", configKeys.shape.gate, { maxRuns: Number(text) });
	return maxRunsPerVariant ?? 0;
}
/** Wishes for testbeds, with commas between them. */
const parseEach = (text) => parse("each", configKeys.shape.each.unwrap(), list(text));
const list = (text) => text.split(",").map((item) => item.trim());
function parse(name, schema, value) {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	throw new UsageError(`${name}: ${parsed.error.issues[0]?.message ?? "cannot be used"}.`);
}

export { parseMaxRuns as a, assign as c, priorities as d, testbedsOf as f, parseEach as i, byTurn as l, applyOverrides as n, parsePriority as o, overrideGate as r, parseSeed as s, UsageError as t, insertInOrder as u };