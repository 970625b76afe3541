import { readdir, readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { beforeAll, expect, test, vi } from 'vitest';
import type { CellResult } from '../../../src/model/result.ts';
import { readResult } from '../../../src/report/read-result.ts';
import { cellsOf, type Ended, measuredIn, ppsgate, repositoryWith, resumed, workOf } from '../../e2e/freebsd/gates.ts';
import { accidentKernels } from '../../fakes/accidents.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { kernelPackage } from '../../fakes/kernel-package.ts';
import { describeWith, virtualPrograms } from '../../needs.ts';

const { path: kernel, headers } = await kernelPackage();

const patience = { timeout: 300_000, interval: 100 };

const rules = (count: number) => ({
  'dut/nftables.conf': `table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
${'    meta l4proto 254 drop\n'.repeat(count)}  }
}
`,
});

/** A repository whose branch `patched` has sixteen rules more. */
const repositoryOn = (testbed: object): string =>
  repositoryWith(
    {
      testbeds: { here: { kind: 'virtual', ...testbed } },
      overlay: 'dut',
      scenarios: ['forwarding'],
      families: ['inet4'],
      traffic: { windows: 3, windowPackets: 3000 },
      profile: { enabled: true },
    },
    rules(0),
    rules(16),
  );

const gate = (repository: string, ...args: string[]) =>
  ppsgate(repository, 'gate', '--patch', 'main..patched', '--directory', workOf(repository), ...args);

/** Lists guests and their networks. */
async function leftOnThisMachine(): Promise<string[]> {
  const commands = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  const guests = commands.filter((command) => command.includes('ppsgate-1,debug-threads'));
  const interfaces = Object.keys(networkInterfaces()).filter((name) => name === 'ppsgate-vm');
  return [...guests, ...interfaces];
}

describeWith(['root', ...virtualPrograms, kernel], 'a gate on virtual machines', () => {
  let before: number[];
  let after: number[];
  let ended: Ended;
  let cell: CellResult | undefined;

  beforeAll(async () => {
    const repository = repositoryOn({ kernel });
    const running = gate(repository);
    await vi.waitFor(() => expect(measuredIn(repository)).toContain(1), patience);
    running.kill();
    await running.ended;
    await vi.waitFor(async () => expect(await leftOnThisMachine()).toEqual([]), patience);
    before = measuredIn(repository);
    ended = await resumed(repository);
    after = measuredIn(repository);
    [cell] = cellsOf(await readResult(workOf(repository)));
  });

  test('that was killed leaves no guest, and repeats no finished boot once it is resumed', () => {
    expect(before).toContain(1);
    expect(after.toSorted()).toEqual([...new Set(after)].toSorted());
  });

  test('finds that sixteen rules more take more instructions for each packet, and names the functions', () => {
    expect(ended.code).toBe(1);
    expect(cell?.verdict.kind).toBe('regression');
    const [comparison] = cell?.comparisons ?? [];
    expect(comparison?.metric).toBe('instructionsPerPacket');
    expect(comparison?.interval.low).toBeGreaterThan(0.05);
    expect(cell?.reason?.changedFunctions.map((one) => one.function)).toContain('nft_do_chain');
    const lossless = { lostRatio: expect.closeTo(0, 2), drops: [] };
    expect(cell?.limits).toMatchObject({ base: lossless, patched: lossless });
  });

  test('leaves nothing once it has ended', async () => {
    expect(await leftOnThisMachine()).toEqual([]);
  });
});

describeWith(['root', ...virtualPrograms, kernel], 'a virtual testbed', () => {
  test('is checked by a guest that boots, counts and panics', async () => {
    const { code, text } = await ppsgate(repositoryOn({ kernel }), 'testbeds', 'check', 'here').ended;
    expect(text).toMatch(/after a forced panic it shows "sysrq triggered crash"/);
    expect(code).toBe(0);
  });
});

describeWith(['root', ...virtualPrograms, 'make', kernel, headers], 'a patched kernel', () => {
  test('that dies under load twice is rejected, with the last words of its console', async () => {
    const repository = repositoryOn({ modules: ['accident'] });
    const kernels = await accidentKernels(kernel, temporaryFolder());
    const given = ['--base-kernel', kernels.harmless, '--patched-kernel', kernels.failing];
    const { code } = await gate(repository, ...given).ended;
    const { outcome } = await readResult(workOf(repository));
    expect(outcome).toMatchObject({
      kind: 'panics-under-load',
      panic: expect.stringMatching(/^BUG: kernel NULL pointer dereference/),
      console: expect.stringMatching(/RIP: 0010:seen\+0x/),
    });
    expect(code).toBe(1);
    expect(await leftOnThisMachine()).toEqual([]);
  });
});
