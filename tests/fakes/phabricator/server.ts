// A Phabricator on a loopback port, for tests: it carries out what ppsgate requests, and refuses what a Phorge refuses.
//
//   await using phabricator = await startPhabricator();
//   const author = phabricator.addUser('author');
//   const revision = phabricator.addRevision({ author, title: 'ipfw: find states faster', diff: { raw } });
//   … url: phabricator.url, token: phabricator.token …
//   expect(phabricator.violations).toEqual([]);
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { sendRequest } from '../../../src/system/http.ts';
import { type Call, ConduitError, isMap, isText, type Methods, refusal, type Values } from './conduit.ts';
import { differentialMethods } from './differential.ts';
import { type Fault, type FaultBook, type Faults, noFaultsYet } from './faults.ts';
import { harbormasterMethods } from './harbormaster.ts';
import { peopleMethods } from './people.ts';
import { type Scene, sceneOf } from './scene.ts';
import { emptyState, type State, type User } from './state.ts';
import { misdeeds } from './violations.ts';
import { type Webhooks, webhooksOf } from './webhooks.ts';

export type FakePhabricator = Scene & {
  /** Without a trailing slash. */
  url: string;
  /** Conduit token of `perfbot`, who exists from the start. */
  token: string;
  bot: User;
  /** Current state; a test may read and change it. */
  state: State;
  /** Every readable call, oldest first, including rejected ones. */
  requests: { method: string; params: Values }[];
  /** Mistakes of the bot as sentences; a test expects none. */
  violations: string[];
  faults: Faults;
  /** Handles a call in this process, without a connection. */
  send: typeof sendRequest;
  /** Resolves when all started requests of webhooks and builds have a response. */
  settled: () => Promise<void>;
  stop: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** @param options.now seconds since 1970 */
export async function startPhabricator(options: { now?: number } = {}): Promise<FakePhabricator> {
  const state = emptyState(options.now ?? 1_795_000_000);
  const webhooks = webhooksOf(state);
  const inner: Inner = { state, webhooks, requests: [], violations: [], faults: noFaultsYet() };
  const server = createServer((request, response) => {
    serve(inner, request, response).catch((error: unknown) => {
      inner.violations.push(`the fake itself failed: ${error}`);
      send(response, page(500, 'The server has failed.'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.baseUri = url;
  const scene = sceneOf(state, webhooks);
  const bot = scene.addUser('perfbot', { isBot: true });
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const { requests, violations, faults } = inner;
  return {
    ...scene,
    url,
    token: scene.tokenOf(bot),
    bot,
    state,
    requests,
    violations,
    faults,
    send: (to, { body = '' }) => answerHere(inner, new URL(to).pathname, body.toString()),
    settled: () => settled(inner),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

type Inner = Pick<FakePhabricator, 'state' | 'requests' | 'violations'> & {
  webhooks: Webhooks;
  faults: FaultBook;
};

type Answer = { status: number; contentType: string; body: string; location?: string };

const methods: Methods = { ...peopleMethods, ...differentialMethods, ...harbormasterMethods };

async function serve(inner: Inner, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await answerTo(inner, request.url ?? '', await text(request));
  if (answer === undefined) request.socket.resetAndDestroy();
  else send(response, answer);
}

/** Undefined if the connection is reset. */
async function answerTo(inner: Inner, path: string, body: string): Promise<Answer | undefined> {
  const { state, faults, requests, webhooks } = inner;
  if (state.away === 'php') return page(502, '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\r\n');
  if (state.away === 'database') {
    return page(500, 'This install has a fatal setup error, access the web interface to view details and resolve it.');
  }
  const [, method] = /^\/api\/([^/]+)$/.exec(path) ?? [];
  if (method === undefined) return loginPage;
  if (method === 'conduit.ping') return json({ result: 'vm', error_code: null, error_info: null });
  const { __conduit__: about, ...params } = read(body) ?? {};
  const fault = faults.next({ method, params });
  requests.push({ method, params });
  const instead = fault && insteadOf(fault);
  const isCarriedOut = instead === undefined || (fault !== undefined && 'carriedOut' in fault && fault.carriedOut);
  const answer = isCarriedOut ? answerOf(inner, method, params, about, fault?.kind === 'read-only') : undefined;
  webhooks.announce();
  for (const work of state.background) void work.then(webhooks.announce);
  return fault?.kind === 'reset' ? undefined : (instead ?? answer);
}

/** Parameters as JSON in `params`, the only form that keeps their types. */
function read(body: string): Values | undefined {
  try {
    const params: unknown = JSON.parse(new URLSearchParams(body).get('params') ?? '');
    return isMap(params) ? params : undefined;
  } catch {
    return undefined;
  }
}

function answerOf(inner: Inner, name: string, params: Values, about: unknown, isReadOnly: boolean): Answer {
  try {
    const result = resultOf(inner, name, params, isMap(about) ? about.token : undefined, isReadOnly);
    return json({ result, error_code: null, error_info: null });
  } catch (error) {
    if (!(error instanceof ConduitError)) throw error;
    return json({ result: null, error_code: error.code, error_info: error.message });
  }
}

function resultOf(inner: Inner, name: string, params: Values, token: unknown, isReadOnly: boolean): unknown {
  const method = methods[name];
  if (method === undefined) {
    throw new ConduitError('ERR-CONDUIT-CALL', `Conduit API method "${name.slice(0, 64)}" does not exist.`);
  }
  const unknown = Object.keys(params).filter((key) => !method.params.includes(key));
  if (unknown.length > 0) {
    const names = unknown.map((key) => `'${key}'`).join(', ');
    throw new ConduitError('ERR-CONDUIT-CALL', `API Method "${name}" does not define these parameters: ${names}.`);
  }
  const call: Call = { state: inner.state, params, viewer: userOf(inner.state, token) };
  inner.violations.push(...misdeeds(name, call));
  if (method.writes !== undefined && (isReadOnly || inner.state.isReadOnly)) {
    throw refusal(
      `Unable to establish a write-mode connection (to application database "phabricator_${method.writes}") because this server is in read-only mode. Whatever you are trying to do does not function correctly in read-only mode.`,
    );
  }
  return method.run(call);
}

/** Finds the user of a token. The real server's errors repeat the token, too. */
function userOf(state: State, token: unknown): User {
  if (!isText(token)) throw new ConduitError('ERR-INVALID-SESSION', 'Session key is not present.');
  const user = state.users.find(({ tokens }) => tokens.includes(token));
  if (user === undefined) throw new ConduitError('ERR-INVALID-AUTH', `API token "${token}" is not valid.`);
  if (user.isDisabled) throw new ConduitError('ERR-INVALID-AUTH', 'User account is not permitted to use the API.');
  return user;
}

async function answerHere(inner: Inner, path: string, sent: string): ReturnType<typeof sendRequest> {
  const answer = await answerTo(inner, path, sent);
  if (answer === undefined) {
    return { kind: 'no-answer', why: 'socket hang up (ECONNRESET)', code: 'ECONNRESET', wasSent: true };
  }
  const { status, body } = answer;
  const headers = new Map(Object.entries(headersOf(answer)));
  return { kind: 'answered', status, statusText: STATUS_CODES[status] ?? '', headers, body: Buffer.from(body) };
}

async function settled({ state, webhooks }: Pick<Inner, 'state' | 'webhooks'>): Promise<void> {
  while (state.background.length > 0) {
    await Promise.all(state.background.splice(0));
    webhooks.announce();
  }
  await webhooks.idle();
  // A webhook may have called back meanwhile.
  if (state.background.length > 0) await settled({ state, webhooks });
}

function insteadOf(fault: Fault): Answer | undefined {
  switch (fault.kind) {
    case 'rate-limit': {
      const body = 'TOO MANY REQUESTS\nYou ("127.0.0.1") are issuing too many requests too quickly.\n';
      return { status: 429, contentType: 'text/plain; charset=utf-8', body };
    }
    case 'broken':
    case 'reset':
      return page(500, 'The server has failed.');
    case 'html':
      return loginPage;
    case 'answer':
      return fault;
    default:
      return undefined;
  }
}

function json(body: { result: unknown; error_code: string | null; error_info: string | null }): Answer {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(body) };
}

function page(status: number, text: string): Answer {
  return { status, contentType: 'text/html; charset=UTF-8', body: `<!DOCTYPE html><p>${text}</p>` };
}

const loginPage = page(200, 'This server is not configured with any enabled authentication providers.');

const headersOf = ({ contentType, location }: Answer): { [name: string]: string } => ({
  'content-type': contentType,
  ...(location !== undefined && { location }),
});

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer)).end(answer.body);
}
