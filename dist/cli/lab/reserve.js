import { isOnThisMachine, loadConfig, parsePriority, testbedsFor } from "../../config/first.js";
import { showProgress } from "../../gate/first.js";
import { openReservations, whoami } from "../../gate/testbeds/first.js";
import { UsageError, reasonOf } from "../../model/first-plain.js";
import { configPath } from "../find-config.js";
import { oneLine } from "../table.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { constants } = globalThis.process.getBuiltinModule("node:os");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/cli/lab/foreground.ts
/** Forwards SIGINT, SIGTERM and SIGHUP to the command until it ends. */
async function runInForeground([program = "", ...args], { environment, signal, graceSeconds }) {
	const sharesTerminal = process.stdin.isTTY === true;
	using _hearing = onSignals((name) => {
		if (!(sharesTerminal && name === "SIGINT")) send(name);
	});
	const child = spawn(program, args, {
		stdio: "inherit",
		env: environment,
		detached: !sharesTerminal
	});
	const ended = once(child, "exit");
	const { pid } = child;
	const send = (name) => pid !== void 0 && isSent(sharesTerminal ? pid : -pid, name);
	if (pid === void 0) return {
		kind: "not-started",
		why: await ended.then(String, whyNot)
	};
	const finished = Promise.withResolvers();
	const end = () => void endAll(send, graceSeconds).then(finished.resolve, finished.reject);
	if (signal.aborted) end();
	signal.addEventListener("abort", end, { once: true });
	const [code, signalName] = await ended;
	signal.removeEventListener("abort", end);
	if (signal.aborted) await finished.promise;
	return {
		kind: "exited",
		code: codeOf$1(code, signalName)
	};
}
const whyNot = (error) => error instanceof Error && "code" in error ? String(error.code) : reasonOf(error);
const codeOf$1 = (code, signalName) => typeof code === "number" ? code : 128 + constants.signals[signalName];
async function endAll(send, graceSeconds) {
	const giveUpAt = performance.now() + graceSeconds * 1e3;
	send("SIGTERM");
	send("SIGCONT");
	while (send(0)) {
		if (performance.now() >= giveUpAt) {
			send("SIGKILL");
			return;
		}
		await setTimeout(50);
	}
}
function isSent(target, name) {
	try {
		return process.kill(target, name);
	} catch {
		return false;
	}
}
/** Replaces earlier signal handlers until disposed. */
function onSignals(onSignal) {
	const others = [
		"SIGINT",
		"SIGTERM",
		"SIGHUP"
	].map((name) => ({
		name,
		listeners: process.listeners(name)
	}));
	for (const { name, listeners } of others) {
		process.on(name, onSignal);
		for (const listener of listeners) process.off(name, listener);
	}
	return { [Symbol.dispose]() {
		for (const { name, listeners } of others) {
			for (const listener of listeners) process.on(name, listener);
			process.off(name, onSignal);
		}
	} };
}

// src/cli/lab/reserve.ts
/** Returns the command's exit code; throws if nothing was reserved, or the testbed was lost. */
async function run(selector, command, { config: path, purpose = "by hand", priority: named }, { signal }) {
	if (selector.trim() === "") throw new UsageError("<selector> is empty: name a testbed, or required properties like \"mellanox and 40G\".");
	if (command.length === 0) throw new UsageError(`There is no command to run on ${selector}: put one after two dashes, like \`ppsgate reserve ${selector} -- ssh root@dut\`.`);
	const config = await loadConfig(configPath(path));
	const priority = parsePriority(named, "--priority");
	const names = namesOf(config, selector);
	const { show, notify, end } = describeTraffic(config);
	await using reservations = await openReservations(config, {
		signal,
		notify,
		onWait: (_, text) => show(oneLine(text))
	});
	const holder = {
		who: whoami(),
		purpose
	};
	const reserved = await reservations.reserve(names, {
		priority,
		holder
	}).finally(end);
	let outcome = "its command was not run";
	try {
		signal.throwIfAborted();
		notify(`${reserved.name} is reserved.`);
		const commandEnd = await runInForeground(command, {
			environment: environmentOf(reserved, config),
			signal: reserved.signal,
			graceSeconds: 10
		});
		outcome = outcomeOf(commandEnd);
		reserved.signal.throwIfAborted();
		return codeOf(commandEnd, command);
	} finally {
		await giveBack(reserved, config, outcome, notify);
	}
}
/** A testbed named explicitly need not support the whole configuration. */
const namesOf = (config, selector) => Object.hasOwn(config.testbeds, selector) ? [selector] : testbedsFor(config, selector, "<selector>");
function describeTraffic({ gate }) {
	const progress = showProgress(process.stderr, gate.metric, () => performance.now());
	return {
		show: (text) => progress.onEvent({
			kind: "preparing",
			text
		}),
		notify(sentence) {
			progress.end();
			process.stderr.write(`ppsgate: ${oneLine(sentence)}\n`);
		},
		end: progress.end
	};
}
function environmentOf({ name, lease }, { testbeds }) {
	const testbed = testbeds[name];
	const isElsewhere = testbed !== void 0 && !isOnThisMachine(testbed);
	return {
		...process.env,
		PPSGATE_TESTBED: name,
		PPSGATE_TOKEN: String(lease.token),
		PPSGATE_DUT: isElsewhere ? testbed.dut.host : void 0
	};
}
const outcomeOf = (commandEnd) => commandEnd.kind === "exited" ? `its command ended with ${commandEnd.code}` : `its command could not be started: ${commandEnd.why}`;
function codeOf(commandEnd, [program = ""]) {
	if (commandEnd.kind === "exited") return commandEnd.code;
	throw new UsageError(`The command ${program} cannot be started (${commandEnd.why}): name an existing program after the two dashes.`);
}
/** Restores the base before the check, as users leave traces. */
async function giveBack(reserved, config, outcome, notify) {
	const { name, signal, lease } = reserved;
	if (signal.aborted) return;
	try {
		await restore(reserved, config, notify);
	} catch (error) {
		notify(`${name} could not be restored to its base (${reasonOf(error)}): its next holder restores it.`);
		await lease.release({
			outcome,
			isClean: false
		}).catch((error) => notify(reasonOf(error)));
		return;
	}
	const trouble = await reserved.giveBack(outcome);
	if (trouble !== void 0) notify(trouble);
}
async function restore({ name, open }, { testbeds, traffic }, notify) {
	if (isOnThisMachine(testbeds[name])) return;
	notify(`Restoring the base of ${name}.`);
	await (await open(traffic)).restore();
}

export { run };