// A clock that stands still while any code runs, then advances to the next end of a pause.
import { setImmediate as turn } from 'node:timers/promises';
import type { Pause } from '../../src/model/pause.ts';

export type VirtualTime = {
  now: () => Date;
  pause: Pause;
  /** Runs a task to its end, with all pauses that begin meanwhile. */
  run: <T>(task: () => Promise<T>) => Promise<T>;
};

export function virtualTime(begin: Date): VirtualTime {
  let milliseconds = begin.getTime();
  const pauses = new Set<{ until: number; end: () => void }>();
  const goOn = () => {
    let next: { until: number; end: () => void } | undefined;
    for (const one of pauses) if (next === undefined || one.until < next.until) next = one;
    if (next === undefined) throw new Error('Nothing runs, and nothing pauses.');
    milliseconds = Math.max(milliseconds, next.until);
    next.end();
  };
  return {
    now: () => new Date(milliseconds),
    pause: (seconds, signal) =>
      new Promise<void>((resolve) => {
        const until = milliseconds + seconds * 1000;
        const end = () => {
          pauses.delete(one);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const one = { until, end };
        pauses.add(one);
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
      }),
    async run(task) {
      const running = task();
      let isOver = false;
      void Promise.allSettled([running]).then(() => {
        isOver = true;
      });
      // Code without files and connections runs to its next pause in one turn.
      for (await turn(); !isOver; await turn()) goOn();
      return running;
    },
  };
}
