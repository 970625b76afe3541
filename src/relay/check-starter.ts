// Checks the starter of the gates, without starting one.

import type { OverlayPlace } from '../config/overlay.ts';
import type { StartConfig } from '../config/phabricator.ts';
import { openRepository, type Repository, RepositoryError } from '../forge/patch/repository.ts';
import { pathsIn, readOverlay, sourceOf } from '../kernel/overlay.ts';
import { ok, typed, wrong } from '../lab/check/diagnostic.ts';
import { shortId } from '../model/patch.ts';
import { shell } from '../system/shell.ts';
import { type SetUpCheckDeps, type SetUpDiagnostic, type SetUpStep, secretStep } from './setup-check-item.ts';

/** @param branch base of diffs that name none */
export function starterStep(start: StartConfig, branch: string, deps: SetUpCheckDeps): SetUpStep {
  switch (start.kind) {
    case 'here':
      return {
        what: 'relay.start.repository',
        run: (what) => clone(what, start.repository, branch, deps),
      };
    case 'github': {
      const place = { what: 'The token for GitHub', path: start.tokenPath };
      return secretStep('relay.start.tokenFile', { ...place, variable: 'GITHUB_TOKEN' });
    }
    case 'jenkins': {
      const place = { what: 'The token for Jenkins', path: start.tokenPath };
      return secretStep('relay.start.tokenFile', {
        ...place,
        variable: 'PPSGATE_JENKINS_TOKEN',
      });
    }
  }
}

async function clone(
  what: string,
  path: string,
  branch: string,
  { now, overlay }: SetUpCheckDeps,
): Promise<SetUpDiagnostic[]> {
  const repository = openRepository(path);
  const isThere = await repository.resolve('HEAD').then(
    () => true,
    () => false,
  );
  if (!isThere) {
    const get = typed(shell`git clone --config ${withNotes} ${'https://git.freebsd.org/src.git'} ${path}`);
    const fix = `name a clone, or create one with ${get}`;
    return [wrong(what, `${path} is not a git repository with a commit`, fix)];
  }
  const tip = await repository.commitAt(branch, now()).catch(() => undefined);
  if (tip === undefined) {
    const fix = 'set `phabricator.branch` to the branch that revisions are based on';
    return [wrong(what, `${path} has no branch ${branch}`, fix)];
  }
  const found = `${path} has ${branch}, at ${shortId(tip)}`;
  return [overlay === undefined ? ok(what, found) : await base(what, found, repository, tip, overlay)];
}

/** Notes with the Subversion revisions that diffs from before 2021 are based on. */
const withNotes = 'remote.origin.fetch=+refs/notes/*:refs/notes/*';

async function base(
  what: string,
  found: string,
  repository: Repository,
  commit: string,
  overlay: OverlayPlace,
): Promise<SetUpDiagnostic> {
  try {
    const source = await sourceOf(overlay, repository);
    const { files } = await readOverlay(repository, { variant: 'base', commit }, source);
    const place = pathsIn(source).join(', ') || 'its top';
    const count = files.length === 1 ? '1 file' : `${files.length} files`;
    if (files.length > 0) return ok(what, `${found}, with ${count} in ${place}`);
    const fix = 'set `overlay` to the folder with the files of a Linux DUT, or commit some to it';
    return wrong(what, `${found}, with no file in ${place}`, fix);
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    const fix = 'set `overlay` to a folder of that repository with at most 100 files';
    return wrong(what, error.message.replace(/\.$/, ''), fix);
  }
}
