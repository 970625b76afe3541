// Formats outcomes of incomplete uses for the reservation log.

export const notUsed = (why: string): string => `not used: ${why}`;

export const endedEarly = (why: string): string => `ended: ${why}`;

/** Only completed uses count towards the usual duration of a lease. */
export const isCompleted = (outcome: string | undefined): boolean =>
  ![notUsed(''), endedEarly('')].some((start) => outcome?.startsWith(start));
