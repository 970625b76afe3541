import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Fence,
  FencedError,
  fencedHost,
  guardIn,
  raiseFence,
  raiseIn,
  tokenFolder,
} from '../../../src/lab/lease/fence.ts';
import { HostError } from '../../../src/system/host/host-error.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { commandText, shell } from '../../../src/system/shell.ts';
import { splitWords } from '../../fakes/freebsd-lab/shell.ts';
import { type Sshd, startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';
import { times } from '../../random.ts';

const held = (token: number): Fence => ({ token, assertHeld() {} });

describeWith(['sshd', 'ssh-keygen'], 'a fence on a real machine', () => {
  let sshd: Sshd;
  let host: Host;
  let folder: string;
  let tokens: string;

  beforeAll(async () => {
    sshd = await startSshd();
    host = await connect({ ...sshd, label: 'DUT' });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(sshd.folder, 'test-'));
    tokens = join(folder, 'tokens of it');
  });
  afterAll(async () => {
    await host.close();
    await sshd.stop();
  });

  const raise = (token: number) => raiseFence(host, token, tokens);
  const fenced = (token: number, fence = held(token)) => fencedHost(host, fence, tokens);

  /** A refusal is never retried. */
  async function expectRefusal(task: Promise<unknown>): Promise<void> {
    await expect(task).rejects.toThrow(FencedError);
    await expect(task).rejects.not.toBeInstanceOf(HostError);
  }

  test('a command under the highest token is as it would be without a fence', async () => {
    await raise(7);
    const command = shell`cat; echo "$0 $#"; echo not so >&2; exit ${3}`;
    const options = { stdin: randomBytes(50).toString('hex') };
    const stdout = `${options.stdin}sh 0\n`;
    expect(await fenced(7).run(command, options)).toEqual({ kind: 'exited', code: 3, stdout, stderr: 'not so\n' });
  });

  test('any word reaches the command unchanged', async () => {
    await raise(7);
    const word = fc
      .oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[\n'"\\$`!#; ]*$/))
      .filter((text) => !text.includes('\0') && text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(word, async (text) => {
        expect(await fenced(7).output(shell`printf %s ${text}`)).toBe(text);
      }),
      { numRuns: times(15) },
    );
  });

  test('a lower token is refused, and its command never runs', async () => {
    await raise(10);
    const mark = join(folder, 'mark');
    await expectRefusal(fenced(9).run(shell`touch ${mark}`));
    await expectRefusal(fenced(9).output(shell`touch ${mark}`));
    expect(existsSync(mark)).toBe(false);
  });

  test('reports a refusal if the caller streams stderr', async () => {
    await raise(10);
    await expectRefusal(fenced(9).run(shell`uname`, { onStderr() {}, onStdout() {} }));
  });

  test('a command that exits with 213 on its own is not refused', async () => {
    await raise(10);
    const command = shell`echo no >&2; exit ${213}`;
    expect(await fenced(10).run(command)).toMatchObject({ code: 213, stderr: 'no\n' });
    expect(await fenced(10).run(command, { onStderr() {} })).toMatchObject({ code: 213 });
    await expect(fenced(10).output(command)).rejects.toMatchObject({ kind: 'command-failed' });
  });

  test('an upload installs its file, or none if it is refused', async () => {
    await raise(10);
    await fenced(10).upload(Buffer.from('ours'), join(folder, 'installed'), 0o640);
    await expectRefusal(fenced(9).upload(Buffer.from('theirs'), join(folder, 'installed'), 0o600));
    await expectRefusal(fenced(9).upload(Buffer.from('theirs'), join(folder, 'new'), 0o600));
    expect(readFileSync(join(folder, 'installed'), 'utf8')).toBe('ours');
    expect(readdirSync(folder).sort()).toEqual(['installed', 'tokens of it']);
  });

  test('if this side knows that the lease is over, nothing is sent', async () => {
    const over = (): never => {
      throw new RangeError('the lease is over');
    };
    const host = fenced(10, { token: 10, assertHeld: over });
    const mark = join(folder, 'mark');
    await expect(host.run(shell`touch ${mark}`)).rejects.toThrow(RangeError);
    await expect(host.output(shell`touch ${mark}`)).rejects.toThrow(RangeError);
    await expect(host.upload(Buffer.from('x'), mark, 0o600)).rejects.toThrow(RangeError);
    expect(existsSync(mark)).toBe(false);
  });

  test('a higher token replaces lower ones, and nothing else', async () => {
    await raise(9);
    await raise(10);
    await raise(10);
    expect(readdirSync(tokens)).toEqual(['10']);
    await expectRefusal(raise(9));
    await expectRefusal(fenced(9).output(shell`true`));
    await fenced(10).output(shell`true`);
  });

  test('a higher token that is installed while a lower one raises the fence stays', async () => {
    // Replaces test(1): the file is absent when the raiser looks, and present when it cleans up.
    const late = shell`test() { : >${tokens}/20; command test "$@"; }`;
    const script = `${commandText(late)}; ${raiseIn(tokens)}`;
    await host.output(shell`sh -c ${script} ppsgate ${10}`);
    expect(readdirSync(tokens)).toEqual(['10', '20']);
    await expectRefusal(fenced(10).output(shell`true`));
  });

  test.for([1.5, -1, 1e21, Number.NaN])('%d is no token', async (token) => {
    expect(() => fenced(token)).toThrow(TypeError);
    await expect(raise(token)).rejects.toThrow(TypeError);
  });

  test('of many that race, no lower one is obeyed once a higher one has raised the fence', async () => {
    await using opened = new AsyncDisposableStack();
    const hosts = [host];
    // A busy sshd still counts closed sessions of a connection; few sessions on each connection avoid refusals.
    while (hosts.length < 10) hosts.push(opened.use(await connect({ ...sshd, label: 'DUT' })));
    for (const round of [1, 2, 3]) {
      const tokens = join(folder, `round ${round}`);
      let highest = 0;
      const race = async (token: number, index: number): Promise<void> => {
        const over = hosts[index % hosts.length] ?? host;
        if (await isDone(raiseFence(over, token, tokens))) highest = Math.max(highest, token);
        const highestBefore = highest;
        if (await isDone(fencedHost(over, held(token), tokens).output(shell`:`))) {
          expect(token).toBeGreaterThanOrEqual(highestBefore);
        }
      };
      const shuffled = Array.from({ length: 20 }, (_, index) => ((index * 7 + round) % 20) + 1);
      await Promise.all(shuffled.map(race));
      expect(highest).toBe(20);
      expect(readdirSync(tokens)).toContain('20');
    }
  });
});

/** True if it was done, false if it was refused. */
const isDone = (task: Promise<unknown>): Promise<boolean> =>
  task.then(
    () => true,
    (error: unknown) => {
      if (error instanceof FencedError) return false;
      throw error;
    },
  );

test('csh reads the scripts as sh does: no line break, no history', () => {
  for (const script of [guardIn(tokenFolder), raiseIn(tokenFolder)]) {
    expect(script).not.toMatch(/[\n\r!]/);
    const line = commandText(shell`sh -c ${script} ppsgate ${7}`);
    expect(splitWords(line)).toEqual({ kind: 'words', words: ['sh', '-c', script, 'ppsgate', '7'] });
  }
});
