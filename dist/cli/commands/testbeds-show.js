import { loadConfig } from "../../config.js";
import { freeEnded, overviewOf, readLab, readUsualSeconds } from "../../gate/reserve.js";
import { openProcessesOf, openStore } from "../../gate/reserve/store.js";
import { exitCodes } from "../../model/plain.js";
import { runToExit } from "../../system/exit.js";
import { configPath } from "./named-testbed.js";
import { changedLines, overviewDetails, overviewText } from "./overview-text.js";
import { hasColours, print, printJson } from "../init/plain.js";

// src/cli/commands/testbeds-show.ts
function define(command) {
	command.option("-c, --config <file>", "configuration", "ppsgate.yml").option("-w, --watch", "show it again at each change, until Ctrl-C").option("--json", "print it as JSON; with --watch, one line per change").addHelpText("after", overviewDetails).action(async (options) => {
		await runToExit((signal) => showTestbeds(options, signal), command.optsWithGlobals());
	});
}
async function showTestbeds({ config: path, json = false, watch = false }, signal) {
	const config = await loadConfig(configPath(path));
	const store = await openStore(config.reservations);
	try {
		if (watch) return await watchWhileRead(config, store, watcherOf(process.stdout, json), signal);
		const { overview } = await lookAt(config, store, await readUsualSeconds(store, /* @__PURE__ */ new Date()));
		if (json) printJson(overview);
		else print(textFor(overview, process.stdout));
		return exitCodes.pass;
	} finally {
		await store.close();
	}
}
async function watchWhileRead(config, store, show, signal) {
	const unread = new AbortController();
	process.stdout.once("error", () => unread.abort());
	try {
		return await watchTestbeds(config, store, show, AbortSignal.any([signal, unread.signal]));
	} catch (error) {
		if (signal.aborted || !unread.signal.aborted) throw error;
		return exitCodes.pass;
	}
}
async function lookAt(config, store, usualSeconds) {
	const seen = await readLab(store);
	const processes = await openProcessesOf(config.reservations);
	const lab = await freeEnded(store, seen, processes, /* @__PURE__ */ new Date()) ? await readLab(store) : seen;
	return {
		overview: overviewOf(config, lab, usualSeconds, /* @__PURE__ */ new Date()),
		revision: lab.revision
	};
}
const textFor = (overview, output) => overviewText(overview, hasColours(output));
/** Shows the state at once, at each change of the store, and every minute; rejects with the signal's reason. */
async function watchTestbeds(config, store, show, signal) {
	for (;;) {
		const usualSeconds = await readUsualSeconds(store, /* @__PURE__ */ new Date());
		const minute = AbortSignal.timeout(6e4);
		const over = AbortSignal.any([signal, minute]);
		while (!minute.aborted) {
			const { overview, revision } = await lookAt(config, store, usualSeconds);
			show(overview);
			await store.changed(revision, over).catch((error) => {
				signal.throwIfAborted();
				if (!minute.aborted) throw error;
			});
		}
	}
}
/** Redraws a terminal; elsewhere prints one line per change, or with `json` one line per poll. */
function watcherOf(output, json) {
	if (json) return (overview) => void output.write(Buffer.from(`${JSON.stringify(overview)}\n`));
	if (output.isTTY) return (overview) => void output.write(screenOf(textFor(overview, output)));
	let last;
	return (overview) => {
		for (const line of changedLines(last, overview)) output.write(`${line}\n`);
		last = overview;
	};
}
/** Overwrites from the top left and clears the rest, without flicker. */
const screenOf = (text) => `\x1b[H${text.replaceAll("\n", "\x1B[K\n")}\x1b[K\n\x1b[J`;

export { define };