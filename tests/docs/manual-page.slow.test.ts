// Tests the manual page with mandoc(1), which FreeBSD uses.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../needs.ts';

const page = join(import.meta.dirname, '../../docs/ppsgate.1');

describeWith(['mandoc'], 'docs/ppsgate.1', () => {
  const shown = () =>
    execFileSync('mandoc', ['-Tutf8', '-Owidth=80', page], { encoding: 'utf8' }).replace(/.[\b]/g, '');

  test('has nothing that mandoc warns of', () => {
    const { status, stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', page], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, '']);
  });

  test('has every section in its order', () => {
    const sections = shown().match(/^[A-Z][A-Z ]+$/gm);
    const body = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'FILES', 'EXIT STATUS', 'EXAMPLES', 'SEE ALSO'];
    expect(sections).toEqual(body);
  });

  test.each([
    /^ {5}ppsgate – gates network patches on packets per second$/m,
    /^ {5}-p, --patch patch$/m,
    /--reason "port 1 loses its link"$/m,
    /-- \\\n +sh -c 'ssh "root@\$PPSGATE_DUT" pmcstat -T'$/m,
    /^ {5}130 {4,}It was cancelled\.$/m,
  ])('shows %s', (expected) => {
    expect(shown()).toMatch(expected);
  });
});
