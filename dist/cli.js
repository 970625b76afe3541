import { Command } from "./vendor/commander.js";
import { description, version } from "./package.js";
import { addCommands, commands } from "./commands/commands.js";

// src/cli.ts
const program = new Command("ppsgate").description(description).version(version).option("--debug", "show where an error came from").addHelpText("after", "\nExample:\n  sudo ppsgate demo\n  ppsgate gate --patch main..my-branch").exitOverride();
await addCommands(program, commands, process.argv.slice(2));
try {
	await program.parseAsync();
} catch (error) {
	const { code, exitCode } = error;
	if (code === void 0) throw error;
	process.exitCode = exitCode === 0 ? 0 : 2;
}

export {  };