// GitHub's GraphQL API: only the two queries and the one mutation that ppsgate sends, as it sends them.
import { z } from 'zod';
import { commitAt, type Git } from './git-objects.ts';
import type { Asked, Route } from './route.ts';
import { type Answer, type Caller, repositoryNodeId, type State } from './state.ts';

export function graphqlRoute(state: State, asked: Asked): Route {
  const { data: { query, variables } = { query: '', variables: {} } } = posted.safeParse(JSON.parse(asked.body));
  const operation = operations[query];
  return {
    operationId: operation?.operationId ?? 'graphql',
    mistakes: () => {
      if (operation === undefined) return `graphql is not known to be asked ${query}`;
      const { error } = operation.variables.safeParse(variables);
      return error && `graphql was asked wrongly: ${z.prettifyError(error)}`;
    },
    carryOut: (caller) => operation?.carryOut(state, variables, caller) ?? { mistake: 'graphql was asked nothing.' },
    forbidden: refused('FORBIDDEN', 'Resource not accessible by integration'),
  };
}

const posted = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).default({}) });

type KnownOperation = {
  operationId: string;
  variables: z.ZodType;
  carryOut: (state: State, variables: Record<string, unknown>, caller: Caller) => Answer;
};

const nothing = '0'.repeat(40);
const objectId = z.string().regex(/^[0-9a-f]{40}$/);

const refUpdate = z.strictObject({
  name: z.string().regex(/^refs\/[^/]+\/./, 'is no full name of a ref'),
  beforeOid: objectId,
  afterOid: objectId,
  force: z.literal(true),
});

const updateRefsVariables = z.strictObject({
  input: z.strictObject({ repositoryId: z.literal(repositoryNodeId), refUpdates: z.array(refUpdate) }),
});

/** By their documents, which were valid by GitHub's schema when they were written here. */
const operations: Readonly<Record<string, KnownOperation>> = {
  '{ viewer { login } }': {
    operationId: 'graphql/viewer',
    variables: z.strictObject({}),
    carryOut: (_state, _variables, { login }) => data({ viewer: { login } }),
  },
  'query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }': {
    operationId: 'graphql/repository',
    variables: z.strictObject({ owner: z.string(), repo: z.string() }),
    carryOut: (state, { owner, repo }) =>
      `${owner}/${repo}`.toLowerCase() === state.repository.toLowerCase()
        ? data({ repository: { id: repositoryNodeId } })
        : refused('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${repo}'.`),
  },
  'mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }': {
    operationId: 'graphql/update-refs',
    variables: updateRefsVariables,
    carryOut: ({ git }, variables) => {
      const { refUpdates } = updateRefsVariables.parse(variables).input;
      const [why] = refUpdates.flatMap((update) => whyNot(git, update) ?? []);
      if (why !== undefined) return refused('UNPROCESSABLE', why);
      for (const { name, afterOid } of refUpdates) git.refs.set(name, afterOid);
      return data({ updateRefs: { clientMutationId: null } });
    },
  },
};

function whyNot(git: Git, { name, beforeOid, afterOid }: z.infer<typeof refUpdate>): string | undefined {
  const current = git.refs.get(name) ?? nothing;
  if (beforeOid !== current) return `Reference ${name} is at ${current} but expected ${beforeOid}`;
  return commitAt(git, afterOid) === undefined ? `Object ${afterOid} does not exist` : undefined;
}

const data = (of: object): Answer => ({ status: 200, body: { data: of } });

/** GraphQL refuses with status 200, and the reason in `errors`. */
function refused(type: string, message: string): Answer {
  return { status: 200, body: { data: null, errors: [{ type, locations: [{ line: 1, column: 1 }], message }] } };
}
