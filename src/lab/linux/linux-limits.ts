// Reads what limited each variant of a trial from the counters in a Linux DUT's log, and what dropped all its packets.
import { sum } from 'simple-statistics';
import type { TrialLimits } from '../../model/limits.ts';
import type { PlannedRun } from '../../model/planned-trial.ts';
import {
  boundedLimits,
  cardDropOf,
  countersIn,
  type Drop,
  mainDrop,
  minSilentRatio,
  packetsOf,
  uncountedCause,
} from '../trial-limits.ts';
import {
  type Blocks,
  disciplineDrops,
  growth,
  ipCounts,
  nameOfRule,
  placeOfRule,
  ruleDrops,
  silentRules,
} from './linux-counters.ts';

/** Counters at one edge of a run. */
type Reading = {
  run: number;
  edge: string;
  seconds: number;
  ingress: string;
  egress: string;
  blocks: Blocks;
};

type Stretch = { before: Reading; after: Reading };

/** Returns limits by variant; omits variants without counters in the log. */
export function limitsInLinuxLog(
  log: string,
  runs: readonly Pick<PlannedRun, 'variant'>[],
): Record<string, TrialLimits> {
  const byRun = Map.groupBy(readingsIn(log), ({ run }) => run);
  const stretches = runs.flatMap(({ variant }, index) => {
    const before = byRun.get(index)?.find(({ edge }) => edge === 'begin');
    const after = byRun.get(index)?.find(({ edge }) => edge === 'end');
    return before && after ? { variant, stretch: { before, after } } : [];
  });
  const byVariant = Map.groupBy(stretches, ({ variant }) => variant);
  return Object.fromEntries(
    [...byVariant].flatMap(([variant, own]) => {
      const all = own.map(({ stretch }) => stretch);
      const whole = all.findLast(({ after }) => after.blocks.has('dev'));
      const limits = whole && limitsOf(whole, busiestCpuRatio(all));
      return limits === undefined ? [] : [[variant, limits]];
    }),
  );
}

const head = /^limits (\d{1,7}) (begin|end) (\d{1,12}\.\d{1,9}) (\S+) (\S+)$/;

function readingsIn(log: string): Reading[] {
  const readings: (Reading & { lines: Map<string, string[]> })[] = [];
  for (const line of log.split('\n')) {
    const [, run, edge = '', time, ingress = '', egress = ''] = head.exec(line) ?? [];
    const [, name, text = ''] = /^= (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (run !== undefined) {
      const [lines, blocks] = [new Map<string, string[]>(), new Map<string, string>()];
      const at = { run: Number(run), edge, seconds: Number(time) };
      readings.push({ ...at, ingress, egress, lines, blocks });
    } else if (name !== undefined) {
      const lines = readings.at(-1)?.lines;
      const own = lines?.get(name);
      if (own === undefined) lines?.set(name, [text]);
      else own.push(text);
    }
  }
  return readings.map(({ lines, ...reading }) => ({
    ...reading,
    blocks: new Map([...lines].map(([name, own]) => [name, own.join('\n')])),
  }));
}

/** With fewer ticks of a CPU's clock, a share means nothing. */
const minTicks = 25;

/** Over all stretches; undefined if they are too short. */
function busiestCpuRatio(stretches: readonly Stretch[]): number | undefined {
  const busy: number[] = [];
  const total: number[] = [];
  for (const { before, after } of stretches) {
    const [first, last] = [cpuTicks(before.blocks), cpuTicks(after.blocks)];
    for (const [cpu, ticks] of last) {
      const earlier = first.get(cpu);
      if (earlier === undefined) continue;
      busy[cpu] = (busy[cpu] ?? 0) + Math.max(0, ticks.busy - earlier.busy);
      total[cpu] = (total[cpu] ?? 0) + Math.max(0, ticks.total - earlier.total);
    }
  }
  const ratios = Array.from(total, (all = 0, cpu) => (all === 0 ? 0 : (busy[cpu] ?? 0) / all));
  const most = total.reduce((largest, ticks = 0) => Math.max(largest, ticks), 0);
  return most < minTicks ? undefined : Math.max(...ratios);
}

type Ticks = { busy: number; total: number };

/** Reads the ticks of each CPU. Stolen time is neither busy nor idle, see proc_stat(5). */
function cpuTicks(blocks: Blocks): Map<number, Ticks> {
  return new Map(
    (blocks.get('stat') ?? '').split('\n').flatMap((line): [number, Ticks][] => {
      const [, cpu, fields = ''] = /^cpu(\d{1,4}) ([\d ]+)$/.exec(line) ?? [];
      const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0] = fields.split(' ').map(Number);
      const busy = user + nice + system + hard + soft;
      return cpu === undefined ? [] : [[Number(cpu), { busy, total: busy + idle + waiting }]];
    }),
  );
}

function limitsOf({ before, after }: Stretch, busiestCpuRatio: number | undefined): TrialLimits | undefined {
  const { ingress, egress } = after;
  const [first, last] = [before.blocks, after.blocks];
  const arrived = growthOf(first, last, (blocks) => deviceCounters(blocks, ingress)?.received);
  const sent = growthOf(first, last, (blocks) => deviceCounters(blocks, egress)?.sent);
  if (arrived === undefined || sent === undefined) return undefined;
  const card = cardDrops(first, last, ingress);
  const offeredPackets = arrived + packetsOf(card);
  const known = otherDrops(first, last, { ingress, egress, arrived, sent });
  const drops = [...card, ...known].filter(({ packets }) => packets > 0);
  return boundedLimits({ offeredPackets, receivedPackets: sent, busiestCpuRatio, drops });
}

const growthOf = (first: Blocks, last: Blocks, read: (blocks: Blocks) => number | undefined) =>
  growth(read(first), read(last));

type DeviceCounters = { received: number; sent: number; sendDrops: number };

/** Reads `/proc/net/dev`: the eight columns of received packets, then those of sent ones. */
function deviceCounters(blocks: Blocks, name: string): DeviceCounters | undefined {
  for (const line of (blocks.get('dev') ?? '').split('\n')) {
    const [own = '', rest = ''] = line.split(/:(.*)/);
    const numbers = rest.trim().split(/\s+/).map(Number);
    const [, received, , , , , , , , sent, , sendDrops] = numbers;
    if (own.trim() !== name || !numbers.every(Number.isSafeInteger)) continue;
    if (received === undefined || sent === undefined || sendDrops === undefined) continue;
    return { received, sent, sendDrops };
  }
  return undefined;
}

/**
 * Reads the card's own counters, by names that differ between drivers, or else the kernel's sum of the same packets.
 */
function cardDrops(first: Blocks, last: Blocks, ingress: string): Drop[] {
  const own = grown(first, last, `ethtool:${ingress}`).flatMap(([name, packets]): Drop[] => {
    const cause = cardDropOf(name);
    return cause === undefined || packets === 0 ? [] : [{ place: 'card', cause: `${cause} at ${ingress}`, packets }];
  });
  if (own.length > 0) return own;
  const missed = growthOf(first, last, (blocks) => numberIn(blocks, `missed:${ingress}`)) ?? 0;
  return [{ place: 'card', cause: `missed at ${ingress}`, packets: missed }];
}

const grown = (first: Blocks, last: Blocks, name: string): [string, number][] => {
  const earlier = countersIn(first.get(name) ?? '');
  return [...countersIn(last.get(name) ?? '')].flatMap(([key, value]): [string, number][] => {
    const packets = growth(earlier.get(key), value);
    return packets === undefined ? [] : [[key, packets]];
  });
};

function numberIn(blocks: Blocks, name: string): number | undefined {
  const text = blocks.get(name)?.trim() ?? '';
  return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

type Path = { ingress: string; egress: string; arrived: number; sent: number };

function otherDrops(first: Blocks, last: Blocks, path: Path): Drop[] {
  const { egress, arrived, sent } = path;
  const sendDrops = growthOf(first, last, (one) => deviceCounters(one, egress)?.sendDrops) ?? 0;
  const backlog = growthOf(first, last, (one) => hexColumnSum(one.get('softnet_stat'), 1)) ?? 0;
  const states = stateDrops(first, last);
  const ip = ipCounts(first, last);
  const counted: Drop[] = [
    { place: 'driver', cause: `the driver of ${egress}`, packets: sendDrops },
    { place: 'backlog', cause: 'the backlog of a CPU', packets: backlog },
    ...ip.drops,
    ...states,
    ...disciplines(first, last, egress),
  ];
  const rules = ruleDropsOf(first, last, path, Math.max(0, arrived - sent - packetsOf(counted)));
  const silent = (ip.vanishedPackets ?? 0) - packetsOf([...states, ...rules]);
  return [
    ...counted,
    ...rules,
    ...(silent > arrived * minSilentRatio
      ? [{ place: 'firewall', cause: silentCause(last), packets: silent } as const]
      : []),
  ];
}

function silentCause(last: Blocks): string {
  const [rule, ...others] = silentRules(last.get('nft') ?? '');
  if (rule === undefined) return uncountedCause;
  return others.length > 0 ? `rules without a counter, such as ${rule}` : `${rule}, without a counter`;
}

/**
 * Scales the rules' counters down: they count from the installation, slightly longer than the stretch, in which all
 * rules together dropped at most `lost` packets.
 */
function ruleDropsOf(first: Blocks, last: Blocks, { ingress, arrived }: Path, lost: number) {
  const begin = deviceCounters(first, ingress)?.received;
  const counted = growth(begin, numberIn(last, 'received')) ?? 0;
  const rules = counted === 0 ? [] : ruleDrops(last.get('nft') ?? '');
  const all = packetsOf(rules);
  const scale = Math.min(arrived / Math.max(counted, 1), lost / Math.max(all, 1));
  return rules.map(({ cause, packets }): Drop => {
    return { place: 'firewall', cause, packets: Math.round(packets * scale) };
  });
}

function stateDrops(first: Blocks, last: Blocks): Drop[] {
  const names = (first.get('nf_conntrack') ?? '').split('\n')[0]?.trim().split(/\s+/) ?? [];
  const packets = (name: string) =>
    names.includes(name)
      ? (growthOf(first, last, (one) => hexColumnSum(one.get('nf_conntrack'), names.indexOf(name))) ?? 0)
      : 0;
  return [
    {
      place: 'state-table',
      cause: 'connection tracking, because its table is full (net.netfilter.nf_conntrack_max)',
      packets: packets('drop'),
    },
    {
      place: 'state-table',
      cause: 'connection tracking, because a state could not be inserted',
      packets: packets('insert_failed'),
    },
  ];
}

/** Sums a column of hexadecimal numbers over the CPUs; ignores a line of names. */
function hexColumnSum(text = '', column: number): number | undefined {
  const values = hexRows(text).map((row) => row[column]);
  return values.every((value) => value !== undefined) && values.length > 0 ? sum(values as number[]) : undefined;
}

const hexRows = (text: string): number[][] =>
  text.split('\n').flatMap((line) => {
    const row = line.trim().split(/\s+/);
    return row.every((word) => /^[\da-f]{1,13}$/.test(word)) ? [row.map((word) => Number.parseInt(word, 16))] : [];
  });

/** Counts all drops of a discipline that the first reading lacks: it was installed in between. */
function disciplines(first: Blocks, last: Blocks, egress: string): Drop[] {
  const before = first.get('tc');
  const earlier = disciplineDrops(before ?? '', egress);
  const unknown = before === undefined ? undefined : 0;
  return disciplineDrops(last.get('tc') ?? '', egress).map(({ id, kind, packets }) => {
    const known = earlier.find((one) => one.id === id);
    const dropped = growth(known === undefined ? unknown : known.packets, packets) ?? 0;
    return { place: 'output-queue', cause: `${kind} on ${egress}`, packets: dropped };
  });
}

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
