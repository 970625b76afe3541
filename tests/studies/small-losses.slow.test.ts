// A patch that costs nothing without a firewall, and 1.5 and 2.1 % with one: eight cores of a Xeon E5-2650, a
// Chelsio T540-CR with four queues a port, 10 Mpps offered, ten runs of each kernel.
import { expect, test } from 'vitest';
import { expectNoSlip } from './slips.ts';
import { cellsOf, changeOf, expectItems, judge, startStudy } from './study.ts';

const speeds: Record<string, { base: number; change: number }> = {
  forwarding: { base: 2_929_000, change: 0 },
  'pf-stateful': { base: 1_824_000, change: -0.0149 },
  'ipfw-stateful': { base: 2_297_000, change: -0.0214 },
};

const startFirewallStudy = () =>
  startStudy({
    name: 'hp-t540',
    lab: {
      truth({ ident, scenario }) {
        const { base, change } = speeds[scenario] ?? { base: 0, change: 0 };
        return ident === 'r296935M' ? base * (1 + change) : base;
      },
      noise: { perBoot: 0.014 },
      hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz', 'hw.ncpu': '8' },
      loaderConf: { 'hw.cxgbe.nrxq10g': '4', 'hw.cxgbe.ntxq10g': '4' },
    },
    port: 'speed: 10 Gbit/s, queues: 4',
    settings: `
scenarios: [forwarding, pf-stateful, ipfw-stateful]
families: [inet4]
traffic: { flows: 2000, rate: 10 Mpps, measure: 12 s }
gate: { design: fixed, maxRuns: 10 }
`,
  });

const release = '11.0-CURRENT';

test('ten runs each, as the study had, do not pass what may have lost the margin', async () => {
  await using study = await startFirewallStudy();
  const judged = await judge(study, {
    title: 'Look routes up once a flow',
    base: { ident: 'r296935', release },
    patched: { ident: 'r296935M', release },
  });
  const { result, report } = judged;
  const [forwarding, pf, ipfw] = cellsOf(result);
  for (const cell of cellsOf(result)) {
    const { change = 0 } = speeds[cell.cell.scenario] ?? {};
    expect(Math.abs(changeOf(cell) - change)).toBeLessThan(0.025);
  }
  expect(forwarding?.verdict.kind).toBe('no-regression');
  for (const cell of [pf, ipfw]) {
    expect(['inconclusive', 'regression']).toContain(cell?.verdict.kind);
  }
  await expectNoSlip(judged, {
    base: 'FreeBSD 11.0-CURRENT #0 r296935',
    patched: 'FreeBSD 11.0-CURRENT #0 r296935M',
  });
  expectItems(report, {
    cpu: 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz',
    'NIC t5nex0': 'Chelsio Communications Inc T540-CR Unified Wire Ethernet Controller',
    'dev.cxl.0.nrxq': '4',
    'dev.cxl.0.ntxq': '4',
    'dev.cxl.1.nrxq': '4',
    'dev.cxl.1.ntxq': '4',
  });
});
