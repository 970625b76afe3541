// Virtual time: stands still while a command or ssh is busy, and runs as fast as it can while a sleeper waits.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Kinds of sleepers. `awaited` acts when woken; `busy` is a program at work. `idle` is a program that may have no
 * waiting user (a receiver that is ready), whose user first gets a moment to act. `spare` has nothing to do (a receiver
 * without a sender), and its user is probably busy elsewhere.
 */
export type Pace = 'awaited' | 'busy' | 'idle' | 'spare';

export type Clock = {
  /** Unix time, in seconds. */
  now(): number;
  /** Resolves after that many seconds, or when `signal` is aborted; never throws. */
  sleep(seconds: number, options?: { signal?: AbortSignal; pace?: Pace }): Promise<void>;
  /** Schedules an act. This alone does not make time run: a sleeper must wait for it. */
  after(seconds: number, act: () => void): void;
  /** Stops time until the returned function is called. */
  hold(): () => void;
  /** Lets others react to an event before time runs on. */
  touch(): void;
  /** Stops permanently: sleepers no longer wake. */
  stop(): void;
};

const paces = ['awaited', 'busy', 'idle', 'spare'] as const;

/** Real time of silence on real connections before the clock runs for the most urgent sleeper. */
const patienceMilliseconds: Readonly<Record<Pace, number>> = {
  awaited: 3,
  busy: 10,
  idle: 25,
  spare: 1000,
};

const stepMilliseconds = 3;

/** A turn of the event loop awaits neither of these. A request to the operating system ends soon; others may not. */
type Others = 'none' | 'requests' | 'connections';

/** Returns what can act outside of this thread: servers that were started before act on requests alone. */
function othersSince(): () => Others {
  const programsIn = (active: string[]) => active.filter((name) => name === 'ProcessWrap').length;
  let servers = programsIn(process.getActiveResourcesInfo());
  return () => {
    const active = process.getActiveResourcesInfo();
    const programs = programsIn(active);
    servers = Math.min(servers, programs);
    if (programs > servers || active.some((name) => /^(?:TCP(?!Server)|Worker)/.test(name))) {
      return 'connections';
    }
    return active.some((name) => /Req/.test(name)) ? 'requests' : 'none';
  };
}

type Event = { at: number; act: () => void };

/** Time jumps from event to event, so a reboot of 180 s needs some milliseconds. */
export function virtualClock(startsAt = 1_700_000_000): Clock {
  let now = startsAt;
  let isStopped = false;
  let isRunning = false;
  let holds = 0;
  let happenings = 0;
  /** Number of events after which it had been quiet for long enough. */
  let settledAt = -1;
  /** Milliseconds of quiet since then. */
  let settledFor = 0;
  const waiting = { awaited: 0, busy: 0, idle: 0, spare: 0 };
  const events = new Set<Event>();

  const others = othersSince();
  const isAwaited = () => paces.some((pace) => waiting[pace] > 0);
  const mayRun = () => !isStopped && events.size > 0 && isAwaited();
  const patience = (): number => {
    const sleeper = paces.find((pace) => waiting[pace] > 0) ?? 'spare';
    return patienceMilliseconds[sleeper];
  };

  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    while (mayRun()) {
      settledAt = await quiet();
      if (mayRun()) step();
    }
    isRunning = false;
  };

  /** Resolves when nothing has happened for a while, which is shorter if it was quiet for long before. */
  const quiet = async (): Promise<number> => {
    for (;;) {
      const seen = happenings;
      if (others() !== 'connections') {
        // Streams and promises are done after a turn.
        await (others() === 'none' ? nextTurn() : delay(0));
        await nextTurn();
        if (seen === happenings && holds === 0 && others() === 'none') return seen;
        continue;
      }
      if (seen !== settledAt) settledFor = 0;
      const from = performance.now() - settledFor;
      await delay(0);
      // A more urgent sleeper may come meanwhile.
      while (seen === happenings && performance.now() < from + patience()) {
        await delay(stepMilliseconds);
      }
      settledFor = performance.now() - from;
      // A timer may be late, and messages that arrived meanwhile are read only after it.
      await nextTurn();
      await nextTurn();
      if (seen === happenings && holds === 0) return seen;
    }
  };

  const step = () => {
    now = Math.max(now, Math.min(...[...events].map(({ at }) => at)));
    for (const event of [...events].filter(({ at }) => at <= now)) {
      events.delete(event);
      event.act();
    }
  };

  const wait = (pace: Pace): (() => void) => {
    let isOver = false;
    waiting[pace] += 1;
    void run();
    return () => {
      if (isOver) return;
      isOver = true;
      waiting[pace] -= 1;
      if (pace === 'awaited') happenings += 1;
    };
  };

  const plan = (seconds: number, act: () => void): Event => {
    const event = { at: now + Math.max(0, seconds), act };
    events.add(event);
    void run();
    return event;
  };

  return {
    now: () => now,
    sleep: (seconds, { signal, pace = 'awaited' } = {}) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const waited = wait(pace);
        const end = () => {
          waited();
          signal?.removeEventListener('abort', cancel);
          resolve();
        };
        const event = plan(seconds, end);
        const cancel = () => {
          events.delete(event);
          end();
        };
        signal?.addEventListener('abort', cancel);
      }),
    after: (seconds, act) => void plan(seconds, act),
    hold() {
      let isOver = false;
      holds += 1;
      return () => {
        if (isOver) return;
        isOver = true;
        holds -= 1;
        happenings += 1;
      };
    },
    touch() {
      happenings += 1;
    },
    stop() {
      isStopped = true;
      events.clear();
    },
  };
}
