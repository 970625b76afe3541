import { Command } from "./vendor/commander.js";
import { description, version } from "./package.js";
import { addCommands, commands } from "./commands/commands.js";
import { runToExit } from "./exit.js";

// src/commands/phabricator.ts
function addPhabricatorCommand(program) {
	program.command("phabricator").description("see whether the set-up for a Phabricator is right").exitOverride().addHelpText("after", example).command("check").description("look at the server, the bot, its leave and build plans, the relay and its starter").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print the findings as JSON, at the end").addHelpText("after", details).action(async (options) => {
		const { checkSetUp } = await import("./commands/run-phabricator-check.js");
		await runToExit((signal) => checkSetUp(options, signal), program.opts());
	});
}
const example = "\nExample:\n  ppsgate phabricator check --config /usr/local/etc/ppsgate.yml";
const details = `${example}

Nothing is written and nothing is started. Run it as the user that runs the relay.

As JSON: { "phabricator": "https://…", "findings": [{ "kind", "what", "why", "mend" }] }, where "kind" is "ok", "warning",
"wrong", "unreachable" or "skipped", and "mend" says what to do.

Exits 0 when all is right or worth a warning at most, 2 when something is wrong, 4 when all that is wrong is that the
server or the relay does not answer.`;

// src/commands/relay.ts
function addRelayCommands(program) {
	program.command("relay").description("take webhooks of Herald and builds of Harbormaster, and have revisions measured").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `\nExample:\n  ppsgate relay --config /usr/local/etc/ppsgate.yml\n\n${ends}`).action(async (options) => {
		const { runRelay } = await import("./commands/run-relay.js");
		await runToExit((signal) => runRelay(options, signal), program.opts());
	});
	program.command("poll").description("the same without any set-up of the server: ask it what has changed").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--every <seconds>", "between two looks, from 10 to 3600", "60").option("--once", "look once and start what there is to start").addHelpText("after", `\nExample:\n  ppsgate poll --every 120\n\n${ends}`).action(async (options) => {
		const { runPoll } = await import("./commands/run-relay.js");
		await runToExit((signal) => runPoll(options, signal), program.opts());
	});
}
const ends = "Runs until it is interrupted; gates that it has started go on. What is queued is there again at the next start.";

// src/cli.ts
const program = new Command("ppsgate").description(description).version(version).option("--debug", "show where an error came from").addHelpText("after", "\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch").exitOverride();
await addCommands(program, commands, process.argv.slice(2));
for (const add of [addRelayCommands, addPhabricatorCommand]) add(program);
try {
	await program.parseAsync();
} catch (error) {
	const { code, exitCode } = error;
	if (code === void 0) throw error;
	process.exitCode = exitCode === 0 ? 0 : 2;
}

export {  };