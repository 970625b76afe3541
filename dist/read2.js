import { s as resultSchema } from "./result.js";
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

export { readResult as n, ResultError as t };