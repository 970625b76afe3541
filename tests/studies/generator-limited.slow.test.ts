// Two diffs of a revision without a verdict, because the DUT forwards all that a 10 Gbit/s port carries: eight cores of a
// Xeon E5-2650, a Chelsio T540-CR, 200 flows.
import { expect, test } from 'vitest';
import { expectNoSlip } from './slips.ts';
import { cellsOf, expectItems, judge, startStudy } from './study.ts';

const forwarded = { inet4: 14_817_000, inet6: 14_472_000 };

const startSaturatedStudy = () =>
  startStudy({
    name: 'hp-t540',
    lab: {
      truth: ({ family }) => forwarded[family],
      noise: { perBoot: 1e-5, perSecond: 1e-5 },
      hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz', 'hw.ncpu': '8' },
    },
    port: 'speed: 10 Gbit/s, queues: 8',
    settings: `
scenarios: [forwarding]
families: [inet4, inet6]
traffic: { flows: 200 }
`,
  });

const release = '13.0-CURRENT';

test.for(['80345', '80677'])('diff %s is not judged by runs that measured the generator', async (diff) => {
  await using study = await startSaturatedStudy();
  const judged = await judge(study, {
    title: `Diff ${diff} of a cheaper look at routes`,
    base: { ident: 'r368606', release },
    patched: { ident: `r368606-diff${diff}`, release },
  });
  const { result, report } = judged;
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'invalid' });
  const [inet4, inet6] = cellsOf(result);
  expect(inet4?.verdict).toEqual({
    kind: 'invalid',
    reason:
      'generator-limited: 14.82 Mpps came through in a median second, of 14.88 Mpps offered on average (99.6 %), and the line carries 14.88 Mpps (10 Gbit/s); 0 of 2 pairs of runs count',
  });
  expect(inet6?.verdict).toEqual({
    kind: 'invalid',
    reason:
      'generator-limited: 14.47 Mpps came through in a median second, of 14.53 Mpps offered on average (99.6 %), and the line carries 14.53 Mpps (10 Gbit/s); 0 of 2 pairs of runs count',
  });
  const rows = report.split('\n').filter((line) => /^- \S+ inet[46] is invalid: /.test(line));
  expect(rows[0]).toContain(
    'inet4 is invalid: `generator-limited: 14.82 Mpps came through in a median second, of 14.88 Mpps offered on average (99.6 %), and the line carries 14.88 Mpps (10 Gbit/s)',
  );
  expect(rows[1]).toContain(
    'inet6 is invalid: `generator-limited: 14.47 Mpps came through in a median second, of 14.53 Mpps offered on average (99.6 %), and the line carries 14.53 Mpps (10 Gbit/s)',
  );
  expect(report.split('\n')[0]).toMatch(/was not measured: the generator was the limit$/);
  expect(report).not.toMatch(/ministat:|Difference/);
  await expectNoSlip(judged, {
    base: 'FreeBSD 13.0-CURRENT #0 r368606',
    patched: `FreeBSD 13.0-CURRENT #0 r368606-diff${diff}`,
  });
  expectItems(report, {
    cpu: 'Intel(R) Xeon(R) CPU E5-2650 v2 @ 2.60GHz',
    'NIC t5nex0': 'Chelsio Communications Inc T540-CR Unified Wire Ethernet Controller',
  });
});
