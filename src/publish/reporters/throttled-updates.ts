// Tells a forge the newest of what there is to show, behind the gate's back and at a pace that it bears.
import { type Pause, realPause } from '../../model/pause.ts';

/**
 * `refused` will stay so, `failed` is worth another try, and so is `not-yet`: what it was to be told to is not ready for
 * it, and others may be.
 */
export type Told = { kind: 'told' } | { kind: 'refused' | 'failed' | 'not-yet'; why: string };

type UpdatesOptions = {
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  /** Least time between two views that are not the last. */
  secondsBetween: number;
  /** Said where the last view got no answer in time. */
  tooSlow(seconds: number): string;
  pause?: Pause;
};

/** Whether the last view got there: `untaken` is worth another try, by whoever has time for it. */
export type Given = 'given' | 'refused' | 'untaken';

/** The pauses between tries, ever longer, all of them together no longer than that. */
export function* pausesWithin(mostSeconds: number): Generator<number> {
  for (let tries = 1, waited = 0; ; tries++) {
    const seconds = Math.min(tries ** 2, longestPauseSeconds);
    waited += seconds;
    if (waited > mostSeconds) return;
    yield seconds;
  }
}

const longestPauseSeconds = 60;

/**
 * Tells one view at a time, and never waits for an answer but at the end. Where the forge refuses, that is said once and
 * not tried again; the last view is tried again, ever later, for at most as long as is said with it.
 */
export function throttledUpdates<View>(
  put: (view: View) => Promise<Told>,
  { log, secondsBetween, tooSlow, pause = realPause }: UpdatesOptions,
) {
  const end = new AbortController();
  const gaveUp = new AbortController();
  const over = AbortSignal.any([end.signal, gaveUp.signal]);
  let untold: View | undefined;
  let telling: Promise<void> | undefined;
  let ending: Promise<Given> | undefined;
  let isRefused = false;
  let whyUntold = '';

  const giveUp = (say: (sentence: string) => unknown, why: string): void => {
    if (!gaveUp.signal.aborted) say(why);
    gaveUp.abort();
  };
  const refuse = (why: string): 'refused' => {
    giveUp(log.info, why);
    isRefused = true;
    return 'refused';
  };

  const keepTelling = async () => {
    while (untold !== undefined && !over.aborted) {
      const view = untold;
      const told = await put(view);
      if (told.kind === 'refused') refuse(told.why);
      if (told.kind === 'told' && untold === view) untold = undefined;
      await pause(secondsBetween, over);
    }
    telling = undefined;
  };

  const tellEnd = async (view: View, mostSeconds: number): Promise<Given> => {
    await telling;
    for (const seconds of [0, ...pausesWithin(mostSeconds)]) {
      if (seconds > 0) await pause(seconds, gaveUp.signal);
      if (gaveUp.signal.aborted) break;
      const told = await put(view);
      if (told.kind === 'told') return 'given';
      if (told.kind === 'refused') return refuse(told.why);
      whyUntold = told.why;
    }
    if (isRefused) return 'refused';
    giveUp(log.warn, whyUntold);
    return 'untaken';
  };

  const tellEndInTime = async (view: View, mostSeconds: number): Promise<Given> => {
    end.abort();
    whyUntold = tooSlow(mostSeconds);
    const isTold = new AbortController();
    const tooLate = pause(mostSeconds, isTold.signal).then(() => 'too late' as const);
    const first = await Promise.race([tellEnd(view, mostSeconds), tooLate]);
    isTold.abort();
    if (first !== 'too late') return first;
    giveUp(log.warn, whyUntold);
    return 'untaken';
  };

  return {
    notify(view: View): void {
      untold = view;
      telling ??= keepTelling();
    },
    /** Stops, and resolves when what is being told is. */
    async left(): Promise<void> {
      end.abort();
      await telling;
    },
    /** Only the first call counts. */
    tellLast(view: View, mostSeconds: number): Promise<Given> {
      ending ??= tellEndInTime(view, mostSeconds);
      return ending;
    },
    /** Tells a view in the place of the last one, once that is told; nothing where the last could not be. */
    async tellInstead(view: View, mostSeconds: number): Promise<void> {
      if (ending === undefined) return;
      await ending;
      if (!gaveUp.signal.aborted) await tellEndInTime(view, mostSeconds);
    },
  };
}
