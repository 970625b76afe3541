// Publication to a directory, under a lock.
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Result } from '../../../src/model/result.ts';
import {
  publishToDirectory,
  publishTrendToDirectory,
  readDirectoryTrend,
} from '../../../src/publish/data-branch/directory.ts';
import type { Publication } from '../../../src/publish/data-branch/layout.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aCell, aResult, pairedRuns } from '../../fakes/result.ts';

const day = 86_400;
const keep = { results: 1000, seconds: 365 * day, bytes: 2 ** 30 };
const now = new Date('2026-11-21T12:00:00.000Z');
const onDay = (date: number) => `2026-11-${String(date).padStart(2, '0')}T12:00:00.000Z`;

const publication = (changes: Partial<Result> = {}): Publication => ({
  result: aResult(changes),
  profiles: [],
  isDefaultBranch: true,
  isTrusted: true,
});

const publish = (
  directory: string,
  publications: readonly Publication[],
  changes: Partial<Parameters<typeof publishToDirectory>[2]> = {},
) => publishToDirectory(directory, publications, { keep, staleSeconds: 30 * day, now, ...changes });

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(directory, path)).isFile())
    .toSorted();

const startsIn = (directory: string): string[] =>
  JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8')).results.map(({ at }: { at: string }) => at);

test('a directory that is not there yet holds all that the branch does, and the report as a page', async () => {
  const directory = join(temporaryFolder(), 'not', 'yet');
  const [published] = await publish(directory, [publication()]);
  expect(filesIn(directory)).toEqual(
    [
      '.lock',
      '.nojekyll',
      'README.md',
      'badges/shelf-3/forwarding-inet4.json',
      'badges/shelf-3/forwarding-inet4.svg',
      'history.jsonl',
      'index.json',
      published?.page,
      published?.report,
      published?.result,
      'trend/index.json',
    ].toSorted(),
  );
  const text = readFileSync(join(directory, published?.result ?? ''), 'utf8');
  expect(JSON.parse(text)).toEqual(aResult());
});

test('a dropped result is removed with its folder', async () => {
  const directory = temporaryFolder();
  const one = { keep: { ...keep, results: 1 } };
  await publish(directory, [publication({ startedAt: onDay(1) })], one);
  await publish(directory, [publication({ startedAt: onDay(2) })], one);
  expect(startsIn(directory)).toEqual([onDay(2)]);
  expect(readdirSync(join(directory, 'results', '2026'))).toHaveLength(1);
});

test('those who publish at once wait for each other', async () => {
  const directory = temporaryFolder();
  let free = Promise.withResolvers<void>();
  const someoneEnded = () => {
    free.resolve();
    free = Promise.withResolvers();
  };
  const pause = () => free.promise;
  const dates = [1, 2, 3, 4];
  const all = dates.map((date) =>
    publish(directory, [publication({ startedAt: onDay(date) })], { pause }).then(someoneEnded),
  );
  await Promise.all(all);
  expect(startsIn(directory)).toEqual(dates.map(onDay));
});

test('gives up a directory that is locked for a minute, with the reason', async () => {
  const directory = temporaryFolder();
  using other = new DatabaseSync(join(directory, '.lock'));
  other.exec('BEGIN EXCLUSIVE');
  let seconds = 0;
  const pause = async (more: number) => {
    seconds += more;
  };
  await expect(publish(directory, [publication()], { pause })).rejects.toThrow('was locked by another publisher');
  expect(seconds).toBe(59);
});

test('A directory with a lock that any user may write, and so hold, is refused.', async () => {
  const directory = temporaryFolder();
  writeFileSync(join(directory, '.lock'), '');
  chmodSync(join(directory, '.lock'), 0o666);
  await expect(publish(directory, [publication()])).rejects.toThrow(/so any user may write to it/);
});

test('leftovers of a killed process are removed', async () => {
  const directory = temporaryFolder();
  const [first] = await publish(directory, [publication({ startedAt: onDay(1) })]);
  rmSync(join(directory, first?.report ?? ''));
  writeFileSync(join(directory, `${first?.report}.part`), '### half a re');
  await publish(directory, [publication({ startedAt: onDay(2) })]);
  expect(startsIn(directory)).toEqual([onDay(2)]);
  expect(filesIn(directory).filter((path) => path.startsWith('results/'))).toHaveLength(3);
});

test('an invalid index is not overwritten', async () => {
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'index.json'), '{"schemaVersion":2}');
  await expect(publish(directory, [publication()])).rejects.toThrow('is not an index of this version');
  expect(readFileSync(join(directory, 'index.json'), 'utf8')).toBe('{"schemaVersion":2}');
});

test('the branch over time is read whole, with the results', async () => {
  const directory = temporaryFolder();
  const runs = pairedRuns([8e5], [8e5]);
  const cells = [{ ...aCell({ kind: 'no-regression' }), runs }];
  const outcome = { kind: 'judged', verdict: 'no-regression', cells } as const;
  const starts = ['2019-01-01T12:00:00.000Z', onDay(1)];
  await publish(
    directory,
    starts.map((startedAt) => publication({ startedAt, outcome })),
  );
  const { nightlyRuns, results } = await readDirectoryTrend(directory);
  expect(nightlyRuns.get('shelf-3 forwarding inet4')?.map(({ at }) => at)).toEqual(starts);
  expect(results.results).toHaveLength(1);
});

test('the index of the trend is changed by those who edit it in turn', async () => {
  const directory = temporaryFolder();
  await publish(directory, [publication()]);
  const release = (name: string) => ({ name, commit: 'a'.repeat(40), at: onDay(1) });
  let free = Promise.withResolvers<void>();
  const added = async (name: string) => {
    await publishTrendToDirectory(
      directory,
      (index) => ({ ...index, releases: [...index.releases, release(name)] }),
      () => free.promise,
    );
    free.resolve();
    free = Promise.withResolvers();
  };
  await Promise.all([added('14.0'), added('15.0')]);
  const { index } = await readDirectoryTrend(directory);
  expect(index.releases.map(({ name }) => name).toSorted()).toEqual(['14.0', '15.0']);
});

test.for(['results', 'badges', 'trend'])(
  'Nothing is written or removed through a link in the place of %s',
  async (name) => {
    const [directory, elsewhere] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(elsewhere, join(directory, name));
    await expect(publish(directory, [publication()])).rejects.toThrow('is not opened');
    expect(readdirSync(elsewhere)).toEqual([]);
  },
);
