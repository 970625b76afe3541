// Reads a variant of an overlay: the files of a repository at one commit.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { OverlayPlace } from '../config/overlay.ts';
import { type Repository, RepositoryError, type TreeEntry } from '../forge/patch/repository.ts';
import * as bounded from '../model/bounds.ts';
import { type InterfaceRoles, interfaceRoles } from '../model/overlay-files.ts';
import type { Patch } from '../model/patch.ts';
import { diffName } from '../model/variant-name.ts';

export const overlaySchema = z.object({
  /** `base`, `patched`, `diff 80345`. */
  variant: bounded.variant,
  commit: bounded.name,
  /** Path of the files' folder in the repository, empty for its top; absent without one. */
  folder: bounded.path.optional(),
  /** Interfaces that the files name, and the ports that they stand for. */
  interfaces: bounded.byName(z.enum(interfaceRoles)).exactOptional(),
  files: bounded.list(
    z.object({
      path: bounded.path,
      /** Path in the repository, if the overlay is no folder. */
      source: bounded.path.exactOptional(),
      /** Git's mode: `100644` for a plain file. The DUT's system determines which modes it can load. */
      mode: bounded.name,
      content: bounded.document,
      sha256: bounded.name,
    }),
  ),
});

export type Overlay = z.infer<typeof overlaySchema>;

/**
 * Reads the overlay at the patch's merge base, at its head and at earlier diffs, so that later changes of the branch do
 * not count. Throws a `RepositoryError` if neither base nor patched has a file: comparing nothing would pass.
 */
export async function buildOverlays(patch: Patch, place: OverlayPlace, repository: Repository): Promise<Overlay[]> {
  const [source, { base, changed }] = await Promise.all([sourceOf(place, repository), commitsOf(patch, repository)]);
  const overlays = await Promise.all([base, ...changed].map((variant) => readOverlay(repository, variant, source)));
  const missing = missingIn(overlays.slice(0, 2), source);
  if (missing !== undefined) {
    throw new RepositoryError(
      `${missing} at ${base.commit} or ${patch.headCommit}: correct \`overlay\` in ppsgate.yml.`,
    );
  }
  return overlays;
}

export type VariantCommit = Pick<Overlay, 'variant' | 'commit'>;

/** Finds the patch's merge base and orders the variants: patched comes before diffs that are only shown. */
export async function commitsOf(
  patch: Patch,
  repository: Repository,
): Promise<{
  base: VariantCommit;
  changed: [patched: VariantCommit, ...earlier: VariantCommit[]];
}> {
  const commit = await repository.mergeBase(patch.baseCommit, patch.headCommit);
  const earlier = patch.kind === 'revision' ? patch.earlier : [];
  return {
    base: { variant: 'base', commit },
    changed: [
      { variant: 'patched', commit: patch.headCommit },
      ...earlier.map(({ diff, headCommit }) => ({ variant: diffName(diff), commit: headCommit })),
    ],
  };
}

export async function readOverlay(
  repository: Repository,
  { variant, commit }: VariantCommit,
  source: OverlaySource,
): Promise<Overlay> {
  const entries = await entriesOf(repository, commit, source);
  if (entries.length > maxFiles) {
    throw new RepositoryError(
      `The folder ${pathsIn(source).join() || '.'} holds ${entries.length} files at ${commit}, but an overlay may have at most ${maxFiles}: move other files elsewhere.`,
    );
  }
  const files = await Promise.all(
    entries.map(async ({ object, ...entry }) => {
      const content = entry.mode === submodule ? '' : await repository.read(object);
      const bytes = Buffer.byteLength(content);
      if (bytes > maxOverlayFileBytes) {
        throw new RepositoryError(
          `The file ${entry.source ?? entry.path} holds ${bytes} bytes at ${commit}, but a file of an overlay may have at most ${maxOverlayFileBytes / 1024 ** 2} MiB: make it smaller.`,
        );
      }
      return { ...entry, content, sha256: createHash('sha256').update(content).digest('hex') };
    }),
  );
  const { interfaces } = source;
  return {
    variant,
    commit,
    ...(source.kind === 'folder' && { folder: source.folder }),
    ...(interfaces !== undefined && { interfaces }),
    files,
  };
}

/** Paths in the repository. */
export type OverlaySource = (
  | { kind: 'folder'; folder: string }
  /** Paths by the files' names in the overlay. */
  | { kind: 'files'; files: ReadonlyMap<string, string> }
) & { interfaces?: InterfaceRoles | undefined };

/** Throws a `RepositoryError` for a path outside the repository. */
export async function sourceOf(place: OverlayPlace, repository: Repository): Promise<OverlaySource> {
  const { interfaces } = place;
  if ('path' in place) {
    return { kind: 'folder', folder: await repository.pathOf(place), interfaces };
  }
  const { files, beside } = place;
  const found = Object.entries(files).map(
    async ([name, path]) => [name, await repository.pathOf({ path, beside })] as const,
  );
  return { kind: 'files', files: new Map(await Promise.all(found)), interfaces };
}

export const pathsIn = (source: OverlaySource): string[] =>
  source.kind === 'folder' ? [source.folder] : [...source.files.values()];

type OverlayEntry = TreeEntry & { source?: string };

/** Files with their paths in the overlay. */
export async function entriesOf(
  repository: Repository,
  commit: string,
  source: OverlaySource,
): Promise<OverlayEntry[]> {
  if (source.kind === 'folder') return repository.list(commit, source.folder);
  const found = await repository.entriesAt(commit, pathsIn(source));
  return [...source.files].flatMap(([name, path]) =>
    found.filter((entry) => entry.path === path).map((entry) => ({ ...entry, path: name, source: path })),
  );
}

/** Begins a sentence about files that both base and patched lack. */
function missingIn(overlays: readonly Overlay[], source: OverlaySource): string | undefined {
  const has = (name: string) => overlays.some(({ files }) => files.some(({ path }) => path === name));
  if (source.kind === 'files') {
    const missing = [...source.files].find(([name]) => !has(name));
    return missing && `There is no file ${missing[1]}`;
  }
  if (overlays.some(({ files }) => files.length > 0)) return undefined;
  return `The folder ${source.folder || '.'} holds no file`;
}

const maxFiles = 100;

/** Node may need up to 16 bytes of its 64 MiB of stack for each character that a regular expression repeats. */
export const maxOverlayFileBytes = 2 * 1024 ** 2;

/** Mode of a submodule: a commit of another repository, whose content is not read. */
export const submodule = '160000';
