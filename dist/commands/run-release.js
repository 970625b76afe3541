import { loadConfig } from "../config.js";
import { whoami } from "../controller.js";
import { aimOf, machinesOf } from "../inventory.js";
import { giveBack, openStore, readLab, releaseLeft } from "../reservation.js";
import { UsageError, exitCodes } from "../words.js";
import { configPath, namedTestbed } from "./named-testbed.js";
import { clockText, oneLine, print } from "./table.js";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";

// src/commands/run-release.ts
async function runRelease(name, options, ask) {
	const { directory, force } = options;
	if (name === void 0 && directory !== void 0) return releaseDirectory(resolve(directory));
	if (name === void 0 || directory !== void 0) throw new UsageError("Say what to release: `ppsgate release NAME --force`, or `ppsgate release --directory DIR` with the work directory of a gate.");
	if (force === void 0) throw new UsageError(`${name} is given back by whoever has it; to take it from them, add --force.`);
	return takeByForce(name, options, ask);
}
async function releaseDirectory(directory) {
	const testbed = await releaseLeft(directory, /* @__PURE__ */ new Date());
	print(testbed === void 0 ? `Nothing is held by the gate of ${directory}.` : `${testbed} is given back; its next holder brings it to its base.`);
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
			print(`${name} was left with ${oneLine(holding.holder.who)}.`);
			return exitCodes.pass;
		}
		const outcome = `taken away by ${taker}`;
		const isTaken = await giveBack(store, holding, {
			outcome,
			isClean: false
		}, /* @__PURE__ */ new Date());
		const who = oneLine(holding.holder.who);
		print(isTaken ? `${name} was taken from ${who}; its next holder brings it to its base.` : `${name} was not taken: ${who} does not have it any more.`);
		return exitCodes.pass;
	} finally {
		await store.close();
	}
}
function whyNotHeld(name, machines, { held }) {
	const other = machines.map((machine) => held.get(machine)).find((one) => one !== void 0);
	return other === void 0 ? `Nobody has ${name}.` : `Nobody has ${name}, but ${hurt(other)}, and the two share a machine.`;
}
/** `alice@lab1 has hp-t540 (gate of #12) since 14:02`. */
const hurt = ({ testbed, holder, since }) => oneLine(`${holder.who} has ${testbed} (${aimOf(holder)}) since ${clockText(since, /* @__PURE__ */ new Date())}`);
/** Answers who it is that takes it; undefined where it is left. */
async function confirmed(holding, { by, yes }, ask) {
	if (ask === void 0) {
		if (by !== void 0 && yes === true) return by;
		throw new UsageError(`${hurt(holding)}: where nobody can be asked, taking it needs both --by NAME and --yes.`);
	}
	print(`${hurt(holding)}. Whatever they measure ends.`);
	const taker = by ?? (await ask(`Who are you? [${whoami()}] `) || whoami());
	if (yes === true) return taker;
	const answer = await ask(`Take it from them? [y/N] `);
	return /^y(es)?$/i.test(answer) ? taker : void 0;
}
/** Asks whoever sits at the terminal; the end of input is an empty answer. */
function askOnTerminal(signal) {
	if (!process.stdin.isTTY || !process.stderr.isTTY) return void 0;
	return async (question) => {
		if (process.stdin.readableEnded) return "";
		using lines = createInterface({
			input: process.stdin,
			output: process.stderr,
			terminal: false
		});
		const ended = new Promise((resolve) => lines.once("close", () => resolve("")));
		return (await Promise.race([lines.question(question, { signal }), ended])).trim();
	};
}

export { askOnTerminal, runRelease };