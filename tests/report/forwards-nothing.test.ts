import { describe, expect, test } from 'vitest';
import { type Result, type Run, resultSchema } from '../../src/model/result.ts';
import { intervalPlot } from '../../src/report/interval-plot.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { renderHtml, renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { judgeCell, singleRunDesign } from '../fakes/cell.ts';
import { aResult, aRun } from '../fakes/result.ts';

const runsOf = (variant: string, ...all: number[]): Run[] =>
  all.map((pps, index) => {
    const number = 2 * index + (variant === 'base' ? 1 : 2);
    return aRun({ number, trial: number, pair: index + 1, variant, pps });
  });

const resultOf = (...runs: Run[]): Result => {
  const cell = judgeCell(runs, {}, { design: singleRunDesign });
  return aResult({ outcome: { kind: 'judged', verdict: cell.verdict.kind, cells: [cell] } });
};

const base = runsOf('base', 8e5, 8.01e5);

describe.each<[string, Result]>([
  ['forwards nothing', resultOf(...base, ...runsOf('patched', 0, 0))],
  ['forwards nothing in 2 of 3 runs', resultOf(...base, ...runsOf('patched', 0, 8e5, 0))],
])('a patch that %s', (said, result) => {
  test.each([
    ['Markdown', renderMarkdown(result)],
    ['Remarkup', renderRemarkup(result)],
    ['the page', renderHtml(result, [])],
    ['JUnit', renderJunit(result)],
  ])('is described by %s, and nothing in it is infinite', (_, text) => {
    expect(text).toContain(said);
    expect(text.replaceAll('\u00a0', ' ')).not.toMatch(/Infinity|NaN|∞|loses/);
  });

  test('is valid JSON of the schema, and has a picture', () => {
    expect(resultSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
    expect(intervalPlot(result)).toMatch(/^<svg(?!.*(?:NaN|Infinity))/s);
  });
});

test('lists a run that once forwarded nothing among those that do not count', () => {
  const again = aRun({ number: 4, trial: 4, attempt: 2, pair: 2, variant: 'patched' });
  const runs = [...runsOf('base', 8e5, 8.01e5, 8e5), ...runsOf('patched', 8e5, 0, 8.01e5), again];
  const report = renderMarkdown(resultOf(...runs));
  expect(report).not.toContain('forwards nothing');
  expect(report).toContain('1 of 7 runs, with no packet forwarded, which does not count by itself');
});

test('a base that forwards nothing is why nothing was measured', () => {
  const report = renderMarkdown(
    resultOf(...runsOf('base', 0, 0, 0), ...runsOf('patched', 8e5, 8e5, 8e5)),
  );
  expect(report).toMatch(/^### ⚪ .* was not measured: base itself forwards nothing\n/);
});
