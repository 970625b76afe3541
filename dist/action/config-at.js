import { parseConfig, withCapture } from "../config/first.js";
import { UsageError } from "../model/first-plain.js";
const { isAbsolute } = globalThis.process.getBuiltinModule("node:path");

// src/action/config-at.ts
/** @param path in the repository. Throws a UsageError if the commit has no such file. */
async function configAt(base, path, repository) {
	const commit = await repository.resolve(base);
	const text = await repository.read(`${commit}:${path}`).catch(() => {
		throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
	});
	const config = parseConfig(text, {
		path,
		home: process.env.HOME ?? "/"
	});
	const { capturePath } = config;
	if (capturePath === void 0) return config;
	if (isAbsolute(capturePath) || capturePath.startsWith("..")) throw new UsageError(`traffic.pcap: ${capturePath} is outside the repository: add it to the base branch, beside ${path}.`);
	const file = await repository.readBytes(`${commit}:${capturePath}`).catch(() => {
		throw new UsageError(`traffic.pcap: the base ${base} has no ${capturePath} of at most 4 MiB: add one to the base branch first.`);
	});
	return withCapture(config, file, capturePath);
}

export { configAt };