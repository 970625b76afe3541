// Shows lines of a failure at the code; text of others cannot lead out of it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Result } from '../../src/model/result.ts';
import { annotationsOf } from '../../src/report/annotations.ts';
import { aResult, unchanged } from '../fakes/result.ts';
import { anyCharacter, times } from '../random.ts';

const of = (message: string) => annotationsOf(aResult({ outcome: { kind: 'build-failed', message } }));

/** Lists places as `path:line`. */
const places = (message: string) => of(message).map(({ path, start_line }) => `${path}:${start_line}`);

test('a line with the place of its error becomes an annotation there', () => {
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
  ['git apply anywhere in the tree', 'error: patch failed: stand/a.c:12', 'stand/a.c:12'],
  ['a module', 'sys/modules/if_x/../../dev/x/if_x.c:9:1: error: x', 'sys/dev/x/if_x.c:9'],
  ['the compiler in a compile folder', '../../../net/if.c:7:1: error: x', 'sys/net/if.c:7'],
  ['an object folder', '/o/obj/s/src/amd64.amd64/sys/GENERIC/opt_x.h:1:1: error: x', undefined],
  ['an object folder elsewhere', '/o/arm64.aarch64/sys/GENERIC/opt_x.h:1:1: error: x', undefined],
  ['what a build makes', './opt_inet.h:1:1: error: x', undefined],
  ['what a build links', 'machine/atomic.h:1:1: error: x', undefined],
  ['rules that are not of the patch', '/etc/pf.conf:3: syntax error', undefined],
  ['a line 0', 'sys/net/if.c:0:0: error: x', 'sys/net/if.c:1'],
  ['a clock', '12:30:01 error: nothing', undefined],
])('of %s', (_, line, place) => {
  expect(places(line)).toEqual(place === undefined ? [] : [place]);
});

test('the first twenty are kept', () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `sys/a.c:${index + 1}:1: error: x`);
  expect(places(lines.join('\n'))).toEqual(lines.slice(0, 20).map((line) => line.slice(0, line.indexOf(':', 8))));
});

test('a patch that was judged, or needs no measurement, has none', () => {
  expect([aResult(), unchanged].flatMap(annotationsOf)).toEqual([]);
});

test.each<Result['outcome']>([
  { kind: 'does-not-apply', message: 'error: patch failed: sys/a.c:1' },
  { kind: 'does-not-load', scenario: 'forwarding', message: 'sys/a.c:1: syntax error' },
  { kind: 'boot-failed', message: 'sys/a.c:1: error' },
])('a patch that $kind has them', (outcome) => {
  expect(annotationsOf(aResult({ outcome }))).toMatchObject([{ path: 'sys/a.c', start_line: 1 }]);
});

describe('of an overlay', () => {
  /** Lists places as `path:line` from nft's messages on the patched variant. */
  const placesIn = (folder: string, message: string, files = ['nftables.conf', 'sysctl.conf']) => {
    const result = aResult({
      outcome: { kind: 'does-not-load', scenario: 'forwarding', message },
      variants: [
        { name: 'base', commit: 'a', folder, files: [{ path: 'gone.conf', sha256: 'c' }] },
        {
          name: 'patched',
          commit: 'b',
          folder,
          files: files.map((path) => ({ path, sha256: 'd' })),
        },
      ],
    });
    return annotationsOf(result).map(({ path, start_line }) => `${path}:${start_line}`);
  };
  const said = 'nftables.conf:4:21-23: Error: syntax error, unexpected string';

  test.each([
    ['dut', 'dut/nftables.conf:4'],
    ['some/where/else', 'some/where/else/nftables.conf:4'],
    ['mit Überläufern', 'mit Überläufern/nftables.conf:4'],
    ['', 'nftables.conf:4'],
  ])('in the folder "%s" files are at their paths in the repository', (folder, place) => {
    expect(placesIn(folder, said)).toEqual([place]);
  });

  test.each([
    ['no file of the patch', 'gone.conf:4:1: Error: x'],
    ['a scenario of ppsgate itself', 'nftables-stateless.nft:4:1: Error: x'],
    ['a file with the same end', 'conf:4:1: Error: x'],
    ['a path on the DUT', '/tmp/dut/nftables.conf:4:1: Error: x'],
    ['a kernel', 'sys/net/if.c:4:1: error: x'],
  ])('%s has no lines there', (_, line) => {
    expect(placesIn('dut', line)).toEqual([]);
  });

  test.each([
    ['../..', 'a'],
    ['dut/../..', 'a'],
    ['/etc', 'a'],
    ['dut\n::error', 'a'],
    ['dut\u202e', 'a'],
    ['d\\ut', 'a'],
    ['d'.repeat(600), 'a'],
    ['dut', '../../a'],
    ['dut', '/etc/a'],
    ['dut', '..'],
  ])('a result that lies, of %j and %j, leads nowhere', (folder, file) => {
    expect(placesIn(folder, `${file}:4:1: Error: x`, [file])).toEqual([]);
  });
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
    '`sys/a.c`:1: error: x',
    'sys/a.c:99999999: error: x',
    '../../../../etc/passwd:1: error: x',
    '/sys/a/../../x.c:1: error: x',
    'error: patch failed: ../../etc/passwd:1',
    'error: patch failed: /etc/passwd:1',
    'error: patch failed: sys/../../x.c:1',
  ])('leads nowhere: %j', (line) => {
    expect(of(line)).toEqual([]);
  });

  test('is one line without what a terminal obeys, or what turns text round', () => {
    expect(of('sys/a.c:1: \u001b[31merror:\u001b[0m x\r\u202ey\u0007')).toMatchObject([
      { message: 'sys/a.c:1:  [31merror: [0m x y' },
    ]);
  });

  test('is cut, and never through a character', () => {
    const [annotation] = of(`sys/a.c:1: error: ${'🚦'.repeat(1_000_000)}`);
    expect(annotation?.message.length).toBeLessThanOrEqual(1000);
    expect(annotation?.message).not.toMatch(/\p{Cs}/u);
  });

  test('of a megabyte is read', () => {
    for (const part of ['a', 'sys/a.c:1', ' ', '\n', '../', '\u001b]0;', 'sys/', 'obj/sys/']) {
      expect(of(part.repeat(2 ** 20 / part.length))).toEqual([]);
    }
  });

  test('never makes an annotation that GitHub would refuse', () => {
    const line = fc
      .array(
        fc.oneof(
          fc.string({ unit: anyCharacter, maxLength: 10 }),
          fc.constantFrom('sys/a.c', 'sys/', '../', '/', ':1:', ':', 'error', '\n', '\u001b[1m', '🚦'),
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

test('a line of a file of the overlay is shown where the repository has that file', () => {
  const outcome = { kind: 'does-not-load', scenario: 'forwarding', message: 'nftables.conf:3:1: Error: x' } as const;
  const file = { path: 'nftables.conf', source: 'etc/nft/router.nft', sha256: '' };
  const variants = [{ name: 'patched', commit: 'a'.repeat(40), files: [file] }];
  expect(annotationsOf({ outcome, variants })).toMatchObject([{ path: 'etc/nft/router.nft', start_line: 3 }]);
});
