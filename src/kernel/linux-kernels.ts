// Builds Linux kernels for virtual machines on any machine, and stores their archives on this one.
import { readFile } from 'node:fs/promises';
import type { HostConfig } from '../config/fields.ts';
import type { LinuxBuilder } from '../config/linux-builder.ts';
import { fileReasonOf } from '../model/one-line.ts';
import type { Rejection } from '../model/rejection.ts';
import { thisMachine } from '../system/host/local.ts';
import type { Host } from '../system/host/ssh.ts';
import type { KernelBuilder } from './build-step.ts';
import { BuilderError } from './builder-error.ts';
import { buildVariant, fetchKernel, type VariantRequest } from './variant-kernel.ts';

type LinuxKernelRequest = Omit<VariantRequest, 'loaded'> & {
  /** Path of the archive on this machine; written atomically. */
  readonly path: string;
  connect(host: HostConfig, label: string): Promise<Host>;
};

type LinuxKernel =
  | {
      readonly kind: 'archive';
      readonly path: string;
      readonly sha256: string;
      readonly cached: boolean;
    }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

/**
 * The archive contains `boot/vmlinuz-RELEASE`, `boot/System.map-RELEASE` and `lib/modules/RELEASE`, or the output of a
 * site's own command. It is untrusted, and may contain anything. Faults of the patch are outcomes; faults of the
 * builder throw a BuilderError or a HostError.
 */
export async function buildLinuxKernel(config: LinuxBuilder, request: LinuxKernelRequest): Promise<LinuxKernel> {
  const { variant, path, connect, notify, signal } = request;
  const builder = await withKernelConfig(config);
  signal.throwIfAborted();
  notify(`building the kernel of ${variant}`);
  const { host: name } = config;
  await using host = name === undefined ? thisMachine() : await connect({ ...config, host: name }, 'builder');
  const built = await buildVariant(host, builder, request);
  if (built.kind === 'rejected') return built;
  await fetchKernel(host, built, path, signal);
  return { kind: 'archive', path, sha256: built.sha256, cached: built.cached };
}

async function withKernelConfig({ recipe, ...place }: LinuxBuilder): Promise<KernelBuilder> {
  if (recipe.kind === 'command') return { ...place, recipe };
  const kernelConfig = await readFile(recipe.configPath, 'utf8').catch((error: unknown) => {
    throw new BuilderError(`The kernel's configuration ${recipe.configPath} cannot be read (${fileReasonOf(error)}).`);
  });
  return { ...place, recipe: { ...recipe, kernelConfig } };
}
