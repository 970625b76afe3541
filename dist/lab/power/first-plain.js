import { reasonOf } from "../../model/first-plain.js";

// src/lab/power/power-controller.ts
var PowerError = class extends Error {
	name = "PowerError";
};
/**
* Reads one line of the file, or else the environment. Throws a PowerError that names the source, never the content.
*/
async function readPassword(label, path, deps) {
	const read = { readFile: deps.readSecret };
	const password = (path === void 0 ? deps.password() ?? "" : await readFileFor(label, path, read)).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(password)) return password;
	throw new PowerError(`${label} cannot be opened: ${path ?? "PPSGATE_BMC_PASSWORD of the environment"} must have one line, the password.`);
}
async function readFileFor(label, path, deps) {
	return await deps.readFile(path).catch((error) => {
		throw new PowerError(`${label} cannot be opened: ${reasonOf(error)}.`, { cause: error });
	});
}

export { PowerError, readFileFor, readPassword };