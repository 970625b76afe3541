// Reads a program's output at intervals, so that a flood of small writes costs few reads.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';

const intervalMilliseconds = 50;
/** Capacity of a pipe, see pipe(7). A program that writes more within an interval has to wait. */
const maxBytes = 64 * 1024;

export type PacedPipe = {
  /** Inherited by the program that writes. */
  readonly descriptor: number;
  /** Passes on the bytes written since the last interval. */
  read(): void;
  /** Passes on the rest, and closes the pipe. Safe to call twice. */
  close(): void;
};

/** Creates a named pipe at an unused path; throws if it cannot. */
export function openPacedPipe(path: string, onOutput: (piece: Buffer) => void): PacedPipe {
  execFileSync('mkfifo', ['-m', '600', path]);
  const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  // Keeps a writer open, so that the pipe does not end between two programs.
  const writing = openSync(path, 'w');
  const read = () => {
    const piece = readIfAny(reading);
    if (piece !== undefined) onOutput(piece);
  };
  const timer = setInterval(read, intervalMilliseconds).unref();
  let isOpen = true;
  return {
    descriptor: writing,
    read() {
      if (isOpen) read();
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(timer);
      read();
      closeSync(writing);
      closeSync(reading);
    },
  };
}

function readIfAny(descriptor: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(maxBytes);
  try {
    const bytes = readSync(descriptor, buffer);
    return bytes === 0 ? undefined : Buffer.from(buffer.subarray(0, bytes));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined;
    throw error;
  }
}
