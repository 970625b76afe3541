// Tells GitHub the newest of what there is to show, behind the gate's back and at a pace that GitHub bears.
import { type Pause, realPause } from '../words/pause.ts';

/** `refused` will stay so, `failed` is worth another try. */
export type Told = { kind: 'told' } | { kind: 'refused' | 'failed'; why: string };

type TellerOptions = {
  log: Record<'info' | 'warn', (sentence: string) => unknown>;
  /** Least time between two views that are not the last. */
  secondsBetween: number;
  /** Said where the last view did not get through in time. */
  tooSlow(seconds: number): string;
  pause?: Pause;
};

const mostTriesAtEnd = 6;

/**
 * Tells one view at a time, and never waits for an answer but at the end. Where GitHub refuses, that is said once and
 * not tried again; the last view is tried several times, for at most as long as is said with it.
 */
export function newestTeller<View>(
  put: (view: View) => Promise<Told>,
  { log, secondsBetween, tooSlow, pause = realPause }: TellerOptions,
) {
  const end = new AbortController();
  const gaveUp = new AbortController();
  const over = AbortSignal.any([end.signal, gaveUp.signal]);
  let untold: View | undefined;
  let telling: Promise<void> | undefined;
  let ending: Promise<void> | undefined;

  const giveUp = (say: (sentence: string) => unknown, why: string): void => {
    if (!gaveUp.signal.aborted) say(why);
    gaveUp.abort();
  };

  const keepTelling = async () => {
    while (untold !== undefined && !over.aborted) {
      const view = untold;
      const told = await put(view);
      if (told.kind === 'refused') giveUp(log.info, told.why);
      if (told.kind === 'told' && untold === view) untold = undefined;
      await pause(secondsBetween, over);
    }
    telling = undefined;
  };

  const tellEnd = async (view: View) => {
    await telling;
    for (let tries = 1; !gaveUp.signal.aborted; tries++) {
      const told = await put(view);
      if (told.kind === 'told') return;
      if (told.kind === 'refused') return giveUp(log.info, told.why);
      if (tries === mostTriesAtEnd) return giveUp(log.warn, told.why);
      await pause(tries ** 2, gaveUp.signal);
    }
  };

  const tellEndInTime = async (view: View, mostSeconds: number) => {
    end.abort();
    const isTold = new AbortController();
    const tooLate = pause(mostSeconds, isTold.signal).then(() => 'too late');
    const first = await Promise.race([tellEnd(view), tooLate]);
    isTold.abort();
    if (first === 'too late') giveUp(log.warn, tooSlow(mostSeconds));
  };

  return {
    tell(view: View): void {
      untold = view;
      telling ??= keepTelling();
    },
    /** Stops, and resolves when what is being told is. */
    async left(): Promise<void> {
      end.abort();
      await telling;
    },
    /** Only the first call counts. */
    tellLast(view: View, mostSeconds: number): Promise<void> {
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
