import { didYouMean } from "../../config/did-you-mean.js";
import { loadConfig } from "../../config/first.js";
import { holdingOf, readLab, readLog } from "../../gate/reserve/first.js";
import { openStore } from "../../gate/reserve/store/first.js";
import { aimOf } from "../../gate/reserve.js";
import { UsageError, exitCodes, formatRoughly } from "../../model/first-plain.js";
import { columns } from "../init/plain.js";
import { configPath } from "../find-config.js";
import { clockText, oneLine, print, printJson } from "../table.js";

// src/cli/lab/log.ts
async function run(name, { config: path, json }) {
	const config = await loadConfig(configPath(path));
	const store = await openStore(config.reservations);
	try {
		const all = await readLog(store);
		const log = name === void 0 ? all : all.filter(({ testbed }) => testbed === name);
		if (name !== void 0) {
			const known = [...Object.keys(config.testbeds), ...all.map(({ testbed }) => testbed)];
			refuseUnknown(name, new Set(known));
		}
		if (json) printJson(log);
		else print(log.length === 0 ? "No testbed was reserved yet." : table(log, await readLab(store)));
		return exitCodes.pass;
	} finally {
		await store.close();
	}
}
/** A testbed removed from the configuration still has a log. */
function refuseUnknown(name, known) {
	if (known.has(name)) return;
	const names = [...known].filter((one) => one !== "");
	const hint = didYouMean(name, names) || ".";
	throw new UsageError(`There is no testbed "${name}"; the testbeds are ${names.join(", ")}${hint}`);
}
const table = (log, lab) => columns([[
	"WHEN",
	"TESTBED",
	"WHO",
	"FOR",
	"WAITED",
	"HELD",
	"OUTCOME"
], ...log.map((logged) => rowOf(logged, lab).map(oneLine))]).join("\n");
function rowOf(logged, lab) {
	const { id, testbed, holder, waitingSince, since, until, outcome } = logged;
	const now = /* @__PURE__ */ new Date();
	const isHeld = holdingOf(lab, id) !== void 0;
	return [
		clockText(since ?? waitingSince, now),
		testbed === "" ? "–" : testbed,
		holder.who,
		aimOf(holder),
		between(waitingSince, since ?? until),
		since === void 0 ? "–" : between(since, isHeld ? now.toISOString() : until),
		outcome ?? (isHeld ? "holds it now" : "its holder has ended")
	];
}
const between = (from, to) => to === void 0 ? "?" : formatRoughly((Date.parse(to) - Date.parse(from)) / 1e3);

export { run };