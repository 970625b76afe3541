// Prepares and boots the base of a self-test: a given kernel, the builder's, or a copy of the DUT's own.
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { BuilderConfig } from '../../config/builder.ts';
import { gitIn } from '../../kernel/kernel-tree.ts';
import { givenKernel, type KernelSource } from '../../kernel/variant.ts';
import { type Diagnostic, ok, wrong } from '../../lab/check/diagnostic.ts';
import { bootFor } from '../../lab/freebsd/boots.ts';
import type { TrialOutcome } from '../../lab/testbed.ts';
import { formatDuration } from '../../model/format.ts';
import { shortId } from '../../model/patch.ts';
import type { PlannedRun, PlannedTrial } from '../../model/planned-trial.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import type { SelfTest } from './self-test-request.ts';

export const baseName = 'base';

export async function readyBase(selfTest: SelfTest, what: string): Promise<Diagnostic[]> {
  const { lab, dut, prepare } = await selfTest.open();
  const { deps, rules, cells } = selfTest;
  const { notify, signal, keepLog, now } = deps;
  const begun = now();
  const base = await baseOf(selfTest, dut.host());
  if (base.kind === 'none') return [wrong(what, base.why, base.fix)];
  const { kernel, commit, description } = base;
  selfTest.commit = commit;
  const variants = [{ variant: baseName, commit, files: [], kernel }];
  const sentence = (text: string) => notify(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
  await prepare({ variants, cells, rules, keepLog, notify: sentence, signal });
  const ready = await lab.prepared?.kernels.get(baseName);
  if (ready?.kind === 'rejected') {
    return [wrong(what, ready.rejection.message, 'fix that on the builder or in ppsgate.yml')];
  }
  return [ok(what, `${description}, there after ${formatDuration(now() - begun)}`)];
}

type BaseKernel =
  /** `commit` is empty if unknown. */
  | { kind: 'found'; description: string; kernel: KernelSource; commit: string }
  | { kind: 'none'; why: string; fix: string };

async function baseOf(selfTest: SelfTest, dut: Host): Promise<BaseKernel> {
  const { baseKernel, testbed, directory } = selfTest;
  const given = async (description: string, path: string): Promise<BaseKernel> => {
    return { kind: 'found', description: description, commit: '', kernel: await givenKernel(path) };
  };
  if (baseKernel !== undefined) return given(baseKernel, baseKernel);
  if (testbed.builder !== undefined) return checkedOut(selfTest, testbed.builder);
  if (testbed.dut.boot.method === 'nanobsd') {
    const fix = 'supply one with --base-kernel, as for gates';
    return { kind: 'none', why: 'there is no image, and none can be built', fix };
  }
  const path = join(directory, 'own-kernel.tar');
  await fetchOwn(dut, path);
  return given("a copy of the DUT's own", path);
}

async function checkedOut({ deps }: SelfTest, builder: BuilderConfig): Promise<BaseKernel> {
  await using host = await deps.connect(builder, 'builder');
  const { repository } = builder;
  const commit = (await host.output(gitIn(repository, shell`rev-parse HEAD`))).trim();
  const description = `built of ${shortId(commit)}, which ${repository} has checked out`;
  return {
    kind: 'found',
    description: description,
    commit,
    kernel: { kind: 'tree', baseCommit: commit },
  };
}

async function fetchOwn(dut: Host, path: string): Promise<void> {
  const folder = dirname((await dut.output(shell`sysctl -n kern.bootfile`)).trim());
  const file = createWriteStream(`${path}.part`);
  await dut.run(shell`tar -c -f - -C ${folder} .`, {
    onStdout: (chunk) => void file.write(chunk),
  });
  file.end();
  await finished(file);
  await rename(`${path}.part`, path);
}

/** Plans one run in its own boot; `boot` identifies the boot. */
export function plannedFor(cell: Cell, boot: number, number: number): PlannedTrial & { run: PlannedRun } {
  const run = { number, variant: baseName, pair: boot };
  return { number, cell, runs: [run], run };
}

/** Boots base, unless it has run since that boot. Returns the obstacle, if any. */
export async function bootBase({ open, cells, deps }: SelfTest, boot: number): Promise<string | undefined> {
  const { lab } = await open();
  const [cell] = cells;
  const kernel = await lab.prepared?.kernels.get(baseName);
  if (cell === undefined || kernel === undefined || kernel.kind === 'rejected') {
    return 'there is no kernel to boot';
  }
  deps.signal.throwIfAborted();
  const planned = plannedFor(cell, boot, boot);
  const outcome = await bootFor(lab.boots, planned, planned.run, kernel);
  return outcome.kind === 'ready' ? undefined : whyNot(outcome);
}

/** Names the log folder of a cell: `forwarding-inet4`. */
export const folderOf = (cell: Cell): string => cellName(cell).replace(/[^\w.-]+/g, '-');

export function whyNot(outcome: TrialOutcome): string {
  if (outcome.kind === 'rejected') return outcome.rejection.message;
  return outcome.kind === 'failed' ? outcome.reason : 'the DUT received packets, but forwarded none';
}
