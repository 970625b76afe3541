import { realPause } from "../../model/first-plain.js";
import { lockIfFree } from "../../system/sqlite.js";
const { dirname } = globalThis.process.getBuiltinModule("node:path");
const { mkdir, readFile, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/lab/netns/owner.ts
const locks = /* @__PURE__ */ new Map();
/** Makes this process the owner, and writes its id to the file. Throws a LabInUseError if another process is. */
async function claim(path) {
	if (await isClaimed(path)) return;
	throw new LabInUseError(`The lab of this machine is in use by process ${await ownerOf(path)}: run this again once that process has ended; a gate, a demo or a check waits automatically.`);
}
/** Waits until no other process owns the lab, then makes this one the owner. Throws once `signal` is aborted. */
async function claimWhenFree(path, { notify, signal = new AbortController().signal, pause = realPause }) {
	let notifiedOwner;
	while (!await isClaimed(path)) {
		const owner = await ownerOf(path);
		if (owner !== notifiedOwner) notify?.(`waiting for the lab of this machine ${forOperator(owner)}`);
		notifiedOwner = owner;
		await pause(secondsBetweenTries, signal);
		signal.throwIfAborted();
	}
}
const secondsBetweenTries = 2;
/** Omitted in reports to authors. */
const forOperator = (owner) => `(process ${owner} uses it; Ctrl-C stops waiting)`;
const withoutOperatorsPart = (line) => line.replace(/ \(process [^()]* uses it; Ctrl-C stops waiting\)/, "");
const ownerOf = async (path) => await readFile(path, "utf8").catch(() => "") || "of another user";
async function isClaimed(path) {
	if (locks.has(path)) return true;
	await mkdir(dirname(path), { recursive: true });
	const lock = lockIfFree(`${path}.lock`);
	if (lock === void 0) return false;
	locks.set(path, lock);
	await writeFile(path, String(process.pid));
	return true;
}
async function disclaim(path) {
	const lock = locks.get(path);
	if (lock === void 0) return;
	await rm(path, { force: true });
	locks.delete(path);
	lock[Symbol.dispose]();
}
var LabInUseError = class extends Error {};

export { LabInUseError, claim, claimWhenFree, disclaim, withoutOperatorsPart };