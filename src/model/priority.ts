// Priorities of those who wait for a testbed.

/** Release gates come before patches, and patches before reruns. */
export const priorities = ['release', 'patch', 'rerun'] as const;
export type Priority = (typeof priorities)[number];
