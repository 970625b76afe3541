import { Command, CommanderError } from "./vendor/commander.js";
import { description, version } from "./package.js";
import { addCommands } from "./cli/commands/add-commands.js";

// src/cli/commands/ascii.ts
/** Uses the first of POSIX's variables that is set and not empty; without any the locale is C. */
const readsUtf8 = ({ LC_ALL, LC_CTYPE, LANG }) => /(?:^|\.)utf-?8(?:@|$)/i.test(LC_ALL || LC_CTYPE || LANG || "C");
/** Text writes, for people, become ASCII; byte writes, for programs, stay unchanged. */
function writeAscii(stream) {
	const write = stream.write.bind(stream);
	stream.write = (chunk, encodingOrDone, last) => {
		const done = typeof encodingOrDone === "function" ? encodingOrDone : last;
		if (typeof chunk !== "string") return write(chunk, done);
		const encoding = typeof encodingOrDone === "string" ? encodingOrDone : "utf8";
		return write(asciiOf(Buffer.from(chunk, encoding).toString()), done);
	};
}
const asciiOf = (text) => text.replace(/\P{ASCII}/gu, plain);
function plain(character) {
	const written = signs[character] ?? character.normalize("NFKD").replace(/[\p{M}\p{Cf}]/gu, "");
	return character in signs || /^[\w .]*$/.test(written) ? written : "?";
}
const signs = {
	"…": "...",
	"·": "-",
	"–": "-",
	"−": "-",
	"±": "+-",
	"×": "x",
	"≤": "<=",
	"≥": ">=",
	"→": "->",
	"↳": "->",
	"¦": "|",
	"▁": "_",
	"▂": ".",
	"▃": "-",
	"▄": "=",
	"▅": "+",
	"▆": "*",
	"▇": "%",
	"█": "#",
	"‘": "'",
	"’": "'",
	"“": "\"",
	"”": "\"",
	"✓": "[ok]",
	"✔": "[ok]",
	"✗": "[!!]",
	"✘": "[!!]",
	"🟢": "[ok]",
	"🔴": "[!!]",
	"🟡": "[??]",
	"⚪": "[--]",
	"⚠": "[!]",
	"⏳": "[..]",
	"⏸": "[||]"
};

// src/cli/commands/closed-pipe.ts
/** Drops further output, without other effects: a gate may be in progress. */
function letReaderGo(stream) {
	stream.on("error", (error) => {
		if (error.code !== "EPIPE") throw error;
	});
}

// src/cli/commands/commands.ts
const commands = [
	{
		name: "demo",
		takes: "[options]",
		description: "judge three small patches with real packets in a lab inside this machine",
		load: () => import("./cli/commands/demo.js")
	},
	{
		name: "gate",
		takes: "[options]",
		description: "judge a patch: measure base and patched side by side, with a verdict for every cell",
		load: () => import("./cli/commands/gate.js")
	},
	{
		name: "compare",
		takes: "[options] <old> <new>",
		description: "compare two rule files, overlays or kernels outside any repository",
		load: () => import("./cli/commands/compare.js")
	},
	{
		name: "plan",
		takes: "[options]",
		description: "estimate the minutes of a gate, for what, and how to save some",
		load: () => import("./cli/commands/plan.js")
	},
	{
		name: "bisect",
		takes: "[options]",
		description: "find the commit of a range that lost performance, with few boots",
		load: () => import("./cli/commands/bisect.js")
	},
	{
		name: "nightly",
		takes: "[options]",
		description: "measure a branch head against itself, and follow up changes",
		load: () => import("./cli/commands/nightly.js")
	},
	{
		name: "init",
		takes: "[options]",
		description: "write the workflow and ppsgate.yml into this repository, and create the label",
		load: () => import("./cli/commands/init.js")
	},
	{
		name: "comment",
		takes: "[options] <text>",
		description: "show the workflow's decision on a comment, and measure nothing",
		load: () => import("./cli/commands/comment.js")
	},
	{
		name: "badge",
		takes: "[options]",
		description: "print Markdown for the badges of a configuration's testbeds",
		load: () => import("./cli/commands/badge.js")
	},
	{
		name: "site",
		takes: "[options]",
		description: "write pages of the branch over time: changes, series, error rates, the lab",
		load: () => import("./cli/commands/site.js")
	},
	{
		name: "report",
		takes: "[options] <dir>",
		description: "render the report of a work directory again, as Markdown",
		load: () => import("./cli/commands/report.js")
	},
	{
		name: "analyze",
		takes: "[options] <dir>",
		description: "judge earlier runs again, from their raw logs",
		load: () => import("./cli/commands/analyze.js")
	},
	{
		name: "changes",
		takes: "[options] <file>",
		description: "find lasting changes in a series of nightly runs, not single outliers",
		load: () => import("./cli/commands/changes.js")
	},
	{
		name: "ministat",
		takes: "[options] [FILE...]",
		description: "compare sets of numbers with the first, with the output of FreeBSD's ministat(1)",
		load: () => import("./cli/commands/ministat.js")
	},
	{
		name: "fold",
		takes: "[options] [FILE]",
		description: "print a profile of pmcstat -G or perf script as folded stacks",
		load: () => import("./cli/commands/fold.js")
	},
	{
		name: "flamegraph",
		takes: "[options] <FILE>",
		description: "draw a profile, or its difference from a base, as a flamegraph in a self-contained SVG",
		load: () => import("./cli/commands/flamegraph.js")
	},
	{
		name: "simulate",
		takes: "[options]",
		description: "simulate the error rates and the number of runs of a design, for known noise",
		load: () => import("./cli/commands/simulate.js")
	},
	{
		name: "lab",
		description: "set up, remove or check the lab inside this machine",
		load: () => import("./cli/commands/lab.js")
	},
	{
		name: "testbeds",
		description: "show the holders of testbeds; list, check and maintain those of ppsgate.yml",
		load: () => import("./cli/commands/testbeds.js")
	},
	{
		name: "reserve",
		takes: "[options] <selector> [command...]",
		description: "reserve a testbed while a command of yours runs",
		load: () => import("./cli/commands/reserve.js")
	},
	{
		name: "release",
		takes: "[options] [name]",
		description: "take a testbed from its holder, or release one that a gate left",
		load: () => import("./cli/commands/release.js")
	},
	{
		name: "quarantine",
		takes: "[options] <name>",
		description: "put a testbed into quarantine, or lift it",
		load: () => import("./cli/commands/quarantine.js")
	},
	{
		name: "relay",
		takes: "[options]",
		description: "start gates for revisions on Herald's webhooks and Harbormaster's builds",
		load: () => import("./cli/commands/relay.js")
	},
	{
		name: "poll",
		takes: "[options]",
		description: "start gates for revisions by polling the server, which needs no set-up",
		load: () => import("./cli/commands/relay.js").then(({ definePoll: define }) => ({ define }))
	},
	{
		name: "phabricator",
		description: "check the set-up for a Phabricator server",
		load: () => import("./cli/commands/phabricator.js")
	}
];
async function programFor(words) {
	const program = new Command("ppsgate").description(description).version(version).option("--debug", "show the stack trace of an error").addHelpText("after", "\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch").exitOverride().configureOutput({ outputError: () => {} });
	await addCommands(program, commands, words);
	return program;
}

// src/cli.ts
for (const one of [process.stdout, process.stderr]) {
	letReaderGo(one);
	if (!readsUtf8(process.env)) writeAscii(one);
}
const words = process.argv.slice(2);
const program = await programFor(words);
try {
	await program.parseAsync();
} catch (error) {
	if (!(error instanceof CommanderError)) throw error;
	if (error.exitCode !== 0) {
		const { mistyped } = await import("./cli/commands/mistyped.js");
		const sentence = mistyped(error, program, words);
		if (sentence !== void 0) process.stderr.write(`ppsgate: ${sentence}\n`);
		process.exitCode = 2;
	}
}

export {  };