import { expect, test } from 'vitest';
import { expectNoSlip } from './slips.ts';
import { type Judged, judge, startStudy } from './study.ts';

const kernels = {
  base: 'FreeBSD 14.0-CURRENT #0 before',
  patched: 'FreeBSD 14.0-CURRENT #0 after',
};

const slips: [what: string, from: string | RegExp, to: string][] = [
  ['another number of flows', '2,000 flows', '5,000 flows'],
  ['another load', 'targeted 14.00 Mpps', 'targeted 14.88 Mpps'],
  ['another size of frames', '64-byte', '66-byte'],
  ['the kernels swapped', /#0 (?:before|after)/g, '#0 other'],
  ['the DUT’s own kernel', '#0 before`)', '#0 rescue`)'],
  ['text glued to the table', /\d \|\n/, '5 |x r325006: inet6\n'],
  ['a line glued to the table', '| runs |\n', '| runs |\nx r325006: inet6\n'],
  ['no verdict', /^### .*\n/, '### ppsgate\n'],
  ['no verdict of a cell', '| 🔴 regression |', '| |'],
  ['prose that says another change', /loses [\d.]+ %/, 'loses 1.0 %'],
  ['prose of the other sign', ' loses ', ' gains '],
  ['a table with another change', /\*\*−[\d.]+/, '**+1.60'],
  ['a block of other runs', /^x +\d+ /m, 'x  10 '],
];

test('a report with a slip of the published studies is found out', async () => {
  await using study = await startStudy({
    name: 'shelf',
    lab: {
      truth: ({ ident }) => (ident === 'before' ? 5e6 : 4.7e6),
      hardware: { 'hw.ncpu': '8' },
    },
    port: 'speed: 10 Gbit/s',
    settings: 'traffic: { flows: 2000, rate: 14 Mpps }',
  });
  const judged = await judge(study, {
    title: 'Forward less',
    base: { ident: 'before' },
    patched: { ident: 'after' },
  });
  await expectNoSlip(judged, kernels);
  for (const [what, from, to] of slips) {
    const spoilt: Judged = {
      ...judged,
      report: judged.report.replace(from, to),
    };
    expect(spoilt.report, what).not.toBe(judged.report);
    await expect(expectNoSlip(spoilt, kernels), what).rejects.toThrow();
  }
  await expect(expectNoSlip(judged, { base: kernels.patched, patched: kernels.base })).rejects.toThrow();
});
