import { addCommands } from "./add-commands.js";
import { overviewDetails } from "./overview-details.js";

// src/cli/commands/testbeds.ts
async function define(command, words) {
	command.addHelpText("after", overviewDetails);
	await addCommands(command, subcommands, words);
}
const subcommands = [
	{
		name: "show",
		takes: "[options]",
		description: "print holders, their expected ends, and the queue (the default)",
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
		description: "check logins, ports, settings, routes, kernels, builder, power and speed",
		load: () => import("./testbeds-check.js")
	},
	{
		name: "self-test",
		takes: "[options] <name>",
		description: "test everything that a gate does on a FreeBSD testbed, accidents included",
		load: () => import("./testbeds-self-test.js")
	},
	{
		name: "health",
		takes: "[options] [names...]",
		description: "check that free testbeds are ready for the next patch",
		load: () => import("./testbeds-health.js")
	},
	{
		name: "log",
		takes: "[options] [name]",
		description: "print past reservations: holder, duration and outcome",
		load: () => import("./testbeds-log.js")
	},
	{
		name: "replay",
		takes: "[options] <file>",
		description: "check if today's code understands a recording of machines",
		load: () => import("./testbeds-replay.js")
	}
];

export { define, subcommands };