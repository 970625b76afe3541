import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CellResult, Result } from '../../../src/model/result.ts';
import { readResult } from '../../../src/report/read-result.ts';
import { accidentKernels } from '../../fakes/accidents.ts';
import { kernelPackage } from '../../fakes/kernel-package.ts';
import { describeWith, virtualPrograms } from '../../needs.ts';

const cli = join(import.meta.dirname, '../../../src/cli.ts');
const { path: kernel, headers } = await kernelPackage();

const patience = { timeout: 300_000, interval: 100 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'virtual-gate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rules = (count: number) => `table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
${'    meta l4proto 254 drop\n'.repeat(count)}  }
}
`;

/** A repository with `main` and `patched`, which has sixteen rules more. */
async function makeRepository(name: string, testbed: string): Promise<string> {
  const path = join(folder, name);
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: path });
  await mkdir(join(path, 'dut'), { recursive: true });
  const config = `testbeds: { here: ${testbed} }
overlay: dut
scenarios: [forwarding]
families: [inet4]
traffic: { windows: 3, windowPackets: 3000 }
history: ../${name}.history
`;
  await writeFile(join(path, 'ppsgate.yml'), config);
  await writeFile(join(path, 'dut/nftables.conf'), rules(0));
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'A tester');
  await git('config', 'user.email', 'tester@example.net');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'base');
  await git('switch', '--quiet', '--create', 'patched');
  await writeFile(join(path, 'dut/nftables.conf'), rules(16));
  await git('commit', '--quiet', '--all', '--message', 'patched');
  await git('switch', '--quiet', 'main');
  return path;
}

function ppsgate(repository: string, ...args: string[]) {
  const running = spawn(process.execPath, [cli, ...args], { cwd: repository });
  let text = '';
  for (const stream of [running.stdout, running.stderr]) {
    stream.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
  }
  const ended = once(running, 'close').then(([code]) => ({ code: code as number | null, text }));
  return { running, ended };
}

const measuredIn = async (directory: string): Promise<number[]> => {
  const journal = await readFile(join(directory, 'journal.jsonl'), 'utf8').catch(() => '');
  const entries = journal
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return entries.flatMap(({ kind, summary }) => (kind === 'measured' ? summary.number : []));
};

const cellOf = ({ outcome }: Result): CellResult | undefined =>
  outcome.kind === 'judged' ? outcome.cells[0] : undefined;

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
  let repository: string;
  let work: string;
  let left: string[];
  let before: number[];
  let resumed: { code: number | null; text: string };
  let result: Result;

  beforeAll(async () => {
    repository = await makeRepository('rules', `{ kind: virtual, kernel: ${kernel} }`);
    work = join(folder, 'rules.work');
    const range = ['gate', '--patch', 'main..patched', '--directory', work];
    const { running, ended } = ppsgate(repository, ...range);
    await vi.waitFor(async () => expect(await measuredIn(work)).toContain(1), patience);
    running.kill('SIGKILL');
    await ended;
    await vi.waitFor(async () => expect(await leftOnThisMachine()).toEqual([]), patience);
    left = await leftOnThisMachine();
    before = await measuredIn(work);
    resumed = await ppsgate(repository, 'gate', '--resume', work).ended;
    result = await readResult(work);
  });

  test('that was killed leaves no guest and no interface, and repeats no finished boot once it is resumed', async () => {
    expect(left).toEqual([]);
    expect(before).toContain(1);
    const all = await measuredIn(work);
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
  });

  test('finds that sixteen rules more take more instructions for each packet', () => {
    expect(resumed.code).toBe(1);
    expect(cellOf(result)?.verdict.kind).toBe('regression');
    const [told] = cellOf(result)?.comparisons ?? [];
    expect(told?.metric).toBe('instructionsPerPacket');
    expect(told?.interval.low).toBeGreaterThan(0.05);
  });

  test('names the functions that take them, and reads the counters of both guests', () => {
    const changed = cellOf(result)?.reason?.changedFunctions.map((one) => one.function);
    expect(changed).toContain('nft_do_chain');
    const lossless = { lostRatio: expect.closeTo(0, 2), drops: [] };
    expect(cellOf(result)?.limits).toMatchObject({ base: lossless, patched: lossless });
  });

  test('leaves nothing once it has ended', async () => {
    expect(await leftOnThisMachine()).toEqual([]);
  });
});

describeWith(['root', ...virtualPrograms, kernel], 'a virtual testbed', () => {
  test('is checked by a guest that boots, counts and panics', async () => {
    const repository = await makeRepository('check', `{ kind: virtual, kernel: ${kernel} }`);
    const { code, text } = await ppsgate(repository, 'testbeds', 'check', 'here').ended;
    expect(text).toMatch(/after a forced panic it shows "sysrq triggered crash"/);
    expect(code).toBe(0);
  });
});

describeWith(['root', ...virtualPrograms, 'make', kernel, headers], 'a patched kernel', () => {
  test('that dies under load twice is rejected, with the last words of its console', async () => {
    const repository = await makeRepository('oops', '{ kind: virtual, modules: [accident] }');
    const kernels = await accidentKernels(kernel, join(folder, 'kernels'));
    const work = join(folder, 'oops.work');
    const given = ['--base-kernel', kernels.harmless, '--patched-kernel', kernels.failing];
    const range = ['--patch', 'main..patched', '--directory', work];
    const { code } = await ppsgate(repository, 'gate', ...range, ...given).ended;
    const { outcome } = await readResult(work);
    expect(outcome).toMatchObject({
      kind: 'panics-under-load',
      panic: expect.stringMatching(/^BUG: kernel NULL pointer dereference/),
      console: expect.stringMatching(/RIP: 0010:seen\+0x/),
    });
    expect(code).toBe(1);
    expect(await leftOnThisMachine()).toEqual([]);
  });
});
