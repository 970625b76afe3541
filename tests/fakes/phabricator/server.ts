// A Phabricator on a loopback port, for tests: stateful, with faults on request, and as strict and odd as the recorded
// real one.
//
//   await using phabricator = await startPhabricator();
//   const author = phabricator.addUser('author');
//   const revision = phabricator.addRevision({ author, title: 'ipfw: find states faster', diff: { raw } });
//   … url: phabricator.url, token: phabricator.token …
//   expect(phabricator.violations).toEqual([]);
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { sendRequest } from '../../../src/system/http.ts';
import { type Call, ConduitError, type Methods, refusal, type Values } from './conduit.ts';
import { differentialMethods } from './differential.ts';
import { type Decoded, decodeCall } from './encoding.ts';
import { type Fault, type FaultBook, type Faults, noFaultsYet } from './faults.ts';
import { fileMethods } from './files.ts';
import { handleMethods } from './handles.ts';
import { harbormasterMethods } from './harbormaster.ts';
import { brokenPage, loginPage, noDatabasePage, noPhpPage, wrongHostPage } from './pages.ts';
import { peopleMethods } from './people.ts';
import { remarkupMethods } from './remarkup.ts';
import { repositoryMethods } from './repositories.ts';
import { revisionEditMethods } from './revision-edit.ts';
import { type Scene, sceneOf } from './scene.ts';
import { emptyState, letters, newId, type State, type User } from './state.ts';
import { transactionMethods } from './transactions.ts';
import { manners, misdeeds } from './violations.ts';
import { type Webhooks, webhooksOf } from './webhooks.ts';

export type Requested = {
  method: string;
  params: Values;
  /** User name of the token's owner. */
  actor: string | undefined;
  /** Absent if no response was sent. */
  status?: number;
  errorCode?: string | null;
};

export type FakePhabricator = Scene & {
  /** Without a trailing slash. */
  url: string;
  /** Conduit token of `perfbot`, who exists from the start. */
  token: string;
  bot: User;
  /** Current state; a test may read and change it. */
  state: State;
  /** Every readable call, oldest first, including rejected ones. */
  requests: Requested[];
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

export async function startPhabricator(
  options: {
    /** Seconds since 1970. */
    now?: number;
    /** Its configured address; it returns 500 for any other. Absent: the actual one. */
    baseUri?: string;
  } = {},
): Promise<FakePhabricator> {
  const state = emptyState('', options.now ?? 1_795_000_000);
  const webhooks = webhooksOf(state);
  const inner: Inner = { state, webhooks, requests: [], violations: [], faults: noFaultsYet() };
  const server = createServer((request, response) => {
    serve(inner, request, response).catch((error: unknown) => {
      inner.violations.push(`the fake itself failed: ${error}`);
      send(response, page(500, brokenPage));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.baseUri = options.baseUri ?? url;
  const scene = sceneOf(state, webhooks);
  const bot = scene.addUser('perfbot', { realName: 'Perf CI Bot', isBot: true });
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
    send: (to, request) => answerHere(inner, new URL(to), request),
    settled: () => settled(inner),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

type Inner = Pick<FakePhabricator, 'state' | 'requests' | 'violations'> & {
  webhooks: Webhooks;
  faults: FaultBook;
};

type Answer = {
  status: number;
  contentType: string;
  body: string;
  errorCode?: string | null;
  location?: string;
};

const methods: Methods = {
  ...peopleMethods,
  ...handleMethods,
  ...differentialMethods,
  ...revisionEditMethods,
  ...transactionMethods,
  ...harbormasterMethods,
  ...fileMethods,
  ...remarkupMethods,
  ...repositoryMethods,
  'conduit.ping': { params: [], isForAll: true, run: () => 'vm' },
  'conduit.getcapabilities': {
    params: [],
    isForAll: true,
    run: () => ({
      authentication: ['token', 'asymmetric', 'session', 'sessionless', 'oauth'],
      signatures: ['consign'],
      input: ['json', 'urlencoded'],
      output: ['json', 'human'],
    }),
  },
};

async function serve(inner: Inner, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '', headers } = request;
  const answer = await answered(inner, { url, headers, bytes: await buffer(request) });
  if (answer === undefined) request.socket.resetAndDestroy();
  else send(response, answer, newId(inner.state, 'session'));
}

/** A request as received; `url` begins with its path. */
type Received = { url: string; headers: IncomingHttpHeaders; bytes: Buffer };

/** Undefined if the connection is reset. */
async function answered(inner: Inner, { url, headers, bytes }: Received): Promise<Answer | undefined> {
  const [path = '', query = ''] = url.split('?');
  const { host = '', cookie } = headers;
  if (host !== new URL(inner.state.baseUri).host) return page(500, wrongHostPage(path, host));
  if (inner.state.away !== undefined) {
    return inner.state.away === 'php' ? page(502, noPhpPage) : page(500, noDatabasePage);
  }
  const name = /^\/api\/([^/]+)$/.exec(path)?.[1];
  if (name === undefined) return page(200, loginPage);
  const contentType = headers['content-type'] ?? '';
  const decoded = read(() => decodeCall(name, query, contentType, bytes));
  if (decoded instanceof ConduitError) return refused(decoded);
  inner.violations.push(...manners(name, decoded.encoding, { cookie }));
  return carryOut(inner, name, decoded);
}

async function carryOut(inner: Inner, name: string, decoded: Decoded): Promise<Answer | undefined> {
  const { params, token } = decoded;
  const fault = inner.faults.next({ method: name, params });
  const actor = inner.state.users.find(({ tokens }) => token !== undefined && tokens.includes(token));
  const requested: Requested = { method: name, params, actor: actor?.username };
  inner.requests.push(requested);
  const instead = fault && insteadOf(fault);
  const isCarriedOut = fault === undefined || instead === undefined || isDone(fault);
  const right = isCarriedOut ? answerTo(inner, name, decoded, fault) : undefined;
  const answer = instead ?? right;
  inner.webhooks.announce();
  for (const work of inner.state.background) void work.then(() => inner.webhooks.announce());
  if (fault?.kind === 'slow') await sleep(fault.milliseconds, undefined, { ref: false });
  if (fault?.kind === 'reset' || answer === undefined) return undefined;
  requested.status = answer.status;
  if (answer.errorCode !== undefined) requested.errorCode = answer.errorCode;
  return answer;
}

async function answerHere(
  inner: Inner,
  { host, pathname, search }: URL,
  { body = '' }: Parameters<typeof sendRequest>[1],
): ReturnType<typeof sendRequest> {
  const headers = { host, 'content-type': 'application/x-www-form-urlencoded' };
  const bytes = Buffer.from(body.toString());
  const answer = await answered(inner, { url: pathname + search, headers, bytes });
  if (answer === undefined) {
    const why = 'socket hang up (ECONNRESET)';
    return { kind: 'no-answer', why, code: 'ECONNRESET', wasSent: true };
  }
  const { status, contentType, location } = answer;
  return {
    kind: 'answered',
    status,
    statusText: STATUS_CODES[status] ?? '',
    headers: new Map([
      ['content-type', contentType],
      ...(location === undefined ? [] : [['location', location] as const]),
    ]),
    body: Buffer.from(answer.body),
  };
}

function answerTo(inner: Inner, name: string, decoded: Decoded, fault: Fault | undefined): Answer {
  if (decoded.wantsHtml) return page(200, loginPage);
  const result = read(() => resultOf(inner, name, decoded, fault?.kind === 'read-only'));
  if (result instanceof ConduitError) return refused(result);
  return json({ result, error_code: null, error_info: null });
}

function resultOf(inner: Inner, name: string, decoded: Decoded, isReadOnly: boolean): unknown {
  const { params, encoding, token } = decoded;
  const method = methods[name];
  if (method === undefined) {
    throw new ConduitError('ERR-CONDUIT-CALL', `Conduit API method "${name.slice(0, 64)}" does not exist.`);
  }
  const unknown = Object.keys(params).filter((key) => !method.params.includes(key));
  if (unknown.length > 0) {
    const names = unknown.map((key) => `'${key}'`).join(', ');
    throw new ConduitError('ERR-CONDUIT-CALL', `API Method "${name}" does not define these parameters: ${names}.`);
  }
  const viewer = method.isForAll ? anonymous : userOf(inner.state, token);
  const isForm = encoding === 'form' || encoding === 'query';
  const call: Call = { state: inner.state, params, viewer, isForm };
  inner.violations.push(...misdeeds(name, call));
  if (method.writes !== undefined && (isReadOnly || inner.state.isReadOnly)) {
    throw refusal(
      `Unable to establish a write-mode connection (to application database "phabricator_${method.writes}") because this server is in read-only mode. Whatever you are trying to do does not function correctly in read-only mode.`,
    );
  }
  return method.run(call);
}

/** Finds the user of a token. The real server's errors repeat the token, too. */
function userOf(state: State, token: string | undefined): User {
  const invalid = (why: string) => new ConduitError('ERR-INVALID-AUTH', why);
  if (token === undefined) {
    throw new ConduitError('ERR-INVALID-SESSION', 'Session key is not present.');
  }
  if (token.length !== 32) {
    throw invalid(`API token "${token}" has the wrong length. API tokens should be 32 characters long.`);
  }
  if (!/^(api|cli|clr)-/.test(token)) {
    throw invalid(
      `API token "${token}" has the wrong format. API tokens should be 32 characters long and begin with one of these prefixes: api, cli, clr.`,
    );
  }
  const user = state.users.find(({ tokens }) => tokens.includes(token));
  if (user === undefined) throw invalid(`API token "${token}" is not valid.`);
  if (user.isDisabled) throw invalid('User account is not permitted to use the API.');
  return user;
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
      return page(500, brokenPage);
    case 'html':
      return page(200, loginPage);
    case 'answer':
      return fault;
    default:
      return undefined;
  }
}

function isDone(fault: Fault): boolean {
  return 'carriedOut' in fault && fault.carriedOut === true;
}

function read<T>(reader: () => T): T | ConduitError {
  try {
    return reader();
  } catch (error) {
    if (error instanceof ConduitError) return error;
    throw error;
  }
}

function refused({ code, message }: ConduitError): Answer {
  return json({ result: null, error_code: code, error_info: message });
}

function json(body: { result: unknown; error_code: string | null; error_info: string | null }): Answer {
  const errorCode = body.error_code;
  return { status: 200, contentType: 'application/json', body: JSON.stringify(body), errorCode };
}

function page(status: number, body: string): Answer {
  return { status, contentType: 'text/html; charset=UTF-8', body };
}

/** @param session sets a cookie in each response, which no client may send back */
function send(response: ServerResponse, answer: Answer, session = 0): void {
  const { status, contentType, body, location } = answer;
  const cookie = `phsid=A%2F${letters(`session ${session}`, 40)}; path=/; HttpOnly`;
  const headers = {
    'content-type': contentType,
    'cache-control': 'no-store',
    ...(location !== undefined && { location }),
  };
  response.writeHead(status, status === 200 ? { ...headers, 'set-cookie': cookie } : headers);
  response.end(body);
}

const anonymous: User = {
  id: 0,
  phid: '',
  dateCreated: 0,
  dateModified: 0,
  username: '',
  realName: '',
  isBot: false,
  isAdmin: false,
  isDisabled: false,
  email: '',
  imageUri: '',
  tokens: [],
};
