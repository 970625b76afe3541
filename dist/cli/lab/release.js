import { loadConfig } from "../../config/first.js";
import { directoriesWithLease, giveBack, readLab, releaseLeft } from "../../gate/reserve/first.js";
import { openStore } from "../../gate/reserve/store/first.js";
import { aimOf } from "../../gate/reserve.js";
import { whoami } from "../../gate/testbeds/first.js";
import { machinesOf } from "../../lab/first.js";
import { UsageError, exitCodes } from "../../model/first-plain.js";
import { configPath, namedTestbed } from "../find-config.js";
import { askOnTerminal } from "../prompt.js";
import { clockText, oneLine, print } from "../table.js";
const { resolve } = globalThis.process.getBuiltinModule("node:path");
const { access } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/lab/release.ts
const run = (name, options, { signal }) => runRelease(name, options, askOnTerminal(signal));
async function runRelease(name, options, ask) {
	const { directory, force } = options;
	if (name === void 0 && directory) return releaseDirectory(resolve(directory));
	if (name === void 0 || directory !== void 0) throw new UsageError("Name a testbed or a directory: `ppsgate release NAME --force`, or `ppsgate release --directory DIR` with the work directory of a gate.");
	if (force === void 0) throw new UsageError(`${name} is released by its holder; to take it from the holder, add --force.`);
	return takeByForce(name, options, ask);
}
async function releaseDirectory(directory) {
	await access(directory).catch(() => {
		throw new UsageError(`--directory: ${directory} does not exist: name the work directory of a gate.`);
	});
	const left = await directoriesWithLease(directory);
	const released = await Promise.allSettled(left.map((own) => releaseLeft(own, /* @__PURE__ */ new Date())));
	const held = released.flatMap((one) => one.status === "fulfilled" ? one.value ?? [] : []);
	for (const testbed of held) print(`${testbed} is released; its next holder restores its base.`);
	const failure = released.find((one) => one.status === "rejected");
	if (failure !== void 0) throw failure.reason;
	if (held.length === 0) print(`The gate of ${directory} holds no testbed.`);
	return exitCodes.pass;
}
async function takeByForce(name, options, ask) {
	const path = configPath(options.config);
	const config = await loadConfig(path);
	const store = await openStore(config.reservations);
	try {
		const lab = await readLab(store);
		const holding = lab.held.values().find(({ testbed }) => testbed === name);
		if (holding === void 0) {
			print(whyNotHeld(name, machinesOf(namedTestbed(config, path, name)), lab));
			return exitCodes.pass;
		}
		const taker = await confirmed(holding, options, ask);
		if (taker === void 0) {
			print(`${name} is still held by ${oneLine(holding.holder.who)}.`);
			return exitCodes.pass;
		}
		const outcome = `taken away by ${taker}`;
		const isTaken = await giveBack(store, holding, {
			outcome,
			isClean: false
		}, /* @__PURE__ */ new Date());
		const who = oneLine(holding.holder.who);
		print(isTaken ? `${name} was taken from ${who}; its next holder restores its base.` : `${name} was not taken: ${who} no longer holds it.`);
		return exitCodes.pass;
	} finally {
		await store.close();
	}
}
function whyNotHeld(name, machines, { held }) {
	const other = machines.map((machine) => held.get(machine)).find((one) => one !== void 0);
	return other === void 0 ? `${name} is free.` : `${name} is free, but ${consequence(other)}, and the two share a machine.`;
}
const consequence = ({ testbed, holder, since }) => oneLine(`${holder.who} has ${testbed} (${aimOf(holder)}) since ${clockText(since, /* @__PURE__ */ new Date())}`);
async function confirmed(holding, { by, yes }, ask) {
	if (ask === void 0) {
		if (by !== void 0 && yes === true) return by;
		throw new UsageError(`${consequence(holding)}: without a terminal for questions, taking it needs both --by NAME and --yes.`);
	}
	print(`${consequence(holding)}. Their measurement ends.`);
	const taker = by ?? (await ask(`Who are you? [${whoami()}] `) || whoami());
	if (yes === true) return taker;
	const answer = await ask(`Take it from the holder? [y/N] `);
	return /^y(es)?$/i.test(answer) ? taker : void 0;
}

export { run, runRelease };