// Checks a set-up for Phabricator step by step, server and bot included; writes and starts nothing.

import { z } from 'zod';
import type { PhabricatorConfig } from '../config/phabricator.ts';
import { type Conduit, fixOfCertificate, mapOf } from '../forge/phabricator/conduit.ts';
import { ConduitError } from '../forge/phabricator/failure.ts';
import { openPhabricator, readAuthority, tokenVariable } from '../forge/phabricator/login.ts';
import { isSameName } from '../forge/phabricator/revision.ts';
import { lookAgain, ok, skipped, walk, wrong } from '../lab/check/diagnostic.ts';
import * as bounded from '../model/bounds.ts';
import { parseJson } from '../model/json.ts';
import { reasonOf } from '../model/one-line.ts';
import { sendRequest } from '../system/http.ts';
import { answersStep, relaySteps } from './check-relay.ts';
import { starterStep } from './check-starter.ts';
import {
  type SetUpCheckDeps,
  type SetUpDiagnostic,
  type SetUpStep,
  secretStep,
  unreachable,
  warning,
} from './setup-check-item.ts';

/** A failed step does not stop the others. Throws the signal's reason. */
export const checkPhabricator = (config: PhabricatorConfig, deps: SetUpCheckDeps): AsyncGenerator<SetUpDiagnostic> =>
  walk(stepsOf(config, deps), { ...deps, failed });

function failed(what: string, error: unknown): SetUpDiagnostic {
  const isPassing = error instanceof ConduitError && error.kind !== 'refused';
  const kind = isPassing ? 'unreachable' : 'wrong';
  return { kind, what, why: reasonOf(error), fix: lookAgain };
}

type Session = {
  ca?: string | undefined;
  conduit?: Conduit;
  account?: z.infer<typeof account>;
  date?: Date;
};

function stepsOf(config: PhabricatorConfig, deps: SetUpCheckDeps): SetUpStep[] {
  const session: Session = {};
  const { tokenPath, caPath, relay } = config;
  const conduitStep = (what: string, check: (conduit: Conduit, what: string) => Promise<SetUpDiagnostic[]>) => ({
    what,
    needs: ['the token'],
    run: async () => (session.conduit === undefined ? [] : check(session.conduit, what)),
  });
  const place = { what: 'The Conduit token', path: tokenPath, variable: tokenVariable };
  return [
    ...(caPath === undefined ? [] : [authority(caPath, session)]),
    {
      what: 'the server',
      needs: ['ca'],
      run: (what) => server(what, config, session, deps),
    },
    {
      what: 'the clocks',
      needs: ['the server'],
      run: async (what) => clocks(what, session, deps.now()),
    },
    secretStep('tokenFile', place),
    {
      what: 'the token',
      needs: ['the server'],
      run: (what) => token(what, config, session, deps),
    },
    {
      what: 'the account',
      needs: ['the token'],
      run: async (what) => (session.account === undefined ? [] : rights(what, session.account, config)),
    },
    conduitStep('repositories', (conduit, what) => repositories(what, conduit, config)),
    conduitStep('projects', (conduit, what) => projects(what, conduit, config)),
    conduitStep('people', (conduit, what) => people(what, conduit, config)),
    conduitStep('build plans', (conduit, what) => buildPlans(what, conduit, config)),
    { what: 'writing', needs: ['the token'], run: async (what) => [skipped(what, unwritten)] },
    answersStep(config, deps.now),
    ...relaySteps(config, deps),
    starterStep(relay.start, config.branch, deps),
  ];
}

const authority = (path: string, session: Session): SetUpStep => ({
  what: 'ca',
  async run(what) {
    session.ca = await readAuthority(path);
    return [ok(what, `${path} has the certificate of an authority`)];
  },
});

const unwritten = 'this check writes nothing, so it does not detect a server in read-only mode';

const maxSeconds = 20;
const maxBytes = 1024 ** 2;

/** Sends no token, as the server is not verified yet. */
async function server(
  what: string,
  { url }: PhabricatorConfig,
  session: Session,
  { signal }: SetUpCheckDeps,
): Promise<SetUpDiagnostic[]> {
  const answer = await sendRequest(`${url}/api/conduit.ping`, {
    method: 'POST',
    body: new URLSearchParams({ params: '{}' }),
    answerSeconds: maxSeconds,
    maxBytes,
    trust: { ca: session.ca },
    signal,
  });
  if (answer.kind === 'no-answer' && answer.distrust !== undefined) {
    const { distrust } = answer;
    return [wrong(what, `${url} shows ${distrust.shown}`, fixOfCertificate(distrust, session.ca))];
  }
  if (answer.kind === 'no-answer') {
    const why = `${url} does not respond (${answer.why})`;
    return [unreachable(what, why, 'check `url` in ppsgate.yml, and that the server is up')];
  }
  const { status, headers, body } = answer;
  if (status >= 300 && status < 400) {
    const why = `${url} redirects to ${headers.get('location') ?? 'nowhere'}`;
    return [wrong(what, why, 'set `url` in ppsgate.yml to the current address of the server')];
  }
  if (status === 429 || status >= 500) {
    const why = `${url} answers ${status}`;
    return [unreachable(what, why, 'try later, or check the host name in `url`')];
  }
  if (!envelope.safeParse(parseJson(String(body))).success) {
    const type = headers.get('content-type') ?? 'something';
    const why = `${url} answers ${status} and ${type}, which is not Conduit’s JSON`;
    return [wrong(what, why, 'set `url` in ppsgate.yml to the address of a Phabricator, without a path')];
  }
  const date = headers.get('date');
  if (date !== undefined) session.date = new Date(date);
  return [ok(what, `${url} is a Phabricator server`)];
}

const envelope = z.object({ result: z.unknown(), error_code: bounded.word.nullable() });

/** A larger difference would mislead readers who compare a log with a comment. */
const maxSecondsApart = 60;

function clocks(what: string, { date }: Session, now: Date): SetUpDiagnostic[] {
  if (date === undefined) return [skipped(what, 'the server does not report its time')];
  const seconds = Math.round((date.getTime() - now.getTime()) / 1000);
  if (Math.abs(seconds) <= maxSecondsApart) {
    return [ok(what, `the server and this machine differ by at most ${maxSecondsApart} s`)];
  }
  const why = `the server’s is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} ours`;
  const fix = 'synchronize both with NTP: polls use the server’s clock, and logs use this machine’s';
  return [warning(what, why, fix)];
}

const account = z.object({ userName: bounded.word, roles: bounded.list(bounded.word) });

async function token(
  what: string,
  config: PhabricatorConfig,
  session: Session,
  deps: SetUpCheckDeps,
): Promise<SetUpDiagnostic[]> {
  session.conduit = await openPhabricator(config, deps);
  session.account = await session.conduit.call('user.whoami', {}, account);
  return [ok(what, `it belongs to ${session.account.userName}`)];
}

function rights(
  what: string,
  { userName, roles }: z.infer<typeof account>,
  { url }: PhabricatorConfig,
): SetUpDiagnostic[] {
  if (roles.includes('admin')) {
    const fix = `create a bot on ${url}/people/new/bot/, and use its token`;
    return [wrong(what, `${userName} is an administrator, so every holder of its token is one too`, fix)];
  }
  if (!roles.includes('agent')) {
    const fix = `create a bot on ${url}/people/new/bot/, which has no login`;
    return [warning(what, `${userName} is the account of a person, in whose name ppsgate would comment`, fix)];
  }
  return [ok(what, `${userName} is a bot and not an administrator`)];
}

const repositoryItem = z.object({
  fields: z.object({
    callsign: bounded.word.nullable(),
    shortName: bounded.word.nullable(),
    policy: z.object({ edit: bounded.word }),
  }),
});

async function repositories(
  what: string,
  conduit: Conduit,
  { repositories: names }: PhabricatorConfig,
): Promise<SetUpDiagnostic[]> {
  if (names === undefined)
    return [ok(what, 'none are configured, so revisions of any repository, or of none, are measured')];
  const search = (constraints: Record<string, unknown>) =>
    conduit.search('diffusion.repository.search', { constraints }, repositoryItem);
  const found = [...(await search({ callsigns: names })), ...(await search({ shortNames: names }))];
  return names.map((name) => {
    const one = found.find(({ fields }) =>
      [fields.callsign, fields.shortName].some((own) => own !== null && isSameName(own, name)),
    );
    if (one !== undefined) {
      return ok(what, `${name} exists, and may be edited by "${one.fields.policy.edit}"`);
    }
    return wrong(what, `there is no ${name}, or it is hidden from the bot`, lookAt(what));
  });
}

const lookAt = (key: string): string => `correct \`phabricator.${key}\` in ppsgate.yml, or make it visible to the bot`;

const projectPage = z.object({
  data: bounded.list(
    z.object({
      phid: bounded.word,
      attachments: z.object({ members: z.object({ members: bounded.list(z.unknown()) }) }),
    }),
  ),
  maps: z.object({ slugMap: mapOf(z.object({ projectPHID: bounded.word })) }),
});

async function projects(
  what: string,
  conduit: Conduit,
  { projects: slugs, people }: PhabricatorConfig,
): Promise<SetUpDiagnostic[]> {
  if (slugs.length === 0 && people.length === 0) {
    const why = 'no diff may be measured: `projects` and `people` are empty';
    return [wrong(what, why, 'name a project or a person under `phabricator` in ppsgate.yml')];
  }
  if (slugs.length === 0) return [ok(what, 'none are configured: only `people` may approve')];
  const params = { constraints: { slugs }, attachments: { members: true } };
  const { data, maps } = await conduit.call('project.search', params, projectPage);
  return slugs.map((slug) => {
    const found = data.find(({ phid }) => phid === maps.slugMap[slug]?.projectPHID);
    if (found === undefined) {
      return wrong(what, `there is no #${slug}, or it is hidden from the bot`, lookAt(what));
    }
    const count = found.attachments.members.members.length;
    if (count === 0) {
      const fix = 'add people who may have revisions measured, or make them visible to the bot';
      return warning(what, `#${slug} has no members visible to the bot`, fix);
    }
    return ok(what, `#${slug} has ${count} ${count === 1 ? 'member' : 'members'}`);
  });
}

const userItem = z.object({
  fields: z.object({ username: bounded.word, roles: bounded.list(bounded.word) }),
});

async function people(
  what: string,
  conduit: Conduit,
  { people: names }: PhabricatorConfig,
): Promise<SetUpDiagnostic[]> {
  if (names.length === 0) return [ok(what, 'none are configured: only `projects` may approve')];
  const constraints = { usernames: names };
  const found = await conduit.search('user.search', { constraints }, userItem);
  return names.map((name) => {
    const one = found.find(({ fields }) => isSameName(fields.username, name));
    if (one === undefined) return wrong(what, `there is no user ${name}`, lookAt(what));
    if (one.fields.roles.includes('disabled')) {
      const fix = 'remove the name from `phabricator.people` in ppsgate.yml';
      return warning(what, `the account of ${name} is disabled`, fix);
    }
    return ok(what, `${name} is there`);
  });
}

const planItem = z.object({
  id: z.int(),
  phid: bounded.word,
  fields: z.object({
    name: bounded.word,
    status: z.object({ value: bounded.word }),
    behaviors: bounded.byName(z.object({ value: bounded.word })),
  }),
});

const stepItem = z.object({
  fields: z.object({ name: bounded.word, buildPlanPHID: bounded.word }),
});

/** Only its page shows the URI of a plan's HTTP step, so our plan is found by its name. */
async function buildPlans(
  what: string,
  conduit: Conduit,
  { url, relay }: PhabricatorConfig,
): Promise<SetUpDiagnostic[]> {
  const plans = await conduit.search('harbormaster.buildplan.search', {}, planItem);
  const steps = await conduit.search('harbormaster.step.search', {}, stepItem);
  const ours = plans.filter(({ phid, fields }) => {
    const stepNames = steps.filter((step) => step.fields.buildPlanPHID === phid).map((step) => step.fields.name);
    const isNamed = [fields.name, ...stepNames].some((name) => /ppsgate/i.test(name));
    return isNamed && fields.status.value === 'active';
  });
  const isUsed = relay.buildPasswordPath !== undefined && relay.on.includes('builds');
  if (!isUsed) {
    return ours.length === 0
      ? [skipped(what, 'builds are not accepted, and there is no plan named ppsgate')]
      : ours.map(({ fields }) => notTaken(what, fields.name));
  }
  if (ours.length === 0) {
    const fix = 'name your plan ppsgate and make it visible to the bot, or remove `relay.buildPasswordFile`';
    return [warning(what, 'there is no plan named ppsgate, or it is hidden from the bot', fix)];
  }
  return ours.flatMap(({ id, fields: { name, behaviors } }) => {
    const page = `${url}/harbormaster/plan/${id}/`;
    const holds = behaviors['hold-drafts']?.value ?? 'always';
    return [
      holds === 'never'
        ? ok(what, `"${name}" does not hold drafts`)
        : warning(
            what,
            `"${name}" holds drafts (${holds}), so their builds pass at once, and only comments show the results`,
            `set "Hold Drafts" to "Never" on ${page}`,
          ),
      skipped(
        'the build step',
        `its URI cannot be checked from here: ${page} must show POST to …${buildQuery}, the user and password of \`relay.buildPasswordFile\` as credential, no other secrets, and that it waits for a message`,
      ),
    ];
  });
}

const buildQuery =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of Harbormaster
  '/build?target=${target.phid}&build=${build.phid}&diff=${buildable.diff}&revision=${buildable.revision}';

const notTaken = (what: string, plan: string): SetUpDiagnostic =>
  wrong(
    what,
    `"${plan}" requests builds, but none are accepted, so they fail or wait forever`,
    'set `relay.buildPasswordFile` and add `builds` to `relay.on`, or disable the plan',
  );
