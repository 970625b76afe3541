// Operations of the fake GitHub: each takes the state and a call, changes the state, and returns the answer.
import { actionsOperations } from './operations/actions.ts';
import { checkOperations } from './operations/checks.ts';
import { commentOperations } from './operations/comments.ts';
import { gitDataOperations } from './operations/git-data.ts';
import { issueOperations } from './operations/issues.ts';
import { labelOperations } from './operations/labels.ts';
import { peopleOperations } from './operations/people.ts';
import { pullRequestOperations } from './operations/pull-requests.ts';
import type { Operation } from './state.ts';

/** Operations by the ids of openapi.json. */
export const operations: Readonly<Record<string, Operation>> = {
  ...actionsOperations,
  ...checkOperations,
  ...commentOperations,
  ...gitDataOperations,
  ...issueOperations,
  ...labelOperations,
  ...peopleOperations,
  ...pullRequestOperations,
};
