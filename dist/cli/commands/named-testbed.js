import { didYouMean } from "../../config/did-you-mean.js";
import { UsageError } from "../../model/first-plain.js";
import { findConfig, usualConfig } from "./find-config.js";

// src/cli/commands/named-testbed.ts
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

export { configPath, namedTestbed };