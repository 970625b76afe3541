import { loadConfig } from "../../config/first.js";
import { readUsualSeconds } from "../../gate/estimate/first.js";
import { freeEnded, readLab } from "../../gate/reserve/first.js";
import { openProcessesOf, openStore } from "../../gate/reserve/store/first.js";
import { aimOf, overviewOf, stateNames } from "../../gate/reserve.js";
import { exitCodes, formatEstimate } from "../../model/first-plain.js";
import { configPath } from "../find-config.js";
import { clockText, hasColours, oneLine, print, printJson } from "../table.js";
import { columns } from "../init/plain.js";

// src/cli/lab/overview-text.ts
function overviewText({ at, testbeds, queue }, isColoured) {
	const now = new Date(at);
	const paint = (text, row, column) => isColoured && column === 1 ? coloured(text, testbeds[row - 1]) : text;
	const [title = "", ...rows] = columns([[
		"TESTBED",
		"STATE",
		"WHO",
		"FOR",
		"SINCE",
		"UNTIL ABOUT"
	], ...testbeds.map((testbed) => rowOf(testbed, now).map(oneLine))], paint);
	return [
		title,
		...testbeds.flatMap((testbed, index) => [rows[index] ?? "", ...notesOn(testbed).map((note) => `    ${oneLine(note)}`)]),
		"",
		...queueText(queue, now)
	].join("\n");
}
function rowOf(testbed, now) {
	const { name, state, held, quarantine, leftBy = [] } = testbed;
	const words = stateText(testbed);
	const clock = (iso) => clockText(iso, now);
	const [left] = leftBy;
	switch (state) {
		case "held":
			if (held === void 0) return [name, words];
			return [
				name,
				words,
				held.who,
				aimOf(held),
				clock(held.since),
				untilText(held, now)
			];
		case "quarantine": return [
			name,
			words,
			quarantine?.by ?? "",
			"",
			clock(quarantine?.since ?? "")
		];
		case "left-behind": return left === void 0 ? [name, words] : [
			name,
			words,
			left.who,
			aimOf(left),
			clock(left.since)
		];
		case "free": return [name, words];
	}
}
const stateText = ({ state, quarantine }) => state === "held" && quarantine !== void 0 ? "held, in quarantine" : stateNames[state];
const untilText = ({ expectedUntil }, now) => Date.parse(expectedUntil) < now.getTime() ? "longer than usual" : clockText(expectedUntil, now);
function notesOn({ name, state, held, quarantine, leftBy = [] }) {
	return [
		...held !== void 0 && held.testbed !== name ? [`as ${held.testbed}, which shares a machine with it`] : [],
		...quarantine === void 0 ? [] : [state === "held" ? `${quarantine.by}: ${quarantine.reason}` : quarantine.reason],
		...state === "left-behind" && leftBy.length > 0 ? ["its holder has ended; the next holder first restores its base"] : []
	];
}
/** ECMA-48 select graphic rendition: green, yellow, red, yellow. */
const colours = {
	free: 32,
	held: 33,
	quarantine: 31,
	"left-behind": 33
};
const coloured = (text, testbed) => testbed === void 0 ? text : `\x1b[${colours[testbed.state]}m${text}\x1b[0m`;
function queueText(queue, now) {
	if (queue.length === 0) return ["The queue is empty."];
	return columns([[
		"QUEUE",
		"WHO",
		"FOR",
		"PRIORITY",
		"WANTS",
		"SINCE",
		"EXPECTED WAIT"
	], ...queue.map((waiting) => [
		`${waiting.place} of ${waiting.of}`,
		waiting.who,
		aimOf(waiting),
		waiting.priority,
		waiting.wants.join(" or "),
		clockText(waiting.since, now),
		waitText(waiting)
	].map(oneLine))]);
}
function waitText({ expectedSeconds }) {
	if (expectedSeconds === void 0) return "no testbed in sight";
	return expectedSeconds === 0 ? "next" : formatEstimate(expectedSeconds);
}
/** Prints a line per changed testbed, and one for a changed queue; initially all. */
function changedLines(before, after) {
	const known = new Set(before === void 0 ? [] : sentencesOf(before));
	const at = new Date(after.at).toLocaleString("sv-SE");
	return sentencesOf(after).filter((sentence) => !known.has(sentence)).map((sentence) => `${at} ${sentence}`);
}
/** Omits expected times, which always change. */
function sentencesOf({ testbeds, queue }) {
	const line = queue.map((one) => `${one.who} (${aimOf(one)}) for ${one.wants.join(" or ")}`);
	return [...testbeds.map((testbed) => `${testbed.name}: ${sentenceOn(testbed)}`), line.length === 0 ? "the queue is empty" : `in the queue: ${line.join(", ")}`].map(oneLine);
}
function sentenceOn(testbed) {
	const { state, held, leftBy: [left] = [] } = testbed;
	const by = state === "left-behind" ? left : held;
	const who = by === void 0 ? "" : ` by ${by.who} (${aimOf(by)})`;
	const notes = notesOn(testbed).map((note) => `; ${note}`);
	return `${stateText(testbed)}${who}${notes.join("")}`;
}

// src/cli/lab/show.ts
async function run({ config: path, json = false, watch = false }, { signal }) {
	const config = await loadConfig(configPath(path));
	const store = await openStore(config.reservations);
	try {
		if (watch) return await watchWhileRead(config, store, watcherOf(process.stdout, json), signal);
		const { overview } = await lookAt(config, store, await readUsualSeconds(store, /* @__PURE__ */ new Date()));
		if (json) printJson(overview);
		else print(textFor(overview, process.stdout));
		return exitCodes.pass;
	} finally {
		await store.close();
	}
}
async function watchWhileRead(config, store, show, signal) {
	const unread = new AbortController();
	process.stdout.once("error", () => unread.abort());
	try {
		return await watchTestbeds(config, store, show, AbortSignal.any([signal, unread.signal]));
	} catch (error) {
		if (signal.aborted || !unread.signal.aborted) throw error;
		return exitCodes.pass;
	}
}
async function lookAt(config, store, usualSeconds) {
	const seen = await readLab(store);
	const processes = await openProcessesOf(config.reservations);
	const lab = await freeEnded(store, seen, processes, /* @__PURE__ */ new Date()) ? await readLab(store) : seen;
	return {
		overview: overviewOf(config, lab, usualSeconds, /* @__PURE__ */ new Date()),
		revision: lab.revision
	};
}
const textFor = (overview, output) => overviewText(overview, hasColours(output));
/** Shows the state at once, at each change of the store, and every minute; rejects with the signal's reason. */
async function watchTestbeds(config, store, show, signal) {
	for (;;) {
		const usualSeconds = await readUsualSeconds(store, /* @__PURE__ */ new Date());
		const minute = AbortSignal.timeout(6e4);
		const over = AbortSignal.any([signal, minute]);
		while (!minute.aborted) {
			const { overview, revision } = await lookAt(config, store, usualSeconds);
			show(overview);
			await store.changed(revision, over).catch((error) => {
				signal.throwIfAborted();
				if (!minute.aborted) throw error;
			});
		}
	}
}
/** Redraws a terminal; elsewhere prints one line per change, or with `json` one line per poll. */
function watcherOf(output, json) {
	if (json) return (overview) => void output.write(Buffer.from(`${JSON.stringify(overview)}\n`));
	if (output.isTTY) return (overview) => void output.write(screenOf(textFor(overview, output)));
	let last;
	return (overview) => {
		for (const line of changedLines(last, overview)) output.write(`${line}\n`);
		last = overview;
	};
}
/** Overwrites from the top left and clears the rest, without flicker. */
const screenOf = (text) => `\x1b[H${text.replaceAll("\n", "\x1B[K\n")}\x1b[K\n\x1b[J`;

export { run };