import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readResult } from '../../../src/report/read-result.ts';
import { readFlightLog } from '../flight-log.ts';
import { temporaryFolder } from '../folder.ts';
import { readXml } from '../xml.ts';

const program = join(import.meta.dirname, 'serve.ts');

/** Processes that end with the test. */
function start(...words: string[]) {
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const ended = once(child, 'exit').then(([code]) => code);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, errors: () => errors };
}

test('a gate of another process measures a patch in the laboratory, which complains of nothing, and logs all commands', async () => {
  const folder = join(temporaryFolder(), 'lab');
  const directory = join(temporaryFolder(), 'work');
  const log = join(temporaryFolder(), 'gate.log.gz');
  const lab = start(program, folder, '--patched-ratio', '0.9');
  const [line] = await once(createInterface(lab.child.stdout), 'line');
  expect(line).toBe('ready');

  const gate = start(
    ...[join(inject('bundle'), 'cli.js'), 'gate', '--config', join(folder, 'ppsgate.yml')],
    ...['--repository', join(folder, 'repository'), '--patch', 'main..patch'],
    ...['--base-kernel', join(folder, 'base.tar'), '--patched-kernel', join(folder, 'patched.tar')],
    ...['--directory', directory, '--seed', '1', '--record', log],
  );
  expect(await gate.ended).toBe(1);
  expect(gate.errors()).toMatch(/gate\.log\.gz is written\. .*: zcat \S+ \| less\n/);
  expect((await readResult(directory)).outcome).toMatchObject({ verdict: 'regression' });
  const junit = readXml(readFileSync(join(directory, 'report', 'junit.xml'), 'utf8'));
  expect(junit.attributes).toMatchObject({ tests: '1', failures: '1' });

  const entries = readFlightLog(log);
  const hosts = entries.flatMap((entry) => ('command' in entry ? entry.host.replace(/ \(.*/, '') : []));
  expect(new Set(hosts)).toEqual(new Set(['DUT', 'sender', 'receiver', 'sender and the receiver']));
  expect(entries.length).toBeGreaterThan(500);
  const ends = entries.filter((entry) => 'kind' in entry);
  expect(ends).toHaveLength(entries.length / 2);

  lab.child.stdin.end();
  expect(await lab.ended).toBe(0);
});
