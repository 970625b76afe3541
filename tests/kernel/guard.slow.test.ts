import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runGuarded } from '../../src/kernel/guard.ts';
import { connect } from '../../src/system/host/ssh.ts';
import { shell } from '../../src/system/shell.ts';
import { startSshd } from '../fakes/sshd.ts';
import { describeWith } from '../needs.ts';

describeWith(['sshd', 'ssh-keygen'], 'a guarded command', () => {
  test('is ended with all that it started, when it is cancelled as soon as it begins, too', async () => {
    await using sshd = await startSshd();
    await using host = await connect(sshd);
    const ended = await Promise.allSettled(
      Array.from({ length: 8 }, () => {
        const cancel = new AbortController();
        const running = runGuarded(host, shell`sh -c ${'sleep 299.25; true'}`, {
          limitSeconds: 600,
          signal: cancel.signal,
          onLine() {},
        });
        cancel.abort(new Error('not wanted any more'));
        return running;
      }),
    );
    for (const outcome of ended) {
      expect(outcome).toMatchObject({ reason: { message: 'not wanted any more' } });
    }
    const running = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
    expect(running.filter((command) => command.startsWith('sleep 299.25'))).toEqual([]);
  });
});
