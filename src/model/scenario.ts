// Defines scenarios, families and cells: scenario × family.
import { z } from 'zod';
import * as bounded from './bounds.ts';

export const scenariosOf = {
  linux: ['forwarding', 'nftables-stateless', 'nftables-stateful'],
  freebsd: ['forwarding', 'pf-stateless', 'pf-stateful', 'ipfw-stateless', 'ipfw-stateful'],
} as const;

export type OperatingSystem = keyof typeof scenariosOf;
export type LinuxScenario = (typeof scenariosOf.linux)[number];
export type FreebsdScenario = (typeof scenariosOf.freebsd)[number];
/** A known scenario, or a name for a site's own rules. */
export type Scenario = string;

export const scenarios: readonly Scenario[] = [...new Set([...scenariosOf.linux, ...scenariosOf.freebsd])];
export const families = ['inet4', 'inet6'] as const;

/** Appears unescaped in Markdown, so it must not become a link on GitHub. */
export const scenarioSchema = z.string().regex(/^(?!.*(?:[wW]{3}\.|[gG][hH]-\d))[a-zA-Z0-9][\w.-]{0,62}$/);

/** A site's own firewall rules for FreeBSD: pf.conf(5), or commands of ipfw(8) without its name. */
export const ownRulesSchema = z.object({
  firewall: z.enum(['pf', 'ipfw']),
  text: bounded.text(1_000_000),
  /** If set, a trial that leaves fewer states than flows is invalid: other rules were measured. */
  keepsStates: z.boolean(),
});

export type OwnRules = z.infer<typeof ownRulesSchema>;
export const familySchema = z.enum(families);
export const cellSchema = z.object({
  scenario: scenarioSchema,
  family: familySchema,
  /** Includes the 4 bytes of CRC; present only if several sizes are measured. */
  frameBytes: bounded.count.optional(),
});

export type Family = z.infer<typeof familySchema>;
export type Cell = z.infer<typeof cellSchema>;

/** `nftables-stateful inet6`, or `forwarding inet4 1518 B`: name in tables, and key of its runs. */
export const cellName = ({ scenario, family, frameBytes }: Cell): string =>
  [scenario, family, frameBytes && `${frameBytes} B`].filter(Boolean).join(' ');

/** Anchor and file name: `flamegraph-forwarding-inet4-base`; `which` is a variant or `difference`. */
export const flamegraphAnchor = (cell: Cell, which: string): string =>
  `flamegraph-${cellName(cell)}-${which}`.replace(/[^\w.-]+/g, '-');

export const isLinuxScenario = (scenario: Scenario): scenario is LinuxScenario =>
  scenariosOf.linux.some((name) => name === scenario);
