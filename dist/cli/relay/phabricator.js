import { loadConfig, systemOf } from "../../config/first.js";
import { phabricatorOf } from "../../forge/phabricator.js";
import { exitCodes } from "../../model/first-plain.js";
import { checkPhabricator } from "../../relay.js";
import { configPath } from "../find-config.js";
import { hasColours, oneLine, print, printJson } from "../table.js";

// src/cli/relay/phabricator.ts
/** Prints each diagnostic at once, or with `json` all at the end. */
async function run({ config: path, json }, { signal }) {
	const config = await loadConfig(configPath(path));
	const phabricator = phabricatorOf(config);
	const notify = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
	const patience = notifyIfSlow(notify);
	const deps = {
		signal,
		now: () => /* @__PURE__ */ new Date(),
		log: { info: notify },
		onLook: patience.begin,
		...hasLinux(config) && { overlay: config.overlay }
	};
	const diagnostics = [];
	try {
		for await (const diagnostic of checkPhabricator(phabricator, deps)) {
			patience.end();
			diagnostics.push(diagnostic);
			if (!json) print(diagnosticText(diagnostic, process.stdout));
		}
	} finally {
		patience.end();
	}
	if (json) printJson({
		phabricator: phabricator.url,
		diagnostics
	});
	else print(summary(diagnostics));
	return exitCodeOf(diagnostics);
}
const hasLinux = (config) => Object.keys(config.testbeds).some((name) => systemOf(config, name) === "linux");
const patienceSeconds = 2;
function notifyIfSlow(notify) {
	let timer;
	const end = () => clearTimeout(timer);
	return {
		begin(what) {
			end();
			timer = setTimeout(() => notify(`checking ${what}`), patienceSeconds * 1e3);
		},
		end
	};
}
const signs = {
	ok: "✔",
	warning: "!",
	wrong: "✘",
	unreachable: "✘",
	skipped: "–"
};
/** ECMA-48 select graphic rendition: green, yellow, red, red, faint. */
const colours = {
	ok: 32,
	warning: 33,
	wrong: 31,
	unreachable: 31,
	skipped: 2
};
const longestWord = 11;
/** `✘ WHAT: WHY`, or without a terminal `wrong WHAT: WHY`; the fix is on its own line. */
function diagnosticText(diagnostic, output) {
	const { kind, what, why } = diagnostic;
	const plain = output.isTTY ? signs[kind] : kind.padEnd(longestWord);
	const line = `${hasColours(output) ? `\x1b[${colours[kind]}m${plain}\x1b[0m` : plain} ${oneLine(`${what}: ${why}`)}`;
	return "fix" in diagnostic ? `${line}\n    fix: ${oneLine(diagnostic.fix)}` : line;
}
function summary(diagnostics) {
	const faults = diagnostics.filter(isFault).length;
	const warnings = diagnostics.filter(({ kind }) => kind === "warning").length;
	const wrong = {
		0: "No check failed",
		1: "One check failed"
	}[faults] ?? `${faults} checks failed`;
	if (warnings === 0) return faults === 0 ? "All checks passed." : `${wrong}.`;
	return `${wrong}; ${warnings === 1 ? "one warning" : `${warnings} warnings`}.`;
}
const isFault = ({ kind }) => kind === "wrong" || kind === "unreachable";
/** Faults in ppsgate.yml or on the server persist, and outweigh a temporary failure. */
function exitCodeOf(diagnostics) {
	const kinds = new Set(diagnostics.map(({ kind }) => kind));
	if (kinds.has("wrong")) return exitCodes.usage;
	return kinds.has("unreachable") ? exitCodes.infrastructure : exitCodes.pass;
}

export { diagnosticText, exitCodeOf, run, summary };