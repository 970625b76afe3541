// Machines behind commands of the lab's own: small shell scripts around a file that holds on or off.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPower } from '../../../src/lab/power/power.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { messageOf, timelessDeps } from './power-deps.ts';

test('a machine is turned on and off by its commands', async () => {
  const { power } = await lab();
  expect(await power.state()).toBe('off');
  await power.on();
  expect(await power.state()).toBe('on');
  await power.off();
  expect(await power.state()).toBe('off');
});

test.each<[string, Scripts]>([
  ['without its own command', { state: 'on' }],
  ['whose command fails', { state: 'on', cycle: 'exit 1' }],
  ['of a machine that is off', { cycle: 'echo cycle >> log' }],
])('a cycle %s is off, five seconds, on', async (_, scripts) => {
  const { power, deps, log } = await lab(scripts);
  await power.cycle();
  expect(log()).toEqual(['off', 'on']);
  expect(deps.slept).toEqual([5]);
});

test('reports a failed command by its program and its last words, without its arguments', async () => {
  const { power, folder } = await lab({ on: 'echo trying >&2; echo "No such outlet" >&2; exit 4' });
  const message = await messageOf(power.on());
  expect(message).toContain(
    `refuses to turn the machine on: ${join(folder, 'on')} exited with 4 and printed "No such outlet"`,
  );
  expect(message).not.toContain('outlet-4');
});

test.each(['echo ON', 'printf on', 'printf "  on\\r\\n"'])('a state by %j is on', async (read) => {
  const { power } = await lab({ read });
  expect(await power.state()).toBe('on');
});

test.each(['echo maybe', 'true', 'echo on; exit 1', 'echo on; echo off'])('a state by %j is invalid', async (read) => {
  const { power } = await lab({ read });
  expect(await messageOf(power.state())).toMatch(/is unknown: .* must print "on" or "off" and exit with 0\.$/);
});

type Scripts = { on?: string; cycle?: string; read?: string; state?: 'on' | 'off' };

/** A machine whose scripts run in a folder with the file `state`, and have one argument. */
async function lab(scripts: Scripts = {}, word = 'outlet-4') {
  const folder = temporaryFolder();
  const { on = turning('on'), cycle, read = 'cat state', state = 'off' } = scripts;
  const command = (name: string, lines: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\ncd '${folder}' || exit 9\n${lines}\n`);
    chmodSync(path, 0o755);
    return [path, word];
  };
  writeFileSync(join(folder, 'state'), `${state}\n`);
  writeFileSync(join(folder, 'log'), '');
  const deps = timelessDeps();
  const config = {
    kind: 'command',
    on: command('on', on),
    off: command('off', turning('off')),
    state: command('read', read),
    ...(cycle !== undefined && { cycle: command('cycle', cycle) }),
  } as const;
  return {
    folder,
    deps,
    power: await openPower('dut-3', config, deps),
    /** Lines that the commands have logged. */
    log: () => readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean),
  };
}

const turning = (state: 'on' | 'off') => `echo ${state} > state; echo ${state} >> log`;
