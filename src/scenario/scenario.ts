// The words for what is measured: scenario × family = cell.
import { z } from 'zod';

export const scenarios = ['forwarding', 'nftables-stateless', 'nftables-stateful'] as const;
export const families = ['inet4', 'inet6'] as const;

export const scenarioSchema = z.enum(scenarios);
export const familySchema = z.enum(families);
export const cellSchema = z.object({ scenario: scenarioSchema, family: familySchema });

export type Scenario = z.infer<typeof scenarioSchema>;
export type Family = z.infer<typeof familySchema>;
/** The unit that gets a verdict. */
export type Cell = z.infer<typeof cellSchema>;

/** `nftables-stateful inet6`: how a cell is called in tables, and the key of its runs. */
export const cellName = (cell: Cell): string => `${cell.scenario} ${cell.family}`;
