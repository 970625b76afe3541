import { programFor } from "./commands/commands.js";

// src/cli.ts
const program = await programFor(process.argv.slice(2));
try {
	await program.parseAsync();
} catch (error) {
	const { code, exitCode } = error;
	if (code === void 0) throw error;
	process.exitCode = exitCode === 0 ? 0 : 2;
}

export {  };