// Looks at what runs the gates, and has it run none.

import { ok, typed, wrong } from '../checkup/finding.ts';
import type { StartConfig } from '../config/phabricator.ts';
import { shell } from '../host/shell.ts';
import { openRepository } from '../patch/repository.ts';
import type { Point, SetUpFinding } from './checkup-point.ts';
import { secretPoint } from './checkup-secret.ts';

/** @param branch what diffs without a base are measured against. */
export function starterPoint(start: StartConfig, branch: string, now: () => Date): Point {
  switch (start.kind) {
    case 'here':
      return {
        what: 'relay.start.repository',
        look: (what) => clone(what, start.repository, branch, now()),
      };
    case 'github': {
      const place = { what: 'The token for GitHub', path: start.tokenPath };
      return secretPoint('relay.start.tokenFile', { ...place, variable: 'GITHUB_TOKEN' });
    }
    case 'jenkins': {
      const place = { what: 'The token for Jenkins', path: start.tokenPath };
      return secretPoint('relay.start.tokenFile', {
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
  now: Date,
): Promise<SetUpFinding[]> {
  const repository = openRepository(path);
  const isThere = await repository.resolve('HEAD').then(
    () => true,
    () => false,
  );
  if (!isThere) {
    const get = typed(shell`git clone ${'https://git.freebsd.org/src.git'} ${path}`);
    const mend = `name a clone, or make one with ${get}`;
    return [wrong(what, `${path} is no git repository with a commit`, mend)];
  }
  const tip = await repository.commitAt(branch, now).catch(() => undefined);
  if (tip === undefined) {
    const mend = 'write the branch that revisions are made for as `phabricator.branch`';
    return [wrong(what, `${path} has no branch ${branch}`, mend)];
  }
  return [ok(what, `${path} has ${branch}, at ${tip.slice(0, 12)}`)];
}
