// Lets only so much go on at once.

export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so many pieces of work go on at once; the others wait, first come, first served. */
export function semaphore(atOnce: number): Semaphore {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
