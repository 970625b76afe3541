import { lastLine, shortened } from "../../model/plain.js";
import { makeFolders } from "../../system/give-to-caller.js";
import { readForeignText } from "../../system/foreign-files.js";
import { join } from "node:path";
import { access, rename, writeFile } from "node:fs/promises";

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

// src/gate/experiment/rejection-message.ts
/** Reports a base that does not work, without which a patch has no verdict. */
var BaseRejectedError = class extends Error {
	name = "BaseRejectedError";
	constructor(rejection) {
		super(`The base itself ${faultOf(rejection)}, so nothing was measured: ${whyRejected(rejection)}`);
	}
};
function whyRejected(rejection) {
	const { message } = rejection;
	const panic = "panic" in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : "";
	const shown = "console" in rejection ? lastLine(rejection.console ?? "") : void 0;
	return `${message}${panic}${panic || !shown ? "" : ` Last lines of its console: "${shortened(shown)}".`}`;
}
/** `does not boot: …`; follows the variant's name. */
const rejectionMessage = (rejection) => `${faultOf(rejection)}: ${whyRejected(rejection)}`;
/** `does not boot`; follows the variant's name. */
const faultOf = ({ kind }) => faults[kind];
const faults = {
	"does-not-apply": "does not apply",
	"build-failed": "does not build",
	"out-of-disk": "runs out of disk space",
	"does-not-load": "does not load",
	"boot-failed": "does not boot",
	"panics-under-load": "panics under load"
};

export { BaseRejectedError, beginPlanFile, faultOf, hasPlanFile, readPlanFile, refuseUsed, rejectionMessage, replacePlanFile };