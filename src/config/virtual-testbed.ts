// Parses `kind: virtual` testbeds of ppsgate.yml: virtual machines here that boot a patch's kernels.
import { z } from 'zod';
import { duration, type QuantityLimit } from '../model/units.ts';
import { builderSchema } from './builder.ts';
import { capabilityKeys, type WithCapabilities, withCapabilities } from './capabilities.ts';
import { crossBuilderSchema, type FreebsdBuilder } from './cross-builder.ts';
import { closed, path, text, wholeNumber, wrongName } from './fields.ts';
import { type LinuxBuilder, linuxBuilderSchema } from './linux-builder.ts';

/** QEMU's accelerators: `tcg` translates a guest's instructions and counts them, `kvm` runs them on the CPU. */
const accelerators = ['tcg', 'kvm'] as const;

export type VirtualTestbed = LinuxGuestsConfig | FreebsdGuestsConfig;

export type GuestMachine = {
  accelerator: (typeof accelerators)[number];
  memoryMebibytes: number;
};

type OfAllGuests = WithCapabilities & GuestMachine & { kind: 'virtual' };

export type LinuxGuestsConfig = OfAllGuests & {
  system: 'linux';
  /** Kernel with modules, a .deb or a tar archive, for overlay variants. Absent: the newest in /boot. */
  kernelPath?: string;
  /** Modules loaded in addition to those for forwarding and its firewall. */
  modules: string[];
  /** Absent: variants are overlay files, or prebuilt kernels. */
  builder?: LinuxBuilder;
};

export type FreebsdGuestsConfig = OfAllGuests & {
  system: 'freebsd';
  image: GuestImage | OfficialImage;
  /** Absent: only prebuilt kernels can be measured. */
  builder?: FreebsdBuilder;
};

/** A FreeBSD disk as its project publishes it: its serial console lets root log in without a password. */
export type OfficialImage = {
  /** Raw or qcow2, also compressed by xz or zstd; never written to. */
  path: string;
  /** Checksum of the file as published, in hexadecimal digits. */
  sha512?: string;
  /** Distinguishes it from a prepared image. */
  hostKey?: undefined;
  bootSeconds: number;
};

/** A FreeBSD disk that boots by BIOS, configures its first virtio card by DHCP, and admits root by key. */
export type GuestImage = {
  /** Raw or qcow2; never written to. */
  path: string;
  /** Root's private key; absent: the ssh agent is used. */
  privateKeyPath?: string;
  /** Public key of its sshd, like `ssh-ed25519 AAAA…`. */
  hostKey: string;
  /** Limit from power-on or reboot until up. */
  bootSeconds: number;
};

const moduleName = text(/^[a-zA-Z0-9][\w-]{0,62}$/, 'the name of a kernel module like act_mirred');

const bootLimit: QuantityLimit = {
  description: 'a duration from 1 min to 60 min',
  holds: (seconds) => seconds >= 60 && seconds <= 3600,
};

const image = closed({
  path: path.describe(
    "A disk of FreeBSD's, raw or qcow2, or an official image as it is published (.raw.xz too); it is never written to.",
  ),
  sha512: text(/^[0-9a-fA-F]{128}$/, 'a SHA-512 of 128 hexadecimal digits')
    .optional()
    .describe('Checksum of an official image, as in its CHECKSUM.SHA512; another file is refused.'),
  key: path
    .optional()
    .describe('A private key for root, for an image with `hostKey`; without it the ssh agent is used.'),
  hostKey: text(
    /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{40,2000}={0,3}$/,
    "the public host key of the image's sshd, like `ssh-ed25519 AAAA…` of its /etc/ssh/ssh_host_ed25519_key.pub, without the comment",
  )
    .optional()
    .describe(
      'The host key of the image: the first two words of its /etc/ssh/ssh_host_ed25519_key.pub. Left out, the image is prepared once over its serial console, and kept.',
    ),
  limit: duration(bootLimit).prefault('10 min').describe('Longest boot of a guest.'),
})
  .superRefine(({ key, hostKey, sha512 }, context) => {
    const refuse = (stray: string, message: string) => context.addIssue({ code: 'custom', path: [stray], message });
    if (hostKey === undefined && key !== undefined) {
      refuse('key', 'goes with `hostKey`: give both, or neither for an official image');
    }
    if (hostKey !== undefined && sha512 !== undefined) {
      refuse('sha512', 'is of an official image, which has no `hostKey`: leave one of them out');
    }
  })
  .transform(({ path, key, hostKey, sha512, limit }): GuestImage | OfficialImage =>
    hostKey === undefined
      ? {
          path,
          bootSeconds: limit,
          ...(sha512 !== undefined && { sha512: sha512.toLowerCase() }),
        }
      : {
          path,
          hostKey,
          bootSeconds: limit,
          ...(key !== undefined && { privateKeyPath: key }),
        },
  );

/** Parsed once the rest of the testbed determines the system. */
const builder = z
  .unknown()
  .optional()
  .meta({
    description: 'Builds the kernels of base and patched, if the repository has their sources.',
    // Computed only when a schema is written, as it would cost a twelfth of each command's start-up.
    get anyOf() {
      return [linuxBuilderSchema, builderSchema, crossBuilderSchema].map((schema) => {
        const { $schema: _, ...json } = z.toJSONSchema(schema, {
          io: 'input',
          unrepresentable: 'any',
        });
        return json;
      });
    },
  });

function builtBy<Builder>(
  schema: z.ZodType<Builder>,
  written: unknown,
  context: z.RefinementCtx,
): { builder?: Builder } {
  if (written === undefined) return {};
  const read = schema.safeParse(written);
  if (read.success) return { builder: read.data };
  for (const issue of read.error.issues) {
    const { message, path } = issue;
    context.addIssue({
      code: 'custom',
      message,
      path: ['builder', ...path],
      ...(issue.code === 'custom' && issue.params !== undefined && { params: issue.params }),
    });
  }
  return {};
}

const isCross = (builder: unknown): boolean => typeof builder === 'object' && builder !== null && 'kind' in builder;

/** Paths stay as written. */
export const virtualTestbedSchema = closed({
  kind: z.literal('virtual').describe('Virtual machines on this machine, which boot kernels.'),
  accelerator: z
    .enum(accelerators, { error: wrongName(accelerators) })
    .prefault('tcg')
    .describe('tcg counts instructions, on any machine; kvm measures CPU time.'),
  memory: wholeNumber(128, 65_536)
    .optional()
    .describe('Memory of each guest in MiB; left out, 256, and 1024 with an `image`.'),
  kernel: path
    .optional()
    .describe(
      "A kernel with its modules, a .deb or a tar archive, that guests boot where none is built or given; left out, the newest one of this machine's /boot.",
    ),
  modules: z.array(moduleName).optional().describe('Modules that a guest loads beside those that forwarding needs.'),
  image: image.optional().describe('A disk that guests boot, of FreeBSD; left out, they are Linux.'),
  builder,
  ...capabilityKeys,
})
  .superRefine(({ image, ...written }, context) => {
    const stray = (['kernel', 'modules'] as const).find((key) => written[key] !== undefined);
    if (image === undefined || stray === undefined) return;
    context.addIssue({
      code: 'custom',
      path: [stray],
      message: 'only Linux is booted without a disk; leave this out, or `image`',
    });
  })
  .transform(withCapabilities)
  .transform((written, context): VirtualTestbed => {
    const { memory, kernel, modules = [], image, builder, ...rest } = written;
    if (image !== undefined) {
      return {
        ...rest,
        system: 'freebsd',
        image,
        memoryMebibytes: memory ?? 1024,
        ...builtBy<FreebsdBuilder>(isCross(builder) ? crossBuilderSchema : builderSchema, builder, context),
      };
    }
    return {
      ...rest,
      system: 'linux',
      modules,
      memoryMebibytes: memory ?? 256,
      ...(kernel !== undefined && { kernelPath: kernel }),
      ...builtBy(linuxBuilderSchema, builder, context),
    };
  });
