import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { artifactRoute } from './artifacts.ts';
import { answerInstead, type Fault, type FaultBook, type Faults, noFaultsYet } from './faults.ts';
import { graphqlRoute } from './graphql.ts';
import { accessFor } from './permissions.ts';
import { restRoute } from './rest.ts';
import type { Asked, Route } from './route.ts';
import { type Answer, type Caller, type FakeComment, firstState, type State } from './state.ts';
import { type TokenBook, type Tokens, tokenBook } from './tokens.ts';

export { installationToken, personalToken } from './tokens.ts';

export type FakeGitHub = Tokens & {
  /** URL for `GITHUB_API_URL`. */
  url: string;
  /** Current state of GitHub; a test may read and change it. */
  state: State;
  /** Every call that was understood, oldest first, including those with faults. */
  requests: { operationId: string; method: string; path: string; status: number | 'no answer' }[];
  /** Requests and responses that violate GitHub's description, as sentences; a test expects none. */
  violations: string[];
  faults: Faults;
  stop: () => Promise<void>;
};

export async function startFakeGitHub(options: {
  repository: string;
  pullRequests: State['pullRequests'];
  /** Oldest first; the fake assigns their ids. */
  comments?: readonly Omit<FakeComment, 'id'>[];
}): Promise<FakeGitHub> {
  const github: Inner = {
    state: firstState(options),
    tokens: tokenBook(),
    requests: [],
    violations: [],
    faults: noFaultsYet(),
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
  const { tokens, ...others } = github;
  return {
    ...others,
    ...tokens,
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Inner = Pick<FakeGitHub, 'state' | 'requests' | 'violations'> & {
  tokens: TokenBook;
  faults: FaultBook;
};

async function serve(github: Inner, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = await read(request);
  const route = await routeOf(github.state, asked);
  if (route === undefined) {
    send(response, violation(github, `${asked.method} ${asked.path} is not in openapi.json.`));
    return;
  }
  const fault = github.faults.next(route.operationId);
  const answer = answerTo(github, route, { asked, fault });
  const isLost = fault?.kind === 'reset' || fault?.kind === 'cut';
  github.requests.push({
    operationId: route.operationId,
    method: asked.method,
    path: `${asked.url.pathname}${asked.url.search}`,
    status: isLost ? 'no answer' : answer.status,
  });
  if (fault?.kind === 'slow') await sleep(fault.milliseconds, undefined, { ref: false });
  if (fault?.kind === 'reset') request.socket.resetAndDestroy();
  else if (fault?.kind === 'cut') cutShort(response, answer);
  else send(response, answer);
}

async function read(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  const bytes = await buffer(request);
  return {
    method: request.method ?? 'GET',
    url,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(headers),
    bytes,
    body: bytes.toString(),
  };
}

async function routeOf(state: State, asked: Asked): Promise<Route | undefined> {
  if (asked.path.startsWith('/_artifacts/')) return artifactRoute(state, asked);
  const isGraphql = asked.method === 'POST' && asked.path === '/graphql';
  return isGraphql ? graphqlRoute(state, asked) : restRoute(state, asked);
}

/** The correct response, or that of a fault, before or after the request was carried out. */
function answerTo(github: Inner, route: Route, { asked, fault }: { asked: Asked; fault: Fault | undefined }): Answer {
  const caller = callerOf(github, route, asked);
  if ('status' in caller) return caller;
  const mistakes = route.mistakes();
  if (mistakes !== undefined) return violation(github, mistakes);
  const instead = fault && answerInstead(fault);
  if (instead !== undefined && !isCarriedOut(fault)) return instead;
  const answer = route.carryOut(caller);
  if ('mistake' in answer) return violation(github, answer.mistake);
  return instead ?? answer;
}

/** Returns the caller if the token allows this, otherwise the refusal. */
function callerOf(github: Inner, route: Route, asked: Asked): Caller | Answer {
  if (route.isForAll) return anonymous;
  const holder = github.tokens.holderOf(asked.headers.authorization);
  if (holder === undefined) return { status: 401, body: { message: 'Bad credentials' } };
  const access = accessFor(github.state, route.operationId, holder.permissions);
  if (access.kind === 'refused') return route.forbidden ?? forbidden;
  if (access.kind === 'used') github.tokens.use(holder.token, access.permission);
  return holder.caller;
}

const anonymous: Caller = { kind: 'user', login: '' };

const forbidden: Answer = {
  status: 403,
  body: { message: 'Resource not accessible by integration', status: '403' },
};

function isCarriedOut(fault: Fault | undefined): boolean {
  return fault !== undefined && 'carriedOut' in fault && fault.carriedOut === true;
}

function violation(github: Inner, what: string): Answer {
  github.violations.push(what);
  return { status: 500, body: { message: what } };
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
    'content-type': answer.bytes ? 'application/octet-stream' : 'application/json; charset=utf-8',
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    ...answer.headers,
  };
}

function bytesOf(answer: Answer): Buffer {
  if (answer.bytes !== undefined) return answer.bytes;
  return Buffer.from(answer.body === undefined ? '' : JSON.stringify(answer.body));
}
