import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../needs.ts';

const program = join(import.meta.dirname, '../../bin/ppsgate');

describeWith(['root', 'setpriv'], 'a machine that cannot carry the lab', () => {
  test('is told which right is missing and what would be needed, and exits with 4', () => {
    const rights = ['--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];
    const { status, stderr } = spawnSync('setpriv', [...rights, program, 'demo'], {
      encoding: 'utf8',
    });
    expect(stderr).toBe(
      'ppsgate: The embedded lab needs the right to make network namespaces (CAP_SYS_ADMIN), which this root lacks: run it outside the container, or in a privileged one.\n',
    );
    expect(status).toBe(4);
  });
});
