// Limits of both sides of pkt-gen.

/** Maximum packets per second of a port whose driver does not support netmap. */
export const emulatedPps = 1_500_000;

/** Maximum that a core reads from a port. */
export const maxPpsOfThread = 40_000_000;

/** Delay of a report. */
export const tickSeconds = 0.001;

/** After an interrupt the threads end, and the next report is the last. */
export const lastReportSeconds = 1.03;
