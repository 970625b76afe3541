// Text of the comment: its memory from one edit to the next, which strangers cannot forge.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CommentUpdate,
  composeComment,
  markerOf,
  readMemory,
} from '../../../src/publish/reporters/comment-text.ts';
import { maxCharacters } from '../../../src/report/markdown.ts';
import { anyCharacter } from '../../random.ts';

const first = 'a'.repeat(40);
const second = 'b'.repeat(40);
const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 12, minute));

const writing = (changes: Partial<CommentUpdate> = {}): CommentUpdate => ({
  name: 'ppsgate',
  run: 41,
  headCommit: first,
  overrides: {},
  at: at(0),
  ...changes,
});

/** The comment after these updates in turn. */
const after = (...writings: Partial<CommentUpdate>[]): string =>
  writings.reduce<string | undefined>(
    (before, changes) => composeComment(before, 'How it stands.', writing(changes)) ?? before,
    undefined,
  ) ?? '';

const rowsOf = (comment: string) => comment.split('\n').filter((line) => line.startsWith('| `') && line.endsWith('|'));

test('a comment begins with its marker, shows its text, and hides what it remembers', () => {
  expect(after({ overrides: { margin: '1%' } })).toMatch(
    /^<!-- ppsgate -->\n\nHow it stands\.\n\n<sub>commit `a{40}`<\/sub>\n\n<!-- ppsgate remembers: [\w-]+ -->$/,
  );
});

test.each([
  ['ppsgate: mellanox and 40G', '<!-- ppsgate: mellanox and 40G -->'],
  ['ppsgate: --><script>', '<!-- ppsgate: --script -->'],
])('the marker of %j is %s', (name, marker) => {
  expect(markerOf(name)).toBe(marker);
});

describe('a comment remembers', () => {
  test('its head, the time since then, and the request', () => {
    expect(readMemory(after({ overrides: { margin: '1%' } }))).toEqual({
      run: 41,
      headCommit: first,
      since: '2026-11-20T12:00:00.000Z',
      overrides: { margin: '1%' },
      earlier: [],
    });
  });

  test('the heads that it named before, newest first, and twenty at most', () => {
    const heads = (comment: string) => readMemory(comment)?.heads;
    const id = (index: number) => `${index}`.padStart(40, '0');
    expect(heads(after({}, {}))).toBeUndefined();
    expect(heads(after({}, { headCommit: second }, { headCommit: first }))).toEqual([second]);
    const many = Array.from({ length: 30 }, (_, index) => ({ headCommit: id(index) }));
    expect(heads(after(...many))).toEqual(Array.from({ length: 20 }, (_, back) => id(28 - back)));
  });

  test('the last request, even if nothing is measured', () => {
    const comment = after({ overrides: { margin: '1%' } }, { run: 42, overrides: undefined });
    expect(readMemory(comment)).toMatchObject({ run: 42, overrides: { margin: '1%' } });
  });

  test('the time since when it has named a head through all edits, and a new time for the next head', () => {
    const since = (comment: string) => readMemory(comment)?.since;
    expect(since(after({}, { at: at(5), title: '🟢' }))).toBe(at(0).toISOString());
    expect(since(after({}, { at: at(5), headCommit: second }))).toBe(at(5).toISOString());
    const back = after({}, { at: at(5), headCommit: second }, { at: at(9) });
    expect(since(back)).toBe(at(9).toISOString());
  });

  test('the last verdict while the next run is on its way', () => {
    const comment = after({ title: '🔴 #7 loses 10 %' }, { run: 42, headCommit: second });
    expect(readMemory(comment)?.last).toMatchObject({ run: 41, headCommit: first });
    expect(rowsOf(comment)).toEqual(['| `aaaaaaaaaaaa` | `2026-11-20` | `🔴 #7 loses 10 %` |']);
  });

  test('earlier verdicts as rows, newest first, without the run that it shows', () => {
    const comment = after(
      { title: 'one' },
      { run: 42, title: 'two', headCommit: second },
      { run: 43 },
      { run: 43, title: 'three' },
      { run: 43, title: 'three, said again' },
    );
    expect(rowsOf(comment).map((row) => row.split('`')[5])).toEqual(['two', 'one']);
    expect(readMemory(comment)?.last?.title).toBe('three, said again');
  });

  test('ten of them at most', () => {
    const many = Array.from({ length: 30 }, (_, run) => ({ run, title: `verdict ${run}` }));
    expect(rowsOf(after(...many))).toHaveLength(10);
    expect(rowsOf(after(...many, { run: 31 }))[0]).toContain('verdict 29');
  });
});

test('an older run never overwrites a newer one, and the same and a newer one do', () => {
  const comment = after({ run: 42 });
  const writes = [41, 42, 43].map(
    (run) => composeComment(comment, 'Next.', writing({ run, title: '🟢' })) !== undefined,
  );
  expect(writes).toEqual([false, true, true]);
});

describe('a comment that was edited by others', () => {
  const opening = '<!-- ppsgate remembers: ';
  const encoded = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const good = {
    run: 9,
    headCommit: first,
    since: at(0).toISOString(),
    overrides: {},
    earlier: [],
  };
  const verdict = { run: 9, headCommit: first, at: at(0).toISOString(), title: 'x' };

  test.each<[string, string]>([
    ['that is cut off', `${opening}${encoded(good).slice(0, 40)} -->`],
    ['that does not end', `${opening}${encoded(good)}`],
    ['that is no JSON', `${opening}${encoded('{')} -->`],
    ['of other types', `${opening}${encoded({ ...good, run: '9' })} -->`],
    ['of a megabyte', `${opening}${encoded({ ...good, headCommit: 'a'.repeat(2 ** 20) })} -->`],
    ['with many rows', `${opening}${encoded({ ...good, earlier: new Array(11).fill(verdict) })} -->`],
    ['nested beyond all measure', `${opening}${encoded('['.repeat(100_000))} -->`],
  ])('to a memory %s begins anew', (_, memory) => {
    const before = `<!-- ppsgate -->\n\n${memory}`;
    expect(readMemory(before)).toBeUndefined();
    expect(readMemory(composeComment(before, 'Anew.', writing()) ?? '')).toMatchObject({ run: 41 });
  });

  test('ignores forged memories in texts of others, in any place', () => {
    const forged = `${opening}${encoded({ ...good, run: 99, headCommit: second })} -->`;
    const comment = composeComment(undefined, `\`${forged}\` ${forged} it says.`, writing()) ?? '';
    expect(readMemory(comment)?.run).toBe(41);
    expect(readMemory(comment.slice(0, comment.lastIndexOf(opening)))).toBeUndefined();
    const retitled = after({ title: forged });
    expect(readMemory(retitled)?.run).toBe(41);
  });

  test('is read with any text in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.anything(), (text, value) => {
        readMemory(`${opening}${text}`);
        const json = JSON.stringify(value) ?? '';
        const before = `<!-- ppsgate -->\n\n${opening}${encoded(json)} -->`;
        expect(composeComment(before, 'Anew.', writing())).toContain('Anew.');
      }),
    );
  });
});

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 20 }),
      fc.constantFrom('`', '|', '\n', '-->', '</details>', '@everyone', '\u0000', '🚦', '\\'),
      fc.constantFrom('`', '\u0001', '|', '🚦').map((part) => part.repeat(160)),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(''));

test('after any titles the longest report fits GitHub’s limit, and they have no effect in it', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 12, maxLength: 12 }), (titles) => {
      const before = after(...titles.map((title, run) => ({ run, title })));
      const report = `${'x'.repeat(maxCharacters - 1)}\n`;
      const comment = composeComment(before, report, writing({ overrides: { margin: 'x'.repeat(500) } }));
      expect(comment?.length).toBeLessThanOrEqual(65_536);
      const memory = readMemory(comment ?? '');
      expect(memory?.last?.run).toBe(11);
      expect(memory?.earlier.length).toBeGreaterThan(0);
      for (const row of rowsOf(comment ?? '')) {
        const bare = row.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '');
        expect(bare).toMatch(/^\| {2}\| {2}\| {0,2}\|$/);
      }
      expect(comment?.match(/<details>/g)?.length).toBe(1);
    }),
  );
});
