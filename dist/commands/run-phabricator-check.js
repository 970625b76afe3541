import { loadConfig } from "../config.js";
import { phabricatorOf } from "../phabricator.js";
import { checkPhabricator } from "../relay.js";
import { exitCodes } from "../words.js";
import { configPath } from "./named-testbed.js";
import { hasColours, oneLine, print } from "./table.js";

// src/commands/run-phabricator-check.ts
/** Prints each finding as it is made, or with `json` all of them at the end. */
async function checkSetUp({ config: path, json }, signal) {
	const phabricator = phabricatorOf(await loadConfig(configPath(path)));
	const tell = (sentence) => void (json ? process.stderr : process.stdout).write(`… ${oneLine(sentence)}\n`);
	const patience = tellIfSlow(tell);
	const world = {
		signal,
		now: () => /* @__PURE__ */ new Date(),
		log: { info: tell },
		onLook: patience.begin
	};
	const findings = [];
	try {
		for await (const finding of checkPhabricator(phabricator, world)) {
			patience.end();
			findings.push(finding);
			if (!json) print(findingText(finding, process.stdout));
		}
	} finally {
		patience.end();
	}
	print(json ? JSON.stringify({
		phabricator: phabricator.url,
		findings
	}, null, 2) : summary(findings));
	return exitCodeOf(findings);
}
const patienceSeconds = 2;
function tellIfSlow(tell) {
	let timer;
	const end = () => clearTimeout(timer);
	return {
		begin(what) {
			end();
			timer = setTimeout(() => tell(`looking at ${what}`), patienceSeconds * 1e3);
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
/** Of ECMA-48's select graphic rendition: green, yellow, red, red, faint. */
const colours = {
	ok: 32,
	warning: 33,
	wrong: 31,
	unreachable: 31,
	skipped: 2
};
const longestWord = 11;
/** `✘ WHAT: WHY`, or off a terminal `wrong WHAT: WHY`; what mends it is on a line of its own. */
function findingText(finding, output) {
	const { kind, what, why } = finding;
	const plain = output.isTTY ? signs[kind] : kind.padEnd(longestWord);
	const line = `${hasColours(output) ? `\x1b[${colours[kind]}m${plain}\x1b[0m` : plain} ${oneLine(`${what}: ${why}`)}`;
	return "mend" in finding ? `${line}\n    mend: ${oneLine(finding.mend)}` : line;
}
/** `All is well.`, or how much is not. */
function summary(findings) {
	const faults = findings.filter(isFault).length;
	const warnings = findings.filter(({ kind }) => kind === "warning").length;
	const wrong = {
		0: "Nothing is wrong",
		1: "One thing is wrong"
	}[faults] ?? `${faults} things are wrong`;
	if (warnings === 0) return faults === 0 ? "All is well." : `${wrong}.`;
	return `${wrong}; ${warnings === 1 ? "one thing is" : `${warnings} things are`} worth a look.`;
}
const isFault = ({ kind }) => kind === "wrong" || kind === "unreachable";
/** What is wrong in ppsgate.yml or on the server stays so, and weighs more than what may answer later. */
function exitCodeOf(findings) {
	const kinds = new Set(findings.map(({ kind }) => kind));
	if (kinds.has("wrong")) return exitCodes.usage;
	return kinds.has("unreachable") ? exitCodes.infrastructure : exitCodes.pass;
}

export { checkSetUp };