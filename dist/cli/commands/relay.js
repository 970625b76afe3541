import { runToExit } from "../../system/exit.js";

// src/cli/commands/relay.ts
function define(command) {
	command.option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`).action(async (options) => {
		await runToExit(async (signal) => {
			const { runRelay } = await import("./run-relay.js");
			return runRelay(options, signal);
		}, command.optsWithGlobals());
	});
}
/** Works without any setup of the server. */
function definePoll(command) {
	command.option("-c, --config <file>", "configuration", "ppsgate.yml").option("--every <seconds>", "seconds between two polls, from 10 to 3600", "60").option("--once", "poll once, start the gates that are due, and exit").addHelpText("after", `\nExample:\n  ppsgate poll --every 120\n\n${ends}`).action(async (options) => {
		await runToExit(async (signal) => {
			const { runPoll } = await import("./run-relay.js");
			return runPoll(options, signal);
		}, command.optsWithGlobals());
	});
}
const ends = "Runs until interrupted. Its gates continue, and its queue is kept for the next\nstart.";

export { define, definePoll };