import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardIn, raiseIn, tokenFolder } from '../../../src/lab/lease/fence.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { times } from '../../random.ts';
import { makeFolder, namesIn, remove, writeFile } from './file-system.ts';
import { startFreebsdLab } from './lab.ts';

const token = fc.nat({ max: 120 });
const name = fc.oneof(
  token.map(String),
  fc.constantFrom('99x', '0x99', '007', '+98', '.97', 'notes', '9'.repeat(18), '9'.repeat(40)),
  fc.constantFrom(String(2n ** 63n - 1n), String(2n ** 63n)),
);

test('guards and raises come to the same on a fake machine and in a real sh', async () => {
  await using lab = await startFreebsdLab();
  await using host = await connect(lab.dut.target);
  const { files } = lab.dut.machine;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name), token, async (names, token) => {
      remove(files, tokenFolder);
      makeFolder(files, tokenFolder);
      for (const name of names) writeFile(files, `${tokenFolder}/${name}`, '');
      const fake = [
        await codeOf(host, guardIn(tokenFolder), [token, 'uname']),
        await codeOf(host, raiseIn(tokenFolder), [token]),
        namesIn(files, tokenFolder),
      ];
      expect(fake).toEqual(realOutcome(names, token));
    }),
    { numRuns: times(15) },
  );
});

async function codeOf(host: Host, script: string, words: (string | number)[]): Promise<unknown> {
  const outcome = await host.run(shell`sh -c ${script} ppsgate ${words}`);
  return outcome.kind === 'exited' ? outcome.code : outcome.signal;
}

function realOutcome(names: readonly string[], token: number): unknown[] {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
  try {
    for (const name of names) writeFileSync(join(folder, name), '');
    const sh = (...words: string[]) => spawnSync('sh', ['-c', ...words]).status;
    return [
      sh(guardIn(folder), 'ppsgate', String(token), 'uname'),
      sh(raiseIn(folder), 'ppsgate', String(token)),
      readdirSync(folder).sort(),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
