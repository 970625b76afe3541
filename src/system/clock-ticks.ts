// The unit in which Linux counts what CPUs spend.

/** /proc/stat's ticks are a hundredth of a second whatever the kernel's own are: proc_stat(5), USER_HZ. */
export const nsPerTick = 1e7;
