import { addCommands } from "./add-commands.js";
import { overviewDetails } from "./overview-text.js";

// src/cli/commands/testbeds.ts
async function define(command, words) {
	command.addHelpText("after", overviewDetails);
	await addCommands(command, subcommands, words);
}
const subcommands = [
	{
		name: "show",
		takes: "[options]",
		description: "print who has which, until when, and who waits: what happens without a subcommand",
		load: () => import("./testbeds-show.js"),
		isDefault: true
	},
	{
		name: "list",
		takes: "[options]",
		description: "print name, kind, DUT, ports and capabilities, one line each",
		load: () => import("./testbeds-list.js")
	},
	{
		name: "check",
		takes: "[options] <name>",
		description: "look at logins, ports, settings, routes, kernels, builder, power and speed",
		load: () => import("./testbeds-check.js")
	},
	{
		name: "self-test",
		takes: "[options] <name>",
		description: "do all that a gate does on a FreeBSD testbed, accidents too, before a patch does",
		load: () => import("./testbeds-self-test.js")
	},
	{
		name: "health",
		takes: "[options] [names...]",
		description: "check that free testbeds are fit for the next patch",
		load: () => import("./testbeds-health.js")
	},
	{
		name: "log",
		takes: "[options] [name]",
		description: "print what was reserved, by whom, for how long, and what came of it",
		load: () => import("./testbeds-log.js")
	},
	{
		name: "replay",
		takes: "[options] <file>",
		description: "give a recording of machines to the code of today: what does it not understand?",
		load: () => import("./testbeds-replay.js")
	}
];

export { define, subcommands };