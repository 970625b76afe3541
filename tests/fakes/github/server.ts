// A GitHub on a loopback port, for tests: stateful, failing on order, and held to GitHub's own OpenAPI
// description, so that a request which GitHub would not understand is seen here and not in production.
//
//   const github = await startFakeGitHub({ repository: 'freebsd/freebsd-src', pullRequests: […] });
//   … GITHUB_API_URL=github.url …
//   expect(github.violations).toEqual([]);
//   await github.stop();
//
// openapi.json holds the operations that it knows; extract-openapi.ts says how one is added.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorObject } from 'ajv';
import { type Document, OpenAPIBackend, type Operation } from 'openapi-backend';
import { answerInstead, type Fault, type Faults, noFaultsYet } from './faults.ts';
import {
  type Answer,
  type Caller,
  type FakeComment,
  operations,
  type State,
} from './operations.ts';

/** A token is known by its first letters, as GitHub's are; every other one answers 401. */
export const installationToken = 'ghs_workflow';
export const personalToken = 'ghp_person';

const isDateTime = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/.test(value);

/** Compiled once for all fakes of a process, for it takes half a second. */
const gitHubsDescription: Promise<OpenAPIBackend> = new OpenAPIBackend({
  definition: JSON.parse(
    readFileSync(join(import.meta.dirname, 'openapi.json'), 'utf8'),
  ) as Document,
  strict: false,
  ajvOpts: { formats: { uri: URL.canParse, email: true, 'date-time': isDateTime } },
}).init();

export type FakeGitHub = {
  /** For `GITHUB_API_URL`. */
  url: string;
  /** What is on GitHub now; a test may read and change it. */
  state: State;
  /** Every call that was understood, oldest first, faults included. */
  requests: { operationId: string; method: string; path: string; status: number | 'no answer' }[];
  /** Where a request or an answer broke GitHub's description, in words; a test expects none. */
  violations: string[];
  faults: Pick<Faults, 'order' | 'clear'>;
  stop: () => Promise<void>;
};

export async function startFakeGitHub(options: {
  repository: string;
  pullRequests: State['pullRequests'];
  /** Oldest first; their ids are given by the fake. */
  comments?: readonly Omit<FakeComment, 'id'>[];
  /** Whom a personal token belongs to. */
  login?: string;
}): Promise<FakeGitHub> {
  const github: Inner = {
    state: stateOf(options),
    login: options.login ?? 'ppsgate-lab',
    requests: [],
    violations: [],
    faults: noFaultsYet(),
    description: await gitHubsDescription,
  };
  const server = createServer((request, response) => {
    serve(github, request, response).catch((error: unknown) => {
      github.violations.push(`the fake itself failed: ${error}`);
      send(response, { status: 500, body: { message: String(error) } });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...github,
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Inner = Pick<FakeGitHub, 'state' | 'requests' | 'violations'> & {
  login: string;
  faults: Faults;
  description: OpenAPIBackend;
};

function stateOf(options: Parameters<typeof startFakeGitHub>[0]): State {
  return {
    repository: options.repository,
    pullRequests: options.pullRequests,
    comments: (options.comments ?? []).map((comment, index) => ({ ...comment, id: 1001 + index })),
  };
}

type Asked = { method: string; path: string; query: Query; headers: Query; body: string };
type Query = Record<string, string>;

async function serve(
  github: Inner,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const asked = await read(request, url);
  const operation = github.description.matchOperation(asked);
  if (operation?.operationId === undefined) {
    send(response, violation(github, `${asked.method} ${asked.path} is not in openapi.json.`));
    return;
  }
  const fault = github.faults.next(operation.operationId);
  const answer = answerTo(github, operation, { asked, url, fault });
  const isLost = fault?.kind === 'reset' || fault?.kind === 'cut';
  github.requests.push({
    operationId: operation.operationId,
    method: asked.method,
    path: `${url.pathname}${url.search}`,
    status: isLost ? 'no answer' : answer.status,
  });
  if (fault?.kind === 'slow') await sleep(fault.milliseconds, undefined, { ref: false });
  if (fault?.kind === 'reset') request.socket.resetAndDestroy();
  else if (fault?.kind === 'cut') cutShort(response, answer);
  else send(response, answer);
}

async function read(request: IncomingMessage, url: URL): Promise<Asked> {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(headers),
    body: await text(request),
  };
}

/** The right answer, or the one that a fault puts in its place, before or after all was carried out. */
function answerTo(
  github: Inner,
  operation: Operation,
  { asked, url, fault }: { asked: Asked; url: URL; fault: Fault | undefined },
): Answer {
  const caller = callerOf(asked.headers.authorization, github.login);
  if (caller === undefined) return { status: 401, body: { message: 'Bad credentials' } };
  const { errors } = github.description.validateRequest(asked, operation);
  if (errors) return violation(github, inWords(operation, 'was asked wrongly', errors));
  const instead = fault && answerInstead(fault);
  if (instead !== undefined && !isCarriedOut(fault)) return instead;
  const answer = carriedOut(github, operation, { asked, url, caller });
  return instead ?? answer;
}

/** Whose token it is; `Bearer` and `token` are the two ways that GitHub takes one. */
function callerOf(authorization: string | undefined, login: string): Caller | undefined {
  const [, token = ''] = /^(?:bearer|token) (\S+)$/i.exec(authorization ?? '') ?? [];
  if (token.startsWith('ghs_')) return { kind: 'installation', login: 'github-actions[bot]' };
  if (token.startsWith('ghp_')) return { kind: 'user', login };
  return undefined;
}

function isCarriedOut(fault: Fault | undefined): boolean {
  return fault !== undefined && 'carriedOut' in fault && fault.carriedOut === true;
}

function carriedOut(
  github: Inner,
  operation: Operation,
  { asked, url, caller }: { asked: Asked; url: URL; caller: Caller },
): Answer {
  const { operationId = '' } = operation;
  const { params } = github.description.router.parseRequest(asked, operation);
  const body = asked.body === '' ? {} : JSON.parse(asked.body);
  const answer = operations[operationId]?.(github.state, { url, params, body, caller });
  if (answer === undefined) return violation(github, `${operationId} is not in operations.ts.`);
  // GitHub answers some errors without saying so in its description; a success it always describes.
  const isKnown = answer.status >= 400 || String(answer.status) in (operation.responses ?? {});
  if (!isKnown) return violation(github, `${operationId} never answers ${answer.status}.`);
  const { errors } = github.description.validateResponse(
    answer.body ?? null,
    operation,
    answer.status,
  );
  return errors ? violation(github, inWords(operation, 'was answered wrongly', errors)) : answer;
}

function violation(github: Inner, what: string): Answer {
  github.violations.push(what);
  return { status: 500, body: { message: what } };
}

function inWords(operation: Operation, what: string, errors: readonly ErrorObject[]): string {
  const where = errors.map((error) => `${error.instancePath} ${error.message}`).join(', ');
  return `${operation.operationId} ${what}: ${where}.`;
}

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer)).end(bytesOf(answer));
}

function cutShort(response: ServerResponse, answer: Answer): void {
  const bytes = bytesOf(answer);
  response.writeHead(answer.status, { ...headersOf(answer), 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

function headersOf(answer: Answer): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    ...answer.headers,
  };
}

function bytesOf(answer: Answer): Buffer {
  return Buffer.from(answer.body === undefined ? '' : JSON.stringify(answer.body));
}
