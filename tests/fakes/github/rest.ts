// GitHub's REST API: finds a request's operation, and validates request and response by GitHub's description.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorObject } from 'ajv';
import { type Document, OpenAPIBackend, type Operation } from 'openapi-backend';
import { operations } from './operations.ts';
import type { Asked, Route } from './route.ts';
import type { Answer, Caller, State } from './state.ts';

const isDateTime = (value: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/.test(value);

/** Compiles an operation's schemas at its first request: all of them would need seconds, in every process. */
const gitHubsDescription: Promise<OpenAPIBackend> = new OpenAPIBackend({
  definition: JSON.parse(readFileSync(join(import.meta.dirname, 'openapi.json'), 'utf8')) as Document,
  quick: true,
  ajvOpts: { formats: { uri: URL.canParse, email: true, 'date-time': isDateTime } },
}).init();

/** Handler of a request; undefined for an operation that openapi.json lacks. */
export async function restRoute(state: State, asked: Asked): Promise<Route | undefined> {
  const description = await gitHubsDescription;
  const request = { ...asked, path: withOneSegment(asked.path) };
  const operation = description.matchOperation(request);
  if (operation?.operationId === undefined) return undefined;
  return {
    operationId: operation.operationId,
    mistakes: () => {
      const errors = others(errorsIn(description, request, operation));
      return errors.length > 0 ? inWords(operation, 'was asked wrongly', errors) : undefined;
    },
    carryOut: (caller) => {
      const [tooMuch] = errorsIn(description, request, operation).filter(isLimit);
      if (tooMuch !== undefined) return refusal(tooMuch);
      return carriedOut({ description, state, operation, request, caller });
    },
  };
}

function errorsIn(description: OpenAPIBackend, request: Asked, operation: Operation): readonly ErrorObject[] {
  return description.validateRequest(request, operation).errors ?? [];
}

/** A value beyond a limit is well-formed: GitHub refuses it with the number. */
function isLimit({ keyword }: ErrorObject): boolean {
  return keyword === 'maxLength' || keyword === 'maxItems';
}

function others(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.filter((error) => !isLimit(error));
}

function refusal({ keyword, params, instancePath }: ErrorObject): Answer {
  const what = keyword === 'maxItems' ? 'items' : 'characters';
  const message = `Invalid request.\n\nOnly ${params.limit} ${what} are allowed at ${instancePath}.`;
  return { status: 422, body: { message, status: '422' } };
}

/** The router treats names of refs as one segment, like octokit. */
function withOneSegment(path: string): string {
  const [, start, rest] = /^(\/repos\/[^/]+\/[^/]+\/git\/ref\/)(.+)$/.exec(path) ?? [];
  return start === undefined || rest === undefined ? path : start + rest.replaceAll('/', '%2F');
}

function carriedOut(call: {
  description: OpenAPIBackend;
  state: State;
  operation: Operation;
  request: Asked;
  caller: Caller;
}): Answer | { mistake: string } {
  const { description, state, operation, request, caller } = call;
  const { operationId = '' } = operation;
  const { params } = description.router.parseRequest(request, operation);
  const answer = operations[operationId]?.(state, {
    url: request.url,
    params: Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(String(value))]),
    ),
    body: request.body === '' ? {} : JSON.parse(request.body),
    caller,
  });
  if (answer === undefined) return { mistake: `${operationId} is not in operations.ts.` };
  // GitHub returns some errors that its description lacks, but describes every success.
  const isKnown = answer.status >= 400 || String(answer.status) in (operation.responses ?? {});
  if (!isKnown) return { mistake: `${operationId} never answers ${answer.status}.` };
  if (answer.bytes !== undefined) return answer;
  const { errors } = description.validateResponse(answer.body ?? null, operation, answer.status);
  return errors ? { mistake: inWords(operation, 'was answered wrongly', errors) } : answer;
}

function inWords(operation: Operation, what: string, errors: readonly ErrorObject[]): string {
  const where = errors.map((error) => `${error.instancePath} ${error.message}`).join(', ');
  return `${operation.operationId} ${what}: ${where}.`;
}
