// Series of measurements by any tool, from a file or a folder.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    },
  ]);
});

test('comments, empty lines and nightly runs without a value are passed over', async () => {
  const path = fileOf('# nightly\n\nn1 100 # was slow\nn2\nn3 110\n');
  expect((await readSeries(path))[0]?.nightlyRuns.map(({ name }) => name)).toEqual(['n1', 'n3']);
});

test('what is no value above 0 is refused with its line', async () => {
  await expect(readSeries(fileOf('n1 100\nn2 fast\n'))).rejects.toThrow(
    /nightlyRuns:2: expected a name and values above 0, found something else\.$/,
  );
  await expect(readSeries(fileOf('n1 100 0\n'))).rejects.toThrow(/nightlyRuns:1: .* found 0\.$/);
  await expect(readSeries(fileOf('n1 Infinity\n'))).rejects.toThrow(/found Infinity\.$/);
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
    },
    { name: 'pf.inet6', nightlyRuns: [{ name: 'r9', value: 5 }] },
  ]);
  const plain = folder({ 'r9.pps': '10\n' });
  expect((await readSeries(plain))[0]?.name).toBe(plain);
});

test('where there is no nightly run, or nothing at all, a sentence says what is expected', async () => {
  await expect(readSeries(fileOf('# none\n'))).rejects.toThrow(/There is no nightly run in/);
  await expect(readSeries(folder({}))).rejects.toThrow(/files named REV\.CONFIG\.pps/);
  await expect(readSeries(join(folder({}), 'absent'))).rejects.toThrow(
    /cannot be read .*: name a file/,
  );
  const words = folder({ 'r9.inet4.pps': 'fast\n' });
  await expect(readSeries(words)).rejects.toThrow(/r9\.inet4\.pps/);
});
