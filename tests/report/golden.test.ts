// Everything that people read of a result, in golden files: `npx vitest run --project fast tests/report --update`.
import { expect, test } from 'vitest';
import { resultText } from '../../src/cli/gate/result-text.ts';
import { bisectHeadline, bisectSymbol } from '../../src/report/bisect-headline.ts';
import { bisectPlot } from '../../src/report/bisect-plot.ts';
import { earlierGatesText } from '../../src/report/earlier-gates-text.ts';
import { headline } from '../../src/report/headline.ts';
import { intervalPlot } from '../../src/report/interval-plot.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { isBisectResult, renderHtml, renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { anExperiment } from '../fakes/report.ts';
import { aCell, aResult, judged, policy } from '../fakes/result.ts';
import { examples } from './examples.ts';

const golden = (name: string, extension: string) => `golden/${name.replaceAll(/\W+/g, '-')}.${extension}`;

/** Returns the text of a page as read: without markup, a line for each block. */
const textOf = (page: string): string =>
  page
    .replace(/<(style|script|svg)\b.*?<\/\1>/gs, '')
    .replace(/<\/?(?:a|b|code|em|span|strong|sub|wbr)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&lt;/g, '<')
    .replace(/\s*\n\s*/g, '\n');

const everyResult = Object.entries(examples);

test('the headlines', async () => {
  const lines = everyResult.map(([, result]) =>
    isBisectResult(result) ? `${bisectSymbol(result)} ${bisectHeadline(result)}` : headline(result),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/headlines.txt');
});

test('the texts of all plots', async () => {
  const texts = everyResult.map(([name, result]) => {
    const svg = isBisectResult(result) ? bisectPlot(result) : intervalPlot(result);
    return [name, ...[...(svg ?? '').matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => `  ${text}`)].join('\n');
  });
  await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot('golden/plots.txt');
});

test('what is said of earlier gates of the same commit', async () => {
  const verdicts = ['no-regression', 'improvement', 'regression', 'inconclusive'] as const;
  const lines = verdicts.flatMap((kind) =>
    (
      [
        [0, 0],
        [1, 0],
        [1, 1],
        [2, 1],
        [3, 2],
        [21, 0],
      ] as const
    ).map(([count, regressions]) => {
      const cell = { ...aCell({ kind }), ...(count > 0 && { earlierGates: { count, regressions } }) };
      const result = aResult({ outcome: { kind: 'judged', verdict: kind, cells: [cell] } });
      return `${headline(result)}\n  ${earlierGatesText(result)}\n`;
    }),
  );
  const again = { ...aCell({ kind: 'no-regression' }), earlierGates: { count: 1, regressions: 0 } };
  const inSome = judged([
    again,
    { ...aCell({ kind: 'no-regression' }), cell: { scenario: 'forwarding', family: 'inet6' } },
  ]);
  const otherRates = judged([again], { policy: { ...policy, marginRatio: 0.05, missRatio: 0.1 } });
  for (const result of [inSome, otherRates]) lines.push(`${headline(result)}\n  ${earlierGatesText(result)}\n`);
  expect(earlierGatesText(aResult({ outcome: { kind: 'build-failed', message: '' } }))).toBeUndefined();
  await expect(lines.join('')).toMatchFileSnapshot('golden/earlier-gates.txt');
});

test.each(everyResult)('the comment of %s', async (name, result) => {
  const links = {
    page: 'https://example.org/report.html',
    image: 'https://example.org/plot.png',
    rerun: '`/ppsgate rerun`',
    rawData: '[artifact](https://example.org/1)',
    corrections: ['The verdict was another one.'],
  };
  await expect(renderMarkdown(result, links)).toMatchFileSnapshot(golden(name, 'md'));
});

/** One result of each shape: blocks have the same contents in each markup. */
const shapes = [
  'regression',
  'regression of an unknown reason',
  'revision beside earlier diffs',
  'forwards nothing',
  'invalid',
  'unchanged',
  'boot failed',
  'bisection with a fix-up',
].map((name) => [name, examples[name] ?? expect.fail(name)] as const);

test.each(shapes)('the comment on Phabricator of %s', async (name, result) => {
  const links = {
    page: 'https://example.org/report.html',
    image: 'F123',
    details: 'https://ci.example/job/1',
    history: 'https://ci.example/history',
    rerun: '@ppsgate rerun',
  };
  await expect(renderRemarkup(result, links)).toMatchFileSnapshot(golden(name, 'remarkup'));
});

test.each(shapes)('the page of %s', async (name, result) => {
  await expect(textOf(renderHtml(result))).toMatchFileSnapshot(golden(name, 'page.txt'));
});

test('the page of an improvement, with its profiles', async () => {
  const { result, profiles } = anExperiment();
  await expect(textOf(renderHtml(result, profiles))).toMatchFileSnapshot('golden/improvement.page.txt');
});

const gates = everyResult.flatMap(([name, result]) => (isBisectResult(result) ? [] : [[name, result] as const]));

test.each(gates)('JUnit and terminal of %s', async (name, result) => {
  const text = `${resultText(result, 'work')}\n${renderJunit(result)}`;
  await expect(text).toMatchFileSnapshot(golden(name, 'junit.txt'));
});
