// Serializes test files on the machine's only lab: the process that listens here has it until it ends.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';

// All these files together take longest, so the others yield to them. Only root may, and only root has a lab.
if (process.getuid?.() === 0) setPriority(-5);

while (!(await isOurs())) await setTimeout(250);

async function isOurs(): Promise<boolean> {
  // An abstract name, as a file could stay behind.
  const turn = createServer().unref().listen('\0ppsgate-lab');
  return once(turn, 'listening').then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return false;
      throw error;
    },
  );
}
