// Replays a part with stand-ins for the kernels, which no recording contains.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { VirtualTestbed } from '../../config/virtual-testbed.ts';
import type { FreebsdDeps } from '../../lab/freebsd/freebsd-deps.ts';
import { fencedDeps } from '../../lab/lease/testbed-fence.ts';
import { UsageError } from '../../model/usage-error.ts';
import type { RecordedRequest } from './read-recording.ts';
import { broken, type ReplayDifference, requestDifferences } from './replay-difference.ts';
import { ReplayedMachines } from './replay-machines.ts';

/**
 * Has the size of a recorded kernel; variants of one kernel share it. `recordedSha256` is empty if none was uploaded.
 */
export type StandInKernel = {
  variant: string;
  path: string;
  sha256: string;
  recordedSha256: string;
};

type ReplayRun = {
  machines: ReplayedMachines;
  deps: FreebsdDeps;
  kernels: readonly StandInKernel[];
  folder: string;
};

/** Runs `work` on the recorded machines, and returns how its requests differ from the recorded ones. */
export async function replayWork(
  requests: readonly RecordedRequest[],
  { testbed, token }: { testbed: FreebsdTestbed | VirtualTestbed; token?: number | undefined },
  variants: readonly string[],
  work: (run: ReplayRun) => Promise<void>,
): Promise<ReplayDifference[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ppsgate-replay-'));
  try {
    if (variants.length > maxVariants) {
      throw new UsageError(
        `The recording has kernels of ${variants.length} variants, but an experiment has at most ${maxVariants}: it is not replayed.`,
      );
    }
    const kernels: StandInKernel[] = [];
    let freeBytes = maxBytesOfAll;
    for (const variant of variants) {
      const uploaded = uploadedKernel(variant, requests);
      const same = kernels.find(({ recordedSha256 }) => recordedSha256 !== '' && recordedSha256 === uploaded.sha256);
      if (same !== undefined) {
        kernels.push({ ...same, variant });
        continue;
      }
      const path = join(folder, `${kernels.length}.tar`);
      const bytes = Math.min(uploaded.bytes, freeBytes, maxBytes);
      const sha256 = await makeStandIn(path, bytes);
      kernels.push({ variant, path, sha256, recordedSha256: uploaded.sha256 });
      freeBytes -= (await stat(path)).size;
    }
    const machines = new ReplayedMachines(withStandInSums(requests, kernels));
    const lease = { token: token ?? 0, assertHeld() {}, prove: async () => {} };
    const deps =
      token === undefined || testbed.kind === 'virtual' ? machines.deps : fencedDeps(machines.deps, testbed, lease);
    const differences: ReplayDifference[] = [];
    try {
      await work({ machines, deps, kernels, folder });
    } catch (error) {
      differences.push(broken(error));
    }
    return [...differences, ...requestDifferences(machines)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the file's name into it, which makes its checksum unique; returns the checksum. */
async function makeStandIn(path: string, bytes: number): Promise<string> {
  await using file = await open(path, 'w');
  await file.write(basename(path));
  await file.truncate(bytes);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Stand-ins are sparse, but must be hashed. */
const maxBytes = 1024 ** 3;
const maxBytesOfAll = 2 * maxBytes;

const maxVariants = 100;

/** Recognizes a kernel's upload by the folder or boot environment that its machine's next command names. */
function uploadedKernel(variant: string, requests: readonly RecordedRequest[]): { sha256: string; bytes: number } {
  const name = `ppsgate.${variant.replace(/[^\w.-]+/g, '-')}`;
  const isNamed = new RegExp(`${name.replaceAll('.', '\\.')}(?![\\w-])`);
  /** By host, as machines are prepared concurrently. */
  const next = new Map<string, string>();
  let found = { sha256: '', bytes: 1 };
  for (const { host, call } of requests.toReversed()) {
    const text = commandOf(call);
    if (/\bppsgate\.(?!sha256)/.test(text)) next.set(host, text);
    const sha256 = call.what === 'upload' ? kernelPath.exec(call.path)?.[1] : undefined;
    if (sha256 === undefined || call.what !== 'upload') continue;
    // Takes the first of several uploads.
    if (isNamed.test(next.get(host) ?? '')) found = { sha256, bytes: call.bytes };
  }
  return found;
}

const kernelPath = /\/([0-9a-f]{64})\.tar$/;

const commandOf = (call: RecordedRequest['call']): string => (call.what === 'run' ? (call.shown ?? call.command) : '');

/** Replaces the sums of recorded kernels by those of their stand-ins. */
export const replaceSums = (text: string, kernels: readonly StandInKernel[]): string =>
  kernels.reduce(
    (replaced, { recordedSha256: recorded, sha256 }) =>
      recorded === '' ? replaced : replaced.replaceAll(recorded, sha256),
    text,
  );

const withStandInSums = (requests: readonly RecordedRequest[], kernels: readonly StandInKernel[]): RecordedRequest[] =>
  requests.map((request) => ({
    ...request,
    call: JSON.parse(replaceSums(JSON.stringify(request.call), kernels)) as RecordedRequest['call'],
    output: request.output.map((chunk) => ({
      ...chunk,
      text: replaceSums(chunk.text, kernels),
    })),
  }));
