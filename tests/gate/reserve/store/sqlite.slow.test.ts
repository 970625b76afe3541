// SQLite's own cases: many processes at one file, killed processes, clocks that restart, unusable files.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSqlite, type SqliteOptions } from '../../../../src/gate/reserve/store/sqlite.ts';
import { type Store, type StoreChange, StoreError } from '../../../../src/gate/reserve/store/store.ts';
import { temporaryFolder } from '../../../fakes/folder.ts';
import { describeWith } from '../../../needs.ts';
import { times } from '../../../random.ts';

test('processes that make the file and commit at the same time lose nothing', async () => {
  const path = newPath();
  const counting = `
    for (let done = 0; done < 20; ) {
      const { entries: [counter] } = await store.read('');
      const condition = { key: 'counter', revision: counter?.revision ?? 0 };
      const value = String(Number(counter?.value ?? 0) + 1);
      const change = { conditions: [condition], put: [{ key: 'counter', value }], remove: [] };
      if ((await store.commit(change)) !== undefined) done += 1;
    }`;
  const processes = Array.from({ length: 10 }, () => run(path, counting));
  expect(await Promise.all(processes.map(({ exited }) => exited))).toEqual(Array(10).fill(0));
  const store = await open(path);
  expect((await store.read('')).entries).toMatchObject([{ key: 'counter', value: '200' }]);
});

test('a waiting gate is notified of a commit of another process, and does not poll for it', async () => {
  const path = newPath();
  const store = await open(path, { pollSeconds: 1e6 });
  const { revision } = await store.read('');
  const woken = store.changed(revision, never);
  const committing = "await store.commit({ conditions: [], put: [{ key: 'a', value: '1' }], remove: [] });";
  expect(await run(path, committing).exited).toBe(0);
  await woken;
  expect((await store.read('')).revision).toBeGreaterThan(revision);
});

test("a waiting gate is notified after any number of restarts of the file's log", async () => {
  const path = newPath();
  const [one, other] = [await open(path, { pollSeconds: 1e6 }), await open(path)];
  for (let round = 0; round < 100; round += 1) {
    const { revision } = await one.read('');
    const woken = one.changed(revision, never);
    await other.commit(put('a', String(round).repeat(50_000)));
    await woken;
  }
});

test('a waiting gate is notified of changes in the folder that it follows, and not of others', async () => {
  const path = newPath();
  let looks = 0;
  const now = () => {
    looks += 1;
    return 0;
  };
  const store = await open(path, { now, pollSeconds: 1e6 });
  const other = await open(path, { now: () => 0 });
  const { revision } = await store.read('');
  const before = looks;
  const woken = store.changed(revision, never, 'lab/wait/');
  await expect.poll(() => looks - before).toBe(1);
  await other.commit(put('lab/held/a', '1'));
  // Nothing happens in this time, so there is no event to wait for.
  await setTimeout(200);
  expect(looks - before).toBe(1);
  await other.commit(put('lab/wait/a', '1'));
  await woken;
});

test('a waiting gate is notified when a session ends that had a key in the folder that it follows', async () => {
  const path = newPath();
  const [store, other] = [await open(path, { pollSeconds: 1e6 }), await open(path)];
  const session = await other.openSession(100);
  await other.commit({
    conditions: [],
    put: [{ key: 'lab/wait/a', value: '1', session }],
    remove: [],
  });
  const { revision } = await store.read('');
  const woken = store.changed(revision, never, 'lab/wait/');
  await other.endSession(session);
  await woken;
});

test('a session of an earlier boot expires at most its own duration after the first look', async () => {
  const path = newPath();
  const instants = fc.double({ min: 0, max: 1e6, noNaN: true });
  const lifetimes = fc.double({ min: 0.1, max: 3600, noNaN: true });
  await fc.assert(
    fc.asyncProperty(instants, instants, lifetimes, async (earlier, uptime, seconds) => {
      let time = earlier;
      const store = await openSqlite(path, { now: () => time });
      try {
        const session = await store.openSession(seconds);
        await store.commit(put('a', '1', session));
        time = uptime;
        await store.read('');
        // A millisecond for rounding.
        time = uptime + seconds + 0.001;
        expect((await store.read('')).entries).toEqual([]);
        expect(await store.renew(session)).toBe(false);
      } finally {
        await store.close();
      }
    }),
    { numRuns: times(20) },
  );
});

test('a session that another process opens while this one reads is not taken for one of an earlier boot', async () => {
  const path = newPath();
  const later = await open(path, { now: () => 200 });
  let openedMeanwhile: Promise<string> | undefined;
  const now = () => {
    openedMeanwhile ??= later.openSession(5);
    return 100;
  };
  const store = await open(path, { now });
  await store.read('');
  expect(await later.renew((await openedMeanwhile) ?? '')).toBe(true);
});

test('an operation that breaks off changes nothing, and the next is done', async () => {
  const path = newPath();
  let isBroken = false;
  const now = () => {
    if (isBroken) throw new Error('no clock');
    return 0;
  };
  const store = await open(path, { now });
  isBroken = true;
  await expect(store.commit(put('a', '1'))).rejects.toThrow('no clock');
  await expect(store.read('')).rejects.toThrow('no clock');
  isBroken = false;
  expect((await store.read('')).entries).toEqual([]);
  expect(await store.commit(put('a', '1'))).toBeDefined();
});

test('a new file has higher revisions than the previous one', async () => {
  const path = newPath();
  const first = await open(path);
  for (let round = 0; round < 3; round += 1) await first.commit(put('a', '1'));
  const { revision } = await first.read('');
  await first.close();
  rmSync(path);
  // It begins with the milliseconds of its day; sustained commits stay below a thousand a second.
  await expect.poll(() => Date.now()).toBeGreaterThan(revision);
  const second = await open(path);
  expect(await second.commit(put('a', '1'))).toBeGreaterThan(revision);
});

test('its files and their folder are of this user alone', async () => {
  const path = newPath();
  const store = await open(path);
  await store.changed(0, never, 'lab/wait/');
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  for (const name of [path, `${path}-wal`, `${path}-lab-wait`]) {
    expect(statSync(name).mode & 0o777).toBe(0o600);
  }
});

test('a file by another name is the same store', async () => {
  const path = newPath();
  const store = await open(path);
  const link = join(temporaryFolder(), 'link');
  symlinkSync(path, link);
  await (await open(link)).commit(put('a', '1'));
  expect((await store.read('')).entries).toHaveLength(1);
});

test('a file that is moved away while in use is not used any more, and waiting gates get an error', async () => {
  const path = newPath();
  const store = await open(path, { pollSeconds: 0.05 });
  const { revision } = await store.read('');
  const waiting = store.changed(revision, never);
  renameSync(path, `${path}.old`);
  const sentence = `The reservation store ${path} was moved or replaced while in use: restart this process.`;
  expect(await refusal(waiting)).toBe(sentence);
  const next = await open(path);
  expect(await refusal(store.commit(put('a', '1')))).toBe(sentence);
  expect((await next.read('')).entries).toEqual([]);
  expect(await next.commit(put('a', '1'))).toBeDefined();
});

test.each<[string, (path: string) => void]>([
  ['a folder', (path) => mkdirSync(path)],
  ['no database', (path) => writeFileSync(path, 'Reserved by Olivier until Friday.\n'.repeat(100))],
  ['a database of another program', (path) => new DatabaseSync(path).exec('CREATE TABLE songs (title TEXT)')],
  [
    'a store of another version',
    (path) => new DatabaseSync(path).exec('PRAGMA application_id = 0x70707367; PRAGMA user_version = 2'),
  ],
])('a path to %s is refused, and left as it is', async (_, make) => {
  const path = newPath();
  mkdirSync(dirname(path));
  make(path);
  const before = statSync(path).isFile() ? readFileSync(path) : undefined;
  expect(await refusal(open(path))).toMatch(
    /^The reservation store \S+ (?:cannot be used: .*|is a file of another program.*)\.$/,
  );
  if (before !== undefined) expect(readFileSync(path)).toEqual(before);
});

describe('a store that other users may write', () => {
  const refused = /^The reservation store \S+ cannot be used: \S+ has the mode 666, so any user may write to it: /;

  test.each(['', '-wal', '-shm', '-journal'])('is refused by each of its files: %j', async (end) => {
    const path = newPath();
    await (await open(path)).close();
    writeFileSync(path + end, '', { flag: 'a' });
    chmodSync(path + end, 0o666);
    expect(await refusal(open(path))).toMatch(refused);
  });

  test('is not made in a folder that any user may write', async () => {
    const path = newPath();
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o777);
    expect(await refusal(open(path))).toMatch(/ has the mode 777, so any user may write to it/);
    expect(existsSync(path)).toBe(false);
  });

  test('is made in a folder like /tmp, where users cannot replace files of others', async () => {
    const path = newPath();
    mkdirSync(dirname(path));
    chmodSync(dirname(path), 0o1777);
    expect(await (await open(path)).commit(put('a', '1'))).toBeDefined();
  });
});

describeWith(['root'], 'the store of another user', () => {
  const nobody = 65534;

  test.each(['file', 'folder'] as const)('is refused where the %s is theirs, though empty', async (of) => {
    const path = newPath();
    mkdirSync(dirname(path), { mode: 0o755 });
    writeFileSync(path, '');
    const theirs = of === 'file' ? path : dirname(path);
    chownSync(theirs, nobody, nobody);
    expect(await refusal(open(path))).toBe(
      `The reservation store ${path} cannot be used: ${theirs} belongs to the user ${nobody}: remove it, or change its owner to this user, or to a group of both with write access.`,
    );
  });

  test('is used where a group of both may write it', async () => {
    const path = newPath();
    await (await open(path)).close();
    const group = process.getgid?.() ?? 0;
    for (const [place, mode] of [
      [dirname(path), 0o2770],
      [path, 0o660],
    ] as const) {
      chownSync(place, nobody, group);
      chmodSync(place, mode);
    }
    expect(await (await open(path)).commit(put('a', '1'))).toBeDefined();
  });

  test('is created by root for the user who has called it through sudo', async () => {
    const path = newPath();
    mkdirSync(dirname(path), { mode: 0o700 });
    chownSync(dirname(path), nobody, nobody);
    vi.stubEnv('SUDO_UID', String(nobody));
    vi.stubEnv('SUDO_GID', String(nobody));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await (await open(path)).commit(put('a', '1'))).toBeDefined();
    expect(statSync(path).uid).toBe(nobody);
  });
});

test('a file that another process keeps locked can be read, and a commit gives up after 5 s', async () => {
  const path = newPath();
  const store = await open(path);
  await store.commit(put('a', '1'));
  const locking = `
    const database = new DatabaseSync(process.argv[1]);
    database.exec('BEGIN IMMEDIATE');
    console.log('locked');
    setInterval(() => {}, 1e6);`;
  const holder = run(path, locking, [path]);
  await once(holder.stdout, 'data');
  expect((await store.read('')).entries).toHaveLength(1);
  expect(await refusal(store.commit(put('a', '2')))).toBe(
    `The reservation store ${path} cannot be used: database is locked.`,
  );
  holder.kill();
  await holder.exited;
  expect(await store.commit(put('a', '2'))).toBeDefined();
});

test('a commit waits for its turn while others keep committing', async () => {
  const path = newPath();
  const store = await open(path);
  const crowding = `
    const database = new DatabaseSync(process.argv[1], { timeout: 5000 });
    const until = performance.now() + 6500;
    while (performance.now() < until) {
      database.exec('BEGIN IMMEDIATE');
      console.log('crowds');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      database.exec('UPDATE store SET revision = revision + 1; COMMIT');
    }`;
  const crowd = run(path, crowding, [path]);
  await once(crowd.stdout, 'data');
  expect(await store.commit(put('a', '1'))).toBeDefined();
});

describeWith(['root', 'mount'], 'on a separate file system', () => {
  test('a full disk is reported, and the store works once there is space', async () => {
    const path = join(smallDisk(), 'reservations');
    const store = await open(path);
    const filling = (async () => {
      for (let key = 0; ; key += 1) await store.commit(put(String(key), 'x'.repeat(50_000)));
    })();
    expect(await refusal(filling)).toBe(`The reservation store ${path} cannot be used: database or disk is full.`);
    const { entries } = await store.read('');
    expect(entries.length).toBeGreaterThan(5);
    expect(entries.every(({ value }) => value.length === 50_000)).toBe(true);

    execFileSync('mount', ['-o', 'remount,size=8m', dirname(path)]);
    expect(await store.commit(put('more', 'x'.repeat(50_000)))).toBeDefined();
  });

  test.for([0, 16, 60])('a disk on which %i kB are free is refused', async (kilobytes) => {
    const folder = smallDisk();
    writeFileSync(join(folder, 'rubbish'), Buffer.alloc((1024 - kilobytes) * 1024));
    expect(await refusal(open(join(folder, 'reservations')))).toMatch(/^The reservation store \S+ cannot be used: /);
    expect(readdirSync(folder)).toEqual(['rubbish']);
  });
});

/** In a folder that does not exist yet. */
const newPath = (): string => join(temporaryFolder(), 'state', 'reservations');

/** A test has a time limit of its own. */
const never = new AbortController().signal;

async function open(path: string, options: Partial<SqliteOptions> = {}): Promise<Store> {
  const store = await openSqlite(path, { now: () => 0, ...options });
  onTestFinished(() => store.close());
  return store;
}

const put = (key: string, value: string, session?: string): StoreChange => ({
  conditions: [],
  put: [{ key, value, ...(session !== undefined && { session }) }],
  remove: [],
});

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error instanceof StoreError ? error.message : '';
}

const module = join(import.meta.dirname, '../../../../src/gate/reserve/store/sqlite.ts');

/** A process that has opened the store, and is gone when the test ends. */
function run(path: string, program: string, args: readonly string[] = [], uid = process.getuid?.()) {
  const whole = `
    import { DatabaseSync } from 'node:sqlite';
    import { openSqlite } from ${JSON.stringify(module)};
    const now = () => Number(process.hrtime.bigint()) / 1e9;
    const store = await openSqlite(${JSON.stringify(path)}, { now });
    ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', whole, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid }),
  });
  const exited = once(child, 'exit').then(([code]) => code);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { stdout: child.stdout, stderr: child.stderr, kill: () => child.kill('SIGKILL'), exited };
}

/** A folder of 1 MB. */
function smallDisk(): string {
  const folder = temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  onTestFinished(() => {
    // Lazily, because a test that failed may still have a file open there.
    execFileSync('umount', ['--lazy', folder]);
  });
  return folder;
}
