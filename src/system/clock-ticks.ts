// Converts Linux's ticks of CPU time.

/** /proc/stat counts hundredths of a second on every kernel: proc_stat(5), USER_HZ. */
export const nsPerTick = 1e7;
