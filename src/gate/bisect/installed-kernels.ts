// What of a commit is booted or installed: commits that change nothing of it are the same kernel.

import type { AnyBuilder } from '../../config/linux-builder.ts';
import type { OverlayPlace } from '../../config/schema.ts';
import type { FirstParent } from '../../forge/patch/linear-history.ts';
import type { LinearRepository } from '../../forge/patch/repository.ts';
import { mayChangeKernel } from '../../kernel/kernel-sources.ts';
import { submodule } from '../../kernel/overlay.ts';
import type { OperatingSystem } from '../../model/scenario.ts';

export type Installed = {
  /** Path in the repository of the folder with all that is installed; empty for the whole tree. */
  folder: string;
  /** How people call it: `what is installed`. */
  what: string;
  /** Whether commits that are installed or booted alike have the same id of that folder. */
  goesById: boolean;
  /** Which of the files in which two commits differ are installed, or may make another kernel. */
  difference(first: string, second: string): Promise<Difference>;
  /** Whether a commit changes it, of one after the other from the good one on. */
  changesWith(next: FirstParent): Promise<boolean>;
};

type Difference = 'none' | 'some' | 'all';

type Request = {
  system: OperatingSystem;
  overlay: OverlayPlace;
  builder: AnyBuilder | undefined;
  /** The commit that the range begins with. */
  good: string;
};

export async function installedOf(
  request: Request,
  repository: LinearRepository,
): Promise<Installed> {
  return request.system === 'linux' ? filesOf(request, repository) : kernelsOf(request, repository);
}

async function filesOf(
  { overlay, good }: Request,
  repository: LinearRepository,
): Promise<Installed> {
  const folder = await repository.pathOf(overlay);
  const isIn = (path: string) => folder === '' || path === folder || path.startsWith(`${folder}/`);
  const entries = await repository.list(good, folder);
  // Nothing is read of a submodule, so nobody knows what lies there: from the first one on, no commit is like another.
  let hasSubmodule = entries.some(({ mode }) => mode === submodule);
  return {
    folder,
    what: `what is installed (${folder || 'all files'})`,
    get goesById() {
      return !hasSubmodule;
    },
    async difference(first, second) {
      return shareOf(await repository.changedPaths(first, second), isIn);
    },
    async changesWith({ changes }) {
      const own = changes.filter(({ path }) => isIn(path));
      hasSubmodule ||= own.some(({ isSubmodule }) => isSubmodule);
      return hasSubmodule || own.length > 0;
    },
  };
}

/** What kernels are made of, by the same rule as whether a patch is worth measuring at all. */
async function kernelsOf(
  { builder, good }: Request,
  repository: LinearRepository,
): Promise<Installed> {
  const makefileAt = (commit: string) =>
    repository.read(`${commit}:${makefileName}`).catch(() => undefined);
  const matters = (path: string, makefile: string | undefined): boolean =>
    builder === undefined || mayChangeKernel(path, builder, makefile);
  let current = await makefileAt(good);
  return {
    folder: '',
    what: builder === undefined ? 'a file' : 'what a kernel is made of',
    goesById: true,
    async difference(first, second) {
      const [makefile, paths] = await Promise.all([
        makefileAt(first),
        repository.changedPaths(first, second),
      ]);
      return shareOf(paths, (path) => matters(path, makefile));
    },
    async changesWith({ commit, changes }) {
      const isOther = changes.some(({ path }) => matters(path, current));
      if (changes.some(({ path }) => path === makefileName)) current = await makefileAt(commit);
      return isOther;
    },
  };
}

function shareOf(paths: readonly string[], matters: (path: string) => boolean): Difference {
  const found = paths.filter(matters).length;
  if (found === 0) return 'none';
  return found < paths.length ? 'some' : 'all';
}

const makefileName = 'Makefile.inc1';
