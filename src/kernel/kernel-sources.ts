// Finds the files of a tree that can affect a kernel: all files that a step of its build reads.
import type { MakeRecipe } from '../config/builder.ts';
import type { AnyBuilder, LinuxRecipe } from '../config/linux-builder.ts';
import { outsideOptions } from './kernel-key.ts';

/**
 * Returns whether a changed file may change a kernel. Only the makefiles of FreeBSD and Linux are known to ignore
 * files; any other file counts. A needless measurement costs an hour; a wrong "unchanged" hides a regression.
 * @param makefile Makefile.inc1 of FreeBSD's base, which names all programs of the build; absent in other trees.
 */
export function mayChangeKernel(
  path: string,
  { recipe, folder }: Pick<AnyBuilder, 'recipe' | 'folder'>,
  makefile: string | undefined,
): boolean {
  switch (recipe.kind) {
    case 'make':
      return mayChangeFreebsd(path, recipe, folder, makefile);
    case 'linux':
      return mayChangeLinux(path, recipe);
    case 'command':
      return true;
  }
}

function mayChangeFreebsd(
  path: string,
  { kernelConfigFolder = '', options }: MakeRecipe,
  folder: string,
  makefile: string | undefined,
): boolean {
  if (makefile === undefined) return true;
  // The builder's own configuration is the same for all variants, unless it is in the tree.
  if (kernelConfigFolder.startsWith(`${folder}/`) || !options.every(isPlain)) return true;
  if (isOfBuild(path)) return true;
  return !(isDocument(path) || isManual(path) || isUserland(path, makefile));
}

/** False for options whose values are files to make(1): `LOCAL_TOOL_DIRS`, `PORTS_MODULES`. */
const isPlain = (option: string): boolean =>
  /^(?:-D\w+|(?:MODULES_OVERRIDE|WITHOUT_MODULES|TARGET|TARGET_ARCH)=.*)$/.test(option);

/** Cleaning reads makefiles of programs that are not built. `.gitattributes` controls how files are checked out. */
export const isOfBuild = (path: string): boolean =>
  /(?:^|\/)(?:(?:BSD|GNU)?[Mm]akefile[^/]*|[^/]+\.(?:mk|inc)|\.git[^/]*)$/.test(path);

/** Excludes parts of `share`: newvers.sh has read the copyright in `share/examples` into the kernel. */
const isDocument = (path: string): boolean =>
  /^(?:share\/(?:doc|man)|release|tests)\/|^(?:CONTRIBUTING\.md|MAINTAINERS|README(?:\.md)?|RELNOTES|UPDATING)$/.test(
    path,
  );

/** `contrib` and `sys` have few manuals, so they need no rule. */
const isManual = (path: string): boolean => /^(?:cddl|lib|libexec|s?bin|secure|usr\.s?bin)\/.+\.[1-9]$/.test(path);

/** Some programs of the userland are built first, and then build the kernel. */
function isUserland(path: string, makefile: string): boolean {
  const [program] = /^(?:libexec|s?bin|usr\.s?bin)\/[^/]+(?=\/)/.exec(path) ?? [];
  return program !== undefined && !makefile.includes(program) && !isMake.test(program);
}

/** Built by the tree's own Makefile if the builder's make is too old. Makefile.inc1 does not name it. */
const isMake = /^usr\.bin\/b?make$/;

function mayChangeLinux(path: string, recipe: LinuxRecipe): boolean {
  // If an option names a folder, make(1) may read any file in it.
  if (outsideOptions(recipe).length > 0) return true;
  return isOfBuild(path) || isKconfig(path) || !isBesideLinux(path);
}

/** The configuration reads all of them, including those of `Documentation` and `samples`. */
const isKconfig = (path: string): boolean => /(?:^|\/)(?:Kconfig|Kbuild)[^/]*$/.test(path);

/** Excludes parts of `tools`: the build uses objtool and its libraries. */
const isBesideLinux = (path: string): boolean =>
  /^(?:Documentation|LICENSES|samples|tools\/(?:memory-model|net|perf|power|testing|tracing|usb|virtio))\/|^(?:CREDITS|MAINTAINERS|README)$|\.rst$/.test(
    path,
  );
