export const priorities = ['release', 'patch', 'rerun'] as const;
export type Priority = (typeof priorities)[number];
