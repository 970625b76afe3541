import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutPaths } from '../../src/model/without-paths.ts';
import { anyCharacter } from '../random.ts';

test.each([
  ['git cannot list dut in /home/op/src: name one.', 'git cannot list dut in [path]: name one.'],
  ["ENOENT: no such file, open '/home/op/my lab/key'", "ENOENT: no such file, open '[path]'"],
  ['see `/var/db/x y.log`, and “/srv/a b”', 'see `[path]`, and “[path]”'],
  ['The kernel ~/k.tar (or ~op/k.tar) is none.', 'The kernel [path] (or [path]) is none.'],
  ['/etc/ppsgate.yml:12: no key', '[path]:12: no key'],
  ['/home/op/my labs/dut cannot be read', '[path] cannot be read'],
  ['file:///home/op/x and //home/op/x', '[path] and [path]'],
  ['key=/secrets, lab1:/secrets', 'key=[path], lab1:[path]'],
  ['/', '/'],
])('an absolute path is not told: %s', (text, told) => {
  expect(withoutPaths(text)).toBe(told);
});

test.each([
  'write /ppsgate run 1a2b3c4d5e6f: a maintainer has read it',
  'write "/ppsgate rerun", or /ppsgate.',
  'see https://ci.example.org/job/1?q=a/b and http://127.0.0.1:8080/x.',
  'patch failed: sys/netinet/ip_fw.c:12; a/x and b/y; ./x, ../x',
  'on 198.51.100.0/24 and ::/0, 24/7, kpps/s, +/- 3, 1 / 2',
  '</details> <br/> <@everyone>',
])('what is no path of a machine stays: %s', (text) => {
  expect(withoutPaths(text)).toBe(text);
});

describe('in any text', () => {
  const segment = fc.stringMatching(/^[a-z][\w.+@-]{0,8}[a-z]$/);
  const path = fc
    .array(segment, { minLength: 2, maxLength: 5 })
    .map((segments) => `/${segments.join('/')}`)
    .filter((one) => !one.startsWith('/ppsgate'));
  const before = fc.constantFrom('', ' ', '(', "'", '"', '`', 'in ', 'open: ', 'x=', '\n', '\t', ', ');
  const after = fc.constantFrom('', ' ', ')', "'", '"', '`', ': no', ', or', '.', ';', '\n', ' is it');

  test('a path is removed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(before, path, after), { maxLength: 5 }), (parts) => {
        const told = withoutPaths(parts.map((part) => part.join('')).join(' '));
        for (const [, one] of parts) expect(told).not.toContain(one);
      }),
    );
  });

  test('repeated removal changes nothing', () => {
    const piece = fc.oneof(path, before, after, fc.string({ unit: anyCharacter }));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const told = withoutPaths(pieces.join(''));
        expect(withoutPaths(told)).toBe(told);
      }),
    );
  });

  // Worse than linear time would be hours: the test fails by its timeout.
  test.each(["'/", '/', '/a ', '~', ' /a/b a/', "'/a", ':/', 'file:/'])(
    'a hundred thousand times %j is processed at once',
    (part) => {
      expect(withoutPaths(part.repeat(100_000)).length).toBeGreaterThan(0);
    },
  );
});
