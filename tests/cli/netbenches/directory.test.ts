// Sets and runs of a netbenches directory.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBenches } from '../../../src/cli/netbenches/directory.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { madeLog } from '../../fakes/pkt-gen.ts';
import { times } from '../../random.ts';

const log = madeLog({ pps: [1, 2, 3] });

/** A directory of such files. */
function benches(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const logsNamed = (...names: string[]) => benches(Object.fromEntries(names.map((name) => [name, log])));

test('a set shows the content of its .info, and its runs have both logs', async () => {
  const sender = madeLog({ pps: [7], side: 'sender' });
  const folder = benches({
    'bench.r1.aim.off.inet6.1.receiver': log,
    'bench.r1.aim.off.inet6.1.sender': sender,
    'bench.r1.aim.off.inet6.info': 'IMAGE="r1"\nCFG="aim.off"\nPKTGEN="inet6"\nUNAME="FreeBSD hp 13.0-CURRENT  amd64"',
  });
  expect(await readBenches(folder)).toMatchObject([
    {
      label: 'r1.aim.off.inet6',
      image: 'r1',
      config: 'aim.off',
      family: 'inet6',
      kernel: 'FreeBSD hp 13.0-CURRENT  amd64',
      runs: [
        {
          number: 1,
          receiver: { path: 'bench.r1.aim.off.inet6.1.receiver', log: { faults: [], lines: 13 } },
          sender: { path: 'bench.r1.aim.off.inet6.1.sender', log: { rates: [{ pps: 7 }] } },
        },
      ],
    },
  ]);
});

test('runs are in the order of their numbers, with gaps, and sets in natural order', async () => {
  const folder = logsNamed(
    'bench.r10.10.receiver',
    'bench.r10.9.receiver',
    'bench.r10.2.receiver',
    'bench.r9.1.receiver',
  );
  const sets = await readBenches(folder);
  expect(sets.map(({ label, runs }) => [label, runs.map(({ number }) => number)])).toEqual([
    ['r9', [1]],
    ['r10', [2, 9, 10]],
  ]);
});

test.for([
  ['forwarding.aim.off', { image: 'forwarding', config: 'aim.off' }],
  ['1000-default', { image: '1000-default' }],
  ['325006.inet4', { image: '325006', family: 'inet4' }],
  ['r1.pf.inet6', { image: 'r1', config: 'pf', family: 'inet6' }],
  ['inet4', { image: 'inet4', family: 'inet4' }],
] as const)('without an .info the label tells: %s', async ([label, told]) => {
  const [set] = await readBenches(logsNamed(`bench.${label}.3.receiver`));
  const { runs: _, ...about } = set ?? { runs: [] };
  expect(about).toEqual({ label, ...told });
});

test('the rest of the label replaces what an .info omits', async () => {
  const folder = benches({
    'bench.13.1.pf.inet4.1.receiver': log,
    'bench.13.1.pf.inet4.info': 'IMAGE=\'13.1\'\nCFG=""\nPKTGEN=\n',
  });
  const [set] = await readBenches(folder);
  expect(set).toMatchObject({ image: '13.1', config: 'pf', family: 'inet4' });
});

test('an .info is read, not run', async () => {
  const made = join(temporaryFolder(), 'made');
  const folder = benches({
    'bench.a.1.receiver': log,
    'bench.a.info': `IMAGE="$(touch ${made})"\nCFG=\`touch ${made}\`\nrm -rf x; UNAME="b"\n`,
  });
  const [set] = await readBenches(folder);
  expect(set?.image).toBe(`$(touch ${made})`);
  expect(set).not.toHaveProperty('config');
  expect(set).not.toHaveProperty('kernel');
  await expect(readBenches(made)).rejects.toThrow('ENOENT');
});

test('a directory or a link named like a log is a fault of its run', async () => {
  const folder = logsNamed('bench.a.1.receiver');
  mkdirSync(join(folder, 'bench.a.2.receiver'));
  symlinkSync('bench.a.1.receiver', join(folder, 'bench.a.3.receiver'));
  symlinkSync('/dev/zero', join(folder, 'bench.a.1.sender'));
  symlinkSync('bench.a.1.receiver', join(folder, 'bench.a.info'));
  const [set] = await readBenches(folder);
  const faultsOf = (path: string) => [
    { kind: 'unreadable', message: `${path} cannot be read: it is not a regular file` },
  ];
  const runs = set?.runs.map(({ receiver, sender }) => [receiver.log.faults, sender?.log.faults]);
  const [second, third] = ['bench.a.2.receiver', 'bench.a.3.receiver'].map(faultsOf);
  expect(set?.image).toBe('a');
  expect(runs).toEqual([
    [[], faultsOf('bench.a.1.sender')],
    [second, undefined],
    [third, undefined],
  ]);
});

test('every receiver is found once, with any labels', async () => {
  const words = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/);
  const runs = fc.uniqueArray(fc.tuple(words, fc.nat(20)), {
    minLength: 1,
    maxLength: 8,
    selector: ([label, run]) => `${label}.${run}`,
  });
  await fc.assert(
    fc.asyncProperty(runs, async (wanted) => {
      const names = wanted.map(([label, run]) => `bench.${label}.${run}.receiver`);
      const sets = await readBenches(logsNamed(...names));
      const found = sets.flatMap((set) => set.runs.map((run) => run.receiver.path));
      expect(found.toSorted()).toEqual(names.toSorted());
    }),
    { numRuns: times(15) },
  );
});
