import { UsageError, exitCodes, parseJson } from "../../model/first-plain.js";
import { indexPath, readDirectoryTrend } from "../../publish/data-branch.js";
import { healthSchema, overviewSchema, writeSite } from "../../publish/site.js";
import { readForeignText } from "../../system/foreign-files.js";
import { print } from "../table.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { readFile, stat } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/reports/site.ts
async function run({ from, to, lab, health }) {
	if ((await stat(join(from, "index.json")).catch(() => void 0))?.isFile() !== true) throw new UsageError(`--from: ${from} has no ${indexPath}; name a checkout of the data branch, or the data directory.`);
	const trend = await readDirectoryTrend(from);
	const overview = await readLabFile("--lab", lab, [from, "lab.json"], overviewSchema);
	const healths = await readLabFile("--health", health, [from, "health.json"], healthSchema);
	const known = overview && {
		overview,
		...healths && { health: healths }
	};
	const leftOut = (why) => void process.stderr.write(`ppsgate: ${why}\n`);
	const pages = await writeSite({
		...trend,
		...known && { lab: known }
	}, {
		from,
		to,
		now: /* @__PURE__ */ new Date(),
		leftOut
	});
	print(`${join(to, "index.html")}: ${pages} pages`);
	return exitCodes.pass;
}
const maxLabBytes = 16 * 1024 ** 2;
/** Undefined if no file was named and the default is missing. */
async function readLabFile(option, named, [from, usual], schema) {
	const path = named ?? join(from, usual);
	const text = named === void 0 ? await readForeignText(from, usual, maxLabBytes) : await readFile(named, "utf8").catch((error) => {
		throw new UsageError(`${option}: ${path} cannot be read (${error.code}).`);
	});
	if (text === void 0) return void 0;
	const { success, data } = schema.safeParse(parseJson(text));
	if (success) return data;
	throw new UsageError(`${option}: ${path} is not in the format of this version of ppsgate; write it again.`);
}

export { run };