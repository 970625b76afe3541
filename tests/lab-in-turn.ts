// Orders test files that may use the machine's lab only one at a time: a process that waits for the lab does nothing
// else.

export type TimedFile = { seconds: number; isInLab: boolean };

/** Keeps the order, but a file of the lab comes when the one before it is about to end, on so many processes. */
export function labInTurn<File extends TimedFile>(files: readonly File[], processes = 4): File[] {
  const inLab = files.filter(({ isInLab }) => isInLab);
  const others = files.filter(({ isInLab }) => !isInLab);
  const ordered: File[] = [];
  const busyUntil = Array.from({ length: processes }, () => 0);
  let labUntil = 0;
  for (;;) {
    busyUntil.sort((one, other) => one - other);
    const [now = 0] = busyUntil;
    const isFree = labUntil <= now;
    const next = (isFree ? inLab.shift() : undefined) ?? others.shift() ?? inLab.shift();
    if (next === undefined) return ordered;
    ordered.push(next);
    busyUntil[0] = (next.isInLab ? Math.max(now, labUntil) : now) + next.seconds;
    if (next.isInLab) labUntil = busyUntil[0];
  }
}
