import fc from 'fast-check';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Octokit } from '../../../src/forge/github/client.ts';
import type { Result } from '../../../src/model/result.ts';
import { type Family, families } from '../../../src/model/scenario.ts';
import {
  publishToBranch,
  publishTrend,
  readBranchTrend,
  readHistory,
} from '../../../src/publish/data-branch/branch.ts';
import type { Publication } from '../../../src/publish/data-branch/layout.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { writeRepository } from '../../fakes/github/git-folder.ts';
import { commitAt, commitFiles, type Git } from '../../fakes/github/git-objects.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { git } from '../../fakes/repository.ts';
import { aCell, aResult, aRun, pairedRuns, pullRequest } from '../../fakes/result.ts';
import { times } from '../../random.ts';

const place = {
  repository: 'example/router',
  branch: 'ppsgate-data',
  serverUrl: 'https://github.com',
};
const day = 86_400;
const keep = { results: 1000, seconds: 365 * day, bytes: 2 ** 30 };
const now = new Date('2026-11-21T12:00:00.000Z');
const ref = 'refs/heads/ppsgate-data';

let github: FakeGitHub;

beforeEach(async () => {
  github = await startFakeGitHub({ repository: 'example/router', pullRequests: [] });
});

afterEach(async () => {
  await github.stop();
  expect(github.violations).toEqual([]);
});

type Options = Partial<Parameters<typeof publishToBranch>[3]>;

async function publish(
  publications: readonly Publication[],
  { octokit, ...options }: Options & { octokit?: Octokit } = {},
) {
  return publishToBranch(octokit ?? (await hastyOctokit(github)), place, publications, {
    keep,
    staleSeconds: 30 * day,
    now: () => now,
    pause: async () => {},
    random: () => 0.5,
    ...options,
  });
}

const publication = (changes: Partial<Result> = {}): Publication => ({
  result: aResult(changes),
  profiles: [],
  isDefaultBranch: true,
  isTrusted: true,
});

const onDay = (date: number) => `2026-11-${String(date).padStart(2, '0')}T12:00:00.000Z`;
const published = { kind: 'published', commit: expect.stringMatching(/^[0-9a-f]{40}$/) };

/** The ids of all files of the branch, by path. */
function files(): Map<string, string> {
  const tip = commitAt(github.state.git, github.state.git.refs.get(ref) ?? '');
  return new Map(tip === undefined ? [] : blobsIn(github.state.git, tip.tree, ''));
}

function blobsIn({ read }: Git, tree: string, folder: string): [string, string][] {
  const object = read(tree)?.object;
  if (object?.type !== 'tree') return [];
  return object.entries.flatMap(({ name, mode, id }): [string, string][] =>
    mode === '40000' ? blobsIn(github.state.git, id, `${folder}${name}/`) : [[`${folder}${name}`, id]],
  );
}

const textOf = (path: string): string => github.state.git.read(files().get(path) ?? '')?.bytes.toString() ?? '';

const startsOfResults = (): string[] =>
  JSON.parse(textOf('index.json') || '{"results":[]}').results.map(({ at }: { at: string }) => at);

/** Each result of the index has its files, and there are no others. */
function expectWhole(): void {
  const { results } = JSON.parse(textOf('index.json'));
  const told = results.flatMap(({ path }: { path: string }) => [`${path}/report.md`, `${path}/result.json`]);
  expect([...files().keys()].filter((path) => path.startsWith('results/'))).toEqual(told);
}

const counted = (operationId: string) =>
  github.requests.filter((request) => request.operationId === operationId).length;

describe('a publication', () => {
  test('makes the branch, of one commit without parents', async () => {
    const done = await publish([publication()]);
    expect(done).toMatchObject(published);
    const tip = github.state.git.refs.get(ref) ?? '';
    expect(done).toMatchObject({ commit: tip });
    expect(commitAt(github.state.git, tip)?.parents).toEqual([]);
    expect(textOf('badges/shelf-3/forwarding-inet4.json')).toContain('regression · 721.5 kpps');
  });

  test('returns the places of its files', async () => {
    const done = await publish([publication()]);
    const folder = 'results/2026/20261120T120000-shelf-3-7-';
    expect(done).toMatchObject({
      links: [
        {
          result: expect.stringContaining(`https://github.com/example/router/raw/ppsgate-data/${folder}`),
          report: expect.stringContaining(`https://github.com/example/router/blob/ppsgate-data/${folder}`),
          badges: ['https://github.com/example/router/raw/ppsgate-data/badges/shelf-3/forwarding-inet4.svg'],
        },
      ],
    });
  });

  test('of a long experiment is complete', async () => {
    const runs = Array.from({ length: 800 }, (_, index) => aRun({ number: index + 1 }));
    const cells = [{ ...aCell({ kind: 'regression' }), runs }];
    const result = { outcome: { kind: 'judged', verdict: 'regression', cells } } as const;
    await publish([publication(result as Partial<Result>)]);
    const path = [...files().keys()].find((file) => file.endsWith('/result.json')) ?? '';
    expect(JSON.parse(textOf(path))).toEqual(aResult(result as Partial<Result>));
    expect(counted('git/create-blob')).toBe(1);
  });

  test('ignores a file that was removed by hand', async () => {
    await publish([publication({ startedAt: onDay(1) })]);
    const path = [...files().keys()].find((file) => file.endsWith('/report.md')) ?? '';
    commitFiles(github.state.git, place.branch, { [path]: null, CNAME: 'ppsgate.example.org' });
    const options = { keep: { ...keep, results: 1 } };
    expect(await publish([publication({ startedAt: onDay(2) })], options)).toMatchObject(published);
    expect(startsOfResults()).toEqual([onDay(2)]);
    expectWhole();
    expect(textOf('CNAME')).toBe('ppsgate.example.org');
  });

  test('of nothing updates the badges', async () => {
    await publish([publication()]);
    const later = () => new Date('2026-12-24T12:00:00Z');
    expect(await publish([], { now: later })).toMatchObject({ kind: 'published', links: [] });
    expect(textOf('badges/shelf-3/forwarding-inet4.json')).toContain('"no data"');
  });
});

describe('no other publisher is overwritten', () => {
  test('when others are faster several times', async () => {
    const octokit = await overtaken(5);
    const done = await publish([publication({ startedAt: onDay(20) })], { octokit });
    expect(done).toMatchObject(published);
    expect(startsOfResults()).toEqual([...[1, 2, 3, 4, 5].map(onDay), onDay(20)]);
    expectWhole();
  });

  test('when others are always faster: then it gives up with the reason', async () => {
    const octokit = await overtaken(99);
    const pauses: number[] = [];
    const pause = async (seconds: number) => pauses.push(seconds);
    const done = await publish([publication({ startedAt: onDay(20) })], { octokit, pause });
    expect(done).toEqual({
      kind: 'not-published',
      why: 'Nothing was published in the branch ppsgate-data of example/router because it changed during all 10 attempts: publish the result again later.',
    });
    expect(pauses).toEqual([1, 2, 4, 8, 15, 15, 15, 15, 15, 15]);
    expect(startsOfResults()).toHaveLength(10);
  });

  test('when eight publish at once', async () => {
    const dates = [1, 2, 3, 4, 5, 6, 7, 8];
    const all = await Promise.all(dates.map((date) => publish([publication({ startedAt: onDay(date) })])));
    expect(all).toMatchObject(dates.map(() => published));
    expect(startsOfResults()).toEqual(dates.map(onDay));
    expectWhole();
  });

  const another = (date: number) => publish([publication({ startedAt: onDay(date) })]);

  /** A client that loses its next updates of the branch to another publisher. */
  const overtaken = async (times: number) => {
    const octokit = await hastyOctokit(github);
    let others = 0;
    octokit.hook.before('request', async ({ query }) => {
      if (!String(query).startsWith('mutation') || others === times) return;
      others += 1;
      await another(others);
    });
    return octokit;
  };
});

describe('a result is there once, though', () => {
  const operations = [
    'graphql/repository',
    'git/get-ref',
    'git/get-commit',
    'git/get-tree',
    'git/get-blob',
    'git/create-tree',
    'git/create-commit',
    'graphql/update-refs',
  ];

  test.each(operations)('the answer of %s is lost', async (operationId) => {
    await publish([publication({ startedAt: onDay(1) })]);
    github.faults.order(operationId, { kind: 'reset', carriedOut: true });
    expect(await publish([publication({ startedAt: onDay(2) })])).toMatchObject(published);
    expect(startsOfResults()).toEqual([onDay(1), onDay(2)]);
    expectWhole();
  });

  test('another job publishes after the reply was lost', async () => {
    const octokit = await hastyOctokit(github);
    github.faults.order('graphql/update-refs', { kind: 'cut' }, 4);
    const pause = () => publish([publication({ startedAt: onDay(21) })]);
    expect(await publish([publication()], { octokit, pause })).toMatchObject(published);
    expect(startsOfResults()).toEqual([onDay(20), onDay(21)]);
    expectWhole();
  });

  test('any request fails, and each reported success is true', async () => {
    const operationId = fc.constantFrom(...operations);
    const fault = fc.constantFrom<Fault>(
      { kind: 'read-only' },
      { kind: 'rate-limit', seconds: 5 },
      { kind: 'broken', status: 500 },
      { kind: 'broken', status: 502, carriedOut: true },
      { kind: 'reset' },
      { kind: 'reset', carriedOut: true },
      { kind: 'cut' },
    );
    const faults = fc.array(fc.record({ operationId, fault }), { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(faults, async (ordered) => {
        github.state.git.refs.delete(ref);
        for (const order of ordered) github.faults.order(order.operationId, order.fault);
        for (const date of [1, 2]) {
          const done = await publish([publication({ startedAt: onDay(date) })]);
          const found = startsOfResults();
          expect(new Set(found).size).toBe(found.length);
          if (done.kind === 'published') expect(found).toContain(onDay(date));
          if (found.length > 0) expectWhole();
        }
        github.faults.clear();
      }),
      { numRuns: times(8) },
    );
  });
});

describe('nothing is published, with the reason, when', () => {
  const what = 'Nothing was published in the branch ppsgate-data of example/router because';
  const whyNot = async () => {
    const done = await publish([publication()]);
    expect(files().size).toBe(0);
    return done.kind === 'not-published' ? done.why : undefined;
  };

  test.each<[string, string, Fault, number, RegExp]>([
    ['the token may only read', 'git/create-tree', { kind: 'read-only' }, 1, /`permissions: contents: write`/],
    ['the token may not move the branch', 'graphql/update-refs', { kind: 'read-only' }, 1, /exempt the token\.$/],
    [
      'a rate limit lasts long',
      'git/create-commit',
      { kind: 'rate-limit', seconds: 3000 },
      1,
      /this token until \d{4}/,
    ],
    ['GitHub keeps failing', 'git/create-commit', { kind: 'broken', status: 503 }, 99, /GitHub answered 503/],
  ])('%s', async (_, operation, fault, times, why) => {
    github.faults.order(operation, fault, times);
    expect(await whyNot()).toMatch(why);
  });

  test('rules protect the branch', async () => {
    const octokit = await hastyOctokit(github);
    const message = 'Cannot update this protected ref.';
    octokit.hook.wrap('request', (request, options) => {
      if (!String(options.query).startsWith('mutation')) return request(options);
      const data = { data: null, errors: [{ type: 'UNPROCESSABLE', message }] };
      return { status: 200, url: github.url, headers: {}, data };
    });
    expect(await publish([publication()], { octokit })).toEqual({
      kind: 'not-published',
      why: `${what} GitHub refused it (${message}): if rules protect the branch, exempt the token, or name another branch in \`github.data.branch\`.`,
    });
    expect(counted('git/create-commit')).toBe(1);
  });

  test('there is no such repository', async () => {
    const octokit = await hastyOctokit(github);
    const options = { keep, staleSeconds: day, now: () => now };
    const elsewhere = { ...place, repository: 'example/swich' };
    expect(await publishToBranch(octokit, elsewhere, [], options)).toMatchObject({
      why: "Nothing was published in the branch ppsgate-data of example/swich because the token cannot see the repository (Could not resolve to a Repository with the name 'example/swich'.): check its name, and the permissions of the token.",
    });
  });

  // The data branch has the name of another branch. Defence: Nothing is written without our index.
  test.each([
    ['belongs to another project', { 'main.c': 'int main;' }],
    ['is of a later version', { 'index.json': '{"schemaVersion":2}' }],
  ])('the branch %s, which stays as it is', async (_, content: Record<string, string>) => {
    const before = commitFiles(github.state.git, place.branch, content);
    const done = await publish([publication()]);
    expect(done).toEqual({
      kind: 'not-published',
      why: `${what} its index.json is not of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`,
    });
    expect(github.state.git.refs.get(ref)).toBe(before);
  });
});

describe('the history', () => {
  const read = async () => readHistory(await hastyOctokit(github), place);

  test('is read as far as it can be', async () => {
    const line = JSON.stringify(aHistoryEntry());
    commitFiles(github.state.git, place.branch, { 'history.jsonl': `oops\n${line}\n` });
    expect(await read()).toEqual([aHistoryEntry()]);
  });

  test('that is unreadable is an error with the remedy', async () => {
    github.faults.order('git/get-blob', { kind: 'read-only' });
    commitFiles(github.state.git, place.branch, { 'history.jsonl': '\n' });
    await expect(read()).rejects.toThrow(
      'The history in the branch ppsgate-data of example/router cannot be read (403 Resource not accessible by integration): run the job again, and check that it has `permissions: contents: read`.',
    );
  });
});

describe('the trend', () => {
  const commit = 'a'.repeat(40);
  const nightlyRun = (startedAt: string, name = 'shelf-3'): Publication => {
    const cells = [{ ...aCell({ kind: 'no-regression' }), runs: pairedRuns([8e5], [8e5]) }];
    return publication({
      startedAt,
      patch: { ...pullRequest, baseCommit: commit, headCommit: commit },
      testbed: { name, fingerprint: {}, warnings: [] },
      outcome: { kind: 'judged', verdict: 'no-regression', cells },
    });
  };
  const read = async (testbed = 'shelf-3') => readBranchTrend(await hastyOctokit(github), place, testbed);
  const edited = async (edit: Parameters<typeof publishTrend>[2], octokit?: Octokit): ReturnType<typeof publishTrend> =>
    publishTrend(octokit ?? (await hastyOctokit(github)), place, edit, {
      pause: async () => {},
      random: () => 0.5,
    });
  const compareUrl = 'https://example.org/{from}..{to}';
  const compared: Parameters<typeof publishTrend>[2] = (index) => ({ ...index, compareUrl });

  test('is there for the next nightly run, of its testbed and the newest two years', async () => {
    const years = ['2023', '2025', '2026'].map((year) => `${year}-01-01T12:00:00.000Z`);
    await publish([...years.map((at) => nightlyRun(at)), nightlyRun(onDay(2), 'shelf-4')]);
    const { index, nightlyRuns } = await read();
    expect([...nightlyRuns.keys()]).toEqual(['shelf-3 forwarding inet4']);
    expect(nightlyRuns.get('shelf-3 forwarding inet4')?.map(({ at }) => at)).toEqual(years.slice(1));
    expect(index.aaRuns).toMatchObject([{ gates: 3 }, { gates: 1 }]);
  });

  test('of a later version is left unchanged, with the reason', async () => {
    await publish([nightlyRun(onDay(1))]);
    const before = commitFiles(github.state.git, place.branch, {
      'trend/index.json': '{"schemaVersion":2}',
    });
    expect(await publish([nightlyRun(onDay(2))])).toMatchObject({
      why: expect.stringContaining('its trend/index.json is not of this version of ppsgate'),
    });
    await expect(read()).rejects.toThrow(
      'The trend in the branch ppsgate-data of example/router cannot be read because its trend/index.json is not of this version of ppsgate',
    );
    expect(github.state.git.refs.get(ref)).toBe(before);
  });

  test('is changed by an edit, which sees what others published meanwhile', async () => {
    await publish([nightlyRun(onDay(1))]);
    const octokit = await hastyOctokit(github);
    let isOvertaken = false;
    octokit.hook.before('request', async ({ query }) => {
      if (isOvertaken || !String(query).startsWith('mutation')) return;
      isOvertaken = true;
      await publish([nightlyRun(onDay(2))]);
    });
    expect(await edited(compared, octokit)).toMatchObject({
      compareUrl,
      aaRuns: [{ gates: 2 }],
    });
    expect((await read()).index.compareUrl).toBe(compareUrl);
    expect(startsOfResults()).toEqual([onDay(1), onDay(2)]);
    expectWhole();
  });

  test('is not lost where there are more files than GitHub lists', async () => {
    await publish([nightlyRun('2025-12-01T12:00:00.000Z'), nightlyRun(onDay(1))]);
    const octokit = await hastyOctokit(github);
    octokit.hook.after('request', ({ data }, { url, recursive }) => {
      if (!url.includes('/git/trees/') || recursive === undefined) return;
      const isOfTrend = data.tree.every(({ path }: { path: string }) => !path.startsWith('results'));
      if (isOfTrend) return;
      data.tree = data.tree.filter(({ path }: { path: string }) => path < 'results');
      data.truncated = true;
    });
    expect(await publish([nightlyRun(onDay(2))], { octokit })).toMatchObject(published);
    const { nightlyRuns, index } = await read();
    expect(nightlyRuns.get('shelf-3 forwarding inet4')).toHaveLength(3);
    expect(index.aaRuns).toMatchObject([{ gates: 3 }]);
  });
});

describe('a clone stays small', () => {
  // A flood of results. Defence: Count, age and bytes have bounds, in one commit without history.
  test('after 2,000 results of which 200 are kept, and 10,000 as each adds so little', async () => {
    const octokit = await hastyOctokit(github);
    const options = { octokit, keep: { ...keep, results: 200 } };
    const publishUpTo = async (last: number, after = 0) => {
      for (let first = after + 1; first <= last; first += 200) {
        const batch = Array.from({ length: 200 }, (_, index) => numbered(first + index));
        expect(await publish(batch, options)).toMatchObject(published);
      }
      expect(startsOfResults()).toHaveLength(200);
      return kibibytesOfClone();
    };
    const early = await publishUpTo(400);
    const late = await publishUpTo(2_000, 400);
    // Only the nightly runs of the trend stay, a line for each result: publishing all 10,000 needs a minute.
    const of10000 = early + ((late - early) / (2_000 - 400)) * (10_000 - 400);
    expect(of10000).toBeLessThan(512);
  });

  test('of the longest experiments, by the bytes of their results', async () => {
    const long = { pairs: 20, samples: 60, families };
    const batch = Array.from({ length: 30 }, (_, index) => numbered(index + 1, long));
    await publish(batch, { keep: { ...keep, bytes: 10 * 2 ** 20 } });
    expect(startsOfResults().length).toBeGreaterThan(20);
    expect(startsOfResults().length).toBeLessThan(30);
    expect(kibibytesOfClone()).toBeLessThan(2 * 1024);
  });

  type Length = { pairs: number; samples: number; families: readonly Family[] };

  const short: Length = { pairs: 6, samples: 0, families: ['inet4'] };

  /** A result with numbers that zlib cannot guess. */
  function numbered(number: number, { pairs, samples, families }: Length = short) {
    const random = xoroshiro128plus(number);
    const noise = (value: number) => Math.round(value * (1 + uniformInt(random, -99, 99) / 10_000));
    const startedAt = new Date(Date.parse(onDay(20)) + number * 1000).toISOString();
    const rates = () => Array.from({ length: pairs }, () => noise(4_980_000));
    const cells = families.map((family) => ({
      ...aCell({ kind: 'no-regression' }, undefined, { scenario: 'forwarding', family }),
      runs: pairedRuns(rates(), rates()).map((run) => ({
        ...run,
        samples: Array.from({ length: samples }, () => ({
          seconds: noise(1_000_000) / 1e6,
          receivedPackets: noise(14_000_000),
          forwardedPackets: noise(4_980_000),
        })),
      })),
    }));
    const patch = { ...pullRequest, number };
    const outcome: Result['outcome'] = { kind: 'judged', verdict: 'no-regression', cells };
    return publication({ startedAt, patch, outcome });
  }

  function kibibytesOfClone(): number {
    const [bare, clone] = [temporaryFolder(), temporaryFolder()];
    writeRepository(github.state.git, bare);
    git(clone, 'clone', '--quiet', '--no-local', '--branch', place.branch, bare, '.');
    return Number(/size-pack: (\d+)/.exec(git(clone, 'count-objects', '-v'))?.[1]);
  }
});
