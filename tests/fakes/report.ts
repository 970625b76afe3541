// A sample experiment with everything that a report can show, for its tests and for pictures in the documentation.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { standardNormal } from '../../bench/normal.ts';
import { explain } from '../../src/analysis/profile/changed-functions.ts';
import { type Profile, samplesOf } from '../../src/analysis/profile/profile.ts';
import type { CellProfiles } from '../../src/analysis/profile/result-profiles.ts';
import type { Revision } from '../../src/model/patch.ts';
import type { CellResult, CellVerdict, Interval, Result, Run } from '../../src/model/result.ts';
import { type Cell, cellName } from '../../src/model/scenario.ts';
import { aCell, aResult, aRun, aTrial, policy, unfit } from './result.ts';

/** An ipfw patch that is faster with many states, and equal elsewhere. */
export function anExperiment(): { result: Result; profiles: CellProfiles[] } {
  const random = xoroshiro128plus(12685);
  const cells = found.map((one) => ({ ...one, profiles: profilesOf(one, random) }));
  const trials = cells.flatMap(({ cell }) => [cell, cell]);
  return {
    profiles: cells.map(({ cell, profiles: { base, patched } }) => ({
      cell,
      variants: [
        { variant: 'base', profile: base, idleFrames: ['cpu_idle'] },
        { variant: 'patched', profile: patched, idleFrames: ['cpu_idle'] },
      ],
    })),
    result: aResult({
      patch,
      variants: [
        { name: 'base', commit: patch.baseCommit, files: [rules] },
        { name: 'patched', commit: patch.headCommit, files: [rules] },
      ],
      testbed: { name: 'hp-t540', fingerprint, warnings: [] },
      policy,
      traffic: { flows: 2000, frameBytes: 64, offeredPps: 14_880_000, measureSeconds: 30 },
      startedAt: '2026-11-20T12:00:00.000Z',
      finishedAt: '2026-11-20T13:22:10.000Z',
      trials: trials.map((cell, index) => ({
        ...aTrial({ number: index + 1, cell, trafficSeconds: 30, offeredPps: 14_870_000, logs: `trials/${index + 1}` }),
        kernel: kernels[index % 2 === 0 ? 'base' : 'patched'],
      })),
      outcome: {
        kind: 'judged',
        verdict: 'improvement',
        cells: cells.map((one, index) => cellOf(one, index, random)),
      },
    }),
  };
}

const patch: Revision = {
  kind: 'revision',
  server: 'https://phabricator.example',
  number: 12685,
  diff: 34471,
  title: 'ipfw: look dynamic states up without a lock',
  author: 'alice',
  url: 'https://phabricator.example/D12685',
  baseCommit: '8f6b1e1c'.repeat(5),
  headCommit: '3d20c7a9'.repeat(5),
  earlier: [],
  notes: [],
};

const kernels = {
  base: 'FreeBSD 12.0-CURRENT r325006 BASE',
  patched: 'FreeBSD 12.0-CURRENT r325006 D12685',
};

const rules = { path: 'etc/ipfw.rules', sha256: 'e5'.repeat(32) };

const fingerprint = {
  cpu: 'Intel Xeon E5-2650 @ 2.00GHz, 8 cores',
  kernel: 'FreeBSD 12.0-CURRENT r325006',
  interfaces: 'cxl0, cxl1: Chelsio T540-CR, 8 queues',
  'net.inet.ip.fastforwarding': '1',
  'machdep.hyperthreading_allowed': '0',
};

type Found = {
  cell: Cell;
  pps: number;
  interval: Interval;
  verdict: CellVerdict;
  /** Cost of a state lookup in patched, as a ratio to base. */
  lookupRatio: number;
};

type Row = [scenario: string, family: Cell['family'], pps: number, change: Interval, lookupRatio: number];

const rows: Row[] = [
  ['ipfw-stateful', 'inet4', 4_982_000, { change: 0.0833, low: 0.0679, high: 0.0986 }, 0.55],
  ['ipfw-stateful', 'inet6', 3_508_000, { change: 0.264, low: 0.248, high: 0.279 }, 0.3],
  ['ipfw-stateless', 'inet4', 6_117_000, { change: -0.0021, low: -0.0092, high: 0.0051 }, 1],
  ['forwarding', 'inet4', 8_046_000, { change: 0.0012, low: -0.0049, high: 0.0073 }, 1],
  ['forwarding', 'inet6', 7_204_000, { change: -0.0034, low: -0.0102, high: 0.0035 }, 1],
];

const found = rows.map(
  ([scenario, family, pps, interval, lookupRatio]): Found => ({
    cell: { scenario, family },
    pps,
    interval,
    verdict: { kind: lookupRatio < 1 ? 'improvement' : 'no-regression' },
    lookupRatio,
  }),
);

type FoundWithProfiles = Found & { profiles: { base: Profile; patched: Profile } };

function cellOf(one: FoundWithProfiles, index: number, random: RandomGenerator): CellResult {
  const { cell, pps, interval, verdict, profiles } = one;
  const { base, patched } = profiles;
  const time = { base: 1e9 / pps, patched: 1e9 / (pps * (1 + interval.change)) };
  const name = cellName(cell).replaceAll(' ', '-');
  return {
    ...aCell(verdict, interval, cell),
    design: { name: 'group-sequential', budgets: [10], pairsPerStep: 1, method: 'pooled' },
    pairs: 5,
    comparisons: [
      { metric: 'pps', base: pps, patched: pps * (1 + interval.change), baseRuns: 5, patchedRuns: 5, interval },
    ],
    runs: runsOf(one, 2 * index + 1, random),
    profiles: (['base', 'patched'] as const).map((variant) => ({
      kind: 'profiled',
      variant,
      event: 'CPU_CLK_UNHALTED_CORE',
      kernel: kernels[variant],
      seconds: 10,
      busySamples: samplesOf(profiles[variant].stacks),
      idleSamples: 5120,
      file: `profiles/${name}-${variant}/pmcstat.graph`,
    })),
    reason: {
      ...explain(base, patched, { metric: 'nsPerPacket', ...time }),
      idleFrames: ['cpu_idle'],
    },
  };
}

/** Five pairs in the order ABBA, and one invalid run. */
function runsOf({ pps, interval }: Found, trial: number, random: RandomGenerator): Run[] {
  const runs = Array.from({ length: 10 }, (_, index) => {
    const isPatched = [1, 2].includes(index % 4);
    const level = pps * (isPatched ? 1 + interval.change : 1);
    return aRun({
      number: index + 1,
      trial: trial + Number(isPatched),
      pair: Math.floor(index / 2) + 1,
      variant: isPatched ? 'patched' : 'base',
      pps: Math.round(level * (1 + 0.006 * standardNormal(random))),
    });
  });
  const slow = aRun({
    number: 11,
    trial,
    pair: 6,
    pps: Math.round(pps * 0.71),
    validity: unfit('0.4 s of 30 s passed in which no packet came through'),
  });
  return [...runs, slow];
}

function profilesOf({ cell, lookupRatio }: Found, random: RandomGenerator) {
  const weights = weightsOf(cell);
  return {
    base: profileOf(weights, random),
    patched: profileOf(
      weights.map(([path, weight]) => [path, /dyn_|_rm_rlock/.test(path.at(-1) ?? '') ? weight * lookupRatio : weight]),
      random,
    ),
  };
}

type Weight = [path: string[], weight: number];

function profileOf(weights: readonly Weight[], random: RandomGenerator): Profile {
  const names = new Set(weights.flatMap(([path]) => path));
  const frames = new Map([...names].map((name) => [name, { name, module: moduleOf(name) }]));
  const stacks = weights.map(([path, weight]) => ({
    frames: path.flatMap((name) => frames.get(name) ?? []),
    samples: Math.round(weight * 60 + Math.sqrt(weight * 60) * standardNormal(random)),
  }));
  return { format: 'pmcstat', stacks: stacks.filter(({ samples }) => samples > 0) };
}

const moduleOf = (name: string): string => {
  if (/^(t4_|service_iq|eth_tx|parse_pkt|get_scatter|mp_ring|write_|cxgbe|refill)/.test(name)) {
    return '/boot/kernel/if_cxgbe.ko';
  }
  return /^(ipfw|dyn_|hash_packet)/.test(name) ? '/boot/kernel/ipfw.ko' : '/boot/kernel/kernel';
};

/** Indented by callers; the number is the function's own share. */
const callTree = `
fork_exit 0
 ithread_loop 1
  intr_event_execute_handlers 2
   t4_intr 4
    service_iq_fl 71
     get_scatter_segment 58
      m_init 6
      rxb_free 11
     refill_fl 24
      uma_zalloc_arg 19
      bus_dmamap_load 7
     t4_eth_rx 33
      ether_input 8
       netisr_dispatch_src 11
        ether_nh_input 36
         ether_demux 21
          IP_input 44
           FORWARD 62
            bcmp 9
            FIB_lookup 38
             rib_lookup 27
              rn_match 49
             fib_rte 12
            pfil_run_hooks 19
             ipfw_check_frame_or_packet 23
              ipfw_chk 174
               ipfw_dyn_lookup_state 61
                dyn_hash_lookup 118
                 _rm_rlock 74
                dyn_update_proto_state 47
               ipfw_chk_table 16
               hash_packet 29
              m_tag_locate 5
            ether_output 31
             bcopy 14
             arpresolve 26
             ether_output_frame 9
              cxgbe_transmit 22
               parse_pkt 48
               mp_ring_enqueue 37
                eth_tx 66
                 write_txpkts_wr 52
                 t4_reclaim_tx_descs 31
                  m_freem 12
                   mb_free_ext 27
                    uma_zfree_arg 25
  critical_exit 3
fork_trampoline 0
 taskqueue_thread_loop 2
  taskqueue_run_locked 3
   eth_tx_reclaim 6
`;

/** The part of it that the cell's scenario runs. */
function weightsOf({ scenario, family }: Cell): Weight[] {
  const isFirewalled = scenario !== 'forwarding';
  const isStateful = scenario === 'ipfw-stateful';
  const names = {
    IP_input: `${family === 'inet4' ? 'ip' : 'ip6'}_input`,
    FORWARD: family === 'inet4' ? 'ip_tryforward' : 'ip6_tryforward',
    FIB_lookup: family === 'inet4' ? 'fib4_lookup_nh_basic' : 'fib6_lookup_nh_basic',
  };
  const path: string[] = [];
  return callTree
    .trim()
    .split('\n')
    .flatMap((line): Weight[] => {
      const [name = '', weight] = line.trim().split(' ');
      path.length = line.length - line.trimStart().length;
      path.push(Object.entries(names).find(([key]) => key === name)?.[1] ?? name);
      if (!isFirewalled && path.includes('pfil_run_hooks')) return [];
      if (!isStateful && path.includes('ipfw_dyn_lookup_state')) return [];
      return Number(weight) > 0 ? [[[...path], Number(weight)]] : [];
    });
}
