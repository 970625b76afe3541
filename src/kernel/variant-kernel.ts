// The kernel of a variant: what its source asks of a builder, and what came of it in the words of a result.

import type { Rejection } from '../model/rejection.ts';
import { pathName } from '../model/variant-name.ts';
import type { Host } from '../system/host/ssh.ts';
import type { KernelBuilder } from './build-step.ts';
import { buildKernel, type KernelBuild } from './kernel.ts';
import type { KernelSums } from './kernel-sums.ts';
import type { LoadedModules } from './needed-modules.ts';
import type { KernelSource } from './variant.ts';

export type TreeSource = Extract<KernelSource, { kind: 'tree' }>;

export type VariantRequest = {
  readonly variant: string;
  readonly kernel: TreeSource;
  /** Modules that the DUT has loaded; absent: not known. */
  readonly loaded?: LoadedModules;
  /** Owner of the build, shown to others who wait for their turn. */
  readonly owner: string;
  /** The time in seconds, of any origin. */
  now(): number;
  /** Checksums that this machine keeps of kernels that were built for it. */
  readonly sums: KernelSums;
  /** Gets the logs of builds. */
  keepLog(name: string, content: string): Promise<void>;
  /** Gets what goes on, in a few words. */
  notify(text: string): void;
  readonly signal: AbortSignal;
};

type BuiltVariant =
  | Extract<KernelBuild, { kind: 'built' }>
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

/** Throws where `buildKernel` does: what is wrong with the variant is an outcome. */
export async function buildVariant(
  host: Host,
  builder: KernelBuilder,
  { variant, kernel, loaded, owner, now, sums, keepLog, notify, signal }: VariantRequest,
): Promise<BuiltVariant> {
  const { baseCommit, diff, layouts } = kernel;
  const request = {
    kind: 'tree' as const,
    baseCommit,
    ...(layouts !== undefined && { layouts }),
    ...(loaded !== undefined && { loaded }),
    ...(diff !== undefined && { diff: Buffer.from(diff, 'base64') }),
  };
  const built = await buildKernel(host, builder, request, {
    signal,
    keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
    onProgress: (line) => notify(`${variant}: ${line}`),
    now,
    sums,
    owner: `${owner} (${variant})`,
  });
  if (built.kind === 'built') return built;
  const rejection: Rejection =
    built.kind === 'build-failed'
      ? { kind: 'build-failed', message: built.errors.join('\n') }
      : { kind: built.kind, message: built.reason };
  return { kind: 'rejected', rejection };
}
