// What a session has of testbeds: the one that it waits for, and others beside it where they are free soon.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Config } from '../src/config/schema.ts';
import { openRepository } from '../src/patch/repository.ts';
import { openStore } from '../src/reservation/open.ts';
import { readLab } from '../src/reservation/records.ts';
import { inSession } from '../src/session.ts';
import { temporaryFolder } from './fakes/folder.ts';
import { memoryHistory } from './fakes/history.ts';
import { newRepository } from './fakes/repository.ts';
import { pullRequest } from './fakes/result.ts';
import { testWith } from './needs.ts';
import { type Study, startStudy } from './studies/study.ts';

const startRack = (name: string): Promise<Study> =>
  startStudy({
    name,
    lab: { truth: () => 5e6, hardware: { 'hw.model': 'A CPU', 'hw.ncpu': '8' } },
    port: '',
    settings: 'scenarios: [forwarding]',
  });

testWith(
  ['sshd', 'ssh-keygen'],
  'a testbed beside the first is leased by itself, and each is given back by itself',
  async () => {
    await using left = await startRack('left');
    await using right = await startRack('right');
    const folder = temporaryFolder();
    const config: Config = {
      ...left.config,
      testbeds: { ...left.config.testbeds, ...right.config.testbeds },
      reservations: { store: 'sqlite', path: join(folder, 'lab.sqlite'), leaseSeconds: 30 },
    };
    const lines: string[] = [];
    const session = {
      ...{ config, history: memoryHistory(), signal: new AbortController().signal },
      repository: openRepository(newRepository()),
      output: { write: (text: string) => lines.push(text) > 0 },
      requestFor: () => ({ priority: 'patch', holder: { who: 'alice', purpose: 'gate' } }) as const,
      leaseFolder: join(folder, 'gate'),
    };
    const held = async () => {
      const store = await openStore(config.reservations);
      const lab = await readLab(store);
      await store.close();
      return [...new Set([...lab.held.values()].map(({ testbed }) => testbed))].toSorted();
    };
    const hasLease = (name: string) => existsSync(join(folder, 'gate', name, 'lease.json'));

    await inSession(session, async (world) => {
      const first = await world.reserve(['left'], pullRequest);
      const part = world.partOn('right');
      const other = await part.reserveSoon(pullRequest, 60);
      expect([first.name, other.name]).toEqual(['left', 'right']);
      expect(await held()).toEqual(['left', 'right']);
      expect([hasLease(''), hasLease('right')]).toEqual([true, true]);
      part.onEvent({ kind: 'told', text: 'It begins.' });
      await expect(part.reserveSoon(pullRequest, 0.1)).rejects.toThrow(
        'it was not free within 0.1 s',
      );

      await first.giveBack('no-regression');
      expect(await held()).toEqual(['right']);
      expect([hasLease(''), hasLease('right')]).toEqual([false, true]);
      await other.giveBack('no-regression');
      expect(await held()).toEqual([]);
    });
    expect(lines).toContain('right: It begins.\n');
  },
);
