import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { maskFor, openFlightLog } from '../../src/gate/flight-log.ts';
import { parseIfconfig } from '../../src/lab/freebsd/dut/network.ts';
import { UsageError } from '../../src/model/usage-error.ts';
import { shell } from '../../src/system/shell.ts';
import { hostOfLog, readFlightLog } from '../fakes/flight-log.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { startFreebsdLab } from '../fakes/freebsd-lab/lab.ts';
import { depsOf, labConsole, testbedOf } from '../fakes/freebsd-testbed.ts';

const quiet = () => {};

/** A log of the simulated lab, whose configuration names the keys and a password. */
async function loggedLab() {
  const lab = await startFreebsdLab();
  const folder = temporaryFolder();
  const path = join(folder, 'log.gz');
  const passwordPath = join(folder, 'password');
  writeFileSync(passwordPath, "it's a+b&c\n");
  const testbed = testbedOf(lab, folder);
  const log = await openFlightLog(path, { testbed, passwordPath }, () => lab.clock.now(), quiet);
  const deps = log.wrap(depsOf(lab));
  return { lab, path, testbed, log, deps, [Symbol.asyncDispose]: () => lab.stop() };
}

test('logs what a machine and its console print, and a parser reads it from the log', async () => {
  await using logged = await loggedLab();
  const { path, testbed, deps, lab } = logged;
  const host = await deps.connect(testbed.dut, 'DUT');
  const heard: string[] = [];
  const printed = await host.output(shell`ifconfig ${'cxl0'}`);
  await host.run(shell`uname ${'-s'}`, { onStdout: (chunk) => heard.push(Buffer.from(chunk).toString()) });
  await expect(host.output(shell`sysctl ${'no.such'}`)).rejects.toThrow();
  const opened = await deps.openConsole('the DUT', labConsole, (chunk) => heard.push(chunk.toString()));
  lab.dut.machine.console.print('panic: page ');
  lab.dut.machine.console.print('fault\nUptime: ');
  await opened.close();
  expect(heard.join('')).toBe('FreeBSD\npanic: page fault\r\nUptime: ');

  const { name } = host;
  const entries = readFlightLog(path);
  expect(entries.flatMap((entry) => ('command' in entry ? [entry.host, entry.command] : []))).toEqual(
    [': log in', "ifconfig 'cxl0'", "uname '-s'", "sysctl 'no.such'"].flatMap((command) => [name, command]),
  );
  expect(entries.filter((entry) => 'console' in entry).map(({ text }) => text)).toEqual([
    'panic: page fault\r\n',
    'Uptime: ',
  ]);
  await using replayed = hostOfLog(path, name);
  const read = parseIfconfig(await replayed.output(shell`ifconfig ${'cxl0'}`));
  expect(read).toEqual(parseIfconfig(printed));
  expect(await replayed.run(shell`uname ${'-s'}`)).toMatchObject({ kind: 'exited', code: 0, stdout: 'FreeBSD\n' });
  expect(await replayed.run(shell`sysctl ${'no.such'}`)).toMatchObject({ code: 1 });
  await expect(replayed.output(shell`ls`)).rejects.toThrow('was never given `ls`');
});

test('masks keys and passwords of the configuration', async () => {
  await using logged = await loggedLab();
  const { path, testbed, deps, lab } = logged;
  const host = await deps.connect(testbed.dut, 'DUT');
  const key = readFileSync(testbed.dut.privateKeyPath ?? '', 'utf8');
  await deps.openConsole('the DUT', labConsole, quiet);
  lab.dut.machine.console.print(key);
  for (const secret of ["it's a+b&c", Buffer.from(key).toString('base64')]) await host.run(shell`echo ${secret}`);
  const text = JSON.stringify(readFlightLog(path));
  for (const line of key.split('\n').filter((line) => line.length > 4 && !line.startsWith('-----'))) {
    expect(text).not.toContain(line);
  }
  expect(text).not.toContain('a+b&c');
  expect(text).toContain("echo '<secret>'");
});

const secret = 'pä ss/w+rd?>\'"1';

test.each<[string, string]>([
  ['plain', secret],
  ['in JSON', JSON.stringify(secret).slice(1, -1)],
  ['quoted for a shell', secret.replaceAll("'", `'\\''`)],
  ['in a URL', encodeURIComponent(secret)],
  ['in hex', Buffer.from(secret).toString('hex')],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in base64 of a URL', Buffer.from(secret).toString('base64url')],
])('masks a secret %s', (_, form) => {
  expect(maskFor([`${secret}\n`])(`before ${form}`)).toMatch(/^before <secret>.{0,3}$/);
});

test.each([0, 1, 2])('masks a secret within base64, %i bytes after a boundary', (offset) => {
  const encoded = Buffer.from(`${'u'.repeat(offset)}${secret}@host`).toString('base64');
  expect(maskFor([secret])(encoded)).toMatch(/^.{0,4}<secret>.{4,10}$/);
});

test('refuses a file that exists, and leaves it as it is', async () => {
  const path = join(temporaryFolder(), 'log.gz');
  writeFileSync(path, 'precious');
  await expect(openFlightLog(path, {})).rejects.toThrow(UsageError);
  expect(readFileSync(path, 'utf8')).toBe('precious');
});

test('a killed process leaves every entry, for zcat too, and a torn file is read to its last line', () => {
  const path = join(temporaryFolder(), 'log.gz');
  const module = new URL('../../src/gate/flight-log.ts', import.meta.url).href;
  const program = `const { openFlightLog } = await import('${module}');
    const log = await openFlightLog(process.argv[1], {});
    let print;
    const deps = log.wrap({ openConsole: async (n, c, onOutput) => { print = onOutput; return { ended: new Promise(() => {}) }; } });
    await deps.openConsole('DUT', {}, () => {});
    for (let line = 1; line <= 500; line += 1) print(Buffer.from(line + '\\n'));
    process.kill(process.pid, 'SIGKILL');`;
  const { signal, stderr: errors } = spawnSync(process.execPath, ['-e', program, path]);
  expect(signal, errors.toString()).toBe('SIGKILL');
  const { status, stdout } = spawnSync('zcat', [path]);
  expect({ status, lines: stdout.toString().split('\n').length }).toEqual({ status: 0, lines: 501 });
  writeFileSync(path, readFileSync(path).subarray(0, -20));
  expect(readFlightLog(path)).toHaveLength(499);
});
