// Reads a flight log, and plays one of its machines, for tests of parsers.
import { readFileSync } from 'node:fs';
import { constants, gunzipSync } from 'node:zlib';
import type { FlightEntry, LoggedOutcome } from '../../src/gate/flight-log.ts';
import { stdoutOf } from '../../src/system/host/execute.ts';
import { HostError } from '../../src/system/host/host-error.ts';
import type { Host } from '../../src/system/host/ssh.ts';
import { commandText } from '../../src/system/shell.ts';

/** Leaves out the last line of a file that was cut off. */
export function readFlightLog(path: string): FlightEntry[] {
  const text = gunzipSync(readFileSync(path), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as FlightEntry);
}

/** Gives each command its logged outcomes in their order, the last one again and again. */
export function hostOfLog(path: string, name: string): Host {
  const entries = readFlightLog(path);
  const outcomes = new Map<string, LoggedOutcome[]>();
  for (const entry of entries) {
    if (!('command' in entry) || entry.host !== name) continue;
    const end = entries.find((other) => 'kind' in other && other.id === entry.id);
    if (end === undefined || !('kind' in end)) continue;
    outcomes.set(entry.command, [...(outcomes.get(entry.command) ?? []), end]);
  }
  const next = (command: string) => {
    const left = outcomes.get(command) ?? [];
    const outcome = left.length > 1 ? left.shift() : left[0];
    if (outcome === undefined) throw new TypeError(`${name} was never given \`${command}\`.`);
    if (outcome.kind === 'failed') throw new HostError(outcome.failure as HostError['kind'], outcome.message);
    return outcome;
  };
  const close = async () => {};
  return {
    name,
    async run(command, { onStdout, onStderr } = {}) {
      const outcome = next(commandText(command));
      onStdout?.(Buffer.from(outcome.stdout));
      onStderr?.(Buffer.from(outcome.stderr));
      return { ...outcome, ...(onStdout && { stdout: '' }), ...(onStderr && { stderr: '' }) };
    },
    output: async (command) => stdoutOf(next(commandText(command)), name, command),
    upload: async (_source, remotePath) => void next(`: upload ${remotePath}`),
    close,
    [Symbol.asyncDispose]: close,
  };
}
