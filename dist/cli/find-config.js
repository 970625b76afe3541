import { didYouMean } from "../config/did-you-mean.js";
import { UsageError } from "../model/first-plain.js";
import { ExposedPlaceError, checkNotOpen, isOwned } from "../system/own-file.js";
const { dirname, join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { lstatSync, statSync } = globalThis.process.getBuiltinModule("node:fs");

// src/cli/find-config.ts
const usualConfig = "ppsgate.yml";
/**
* Returns the path of a configuration, which may not exist; also looks for the usual name in the folders above. A file
* there configures commands that run as this user: throws a UsageError if another user owns it or may write it, unless
* the path was given.
*/
function findConfig(written, folder = process.cwd()) {
	const here = resolve(folder, written);
	if (written !== "ppsgate.yml") return {
		path: here,
		isAbove: false
	};
	for (let at = folder;; at = dirname(at)) {
		const path = join(at, usualConfig);
		const found = lstatSync(path, { throwIfNoEntry: false });
		if (found !== void 0) {
			const isAbove = at !== folder;
			if (isAbove) expectOwn(path, found);
			return {
				path,
				isAbove
			};
		}
		if (at === dirname(at)) return {
			path: here,
			isAbove: false
		};
	}
}
function expectOwn(path, link) {
	const stranger = [link, statSync(path, { throwIfNoEntry: false }) ?? link].find((stats) => !isOwned(stats));
	if (stranger !== void 0) throw new UsageError(`${path} was found in a parent folder and belongs to the user ${stranger.uid}, so it is not used: name it with --config if you trust it.`);
	try {
		checkNotOpen(path);
	} catch (error) {
		if (!(error instanceof ExposedPlaceError)) throw error;
		throw new UsageError(`The configuration above the current folder is refused: ${error.message}.`);
	}
}
/** Prints the path of a configuration that was found above the current folder. */
function configPath(written) {
	const { path, isAbove } = findConfig(written ?? "ppsgate.yml");
	if (isAbove) process.stderr.write(`Configuration: ${path}\n`);
	return path;
}
/** Throws a UsageError that lists the testbeds in `path`. */
function namedTestbed({ testbeds }, path, name) {
	const testbed = Object.hasOwn(testbeds, name) ? testbeds[name] : void 0;
	if (testbed !== void 0) return testbed;
	const names = Object.keys(testbeds);
	const hint = didYouMean(name, names) || ".";
	throw new UsageError(`${path} has no testbed "${name}": it has ${names.join(", ")}${hint}`);
}

export { configPath, namedTestbed, usualConfig };