// Which lines of a failure are shown at the code, and that no text of others leads out of it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { annotationsOf } from '../../src/report/annotations.ts';
import type { Result } from '../../src/words/result.ts';
import { aResult } from '../fakes/result.ts';
import { times } from '../random.ts';

const of = (message: string) => annotationsOf({ outcome: { kind: 'build-failed', message } });

/** As `path:line`. */
const places = (message: string) =>
  of(message).map(({ path, start_line }) => `${path}:${start_line}`);

test('a line that says where its error is becomes an annotation there', () => {
  const line = '/usr/src/sys/netinet/ip.c:12:3: error: use of undeclared identifier "ipp"';
  expect(of(line)).toEqual([
    {
      path: 'sys/netinet/ip.c',
      start_line: 12,
      end_line: 12,
      annotation_level: 'failure',
      message: line,
    },
  ]);
});

test.each([
  ['the compiler', 'sys/net/if.c:7:1: fatal error: file not found', 'sys/net/if.c:7'],
  ['the compiler in a tree anywhere', '/w/o/sys/net/if.c:7:1: error: x', 'sys/net/if.c:7'],
  ['the linker', 'ld: error: undefined symbol: pps', undefined],
  ['the compiler that only warns', 'sys/net/if.c:7:1: warning: unused', undefined],
  ['the compiler on its way', 'In file included from sys/net/if.c:7:', undefined],
  ['git apply', 'error: patch failed: sys/netinet/ip.c:12', 'sys/netinet/ip.c:12'],
  ['git apply of a file', 'error: sys/netinet/ip.c: patch does not apply', undefined],
  ['pfctl', 'pf.conf:3: syntax error', 'pf.conf:3'],
  ['pfctl with a path', '/etc/pf.conf:3: syntax error', 'etc/pf.conf:3'],
  ['nft', 'nftables.conf:4:21-23: Error: syntax error, unexpected string', 'nftables.conf:4'],
  ['nft below a folder', './dut/nftables.conf:4:1-2: Error: x', 'dut/nftables.conf:4'],
  ['a line 0', 'pf.conf:0: syntax error', 'pf.conf:1'],
  ['a clock', '12:30:01 error: nothing', undefined],
])('of %s', (_, line, place) => {
  expect(places(line)).toEqual(place === undefined ? [] : [place]);
});

test('there are twenty at most, the first', () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `a.c:${index + 1}:1: error: x`);
  expect(places(lines.join('\n'))).toEqual(
    lines.slice(0, 20).map((line) => line.slice(0, line.indexOf(':', 4))),
  );
});

test('a patch that was judged has none, whatever its numbers', () => {
  expect(annotationsOf(aResult())).toEqual([]);
});

test.each<Result['outcome']>([
  { kind: 'does-not-apply', message: 'error: patch failed: a.c:1' },
  { kind: 'does-not-load', scenario: 'forwarding', message: 'a.c:1: syntax error' },
  { kind: 'boot-failed', message: 'a.c:1: error' },
])('a patch that $kind has them', (outcome) => {
  expect(annotationsOf({ outcome })).toMatchObject([{ path: 'a.c', start_line: 1 }]);
});

describe('hostile text', () => {
  test.each([
    '../../etc/passwd:1: error: x',
    '/usr/src/../../etc/passwd:1: error: x',
    'sys/../../x.c:1: error: x',
    'sys/..:1: error: x',
    '/:1: error: x',
    '...:1: error: x',
    'https://evil.example/x.c:1: error: x',
    '::error file=x.c,line=1::error',
    '::set-output name=verdict::no-regression error',
    '`a.c`:1: error: x',
    'a.c:99999999: error: x',
  ])('leads nowhere: %j', (line) => {
    expect(of(line)).toEqual([]);
  });

  test('is one line without what a terminal obeys, or what turns text round', () => {
    expect(of('a.c:1: \u001b[31merror:\u001b[0m x\r\u202ey\u0007')).toMatchObject([
      { message: 'a.c:1:  [31merror: [0m x y' },
    ]);
  });

  test('is cut, and never through a character', () => {
    const [annotation] = of(`a.c:1: error: ${'🚦'.repeat(1_000_000)}`);
    expect(annotation?.message.length).toBeLessThanOrEqual(1000);
    expect(annotation?.message).not.toMatch(/\p{Cs}/u);
  });

  test('of a megabyte is read, whatever it repeats', () => {
    for (const part of ['a', 'a.c:1', ' ', '\n', '../', '\u001b]0;', 'sys/']) {
      expect(of(part.repeat(2 ** 20 / part.length))).toEqual([]);
    }
  });

  test('never makes an annotation that GitHub would refuse', () => {
    const line = fc
      .array(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 10 }),
          fc.constantFrom('a.c', 'sys/', '../', '/', ':1:', ':', 'error', '\n', '\u001b[1m', '🚦'),
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(line, (text) => {
        for (const { path, start_line, message } of of(text)) {
          expect(path).toMatch(/^[\w.+-][\w./+-]*$/);
          expect(path.split('/')).not.toContain('..');
          expect(start_line).toBeGreaterThan(0);
          expect(message).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}]{1,1000}$/u);
        }
      }),
      { numRuns: times(200) },
    );
  });
});
