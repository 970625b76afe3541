// Logs one recorded request: its output, and its end.
import { reasonOf } from '../../model/one-line.ts';
import { HostError } from '../../system/host/host-error.ts';
import type { OutputLines } from './output-lines.ts';
import type { RecordedOutcome } from './recording-entry.ts';

export type StreamName = 'stdout' | 'stderr';

export type RequestLog = {
  output(stream: StreamName, text: string): void;
  omit(stream: StreamName, omitted: { bytes: number; sha256: string }): void;
  end(outcome: RecordedOutcome): void;
};

export function endStream(log: RequestLog, stream: StreamName, lines: OutputLines): void {
  const { rest, omitted } = lines.end();
  if (rest !== '') log.output(stream, rest);
  if (omitted !== undefined) log.omit(stream, omitted);
}

/** Records the end of a request that is not a command. */
export async function logged<T>(log: RequestLog, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    log.end({ kind: 'done', ...(typeof result === 'string' && { said: result }) });
    return result;
  } catch (error) {
    log.end(failureOf(error));
    throw error;
  }
}

export function failureOf(error: unknown): RecordedOutcome {
  const kind = error instanceof HostError ? error.kind : String((error as Error)?.name);
  return { kind: 'failed', failure: kind, message: reasonOf(error) };
}
