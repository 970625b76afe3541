import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type JournalEntry, openJournal } from '../../../src/gate/experiment/journal.ts';
import type { Plan } from '../../../src/gate/experiment/plan.ts';
import { reread } from '../../../src/gate/experiment/reread.ts';
import { freebsdLogNames } from '../../../src/lab/freebsd/freebsd-logs.ts';
import { logNames } from '../../../src/lab/netns/netns-logs.ts';
import type { TrialSummary } from '../../../src/model/result.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { madeLog, trial } from '../../fakes/pkt-gen.ts';
import { aPlan, aPlanOfFour, singleRuns } from '../../fakes/plan.ts';
import { aRun, aTrial } from '../../fakes/result.ts';

const at = '2026-11-20T12:00:00.000Z';

/** A work directory whose journal has the first trial of a plan, with these runs and logs. */
async function work(
  plan: Plan,
  summary: Partial<TrialSummary>,
  files: Record<string, string>,
  runs = plan.trials[0]?.runs,
) {
  const directory = join(temporaryFolder(), 'work');
  const logs = join('trials', '001');
  mkdirSync(join(directory, logs), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, logs, name), text);
  const entry: JournalEntry = {
    kind: 'measured',
    at,
    summary: aTrial({ logs, ...summary }),
    runs: (runs ?? []).map((run) => aRun({ ...run, trial: 1 })),
  };
  const journal = await openJournal(join(directory, 'journal.jsonl'));
  await journal.append(entry);
  await journal.close();
  return { directory, entry };
}

/** Logs of pkt-gen, for 20 seconds of traffic. */
const pktGenLogs = (received: number, sent: number) => ({
  [freebsdLogNames.receiver]: madeLog({ side: 'receiver', pps: trial(received, 20) }),
  [freebsdLogNames.sender(0)]: madeLog({ side: 'sender', pps: trial(sent, 20) }),
});

test('the logs of a trial without a variant that was left out are read as those of the others', async () => {
  const plan = aPlanOfFour();
  const installed = plan.trials[0]?.runs.filter(({ variant }) => variant !== 'diff 80345') ?? [];
  const samples = installed.flatMap(({ number }, index) => [
    `sample ${index} ${index}.00 0 0 - - -`,
    `sample ${index} ${index}.02 ${number} ${number} - - -`,
  ]);
  const forwarded = installed.reduce((sum, { number }) => sum + number, 0);
  const counters = { before: { forwarded: 0, received: 0 }, after: { forwarded, received: forwarded } };
  const files = {
    [logNames.dut]: [...samples, 'end', ''].join('\n'),
    [logNames.sender]: '\n 3000000 packets outgoing\n 2 sec, 0 usec on CPU0 (3000000 packets)\n',
    [logNames.counters]: JSON.stringify(counters),
  };
  const { directory } = await work(plan, { offeredPps: 1.5e6 }, files, installed);
  const { entries, unread } = await reread(directory, plan);
  expect(unread).toBe(0);
  const runs = entries.flatMap((one) => (one.kind === 'measured' ? one.runs : []));
  expect(runs.map(({ variant }) => variant)).toEqual(installed.map(({ variant }) => variant));
  // Each forwarded as many packets as its number, in 20 ms.
  for (const [index, { pps }] of runs.entries()) expect(pps).toBeCloseTo((installed[index]?.number ?? 0) * 50, 3);
});

test('a receiver that was the limit on the day is so when its log is read again', async () => {
  const plan = aPlan(singleRuns);
  const egressPackets = 9.1e6 * 22;
  const summary = { trafficSeconds: 22, offeredPps: 14e6, egressPackets };
  const { directory } = await work(plan, summary, pktGenLogs(6.2e6, 14e6));
  const { entries } = await reread(directory, plan);
  expect(entries).toMatchObject([{ summary: { egressPackets }, runs: [{ validity: { cause: 'receiver-limited' } }] }]);
});

test.for(['../outside', 'linked', '/etc', 'trials/../../outside'])(
  'Logs outside of the work directory are not read, as the journal names %s',
  async (logs) => {
    const plan = aPlan(singleRuns);
    const { directory, entry } = await work(plan, { trafficSeconds: 22, offeredPps: 14e6, logs }, {});
    const outside = join(directory, '..', 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(directory, 'linked'));
    for (const [name, text] of Object.entries(pktGenLogs(1e6, 1e6))) writeFileSync(join(outside, name), text);
    expect(await reread(directory, plan)).toEqual({ entries: [entry], unread: 1 });
  },
);
