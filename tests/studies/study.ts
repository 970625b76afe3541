// Models a study of the archive of forwarding benchmarks: a laboratory with its hardware, a
// ppsgate.yml for that, and patches that are judged there by the production path.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
import type { FreebsdTestbed, GeneratorConfig } from '../../src/config/freebsd-testbed.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { patchOfRange } from '../../src/forge/patch/commit-range.ts';
import { openRepository, type Repository } from '../../src/forge/patch/repository.ts';
import type { HistoryFile } from '../../src/gate/experiment/history.ts';
import { gate } from '../../src/gate/gate.ts';
import type { KernelSums } from '../../src/kernel/kernel-sums.ts';
import { openFreebsdTestbed } from '../../src/lab/freebsd/freebsd-testbed.ts';
import { unshared } from '../../src/lab/testbed.ts';
import type { CellResult, Result } from '../../src/model/result.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { freebsdBuilder } from '../fakes/freebsd-builder.ts';
import { type KernelText, kernelArchive } from '../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../fakes/freebsd-lab/lab.ts';
import type { Load } from '../fakes/freebsd-lab/network.ts';
import { depsOf, testbedOf } from '../fakes/freebsd-testbed.ts';
import { memoryHistory } from '../fakes/history.ts';
import { commit, newRepository } from '../fakes/repository.ts';
import { startSshd } from '../fakes/sshd.ts';

type StudyOptions = {
  /** Name of the testbed. */
  name: string;
  lab: FreebsdLabOptions & Required<Pick<FreebsdLabOptions, 'truth' | 'hardware'>>;
  /** Both ports of the DUT, as in ppsgate.yml. */
  port: string;
  /** Lines of the testbed in ppsgate.yml. */
  testbedLines?: readonly string[];
  /** All of ppsgate.yml but the testbed. */
  settings: string;
};

export type Study = AsyncDisposable & {
  name: string;
  lab: FreebsdLab;
  config: Config;
  /** Loads that were offered to the DUT, with their times. */
  loads: readonly DatedLoad[];
  /** History that one patch leaves for the next. */
  history: HistoryFile;
};

type DatedLoad = Load & { at: number };

export type Judged = {
  study: Study;
  result: Result;
  report: string;
  directory: string;
  /** Seconds since 1970 by their clock. */
  from: number;
  to: number;
};

/** The DUT's own kernel, which no study is about. */
export const ownKernel: KernelText = { ident: 'rescue', release: '13.0-RELEASE' };

export async function startStudy(options: StudyOptions): Promise<Study> {
  const { name, settings } = options;
  const loads: DatedLoad[] = [];
  const lab = await startFreebsdLab({
    kernel: ownKernel,
    ...options.lab,
    truth(load) {
      loads.push({ ...load, at: lab.clock.now() });
      return options.lab.truth(load);
    },
  });
  const folder = temporaryFolder();
  const text = `${testbedText(options, testbedOf(lab, folder))}\n${settings}`;
  const config = parseConfig(text, { path: join(folder, 'ppsgate.yml'), home: folder });
  const history = memoryHistory();
  return { name, lab, config, loads, history, [Symbol.asyncDispose]: () => lab.stop() };
}

function testbedText(
  { name, port, testbedLines = [] }: StudyOptions,
  { dut, senders, receiver }: FreebsdTestbed,
): string {
  const ssh = ({ host, port, user, privateKeyPath, knownHostsPath }: FreebsdTestbed['dut']) =>
    `host: ${host}, port: ${port}, user: ${user}, key: ${privateKeyPath}, knownHosts: ${knownHostsPath}`;
  const generator = ({ interface: name, mac, addresses, threads, ...host }: GeneratorConfig) =>
    `{ ${ssh({ ...dut, ...host })}, interface: ${name}, mac: "${mac}", inet4: ${addresses.inet4}, inet6: "${addresses.inet6}", threads: ${threads} }`;
  return [
    'testbeds:',
    `  ${name}:`,
    '    kind: freebsd',
    `    dut: { ${ssh(dut)},`,
    `      ingress: { interface: ${dut.ingress.interface}, ${port} },`,
    `      egress: { interface: ${dut.egress.interface}, ${port} },`,
    '      power: { kind: command, on: [pdu, "on"], off: [pdu, "off"], state: [pdu, state] } }',
    '    senders:',
    ...senders.map((sender) => `      - ${generator(sender)}`),
    `    receiver: ${generator(receiver)}`,
    ...testbedLines.map((line) => `    ${line}`),
  ].join('\n');
}

type StudyPatch = {
  title: string;
  base: KernelText;
  patched: KernelText;
};

/** Judges a patch whose kernels were built before. */
export async function judge(study: Study, { title, base, patched }: StudyPatch): Promise<Judged> {
  const folder = temporaryFolder();
  const given = (name: string, kernel: KernelText): string => {
    const path = join(folder, `${name}.tar`);
    writeFileSync(path, kernelArchive(kernel));
    return path;
  };
  const kernels = { base: given('base', base), patched: given('patched', patched) };
  const directory = newRepository();
  commit(directory, { revision: base.ident });
  commit(directory, { revision: patched.ident }, {}, title);
  const repository = openRepository(directory);
  const { name, lab, config } = study;
  const work = join(temporaryFolder(), 'work');
  const from = lab.clock.now();
  const patch = await patchOfRange(repository, 'HEAD~1..HEAD');
  const result = await gate(
    { patch, config, testbeds: [name], seed: 7, kernels },
    work,
    surroundingsOf(study, repository),
  );
  const report = readFileSync(join(work, 'report.md'), 'utf8');
  return { study, result, report, directory: work, from, to: lab.clock.now() };
}

/** Dependencies of a gate or a bisection, with the laboratory as a testbed of ours. */
export function surroundingsOf<Opened extends Repository>(
  { name, lab, config, history }: Study,
  repository: Opened,
  signal = new AbortController().signal,
) {
  const testbed = config.testbeds[name];
  if (testbed?.kind !== 'freebsd') throw new TypeError(`${name} is no FreeBSD testbed.`);
  return {
    repository,
    reserve: async () =>
      unshared(name, (traffic) => {
        const deps = { ...depsOf(lab), kernelSums: sumsOfBuilders };
        return openFreebsdTestbed(name, testbed, traffic, deps);
      }),
    history,
    now: () => new Date(lab.clock.now() * 1000),
    onEvent() {},
    signal,
  };
}

const sums = new Map<string, string>();

/** Checksums of one controller: a kernel built by one test is not built again for the next one of the same builder. */
const sumsOfBuilders: KernelSums = {
  get: (name) => sums.get(name),
  set: (name, sha256) => void sums.set(name, sha256),
};

export type Builder = AsyncDisposable & {
  /** Lines of the testbed in ppsgate.yml; the builder builds from this repository until the next call. */
  linesFor(repository: string): string[];
};

/** Makes the file `out/kernel` of a tree, and other files in `out`, by a line of shell. */
export async function startBuilder(makeKernel: string): Promise<Builder> {
  const home = mkdtempSync(join(tmpdir(), 'ppsgate-builder-'));
  const path = [freebsdBuilder(home).bin, process.env.PATH].join(delimiter);
  const { stop, privateKey, knownHosts, host, port, user } = await startSshd(undefined, path);
  const build = join(home, 'build-kernel');
  writeFileSync(build, buildScript(makeKernel, home), { mode: 0o755 });
  writeFileSync(join(home, 'key'), privateKey, { mode: 0o600 });
  writeFileSync(join(home, 'known_hosts'), knownHosts);
  mkdirSync(join(home, 'kernels'));
  return {
    linesFor(repository) {
      rmSync(join(home, 'repository'), { force: true });
      symlinkSync(repository, join(home, 'repository'));
      return [
        `builder: { host: ${host}, port: ${port}, user: ${user}, key: ${join(home, 'key')},`,
        `  knownHosts: ${join(home, 'known_hosts')}, folder: ${join(home, 'kernels')}, repository: ${repository},`,
        `  freeSpace: 1 GB, kernel: { kind: command, argv: [${build}] } }`,
      ];
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(home, { recursive: true });
    },
  };
}

/** Without the repository in its words, kernels of equal trees are shared in the builder's cache. */
const buildScript = (makeKernel: string, home: string): string => `#!/bin/sh
set -e
work=$(mktemp -d)
git -C ${home}/repository archive "$BASE_COMMIT" | tar -x -C "$work"
cd "$work"
[ -z "$DIFF" ] || git apply "$DIFF"
mkdir out
${makeKernel}
tar -cf "$OUTPUT" -C out .
rm -rf "$work"
`;

/** Throws if nothing was judged. */
export function cellsOf({ outcome }: Result): CellResult[] {
  if (outcome.kind === 'judged') return outcome.cells;
  throw new TypeError(`Nothing was judged: ${JSON.stringify(outcome)}`);
}

/** The change of a cell, of the judged metric; NaN if it has none. */
export const changeOf = (cell: CellResult | undefined): number => cell?.comparisons[0]?.interval.change ?? Number.NaN;

/** Expects the properties of the DUT in the report. */
export function expectItems(report: string, items: Record<string, string>): void {
  for (const [name, value] of Object.entries({ ...usualSettings, ...items })) {
    expect(report).toContain(`- \`${name}\`: \`${value}\`\n`);
  }
}

const usualSettings = {
  'kern.random.harvest.mask': '65887',
  'net.inet.ip.forwarding': '1',
  'net.inet.ip.redirect': '0',
  'net.inet6.ip6.forwarding': '1',
  'net.inet6.ip6.redirect': '0',
};
