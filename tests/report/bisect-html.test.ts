import { describe, expect, test } from 'vitest';
import { withReasons } from '../../src/analysis/profile/result-profiles.ts';
import { type BisectResult, bisectResultSchema } from '../../src/model/bisect-result.ts';
import { renderHtml } from '../../src/report/reports.ts';
import { bisectResults, failedForm, mellanoxFixed } from '../fakes/bisect-result.ts';
import { expectHarmless, hostile, poisoned } from '../fakes/poisoned.ts';
import { anExperiment } from '../fakes/report.ts';
import { aProfile, aRun, unfit } from '../fakes/result.ts';

/** Returns the text of a page as read: without markup, and on one line. */
const textOf = (page: string): string =>
  page
    .replace(/<(style|script)>.*?<\/\1>/gs, '')
    .replaceAll('<wbr>', '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/\s+/g, ' ');

/** A bisection with profiles of before and after. */
function explained(): {
  result: BisectResult;
  profiles: ReturnType<typeof anExperiment>['profiles'];
} {
  const profiles = anExperiment().profiles.slice(0, 1);
  const result = { ...mellanoxFixed, profiles: [aProfile('base'), aProfile('patched')] };
  return { result: withReasons(result, profiles), profiles };
}

test('flamegraphs of before and after are named by the commit, with the functions that moved', () => {
  const { result, profiles } = explained();
  const text = textOf(renderHtml(result, profiles));
  expect(text).toContain('forwarding inet4, before f8f5b459d21e');
  expect(text).toContain('f8f5b459d21e compared with the commit before it');
  expect(text).toContain('Functions whose own share of the samples changed');
  expect(textOf(renderHtml(mellanoxFixed))).not.toContain('Flamegraphs');
});

describe('text of others is never markup', () => {
  const inSchema = (result: BisectResult): boolean => bisectResultSchema.safeParse(result).success;

  test.each(Object.entries(bisectResults))('in %s', (_, plain) => {
    const forms = [
      failedForm({ kind: 'boot-failed', message: 'a', panic: 'b', console: 'c' }),
      failedForm({ kind: 'build-failed', message: 'a' }),
    ];
    const result: BisectResult = {
      ...plain,
      fixUps: ['main'],
      testbed: { ...plain.testbed, warnings: ['warning'] },
      revisions: plain.revisions.map((one) => (one.place === 1 ? { ...one, forms } : one)),
      revert: { kind: 'impossible', why: 'no' },
      runs: [aRun({ validity: unfit('no') })],
    };
    const bad = poisoned(result, inSchema);
    expect(JSON.stringify(bad).split('alert(1)').length).toBeGreaterThan(15);
    const page = renderHtml(bad);
    expectHarmless(page, renderHtml(result));
    expect(page).toContain('&lt;script&gt;alert(1)');
  });

  test('in names of variants and functions', () => {
    const { result, profiles } = explained();
    const bad = profiles.map((one) => ({
      ...one,
      variants: one.variants.map((taken) => ({ ...taken, variant: hostile })),
    }));
    expectHarmless(renderHtml(result, bad), renderHtml(result, profiles));
    expectHarmless(renderHtml(poisoned(result, inSchema), profiles), renderHtml(result, profiles));
  });
});
