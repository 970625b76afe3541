// Parses `phabricator` of ppsgate.yml: the server, whose revisions may be measured, and the relay.
import { z } from 'zod';
import { expected } from '../model/units.ts';
import { closed, hostName, listOf, path, text, wholeNumber, wrongName } from './fields.ts';

export type PhabricatorConfig = {
  /** A URL such as `https://reviews.freebsd.org`, without a trailing slash. */
  url: string;
  /** File with the bot's Conduit token. Absent: PPSGATE_CONDUIT_TOKEN in the environment. */
  tokenPath?: string;
  /** PEM of the authority that signed the server's certificate. Absent: Node's authorities. */
  caPath?: string;
  /** Branch for a diff without a base: its commit at the date of the diff is the base. */
  branch: string;
  /** Callsigns or short names of measured repositories. Absent: any, or none set. */
  repositories?: string[];
  /** A diff is measured automatically only if it changes a file below one of these. Absent: any. */
  paths?: string[];
  people: string[];
  /** Hashtags of projects whose members are authorized. */
  projects: string[];
  /** Build status for an inconclusive diff: `neutral` passes it. */
  undecided: 'failure' | 'neutral';
  relay: RelayConfig;
};

const relayOccasions = ['builds', 'diffs', 'comments'] as const;

export type RelayConfig = {
  directory: string;
  host: string;
  port: number;
  /** File with the webhook's HMAC key. Absent: no webhook. */
  webhookKeyPath?: string;
  /** File with Harbormaster's `user:password` for build requests. Absent: no builds. */
  buildPasswordPath?: string;
  /** Triggers: Harbormaster builds, new diffs automatically, and requests in comments. */
  on: (typeof relayOccasions)[number][];
  start: StartConfig;
};

export type StartConfig =
  | {
      kind: 'here';
      repository: string;
      /** Maximum concurrent gates, including those that wait for a testbed. */
      most: number;
      /** URL of the relay's directory for browsers, without a trailing slash. */
      site?: string;
    }
  | {
      kind: 'github';
      /** `owner/name` of the repository whose workflow receives `repository_dispatch`. */
      repository: string;
      /** Absent: GITHUB_TOKEN in the environment. */
      tokenPath?: string;
      apiUrl: string;
      event: string;
    }
  | {
      kind: 'jenkins';
      /** URL of the job, such as `https://ci.example.org/job/ppsgate`, without a trailing slash. */
      url: string;
      user: string;
      /** File with the user's API token. Absent: PPSGATE_JENKINS_TOKEN in the environment. */
      tokenPath?: string;
    };

const serverUrl = (example: string) =>
  z
    .url({ protocol: /^https?$/, error: expected(`a URL like ${example}`) })
    .refine((url) => !/[?#]|:\/\/[^/]*@/.test(url), {
      error: expected(`a URL like ${example}, without a user or a query`),
    })
    .transform((url) => url.replace(/\/+$/, ''));

const listWith = <Item extends z.ZodType>(item: Item, example: string) =>
  z.array(item, { error: expected(`a list like [${example}]`) });

const someOf = <Item extends z.ZodType>(item: Item, example: string) =>
  listWith(item, example).min(1, `expected at least one, like [${example}], found an empty list`);

const userName = text(/^[\w.-]{1,64}$/, 'a user name of Phabricator, without the @');
const hashtag = text(/^[^\s#@,]{1,128}$/, 'the hashtag of a project, without the #');
const repositoryName = text(/^[\w.-]{1,64}$/, 'the callsign or short name of a repository');
const pathPrefix = text(/^(?!\/)[^\p{Cc}]{1,200}$/u, 'a folder of the repository like sys/net/');

const here = closed({
  // Optional, without a default: zod detects the kind of a union by written keys only.
  kind: z.literal('here').optional(),
  repository: path.prefault('.').describe('A git repository that has the branch.'),
  most: wholeNumber(1, 100).prefault(4).describe('Most gates at once.'),
  site: serverUrl('https://ci.example.org/ppsgate')
    .optional()
    .describe('The URL at which a web server shows `directory`, for links; left out, none.'),
}).transform(
  ({ repository, most, site }): StartConfig => ({
    kind: 'here',
    repository,
    most,
    ...(site !== undefined && { site }),
  }),
);

const github = closed({
  kind: z.literal('github'),
  repository: text(/^[\w.-]+\/[\w.-]+$/, 'a repository of GitHub like freebsd/freebsd-src'),
  tokenFile: path.optional().describe('Left out, it is GITHUB_TOKEN in the environment.'),
  api: serverUrl('https://api.github.com').prefault('https://api.github.com'),
  event: text(/^[\w.-]{1,100}$/, 'the type of an event like ppsgate')
    .prefault('ppsgate')
    .describe('The event type of the repository_dispatch that starts the workflow.'),
}).transform(
  ({ tokenFile, api, ...rest }): StartConfig => ({
    ...rest,
    apiUrl: api,
    ...(tokenFile !== undefined && { tokenPath: tokenFile }),
  }),
);

const jenkins = closed({
  kind: z.literal('jenkins'),
  job: serverUrl('https://ci.example.org/job/ppsgate'),
  user: text(/^[^\p{C}\s:]{1,64}$/u, 'a user of Jenkins'),
  tokenFile: path.optional().describe('Left out, it is PPSGATE_JENKINS_TOKEN in the environment.'),
}).transform(
  ({ kind, job, user, tokenFile }): StartConfig => ({
    kind,
    url: job,
    user,
    ...(tokenFile !== undefined && { tokenPath: tokenFile }),
  }),
);

const start = z.discriminatedUnion('kind', [here, github, jenkins], {
  error: ({ input }) =>
    typeof input === 'object' && input !== null && 'kind' in input
      ? wrongName(['here', 'github', 'jenkins'])({ input: input.kind })
      : expected('keys and values like { kind: here }')({ input }),
});

const conclusions = ['failure', 'neutral'] as const;

const relay = closed({
  directory: path
    .prefault('~/.local/state/ppsgate/relay')
    .describe('The queue and the work directories: on a local disk.'),
  host: text(hostName, 'a host name or an address')
    .prefault('127.0.0.1')
    .describe('The address that `ppsgate relay` listens on.'),
  port: wholeNumber(0, 65535).prefault(8642).describe('The port that `ppsgate relay` listens on.'),
  webhookKeyFile: path.optional().describe("The key of Herald's webhook; left out, there is no webhook."),
  buildPasswordFile: path
    .optional()
    .describe("`user:password` of Harbormaster's build requests; left out, there are none."),
  on: listOf(relayOccasions)
    .prefault([...relayOccasions])
    .describe('Triggers: builds of Harbormaster, new diffs, and commands in comments.'),
  start: start.prefault({}).describe('The place that runs the gates: this machine, GitHub or Jenkins.'),
}).transform(
  ({ webhookKeyFile, buildPasswordFile, ...rest }): RelayConfig => ({
    ...rest,
    ...(webhookKeyFile !== undefined && { webhookKeyPath: webhookKeyFile }),
    ...(buildPasswordFile !== undefined && { buildPasswordPath: buildPasswordFile }),
  }),
);

export const phabricatorSchema = closed({
  url: serverUrl('https://reviews.freebsd.org'),
  tokenFile: path
    .optional()
    .describe("The bot's Conduit token; left out, it is PPSGATE_CONDUIT_TOKEN in the environment."),
  ca: path
    .optional()
    .describe("Certificate of the authority that signed the server's; left out, those that Node knows are trusted."),
  branch: text(/^(?!-)[\w./-]{1,100}$/, 'the name of a branch like main')
    .prefault('main')
    .describe('The base of a diff that names none.'),
  repositories: someOf(repositoryName, 'src')
    .optional()
    .describe('Callsigns or short names; left out, revisions of any repository, and of none.'),
  paths: someOf(pathPrefix, 'sys/net/')
    .optional()
    .describe('New diffs are measured automatically if they change a file below one of these; left out, all are.'),
  people: listWith(userName, 'alice, bob').prefault([]).describe('User names that may approve and start measurements.'),
  projects: listWith(hashtag, 'network').prefault([]).describe('Hashtags of projects whose members may do the same.'),
  undecided: z
    .enum(conclusions, { error: wrongName(conclusions) })
    .prefault('failure')
    .describe('Status of an inconclusive build; neutral passes it.'),
  relay: relay.prefault({}).describe('Settings of `ppsgate relay` and `ppsgate poll`.'),
}).transform(
  ({ tokenFile, ca, repositories, paths, ...rest }): PhabricatorConfig => ({
    ...rest,
    ...(tokenFile !== undefined && { tokenPath: tokenFile }),
    ...(ca !== undefined && { caPath: ca }),
    ...(repositories !== undefined && { repositories }),
    ...(paths !== undefined && { paths }),
  }),
);
