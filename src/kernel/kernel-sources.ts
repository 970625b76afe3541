// Determines the files of a tree that a kernel may be made of: all but those that no step of its build reads.
import type { MakeRecipe } from '../config/builder.ts';
import type { AnyBuilder, LinuxRecipe } from '../config/linux-builder.ts';
import { outsideOptions } from './kernel-key.ts';

/**
 * Checks whether a change of a file of the tree may change a kernel. Only the makefiles of FreeBSD and Linux are
 * known to leave files alone, and any other file counts: to measure for nothing costs an hour,
 * to call a kernel unchanged that is not costs the truth.
 *
 * @param makefile Makefile.inc1 of FreeBSD's base, which names all programs that take part; undefined where there is none.
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
  // A configuration of the builder's own is the same for all variants, unless it lies in the tree that is built.
  if (kernelConfigFolder.startsWith(`${folder}/`) || !options.every(isPlain)) return true;
  if (isOfBuild(path)) return true;
  return !(isDocument(path) || isManual(path) || isUserland(path, makefile));
}

/** Matches any other option with a value that make(1) may read files for: `LOCAL_TOOL_DIRS`, `PORTS_MODULES`. */
const isPlain = (option: string): boolean =>
  /^(?:-D\w+|(?:MODULES_OVERRIDE|WITHOUT_MODULES|TARGET|TARGET_ARCH)=.*)$/.test(option);

/** Cleaning walks through the makefiles of programs that are not built, and `.gitattributes` says how files are installed. */
export const isOfBuild = (path: string): boolean =>
  /(?:^|\/)(?:(?:BSD|GNU)?[Mm]akefile[^/]*|[^/]+\.(?:mk|inc)|\.git[^/]*)$/.test(path);

/** Not all of `share`: newvers.sh has read the copyright from `share/examples` into the kernel. */
const isDocument = (path: string): boolean =>
  /^(?:share\/(?:doc|man)|release|tests)\/|^(?:CONTRIBUTING\.md|MAINTAINERS|README(?:\.md)?|RELNOTES|UPDATING)$/.test(
    path,
  );

/** Files of `contrib` and `sys` are few, and not worth the effort. */
const isManual = (path: string): boolean =>
  /^(?:cddl|lib|libexec|s?bin|secure|usr\.s?bin)\/.+\.[1-9]$/.test(path);

/** Some programs are built first, and then build the kernel. */
function isUserland(path: string, makefile: string): boolean {
  const [program] = /^(?:libexec|s?bin|usr\.s?bin)\/[^/]+(?=\/)/.exec(path) ?? [];
  return program !== undefined && !makefile.includes(program) && !isMake.test(program);
}

/** The tree's own Makefile builds it where the builder's is too old, and does not say its name. */
const isMake = /^usr\.bin\/b?make$/;

function mayChangeLinux(path: string, recipe: LinuxRecipe): boolean {
  // An option that names a folder may have make(1) read any file in it.
  if (outsideOptions(recipe).length > 0) return true;
  return isOfBuild(path) || isKconfig(path) || !isBesideLinux(path);
}

/** All of them are read before anything is configured, those of `Documentation` and `samples` too. */
const isKconfig = (path: string): boolean => /(?:^|\/)(?:Kconfig|Kbuild)[^/]*$/.test(path);

/** Not all of `tools`: objtool and its libraries take part in the build. */
const isBesideLinux = (path: string): boolean =>
  /^(?:Documentation|LICENSES|samples|tools\/(?:memory-model|net|perf|power|testing|tracing|usb|virtio))\/|^(?:CREDITS|MAINTAINERS|README)$|\.rst$/.test(
    path,
  );
