// Defines requests and results of kernel recipes, and runs one step of a build.
import type { BuildPlace, CommandRecipe, MakeRecipe } from '../config/builder.ts';
import type { LinuxRecipe } from '../config/linux-builder.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import { readBuildFailure } from './build-log.ts';
import { type GuardOptions, runGuarded } from './guard.ts';
import { inJail } from './jail.ts';

export type KernelRecipe = MakeRecipe | CommandRecipe | LinuxMake;

/** Includes the text of its configuration file, which may change before the build. */
export type LinuxMake = LinuxRecipe & { readonly kernelConfig: string };

export type KernelBuilder = BuildPlace & { readonly recipe: KernelRecipe };

export type RecipeRequest = {
  readonly baseCommit: string;
  readonly tree: string;
  readonly diffPath: string | undefined;
  /** Versions of the builder's compiler and other programs. Objects of other versions cannot be reused. */
  readonly tools: string;
  readonly work: string;
  readonly layouts: readonly WantedLayout[];
};

type WantedLayout = {
  /** See `Run`. */
  readonly number: number;
  readonly output: string;
};

export type PlacedRequest = RecipeRequest & Pick<BuildPlace, 'system' | 'repository' | 'folder' | 'jail'>;

export type BuildOutput =
  /** `uname` is the beginning of the kernel's `uname -v`. */
  | { readonly kind: 'built'; readonly log: string; readonly uname: string | undefined }
  | { readonly kind: 'build-failed'; readonly log: string; readonly errors: readonly string[] }
  | { readonly kind: 'out-of-disk'; readonly log: string };

type Steps = {
  readonly log: string;
  run(command: Command): Promise<Exclude<BuildOutput, { kind: 'built' }> | undefined>;
};

/** Shortens paths in errors to those below `source`. The log begins with `heading`. */
export function stepsOf(
  host: Host,
  place: Pick<BuildPlace, 'jail' | 'folder' | 'repository'>,
  source: string,
  guard: GuardOptions,
  heading = '',
): Steps {
  let log = heading;
  return {
    get log() {
      return log;
    },
    async run(command) {
      const done = await runGuarded(host, inJail(place, command), guard);
      log += done.log;
      if (done.kind === 'timed-out') {
        const error = `The build did not end within ${guard.limitSeconds} s.`;
        return { kind: 'build-failed', log, errors: [error] };
      }
      if (done.code === 0) return undefined;
      const failure = readBuildFailure(done.log, source);
      return failure.kind === 'out-of-disk'
        ? { kind: 'out-of-disk', log }
        : { kind: 'build-failed', log, errors: failure.errors };
    },
  };
}

export const cleanEnvironment = shell`env -i PATH="$PATH" HOME="$HOME" LC_ALL=C`;

/** Reads as the user who wrote the file: a link could lead to a file that only root may read. */
export async function take(
  host: Host,
  place: Pick<BuildPlace, 'jail' | 'folder' | 'repository'>,
  archive: string,
  output: string,
): Promise<void> {
  await host.output(shell`${inJail(place, shell`cat ${archive}`)} > ${output}`);
}
