import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasMeasured, type JournalEntry, JournalError, openJournal } from '../../../src/gate/experiment/journal.ts';
import { families, scenarios } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { times } from '../../random.ts';

const at = '2026-11-20T12:00:00.000Z';
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\n', '\u2028', '{"kind":"finished"}\n', 'ein Überläufer 🚦'),
);
const count = fc.nat();
const positive = fc.integer({ min: 1, max: 1e7 });
const seconds = fc.double({ min: 1e-6, max: 1e6, noNaN: true });
const cell = fc.record({
  scenario: fc.constantFrom(...scenarios),
  family: fc.constantFrom(...families),
});

const run = fc.record(
  {
    number: positive,
    trial: positive,
    attempt: positive,
    pair: positive,
    variant: anyText,
    pps: fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e9, noNaN: true })),
    nsPerPacket: seconds,
    samples: fc.array(fc.record({ seconds, receivedPackets: count, forwardedPackets: count, busySeconds: seconds }), {
      maxLength: 3,
    }),
    validity: fc.oneof(
      fc.constant({ kind: 'valid' as const }),
      fc.record({
        kind: fc.constant('invalid' as const),
        cause: fc.constantFrom('hole' as const, 'unsteady' as const),
        reason: anyText,
      }),
    ),
  },
  { requiredKeys: ['number', 'trial', 'attempt', 'pair', 'variant', 'pps', 'samples', 'validity'] },
);

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    kind: fc.constant('started' as const),
    at: fc.constant(at),
    fingerprint: fc
      .array(fc.tuple(fc.stringMatching(/^[a-z][a-z.]{0,9}$/), anyText))
      .map((pairs) => Object.fromEntries(pairs)),
    warnings: fc.array(anyText, { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant('rejected' as const),
    at: fc.constant(at),
    variant: anyText,
    rejection: fc.record({
      kind: fc.constant('does-not-load' as const),
      scenario: fc.constantFrom(...scenarios),
      message: anyText,
    }),
  }),
  fc.record({
    kind: fc.constant('measured' as const),
    at: fc.constant(at),
    summary: fc.record({
      number: positive,
      attempt: positive,
      cell,
      startedAt: fc.constant(at),
      trafficSeconds: seconds,
      offeredPps: seconds,
      logs: anyText,
    }),
    runs: fc.array(run, { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('failed' as const),
    at: fc.constant(at),
    trial: positive,
    reason: anyText,
  }),
  fc.record({ kind: fc.constant('finished' as const), at: fc.constant(at) }),
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
  for (let length = 0; length <= bytes.length; length += 1) {
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
