// Replays published reports of forwarding: each bench with its hardware and speeds, and a patch of known kernels.
import { expect, test } from 'vitest';
import type { FreebsdLabOptions } from '../fakes/freebsd-lab/lab.ts';
import { expectNoSlip } from './slips.ts';
import { cellsOf, changeOf, expectItems, judge, startStudy } from './study.ts';

type Report = {
  title: string;
  /** Packets per second of each cell with base, and the change of it that patched brings; those of all cells if alone. */
  speeds: Record<string, { base: number; change: number }>;
  verdicts: readonly (string | readonly string[])[];
  kernels: { base: string; patched: string; release: string };
  hardware: { 'hw.model': string; 'hw.ncpu': string };
  lab?: Partial<FreebsdLabOptions>;
  port: string;
  settings: string;
  items: Record<string, string>;
};

const xeon = { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz', 'hw.ncpu': '8' };
const t540 = { 'NIC t5nex0': 'Chelsio Communications Inc T540-CR Unified Wire Ethernet Controller' };

const reports: Record<string, Report> = {
  'ten runs each of a patch that costs 1.5 and 2.1 % with a firewall do not pass it': {
    title: 'Look routes up once a flow',
    speeds: {
      'forwarding inet4': { base: 2_929_000, change: 0 },
      'pf-stateful inet4': { base: 1_824_000, change: -0.0149 },
      'ipfw-stateful inet4': { base: 2_297_000, change: -0.0214 },
    },
    verdicts: ['no-regression', ['inconclusive', 'regression'], ['inconclusive', 'regression']],
    kernels: { base: 'r296935', patched: 'r296935M', release: '11.0-CURRENT' },
    hardware: xeon,
    lab: { noise: { perBoot: 0.014 }, loaderConf: { 'hw.cxgbe.nrxq10g': '4', 'hw.cxgbe.ntxq10g': '4' } },
    port: 'speed: 10 Gbit/s, queues: 4',
    settings: `traffic: { flows: 2000, rate: 10 Mpps, measure: 12 s }
gate: { design: fixed, maxRuns: 10 }`,
    items: { ...t540, 'dev.cxl.0.nrxq': '4', 'dev.cxl.1.ntxq': '4' },
  },
  'a patch that speeds ipfw up is an improvement for both families': {
    title: 'Let ipfw find the states of packets without a lock',
    speeds: {
      'ipfw-stateful inet4': { base: 4_982_000, change: 0.083 },
      'ipfw-stateful inet6': { base: 3_508_000, change: 0.264 },
    },
    verdicts: ['improvement', 'improvement'],
    kernels: { base: 'r325006', patched: 'r325006M', release: '12.0-CURRENT' },
    hardware: xeon,
    lab: { noise: { perBoot: 0.009 } },
    port: 'speed: 10 Gbit/s, queues: 8',
    settings: 'traffic: { flows: 2000, rate: 14.88 Mpps }',
    items: { ...t540, 'cxl0 media': 'Ethernet 10Gbase-SR <full-duplex>', 'dev.cxl.0.nrxq': '8' },
  },
  'a diff is not judged by runs that measured the generator': {
    title: 'Diff 80345 of a cheaper look at routes',
    speeds: {
      'forwarding inet4': { base: 14_817_000, change: Number.NaN },
      'forwarding inet6': { base: 14_472_000, change: Number.NaN },
    },
    verdicts: ['invalid', 'invalid'],
    kernels: { base: 'r368606', patched: 'r368606-diff80345', release: '13.0-CURRENT' },
    hardware: xeon,
    lab: { noise: { perBoot: 1e-5, perSecond: 1e-5 } },
    port: 'speed: 10 Gbit/s, queues: 8',
    settings: 'traffic: { flows: 200 }',
    items: t540,
  },
};

test.for(Object.entries(reports))('%s', async ([, report]) => {
  const { speeds, kernels, hardware, settings } = report;
  const names = Object.keys(speeds).map((name) => name.split(' '));
  const unique = (index: number) => [...new Set(names.map((name) => name[index]))].join(', ');
  await using study = await startStudy({
    name: 'bench',
    lab: {
      truth({ ident, scenario, family }) {
        const { base = 0, change = 0 } = speeds[`${scenario} ${family}`] ?? {};
        return ident === kernels.patched && !Number.isNaN(change) ? base * (1 + change) : base;
      },
      hardware,
      ...report.lab,
    },
    port: report.port,
    settings: `scenarios: [${unique(0)}]\nfamilies: [${unique(1)}]\n${settings}\n`,
  });
  const { release } = kernels;
  const judged = await judge(study, {
    title: report.title,
    base: { ident: kernels.base, release },
    patched: { ident: kernels.patched, release },
  });
  for (const [index, cell] of cellsOf(judged.result).entries()) {
    expect([report.verdicts[index]].flat()).toContain(cell.verdict.kind);
    const { change = 0 } = Object.values(speeds)[index] ?? {};
    if (Number.isNaN(change)) {
      const reason = expect.stringMatching(/^generator-limited: .*; 0 of 2 pairs of runs count$/);
      expect(cell).toMatchObject({ comparisons: [], verdict: { reason } });
    } else {
      expect(Math.abs(changeOf(cell) - change)).toBeLessThan(0.03);
    }
  }
  const nameOf = (ident: string) => `FreeBSD ${release} #0 ${ident}`;
  await expectNoSlip(judged, { base: nameOf(kernels.base), patched: nameOf(kernels.patched) });
  const cpu = hardware['hw.model'].replace(/ +/g, ' ');
  expectItems(judged.report, { cpu, 'hw.ncpu': hardware['hw.ncpu'], ...report.items });
});
