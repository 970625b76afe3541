import { r as reasonOf } from "./one-line.js";
import { n as withReasons, t as readProfiles } from "./profiles.js";
import { L as resultSchema } from "./markdown.js";
import { join } from "node:path";
import { readFile } from "node:fs/promises";

// src/report/read.ts
/** A directory without a result that this version can read. */
var ResultError = class extends Error {
	name = "ResultError";
};
/** The `result.json` of a work directory, checked against its schema. */
async function readResult(directory) {
	const path = join(directory, "result.json");
	const text = await readFile(path, "utf8").catch(() => {
		throw new ResultError(`${path} cannot be read: name the work directory of a gate that has finished.`);
	});
	try {
		return resultSchema.parse(JSON.parse(text));
	} catch {
		throw new ResultError(`${path} is no result of this version of ppsgate: judge the patch again.`);
	}
}
/**
* A result of a work directory with the profiles that lie there, and what they say of the reason. They tell what a
* patch's kernel had to say of itself: whatever is wrong with them, the result stands without, and `leftOut` hears why.
*/
async function explained(result, directory, leftOut = () => {}) {
	const read = (path) => readFile(join(directory, path), "utf8").catch(ifMissing);
	try {
		const profiles = await readProfiles(result, read, leftOut);
		return {
			result: withReasons(result, profiles),
			profiles
		};
	} catch (error) {
		leftOut(`The report goes without its profiles (${reasonOf(error)}).`);
		return {
			result: withReasons(result, []),
			profiles: []
		};
	}
}
function ifMissing(error) {
	if (error.code !== "ENOENT") throw error;
}

export { readResult as n, explained as t };