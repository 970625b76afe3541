import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baseBranch, demoPatches, makeDemoRepository } from '../../../src/cli/demo/demo-repository.ts';
import { patchOfRange } from '../../../src/forge/patch/commit-range.ts';
import { openRepository } from '../../../src/forge/patch/repository.ts';
import { buildOverlays, type Overlay } from '../../../src/kernel/overlay.ts';
import { whyUnsafe } from '../../../src/lab/linux/nft-tokens.ts';
import { parseSysctl } from '../../../src/lab/linux/sysctl.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

type File = Pick<Overlay['files'][number], 'path' | 'content'>;

function expectAllTaken(files: readonly File[]): void {
  expect(files.map(({ path }) => path)).toEqual(['nftables.conf', 'sysctl.conf']);
  const [nftables, sysctl] = files;
  expect(whyUnsafe(`${nftables?.content}\n`, 'nftables.conf')).toBeUndefined();
  expect(parseSysctl(sysctl?.content ?? '', 'sysctl.conf')).toMatchObject({ kind: 'read' });
}

test('the overlay of the example is taken', () => {
  const folder = join(import.meta.dirname, '../../../docs/example/dut');
  const names = readdirSync(folder).sort();
  expectAllTaken(names.map((path) => ({ path, content: readFileSync(join(folder, path), 'utf8') })));
});

test('the overlays of the demo are taken, of each patch and its base', async () => {
  const directory = join(temporaryFolder(), 'repository');
  await makeDemoRepository(directory);
  const repository = openRepository(directory);
  for (const { branch } of demoPatches) {
    const patch = await patchOfRange(repository, `${baseBranch}..${branch}`);
    for (const { files } of await buildOverlays(patch, { path: 'dut', beside: '' }, repository)) expectAllTaken(files);
  }
});
