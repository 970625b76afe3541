import { NoRepositoryError, openRepository } from "../../forge/patch/first.js";
import { RepositoryError } from "../../forge/patch/first-plain.js";
import { UsageError } from "../../model/first-plain.js";
const { resolve } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/gate-call.ts
const asUsageError = (optionName) => (error) => {
	if (!(error instanceof RepositoryError)) throw error;
	const which = error instanceof NoRepositoryError ? "repository" : "patch";
	throw new UsageError(`${optionName(which)}: ${error.message}`);
};
const stderrLog = {
	info: (sentence) => process.stderr.write(`${sentence}\n`),
	warn: (sentence) => process.stderr.write(`warning: ${sentence}\n`)
};
const repositoryOf = ({ repository }) => openRepository(resolve(repository ?? "."));
/** Treats an empty option as absent. */
function required(name, { options, optionName }) {
	const text = options[name];
	if (text) return text;
	throw new UsageError(`${optionName(name)} is missing: see \`ppsgate gate --help\`.`);
}

export { asUsageError, repositoryOf, required, stderrLog };