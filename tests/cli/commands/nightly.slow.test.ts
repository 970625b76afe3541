// Tests the requirements of `ppsgate nightly`, and that an interrupted one keeps its measurements without a testbed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDemoRepository } from '../../../src/cli/demo/demo-repository.ts';
import { patchOfRange } from '../../../src/forge/patch/commit-range.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { gate } from '../../../src/gate/gate.ts';
import { unshared } from '../../../src/lab/testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { memoryHistory } from '../../fakes/history.ts';
import { aPlace, linuxOf } from '../../fakes/place.ts';
import { aConfig } from '../../fakes/plan.ts';
import { fakeTestbed } from '../../fakes/testbed.ts';

/** Beside a ppsgate.yml whose testbed cannot be reached, the folder `work` of a nightly run that was killed when it had measured. */
async function aNightlyRunCutShort() {
  const place = await aPlace({ fake: linuxOf('fake') });
  const path = join(temporaryFolder(), 'repository');
  await makeDemoRepository(path);
  const repository = openRepository(path);
  const patch = await patchOfRange(repository, 'main..main');
  const request = { patch, config: aConfig(), testbeds: ['fake'], seed: 5 };
  await gate({ ...request, isMeasuredAnyway: true }, join(place.folder, 'work'), {
    repository,
    reserve: async () => unshared('fake', async () => fakeTestbed()),
    history: memoryHistory(),
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    onEvent() {},
    signal: new AbortController().signal,
  });
  return { ...place, path };
}

test('keeps the measurements of an interrupted run, and needs no testbed for that', async () => {
  const { ppsgate, folder, path } = await aNightlyRunCutShort();
  const words = ['--resume', 'work', '--repository', path, '--data', 'data'];
  const { status, stdout, stderr } = await ppsgate('nightly', ...words);
  expect([status, stdout]).toEqual([0, expect.stringMatching(/loses nothing.*\nReport: work\/report\/index\.html\n$/)]);
  expect(stderr).not.toContain('warning');
  const nightlyRuns = join(folder, 'data', 'trend', 'fake', 'forwarding-inet4', '2026.jsonl');
  const [line, ...more] = readFileSync(nightlyRuns, 'utf8').trimEnd().split('\n');
  expect(more).toEqual([]);
  expect(JSON.parse(line ?? '')).toMatchObject({ occasion: 'nightly' });

  expect((await ppsgate('nightly', ...words)).status).toBe(0);
  expect(readFileSync(nightlyRuns, 'utf8')).toBe(`${line}\n`);
});
