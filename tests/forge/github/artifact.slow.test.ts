import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  agreesWith,
  artifactLimits,
  fetchArtifact,
  parseResult,
  profilesIn,
  readEntries,
  withPatch,
} from '../../../src/forge/github/artifact.ts';
import type { PullRequest, Revision } from '../../../src/model/patch.ts';
import { type Result, resultSchema } from '../../../src/model/result.ts';
import { headline } from '../../../src/report/headline.ts';
import { maxCharacters } from '../../../src/report/markdown.ts';
import { renderMarkdown } from '../../../src/report/reports.ts';
import { hastyOctokit } from '../../fakes/github/hasty-octokit.ts';
import { installationToken } from '../../fakes/github/server.ts';
import { aCell, aResult, aRun, pairedRuns, pullRequest, revision, unfit } from '../../fakes/result.ts';
import { type ZipEntry, type ZipOptions, zipOf } from '../../fakes/zip.ts';
import { times } from '../../random.ts';

const result = aResult();
const json = JSON.stringify(result);
const good: ZipEntry = { name: 'result.json', content: json };
const read = { kind: 'read', result };
const zeros = (bytes: number): ZipEntry => ({ name: 'zeros', content: Buffer.alloc(bytes) });

/** Reads it like the publishing job. */
async function resultFromArtifact(zip: Buffer) {
  const entries = await readEntries(zip, ['result.json']);
  if (entries.kind === 'refused') return entries;
  const text = entries.texts.get('result.json');
  return text === undefined
    ? ({ kind: 'refused', why: 'The artifact holds no result.json: judge it again.' } as const)
    : parseResult(text);
}

const resultOf = (entries: ZipEntry[], options?: ZipOptions) => resultFromArtifact(zipOf(entries, options));

/** Returns the reason of a refusal; undefined if it is read. */
async function refusalOf(...entries: ZipEntry[]): Promise<string | undefined> {
  const answer = await resultOf(entries);
  return answer.kind === 'refused' ? answer.why : undefined;
}

describe('a result is read', () => {
  test.for<[string, ZipEntry[], ZipOptions?]>([
    ['at the top', [good]],
    ['in a folder', [{ ...good, name: 'work/result.json' }]],
    ['stored', [{ ...good, method: 0 }]],
    ['with its sizes after its bytes, as actions/upload-artifact writes it', [{ ...good, dataDescriptor: true }]],
    ['from zip64', [{ ...good, zip64: true }], { zip64: true }],
    ['without a mode', [{ ...good, mode: 0 }]],
    ['beside links', [{ name: 'a', content: '/etc/passwd', mode: 0o120777 }, good]],
    [
      'beside paths that lead elsewhere',
      [
        { ...good, name: '../result.json' },
        { ...good, name: '/result.json' },
        { ...good, name: './result.json' },
        good,
      ],
    ],
    [
      'beside others that lie deeper',
      [{ ...good, name: 'runs/1/result.json' }, { ...good, name: 'a/result.json/b' }, good],
    ],
    [
      'beside names that only look like it',
      [{ ...good, name: 'Result.json' }, { ...good, name: 'result.json/' }, { ...good, name: 'a\\result.json' }, good],
    ],
    ['beside other files twice', [zeros(1), zeros(1), good]],
    ['beside encrypted ones', [{ ...zeros(10), encrypted: true }, good]],
    [
      'beside ones that cannot be unpacked',
      [{ ...zeros(10), method: 8, says: { uncompressedBytes: 1, crc32: 1 } }, { ...zeros(5), method: 99 }, good],
    ],
  ])('%s', async ([, entries, options]) => {
    expect(await resultOf(entries, options)).toEqual(read);
  });

  test('beside more than is ever inflated', async () => {
    const bomb = { ...zeros(artifactLimits.fileBytes + 1), method: 8 };
    expect(await resultOf([bomb, good])).toEqual(read);
  });

  // Attack forge/result-shape: A `result.json` has unknown keys or millions of values. Defence: Values are counted
  // first, then a schema parses them.
  test('without unknown keys of any kind', async () => {
    const more = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},`;
    const content = json.replace('{', more).replace('"kernel"', '"__proto__":"x","kernel"');
    expect(await resultOf([{ ...good, content }])).toEqual(read);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('an artifact is refused', () => {
  // Attack forge/zip-tricks: A zip has links, devices, `..` in paths or two results, or is damaged. Defence: Nothing is
  // unpacked to disk; one regular file with the right name is read.
  test.for<[string, string, ZipEntry[]]>([
    ['has no result', 'holds no result.json', [zeros(10)]],
    ['is empty', 'holds no result.json', []],
    ['has two results', 'several files result.json', [good, good]],
    ['has two results in two folders', 'several files result.json', [good, { ...good, name: 'a/result.json' }]],
    ['has a link for a result', 'not a regular file', [{ ...good, mode: 0o120777 }]],
    ['has a device for a result', 'not a regular file', [{ ...good, mode: 0o020666 }]],
    ['has an encrypted result', 'encrypted', [{ ...good, encrypted: true }]],
    ['has a result that is packed otherwise', 'encrypted, or not compressed', [{ ...good, method: 99 }]],
    ['has a result that says to be smaller', 'damaged', [{ ...good, says: { uncompressedBytes: 5 } }]],
    ['has a result that says to be larger', 'damaged', [{ ...good, says: { uncompressedBytes: 5e8 } }]],
    ['has a result of another checksum', 'damaged', [{ ...good, says: { crc32: 1 } }]],
    ['has a result whose bytes end early', 'damaged', [{ ...good, says: { compressedBytes: 50 } }]],
    ['has a result that leaves the zip', 'not a readable zip', [{ ...good, says: { compressedBytes: 1e6 } }]],
    ['has a result that is no text', 'not UTF-8', [{ ...good, content: Buffer.from([0x7b, 0xff]) }]],
    ['has a result that is no JSON', 'not a result of this version', [{ ...good, content: '{' }]],
    ['has an empty result', 'not a result of this version', [{ ...good, content: '' }]],
    ['has a result of another version', 'not a result of this version', [{ ...good, content: '{"schemaVersion":2}' }]],
    ['has nothing but depth', 'not a result of this version', [{ ...good, content: '['.repeat(1e6) }]],
  ])('that %s', async ([, why, entries]) => {
    expect(await refusalOf(...entries)).toMatch(new RegExp(`^The .*${why}.*: [^.]+\\.$`));
  });

  // Attack forge/large-artifact
  test.each([0, 8])('whose result exceeds the bound, against its headers (method %d)', async (method) => {
    const fileBytes = 1000;
    const sized = (bytes: number, says = {}) =>
      readEntries(zipOf([{ name: 'a', content: Buffer.alloc(bytes), method, says }]), ['a'], {
        ...artifactLimits,
        fileBytes,
      });
    expect(await sized(fileBytes)).toMatchObject({ kind: 'read' });
    const refused = { kind: 'refused', why: expect.stringContaining('more than 1000 bytes') };
    expect(await sized(fileBytes + 1)).toEqual(refused);
    if (method === 8) expect(await sized(1e6, { uncompressedBytes: 10 })).toEqual(refused);
  });

  // Attack forge/large-artifact
  test('whose result would inflate to a thousand times its size', async () => {
    expect(await refusalOf({ ...zeros(64 * 1024 ** 2), name: 'result.json' })).toMatch('more than 16777216 bytes');
  });

  // Attack forge/result-shape
  test('whose result has more values than any, before they are checked', async () => {
    const content = json.replace('{', `{"more":[${'0,'.repeat(500_000)}0],`);
    expect(await refusalOf({ ...good, content })).toMatch('not a result of this version');
  });

  test.each([20_001, 2 ** 40])('that claims to have %d entries, before they are read', async (entryCount) => {
    const zip = zipOf([good], { entryCount, zip64: true });
    expect(await resultFromArtifact(zip)).toEqual({
      kind: 'refused',
      why: `The artifact has ${entryCount} files, but at most 20000 are read: upload only the work directory.`,
    });
  });

  test('that claims to have one entry more than it has', async () => {
    const zip = zipOf([good], { entryCount: 2 });
    expect(await resultFromArtifact(zip)).toMatchObject({ kind: 'refused' });
  });

  // Attack forge/zip-tricks
  test.for<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['a web page', Buffer.from('<!doctype html><title>Sign in</title>')],
    ['the half of a zip', zipOf([good]).subarray(0, 500)],
    ['a zip without its last byte', zipOf([good]).subarray(0, -1)],
    ['a zip with something behind it', Buffer.concat([zipOf([good]), Buffer.from('PS')])],
    ['a zip with something before it', Buffer.concat([Buffer.from('PS'), zipOf([good])])],
  ])('that is %s', async ([, bytes]) => {
    const why = expect.stringMatching(/^The artifact is not a readable zip \([^.:]+\): run its job again\.$/);
    expect(await resultFromArtifact(bytes)).toEqual({ kind: 'refused', why });
  });

  // Attack forge/zip-tricks
  test('or read, but nothing else, whichever of its bytes are wrong', async () => {
    const zip = zipOf([zeros(20), { ...good, zip64: true }], { zip64: true });
    const where = fc.oneof(
      fc.integer({ min: 0, max: zip.length - 1 }),
      fc.integer({ min: zip.length - 300, max: zip.length - 1 }),
    );
    const changes = fc.array(fc.tuple(where, fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, async (wrong) => {
        const bytes = Buffer.from(zip);
        for (const [index, value] of wrong) bytes[index] = value;
        const answer = await resultFromArtifact(bytes);
        if (answer.kind === 'read') expect(answer.result).toEqual(result);
        else expect(answer.why).toMatch(/^The .*\.$/);
      }),
      { numRuns: times(200) },
    );
  });
});

test('several files are read at once, and those that are not there left out', async () => {
  const zip = zipOf([good, { name: 'journal.jsonl', content: '{}\n' }, zeros(1)]);
  const texts = new Map([
    ['result.json', json],
    ['journal.jsonl', '{}\n'],
  ]);
  const names = ['journal.jsonl', 'experiment.json', 'result.json'];
  expect(await readEntries(zip, names)).toEqual({ kind: 'read', texts });
});

const patch = pullRequest as PullRequest;

describe('a result and a pull request', () => {
  test.for<[string, Partial<PullRequest>]>([
    ['that are the same', {}],
    ['whose title was edited', { title: 'Drop it late', author: 'bob' }],
    ["whose repository's name is written otherwise", { repository: 'Example/Router' }],
  ])('%s agree', ([, changes]) => {
    expect(agreesWith(result, { ...patch, ...changes })).toBeUndefined();
  });

  // Attack forge/other-patch: An artifact names another pull request or other commits. Defence: The patch is read from
  // GitHub, and a result of another patch is refused.
  test.for<[string, Partial<PullRequest>, string]>([
    ['number', { number: 8 }, 'The result is of #7, not of #8 of example/router: judge the patch again.'],
    [
      'repository',
      { repository: 'example/switch' },
      'The result is of another repository, not of #7 of example/switch: judge the patch again.',
    ],
    [
      'head',
      { headCommit: 'c'.repeat(40) },
      `The result of #7 of example/router has ${'b'.repeat(40)} as its head instead of ${'c'.repeat(40)}: judge it again.`,
    ],
    [
      'base',
      { baseCommit: 'c'.repeat(40) },
      `The result of #7 of example/router has ${'a'.repeat(40)} as its base instead of ${'c'.repeat(40)}: judge it again.`,
    ],
  ])('of another %s do not', ([, changes, why]) => {
    expect(agreesWith(result, { ...patch, ...changes })).toBe(why);
  });

  // Attack forge/other-patch
  test('do not agree where the result is of a range of commits', () => {
    const { title, author, baseCommit, headCommit } = patch;
    const range = { kind: 'range', title, author, baseCommit, headCommit } as const;
    expect(agreesWith(aResult({ patch: range }), patch)).toMatch(/^The result is of a range/);
  });

  // Attack forge/other-patch
  test("are shown under GitHub's title", () => {
    expect(withPatch(result, { ...patch, title: 'Drop it late' })).toEqual({
      ...result,
      patch: { ...patch, title: 'Drop it late' },
    });
  });
});

describe('a result and a revision', () => {
  const judged = aResult({ patch: revision });

  test.for<[string, Partial<Revision>]>([
    ['that are the same', {}],
    ['whose title was edited', { title: 'Look up more', author: 'bob' }],
  ])('%s agree', ([, changes]) => {
    expect(agreesWith(judged, { ...revision, ...changes })).toBeUndefined();
  });

  // Attack forge/other-patch
  test.for<[string, Partial<Revision>, string]>([
    ['number', { number: 27402 }, 'The result is of D27401:80700, not of D27402:80700: judge the patch again.'],
    ['diff', { diff: 80701 }, expect.stringMatching(/^The result is of D27401:80700, not of D27401/)],
    [
      'head',
      { headCommit: 'c'.repeat(40) },
      expect.stringMatching(/^The result of D27401:80700 has b{40} as its head instead of c{40}: /),
    ],
    [
      'base',
      { baseCommit: 'c'.repeat(40) },
      expect.stringMatching(/^The result of D27401:80700 has a{40} as its base instead of c{40}: /),
    ],
  ])('of another %s do not', ([, changes, why]) => {
    expect(agreesWith(judged, { ...revision, ...changes })).toEqual(why);
  });

  test('do not agree where one of them is of a pull request', () => {
    expect(agreesWith(aResult(), revision)).toBe(
      'The result is of a pull request, not of D27401:80700: judge the patch again.',
    );
    expect(agreesWith(judged, patch)).toBe(
      'The result is of a revision, not of #7 of example/router: judge the patch again.',
    );
  });

  test('are shown as the revision has it, with the approved earlier diffs', () => {
    const forged = aResult({ patch: { ...revision, url: 'https://example.net', earlier: [] } });
    expect(withPatch(forged, revision).patch).toEqual(revision);
  });
});

/** Has every text that a report can show. */
const cells = [
  {
    ...aCell({ kind: 'regression' }, undefined, { scenario: 'own-rules', family: 'inet4' }),
    runs: [...pairedRuns([8e5, 8e5, 8e5, 8e5, 2e5], [7e5, 7e5, 7e5, 7e5, 1e5])],
    baseline: { kind: 'moved', interval: { change: -0.1, low: -0.2, high: -0.05 } } as const,
  },
  {
    ...aCell({ kind: 'invalid', reason: 'too few runs' }),
    comparisons: [],
    runs: [aRun({ validity: unfit('a hole') }), aRun({ validity: unfit('another') })],
  },
];
const rich = aResult({
  testbed: {
    name: 'shelf-3',
    fingerprint: { kernel: 'a', cpu: 'b', sysctl: 'c' },
    warnings: ['d'],
  },
  variants: [{ name: 'base', commit: 'e', files: [{ path: 'f', sha256: 'g' }] }],
  trials: result.trials.map((trial) => ({ ...trial, kernel: 'FreeBSD 16' })),
  outcome: { kind: 'judged', verdict: 'regression', cells },
});
const message = 'error';
const rejections: Result['outcome'][] = [
  { kind: 'does-not-apply', message },
  { kind: 'build-failed', message },
  { kind: 'out-of-disk', message },
  { kind: 'does-not-load', scenario: 'own-rules', message },
  { kind: 'boot-failed', message, panic: 'page fault' },
  { kind: 'panics-under-load', message, panic: 'page fault' },
];
const shown = [
  rich,
  { ...rich, outcome: { kind: 'unchanged' as const } },
  ...rejections.map((outcome) => ({ ...rich, outcome })),
];

const mark = 'hostile@everyone</details><img src=x onerror=1>[x](javascript:y)#1**b**';
const hostile = [
  mark,
  `\`${mark}`,
  `\`\`\`\n${mark}\n\`\`\`\n${mark}`,
  `\` ${mark} \`\` ${mark} \`\`\` ${mark}`,
  `~~~\n${mark}\n\n# ${mark}`,
  `a | b |\n|---|---|\n| ${mark} | \\| ${mark} |`,
  `\\${mark}\\`,
  `\r\n\u2028\u0085\n::set-output name=x::${mark}\n::error::${mark}`,
  `\u001b[31m${mark}\u001b]8;;http://x\u0007\u202e\u200b\0`,
  `<!-- ${mark} <details><summary>${mark}`,
  ` ${mark} `.repeat(15_000),
  '`'.repeat(100_000),
  `${'`|'.repeat(50_000)}${mark}`,
];

type Path = (string | number)[];

/** Paths of all texts, including keys: a key's own path ends in `''`. */
function textsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const isRecord = path.at(-1) === 'fingerprint';
  return Object.entries(value).flatMap(([key, inner]) => [
    ...textsIn(inner, [...path, key]),
    ...(isRecord ? [[...path, key, '']] : []),
  ]);
}

/** Returns the result with another text at these places; undefined if its schema does not allow that. */
function replaced(whole: Result, paths: readonly Path[], text: string): Result | undefined {
  const copy: Record<string, unknown> = structuredClone(whole);
  for (const path of paths) put(copy, path, text);
  return resultSchema.safeParse(copy).data;
}

function put(whole: Record<string, unknown>, path: Path, text: string): void {
  const isKey = path.at(-1) === '';
  const steps = isKey ? path.slice(0, -1) : path;
  const last = steps.at(-1) ?? '';
  const holder = steps.slice(0, -1).reduce((inner, step) => inner[step] as Record<string, unknown>, whole);
  holder[isKey ? text : last] = isKey ? holder[last] : text;
  if (isKey) delete holder[last];
}

/**
 * Markdown without its code: blocks, and then spans, between runs of as many backticks. A table is cut into its
 * columns before its spans.
 */
const withoutCode = (markdown: string): string =>
  markdown
    .replace(/^(`{3,})\n.*?\n\1$/gms, 'CODE')
    .replace(/^\|.*$/gm, (row) => row.replace(/(?<!\\)\|/g, '\n').replaceAll('\\|', ' '))
    .replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, 'CODE');

const marks = /hostile|everyone|@|img|javascript|onerror|::|~~~|\\|`|[^\P{C}\n]|\u2028/u;

function expectHarmless(markdown: string): void {
  const left = withoutCode(markdown);
  expect(left).not.toMatch(marks);
  expect(left.match(/<\/?details>/g) ?? []).toHaveLength(2 * (left.match(/<details>/g) ?? []).length);
  expect(markdown.length).toBeLessThanOrEqual(maxCharacters);
}

describe('no text of a result gets out of code', () => {
  // Attack read/markup: Titles, names, logs or kernels contain backticks, HTML, `@everyone` or links. Defence: Foreign
  // text is shown as code, in fences that it cannot close.
  test('the text outside of code is our own', () => {
    expect(withoutCode('a `b` c ``d ` e`` f\n```\ng\n```\nh ` i')).toBe('a CODE c CODE f\nCODE\nh ` i');
    for (const each of shown) expectHarmless(renderMarkdown(each));
    for (const text of hostile.slice(0, 3)) expect(text).toMatch(marks);
  });

  const free = (whole: Result) => textsIn(whole).filter((path) => replaced(whole, [path], mark) !== undefined);
  const places = shown.flatMap((whole) =>
    free(whole)
      .filter((path) => whole === rich || path[0] === 'outcome')
      .map((path) => ({ where: `${whole.outcome.kind}: ${path.join('.')}`, whole, path })),
  );

  // Attack read/markup
  test('every text that its schema leaves free is tried', () => {
    const fields = new Set(places.map(({ path }) => path.filter((step) => !/^\d+$/.test(`${step}`)).join('.')));
    expect([...fields].toSorted()).toMatchInlineSnapshot(`
      [
        "generator.version",
        "outcome.cells.runs.validity.reason",
        "outcome.cells.runs.variant",
        "outcome.cells.verdict.reason",
        "outcome.message",
        "outcome.panic",
        "patch.author",
        "patch.repository",
        "patch.title",
        "testbed.fingerprint.cpu",
        "testbed.fingerprint.cpu.",
        "testbed.fingerprint.kernel",
        "testbed.fingerprint.kernel.",
        "testbed.fingerprint.sysctl",
        "testbed.fingerprint.sysctl.",
        "testbed.name",
        "testbed.warnings",
        "trials.kernel",
        "trials.logs",
        "variants.commit",
        "variants.files.path",
        "variants.files.sha256",
        "variants.name",
      ]
    `);
  });

  test.each(places)('$where', ({ whole, path }) => {
    for (const text of hostile) {
      const changed = replaced(whole, [path], text);
      if (changed === undefined) continue;
      expectHarmless(renderMarkdown(changed));
      expect(headline(changed)).not.toMatch(marks);
    }
  });

  test.each(shown)('all of them at once: $outcome.kind', (whole) => {
    const paths = free(whole);
    for (const text of hostile) {
      // Names have a bound, which texts for people have not.
      const isLegal = (path: Path) => replaced(whole, [path], text) !== undefined;
      const short = replaced(
        whole,
        paths.filter((path) => !isLegal(path)),
        text.slice(0, 250),
      );
      const changed = short && replaced(short, paths.filter(isLegal), text);
      expect(changed).toBeDefined();
      if (changed === undefined) continue;
      expectHarmless(renderMarkdown(changed));
      expect(headline(changed)).not.toMatch(marks);
    }
  });
});

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A server with a separate origin, which records its requests. */
async function serve(answer: RequestListener): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

type Artifact = { id: number; name: string; size_in_bytes: number; expired: boolean };

const anArtifact = (changes: Partial<Artifact> = {}): Artifact => ({
  id: 11,
  name: 'ppsgate',
  size_in_bytes: 1000,
  expired: false,
  ...changes,
});

/** GitHub as far as artifacts go: a list of them, and one answer to a download. */
function gitHub(artifacts: Artifact[], download: (id: string) => { status: number; location?: string }) {
  return serve((request, response) => {
    const [, id] = /\/repos\/example\/router\/actions\/artifacts\/(\d+)\/zip$/.exec(request.url ?? '') ?? [];
    if (id !== undefined) {
      const { status, location } = download(id);
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(location && { location }),
      });
      response.end(status === 302 ? '' : '{"message":"said"}');
      return;
    }
    const isList = request.url?.startsWith('/repos/example/router/actions/runs/5/artifacts?');
    response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' });
    const body = isList ? { total_count: artifacts.length, artifacts } : { message: 'Not Found' };
    response.end(JSON.stringify(body));
  });
}

const wanted = { repository: 'example/router', runId: 5, name: 'ppsgate' };

async function fetchFrom(github: { url: string }, limits = artifactLimits) {
  return fetchArtifact(await hastyOctokit(github), wanted, limits);
}

const why = (text: string) =>
  expect.stringMatching(new RegExp(`^The artifact ppsgate of run 5 of example/router .*${text}.*\\.$`));

describe('an artifact is fetched', () => {
  // Attack secret/artifact-address: The address of an artifact receives the token. Defence: The target of GitHub's
  // redirect is requested without the token, over https, with no further redirect.
  test('from where GitHub points to, which does not get the token', async () => {
    const store = await serve((_request, response) => response.end('zip'));
    const github = await gitHub([anArtifact()], () => ({
      status: 302,
      location: `${store.url}/a?sig=x`,
    }));
    expect(await fetchFrom(github)).toEqual({ kind: 'fetched', bytes: Buffer.from('zip') });
    expect(github.asked.map(({ headers }) => headers.authorization)).toEqual(
      Array(2).fill(`token ${installationToken}`),
    );
    expect(store.asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/a?sig=x', undefined]]);
    expect(JSON.stringify(store.asked.map(({ rawHeaders }) => rawHeaders))).not.toContain(installationToken);
  });

  test('without the token also where that is the same host', async () => {
    const github = await gitHub([anArtifact()], (id) => ({
      status: id === '11' ? 302 : 200,
      location: `${github.url}/blob`,
    }));
    await fetchFrom(github);
    expect(github.asked.map(({ url, headers }) => [url, headers.authorization]).at(-1)).toEqual(['/blob', undefined]);
  });

  test('the newest of its name', async () => {
    const store = await serve((request, response) => response.end(request.url));
    const others = [anArtifact(), anArtifact({ id: 13 }), anArtifact({ id: 12 }), anArtifact({ id: 14, name: 'x' })];
    const github = await gitHub(others, (id) => ({ status: 302, location: `${store.url}/${id}` }));
    expect(await fetchFrom(github)).toEqual({ kind: 'fetched', bytes: Buffer.from('/13') });
  });

  // Attack forge/large-artifact: An artifact has, or inflates to, a file of 1 GB. Defence: The download, the entries
  // and each file have bounds, regardless of their headers.
  test('up to the bound, and cut off beyond it while it still comes', async () => {
    const store = await serve((_request, response) => response.write(Buffer.alloc(1001)));
    const github = await gitHub([anArtifact()], () => ({ status: 302, location: store.url }));
    const answer = await fetchFrom(github, { ...artifactLimits, zipBytes: 1000 });
    expect(answer).toEqual({ kind: 'refused', why: why('more than 1000 bytes') });
    const full = await serve((_request, response) => response.end(Buffer.alloc(1000)));
    const other = await gitHub([anArtifact()], () => ({ status: 302, location: full.url }));
    expect(await fetchFrom(other, { ...artifactLimits, zipBytes: 1000 })).toMatchObject({
      kind: 'fetched',
    });
  });
});

describe('an artifact is not fetched', () => {
  const never = () => ({ status: 500 });

  test.for<[string, Artifact[], string, string]>([
    ['that does not exist', [anArtifact({ name: 'other' })], 'none', 'does not exist'],
    ['that has expired', [anArtifact({ expired: true })], 'none', 'has expired'],
    ['that is too large', [anArtifact({ size_in_bytes: 200 * 1024 ** 2 + 1 })], 'refused', 'more than 209715200 bytes'],
  ])('%s, and not asked for', async ([, artifacts, kind, said]) => {
    const github = await gitHub(artifacts, never);
    expect(await fetchFrom(github)).toEqual({ kind, why: why(said) });
    expect(github.asked).toHaveLength(1);
  });

  test.each([
    'http://example.org/a',
    'file:///etc/passwd',
    'data:text/plain,x',
    'http://127.0.0.1.example.org/a',
    'https://someone:secret@example.org/a',
    '/relative',
    undefined,
  ])('from %s', async (location) => {
    const github = await gitHub([anArtifact()], () => ({
      status: 302,
      ...(location && { location }),
    }));
    expect(await fetchFrom(github)).toEqual({ kind: 'refused', why: why('no https address') });
  });

  // Attack secret/artifact-address
  test('from a host that points to a further one', async () => {
    const further = await serve((_request, response) => response.end('zip'));
    const store = await serve((_request, response) => response.writeHead(302, { location: further.url }).end());
    const github = await gitHub([anArtifact()], () => ({ status: 302, location: store.url }));
    expect(await fetchFrom(github)).toEqual({
      kind: 'failed',
      why: why('answered 302'),
      mayPass: true,
    });
    expect(further.asked).toEqual([]);
  });

  test.for<[string, RequestListener, string]>([
    ['refuses', (_request, response) => response.writeHead(403).end('no'), 'answered 403'],
    [
      'breaks off',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('half', () => response.destroy());
      },
      ': run the job again',
    ],
  ])('from a host that %s, whose address stays a secret', async ([, answer, said]) => {
    const store = await serve(answer);
    const github = await gitHub([anArtifact()], () => ({
      status: 302,
      location: `${store.url}/?sig=secret`,
    }));
    const fetched = await fetchFrom(github);
    expect(fetched).toEqual({ kind: 'failed', why: why(said), mayPass: true });
    expect(JSON.stringify(fetched)).not.toContain('secret');
  });

  test('from a host that sends nothing in time', async () => {
    const store = await serve(() => {});
    const github = await gitHub([anArtifact()], () => ({ status: 302, location: store.url }));
    const answer = await fetchFrom(github, { ...artifactLimits, seconds: 0.05 });
    expect(answer).toEqual({
      kind: 'failed',
      why: why('no complete response within 0.05 s'),
      mayPass: true,
    });
  });

  test.for([
    [410, '410 said: check that'],
    [403, 'permissions: actions: read'],
    [401, 'rejects the token'],
  ] as const)('where GitHub answers %d', async ([status, said]) => {
    const github = await gitHub([anArtifact()], () => ({ status }));
    expect(await fetchFrom(github)).toEqual({ kind: 'failed', why: why(said), mayPass: false });
  });

  test('where GitHub cannot be reached', async () => {
    const url = 'http://127.0.0.1:1';
    expect(await fetchFrom({ url })).toEqual({
      kind: 'failed',
      why: why('cannot be reached'),
      mayPass: true,
    });
  });
});

describe('the profiles of a result', () => {
  const file = 'profiles/forwarding-inet4-base/stacks.txt';
  const profiled = (variant: string, file: string) => ({
    ...({ kind: 'profiled', variant, event: 'cpu-clock', kernel: '6.18' } as const),
    seconds: 10,
    busySamples: 100,
    idleSamples: 0,
    file,
  });
  const told = aResult({
    outcome: {
      kind: 'judged',
      verdict: 'regression',
      cells: [
        {
          ...aCell({ kind: 'regression' }),
          profiles: [profiled('base', file), profiled('patched', '../../etc/passwd')],
        },
      ],
    },
  });

  const readFrom = (entries: ZipEntry[], folder = '') => profilesIn(zipOf([good, ...entries]), told, folder);

  test('are read from the paths in it, without idle stacks', async () => {
    const content = 'napi;ip_forward 80\nswapper;do_idle 20\n';
    const [cell] = await readFrom([{ name: file, content }]);
    expect(cell?.variants).toEqual([
      {
        variant: 'base',
        profile: expect.objectContaining({
          stacks: [{ frames: [{ name: 'napi' }, { name: 'ip_forward' }], samples: 80 }],
        }),
        idleFrames: ['do_idle'],
      },
    ]);
  });

  test('lie in the folder of its gate where there were several', async () => {
    const content = 'napi;ip_forward 80\n';
    expect(await readFrom([{ name: `2/${file}`, content }], '2/')).toHaveLength(1);
    expect(await readFrom([{ name: `2/${file}`, content }], '1/')).toEqual([]);
  });

  // Attack read/fork-pages: Flamegraphs of a fork are pages of its own. Defence: The publishing job draws them again
  // from bounded stacks.
  test.for<[string, ZipEntry[]]>([
    ['not there', []],
    ['no profile', [{ name: file, content: '<script>alert(1)</script>' }]],
    ['larger than anything that is drawn', [{ name: file, content: Buffer.alloc(2 ** 24 + 1, 'a') }]],
    ['a link', [{ name: file, content: '/etc/passwd', mode: 0o120777 }]],
    ['a stack of millions of frames', [{ name: file, content: `${'a;'.repeat(2 ** 22)}b 1\n` }]],
    ['a megabyte of blanks', [{ name: file, content: `a${' '.repeat(2 ** 20 - 2)}b` }]],
  ])('are left out where one is %s', async ([, entries]) => {
    expect(await readFrom(entries)).toEqual([]);
  });

  const naming = (count: number, name: (index: number) => string): Result => ({
    ...told,
    outcome: {
      kind: 'judged',
      verdict: 'regression',
      cells: [
        {
          ...aCell({ kind: 'regression' }),
          profiles: Array.from({ length: count }, (_, index) => profiled('base', name(index))),
        },
      ],
    },
  });

  // Attack read/many-names: A result names the same profile tens of thousands of times. Defence: At most 500 are read,
  // in one pass over the zip, within a bound on bytes.
  test('are all left out where there are more than any experiment takes', async () => {
    const leftOut: string[] = [];
    const many = naming(55_000, () => file);
    const zip = zipOf([good, { name: file, content: 'napi;ip_forward 80\n' }]);
    expect(await profilesIn(zip, many, '', (why) => leftOut.push(why))).toEqual([]);
    expect(leftOut).toEqual(['The result names 55000 profiles, but at most 500 are read: no flamegraphs are drawn.']);
  });

  // Attack read/many-names
  test('are found in one pass over the zip, for any number of names and other entries', async () => {
    const others = Array.from({ length: 19_000 }, (_, index) => ({
      name: `${index}`,
      content: '',
    }));
    const zip = zipOf([good, ...others, { name: file, content: 'napi;ip_forward 80\n' }]);
    const many = naming(500, (index) => (index === 499 ? file : `profiles/${index}`));
    expect((await profilesIn(zip, many, ''))[0]?.variants).toHaveLength(1);
  });

  // Attack read/many-names
  test('are no more than so many bytes together, also where the same is named again and again', async () => {
    const leftOut: string[] = [];
    const content = `napi 1\n${`napi;${'a'.repeat(999_000)} 80\n`.repeat(8)}`;
    const zip = zipOf([good, { name: file, content }]);
    const [cell] = await profilesIn(
      zip,
      naming(100, () => file),
      '',
      (why) => leftOut.push(why),
    );
    expect(cell?.variants.length).toBeLessThan(9);
    expect(leftOut.at(-1)).toMatch(/^The profiles of the artifact have more than 67108864 bytes/);
  });

  test('say why they are left out, one by one', async () => {
    const leftOut: string[] = [];
    const zip = zipOf([good, { name: file, content: `${'a;'.repeat(5000)}b 1\n` }]);
    await profilesIn(zip, told, '', (why) => leftOut.push(why));
    expect(leftOut).toEqual([
      'the profile of base in forwarding inet4 has more than 1,024 frames in one stack, and at most so many are read; profile for a shorter time.',
    ]);
  });
});
