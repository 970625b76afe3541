// Compares every published comparison of the corpus with ours; exceptions are an older ministat's, or cut by hand.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseColumn } from '../../../src/analysis/stats/columns.ts';
import { type MinistatOptions, type MinistatSet, renderMinistat } from '../../../src/analysis/stats/ministat.ts';
import { formatGeneral } from '../../../src/analysis/stats/printf.ts';
import { confidencePercents, studentT } from '../../../src/analysis/stats/student.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

describeWith(['shared/corpus/ministat'], 'published comparisons', () => {
  test('each is reproduced to the letter, or explained by an older formula or a cut', () => {
    const corpus = sharedFolder('corpus/ministat');
    const explained = readdirSync(corpus).map((block) => ({
      block,
      explanation: explain(join(corpus, block)),
    }));

    const groups = Object.groupBy(explained, ({ explanation }) => explanation);
    const rows = Object.entries(groups).map(([explanation, blocks = []]) => ({
      explanation,
      blocks: blocks.length,
      which: explanation === 'whole' ? '' : blocks.map(({ block }) => block).join(' '),
    }));
    console.log(rows.map((row) => `${row.blocks} ${row.explanation}: ${row.which}`).join('\n'));
    const tally = Object.fromEntries(rows.map((row) => [row.explanation, row.blocks]));
    expect(tally).toEqual({
      whole: 203,
      'older relative error': 29,
      'older variance': 1,
      'cut by hand: no plot, no pooled s': 3,
    });
  });
});

/** Values that an older ministat computed differently; the newer formula if a name is absent. */
type Older = 'median' | 'variance' | 'relative error';

const generations: readonly (readonly Older[])[] = [
  ['relative error'],
  ['variance'],
  ['median'],
  ['variance', 'relative error'],
  ['median', 'relative error'],
  ['median', 'variance'],
  ['median', 'variance', 'relative error'],
];

function explain(folder: string): string {
  const published = readFileSync(join(folder, 'published.txt'), 'utf8');
  const sets = readSets(folder);
  const options = inferOptions(published);
  const ours = renderMinistat(sets, options);
  const target = comparable(published);
  if (comparable(ours) === target) return 'whole';

  const withoutPooled = ours.replaceAll(/^.*pooled s.*\n/gm, '');
  if (options.withoutPlot && comparable(withoutPooled) === target) {
    return 'cut by hand: no plot, no pooled s';
  }

  const plot = ours.split('\n').filter((line) => plotLine.test(line));
  const older = generations.find(
    (generation) => comparable([...plot, heads, ...olderNumbers(sets, options, generation)].join('\n')) === target,
  );
  return older === undefined ? 'unknown' : `older ${older.join(' and ')}`;
}

function readSets(folder: string): MinistatSet[] {
  const names = readdirSync(folder).filter((name) => /^[a-g]\.txt$/.test(name));
  return names.sort().map((name) => ({
    name,
    values: parseColumn(readFileSync(join(folder, name)), { name }),
  }));
}

const plotLine = /^(\+-+\+|\|.*\|)\s*$/;
const barLine = /^\|[ |_MA]+\|\s*$/gm;
const heads = 'N Min Max Median Avg Stddev';

/** The options that a block was made with, read from the block itself. */
function inferOptions(published: string): MinistatOptions {
  const border = /^\+(-+)\+\s*$/m.exec(published)?.[1];
  const confidence = Number(/at ([\d.]+)% confidence/.exec(published)?.[1] ?? 95);
  return {
    confidencePercent: confidencePercents.find((percent) => percent === confidence) ?? 95,
    width: border?.length ?? 74,
    separateBars: (published.match(barLine)?.length ?? 0) > 1,
    withoutPlot: border === undefined,
    summariesOnly: !published.includes('% confidence'),
  };
}

/** Plot lines as they are; number lines with white space folded, for people typed their tabs; legend lines left out. */
function comparable(block: string): string {
  const lines = block.split('\n').map((line) => line.trimEnd());
  const plot = lines.filter((line) => plotLine.test(line));
  const others = lines.filter((line) => line !== '' && !plotLine.test(line));
  const folded = others.map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return [...plot, ...folded.filter((line) => !isLegend(line))].join('\n');
}

const isLegend = (line: string): boolean => /^[x+*%#@O] /.test(line) && !/^. \d+( [-+.\de]+){5}$/.test(line);

/** The rows and the test as an older generation wrote them. */
function olderNumbers(
  sets: readonly MinistatSet[],
  { confidencePercent = 95 }: MinistatOptions,
  older: readonly Older[],
): string[] {
  const samples = sets.map(({ values }) => olderSample([...values], older));
  const [first] = samples;
  return samples.flatMap((sample, index) => {
    const cells = [sample.min, sample.max, sample.median, sample.average, Math.sqrt(sample.variance)];
    const row = ['x+*%#@O'[index], sample.n, ...cells.map((cell) => formatGeneral(cell, 8))].join(' ');
    if (first === undefined || index === 0) return [row];

    const df = first.n + sample.n - 2;
    const t = studentT(df, confidencePercent);
    const squares = (sample.n - 1) * sample.variance + (first.n - 1) * first.variance;
    const pooled = Math.sqrt(squares / df);
    const error = t * pooled * Math.sqrt(1 / first.n + 1 / sample.n);
    const difference = sample.average - first.average;
    const at = `${confidencePercent.toFixed(1)}% confidence`;
    if (Math.abs(difference) <= error) return [row, `No difference proven at ${at}`];

    const ratio = older.includes('relative error') ? 1 : (sample.average / first.average) ** 2;
    const ratioSquares = (sample.n - 1) * sample.variance + (first.n - 1) * first.variance * ratio;
    const ratioError = t * Math.sqrt((ratioSquares / df) * (1 / first.n + 1 / sample.n)) * (100 / first.average);
    const g = (value: number) => formatGeneral(value, 6);
    return [
      row,
      `Difference at ${at}`,
      `${g(difference)} +/- ${g(error)}`,
      `${g((difference * 100) / first.average)}% +/- ${g(ratioError)}%`,
      `(Student's t, pooled s = ${g(pooled)})`,
    ];
  });
}

function olderSample(values: readonly number[], older: readonly Older[]) {
  const n = values.length;
  const sorted = values.toSorted((a, b) => a - b);
  const sum = values.reduce((total, value) => total + value, 0);
  const average = sum / n;

  const upper = sorted[Math.floor(n / 2)] ?? NaN;
  const lower = sorted[Math.ceil(n / 2) - 1] ?? NaN;
  const squares = older.includes('variance')
    ? values.reduce((total, value) => total + value * value, 0) - (sum * sum) / n
    : sorted.reduce((total, value) => total + (value - average) ** 2, 0);
  return {
    n,
    min: sorted[0] ?? NaN,
    max: sorted.at(-1) ?? NaN,
    median: older.includes('median') ? upper : (upper + lower) / 2,
    average,
    variance: squares / (n - 1),
  };
}
