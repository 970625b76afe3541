// octokit's plugins pass each request through several queues of Bottleneck's, which yield with timers of 0 ms. Node rounds
// these up to 1 ms, so a request to a fake GitHub lasts 16 ms, of which 1 ms is work.
const { setTimeout: startTimer, clearTimeout: endTimer } = globalThis;

const isImmediate = (timer: unknown): timer is NodeJS.Immediate =>
  timer instanceof Object && timer.constructor.name === 'Immediate';

// Test files share processes, and this runs before each: once is enough.
const isQuick = Symbol.for('ppsgate quick timers');
if (!(isQuick in globalThis)) {
  const setTimeout = (run: (...args: unknown[]) => void, milliseconds?: number, ...args: unknown[]) =>
    milliseconds === 0 ? setImmediate(run, ...args) : startTimer(run, milliseconds, ...args);
  const clearTimeout = (timer?: NodeJS.Timeout | NodeJS.Immediate) =>
    isImmediate(timer) ? clearImmediate(timer) : endTimer(timer);
  Object.assign(globalThis, {
    [isQuick]: true,
    setTimeout: Object.assign(setTimeout, startTimer),
    clearTimeout,
  });
}
