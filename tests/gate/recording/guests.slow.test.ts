// Recordings of virtual machines: FreeBSD of the fake guests, and Linux of real ones.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import { recordTo } from '../../../src/gate/recording/record.ts';
import { recordedTestbed } from '../../../src/gate/recording/recorded-testbed.ts';
import { replay } from '../../../src/gate/recording/replay.ts';
import { openVirtualTestbed } from '../../../src/lab/qemu/virtual-testbed.ts';
import type { Testbed, TrialOutcome } from '../../../src/lab/testbed.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakeGuestsOptions, fakeGuests } from '../../fakes/freebsd-guests.ts';
import { forwarding, guestTraffic, prepare } from '../../fakes/freebsd-guests-testbed.ts';
import type { KernelText } from '../../fakes/freebsd-lab/kernel.ts';
import { builtVariant } from '../../fakes/freebsd-testbed.ts';

const pf: Cell = { scenario: 'pf-stateful', family: 'inet6' };
const cells = [forwarding, pf];
const { signal } = new AbortController();
const keepLog = async () => {};

type RecordedGate = { path: string; outcomes: TrialOutcome[]; secrets: string[] };

/** Two pairs of both cells, and a profile. */
async function record(options: FakeGuestsOptions = {}, patched: Partial<KernelText> = {}): Promise<RecordedGate> {
  await using guests = fakeGuests(options);
  const folder = temporaryFolder();
  const path = join(folder, 'gate.rec');
  const { config } = guests;
  const recorder = await recordTo(
    path,
    'gate',
    [config],
    () => guests.clock.now(),
    () => {},
  );
  const lab = recorder.guests({ ...guests.lab, facts: async () => ({ machine: 'virtual: QEMU' }) });
  const deps = recorder.deps(guests.deps);
  const testbed = await recordedTestbed(recorder, { name: 'guests', testbed: config, traffic: guestTraffic }, () =>
    openVirtualTestbed('guests', config, guestTraffic, deps, lab),
  );
  await testbed.inspect(cells);
  await prepare(testbed, cells, [
    builtVariant('base', { ident: 'base' }, folder),
    builtVariant('patched', { ident: 'patched', ...patched }, folder),
  ]);
  const outcomes = await trialsOn(testbed);
  await testbed.restore();
  const { privateKeyPath = '' } = config.image;
  const key = readFileSync(privateKeyPath, 'utf8').split('\n');
  return { path, outcomes, secrets: [...key.filter(Boolean), privateKeyPath, config.image.path] };
}

async function trialsOn(testbed: Testbed): Promise<TrialOutcome[]> {
  const outcomes: TrialOutcome[] = [];
  for (const pair of [1, 2]) {
    for (const cell of cells) {
      const number = outcomes.length + 1;
      const runs = ['base', 'patched'].map((variant, index) => ({
        number: 2 * number + index - 1,
        variant,
        pair,
      }));
      outcomes.push(await testbed.trial({ number, cell, runs }, keepLog, signal));
    }
  }
  const request = { cell: pf, variant: 'base', seconds: 1, attempt: 1 };
  await testbed.profile(request, keepLog, signal);
  return outcomes;
}

// Attack read/recorded-names
test('A gate on guests is recorded without its secrets, and replayed without a difference.', async () => {
  const { path, outcomes, secrets } = await record();
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array(4).fill('measured'));
  const text = gunzipSync(readFileSync(path)).toString();
  for (const secret of secrets) expect(text).not.toContain(secret);
  // Each line is written to disk at once, which costs most for short lines.
  expect(readFileSync(path).length).toBeLessThan(2 * gzipSync(text, { level: 9 }).length);
  const { differences, hosts } = await replay(readRecording(path));
  expect(differences).toEqual([]);
  expect(new Set(hosts)).toEqual(new Set(['guest 1', 'guest 2', 'this machine']));
});

test('A guest that panics under load is replayed with the last words of its console.', async () => {
  const panic = 'page fault in pf_test';
  const { path, outcomes } = await record({}, { behaviour: { kind: 'panics-under-load', panic } });
  expect(JSON.stringify(outcomes)).toContain(panic);
  expect((await replay(readRecording(path))).differences).toEqual([]);
});

test('An official image, which has no host key of its own, is not prepared for a replay.', async () => {
  const { path } = await record();
  const lines = gunzipSync(readFileSync(path)).toString().split('\n').filter(Boolean);
  const official = join(temporaryFolder(), 'official.rec');
  const text = lines.map((line) => JSON.stringify(JSON.parse(line, withoutHostKey)));
  writeFileSync(official, gzipSync(`${text.join('\n')}\n`));
  expect((await replay(readRecording(official))).differences).toEqual([]);
});

const withoutHostKey = (key: string, value: unknown) =>
  key === 'hostKey' || key === 'privateKeyPath' ? undefined : value;

describe('two guests with Linux, recorded from QEMU', () => {
  const recording = () => readRecording(join(import.meta.dirname, 'linux-guests.rec.gz'));

  test('are replayed without a difference', async () => {
    const { differences, questions } = await replay(recording());
    expect(differences).toEqual([]);
    expect(questions).toBeGreaterThan(30);
  });

  test('are replayed to another outcome where the windows of one are those of the other', async () => {
    const spoiled = recording();
    for (const { ended } of spoiled.requests) {
      if (ended?.outcome.kind !== 'done') continue;
      ended.outcome.said = ended.outcome.said?.replaceAll(
        /window ([12])/g,
        (_, guest) => `window ${3 - Number(guest)}`,
      );
    }
    const { differences } = await replay(spoiled);
    expect(differences.map(({ kind }) => kind)).toContain('made-otherwise');
  });
});
