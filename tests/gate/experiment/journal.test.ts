import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasMeasured, type JournalEntry, JournalError, openJournal } from '../../../src/gate/experiment/journal.ts';
import { scenarios } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aRun, aTrial, unfit } from '../../fakes/result.ts';
import { anyCharacter, times } from '../../random.ts';

const at = '2026-11-20T12:00:00.000Z';
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('', '\n', '\u2028', '{"kind":"finished"}\n', 'ein Überläufer 🚦'),
);
const seconds = fc.double({ min: 1e-6, max: 1e6, noNaN: true });

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc
    .tuple(anyText, fc.stringMatching(/^[a-z][a-z.]{0,9}$/))
    .map(([text, name]): JournalEntry => ({ kind: 'started', at, fingerprint: { [name]: text }, warnings: [text] })),
  fc.tuple(anyText, fc.constantFrom(...scenarios)).map(([text, scenario]): JournalEntry => {
    const rejection = { kind: 'does-not-load', scenario, message: text } as const;
    return { kind: 'rejected', at, variant: text, rejection };
  }),
  fc.tuple(anyText, seconds, fc.nat({ max: 3 })).map(([text, number, count]): JournalEntry => {
    const sample = { seconds: number, receivedPackets: 7, forwardedPackets: count, busySeconds: number };
    const run = aRun({ variant: text, pps: count * 1e5, samples: new Array(count).fill(sample) });
    const runs = [run, { ...run, nsPerPacket: number, validity: unfit(text) }];
    return { kind: 'measured', at, summary: aTrial({ logs: text, trafficSeconds: number }), runs };
  }),
  anyText.map((reason): JournalEntry => ({ kind: 'failed', at, trial: 7, reason })),
  fc.constant<JournalEntry>({ kind: 'finished', at }),
);

const failed = (trial: number): JournalEntry => ({
  kind: 'failed',
  at,
  trial,
  reason: 'no traffic',
});

async function write(path: string, entries: readonly JournalEntry[]): Promise<void> {
  const journal = await openJournal(path);
  for (const entry of entries) await journal.append(entry);
  await journal.close();
}

async function read(path: string): Promise<JournalEntry[]> {
  const journal = await openJournal(path);
  await journal.close();
  return journal.entries;
}

test('reads all that was appended, by one process or by several in turn', async () => {
  const folder = temporaryFolder();
  let number = 0;
  const entries = fc.array(anyEntry, { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(entries, entries, async (first, second) => {
      number += 1;
      const path = join(folder, `${number}.jsonl`);
      await write(path, first);
      await write(path, second);
      expect(await read(path)).toEqual([...first, ...second]);
    }),
    { numRuns: times(25) },
  );
});

test('a journal cut at any byte keeps every whole line, and continues after the last of them', async () => {
  const folder = temporaryFolder();
  const whole = join(folder, 'whole.jsonl');
  await write(whole, [
    { kind: 'started', at, fingerprint: { cpu: 'Überläufer 🚦' }, warnings: [] },
    failed(1),
    failed(2),
  ]);
  const bytes = readFileSync(whole);
  const entries = await read(whole);
  for (let length = 0; length <= bytes.length; length += length < 60 ? 1 : 7) {
    const path = join(folder, `cut-${length}.jsonl`);
    const cut = bytes.subarray(0, length);
    writeFileSync(path, cut);
    const kept = entries.slice(0, cut.filter((byte) => byte === 0x0a).length);
    await write(path, [failed(9)]);
    expect(await read(path)).toEqual([...kept, failed(9)]);
  }
});

test('a bad line that no kill can explain is refused with its place', async () => {
  const path = join(temporaryFolder(), 'journal.jsonl');
  await write(path, [failed(1)]);
  appendFileSync(path, '{"kind":"guessed"}\n');
  await expect(openJournal(path)).rejects.toThrow(JournalError);
  await expect(openJournal(path)).rejects.toThrow(
    `${path}:2 is not a valid line of an experiment's journal: the directory cannot be resumed; start a new experiment.`,
  );
});

test('a journal that cannot be read is an error, not an empty journal', async () => {
  await expect(openJournal(temporaryFolder())).rejects.toThrow('it is not a regular file');
});

test('Only a folder with a measured trial, its own or of a gate below it, can be resumed', async () => {
  const folder = temporaryFolder();
  expect(await hasMeasured(folder)).toBe(false);
  const path = join(folder, 'first', 'journal.jsonl');
  mkdirSync(join(folder, 'first'));
  writeFileSync(path, `{"kind":"warned","at":"${at}","text":"busy"}\n`);
  expect(await hasMeasured(folder)).toBe(false);
  appendFileSync(path, 'no JSON\n');
  expect(await hasMeasured(folder)).toBe(true);
});
