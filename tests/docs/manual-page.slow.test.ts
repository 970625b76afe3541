// Tests the manual page with mandoc(1), which FreeBSD uses.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../needs.ts';

describeWith(['mandoc'], 'docs/ppsgate.1', () => {
  test('has nothing that mandoc warns of', () => {
    const page = join(import.meta.dirname, '../../docs/ppsgate.1');
    const { status, stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', page], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});
