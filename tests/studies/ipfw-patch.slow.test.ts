// A patch that makes ipfw faster, more so for IPv6: eight cores of a Xeon E5-2650, a Chelsio T540-CR, 10 Gbit/s.
import { expect, test } from 'vitest';
import { expectNoSlip } from './slips.ts';
import { cellsOf, changeOf, expectItems, judge, startStudy } from './study.ts';

const release = '12.0-CURRENT';

const speeds: Record<string, Record<string, number>> = {
  r325006: { inet4: 4_982_000, inet6: 3_508_000 },
  r325006M: { inet4: 5_397_000, inet6: 4_434_000 },
};

const startIpfwStudy = () =>
  startStudy({
    name: 'hp-t540',
    lab: {
      truth: ({ ident, family }) => speeds[ident]?.[family] ?? 0,
      noise: { perBoot: 0.009 },
      hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz', 'hw.ncpu': '8' },
    },
    port: 'speed: 10 Gbit/s, queues: 8',
    settings: `
scenarios: [ipfw-stateful]
families: [inet4, inet6]
traffic: { flows: 2000, rate: 14.88 Mpps }
`,
  });

const patch = {
  title: 'Let ipfw find the states of packets without a lock',
  base: { ident: 'r325006', release },
  patched: { ident: 'r325006M', release },
};

test('a patch that speeds ipfw up is an improvement for both families', async () => {
  await using study = await startIpfwStudy();
  const judged = await judge(study, patch);
  expect(judged.result.outcome).toMatchObject({ kind: 'judged', verdict: 'improvement' });
  const [inet4, inet6] = cellsOf(judged.result);
  expect([inet4?.verdict.kind, inet6?.verdict.kind]).toEqual(['improvement', 'improvement']);
  expect(Math.abs(changeOf(inet4) - 0.083)).toBeLessThan(0.03);
  expect(Math.abs(changeOf(inet6) - 0.264)).toBeLessThan(0.03);
  await expectNoSlip(judged, {
    base: 'FreeBSD 12.0-CURRENT #0 r325006',
    patched: 'FreeBSD 12.0-CURRENT #0 r325006M',
  });
  expectItems(judged.report, {
    cpu: 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz',
    'hw.ncpu': '8',
    'NIC t5nex0': 'Chelsio Communications Inc T540-CR Unified Wire Ethernet Controller',
    'cxl0 media': 'Ethernet 10Gbase-SR <full-duplex>',
    'dev.cxl.0.nrxq': '8',
  });
});
