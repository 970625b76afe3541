// Limits how many tasks run at once.

export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

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
