// The command `ppsgate`.
import { programFor } from './commands/commands.ts';

const program = await programFor(process.argv.slice(2));
try {
  await program.parseAsync();
} catch (error) {
  const { code, exitCode } = error as { code?: string; exitCode?: number };
  if (code === undefined) throw error;
  process.exitCode = exitCode === 0 ? 0 : 2;
}
