// A Jenkins on a loopback port, for tests: one job with its queue and builds, which refuses what a real one refuses.
//
// Mirrors core's ParameterizedJobMixIn, ParametersDefinitionProperty, Queue, Run and CrumbFilter.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type FakeJenkins = {
  /** Its address, without a trailing slash. Jenkins names itself by `ownUrl`. */
  url: string;
  state: State;
  /** Every request, oldest first. */
  requests: string[];
  /** Replaces the response to the next request with a matching path, before or after carrying it out. */
  faults: Fault[];
  /** Called once the next request was carried out, before the response. */
  meanwhile: (() => void)[];
  /** Turns queued items into builds. */
  begin(): void;
  stop(): Promise<void>;
};

export type Fault = { path: RegExp; with: Answer | 'reset'; carriedOut?: true };

export type State = {
  /** Names of the job's parameters; undefined: a job without parameters. */
  defined: string[] | undefined;
  isDisabled: boolean;
  queue: { id: number; jobPath: string; parameters: Parameters }[];
  /** Newest first. */
  builds: { number: number; parameters: Parameters; isBuilding: boolean; result: string | null }[];
  log: string[];
};

export type Parameters = Record<string, string>;

/** The folder `lab` has the job `ppsgate`. */
export const jobPath = '/job/lab/job/ppsgate';
export const ownUrl = 'https://ci.example.org/jenkins';
const contextPath = '/jenkins';

/** Users by name. Missing permissions are refused, and without `Job/Read` there is no job. */
const users: Readonly<Record<string, { token: string; password: string; may: string[] }>> = {
  ppsgate: {
    token: '11bot',
    password: 'secret',
    may: ['Job/Read', 'Job/Build', 'Job/Cancel'],
  },
  reader: { token: '11reader', password: 'secret', may: ['Job/Read'] },
  stranger: { token: '11stranger', password: 'secret', may: [] },
};

export async function startFakeJenkins(): Promise<FakeJenkins> {
  const state: State = {
    defined: ['PATCH', 'KEY', 'BUILD', 'SCENARIOS', 'FAMILIES', 'MARGIN', 'MAX_RUNS', 'TESTBED', 'PROFILE', 'EARLIER'],
    isDisabled: false,
    queue: [],
    builds: [],
    log: [],
  };
  const requests: string[] = [];
  const faults: Fault[] = [];
  const meanwhile: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const asked = await read(request);
    requests.push(`${asked.method} ${asked.url.pathname}`);
    const index = faults.findIndex(({ path }) => path.test(asked.url.pathname));
    const [fault] = index === -1 ? [] : faults.splice(index, 1);
    const answer = fault === undefined || fault.carriedOut ? answerTo(state, asked) : undefined;
    meanwhile.shift()?.();
    if (fault?.with === 'reset') request.socket.resetAndDestroy();
    else send(response, fault?.with ?? answer ?? { status: 500 });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${contextPath}`,
    state,
    requests,
    faults,
    meanwhile,
    begin() {
      for (const { parameters } of state.queue.splice(0)) {
        const number = state.builds.length + 1;
        state.builds.unshift({ number, parameters, isBuilding: true, result: null });
      }
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Asked = {
  method: string;
  url: URL;
  /** Below the context path. */
  path: string;
  headers: IncomingMessage['headers'];
  form: URLSearchParams;
};

type Answer = { status: number; headers?: Record<string, string>; body?: string | object };

async function read(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '/', 'http://jenkins');
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  const body = await text(request);
  return {
    method: request.method ?? 'GET',
    url,
    path: url.pathname.startsWith(`${contextPath}/`) ? url.pathname.slice(contextPath.length) : '',
    headers: request.headers,
    form: new URLSearchParams(isForm ? body : ''),
  };
}

function answerTo(state: State, asked: Asked): Answer {
  const caller = callerOf(asked);
  if ('status' in caller) return caller;
  const { method, path } = asked;
  const isPost = method === 'POST';
  if (isPost && caller.isByPassword && asked.headers['jenkins-crumb'] === undefined)
    return { status: 403, body: 'No valid crumb was included in the request' };
  const isJob = path.startsWith(`${jobPath}/`) && caller.may.includes('Job/Read');
  const place = isJob ? path.slice(jobPath.length) : path;

  if (path === '/queue/api/json') return withTree(asked, queueDocument(state, caller));
  if (path === '/queue/cancelItem') return isPost ? cancelItem(state, asked, caller) : notAPost;
  if (!isJob) return { status: 404 };
  if (place === '/api/json') return withTree(asked, jobDocument(state));
  if (place === '/buildWithParameters') return isPost ? build(state, asked, caller) : notAPost;
  const [, number] = /^\/(\d+)\/stop$/.exec(place) ?? [];
  if (number === undefined) return { status: 404 };
  return isPost ? stopBuild(state, Number(number), caller) : notAPost;
}

const notAPost: Answer = { status: 405, headers: { allow: 'POST' } };

type Caller = { may: string[]; isByPassword: boolean };

function callerOf({ headers }: Asked): Caller | Answer {
  const { authorization } = headers;
  if (authorization === undefined) return { status: 403, body: 'Authentication required' };
  const [, base64 = ''] = /^Basic (\S+)$/.exec(authorization) ?? [];
  const [name = '', secret] = Buffer.from(base64, 'base64').toString().split(':');
  const user = users[name];
  if (user === undefined || (secret !== user.token && secret !== user.password))
    return { status: 401, body: 'Invalid password/token for user' };
  return { may: user.may, isByPassword: secret === user.password };
}

function build(state: State, { form }: Asked, caller: Caller): Answer {
  if (!caller.may.includes('Job/Build')) return { status: 403 };
  if (state.isDisabled) return { status: 409, body: 'lab/ppsgate is not buildable' };
  const { defined } = state;
  if (defined === undefined) return { status: 500, body: 'This build is not parameterized!' };
  const parameters = Object.fromEntries(defined.map((name) => [name, form.get(name) ?? '']));
  for (const name of form.keys())
    if (!defined.includes(name)) state.log.push(`Skipped parameter ${name} as it is undefined`);
  // The queue has only one of several equal items of a job.
  const same = state.queue.find((item) => JSON.stringify(item.parameters) === JSON.stringify(parameters));
  const id = same?.id ?? 41 + state.queue.length + state.builds.length;
  if (same === undefined) state.queue.push({ id, jobPath, parameters });
  return { status: 201, headers: { location: `${ownUrl}/queue/item/${id}/` } };
}

function cancelItem(state: State, { url }: Asked, caller: Caller): Answer {
  const index = state.queue.findIndex(({ id }) => id === Number(url.searchParams.get('id')));
  if (index === -1 || !caller.may.includes('Job/Read')) return { status: 404 };
  if (!caller.may.includes('Job/Cancel')) return { status: 422 };
  state.queue.splice(index, 1);
  return { status: 204 };
}

function stopBuild(state: State, number: number, caller: Caller): Answer {
  const found = state.builds.find((one) => one.number === number);
  if (found === undefined) return { status: 404 };
  if (!caller.may.includes('Job/Cancel')) return { status: 403 };
  if (found.isBuilding) Object.assign(found, { isBuilding: false, result: 'ABORTED' });
  return { status: 302, headers: { location: `${ownUrl}${jobPath}/` } };
}

const queueDocument = (state: State, caller: Caller) => ({
  _class: 'hudson.model.Queue',
  items: state.queue.map(({ id, jobPath, parameters }) => ({
    _class: 'hudson.model.Queue$WaitingItem',
    actions: actionsOf(parameters),
    id,
    // A caller who may not see the job learns only that it exists.
    task: caller.may.includes('Job/Read')
      ? { _class: 'WorkflowJob', name: 'ppsgate', url: `${ownUrl}${jobPath}/` }
      : { _class: 'hudson.model.UnknownTask' },
    url: `queue/item/${id}/`,
  })),
});

const jobDocument = ({ defined, builds }: State) => ({
  _class: 'org.jenkinsci.plugins.workflow.job.WorkflowJob',
  name: 'ppsgate',
  url: `${ownUrl}${jobPath}/`,
  property: [
    { _class: 'jenkins.model.BuildDiscarderProperty' },
    ...(defined === undefined
      ? []
      : [
          {
            _class: 'hudson.model.ParametersDefinitionProperty',
            parameterDefinitions: defined.map((name) => ({
              _class: 'hudson.model.StringParameterDefinition',
              name,
            })),
          },
        ]),
  ],
  builds: builds.map(({ number, parameters, isBuilding, result }) => ({
    _class: 'org.jenkinsci.plugins.workflow.job.WorkflowRun',
    actions: actionsOf(parameters),
    building: isBuilding,
    number,
    result,
    url: `${ownUrl}${jobPath}/${number}/`,
  })),
});

const actionsOf = (parameters: Parameters) => [
  { _class: 'hudson.model.CauseAction' },
  {},
  {
    _class: 'hudson.model.ParametersAction',
    parameters: Object.entries(parameters).map(([name, value]) => ({
      _class: 'hudson.model.StringParameterValue',
      name,
      value,
    })),
  },
];

/** Only fields that a query's `tree` names, such as `builds[number,actions[parameters[name]]]{0,100}`. */
function withTree({ url }: Asked, document: object): Answer {
  const names = new Set(['_class', ...(url.searchParams.get('tree')?.match(/[a-z]+/gi) ?? [])]);
  const pick = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(pick);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => (names.has(name) ? [[name, pick(inner)]] : [])),
    );
  };
  return { status: 200, body: pick(document) as object };
}

function send(response: ServerResponse, { status, headers, body = '' }: Answer): void {
  const isText = typeof body === 'string';
  const type = isText ? 'text/html;charset=utf-8' : 'application/json;charset=utf-8';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
