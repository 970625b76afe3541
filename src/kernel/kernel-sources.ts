// Determines the files of a tree that a kernel may be made of: all but those that no step of its build reads.
import type { MakeRecipe } from '../config/builder.ts';
import type { AnyBuilder, LinuxRecipe } from '../config/linux-builder.ts';
import { outsideOptions } from './kernel-key.ts';

/**
 * Returns whether a change of a file may change a kernel. Only the makefiles of FreeBSD and Linux are known to ignore
 * files; any other file counts: a needless measurement costs an hour, a wrong "unchanged" costs the truth.
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
  // The builder's own configuration is the same for all variants, unless it is part of the tree.
  if (kernelConfigFolder.startsWith(`${folder}/`) || !options.every(isPlain)) return true;
  if (isOfBuild(path)) return true;
  return !(isDocument(path) || isManual(path) || isUserland(path, makefile));
}

/** False for options with values that make(1) may read files for: `LOCAL_TOOL_DIRS`, `PORTS_MODULES`. */
const isPlain = (option: string): boolean =>
  /^(?:-D\w+|(?:MODULES_OVERRIDE|WITHOUT_MODULES|TARGET|TARGET_ARCH)=.*)$/.test(option);

/** Cleaning reads makefiles of programs that are not built; `.gitattributes` controls the checkout of files. */
export const isOfBuild = (path: string): boolean =>
  /(?:^|\/)(?:(?:BSD|GNU)?[Mm]akefile[^/]*|[^/]+\.(?:mk|inc)|\.git[^/]*)$/.test(path);

/** Not all of `share`: newvers.sh has read the copyright from `share/examples` into the kernel. */
const isDocument = (path: string): boolean =>
  /^(?:share\/(?:doc|man)|release|tests)\/|^(?:CONTRIBUTING\.md|MAINTAINERS|README(?:\.md)?|RELNOTES|UPDATING)$/.test(
    path,
  );

/** Files of `contrib` and `sys` are few, and not worth a rule. */
const isManual = (path: string): boolean =>
  /^(?:cddl|lib|libexec|s?bin|secure|usr\.s?bin)\/.+\.[1-9]$/.test(path);

/** Some programs are built first, and then build the kernel. */
function isUserland(path: string, makefile: string): boolean {
  const [program] = /^(?:libexec|s?bin|usr\.s?bin)\/[^/]+(?=\/)/.exec(path) ?? [];
  return program !== undefined && !makefile.includes(program) && !isMake.test(program);
}

/** The tree's own Makefile builds it where the builder's is too old; Makefile.inc1 does not name it. */
const isMake = /^usr\.bin\/b?make$/;

function mayChangeLinux(path: string, recipe: LinuxRecipe): boolean {
  // An option that names a folder may make make(1) read any file in it.
  if (outsideOptions(recipe).length > 0) return true;
  return isOfBuild(path) || isKconfig(path) || !isBesideLinux(path);
}

/** All are read before the configuration, also those of `Documentation` and `samples`. */
const isKconfig = (path: string): boolean => /(?:^|\/)(?:Kconfig|Kbuild)[^/]*$/.test(path);

/** Not all of `tools`: objtool and its libraries take part in the build. */
const isBesideLinux = (path: string): boolean =>
  /^(?:Documentation|LICENSES|samples|tools\/(?:memory-model|net|perf|power|testing|tracing|usb|virtio))\/|^(?:CREDITS|MAINTAINERS|README)$|\.rst$/.test(
    path,
  );
