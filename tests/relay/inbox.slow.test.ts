// The inbox keeps deliveries and jobs through the death of any process that uses it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { type Delivery, type Inbox, openInbox } from '../../src/relay/inbox.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { describeWith } from '../needs.ts';

const day = 86_400_000;
const start = new Date('2026-11-20T12:00:00Z');
const later = (milliseconds: number) => new Date(start.getTime() + milliseconds);

/** The clock stands still unless it is set. */
function open(path = join(temporaryFolder(), 'inbox.sqlite')) {
  const clock = { now: start };
  const inbox = openInbox(path, () => clock.now);
  onTestFinished(() => inbox[Symbol.dispose]());
  return { inbox, clock, path };
}

const webhook = (id: string, at = start): Delivery => ({
  kind: 'webhook',
  id,
  at,
  object: 'PHID-DREV-a',
  transactions: ['PHID-XACT-DREV-a', 'PHID-XACT-DREV-b'],
});
const build: Delivery = {
  kind: 'build',
  id: 'PHID-HMBT-a',
  at: start,
  target: 'PHID-HMBT-a',
  build: 'PHID-HMBD-a',
  diff: 80677,
  revision: 27401,
};
const job = (key: string, revision = 27401): Job => ({
  key,
  revision,
  diff: 80677,
  overrides: { margin: '1%' },
  by: 'alice',
});
const nothing = { seen: [], jobs: [] };
const keysOf = (records: { job: Job }[]) => records.map((record) => record.job.key);

/** With one job, which is due. */
function openWithJob(key = 'a') {
  const opened = open();
  opened.inbox.advancePoll('https://reviews.example.org', 1, { seen: [], jobs: [job(key)] });
  return opened;
}

describe('deliveries', () => {
  test('wait in the order of acceptance until they are settled, with any times', () => {
    const { inbox } = open();
    expect(inbox.accept([webhook('a', later(5)), build])).toEqual(['new', 'new']);
    expect(inbox.accept([webhook('b')])).toEqual(['new']);
    expect(inbox.pendingDeliveries()).toEqual([webhook('a', later(5)), build, webhook('b')]);
    inbox.settle(build.id, nothing);
    expect(inbox.pendingDeliveries()).toEqual([webhook('a', later(5)), webhook('b')]);
    expect(inbox.countPending()).toBe(2);
  });

  test('are known by their id, together or later, pending or settled', () => {
    const { inbox } = open();
    expect(inbox.accept([webhook('a'), webhook('a')])).toEqual(['new', 'known']);
    expect(inbox.accept([webhook('a')])).toEqual(['known']);
    inbox.settle('a', nothing);
    expect(inbox.accept([webhook('a')])).toEqual(['known']);
    expect(inbox.pendingDeliveries()).toEqual([]);
  });

  test('are forgotten 90 days after they came, if they are settled', () => {
    const { inbox, clock } = open();
    inbox.accept(['a', 'pending', 'b'].map((id) => webhook(id)));
    inbox.settle('a', nothing);
    clock.now = later(90 * day);
    inbox.settle('b', nothing);
    expect(inbox.accept([webhook('a')])).toEqual(['known']);
    clock.now = later(90 * day + 1);
    inbox.advancePoll('https://reviews.example.org', 1, nothing);
    expect(inbox.accept(['a', 'pending', 'b'].map((id) => webhook(id)))).toEqual(['new', 'known', 'new']);
  });

  test('are settled once, with what was seen and the jobs that are new', () => {
    const { inbox } = open();
    inbox.accept([webhook('a'), webhook('b')]);
    const outcome = { seen: ['PHID-XACT-DREV-a'], jobs: [job('a'), job('b')] };
    expect(inbox.settle('a', outcome)).toEqual(outcome.jobs);
    expect(inbox.settle('a', { seen: ['PHID-XACT-DREV-c'], jobs: [job('c')] })).toEqual([]);
    expect(inbox.settle('b', { seen: [], jobs: [job('b'), job('d'), job('d')] })).toEqual([job('d')]);
    expect(inbox.settle('never sent', { seen: [], jobs: [job('e')] })).toEqual([]);
    expect(keysOf(inbox.dueJobs())).toEqual(['a', 'b', 'd']);
    expect(inbox.hasSeen(['PHID-XACT-DREV-a', 'PHID-XACT-DREV-b', 'PHID-XACT-DREV-c'])).toEqual(
      new Set(['PHID-XACT-DREV-a']),
    );
  });

  test('are not settled by half', () => {
    const { inbox } = open();
    inbox.accept([webhook('a')]);
    const broken = { ...job('b'), revision: Number.NaN };
    expect(() => inbox.settle('a', { seen: ['PHID-a'], jobs: [job('a'), broken] })).toThrow();
    expect(inbox.countPending()).toBe(1);
    expect(inbox.hasSeen(['PHID-a'])).toEqual(new Set());
    expect(inbox.unendedJobs()).toEqual([]);
  });
});

test('a poll only advances, for each server separately', () => {
  const { inbox } = open();
  const server = 'https://reviews.example.org';
  expect(inbox.pollState(server)).toBeUndefined();
  expect(inbox.advancePoll(server, 20, { seen: ['PHID-a'], jobs: [job('a')] })).toEqual([job('a')]);
  expect(inbox.advancePoll(server, 10, { seen: ['PHID-a'], jobs: [job('a')] })).toEqual([]);
  expect(inbox.pollState(server)).toBe(20);
  expect(inbox.pollState('https://other.example.org')).toBeUndefined();
  expect(inbox.hasSeen(['PHID-a'])).toEqual(new Set(['PHID-a']));
});

describe('a job', () => {
  test('is due, starting, started and ended', () => {
    const { inbox } = openWithJob();
    const common = { job: job('a'), queuedAt: start };
    expect(inbox.dueJobs()).toEqual([{ ...common, tries: 0, state: { kind: 'due', from: start } }]);
    expect(inbox.markStarting('a')).toBe(true);
    expect(inbox.dueJobs()).toEqual([]);
    expect(inbox.unendedJobs()).toEqual([{ ...common, tries: 1, state: { kind: 'starting' } }]);
    expect(inbox.markStarted('a', '/gates/a')).toBe(true);
    expect(inbox.unendedJobs()).toEqual([{ ...common, tries: 1, state: { kind: 'started', where: '/gates/a' } }]);
    expect(inbox.markEnded('a', 'no regression')).toBe(true);
    expect(inbox.unendedJobs()).toEqual([]);
    expect(inbox.jobsOf(27401)).toEqual([
      { ...common, tries: 1, state: { kind: 'ended', how: 'no regression', where: '/gates/a' } },
    ]);
  });

  test('is queued once, even after it was dropped', () => {
    const { inbox } = openWithJob();
    inbox.drop('a', 'cancelled');
    inbox.accept([webhook('again')]);
    expect(inbox.settle('again', { seen: [], jobs: [job('a')] })).toEqual([]);
    expect(inbox.dueJobs()).toEqual([]);
  });

  test('has one state after any events in any order', () => {
    type Step = (inbox: Inbox) => boolean;
    const unended = ['due', 'starting', 'started'];
    const steps: Record<string, { from: string[]; to: string; step: Step }> = {
      starting: { from: ['due'], to: 'starting', step: (inbox) => inbox.markStarting('a') },
      started: { from: ['starting'], to: 'started', step: (inbox) => inbox.markStarted('a', 'w') },
      postpone: { from: ['due', 'starting'], to: 'due', step: (inbox) => inbox.postpone('a', start, 'why') },
      end: { from: unended, to: 'ended', step: (inbox) => inbox.markEnded('a', 'how') },
      drop: { from: unended, to: 'dropped', step: (inbox) => inbox.drop('a', 'why') },
    };
    const path = join(temporaryFolder(), 'inbox.sqlite');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.values(steps)), { maxLength: 8 }), (taken) => {
        using inbox = openInbox(path, () => start);
        const database = new DatabaseSync(path);
        database.exec('DELETE FROM jobs');
        database.close();
        inbox.advancePoll('https://reviews.example.org', 1, { seen: [], jobs: [job('a')] });
        let state = 'due';
        for (const { from, to, step } of taken) {
          expect(step(inbox)).toBe(from.includes(state));
          if (from.includes(state)) state = to;
          expect(inbox.jobsOf(27401)[0]?.state.kind).toBe(state);
          expect(keysOf(inbox.dueJobs())).toEqual(state === 'due' ? ['a'] : []);
        }
      }),
    );
  });
});

describe('several processes', () => {
  test('the first that starts jobs is the only one, until it ends', () => {
    const { inbox, path } = openWithJob();
    const { inbox: other } = open(path);
    expect(keysOf(inbox.dueJobs())).toEqual(['a']);
    expect(other.dueJobs()).toEqual([]);
    expect(other.markStarting('a')).toBe(false);
    inbox[Symbol.dispose]();
    expect(keysOf(other.dueJobs())).toEqual(['a']);
  });

  test('a job that was being started by one that was killed is due again, and one that was started is not', async () => {
    const { inbox, path } = open();
    const jobs = ['starting', 'started', 'due'].map((key) => job(key));
    inbox.advancePoll('https://reviews.example.org', 1, { seen: [], jobs });
    const child = run(
      path,
      `inbox.dueJobs();
       inbox.markStarting('starting');
       inbox.markStarting('started');
       inbox.markStarted('started', '/gates/started');
       // After this nothing refers to the inbox any more.
       setImmediate(() => { gc(); console.log('begun'); });
       setInterval(() => {}, 1000);`,
    );
    await once(child.stdout, 'data');
    expect(inbox.dueJobs()).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(inbox.dueJobs()).toMatchObject([
      { job: { key: 'starting' }, tries: 1 },
      { job: { key: 'due' }, tries: 0 },
    ]);
    // Only once: what this process is starting itself stays so.
    inbox.markStarting('starting');
    expect(keysOf(inbox.dueJobs())).toEqual(['due']);
  });
});

describeWith(['strace'], 'a power cut', () => {
  test('loses nothing that was accepted: it was synced before', async () => {
    const path = join(temporaryFolder(), 'inbox.sqlite');
    const trace = join(temporaryFolder(), 'trace');
    const accepting = `
      for (const id of ['a', 'b', 'c', 'd']) {
        const delivery = { kind: 'webhook', id, at: new Date(), object: 'PHID-DREV-a', transactions: [] };
        inbox.accept([delivery]);
        writeSync(1, 'told\\n');
      }`;
    const tracing = ['strace', '-f', '-y', '-e', 'trace=write,fsync,fdatasync', '-o', trace];
    await once(run(path, accepting, tracing), 'close');
    const calls = readFileSync(trace, 'utf8').split('\n');
    const steps = calls.flatMap((call) => {
      if (/ (fsync|fdatasync)\(\d+<[^>]*-wal>/.test(call)) return ['synced'];
      return call.includes('"told') ? ['told'] : [];
    });
    expect(steps.join(' ')).toMatch(/^((synced )+told ?){4}(synced ?)*$/);
  });
});

/** A separate process that has `inbox`. */
function run(path: string, script: string, under: readonly string[] = []) {
  const module = join(import.meta.dirname, '..', '..', 'src', 'relay', 'inbox.ts');
  const whole = `
    import { writeSync } from 'node:fs';
    import { openInbox } from ${JSON.stringify(module)};
    const inbox = openInbox(${JSON.stringify(path)}, () => new Date());
    ${script}`;
  const [program = '', ...words] = [...under, process.execPath, '--expose-gc', '--input-type=module', '--eval'];
  const child = spawn(program, [...words, whole], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
