// Tests which stacks belong to idle processors, and which only interrupt them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutIdle } from '../../../src/analysis/profile/idle.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';

const freebsd = 'fork_exit;sched_idletd;cpu_idle';

test('each stack of golden/idle.txt is idle or work, as its heading says', async () => {
  const stacks = readFileSync(join(import.meta.dirname, 'golden/idle.txt'), 'utf8').split('\n\n# Work\n');
  for (const [index, samples] of [3, 0].entries()) {
    for (const stack of stacks[index]?.split('\n').filter((line) => line !== '' && line !== '# Idle') ?? []) {
      expect([stack, idleSamples(`${stack} 3`)]).toEqual([stack, samples]);
    }
  }
});

test('removes idle stacks, and lists the frames that showed them as idle', () => {
  const profile = parseProfile(`${freebsd} 40\nfork_exit;ip_input 50\n${freebsd};cpu_idle_hlt 10\n`);
  const { profile: work, ...idle } = withoutIdle(profile);
  expect(work).toEqual({ ...profile, stacks: [profile.stacks[1]] });
  expect(idle).toEqual({
    idleSamples: 50,
    idleFrames: ['sched_idletd', 'cpu_idle', 'cpu_idle_hlt'],
  });
});

const idleSamples = (text: string): number => withoutIdle(parseProfile(`${text}\n`)).idleSamples;
