// A patch that changes nothing, on a small router: four cores of an Atom C2558, four ports of an Intel I350, 1 Gbit/s.
import { expect, test } from 'vitest';
import { expectNoSlip } from './slips.ts';
import { cellsOf, changeOf, expectItems, type Judged, judge, startStudy } from './study.ts';

const speeds: Record<string, number> = {
  forwarding: 780_000,
  'pf-stateful': 405_000,
  'ipfw-stateful': 501_000,
};

const startRouterStudy = (scenarios = Object.keys(speeds)) =>
  startStudy({
    name: 'rcc-ve',
    lab: {
      truth: ({ scenario }) => speeds[scenario] ?? 0,
      noise: { perBoot: 0.0087 },
      hardware: { 'hw.model': 'Intel(R) Atom(TM) CPU  C2558  @ 2.40GHz', 'hw.ncpu': '4' },
      cabling: {
        mediaBits: 1e9,
        ports: [
          { name: 'igb2', card: 'I350' },
          { name: 'igb3', card: 'I350' },
        ],
      },
    },
    port: 'speed: 1 Gbit/s',
    settings: `
scenarios: [${scenarios.join(', ')}]
families: [inet4]
traffic: { flows: 2000, rate: 1.448 Mpps }
`,
  });

const release = '11.0-CURRENT';

const patch = {
  title: 'Move the work on mbufs out of line',
  base: { ident: 'r295150', release },
  patched: { ident: 'r295150M', release },
};

const kernels = {
  base: 'FreeBSD 11.0-CURRENT #0 r295150',
  patched: 'FreeBSD 11.0-CURRENT #0 r295150M',
};

test('mbufs that are no longer inlined cost nothing, with a firewall or without', async () => {
  await using study = await startRouterStudy();
  const judged = await judge(study, patch);
  expectNoChange(judged);
  await expectNoSlip(judged, kernels);
  expectItems(judged.report, {
    cpu: 'Intel(R) Atom(TM) CPU C2558 @ 2.40GHz',
    'hw.ncpu': '4',
    'NIC igb2': 'Intel Corporation I350 Gigabit Network Connection',
    'NIC igb3': 'Intel Corporation I350 Gigabit Network Connection',
    'igb2 media': 'Ethernet 1000baseT <full-duplex>',
  });
});

test('a second run prints the same as the first', async () => {
  await using study = await startRouterStudy(['forwarding']);
  expectNoChange(await judge(study, patch));
  const second = await judge(study, patch);
  expectNoChange(second);
  await expectNoSlip(second, kernels);
});

function expectNoChange({ result }: Judged): void {
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'no-regression' });
  for (const cell of cellsOf(result)) {
    expect(cell.verdict.kind).toBe('no-regression');
    expect(Math.abs(changeOf(cell))).toBeLessThan(0.03);
  }
}
