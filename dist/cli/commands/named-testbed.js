import { didYouMean } from "../../config.js";
import { UsageError } from "../../model.js";
import { resolve } from "node:path";

// src/cli/commands/named-testbed.ts
const configPath = (written) => resolve(written ?? "ppsgate.yml");
/** Throws a UsageError that lists the testbeds in `path`. */
function namedTestbed({ testbeds }, path, name) {
	const testbed = Object.hasOwn(testbeds, name) ? testbeds[name] : void 0;
	if (testbed !== void 0) return testbed;
	const names = Object.keys(testbeds);
	const hint = didYouMean(name, names) || ".";
	throw new UsageError(`${path} has no testbed "${name}": it has ${names.join(", ")}${hint}`);
}

export { configPath, namedTestbed };