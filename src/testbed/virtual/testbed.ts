// Virtual machines of this machine as a testbed: every pair boots base and patched side by side, and sends windows of
// packets through them in turn.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { noSums } from '../../build/kernel-sums.ts';
import { buildLinuxKernel } from '../../build/linux-kernels.ts';
import { givenKernel, type Variant } from '../../build/variant.ts';
import { frameBytesFor, type Traffic } from '../../config/schema.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';
import { trafgenFlows } from '../../traffic/flows.ts';
import { kernelCommandLine } from '../../virtual-lab/guest.ts';
import { type KernelFiles, KernelFilesError } from '../../virtual-lab/kernel-files.ts';
import { guestCpu, senderCpu, type VirtualLab, virtualLabUp } from '../../virtual-lab/lab.ts';
import { guestMac, senderMac } from '../../virtual-lab/userland.ts';
import type { Rejected } from '../../words/rejection.ts';
import { type Cell, isLinuxScenario } from '../../words/scenario.ts';
import { UsageError } from '../../words/usage-error.ts';
import { pathName } from '../../words/variant-name.ts';
import { connectTo } from '../connect.ts';
import type { FreebsdWorld } from '../freebsd/world.ts';
import type { PrepareRequest, Testbed } from '../testbed.ts';
import { blast, type Guests, stopAll } from './blast.ts';
import type { Bootable } from './boots.ts';
import { profile } from './profile.ts';

const run = promisify(execFile);

/** What kernels are built with. */
type VirtualWorld = Pick<FreebsdWorld, 'connect' | 'now' | 'kernelSums'>;

/** Makes the laboratory on this machine; `restore` takes it down. Throws a LabInUseError while another process has it. */
export async function openVirtualTestbed(
  name: string,
  config: VirtualTestbed,
  traffic: Traffic,
  world: VirtualWorld,
): Promise<Testbed> {
  const lab = await virtualLabUp(config);
  const guests: Guests = {
    lab,
    config,
    traffic,
    connect: connectTo,
    cpus: guestCpu === senderCpu ? [guestCpu] : [guestCpu, senderCpu],
    tallies: new Map(),
    wanted: new Map(),
    scenarios: [],
    running: undefined,
    flowsFor: (cell) => flowsFor(lab, traffic, cell),
  };

  return {
    name,

    inspect: async () => ({ fingerprint: await fingerprint(config), warnings: [] }),

    async prepare({ variants, cells, keepLog, tell, signal }) {
      guests.scenarios = [...new Set(cells.map(({ scenario }) => scenario))].filter(
        isLinuxScenario,
      );
      const wanted = new Map<string, Bootable>();
      for (const variant of variants) {
        signal.throwIfAborted();
        const known = guests.wanted.get(variant.variant);
        if (known !== undefined) {
          wanted.set(variant.variant, known);
          continue;
        }
        const archive = await archiveOf(variant, { keepLog, tell, signal });
        if (archive.kind === 'rejected') return archive;
        tell(`unpacking the kernel of ${variant.variant}`);
        wanted.set(variant.variant, { variant, kernel: await unpacked(lab, archive.path) });
      }
      guests.wanted = wanted;
      return { kind: 'ready' };
    },

    ready: () => new Set(guests.wanted.keys()),

    blast: (planned, keepLog, signal) => blast(guests, planned, keepLog, signal),

    booted: () => undefined,

    profile: (request, keepLog, signal) => profile(guests, request, keepLog, signal),

    restore: () => stopAll(guests).finally(() => lab.down()),
  };

  /** What boots a variant: a kernel that was given or is built, or the configuration's where only files differ. */
  async function archiveOf(
    { variant, kernel }: Variant,
    told: Pick<PrepareRequest, 'keepLog' | 'tell' | 'signal'>,
  ): Promise<{ kind: 'archive'; path: string | undefined } | Rejected> {
    if (kernel === undefined) return { kind: 'archive', path: config.kernelPath };
    if (kernel.kind === 'archive') {
      await requireSame(kernel);
      return { kind: 'archive', path: kernel.path };
    }
    if (config.builder === undefined) {
      throw new UsageError(`${name} has no \`builder\`, which the kernels of a tree need.`);
    }
    const path = join(lab.folder, `${pathName(variant)}.tar.zst`);
    const { connect, now, kernelSums: sums = noSums } = world;
    const owner = `ppsgate on ${name}`;
    const request = { variant, kernel, path, owner, connect, now, sums, ...told };
    const built = await buildLinuxKernel(config.builder, request);
    return built.kind === 'rejected' ? { ...built, variant } : built;
  }
}

/** Undefined is this machine's own kernel. */
async function unpacked(lab: VirtualLab, path: string | undefined): Promise<KernelFiles> {
  try {
    return await lab.kernel(path);
  } catch (error) {
    if (!(error instanceof KernelFilesError)) throw error;
    const subject = path === undefined ? '' : `The kernel ${path} `;
    throw new UsageError(`${subject}${error.message}.`);
  }
}

async function requireSame({ path, sha256 }: { path: string; sha256: string }): Promise<void> {
  const now = await givenKernel(path);
  if (now.kind === 'archive' && now.sha256 === sha256) return;
  throw new UsageError(
    `The kernel ${path} has changed since this gate began: give it back its old content, or begin anew.`,
  );
}

/** Guests stand on wires of their own, so that all have the same addresses. */
async function flowsFor(lab: VirtualLab, { flows, frameBytes }: Traffic, cell: Cell) {
  const { family } = cell;
  const bytes = frameBytesFor({ frameBytes }, cell);
  const path = join(lab.folder, `${family}.${bytes}.flows`);
  const packets = { family, flows, frameBytes: bytes, sourceMac: senderMac };
  await writeFile(path, trafgenFlows({ ...packets, destinationMac: guestMac.ingress }));
  return path;
}

async function fingerprint(config: VirtualTestbed): Promise<Record<string, string>> {
  const [qemu, nftables] = await Promise.all([
    run('qemu-system-x86_64', ['--version']),
    run('nft', ['--version']),
  ]);
  const { accelerator, memoryMebibytes } = config;
  const model = accelerator === 'tcg' ? 'max' : 'host';
  return {
    machine: `virtual: ${qemu.stdout.split('\n')[0]?.trim()}, ${accelerator}, q35, CPU model ${model}, 1 CPU, ${memoryMebibytes} MiB`,
    'kernel command line': kernelCommandLine('…'),
    nftables: nftables.stdout.trim(),
    'kernel of this machine': release(),
  };
}
