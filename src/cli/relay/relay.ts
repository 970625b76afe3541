// Runs `ppsgate relay`.

import { mkdir } from 'node:fs/promises';
import { loadConfig } from '../../config/load.ts';
import { applyOverrides } from '../../config/overrides.ts';
import { namingStyles } from '../../config/parameters.ts';
import type { RelayConfig } from '../../config/phabricator.ts';
import type { Config } from '../../config/schema.ts';
import { readSecret } from '../../config/secret.ts';
import { selectorCalled, selectorsOf, testbedsFor } from '../../config/select-testbeds.ts';
import type { GateOverrides } from '../../forge/patch/command.ts';
import { withPatience } from '../../forge/phabricator/conduit.ts';
import { ConduitError, isOfToken } from '../../forge/phabricator/failure.ts';
import { openPhabricator, phabricatorOf } from '../../forge/phabricator/login.ts';
import { whoami } from '../../forge/phabricator/revision.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { realPause } from '../../model/pause.ts';
import { UsageError } from '../../model/usage-error.ts';
import { waitingText } from '../../relay/answers.ts';
import { inboxIn, openInbox } from '../../relay/inbox.ts';
import { openStarter } from '../../relay/open-starter.ts';
import { openBell, pollOnce, type RelayDeps, secondsBetweenRounds, workOn, workOnce } from '../../relay/relay.ts';
import { seldomLog } from '../../relay/seldom-log.ts';
import { startRelayServer } from '../../relay/server.ts';
import { configPath } from '../find-config.ts';
import type { Call } from '../run.ts';

type RelayOptions = { config?: string };
type PollOptions = RelayOptions & { every?: string; once?: true };

export async function run(options: RelayOptions, { signal }: Call): Promise<number> {
  const deps = await openDeps(options, signal);
  using inbox = deps.inbox;
  const { relay } = deps.config;
  const bell = openBell();
  const secrets = await secretsOf(relay);
  const { host, port: configuredPort } = relay;
  await using server = await startRelayServer({
    host,
    port: configuredPort,
    now: deps.now,
    log: deps.log.info,
    ...secrets,
    inbox: {
      countPending: () => inbox.countPending(),
      accept(deliveries) {
        const answers = inbox.accept(deliveries);
        bell.ring();
        return answers;
      },
    },
  });
  deps.log.info(`Listens on ${host}, port ${server.port}.`);
  await workOn(deps, { wait: () => bell.waitFor(secondsBetweenRounds, signal) });
  return exitCodes.pass;
}

export async function poll(options: PollOptions, { signal }: Call): Promise<number> {
  const every = secondsIn(options.every ?? '60');
  const deps = await openDeps(options, signal);
  using _inbox = deps.inbox;
  if (options.once) {
    await pollOnce(deps);
    await workOnce(deps);
    return exitCodes.pass;
  }
  const before = () =>
    pollOnce(deps).catch((error: unknown) => {
      if (!(error instanceof ConduitError)) throw error;
      deps.log.warn(error.message);
    });
  await workOn(deps, { before, wait: () => realPause(every, signal) });
  return exitCodes.pass;
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 10 && seconds <= 3600) return seconds;
  throw new UsageError(`--every: expected a whole number of seconds from 10 to 3600, found "${text}".`);
}

async function openDeps(options: PollOptions, signal: AbortSignal): Promise<RelayDeps> {
  const path = configPath(options.config);
  const config = await loadConfig(path);
  const phabricator = phabricatorOf(config);
  const { relay } = phabricator;
  const now = () => new Date();
  const log = seldomLogs(now);
  const conduit = await openPhabricator(phabricator, { log: { info: log.retries }, signal });
  const mayWait = (error: ConduitError) => !isOfToken(error);
  const me = await whoami(options.once ? conduit : withPatience(conduit, { log, signal, mayWait }));
  const starter = await openStarter(relay, { configPath: path });
  await mkdir(relay.directory, { recursive: true });
  const inbox = openInbox(inboxIn(relay.directory), now);
  log.info(`Logged in as ${me.name} on ${conduit.url}.`);
  const waiting = inbox.waitingAnswers(conduit.url);
  if (waiting.length > 0) log.info(`${waitingText(waiting, now())} on ${conduit.url}.`);
  return {
    conduit,
    config: phabricator,
    me: me.phid,
    inbox,
    starter,
    now,
    log,
    signal,
    check: (overrides) => checkOverrides(config, overrides),
  };
}

function checkOverrides(config: Config, { testbed, ...texts }: GateOverrides): void {
  const configuredPort = applyOverrides(config, texts, namingStyles.comment);
  for (const selector of selectorsOf(configuredPort, testbed ? { testbed } : {}, namingStyles.comment))
    testbedsFor(configuredPort, selector, selectorCalled({ testbed }, namingStyles.comment));
}

async function secretsOf({ webhookKeyPath, buildPasswordPath }: RelayConfig) {
  if (webhookKeyPath === undefined && buildPasswordPath === undefined) {
    throw new UsageError(
      'ppsgate.yml has neither `phabricator.relay.webhookKeyFile` nor `buildPasswordFile`, so no request could be verified: write one there, or use ppsgate poll.',
    );
  }
  const read = (what: string, path: string) => readSecret({ what, path });
  return {
    ...(webhookKeyPath && { webhookKey: await read('The key of the webhook', webhookKeyPath) }),
    ...(buildPasswordPath && {
      buildPassword: await read('The user and password of builds', buildPasswordPath),
    }),
  };
}

const seldomLogs = (now: () => Date) => ({
  info: log.info,
  warn: seldomLog(log.warn, now),
  retries: seldomLog(log.info, now),
});

const log = {
  info: (sentence: string) => process.stdout.write(`${new Date().toISOString()} ${sentence}\n`),
  warn: (sentence: string) => process.stdout.write(`${new Date().toISOString()} warning: ${sentence}\n`),
};
