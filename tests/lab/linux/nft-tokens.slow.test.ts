import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxOverlayFileBytes } from '../../../src/kernel/overlay.ts';
import { whyUnsafe } from '../../../src/lab/linux/nft-tokens.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';
import { times } from '../../random.ts';

// As in a process that compiled 1 MB of regular expressions, where Node needs its stack for each repeated character.
setFlagsFromString('--no-regexp-optimization');

const why = (text: string) => whyUnsafe(text, 'nftables.conf');

/** nft follows all of these to a file, for rules from any source. */
const followed = (path: string) =>
  [
    ['a plain line', `include "${path}"`],
    ['no blank before the path', `include"${path}"`],
    ['a continued line', `include \\\n"${path}"`],
    ['many of them, and tabs', `include\\\n\\\n \\\n\t"${path}"`],
    ['a comment on the line after that', `include \\\n# x\n"${path}"`],
    ['a comment that seems to continue', `# \\\ninclude "${path}"`],
    ['a string that seems to begin a comment', `define x = "#"\ninclude "${path}"`],
    ['a comment that seems to begin a string', `# "\ninclude "${path}"`],
    ['a string over two lines', `define x = "a\n# "\ninclude "${path}"`],
    ['a command before it', `define x = 1; include "${path}"`],
    ['a table around it', `table inet t {include "${path}"\n}`],
    ['a chain around it', `table inet t { chain c {include "${path}"\n} }`],
    ['an error before it', `foo # \ninclude "${path}"`],
    ['a NUL in a comment', `# \0\ninclude "${path}"`],
    ['a pattern', `include "${path.slice(0, -1)}?"`],
  ] as const;

describe('rules are refused', () => {
  test.each(followed('/etc/shadow'))('if nft would include a file: %s', (_, text) => {
    expect(why(`${text}\n`)).toMatch(/^nftables\.conf:\d+: Error: /);
  });

  test.each([
    ['a number before it', 'add rule t c 1include "/path"'],
    ['a time before it', '1d2h3m4s5msinclude "/path"'],
    ['an address with a sign before it', 'ip6 saddr fe80::c-include "/path"'],
    ['an address of a card before it', 'ether saddr aa:bb:cc:dd:ee:fcinclude "/path"'],
    ['a slash before it', '/include "/path"'],
    ['an underscore, which not every nft begins words with', '_include "/path"'],
    ['a letter of another alphabet before it', 'éinclude "/path"'],
    ['a star behind it', 'include* "/path"'],
    ['nothing behind it', 'table inet t { include }'],
  ])('where some nft could take the word for its own: %s', (_, text) => {
    expect(why(`${text}\n`)).toContain('include would make nft read another file');
  });

  test.each([
    ['a NUL in a comment', '# \0', '0000'],
    ['a carriage return at the very end', 'a\r', '000D'],
    ['an escape in a string', 'comment "\u001b[2J"', '001B'],
    ['a control character beyond ASCII', '# \u0085', '0085'],
  ])('for a control character that no rule needs: %s', (_, text, code) => {
    expect(why(`table inet t {}\n${text}`)).toContain(`nftables.conf:2: Error: a control character (U+${code})`);
  });

  test('in a single pass, however many quotes, signs and words they have', () => {
    const full = (text: string) => text.repeat(maxOverlayFileBytes / text.length);
    expect(why(`${full('include.')}x`)).toBeUndefined();
    expect(why(full('""'))).toBeUndefined();
    expect(why(full('#"\n'))).toBeUndefined();
    expect(why(`${full('""')}"`)).toContain('unmatched');
  });
});

test.each([
  ['nothing', ''],
  ['a comment with the word', '# include nothing here\n'],
  ['a comment that looks as if it included a file', 'table inet t { # include "/path"\n}\n'],
  ['a comment with one quote', '# it\'s 5"\ntable inet t {}\n'],
  ['a string with the word', 'table inet t { comment "include me"; }\n'],
  ['a string over two lines', 'table inet t { comment "one\n include two"; }\n'],
  ['a longer word', 'define include_x = 1\ndefine my-include = 1\ndefine include.x = 1\n'],
  ['a longer word that ends with it', 'table inet t { chain lan.include { jump not/include; } }\n'],
  ['other signs and alphabets', 'table inet t { comment "Überläufer \u{1f680}"; } # ✓\n'],
  ['a line that is continued', 'add rule t c \\\n  accept\n'],
  ['lines that end as on Windows', 'table inet t {\r\n}\r\n'],
  ['capitals, which nft knows no such word in', 'define INCLUDE = 1\n'],
])('rules are not refused for %s', (_, text) => {
  expect(why(text)).toBeUndefined();
});

describeWith(['root', 'nft', 'unshare'], 'the nft of this machine', () => {
  test.each(followed('').map(([name], index) => [name, index] as const))('follows %s to a file', (_, index) => {
    const { sentinel, follows } = watchedFile();
    expect(follows(followed(sentinel)[index]?.[1] ?? '')).toBe(true);
  });

  test('follows nothing of what is not refused', () => {
    const { sentinel, follows } = watchedFile();
    fc.assert(
      fc.property(nastyRules(sentinel), (rules) => {
        fc.pre(why(`${rules}\n`) === undefined);
        expect(follows(rules)).toBe(false);
      }),
      { numRuns: times(40) },
    );
  });
});

const absent = '/nonexistent/sentinel';

/** A file that nft includes, and whether nft has opened it while it checks rules as they are installed. */
function watchedFile() {
  const folder = temporaryFolder();
  const sentinel = join(folder, 'sentinel');
  writeFileSync(sentinel, 'a_word_of_another_file\n');
  const follows = (text: string): boolean => {
    const rules = join(folder, 'nftables.conf');
    const scenario = join(folder, 'scenario.nft');
    writeFileSync(rules, `${text}\n`);
    writeFileSync(scenario, `flush ruleset\ninclude "${rules}"\n`);
    const { stderr } = spawnSync('unshare', ['--net', 'nft', '-c', '-f', scenario], {
      encoding: 'utf8',
    });
    return stderr.includes(`File not found: ${absent}`) || stderr.includes('a_word_of_another_file');
  };
  return { sentinel, follows };
}

/** Half of the rules let nft read on, because rules that nft gives up at once show nothing. */
function nastyRules(sentinel: string): fc.Arbitrary<string> {
  const path = fc.constantFrom(`"${sentinel}"`, `"${sentinel.slice(0, -1)}*"`, `"${absent}"`);
  const harmless = fc.constantFrom(
    ...['\n', ' ', '\t', ';', '# x\n', '# "\n', '# \\\n', '\\\n', 'define x = 1\n', '\r\n'],
    ...['define x = "#"\n', 'define x = "\n"\n', 'define x = "include"\n', '# include\n'],
    ...['define my-include = 1\n', 'table inet t { }\n', 'table inet t {', 'foo\n', '# \0\n'],
  );
  const gap = fc.constantFrom(' ', '\t', '\\\n', '\\\n# x\n', '\r');
  const sign = fc.constantFrom(
    ...[' ', '\n', '\t', '\\\n', '\\', '#', '# ', '"', '""', '*', '\r\n', '\r', '\0', 'é'],
    ...['{', '}', ';', '$', '@', ':', '.', '-', '_', '/', '1', '0x', '5ms', 'c', 'fe80::', 'foo'],
    ...['table inet t {', 'chain c {', 'define x = ', 'comment ', 'list tables', 'ip6 saddr '],
    ...['include', 'include_x', 'x.include'],
  );
  const some = (arbitrary: fc.Arbitrary<string>, maxLength: number) =>
    fc.array(arbitrary, { maxLength, size: 'max' }).map((all) => all.join(''));
  const before = fc.oneof(some(harmless, 5), some(fc.oneof(sign, harmless, path), 5));
  const between = fc.oneof(some(gap, 4), some(sign, 2));
  return fc
    .tuple(before, fc.constantFrom('include', 'include', ''), between, path, some(sign, 2))
    .map((all) => all.join(''));
}
