// Finds the part of a commit that is installed or booted. Commits that leave it unchanged have the same kernel.

import type { AnyBuilder } from '../../config/linux-builder.ts';
import type { OverlayPlace } from '../../config/overlay.ts';
import type { FirstParent } from '../../forge/patch/linear-history.ts';
import type { LinearRepository } from '../../forge/patch/repository.ts';
import { mayChangeKernel } from '../../kernel/kernel-sources.ts';
import { entriesOf, pathsIn, sourceOf, submodule } from '../../kernel/overlay.ts';
import type { OperatingSystem } from '../../model/scenario.ts';

export type Installed = {
  /** Paths in the repository that are installed; empty for the whole tree. */
  paths: readonly string[];
  /** Label for people: `what is installed`. */
  what: string;
  goesById: boolean;
  /** Share of the differing files that are installed, or may change the kernel. */
  difference(first: string, second: string): Promise<InstalledShare>;
  /** Called for each commit in turn, starting at the good one. */
  changesWith(next: FirstParent): Promise<boolean>;
};

type InstalledShare = 'none' | 'some' | 'all';

type InstalledRequest = {
  system: OperatingSystem;
  overlay: OverlayPlace;
  builder: AnyBuilder | undefined;
  good: string;
};

export async function installedOf(request: InstalledRequest, repository: LinearRepository): Promise<Installed> {
  return request.system === 'linux' ? filesOf(request, repository) : kernelsOf(request, repository);
}

async function filesOf({ overlay, good }: InstalledRequest, repository: LinearRepository): Promise<Installed> {
  const source = await sourceOf(overlay, repository);
  const paths = pathsIn(source);
  const isIn = (path: string) => paths.some((own) => own === '' || path === own || path.startsWith(`${own}/`));
  const entries = await entriesOf(repository, good, source);
  // A submodule's content is unknown, so all commits from the first one with a submodule differ.
  let hasSubmodule = entries.some(({ mode }) => mode === submodule);
  return {
    paths,
    what: `the installed files (${paths.join(', ') || 'all files'})`,
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

/** Applies the same rule that decides whether a patch needs measuring. */
async function kernelsOf({ builder, good }: InstalledRequest, repository: LinearRepository): Promise<Installed> {
  const makefileAt = (commit: string) => repository.read(`${commit}:${makefileName}`).catch(() => undefined);
  const matters = (path: string, makefile: string | undefined): boolean =>
    builder === undefined || mayChangeKernel(path, builder, makefile);
  let current = await makefileAt(good);
  return {
    paths: [''],
    what: builder === undefined ? 'a file' : 'the source of a kernel',
    goesById: true,
    async difference(first, second) {
      const [makefile, paths] = await Promise.all([makefileAt(first), repository.changedPaths(first, second)]);
      return shareOf(paths, (path) => matters(path, makefile));
    },
    async changesWith({ commit, changes }) {
      const isOther = changes.some(({ path }) => matters(path, current));
      if (changes.some(({ path }) => path === makefileName)) current = await makefileAt(commit);
      return isOther;
    },
  };
}

function shareOf(paths: readonly string[], matters: (path: string) => boolean): InstalledShare {
  const found = paths.filter(matters).length;
  if (found === 0) return 'none';
  return found < paths.length ? 'some' : 'all';
}

const makefileName = 'Makefile.inc1';
