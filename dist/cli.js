import { CommanderError } from "./vendor/commander.js";
import { programFor } from "./commands/commands.js";

// src/cli.ts
const words = process.argv.slice(2);
const program = await programFor(words);
try {
	await program.parseAsync();
} catch (error) {
	if (!(error instanceof CommanderError)) throw error;
	const { mistyped } = await import("./commands/mistyped.js");
	const sentence = mistyped(error, program, words);
	if (sentence !== void 0) process.stderr.write(`ppsgate: ${sentence}\n`);
	process.exitCode = error.exitCode === 0 ? 0 : 2;
}

export {  };