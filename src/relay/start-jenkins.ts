// Starts gates and bisections as builds of a Jenkins job. Parameters describe each one, and its key finds the build.

import { z } from 'zod';
import { kebabCase, overridesAs } from '../config/parameters.ts';
import { type Job, patchOf, workOf } from '../forge/patch/job-key.ts';
import * as bounded from '../model/bounds.ts';
import { parseJson } from '../model/json.ts';
import { shortened } from '../model/one-line.ts';
import { sendRequest } from '../system/http.ts';
import type { Started, Starter } from './starter.ts';

export type JenkinsOptions = {
  url: string;
  user: string;
  /** API token of that user: with it Jenkins requires no crumb, unlike with a password. */
  token: string;
};

export function startOnJenkins(options: JenkinsOptions): Starter {
  const jenkins = jenkinsOf(options);

  return {
    async start(job, mayBeStarted, signal): Promise<Started> {
      try {
        if (job.extend !== undefined) throw new NotDone('refused', staysThere);
        const item = mayBeStarted ? await findInQueue(jenkins, job.key, signal) : undefined;
        if (item !== undefined) return { kind: 'started', where: item.url };
        const { builds, parameters } = await readJob(jenkins, signal);
        const build = mayBeStarted ? builds.find(({ key }) => key === job.key) : undefined;
        if (build !== undefined) return { kind: 'started', where: build.url };
        return { kind: 'started', where: await startBuild(jenkins, job, parameters, signal) };
      } catch (error) {
        if (!(error instanceof NotDone)) throw error;
        const why = `No ${workOf(job)} of D${job.revision} was started by Jenkins, because ${error.message}.`;
        return { kind: error.kind, why };
      }
    },

    async cancel(job, signal) {
      try {
        await cancel(jenkins, job.key, signal);
        return undefined;
      } catch (error) {
        if (!(error instanceof NotDone)) throw error;
        return `The ${workOf(job)} of D${job.revision} was not cancelled by Jenkins, because ${error.message}.`;
      }
    },
  };
}

const staysThere = 'the experiment to continue stays on Jenkins; measure it from the start';

/** The message completes "…, because"; see `Started`. */
class NotDone extends Error {
  readonly kind: 'failed' | 'refused';

  constructor(kind: NotDone['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

type Jenkins = {
  root: string;
  job: string;
  user: string;
  authorization: string;
};

function jenkinsOf({ url, user, token }: JenkinsOptions): Jenkins {
  // The address in a browser may lead to the job through views.
  const job = url.replaceAll(/\/view\/[^/]+/g, '');
  return {
    job,
    root: job.replace(/\/job\/.*$/, ''),
    user,
    authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
  };
}

/** Actions of a build or a queued item. Most are not parameters. */
const actionsSchema = bounded.list(
  z
    .object({
      parameters: bounded.list(z.object({ name: bounded.word, value: z.unknown().optional() })).optional(),
    })
    .nullable(),
);

const keyOf = (actions: z.infer<typeof actionsSchema>): unknown =>
  actions.flatMap((action) => action?.parameters ?? []).find(({ name }) => name === 'KEY')?.value;

const queueSchema = z.object({
  items: bounded.list(
    z.object({
      id: z.int(),
      task: z.object({ url: bounded.word.default('') }),
      actions: actionsSchema,
    }),
  ),
});

const jobSchema = z.object({
  property: bounded.list(
    z.object({ parameterDefinitions: bounded.list(z.object({ name: bounded.word })).default([]) }),
  ),
  builds: bounded.list(z.object({ number: z.int(), actions: actionsSchema })),
});

async function findInQueue(
  jenkins: Jenkins,
  key: string,
  signal: AbortSignal,
): Promise<{ id: number; url: string } | undefined> {
  const { root, job } = jenkins;
  const tree = 'items[id,task[url],actions[parameters[name,value]]]';
  const { items } = await read(jenkins, `${root}/queue`, { tree, schema: queueSchema, signal });
  const item = items.find(({ task, actions }) => keyOf(actions) === key && pathOf(task.url) === pathOf(job));
  return item && { id: item.id, url: `${root}/queue/item/${item.id}/` };
}

/** Path below the job: Jenkins may use another address for itself. */
const pathOf = (url: string): string | undefined => URL.parse(url)?.pathname.replace(/^.*?(?=\/job\/)|\/+$/g, '');

async function readJob(
  jenkins: Jenkins,
  signal: AbortSignal,
): Promise<{ parameters: string[]; builds: { key: unknown; url: string }[] }> {
  const { job } = jenkins;
  const tree = 'property[parameterDefinitions[name]],builds[number,actions[parameters[name,value]]]{0,100}';
  const { property, builds } = await read(jenkins, job, { tree, schema: jobSchema, signal });
  return {
    parameters: property.flatMap((one) => one.parameterDefinitions.map(({ name }) => name)),
    builds: builds.map(({ number, actions }) => ({
      key: keyOf(actions),
      url: `${job}/${number}/`,
    })),
  };
}

async function startBuild(
  jenkins: Jenkins,
  job: Job,
  defined: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parametersOf(job))) {
    if (value !== undefined) form.append(name, value);
  }
  // Jenkins would drop unknown parameters, and measure something else.
  const missing = [...form.keys()].filter((name) => !defined.includes(name));
  if (missing.length > 0) {
    const them = missing.length === 1 ? 'it as a string' : 'them as strings';
    throw new NotDone('refused', `its job has no parameter ${missing.join(', ')}: define ${them}`);
  }
  const answer = await request(jenkins, `${jenkins.job}/buildWithParameters`, { form, signal });
  refuse(answer, jenkins, 'Job/Build');
  const where = URL.parse(answer.location, `${jenkins.job}/`);
  return where !== null && /^https?:$/.test(where.protocol) ? where.href : jenkins.job;
}

const parametersOf = ({ key, build, overrides, bisect, ...job }: Job) => ({
  PATCH: patchOf(job),
  KEY: key,
  BUILD: build,
  ...(bisect && { COMMAND: 'bisect' }),
  ...overridesAs(bisect ?? overrides, (name) => kebabCase(name).replaceAll('-', '_').toUpperCase()),
});

async function cancel(jenkins: Jenkins, key: string, signal: AbortSignal): Promise<void> {
  const form = new URLSearchParams();
  const item = await findInQueue(jenkins, key, signal);
  if (item !== undefined) {
    const url = `${jenkins.root}/queue/cancelItem?id=${item.id}`;
    const answer = await request(jenkins, url, { form, signal });
    // The item may have left the queue meanwhile, and be among the builds.
    if (answer.status !== 404) return refuse(answer, jenkins, 'Job/Cancel', isAccepted);
  }
  const { builds } = await readJob(jenkins, signal);
  const build = builds.find((one) => one.key === key);
  if (build === undefined) throw new NotDone('refused', `it has no build with the KEY ${key}`);
  // Stopping a finished build has no effect.
  const answer = await request(jenkins, `${build.url}stop`, { form, signal });
  refuse(answer, jenkins, 'Job/Cancel', isAccepted);
}

/** A redirect leads a browser to the next page. */
const isAccepted = (status: number): boolean => status >= 200 && status < 400;
const isGood = (status: number): boolean => status >= 200 && status < 300;

type JenkinsResponse = { status: number; location: string; body: string };

async function read<Schema extends z.ZodType>(
  jenkins: Jenkins,
  address: string,
  { tree, schema, signal }: { tree: string; schema: Schema; signal: AbortSignal },
): Promise<z.infer<Schema>> {
  const url = `${address}/api/json?${new URLSearchParams({ tree })}`;
  const answer = await request(jenkins, url, { signal });
  refuse(answer, jenkins, 'Job/Read');
  const parsed = schema.safeParse(parseJson(answer.body));
  if (parsed.success) return parsed.data;
  const { origin, pathname } = new URL(url);
  throw new NotDone('refused', `${origin}${pathname} does not respond like Jenkins`);
}

const answerSeconds = 30;
/** A queue of a thousand builds has about 100 kB. */
const maxBytes = 16 * 1024 ** 2;

async function request(
  { authorization }: Jenkins,
  url: string,
  { form, signal }: { form?: URLSearchParams; signal: AbortSignal },
): Promise<JenkinsResponse> {
  const answer = await sendRequest(url, {
    headers: { authorization },
    answerSeconds,
    maxBytes,
    signal,
    ...(form !== undefined && { method: 'POST', body: form }),
  });
  if (answer.kind === 'answered') {
    const { status, headers, body } = answer;
    return { status, location: headers.get('location') ?? '', body: body?.toString() ?? '' };
  }
  if (signal.aborted) throw new NotDone('failed', 'the relay is stopping');
  throw new NotDone('failed', `it cannot be reached (${answer.why})`);
}

function refuse(answer: JenkinsResponse, jenkins: Jenkins, permission: string, isDone = isGood): void {
  const { status } = answer;
  if (isDone(status)) return;
  if (status >= 500 || status === 429) throw new NotDone('failed', `it answered ${status}`);
  throw new NotDone('refused', reasonFor(answer, jenkins, permission));
}

function reasonFor({ status, location }: JenkinsResponse, { job, user }: Jenkins, permission: string) {
  if (status < 400) {
    return `it answered ${status} and redirects to ${shortened(location)}: set the address of its job to the one that Jenkins uses`;
  }
  switch (status) {
    case 401:
      return `it rejects this token of the user ${user} (401): configure another one for the relay`;
    case 403:
    // Jenkins' queue refuses with this status.
    case 422:
      return `the user ${user} may not (${status}): grant it the permission ${permission}`;
    case 404:
      return `there is no job at ${job}, or the user ${user} may not see it (404): correct the address, or grant it the permission Job/Read`;
    case 409:
      return 'its job is disabled (409): enable it';
    default:
      return `it answered ${status}`;
  }
}
