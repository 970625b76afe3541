// Tests a login on a serial console, which a real pseudo-terminal with a real shell replaces.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConsoleShell, ConsoleShellError, type TypedOn } from '../../../../src/lab/qemu/vm/console-shell.ts';
import { openPacedPipe } from '../../../../src/system/paced-pipe.ts';
import { shell } from '../../../../src/system/shell.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';

const getty = `printf '\\r\\nFreeBSD/amd64 (freebsd) (ttyu0)\\r\\n\\r\\nlogin: '; read name; echo "Hello, $name"; exec sh -i`;

/** Runs a script on a terminal whose other end is the guest's console. */
function terminalOf(script: string): TypedOn {
  const folder = temporaryFolder();
  const consoleInput = join(folder, 'console.in');
  execFileSync('mkfifo', [consoleInput]);
  const listeners = new Set<(piece: Buffer) => void>();
  let shown = '';
  const output = openPacedPipe(join(folder, 'console.out'), (piece) => {
    shown += piece;
    for (const onOutput of listeners) onOutput(piece);
  });
  const child = spawn('sh', ['-c', 'exec script --quiet --command "$1" /dev/null <>"$2"', 'sh', script, consoleInput], {
    stdio: ['ignore', output.descriptor, 'ignore'],
  });
  const ended = once(child, 'close').then(() => 'powered off');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    output.close();
  });
  return {
    consoleInput,
    ended,
    console: () => shown,
    listen(onOutput) {
      listeners.add(onOutput);
      return () => void listeners.delete(onOutput);
    },
  };
}

test('Commands of root return their output, without the echo of the typed line.', async () => {
  using root = await ConsoleShell.logIn(terminalOf(getty), 60);
  expect(await root.run(shell`echo ${"it's"} && echo two >&2`)).toBe("it's\ntwo\n");
  expect(await root.run(shell`echo $HOME`)).toBe('/root\n');
});

test('A failing command is named with its code and its last line.', async () => {
  using root = await ConsoleShell.logIn(terminalOf(getty), 60);
  await expect(root.run(shell`ls ${'/nonexistent'}`)).rejects.toThrow(
    /^"ls '\/nonexistent'" exited with 2 and printed "ls: cannot access '\/nonexistent'/,
  );
  expect(await root.run(shell`echo on`)).toBe('on\n');
});

test('A password prompt is an error, as is a console without a login prompt.', async () => {
  const asking = "printf 'login: '; read name; printf 'Password:'; read password";
  await expect(ConsoleShell.logIn(terminalOf(asking), 60)).rejects.toThrow(
    new ConsoleShellError('its serial console asks for the password of root'),
  );
  await expect(ConsoleShell.logIn(terminalOf("printf 'mountroot> '; read name"), 1)).rejects.toThrow(
    'its serial console showed no login prompt within 1 s, and shows that the kernel found no root file system, and ends with "mountroot>"',
  );
});

test('A guest that ends is an error, and so is a command that is not over in time.', async () => {
  using root = await ConsoleShell.logIn(terminalOf(getty), 60);
  await expect(root.run(shell`sleep 60`, 1)).rejects.toThrow(
    '"sleep 60" did not finish within 1 s on its serial console, which shows no output',
  );
  const ending = await ConsoleShell.logIn(terminalOf(getty), 60);
  await expect(ending.run(shell`exit`)).rejects.toThrow('its QEMU has ended (powered off)');
});
