// Repeats time-limited work until it was fast enough, as a busy machine may be too slow.

/** Makes the request that restarts the time: from its start, once it returns in time. */
export type Anew = <T>(ask: () => Promise<T>) => Promise<T>;

/**
 * Returns the result of work that needed less than that many seconds. Slower work is inconclusive and starts again,
 * until the test itself times out.
 */
export async function inTime<T>(seconds: number, work: (anew: Anew) => Promise<T>): Promise<T> {
  for (;;) {
    let begun = performance.now();
    let isLate = false;
    const look = () => {
      isLate ||= performance.now() - begun >= seconds * 1000;
    };
    const anew: Anew = async (ask) => {
      const asked = performance.now();
      const answer = await ask();
      look();
      begun = asked;
      return answer;
    };
    const [outcome] = await Promise.allSettled([work(anew)]);
    look();
    if (isLate) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
}
