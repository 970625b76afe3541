// Outcomes of the reservation log for incomplete uses.

export const notUsed = (why: string): string => `not used: ${why}`;

export const endedEarly = (why: string): string => `ended: ${why}`;

/** Incomplete uses do not count for the usual duration of leases. */
export const isCompleted = (outcome: string | undefined): boolean =>
  ![notUsed(''), endedEarly('')].some((start) => outcome?.startsWith(start));
