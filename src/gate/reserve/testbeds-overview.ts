// Summarizes all reservations by testbed: holders, expected ends, the queue.
import type { Config, TestbedConfig } from '../../config/schema.ts';
import { machinesOf } from '../../lab/machines.ts';
import { estimateWaits, type UsualSeconds, type WaitEstimate } from '../estimate/queue.ts';
import type { HeldTestbed, Holder, LabState, Quarantine, QueueTicket, TestbedUse } from './records.ts';

/** Output of `ppsgate testbeds --json`; times are in ISO 8601. */
export type TestbedsOverview = {
  at: string;
  testbeds: TestbedState[];
  /** In the order of turns. */
  queue: QueuedRequest[];
};

export const stateNames = {
  free: 'free',
  held: 'held',
  quarantine: 'in quarantine',
  'left-behind': 'left behind',
} as const;

export type TestbedState = {
  name: string;
  kind: TestbedConfig['kind'];
  /** `left-behind`: its holder is gone, and the next one restores its base first. */
  state: keyof typeof stateNames;
  held?: Holder & {
    /** Another testbed if the two share a machine. */
    testbed: string;
    priority: HeldTestbed['priority'];
    token: number;
    since: string;
    /** Estimated from usual durations; may be in the past. */
    expectedUntil: string;
  };
  /** The current holder keeps it. */
  quarantine?: Quarantine;
  leftBy?: (Holder & { testbed: string; since: string })[];
};

export type QueuedRequest = Holder &
  WaitEstimate & {
    priority: QueueTicket['priority'];
    wants: string[];
    since: string;
  };

export function overviewOf(
  { testbeds }: Pick<Config, 'testbeds'>,
  lab: LabState,
  usualSeconds: UsualSeconds,
  now: Date,
): TestbedsOverview {
  const estimates = estimateWaits(lab, usualSeconds, now);
  return {
    at: now.toISOString(),
    testbeds: Object.entries(testbeds).map(([name, testbed]) => stateOf(name, testbed, lab, usualSeconds)),
    queue: lab.tickets.flatMap((ticket) => {
      const estimate = estimates.get(ticket.id);
      if (estimate === undefined) return [];
      const { holder, priority, wants, since } = ticket;
      return [{ ...estimate, ...holder, priority, wants: [...wants.keys()], since }];
    }),
  };
}

function stateOf(name: string, testbed: TestbedConfig, lab: LabState, usualSeconds: UsualSeconds): TestbedState {
  const machines = machinesOf(testbed);
  const holding = machines.map((machine) => lab.held.get(machine)).find((one) => one !== undefined);
  const quarantine = lab.quarantines.get(name);
  const left = leftOn(machines, lab);
  return {
    name,
    kind: testbed.kind,
    state: holding ? 'held' : quarantine ? 'quarantine' : left.length > 0 ? 'left-behind' : 'free',
    ...(holding !== undefined && {
      held: {
        ...holding.holder,
        testbed: holding.testbed,
        priority: holding.priority,
        token: holding.token,
        since: holding.since,
        expectedUntil: new Date(Date.parse(holding.since) + usualSeconds(holding.testbed) * 1000).toISOString(),
      },
    }),
    ...(quarantine !== undefined && { quarantine }),
    ...(left.length > 0 && {
      leftBy: left.map(({ holder, testbed: used, since }) => ({ ...holder, testbed: used, since })),
    }),
  };
}

/** A use counts as left behind once its holder is gone. */
function leftOn(machines: readonly string[], { used, held }: LabState): TestbedUse[] {
  const left = machines.flatMap((machine) => {
    const use = used.get(machine);
    return use === undefined || held.get(machine)?.id === use.id ? [] : [use];
  });
  return [...new Map(left.map((use) => [use.id, use])).values()];
}

/** `gate of #12`, or only the purpose. */
export const aimOf = ({ purpose, patch }: Holder): string => (patch === undefined ? purpose : `${purpose} of ${patch}`);
