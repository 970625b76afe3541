// GitHub's GraphQL API: only the two queries and the one mutation that ppsgate uses.
import { z } from 'zod';
import { commitAt, type Git, isAncestor } from './git-objects.ts';
import { type Field, parseQuery, type Query } from './graphql-query.ts';
import type { Asked, Route } from './route.ts';
import { type Answer, type Caller, repositoryNodeId, type State } from './state.ts';

export function graphqlRoute(state: State, asked: Asked): Route {
  const question = questionOf(asked.body);
  const field = 'fields' in question ? question.fields[0] : undefined;
  const operation = field && fieldsByName[field.name];
  return {
    operationId: operation?.operationId ?? 'graphql',
    mistakes: () => {
      const mistake = 'fields' in question ? mistakeIn(question) : question.mistake;
      return mistake && `graphql was asked wrongly: ${mistake}`;
    },
    carryOut: (caller) =>
      operation && field
        ? operation.carryOut(state, field.arguments, caller)
        : { mistake: 'graphql was asked nothing.' },
    forbidden: refused(field?.name ?? '', 'FORBIDDEN', 'Resource not accessible by integration'),
  };
}

const nothing = '0'.repeat(40);

type KnownField = {
  operationId: string;
  kind: Query['kind'];
  selected: string;
  arguments: z.ZodType;
  carryOut: (state: State, values: Record<string, unknown>, caller: Caller) => Answer;
};

const objectId = z.string().regex(/^[0-9a-f]{40}$/);

const repositoryArguments = z.strictObject({ owner: z.string(), name: z.string() });

const refUpdate = z.strictObject({
  name: z.string().regex(/^refs\/[^/]+\/./, 'is no full name of a ref'),
  beforeOid: objectId.nullish(),
  afterOid: objectId,
  force: z.boolean().nullish(),
});
type RefUpdate = z.infer<typeof refUpdate>;

const updateRefsArguments = z.strictObject({
  input: z.strictObject({
    repositoryId: z.string(),
    refUpdates: z.array(refUpdate),
    clientMutationId: z.string().nullish(),
  }),
});

const fieldsByName: Readonly<Record<string, KnownField>> = {
  viewer: {
    operationId: 'graphql/viewer',
    kind: 'query',
    selected: 'login',
    arguments: z.strictObject({}),
    carryOut: (_state, _values, { login }) => data({ viewer: { login } }),
  },
  repository: {
    operationId: 'graphql/repository',
    kind: 'query',
    selected: 'id',
    arguments: repositoryArguments,
    carryOut: (state, values) => {
      const { owner, name } = repositoryArguments.parse(values);
      const wanted = `${owner}/${name}`;
      if (wanted.toLowerCase() === state.repository.toLowerCase())
        return data({ repository: { id: repositoryNodeId } });
      const message = `Could not resolve to a Repository with the name '${wanted}'.`;
      return refused('repository', 'NOT_FOUND', message);
    },
  },
  updateRefs: {
    operationId: 'graphql/update-refs',
    kind: 'mutation',
    selected: 'clientMutationId',
    arguments: updateRefsArguments,
    carryOut: (state, values) => updateRefs(state, updateRefsArguments.parse(values).input),
  },
};

/** Types that GitHub's schema requires of a variable in each place. */
const typesByPlace: Readonly<Record<string, string>> = {
  'repository.owner': 'String!',
  'repository.name': 'String!',
  'updateRefs.input': 'UpdateRefsInput!',
  'updateRefs.input.repositoryId': 'ID!',
  'updateRefs.input.clientMutationId': 'String',
  'updateRefs.input.refUpdates': '[RefUpdate!]!',
  'updateRefs.input.refUpdates.name': 'GitRefname!',
  'updateRefs.input.refUpdates.beforeOid': 'GitObjectID',
  'updateRefs.input.refUpdates.afterOid': 'GitObjectID!',
  'updateRefs.input.refUpdates.force': 'Boolean',
};

const posted = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).default({}),
});

function questionOf(body: string): Query | { mistake: string } {
  try {
    const { query, variables } = posted.parse(JSON.parse(body));
    return parseQuery(query, variables);
  } catch (error) {
    return { mistake: error instanceof Error ? error.message : String(error) };
  }
}

function mistakeIn({ kind, fields, uses }: Query): string | undefined {
  const [field, another] = fields;
  const known = field && fieldsByName[field.name];
  if (field === undefined || known?.kind !== kind || another !== undefined)
    return `the fake knows no ${kind} of ${fields.map(({ name }) => name).join(' and ')}.`;
  if (!selectsOnly(field, known.selected)) return `${field.name} is asked for ${known.selected}.`;
  const { error } = known.arguments.safeParse(field.arguments);
  if (error) return z.prettifyError(error);
  const wrong = uses.find(({ at, type }) => !fits(type, typesByPlace[at]));
  return wrong && `${wrong.at} is ${typesByPlace[wrong.at]}, not ${wrong.type}.`;
}

function selectsOnly({ fields }: Field, selected: string): boolean {
  return fields.map(({ name }) => name).join() === selected;
}

/** A variable that is never null fits where null is allowed. */
function fits(type: string, wanted: string | undefined): boolean {
  return type === wanted || type === `${wanted}!`;
}

type UpdateRefsInput = z.infer<typeof updateRefsArguments>['input'];

/** Applies all updates, or none. */
function updateRefs({ git }: State, input: UpdateRefsInput): Answer {
  if (input.repositoryId !== repositoryNodeId) {
    const message = `Could not resolve to a node with the global id of '${input.repositoryId}'`;
    return refused('updateRefs', 'NOT_FOUND', message);
  }
  const [why] = input.refUpdates.flatMap((update) => whyNot(git, update) ?? []);
  if (why !== undefined) return refused('updateRefs', 'UNPROCESSABLE', why);
  for (const { name, afterOid } of input.refUpdates) {
    if (afterOid === nothing) git.refs.delete(name);
    else git.refs.set(name, afterOid);
  }
  return data({ updateRefs: { clientMutationId: input.clientMutationId ?? null } });
}

function whyNot(git: Git, { name, beforeOid, afterOid, force }: RefUpdate): string | undefined {
  const current = git.refs.get(name);
  if (beforeOid && beforeOid !== (current ?? nothing))
    return `Reference ${name} is at ${current ?? nothing} but expected ${beforeOid}`;
  if (afterOid === nothing) return undefined;
  if (commitAt(git, afterOid) === undefined) return `Object ${afterOid} does not exist`;
  if (current === undefined || force || isAncestor(git, current, afterOid)) return undefined;
  return `Update of ${name} is not a fast forward`;
}

function data(of: object): Answer {
  return { status: 200, body: { data: of } };
}

/** GraphQL refuses with status 200, and the reason in `errors`. */
function refused(field: string, type: string, message: string): Answer {
  const error = { type, path: [field], locations: [{ line: 1, column: 1 }], message };
  return { status: 200, body: { data: { [field]: null }, errors: [error] } };
}
