import { parseConfig } from "../config.js";
import { UsageError } from "../model.js";

// src/action/config-at.ts
/** @param path in the repository. Throws a UsageError where the commit has no such file. */
async function configAt(base, path, repository) {
	const commit = await repository.resolve(base);
	const text = await repository.read(`${commit}:${path}`).catch(() => {
		throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
	});
	return parseConfig(text, {
		path,
		home: process.env.HOME ?? "/"
	});
}

export { configAt };