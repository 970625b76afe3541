// The format of a `kind: virtual` testbed in ppsgate.yml: virtual machines of this machine that boot a patch's kernels.
import { z } from 'zod';
import { type Capable, capabilityKeys, withCapabilities } from './capabilities.ts';
import { closed, path, text, wholeNumber, wrongName } from './fields.ts';
import { type LinuxBuilder, linuxBuilderSchema } from './linux-builder.ts';

/** How QEMU runs a guest: `tcg` translates its instructions and counts them, `kvm` has the CPU run them. */
const accelerators = ['tcg', 'kvm'] as const;

export type VirtualTestbed = Capable & {
  kind: 'virtual';
  accelerator: (typeof accelerators)[number];
  /** Of each guest. */
  memoryMebibytes: number;
  /**
   * A kernel with its modules, as a .deb or a tar archive: what guests boot where variants are the files of an overlay. Absent:
   * the newest one of this machine's /boot.
   */
  kernelPath?: string;
  /** Modules that a guest loads beside those that forwarding and its firewall need. */
  modules: string[];
  /** Absent: variants are the files of an overlay, or kernels that were built before. */
  builder?: LinuxBuilder;
};

const moduleName = text(/^[a-zA-Z0-9][\w-]{0,62}$/, 'the name of a kernel module like act_mirred');

/** Parses a testbed of that kind; paths stay as written. */
export const virtualTestbedSchema = closed({
  kind: z.literal('virtual').describe('Virtual machines on this machine, which boot kernels.'),
  accelerator: z
    .enum(accelerators, { error: wrongName(accelerators) })
    .prefault('tcg')
    .describe('With tcg instructions are counted, on any machine; with kvm CPU time is.'),
  memory: wholeNumber(128, 65_536).prefault(256).describe('Of each guest, in MiB.'),
  kernel: path
    .optional()
    .describe(
      "A kernel with its modules, a .deb or a tar archive, that guests boot where none is built or given; left out, the newest one of this machine's /boot.",
    ),
  modules: z
    .array(moduleName)
    .prefault([])
    .describe('Modules that a guest loads beside those that forwarding needs.'),
  builder: linuxBuilderSchema
    .optional()
    .describe("Builds the kernels of base and patched, where the repository is Linux's sources."),
  ...capabilityKeys,
})
  .transform(withCapabilities)
  .transform(
    ({ memory, kernel, builder, ...rest }): VirtualTestbed => ({
      ...rest,
      memoryMebibytes: memory,
      ...(kernel !== undefined && { kernelPath: kernel }),
      ...(builder !== undefined && { builder }),
    }),
  );
