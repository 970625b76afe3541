import { loadConfig } from "../../config/first.js";
import { liftQuarantine, readLab, setQuarantine } from "../../gate/reserve/first.js";
import { openStore } from "../../gate/reserve/store/first.js";
import { aimOf } from "../../gate/reserve.js";
import { whoami } from "../../gate/testbeds/first.js";
import { UsageError, exitCodes } from "../../model/first-plain.js";
import { configPath, namedTestbed } from "../find-config.js";
import { clockText, oneLine, print } from "../table.js";

// src/cli/lab/quarantine.ts
async function run(name, { config: given, reason, lift }) {
	const path = configPath(given);
	const config = await loadConfig(path);
	namedTestbed(config, path, name);
	if (reason === void 0 === (lift === void 0) || reason?.trim() === "") throw new UsageError(`Give the reason for the quarantine of ${name} with --reason TEXT, or lift it with --lift.`);
	const store = await openStore(config.reservations);
	try {
		const sentences = reason === void 0 ? await liftFrom(store, name) : await putInto(store, name, reason);
		for (const sentence of sentences) print(oneLine(sentence));
		return exitCodes.pass;
	} finally {
		await store.close();
	}
}
async function putInto(store, name, reason) {
	const { quarantines, held } = await readLab(store);
	await setQuarantine(store, name, {
		reason,
		by: whoami(),
		since: (/* @__PURE__ */ new Date()).toISOString()
	});
	const before = quarantines.get(name);
	const holding = held.values().find(({ testbed }) => testbed === name);
	return [
		`${name} is in quarantine and cannot be reserved until \`ppsgate quarantine ${name} --lift\`.`,
		...before === void 0 ? [] : [`It was already: ${describe(before)}.`],
		...holding === void 0 ? [] : [`${holding.holder.who} holds it (${aimOf(holding.holder)}), and keeps it.`]
	];
}
async function liftFrom(store, name) {
	const before = (await readLab(store)).quarantines.get(name);
	const isLifted = await liftQuarantine(store, name);
	if (before === void 0 || !isLifted) return [`${name} is not in quarantine.`];
	return [`${name} is available again; it was in quarantine: ${describe(before)}.`];
}
const describe = ({ reason, by, since }) => `${reason.replace(/\.$/, "")} (${by}, ${clockText(since, /* @__PURE__ */ new Date())})`;

export { run };