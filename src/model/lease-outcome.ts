// Words of the reservation log for a use that was not completed.

export const notUsed = (why: string): string => `not used: ${why}`;

export const endedEarly = (why: string): string => `ended: ${why}`;

/** Such a use says nothing of how long a testbed is usually held. */
export const isCompleted = (outcome: string | undefined): boolean =>
  ![notUsed(''), endedEarly('')].some((start) => outcome?.startsWith(start));
