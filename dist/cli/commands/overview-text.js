import { aimOf, stateNames } from "../../gate/reserve.js";
import { formatEstimate } from "../../model/plain.js";
import { clockText, columns, oneLine } from "../init/plain.js";

// src/cli/commands/overview-text.ts
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
const overviewDetails = `
Examples:
  ppsgate testbeds --watch
  ppsgate testbeds --json | jq -r '.testbeds[] | select(.state == "free").name'

As JSON, keys that do not apply are left out:
  {
    "at": "2026-11-20T14:20:31.000Z",
    "testbeds": [
      { "name": "hp-t540", "kind": "freebsd", "state": "held",
        "held": { "who": "alice@lab1", "purpose": "gate", "patch": "#12",
                  "url": "https://…", "testbed": "hp-t540",
                  "priority": "patch", "token": 1763647351207,
                  "since": "2026-11-20T14:02:31.207Z",
                  "expectedUntil": "2026-11-20T14:55:31.207Z" } },
      { "name": "rcc-ve", "kind": "freebsd", "state": "quarantine",
        "quarantine": { "reason": "…", "by": "ppsgate",
                        "since": "2026-11-20T13:10:02.114Z" } },
      { "name": "shelf", "kind": "linux", "state": "left-behind",
        "leftBy": [{ "who": "carol@lab2", "purpose": "by hand",
                     "testbed": "shelf", "since": "…" }] },
      { "name": "rack-4", "kind": "linux", "state": "free" }
    ],
    "queue": [
      { "place": 1, "of": 1, "expectedSeconds": 2100, "who": "bob@lab2",
        "purpose": "gate", "patch": "#14", "priority": "patch",
        "wants": ["hp-t540"], "since": "2026-11-20T14:11:09.530Z" }
    ]
  }`;

export { changedLines, overviewDetails, overviewText };