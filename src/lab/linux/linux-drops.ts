// Names what drops all packets of a variant on a Linux DUT, from the traces and counters in its log.
import type { TrialLimits } from '../../model/limits.ts';
import { mainDrop } from '../trial-limits.ts';
import { nameOfRule, placeOfRule } from './linux-counters.ts';

/**
 * Returns a phrase that continues "dropped by". Names the rule that ended traced packets of the folder's variant, or the
 * main drop among its counters.
 */
export function droppedBy(log: string, folder: string, limits: TrialLimits | undefined): string | undefined {
  return tracedRule(tracesOf(log, folder)) ?? (limits && mainDrop(limits));
}

/** Returns the lines after `drops FOLDER`. */
function tracesOf(log: string, folder: string): string[] {
  let isOwn = false;
  return log.split('\n').filter((line) => {
    if (line.startsWith('drops ')) isOwn = line === `drops ${folder}`;
    return isOwn && line.startsWith('trace ');
  });
}

function tracedRule(lines: readonly string[]): string | undefined {
  const packets = Map.groupBy(lines.flatMap(eventOf), ({ packet }) => packet);
  const lastDrops = [...packets.values()].flatMap((events) => events.at(-1)?.drop ?? []);
  return byCount(Map.groupBy(lastDrops, (drop) => drop))[0];
}

const byCount = (groups: ReadonlyMap<string, readonly string[]>): string[] =>
  [...groups].toSorted(([, one], [, other]) => other.length - one.length).map(([key]) => key);

type TraceEvent = { packet: string; drop?: string };

/** A packet's last event shows where its way through the rules ended. */
function eventOf(line: string): TraceEvent[] {
  const [, packet, table, chain, event = ''] = traceLine.exec(line) ?? [];
  if (packet === undefined || table === undefined || chain === undefined) return [];
  const where = placeOfRule(chain, table);
  const [, rule] = /^rule (.*) \(verdict drop\)$/.exec(event) ?? [];
  if (rule !== undefined) return [{ packet, drop: nameOfRule(rule, where) }];
  if (/^policy drop\s*$/.test(event)) return [{ packet, drop: `the policy of ${where}` }];
  // A truncated text lacks its verdict.
  const isCut = event.startsWith('rule ') && !event.endsWith(')');
  return [isCut ? { packet, drop: `a rule in ${where}` } : { packet }];
}

/** See nft(8), MONITOR; the family and name of the table, and the chain. */
const traceLine = /^trace trace id (\w{1,16}) (\w{1,16} \S{1,128}) (\S{1,128}) (.*)$/;
