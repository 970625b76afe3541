// Ends a task on a host on its time limit, on the caller's abort, or with the connection.

import { reasonOf } from '../../model/one-line.ts';
import { HostError, type HostFailure } from './host-error.ts';

export type TaskLimits = {
  readonly signal?: AbortSignal;
  /** Absent: limited only by the connection's life. */
  readonly timeoutSeconds?: number;
};

type Task = TaskLimits & {
  readonly name: string;
  readonly what: string;
  readonly over?: AbortSignal;
};

/** Rejects on the time limit, the caller's abort or the connection's end, and aborts `stop`. */
export async function withinLimits<T>(task: Task, work: (stop: AbortController) => Promise<T>): Promise<T> {
  const { name, what, timeoutSeconds } = task;
  const stop = new AbortController();
  const finished = new AbortController();
  const stopWith = (kind: HostFailure, message: string, cause?: unknown) =>
    stop.abort(new HostError(kind, message, { cause }));
  const timeUp = () => stopWith('timeout', `Gave up on ${what} on ${name} after ${timeoutSeconds} s.`);
  whenAborted(task.over, finished.signal, (why) =>
    stopWith('lost', `Lost ${name} during ${what}: ${reasonOf(why)}.`, why),
  );
  whenAborted(task.signal, finished.signal, (why) => stopWith('aborted', `Cancelled ${what} on ${name}.`, why));
  const timer = timeoutSeconds === undefined ? undefined : setTimeout(timeUp, timeoutSeconds * 1000);
  try {
    stop.signal.throwIfAborted();
    return await Promise.race([rejectionOf(stop.signal), work(stop)]);
  } finally {
    clearTimeout(timer);
    // Without a reason, Node creates an exception with a stack trace for every command.
    finished.abort('finished');
  }
}

function whenAborted(signal: AbortSignal | undefined, until: AbortSignal, act: (reason: unknown) => void): void {
  if (signal?.aborted) act(signal.reason);
  signal?.addEventListener('abort', () => act(signal.reason), { once: true, signal: until });
}

export function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
