import { UsageError, endedEarly, reasonOf } from "../model/first-plain.js";
import { callerThroughSudo, placeAt } from "../system/give-to-caller.js";
const { existsSync, statSync } = globalThis.process.getBuiltinModule("node:fs");
const { mkdir, rmdir } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/gate/on-testbed.ts
async function onTestbed(testbeds, patch, deps, nameOf, work) {
	const reserved = await deps.reserve(testbeds, patch);
	return thenReleased(() => reserved, deps, nameOf, () => work(reserved));
}
/** Works, then releases the testbed that it holds at the end, if any. */
async function thenReleased(ours, { onEvent }, nameOf, work) {
	let outcome = "ended";
	try {
		const found = await work();
		outcome = nameOf(found);
		return found;
	} catch (error) {
		outcome = endedEarly(reasonOf(error));
		ours()?.signal.throwIfAborted();
		throw error;
	} finally {
		const trouble = await ours()?.giveBack(outcome);
		if (trouble !== void 0) onEvent({
			kind: "warning",
			text: trouble
		});
	}
}

// src/gate/work-directory.ts
/** Top-level names in the work directories of gates and bisections. */
const workNames = {
	names: [...[
		"experiment.json",
		".experiment.json",
		"bisect.json",
		".bisect.json",
		"journal.jsonl"
	], ...[
		"lease.json",
		"result.json",
		"report.md",
		"report",
		"builds",
		"trials",
		"profiles"
	]],
	marks: ["experiment.json", "bisect.json"]
};
const selfTestNames = {
	names: [
		"self-test.jsonl",
		"own-kernel.tar",
		"trials",
		"profiles"
	],
	marks: ["self-test.jsonl"]
};
/** Its disposal removes a new directory that stayed empty. */
var WorkDirectory = class {
	#prefix;
	#warn;
	#own;
	#caller = callerThroughSudo(process.env, process.getuid?.());
	#place;
	#made;
	#path = "";
	/** `prefix` begins a generated name. */
	constructor(prefix, warn, own = workNames) {
		this.#prefix = prefix;
		this.#warn = warn;
		this.#own = own;
	}
	/** Returns the given directory, which need not exist yet, or creates one in the current directory. */
	async open({ resume, directory }) {
		const given = resume ?? directory;
		if (given !== void 0) refuseNoFolder(given, resume === void 0 ? "--directory" : "--resume");
		if (given === void 0) this.#made = await makeDirectory(this.#prefix, /* @__PURE__ */ new Date());
		this.#path = given ?? this.#made ?? "";
		const isMissing = resume !== void 0 && !existsSync(resume);
		if (this.#caller !== void 0 && !isMissing) this.#place = await placeAt(this.#path, this.#own, this.#made);
		return this.#path;
	}
	async [Symbol.asyncDispose]() {
		if (this.#place !== void 0 && this.#caller !== void 0) {
			await this.#place.giveTo(this.#caller).catch((error) => {
				this.#warn(`files in ${this.#path} still belong to root: ${reasonOf(error)}`);
			});
			await this.#place[Symbol.asyncDispose]();
		}
		if (this.#made !== void 0) await rmdir(this.#made).catch(() => {});
	}
};
/** Throws for a path that is no folder; the folder itself may be missing. */
function refuseNoFolder(path, option) {
	if (path === "") throw new UsageError(`${option}: expected the name of a folder, found "".`);
	try {
		if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) return;
	} catch (error) {
		throw new UsageError(`${option}: ${path} is not a folder (${reasonOf(error)}): name a folder.`);
	}
	throw new UsageError(`${option}: ${path} is a file: name a folder.`);
}
const selfTestDirectory = (warn) => new WorkDirectory("ppsgate-self-test", warn, selfTestNames);
/** Creates `ppsgate-demo-20261120-231655` in the current directory; `…-2` if another command has just created that. */
async function makeDirectory(prefix, now) {
	const digits = now.toISOString().replace(/\D/g, "");
	const first = `${prefix}-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
	for (let number = 1;; number += 1) {
		const name = number === 1 ? first : `${first}-${number}`;
		try {
			await mkdir(name);
			return name;
		} catch (error) {
			if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
		}
	}
}

export { WorkDirectory, onTestbed, refuseNoFolder, selfTestDirectory, thenReleased };