import { runToExit } from "../../system/exit.js";
import { addGateOptions } from "./gate-options.js";

// src/cli/commands/compare.ts
/** Options of `ppsgate gate` on a repository, a revision, or a work directory of an earlier gate. */
const leftOut = /* @__PURE__ */ new Set([...[
	"patch",
	"repository",
	"earlier",
	"baseKernel",
	"patchedKernel",
	"resume",
	"record"
], ...[
	"layoutNoise",
	"answer",
	"run",
	"build",
	"details",
	"site"
]]);
function define(command) {
	command.argument("<old>", "rule file, overlay folder or kernel").argument("<new>", "another one of the same kind");
	addGateOptions(command, (name) => !leftOut.has(name));
	command.addHelpText("after", `
Examples:
  ppsgate compare /etc/nftables.conf new.nft
  ppsgate compare old-overlay new-overlay --scenarios forwarding
  ppsgate compare linux-6.1.deb linux-6.12.deb --testbed guests

Exits like ppsgate gate. Continue an interrupted comparison with
ppsgate gate --resume.`).action(async (old, other, options) => {
		const closingLines = [];
		const exit = {
			...command.optsWithGlobals(),
			closingLines
		};
		await runToExit(async (signal) => {
			const { compare } = await import("./run-compare.js");
			return compare([old, other], options, signal, closingLines);
		}, exit);
	});
}

export { define };