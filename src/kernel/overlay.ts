// Reads a variant of a Linux DUT: the files of a repository's overlay folder at one commit.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { OverlayPlace } from '../config/schema.ts';
import { type Repository, RepositoryError } from '../forge/patch/repository.ts';
import * as bounded from '../model/bounds.ts';
import type { Patch } from '../model/patch.ts';
import { diffName } from '../model/variant-name.ts';

export const overlaySchema = z.object({
  /** `base`, `patched`, `diff 80345`. */
  variant: bounded.variant,
  commit: bounded.name,
  /** Path of the files' folder in the repository, empty for its top; absent without files. */
  folder: bounded.path.optional(),
  files: bounded.list(
    z.object({
      path: bounded.path,
      /** Git's mode: `100644` for a plain file. The DUT decides which it can load. */
      mode: bounded.name,
      content: bounded.document,
      sha256: bounded.name,
    }),
  ),
});

export type Overlay = z.infer<typeof overlaySchema>;

/**
 * Reads the overlay at the patch's merge base, at its head, and of earlier diffs: later changes of the branch affect
 * neither. Throws a `RepositoryError` where neither base nor patched has a file: comparing nothing would pass.
 */
export async function buildOverlays(
  patch: Patch,
  place: OverlayPlace,
  repository: Repository,
): Promise<Overlay[]> {
  const folder = await repository.pathOf(place);
  const { base, changed } = await commitsOf(patch, repository);
  const overlays = await Promise.all(
    [base, ...changed].map((variant) => readOverlay(repository, variant, folder)),
  );
  if (overlays.slice(0, 2).every(({ files }) => files.length === 0)) {
    throw new RepositoryError(
      `The folder ${folder || '.'} holds no file at ${base.commit} nor at ${patch.headCommit}: correct \`overlay\` in ppsgate.yml.`,
    );
  }
  return overlays;
}

export type VariantCommit = Pick<Overlay, 'variant' | 'commit'>;

/** Finds the patch's merge base, and orders the variants: patched before diffs that are only shown. */
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

/** @param folder its path in the repository. */
export async function readOverlay(
  repository: Repository,
  { variant, commit }: VariantCommit,
  folder: string,
): Promise<Overlay> {
  const entries = await repository.list(commit, folder);
  if (entries.length > mostFiles) {
    throw new RepositoryError(
      `The folder ${folder || '.'} holds ${entries.length} files at ${commit}, and an overlay at most ${mostFiles}: keep other files elsewhere.`,
    );
  }
  const files = await Promise.all(
    entries.map(async ({ path, mode, object }) => {
      const content = mode === submodule ? '' : await repository.read(object);
      return { path, mode, content, sha256: createHash('sha256').update(content).digest('hex') };
    }),
  );
  return { variant, commit, folder, files };
}

const mostFiles = 100;

/** A commit of another repository, whose content is not read. */
export const submodule = '160000';
