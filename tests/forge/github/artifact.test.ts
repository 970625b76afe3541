// Artifacts that hostile code may have written: zips, their results and their profiles.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  agreesWith,
  artifactLimits,
  parseResult,
  profilesIn,
  readEntries,
  withPatch,
} from '../../../src/forge/github/artifact.ts';
import type { Patch, PullRequest } from '../../../src/model/patch.ts';
import { type Result, resultSchema } from '../../../src/model/result.ts';
import { headline } from '../../../src/report/headline.ts';
import { renderMarkdown } from '../../../src/report/reports.ts';
import { poisoned } from '../../fakes/poisoned.ts';
import { aCell, aResult, pullRequest, revision } from '../../fakes/result.ts';
import { type ZipEntry, type ZipOptions, zipOf } from '../../fakes/zip.ts';
import { times } from '../../random.ts';

const result = aResult();
const json = JSON.stringify(result);
const good: ZipEntry = { name: 'result.json', content: json };
const zeros = (bytes: number): ZipEntry => ({ name: 'zeros', content: Buffer.alloc(bytes) });

/** Reads it like the publishing job. */
async function resultFrom(zip: Buffer) {
  const entries = await readEntries(zip, ['result.json']);
  if (entries.kind === 'refused') return entries;
  const text = entries.texts.get('result.json');
  return text === undefined ? ({ kind: 'none' } as const) : parseResult(text);
}

/** Unknown keys of any kind. */
const strange = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},`;

test.for<[string, ZipEntry[], ZipOptions?]>([
  ['at the top', [good]],
  ['in a folder', [{ ...good, name: 'work/result.json' }]],
  ['stored', [{ ...good, method: 0 }]],
  ['with its sizes after its bytes, as actions/upload-artifact writes it', [{ ...good, dataDescriptor: true }]],
  ['from zip64', [{ ...good, zip64: true }], { zip64: true }],
  ['without a mode', [{ ...good, mode: 0 }]],
  ['beside links', [{ name: 'a', content: '/etc/passwd', mode: 0o120777 }, good]],
  [
    'beside paths that lead elsewhere or deeper',
    [...['../', '/', './', 'runs/1/'].map((folder) => ({ ...good, name: `${folder}result.json` })), good],
  ],
  [
    'beside names that only look like it',
    [...['Result.json', 'result.json/', 'a\\result.json'].map((name) => ({ ...good, name })), good],
  ],
  ['beside other files twice', [zeros(1), zeros(1), good]],
  ['beside encrypted ones', [{ ...zeros(10), encrypted: true }, good]],
  ['beside ones that cannot be unpacked', [{ ...zeros(10), says: { uncompressedBytes: 1, crc32: 1 } }, good]],
  ['beside more than is ever inflated', [zeros(artifactLimits.fileBytes + 1), good]],
  ['without its unknown keys', [{ ...good, content: json.replace('{', strange) }]],
])('a result is read %s', async ([, entries, options]) => {
  expect(await resultFrom(zipOf(entries, options))).toEqual({ kind: 'read', result });
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test('several files are read at once, and those that are not there left out', async () => {
  const zip = zipOf([good, { name: 'journal.jsonl', content: '{}\n' }, zeros(1)]);
  const texts = new Map([
    ['result.json', json],
    ['journal.jsonl', '{}\n'],
  ]);
  expect(await readEntries(zip, ['journal.jsonl', 'experiment.json', 'result.json'])).toEqual({ kind: 'read', texts });
});

const packed = zipOf([good]);
const refusals: [string, Buffer][] = [
  ...Object.entries({
    'two results': [good, good],
    'results in two folders': [good, { ...good, name: 'a/result.json' }],
    'a link for a result': [{ ...good, mode: 0o120777 }],
    'a device for a result': [{ ...good, mode: 0o020666 }],
    'an encrypted result': [{ ...good, encrypted: true }],
    'a result that is packed otherwise': [{ ...good, method: 99 }],
    'a result that says to be smaller': [{ ...good, says: { uncompressedBytes: 5 } }],
    'a result that says to be larger': [{ ...good, says: { uncompressedBytes: 5e8 } }],
    'a result of another checksum': [{ ...good, says: { crc32: 1 } }],
    'a result whose bytes end early': [{ ...good, says: { compressedBytes: 50 } }],
    'a result that leaves the zip': [{ ...good, says: { compressedBytes: 1e6 } }],
    'a result that is no text': [{ ...good, content: Buffer.from([0x7b, 0xff]) }],
    'a result that is no JSON': [{ ...good, content: '{' }],
    'a result of another version': [{ ...good, content: '{"schemaVersion":2}' }],
    'a result of nothing but depth': [{ ...good, content: '['.repeat(1e6) }],
    // Each of its values would make an error of the schema.
    'a result of more values than any': [
      { ...good, content: json.replace('{', `{"more":[${'0,'.repeat(500_000)}0],`) },
    ],
    'a result that inflates to a thousand times its size': [{ ...zeros(64 * 1024 ** 2), name: 'result.json' }],
  }).map(([what, entries]): [string, Buffer] => [what, zipOf(entries)]),
  ['more entries than are read', zipOf([good], { entryCount: 20_001, zip64: true })],
  ['a claim of 2^40 entries', zipOf([good], { entryCount: 2 ** 40, zip64: true })],
  ['one entry less than it claims', zipOf([good], { entryCount: 2 })],
  ['nothing', Buffer.alloc(0)],
  ['a web page', Buffer.from('<!doctype html><title>Sign in</title>')],
  ['the half of a zip', packed.subarray(0, 500)],
  ['a zip without its last byte', packed.subarray(0, -1)],
  ['a zip with something behind it', Buffer.concat([packed, Buffer.from('PS')])],
  ['a zip with something before it', Buffer.concat([Buffer.from('PS'), packed])],
];

test('an artifact is refused, with a reason and what to do', async () => {
  const lines: string[] = [];
  for (const [what, zip] of refusals) {
    const answer = await resultFrom(zip);
    lines.push(answer.kind === 'refused' ? `${what}\n  ${answer.why}\n` : `${what} was not refused`);
  }
  await expect(lines.join('')).toMatchFileSnapshot('golden/artifact-refusals.txt');
});

test.each([0, 8])('no file is read beyond its bound, against its headers (method %d)', async (method) => {
  const limits = { ...artifactLimits, fileBytes: 1000 };
  const sized = async (bytes: number, says = {}) =>
    (await readEntries(zipOf([{ name: 'a', content: Buffer.alloc(bytes), method, says }]), ['a'], limits)).kind;
  expect(await sized(1000)).toBe('read');
  expect(await sized(1001)).toBe('refused');
  if (method === 8) expect(await sized(1e6, { uncompressedBytes: 10 })).toBe('refused');
});

test('an artifact is read or refused, whichever of its bytes are wrong', async () => {
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
      const answer = await resultFrom(bytes);
      if (answer.kind === 'read') expect(answer.result).toEqual(result);
    }),
    { numRuns: times(200) },
  );
});

describe('a result', () => {
  const patch = pullRequest as PullRequest;
  const { title, author, baseCommit, headCommit } = patch;
  const range = { kind: 'range', title, author, baseCommit, headCommit } as const;
  const other = 'c'.repeat(40);

  test.each<[string, boolean, judged: Patch, meant: Patch]>([
    ['of the pull request', true, patch, patch],
    ['of a pull request whose title was edited', true, patch, { ...patch, title: 'x', author: 'bob' }],
    ['of a repository in another case', true, patch, { ...patch, repository: 'Example/Router' }],
    ['of the revision', true, revision, { ...revision, title: 'x', author: 'bob' }],
    ['of another pull request', false, patch, { ...patch, number: 8 }],
    ['of another repository', false, patch, { ...patch, repository: 'example/switch' }],
    ['of another head', false, patch, { ...patch, headCommit: other }],
    ['of another base', false, patch, { ...patch, baseCommit: other }],
    ['of a range', false, range, patch],
    ['of a pull request instead of a revision', false, patch, revision],
    ['of a revision instead of a pull request', false, revision, patch],
    ['of another revision', false, revision, { ...revision, number: 27402 }],
    ['of another diff', false, revision, { ...revision, diff: 80701 }],
    ['of another head of a diff', false, revision, { ...revision, headCommit: other }],
    ['of another base of a diff', false, revision, { ...revision, baseCommit: other }],
  ])('%s counts: %s', (_, expected, judged, meant) => {
    expect(agreesWith(aResult({ patch: judged }), meant) === undefined).toBe(expected);
  });

  test.each([{ ...patch, title: 'Drop it late' }, revision])('is shown with the patch of the forge: $kind', (meant) => {
    const forged = { ...meant, title: 'x', url: 'https://example.net', earlier: [] };
    expect(withPatch(aResult({ patch: forged }), meant).patch).toEqual(meant);
  });

  // The laws of tests/report try every kind of markup; this tries every place that the schema leaves free.
  test.each(['does-not-apply', 'build-failed', 'boot-failed', 'panics-under-load', 'judged'] as const)(
    'has no text that becomes markup: %s',
    (kind) => {
      const cells = [{ ...aCell({ kind: 'invalid', reason: 'x' }), comparisons: [] }];
      const failed = { message: 'x', panic: 'x', console: 'x' };
      const outcome = kind === 'judged' ? { kind, verdict: 'invalid', cells } : { kind, ...failed };
      const whole = poisoned(
        resultSchema.parse(aResult({ outcome: outcome as Result['outcome'] })),
        (one) => resultSchema.safeParse(one).success,
      );
      expect(JSON.stringify(whole)).toContain('<script>');
      const withoutCode = renderMarkdown(whole)
        .replace(/^(`{3,})\n.*?\n\1$/gms, '')
        .replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
      expect(withoutCode + headline(whole)).not.toMatch(/<script|]]>|<!--/);
    },
  );
});

describe('the profiles of a result', () => {
  const file = 'profiles/forwarding-inet4-base/stacks.txt';
  const profiled = (variant: string, file: string) =>
    ({
      kind: 'profiled',
      variant,
      event: 'x',
      kernel: 'x',
      seconds: 10,
      busySamples: 9,
      idleSamples: 0,
      file,
    }) as const;
  const naming = (...profiles: ReturnType<typeof profiled>[]): Result =>
    aResult({
      outcome: { kind: 'judged', verdict: 'regression', cells: [{ ...aCell({ kind: 'regression' }), profiles }] },
    });
  const named = naming(profiled('base', file), profiled('patched', '../../etc/passwd'));
  const content = 'napi;ip_forward 80\n';

  const readFrom = (entries: ZipEntry[], folder = '') => profilesIn(zipOf([good, ...entries]), named, folder);

  test('are read from the paths in it, without idle stacks', async () => {
    const [cell] = await readFrom([{ name: file, content: `${content}swapper;do_idle 20\n` }]);
    const stacks = [{ frames: [{ name: 'napi' }, { name: 'ip_forward' }], samples: 80 }];
    expect(cell?.variants).toEqual([
      { variant: 'base', profile: expect.objectContaining({ stacks }), idleFrames: ['do_idle'] },
    ]);
  });

  test('lie in the folder of its gate where there were several', async () => {
    expect(await readFrom([{ name: `2/${file}`, content }], '2/')).toHaveLength(1);
    expect(await readFrom([{ name: `2/${file}`, content }], '1/')).toEqual([]);
  });

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

  test('are left out with the reason where there are more than any experiment takes', async () => {
    const leftOut: string[] = [];
    const many = naming(...Array.from({ length: 501 }, () => profiled('base', file)));
    expect(await profilesIn(zipOf([good, { name: file, content }]), many, '', (why) => leftOut.push(why))).toEqual([]);
    expect(leftOut).toHaveLength(1);
  });

  test('are no more than so many bytes together, also where the same is named again and again', async () => {
    const leftOut: string[] = [];
    // Its first stack is too deep, which ends the parser soon.
    const content = `${'a;'.repeat(5000)}b 1\n`.padEnd(artifactLimits.fileBytes, '\n');
    const many = naming(...Array.from({ length: 20 }, () => profiled('base', file)));
    await profilesIn(zipOf([good, { name: file, content }]), many, '', (why) => leftOut.push(why));
    expect(leftOut.filter((why) => why.includes('more than 67108864 bytes'))).toHaveLength(16);
  });
});
