// src/system/clock-ticks.ts
/** /proc/stat counts hundredths of a second on every kernel: proc_stat(5), USER_HZ. */
const nsPerTick = 1e7;

export { nsPerTick };