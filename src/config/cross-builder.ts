// Parses `builder: { kind: cross }` of ppsgate.yml: FreeBSD's kernels built on Linux, by the tree's own make.py.
import { z } from 'zod';
import {
  type BuilderConfig,
  type BuildPlace,
  builderKeys,
  buildFolder,
  buildingUser,
  type MakeRecipe,
  makeKeys,
  withBounds,
} from './builder.ts';
import { closed, type HostConfig, ssh, withHost } from './fields.ts';

/**
 * Without a host, builds run on this machine in their own namespaces and as their own user; elsewhere as the login
 * user.
 */
export type CrossBuilder = Omit<HostConfig, 'host'> & BuildPlace & { system: 'linux'; recipe: MakeRecipe };

/** Makes kernels of FreeBSD, on FreeBSD or on Linux. */
export type FreebsdBuilder = BuilderConfig | CrossBuilder;

const { kernelConfig, jobs, clean, options } = makeKeys;

/** Paths stay as written. */
export const crossBuilderSchema = closed({
  kind: z
    .literal('cross', {
      error: 'expected `kind: cross`; a builder with FreeBSD has its `kind` below `kernel`',
    })
    .describe("FreeBSD's kernels on Linux, by the tree's tools/build/make.py with clang and lld."),
  ...ssh,
  host: ssh.host.optional().describe('Left out, kernels are built on this machine.'),
  user: buildingUser,
  folder: buildFolder.prefault('/var/lib/ppsgate-builds').describe('On the builder; everything of ours is below it.'),
  repository: buildFolder
    .prefault('/usr/src')
    .describe("A clone of FreeBSD's src on the builder; only objects are added to it."),
  ...builderKeys,
  kernelConfig,
  jobs,
  clean,
  modules: makeKeys.modules.prefault('needed'),
  options: options.refine((words) => !words.some((word) => /^TARGET(?:_ARCH)?=/.test(word)), {
    error: 'a cross builder builds kernels for amd64 only; remove TARGET and TARGET_ARCH',
  }),
  tools: buildFolder
    .optional()
    .describe('The folder of clang and ld.lld; left out, the newest /usr/lib/llvm-*/bin that has both, or /usr/bin.'),
})
  .transform(withHost)
  .transform(withBounds)
  .transform((written): CrossBuilder => {
    const { host, kind: _, kernelConfig, jobs, clean, modules, options, tools, ...rest } = written;
    return {
      ...rest,
      system: 'linux',
      recipe: {
        kind: 'make',
        kernelConfig,
        ...(jobs !== undefined && { jobs }),
        clean,
        metaMode: false,
        toolchain: true,
        modules,
        options,
        cross: tools === undefined ? {} : { toolFolder: tools },
      },
      ...(host === undefined ? { jail: { user: rest.user } } : { host }),
    };
  });
