// Gates on this machine: real processes, of a small script that plays ppsgate.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { writeBisectPlan } from '../../src/gate/bisect/bisect-plan.ts';
import { writePlan } from '../../src/gate/experiment/plan.ts';
import { type HereOptions, startHere } from '../../src/relay/start-here.ts';
import { aBisectPlan } from '../fakes/bisect.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aPlan, gateConfig } from '../fakes/plan.ts';
import { isRunning, stateOf } from '../fakes/running.ts';

const { signal } = new AbortController();

const job: Job = { key: 'D7-12', revision: 7, diff: 12, overrides: {}, by: 'alice' };

/** Until the file `end` is there, whose text is the exit code. */
const untilEnd = 'while [ ! -e "$here/end" ]; do sleep 0.05; done; exit "$(cat "$here/end")"';

/** @param script of what plays ppsgate; it notes its arguments, a line each time, and then does this. */
function lab(script: string, changes: Partial<HereOptions> = {}) {
  const folder = temporaryFolder();
  const program = join(folder, 'ppsgate');
  const note = 'printf "%s\\n" "$*" >>"$here/calls"';
  writeFileSync(program, `#!/bin/sh\nhere='${folder}'\n${note}\n${script}\n`);
  chmodSync(program, 0o755);
  const directory = join(folder, 'relay');
  const options: HereOptions = {
    program: [program],
    configPath: '/etc/ppsgate.yml',
    repository: '/src',
    directory,
    most: 4,
    environment: process.env,
    ...changes,
  };
  const textOf = (name: string) => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  const leaderOf = (key = job.key) => leader.parse(JSON.parse(textOf(`relay/${key}.pid`))).leader;
  const end = (code: number) => {
    writeFileSync(join(folder, 'end.part'), String(code));
    renameSync(join(folder, 'end.part'), join(folder, 'end'));
  };
  // Ends the leftovers of a failed test as well.
  onTestFinished(() => {
    for (const { key } of [job, other]) {
      if (textOf(`relay/${key}.pid`) !== '' && isRunning(leaderOf(key).pid))
        process.kill(-leaderOf(key).pid, 'SIGKILL');
    }
  });
  const here = startHere(options);
  return {
    folder,
    directory,
    options,
    here,
    textOf,
    leaderOf,
    end,
    calls: () => textOf('calls').split('\n').slice(0, -1),
    start: (asked: Job = job) => here.start(asked, false, signal),
    kindOf: async (asked: Job = job) => (await here.ended(asked)).kind,
  };
}

/** On a busy machine, too. */
const soon = <T>(look: () => T) => expect.poll(() => look());

const leader = z.object({ leader: z.object({ pid: z.number() }) });
const other: Job = { ...job, key: 'D7-12-again' };

test('a gate gets all overrides, and works in a directory named by its key', async () => {
  const { start, calls, directory, kindOf } = lab('exit 0');
  const overrides = {
    scenarios: 'forwarding,pf-stateful',
    families: 'inet6',
    margin: '1%',
    maxRuns: '30',
    profile: 'off',
    measureAnyway: 'true',
    testbed: 'mellanox and 40G',
    earlier: '80345,80654',
  };
  const work = join(directory, job.key);
  const build = 'PHID-HMBD-x';
  expect(await start({ ...job, overrides, build })).toEqual({ kind: 'started', where: work });
  await soon(kindOf).toBe('ended');
  expect(calls()).toEqual([
    `gate --patch D7:12 --answer --run D7-12 --build PHID-HMBD-x --config /etc/ppsgate.yml --repository /src --directory ${work} --testbed mellanox and 40G --scenarios forwarding,pf-stateful --families inet6 --margin 1% --max-runs 30 --profile off --measure-anyway --earlier 80345,80654`,
  ]);
});

test('a bisection gets all overrides, and works in its directory', async () => {
  const { start, calls, directory, kindOf } = lab('exit 0');
  const bisect = {
    good: 'v1',
    bad: 'v2',
    scenarios: 'forwarding',
    families: 'inet6',
    metric: 'pps',
    fixUp: 'a,b:c',
    skip: 'd..e',
    maxBoots: '30',
    verifyRevert: 'true',
    profile: 'off',
    testbed: 'mellanox and 40G',
  };
  const work = join(directory, job.key);
  await start({ ...job, bisect });
  await soon(kindOf).toBe('ended');
  const place = '--patch D7:12 --answer --run D7-12 --config /etc/ppsgate.yml --repository /src';
  expect(calls()).toEqual([
    `bisect --directory ${work} --good v1 --bad v2 --fix-up a,b:c --skip d..e --testbed mellanox and 40G --scenario forwarding --family inet6 --metric pps --max-boots 30 --verify-revert --profile off ${place}`,
  ]);
  const lost: Job = { ...other, bisect: {} };
  const again = join(directory, other.key);
  mkdirSync(again, { recursive: true });
  await writeBisectPlan(again, aBisectPlan(2));
  await start(lost);
  await soon(() => kindOf(lost)).toBe('ended');
  expect(calls().at(-1)).toBe(`bisect --resume ${again} ${place.replaceAll('D7-12', other.key)}`);
});

// A command contains `$(reboot)`.
test('passes a request to the gate as words, with any content', async () => {
  const { start, textOf, kindOf } = lab('for word; do echo "<$word>"; done');
  await start({ ...job, overrides: { testbed: '\'; touch owned; $(id) `id` \\ "' } });
  await soon(kindOf).toBe('ended');
  expect(textOf('relay/D7-12.log')).toContain('<\'; touch owned; $(id) `id` \\ ">');
});

test('a gate runs until it ends, leaves no process, and is never run again', async () => {
  const { start, end, here, leaderOf, kindOf, calls } = lab(untilEnd);
  await start();
  await soon(calls).toHaveLength(1);
  expect(await kindOf()).toBe('running');
  const { pid } = leaderOf();
  end(3);
  await soon(kindOf).toBe('ended');
  await soon(() => stateOf(pid)).toBe('');
  expect(await here.start(job, true, signal)).toMatchObject({ kind: 'started' });
  expect(await here.ended(job)).toEqual({ kind: 'ended', exitCode: 3 });
  expect(calls()).toHaveLength(1);
});

// Keys of the relay must not be in the environment of a gate.
test('a gate sees of the environment what it needs, and reads nothing', async () => {
  const environment = {
    PATH: process.env.PATH,
    PPSGATE_CONDUIT_TOKEN: 'api-secret',
    PPSGATE_JENKINS_TOKEN: 'other-secret',
    NOTIFY_SOCKET: '/run/notify',
  };
  const { start, kindOf, textOf } = lab('env; cat', { environment });
  await start();
  await soon(kindOf).toBe('ended');
  const names = textOf('relay/D7-12.log').match(/^\w+(?==)/gm) ?? [];
  // These the shell itself adds.
  const own = ['PWD', 'OLDPWD', 'SHLVL', '_'];
  expect(names.filter((name) => !own.includes(name)).sort()).toEqual(['PATH', 'PPSGATE_CONDUIT_TOKEN']);
});

test('a job requested many times at once has one gate', async () => {
  const { start, kindOf, calls } = lab('exit 0');
  const started = await Promise.all(Array.from({ length: 5 }, () => start()));
  expect(new Set(started.map(({ kind }) => kind))).toEqual(new Set(['started']));
  await soon(kindOf).toBe('ended');
  expect(calls()).toHaveLength(1);
});

test('more gates than there may be are left for later', async () => {
  const { here, start, end, kindOf, calls } = lab(untilEnd, { most: 1 });
  expect(await here.hasRoom()).toBe(true);
  await start();
  expect(await here.hasRoom()).toBe(false);
  expect(await start(other)).toEqual({
    kind: 'failed',
    why: '1 gates already run here: diff 12 of D7 can start once one of them has ended, or with a higher `most`.',
  });
  end(0);
  await soon(kindOf).toBe('ended');
  expect(await here.hasRoom()).toBe(true);
  expect(await start(other)).toMatchObject({ kind: 'started' });
  await soon(() => kindOf(other)).toBe('ended');
  expect(calls()).toHaveLength(2);
});

test('a gate outlives a killed relay, and the next relay gets its outcome', async () => {
  const { options, directory, end, here, kindOf, calls } = lab(untilEnd);
  const relay = startRelay(options);
  expect(await relay.said).toContain('started');
  await relay.kill();
  await soon(calls).toHaveLength(1);
  expect(await kindOf()).toBe('running');
  expect(await here.start(job, true, signal)).toEqual({
    kind: 'started',
    where: join(directory, job.key),
  });
  end(1);
  await soon(() => here.ended(job)).toEqual({ kind: 'ended', exitCode: 1 });
  expect(calls()).toHaveLength(1);
});

test('a relay that cannot write down what it starts has started nothing', async () => {
  const { directory, start, kindOf, calls } = lab('exit 0');
  const obstacle = join(directory, 'D7-12.pid.part');
  mkdirSync(obstacle, { recursive: true });
  const failed = await start();
  expect(failed).toMatchObject({ kind: 'failed' });
  expect(failed).toHaveProperty('why', expect.stringMatching(/^The gate of diff 12 of D7 could/));
  rmSync(obstacle, { recursive: true });
  await start();
  await soon(kindOf).toBe('ended');
  expect(calls()).toHaveLength(1);
});

test('a gate that died without an exit code continues from the same point', async () => {
  const { directory, start, kindOf, calls } = lab('[ "$2" = --resume ] || kill -KILL $$');
  await start();
  await soon(kindOf).toBe('lost');
  const work = join(directory, job.key);
  await writePlan(work, aPlan());
  await start();
  await soon(kindOf).toBe('ended');
  expect(calls()[1]).toBe(`gate --resume ${work} --answer --run D7-12 --config /etc/ppsgate.yml --repository /src`);
});

test('a gate that always dies is given up after three tries', async () => {
  const { directory, start, kindOf, calls } = lab('kill -KILL $$');
  for (const tries of [1, 2, 3]) {
    expect(await start()).toMatchObject({ kind: 'started' });
    await soon(kindOf).toBe('lost');
    expect(calls()).toHaveLength(tries);
  }
  expect(await start()).toEqual({
    kind: 'refused',
    why: `The gate of diff 12 of D7 ended 3 times without a message: see the end of ${join(directory, 'D7-12.log')}, and request it again.`,
  });
  expect(calls()).toHaveLength(3);
  // Without a plan each one begins again.
  expect(new Set(calls()).size).toBe(1);
});

test('another process with the number of a gate is not taken for it', async () => {
  const { directory, here, kindOf } = lab('exit 0');
  mkdirSync(directory);
  const stranger = spawn('sleep', ['60'], { detached: true });
  onTestFinished(() => void stranger.kill());
  const kept = {
    leader: { pid: stranger.pid, started: 'long ago' },
    work: join(directory, job.key),
    tries: 1,
  };
  writeFileSync(join(directory, 'D7-12.pid'), JSON.stringify(kept));
  expect(await kindOf()).toBe('lost');
  expect(await here.hasRoom()).toBe(true);
  expect(await here.cancel(job, signal)).toBe('No gate of diff 12 of D7 runs here anymore.');
  expect(stranger.signalCode).toBeNull();
  expect(isRunning(stranger.pid ?? 0)).toBe(true);
});

test('a gate that is cancelled cleans up first, and what it started is ended with it', async () => {
  const grandchild = 'sleep 600 & echo $! >"$here/id.new"; mv "$here/id.new" "$here/id"';
  const cleanUp = 'trap "echo gave the lease back; exit 130" TERM';
  const { start, here, textOf, kindOf } = lab(`${cleanUp}; ${grandchild}; while :; do sleep 0.05; done`);
  await start();
  await soon(() => textOf('id')).not.toBe('');
  expect(await here.cancel(job, signal)).toBeUndefined();
  await soon(kindOf).toBe('ended');
  expect(await here.ended(job)).toEqual({ kind: 'ended', exitCode: 130 });
  expect(textOf('relay/D7-12.log')).toContain('gave the lease back');
  await soon(() => isRunning(Number(textOf('id')))).toBe(false);
});

const further: Job = { ...other, extend: { key: job.key, maxRuns: '500' } };
const always = 'D7-12-again --config /etc/ppsgate.yml --repository /src';

test('an experiment is continued in its directory, for the requested number of runs', async () => {
  const { directory, start, kindOf, calls } = lab('exit 0');
  const work = join(directory, job.key);
  await writePlan(work, aPlan());
  expect(await start(further)).toEqual({ kind: 'started', where: work });
  await soon(() => kindOf(further)).toBe('ended');
  expect(calls()).toEqual([`gate --resume ${work} --answer --run ${always} --max-runs 500`]);
});

test('a plan that was extended before its gate died is not extended again', async () => {
  const { directory, start, kindOf, calls } = lab('kill -KILL $$');
  const work = join(directory, job.key);
  await writePlan(work, aPlan());
  const twice = { ...other, extend: { key: job.key } };
  await start(twice);
  await soon(() => kindOf(twice)).toBe('lost');
  await start(twice);
  await soon(() => kindOf(twice)).toBe('lost');
  rmSync(join(work, 'experiment.json'));
  await writePlan(work, aPlan({ gate: { ...gateConfig, maxRunsPerVariant: 96 } }));
  await start(twice);
  await soon(() => kindOf(twice)).toBe('lost');
  expect(calls()).toEqual([
    `gate --resume ${work} --answer --run ${always} --max-runs 96`,
    `gate --resume ${work} --answer --run ${always} --max-runs 96`,
    `gate --resume ${work} --answer --run ${always}`,
  ]);
});

test('an experiment whose gate still runs is not continued', async () => {
  const { directory, start, end, kindOf, calls } = lab(untilEnd);
  const work = join(directory, job.key);
  await start();
  await writePlan(work, aPlan());
  expect(await start(further)).toEqual({
    kind: 'failed',
    why: `A gate still works in ${work}: diff 12 of D7 can start once that has ended.`,
  });
  end(3);
  await soon(kindOf).toBe('ended');
  expect(await start(further)).toMatchObject({ kind: 'started' });
  await soon(() => kindOf(further)).toBe('ended');
  expect(calls()).toHaveLength(2);
});

/** A relay in a separate process that starts the job, prints the outcome, and stays. */
function startRelay(options: HereOptions): { said: Promise<string>; kill(): Promise<void> } {
  const module = join(import.meta.dirname, '../../src/relay/start-here.ts');
  const program = `
    import { startHere } from ${JSON.stringify(module)};
    const options = { ...${JSON.stringify(options)}, environment: process.env };
    const { signal } = new AbortController();
    const started = await startHere(options).start(${JSON.stringify(job)}, false, signal);
    console.log(started.kind);
    setInterval(() => {}, 1e6);`;
  const relay = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(relay, 'exit');
  const kill = async () => {
    relay.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const said = once(relay.stdout, 'data').then(String);
  return { said, kill };
}
