// For what holds only of something that is done soon enough, which no machine promises that does other things, too.

/** Asks for what begins the time anew: from when it was asked, once it is answered in time. */
export type Anew = <T>(ask: () => Promise<T>) => Promise<T>;

/**
 * What came of work that took less than so many seconds. Work that took longer says nothing, whatever came of it, and is
 * done again from its beginning, until the test itself is over its time.
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
