// Tests that a session holds the testbed while its gate runs, and releases it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { openRepository } from '../../src/forge/patch/repository.ts';
import { readLab } from '../../src/gate/reserve/records.ts';
import { openStore } from '../../src/gate/reserve/store/open.ts';
import { inSession } from '../../src/gate/session.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { memoryHistory } from '../fakes/history.ts';
import { newRepository } from '../fakes/repository.ts';
import { pullRequest } from '../fakes/result.ts';
import { testWith } from '../needs.ts';
import { startStudy } from '../studies/study.ts';

testWith(['sshd', 'ssh-keygen'], 'a testbed is leased until it is given back', async () => {
  await using rack = await startStudy({
    name: 'rack',
    lab: { truth: () => 5e6, hardware: { 'hw.model': 'A CPU', 'hw.ncpu': '8' } },
    port: '',
    settings: 'scenarios: [forwarding]',
  });
  const folder = temporaryFolder();
  const config: Config = {
    ...rack.config,
    reservations: { store: 'sqlite', path: join(folder, 'lab.sqlite'), leaseSeconds: 30 },
  };
  const lines: string[] = [];
  const session = {
    config,
    history: memoryHistory(),
    signal: new AbortController().signal,
    repository: openRepository(newRepository()),
    output: { write: (text: string) => lines.push(text) > 0 },
    requestFor: () => ({ priority: 'patch', holder: { who: 'alice', purpose: 'gate' } }) as const,
    leaseFolder: join(folder, 'gate'),
  };
  const held = async () => {
    const store = await openStore(config.reservations);
    const lab = await readLab(store);
    await store.close();
    return [...new Set([...lab.held.values()].map(({ testbed }) => testbed))];
  };
  const hasLease = () => existsSync(join(folder, 'gate', 'lease.json'));

  await inSession(session, async (deps) => {
    const reserved = await deps.reserve(['rack'], pullRequest);
    expect(await held()).toEqual(['rack']);
    expect(hasLease()).toBe(true);
    deps.onEvent({ kind: 'note', text: 'It begins.' });
    await reserved.giveBack('no-regression');
    expect(await held()).toEqual([]);
    expect(hasLease()).toBe(false);
  });
  expect(lines).toContain('It begins.\n');
});
