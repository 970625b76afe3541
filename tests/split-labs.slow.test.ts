// What it saves to split cells over two FreeBSD laboratories that are the same, in their own virtual time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Config } from '../src/config/schema.ts';
import { gate } from '../src/gate.ts';
import { chosenFor } from '../src/inventory/same.ts';
import { patchOfRange } from '../src/patch/range.ts';
import { openRepository } from '../src/patch/repository.ts';
import { splitGate } from '../src/split.ts';
import { cellName } from '../src/words/scenario.ts';
import { temporaryFolder } from './fakes/folder.ts';
import { kernelArchive } from './fakes/freebsd-lab/kernel.ts';
import { commit, newRepository } from './fakes/repository.ts';
import { testWith } from './needs.ts';
import { cellsOf, type Study, startStudy, surroundingsOf } from './studies/study.ts';

const kernel = { ident: 'GENERIC' };

const startRack = (name: string, seed: number): Promise<Study> =>
  startStudy({
    name,
    lab: {
      truth: () => 5e6,
      noise: { seed, perBoot: 0.005 },
      // A machine that boots sooner has more of its time for traffic, which is all that is shared.
      timing: { bootSeconds: 55, shutdownSeconds: 5 },
      hardware: { 'hw.model': 'Intel(R) Xeon(R) CPU E5-2650 @ 2.00GHz', 'hw.ncpu': '8' },
    },
    port: '',
    settings: [
      'scenarios: [forwarding, ipfw-stateless, ipfw-stateful, pf-stateless, pf-stateful]',
      'families: [inet4, inet6]',
    ].join('\n'),
  });

testWith(
  ['sshd', 'ssh-keygen'],
  'two testbeds have ten cells measured sooner than one, each with half of them',
  async () => {
    await using alone = await startRack('alone', 1);
    await using left = await startRack('left', 2);
    await using right = await startRack('right', 3);
    const folder = temporaryFolder();
    const archive = join(folder, 'kernel.tar');
    writeFileSync(archive, kernelArchive(kernel));
    const directory = newRepository();
    commit(directory, { revision: 'one' });
    commit(directory, { revision: 'two' });
    const repository = openRepository(directory);
    const patch = await patchOfRange(repository, 'HEAD~1..HEAD');
    const kernels = { base: archive, patched: archive };
    const request = { patch, kernels, seed: 7, isMeasuredAnyway: true };
    const secondsOf = async (study: Study, work: () => Promise<unknown>): Promise<number> => {
      const from = study.lab.clock.now();
      await work();
      return study.lab.clock.now() - from;
    };

    const onOne = { ...request, config: alone.config, testbeds: ['alone'] };
    const seconds = await secondsOf(alone, () =>
      gate(onOne, join(folder, 'alone'), surroundingsOf(alone, repository)),
    );

    const testbeds = { ...left.config.testbeds, ...right.config.testbeds };
    const config: Config = { ...left.config, testbeds, split: true };
    const own = {
      left: surroundingsOf(left, repository),
      right: surroundingsOf(right, repository),
    };
    const world = {
      ...own.left,
      partOn: (name: string) => ({
        onEvent() {},
        reserveSoon: name === 'left' ? own.left.reserve : own.right.reserve,
      }),
    };
    const froms = [left, right].map(({ lab }) => lab.clock.now());
    const onBoth = { ...request, config, ...chosenFor(config) };
    const result = await splitGate(onBoth, join(folder, 'both'), world);
    const splits = [left, right].map(({ lab }, index) => lab.clock.now() - (froms[index] ?? 0));

    expect(cellsOf(result)).toHaveLength(10);
    expect(result.testbed.name).toBe('left and right');
    const onLeft = result.blasts.filter(({ logs }) => logs.startsWith('left/'));
    expect(new Set(onLeft.map(({ cell }) => cellName(cell))).size).toBe(5);
    expect(Math.max(...splits)).toBeLessThan(0.9 * seconds);
  },
);
