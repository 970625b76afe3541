// Series of measurements by any tool, from a file or a folder.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSeries } from '../../../src/cli/netbenches/series.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const folder = (files: Record<string, string>): string => {
  const path = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
};
const fileOf = (text: string): string => join(folder({ nightlyRuns: text }), 'nightlyRuns');

test('a line of a file is a nightly run: a name, and values of which the median counts', async () => {
  const path = fileOf('n1 100 300 200\nn2\t110,120\r\nn3 5e2\n');
  expect(await readSeries(path)).toEqual([
    {
      name: path,
      nightlyRuns: [
        { name: 'n1', value: 200 },
        { name: 'n2', value: 115 },
        { name: 'n3', value: 500 },
      ],
      skipped: [],
    },
  ]);
});

test('every line is a nightly run, skipped and counted, empty, or refused with its number', async () => {
  const lines = fc.constantFrom<[kind: string, text: string]>(
    ['run', 'n1 100 110'],
    ['run', 'r9,1040702,1040902'],
    ['skipped', 'n2'],
    ['empty', ''],
    ['empty', '# a comment'],
    ['refused', 'n3 14.88 Mpps'],
    ['refused', 'n4 1,040,702 1,040,902'],
    ['refused', 'n5 -1'],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(lines, { maxLength: 12 }), async (others) => {
      const all: [string, string][] = [['run', 'n0 100'], ...others];
      const of = (kind: string) => all.filter(([one]) => one === kind).length;
      const reading = readSeries(fileOf(all.map(([, text]) => text).join('\n')));
      const refused = all.findIndex(([kind]) => kind === 'refused') + 1;
      if (refused > 0) {
        await expect(reading).rejects.toThrow(`nightlyRuns:${refused}: `);
        return;
      }
      const [series] = await reading;
      expect([series?.nightlyRuns.length, series?.skipped.length]).toEqual([of('run'), of('skipped')]);
    }),
    { numRuns: 50 },
  );
});

test('a folder of netbenches has a series for each configuration, its revisions in natural order', async () => {
  const path = folder({
    'r10.inet4.pps': '20\n22\n24\n',
    'r9.inet4.pps': '10\n',
    'r9.pf.inet6.pps': '5\n',
    'r9.inet4.info': 'no numbers',
  });
  expect(await readSeries(path)).toEqual([
    {
      name: 'inet4',
      nightlyRuns: [
        { name: 'r9', value: 10 },
        { name: 'r10', value: 22 },
      ],
      skipped: [],
    },
    { name: 'pf.inet6', nightlyRuns: [{ name: 'r9', value: 5 }], skipped: [] },
  ]);
  const plain = folder({ 'r9.pps': '10\n' });
  expect((await readSeries(plain))[0]?.name).toBe(plain);
});

test('an empty series, or no file at all, is an error with the expected form', async () => {
  await expect(readSeries(fileOf('# none\n'))).rejects.toThrow(/There is no nightly run in/);
  await expect(readSeries(folder({}))).rejects.toThrow(/files named REV\.CONFIG\.pps/);
  await expect(readSeries(join(folder({}), 'absent'))).rejects.toThrow(/cannot be read .*: name a file/);
  const words = folder({ 'r9.inet4.pps': 'fast\n' });
  await expect(readSeries(words)).rejects.toThrow(/r9\.inet4\.pps/);
});
