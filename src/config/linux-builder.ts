// Parses `builder:` of ppsgate.yml for Linux kernels.
import { z } from 'zod';
import {
  type BuildPlace,
  builderKeys,
  buildFolder,
  buildingUser,
  type CommandRecipe,
  commandRecipe,
  withBounds,
} from './builder.ts';
import type { FreebsdBuilder } from './cross-builder.ts';
import { closed, type HostConfig, path, ssh, text, wholeNumber, withHost } from './fields.ts';

/**
 * Without a host, builds run on this machine in their own namespaces and as their own user; elsewhere as the login
 * user.
 */
export type LinuxBuilder = Omit<HostConfig, 'host'> &
  BuildPlace & { system: 'linux'; recipe: LinuxRecipe | CommandRecipe };

export type AnyBuilder = FreebsdBuilder | LinuxBuilder;

/** `make bzImage modules`, of Linux's own makefiles. */
export type LinuxRecipe = {
  kind: 'linux';
  /** A .config on this machine, or a part of one that `make olddefconfig` completes. */
  configPath: string;
  /** Absent: the number of the builder's CPUs. */
  jobs?: number;
  /** Starts every build from scratch instead of the previous objects. */
  clean: boolean;
  options: string[];
};

const make = closed({
  kind: z.literal('linux'),
  config: path.describe('A .config of the kernel on this machine, or a part of one: `make olddefconfig` completes it.'),
  jobs: wholeNumber(1, 1024).optional().describe('Left out, as many as the builder has CPUs.'),
  clean: z.boolean().prefault(true).describe('Every build starts from nothing, or from the objects of the one before.'),
  options: z
    .array(text(/^\w+=[^\p{Cc}]*$/u, 'an option of make like LLVM=1'))
    .prefault([])
    .describe('`NAME=value` for make.'),
}).transform(
  ({ config, jobs, ...rest }): LinuxRecipe => ({
    ...rest,
    configPath: config,
    ...(jobs !== undefined && { jobs }),
  }),
);

const recipe = z.discriminatedUnion('kind', [make, commandRecipe], {
  error: 'expected `kind: linux` or `kind: command`',
});

/** Parses `builder:` of a testbed that boots Linux; paths stay as written. */
export const linuxBuilderSchema = closed({
  ...ssh,
  host: ssh.host.optional().describe('Left out, kernels are built on this machine.'),
  user: buildingUser,
  folder: buildFolder.prefault('/var/lib/ppsgate-builds').describe('On the builder; everything of ours is below it.'),
  repository: buildFolder
    .prefault('/usr/src/linux')
    .describe("A clone of Linux's sources on the builder; only objects are added to it."),
  ...builderKeys,
  kernel: recipe.describe('The recipe of a kernel.'),
})
  .transform(withHost)
  .transform(withBounds)
  .transform(
    ({ host, kernel, ...rest }): LinuxBuilder => ({
      ...rest,
      system: 'linux',
      recipe: kernel,
      ...(host === undefined ? { jail: { user: rest.user } } : { host }),
    }),
  );
