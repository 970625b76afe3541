import { readForeignText } from "../../system/foreign-files.js";
import { makeFolders } from "../../system/give-to-caller.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { access, rename, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/gate/experiment/plan-file.ts
const planFiles = {
	"experiment.json": {
		of: "an experiment",
		command: "ppsgate gate"
	},
	"bisect.json": {
		of: "a bisection",
		command: "ppsgate bisect"
	}
};
/** A plan has about a hundred bytes per trial, and a thousand per commit of a bisection. */
const maxBytes = 64 * 1024 ** 2;
/** Writes the plan atomically. Throws a `PlanError` if the directory already has one. */
async function beginPlanFile(directory, file, plan) {
	await refuseUsed(directory);
	await makeFolders(directory);
	await replacePlanFile(directory, file, plan);
}
/** Throws a PlanError if the directory already has an experiment or a bisection. */
async function refuseUsed(directory) {
	for (const [file, { of, command }] of Object.entries(planFiles)) if (await isThere(join(directory, file))) throw new PlanError(`${directory} already has ${of}: resume it with '${command} --resume ${directory}', or name another directory.`);
}
async function replacePlanFile(directory, file, plan) {
	const draft = join(directory, `.${file}`);
	await writeFile(draft, `${JSON.stringify(plan, null, 2)}\n`, { flush: true });
	await rename(draft, join(directory, file));
}
/** Reads the plan of an earlier process. Throws a `PlanError` if there is none, or it belongs to the other command. */
async function readPlanFile(directory, file, schema) {
	const path = join(directory, file);
	try {
		return schema.parse(JSON.parse(await readForeignText(directory, file, maxBytes) ?? ""));
	} catch {
		const { of, command } = planFiles[file];
		if (!await isThere(path)) await refuseUsed(directory);
		throw new PlanError(`${path} has no plan of ${of}: name the directory of an earlier '${command}'.`);
	}
}
const hasPlanFile = (directory, file) => isThere(join(directory, file));
const isThere = (path) => access(path).then(() => true, () => false);
var PlanError = class extends Error {
	name = "PlanError";
	conclusion = "usage";
};

export { beginPlanFile, hasPlanFile, readPlanFile, refuseUsed, replacePlanFile };