// Publication to the data branch of GitHub, against failures of GitHub and other publishers.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Octokit } from '../../../src/forge/github/client.ts';
import type { Result } from '../../../src/model/result.ts';
import {
  publishToBranch,
  publishTrend,
  readBranchTrend,
  readHistory,
} from '../../../src/publish/data-branch/branch.ts';
import type { Publication } from '../../../src/publish/data-branch/layout.ts';
import type { Fault } from '../../fakes/github/faults.ts';
import { commitAt, commitFiles, type Git } from '../../fakes/github/git-objects.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { type FakeGitHub, startFakeGitHub } from '../../fakes/github/server.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
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
  test('is one commit without parents, also on top of another, and returns the places of its files', async () => {
    await publish([publication({ startedAt: onDay(1) })]);
    const done = await publish([publication()]);
    const folder = 'results/2026/20261120T120000-shelf-3-7-';
    const [raw, blob] = ['raw', 'blob'].map((kind) => `https://github.com/example/router/${kind}/ppsgate-data`);
    const tip = github.state.git.refs.get(ref) ?? '';
    expect(done).toMatchObject({
      ...published,
      commit: tip,
      links: [
        {
          result: expect.stringContaining(`${raw}/${folder}`),
          report: expect.stringContaining(`${blob}/${folder}`),
          badges: [`${raw}/badges/shelf-3/forwarding-inet4.svg`],
        },
      ],
    });
    expect(commitAt(github.state.git, tip)?.parents).toEqual([]);
    expect(textOf('badges/shelf-3/forwarding-inet4.json')).toContain('regression · 721.5 kpps');
  });

  test('of a long experiment is complete', async () => {
    const runs = Array.from({ length: 800 }, (_, index) => aRun({ number: index + 1 }));
    const cells = [{ ...aCell({ kind: 'regression' }), runs }];
    const result: Partial<Result> = { outcome: { kind: 'judged', verdict: 'regression', cells } };
    await publish([publication(result)]);
    const path = [...files().keys()].find((file) => file.endsWith('/result.json')) ?? '';
    expect(JSON.parse(textOf(path))).toEqual(aResult(result));
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
    expect(done.kind).toBe('not-published');
    expect(pauses).toEqual([1, 2, 4, 8, 15, 15, 15, 15, 15, 15]);
    expect(startsOfResults()).toHaveLength(10);
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
  test.each<[string, string, Fault, number, RegExp]>([
    ['the token may only read', 'git/create-tree', { kind: 'read-only' }, 1, /`permissions: contents: write`/],
    ['the token may not move the branch', 'graphql/update-refs', { kind: 'read-only' }, 1, /exempt the token/],
    ['a limit lasts long', 'git/create-commit', { kind: 'rate-limit', seconds: 3000 }, 1, /this token until \d{4}/],
    ['GitHub keeps failing', 'git/create-commit', { kind: 'broken', status: 503 }, 99, /GitHub answered 503/],
  ])('%s', async (_, operation, fault, times, why) => {
    github.faults.order(operation, fault, times);
    const done = await publish([publication()]);
    expect(done.kind === 'not-published' && done.why).toMatch(why);
    expect(files().size).toBe(0);
  });

  test('rules protect the branch', async () => {
    const octokit = await hastyOctokit(github);
    octokit.hook.wrap('request', (request, options) => {
      if (!String(options.query).startsWith('mutation')) return request(options);
      const errors = [{ type: 'UNPROCESSABLE', message: 'Cannot update this protected ref.' }];
      return { status: 200, url: github.url, headers: {}, data: { data: null, errors } };
    });
    const done = await publish([publication()], { octokit });
    expect(done.kind === 'not-published' && done.why).toMatch(/protected ref.*`github\.data\.branch`/);
    expect(counted('git/create-commit')).toBe(1);
  });

  test('there is no such repository', async () => {
    const options = { keep, staleSeconds: day, now: () => now };
    const elsewhere = { ...place, repository: 'example/swich' };
    const done = await publishToBranch(await hastyOctokit(github), elsewhere, [], options);
    expect(done.kind).toBe('not-published');
  });

  test.each([
    ['belongs to another project', { 'main.c': 'int main;' }],
    ['is of a later version', { 'index.json': '{"schemaVersion":2}' }],
  ])('the branch %s, which stays as it is', async (_, content: Record<string, string>) => {
    const before = commitFiles(github.state.git, place.branch, content);
    expect((await publish([publication()])).kind).toBe('not-published');
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
    await expect(read()).rejects.toThrow('`permissions: contents: read`');
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
    await expect(read()).rejects.toThrow('trend/index.json is not of this version');
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
