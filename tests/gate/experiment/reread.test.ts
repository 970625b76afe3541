import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JournalEntry, openJournal } from '../../../src/gate/experiment/journal.ts';
import { reread } from '../../../src/gate/experiment/reread.ts';
import { freebsdLogNames } from '../../../src/lab/freebsd/freebsd-logs.ts';
import { logNames } from '../../../src/lab/netns/netns-logs.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { madeLog, trial } from '../../fakes/pkt-gen.ts';
import { aPlan, aPlanOfFour, singleRuns } from '../../fakes/plan.ts';
import { aRun } from '../../fakes/result.ts';

const at = '2026-11-20T12:00:00.000Z';

test('the logs of a trial without a variant that was left out are read as those of the others', async () => {
  const plan = aPlanOfFour();
  const [trial] = plan.trials;
  const installed = trial?.runs.filter(({ variant }) => variant !== 'diff 80345') ?? [];
  const samples = installed.flatMap(({ number }, index) => [
    `sample ${index} ${index}.00 0 0 - - -`,
    `sample ${index} ${index}.02 ${number} ${number} - - -`,
  ]);
  const forwarded = installed.reduce((sum, { number }) => sum + number, 0);
  const directory = temporaryFolder();
  const logs = join(directory, 'trials', '001');
  mkdirSync(logs, { recursive: true });
  writeFileSync(join(logs, logNames.dut), [...samples, 'end', ''].join('\n'));
  writeFileSync(join(logs, logNames.sender), '\n 3000000 packets outgoing\n 2 sec, 0 usec on CPU0 (3000000 packets)\n');
  writeFileSync(
    join(logs, logNames.counters),
    JSON.stringify({
      before: { forwarded: 0, received: 0 },
      after: { forwarded, received: forwarded },
    }),
  );
  const entry: JournalEntry = {
    kind: 'measured',
    at,
    summary: {
      number: 1,
      attempt: 1,
      cell: { scenario: 'forwarding', family: 'inet4' },
      startedAt: at,
      trafficSeconds: 2,
      offeredPps: 1.5e6,
      logs: join('trials', '001'),
    },
    runs: installed.map((run) => aRun({ ...run, trial: 1 })),
  };
  const journal = await openJournal(join(directory, 'journal.jsonl'));
  await journal.append(entry);
  await journal.close();

  const { entries, unread } = await reread(directory, plan);
  expect(unread).toBe(0);
  const runs = entries.flatMap((one) => (one.kind === 'measured' ? one.runs : []));
  expect(runs.map(({ number, variant }) => ({ number, variant }))).toEqual(
    installed.map(({ number, variant }) => ({ number, variant })),
  );
  // Each forwarded as many packets as its number, in 20 ms.
  for (const { number, pps } of runs) expect(pps).toBeCloseTo(number * 50, 3);
});

test('a receiver that was the limit on the day is so when its log is read again', async () => {
  const plan = aPlan(singleRuns);
  const [planned] = plan.trials;
  const directory = temporaryFolder();
  const logs = join(directory, 'trials', '001');
  mkdirSync(logs, { recursive: true });
  const log = (side: 'sender' | 'receiver', pps: number) => madeLog({ side, pps: trial(pps, 20) });
  writeFileSync(join(logs, freebsdLogNames.receiver), log('receiver', 6.2e6));
  writeFileSync(join(logs, freebsdLogNames.sender(0)), log('sender', 14e6));
  const journal = await openJournal(join(directory, 'journal.jsonl'));
  await journal.append({
    kind: 'measured',
    at,
    summary: {
      number: 1,
      attempt: 1,
      cell: { scenario: 'forwarding', family: 'inet4' },
      startedAt: at,
      trafficSeconds: 22,
      offeredPps: 14e6,
      egressPackets: 9.1e6 * 22,
      logs: join('trials', '001'),
    },
    runs: (planned?.runs ?? []).map((run) => aRun({ ...run, trial: 1 })),
  });
  await journal.close();

  const { entries } = await reread(directory, plan);
  expect(entries).toMatchObject([
    {
      summary: { egressPackets: 9.1e6 * 22 },
      runs: [{ validity: { cause: 'receiver-limited' } }],
    },
  ]);
});

test.for(['../outside', 'linked', '/etc', 'trials/../../outside'])(
  'Logs outside of the work directory are not read, as the journal names %s',
  async (logs) => {
    const plan = aPlan(singleRuns);
    const [planned] = plan.trials;
    const top = temporaryFolder();
    const [directory, outside] = [join(top, 'work'), join(top, 'outside')];
    for (const folder of [directory, outside]) mkdirSync(folder);
    symlinkSync(outside, join(directory, 'linked'));
    const log = (side: 'sender' | 'receiver') => madeLog({ side, pps: trial(1e6, 20) });
    writeFileSync(join(outside, freebsdLogNames.receiver), log('receiver'));
    writeFileSync(join(outside, freebsdLogNames.sender(0)), log('sender'));
    const cell = { scenario: 'forwarding', family: 'inet4' } as const;
    const journal = await openJournal(join(directory, 'journal.jsonl'));
    const entry: JournalEntry = {
      kind: 'measured',
      at,
      summary: {
        number: 1,
        attempt: 1,
        cell,
        startedAt: at,
        trafficSeconds: 22,
        offeredPps: 14e6,
        logs,
      },
      runs: (planned?.runs ?? []).map((run) => aRun({ ...run, trial: 1 })),
    };
    await journal.append(entry);
    await journal.close();
    expect(await reread(directory, plan)).toEqual({ entries: [entry], unread: 1 });
  },
);
