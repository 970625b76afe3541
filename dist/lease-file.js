import { C as object, E as string, _ as custom } from "./scenario.js";
import { d as readLab, g as StoreError, m as openStore, n as giveBack, r as holdingOf } from "./reservation.js";
import { join } from "node:path";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";

// src/reservation/lease-file.ts
const fileName = "lease.json";
const schema = object({
	id: string(),
	session: string(),
	testbed: string(),
	reservations: custom((value) => typeof value === "object")
});
/** Writes it into the directory of a gate, where it stays as long as the testbed is held. */
async function keepLease(directory, { holding, session, testbed }, reservations) {
	await mkdir(directory, { recursive: true });
	const left = {
		id: holding.id,
		session,
		testbed,
		reservations
	};
	await writeFile(join(directory, fileName), `${JSON.stringify(left, null, 2)}\n`);
}
const forgetLease = (directory) => rm(join(directory, fileName), { force: true });
/**
* Gives back what a process that has ended still held; its next holder brings it to its base. Answers the testbed's
* name; undefined where nothing was held any more. Throws a StoreError.
*/
async function releaseLeft(directory, now) {
	const text = await readFile(join(directory, fileName), "utf8").catch(() => void 0);
	if (text === void 0) return void 0;
	const left = leaseIn(text);
	if (left === void 0) throw new StoreError(`The lease in ${directory} cannot be read: it ends by itself where its process has ended.`);
	const store = await openStore(left.reservations);
	try {
		const holding = holdingOf(await readLab(store), left.id);
		const ending = {
			outcome: "its process had ended",
			isClean: false
		};
		if (holding !== void 0) await giveBack(store, holding, ending, now);
		await store.endSession(left.session);
		await forgetLease(directory);
		return holding?.testbed;
	} finally {
		await store.close();
	}
}
function leaseIn(text) {
	try {
		return schema.parse(JSON.parse(text));
	} catch {
		return;
	}
}

export { keepLease as n, releaseLeft as r, forgetLease as t };