// Compares every published comparison of the corpus with ours. Of golden/ministat-others.txt 29 have an older relative
// error, one an older variance, and three neither plot nor pooled deviation, which people left out.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseColumn } from '../../../src/analysis/stats/columns.ts';
import { type MinistatOptions, type MinistatSet, renderMinistat } from '../../../src/analysis/stats/ministat.ts';
import { confidencePercents } from '../../../src/analysis/stats/student.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

describeWith(['shared/corpus/ministat'], 'published comparisons', () => {
  test('each is reproduced to the letter, but for those of an older ministat and those cut by hand', async () => {
    const corpus = sharedFolder('corpus/ministat');
    const others = readdirSync(corpus).filter((block) => !isReproduced(join(corpus, block)));
    expect(readdirSync(corpus).length - others.length).toBe(203);
    await expect(`${others.join('\n')}\n`).toMatchFileSnapshot('golden/ministat-others.txt');
  });
});

function isReproduced(folder: string): boolean {
  const published = readFileSync(join(folder, 'published.txt'), 'utf8');
  return comparable(renderMinistat(readSets(folder), inferOptions(published))) === comparable(published);
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
