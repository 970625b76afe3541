// Reads ppsgate.yml: returns a Config, or all problems with file, line and key.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { z } from 'zod';
import { whyNotText } from '../model/text-file.ts';
import { type Belongs, belongsIn } from './config-paths.ts';
import type { ConsoleConfig } from './console.ts';
import type { HostConfig } from './fields.ts';
import type { GithubConfig } from './github.ts';
import type { LinuxBuilder } from './linux-builder.ts';
import type { OverlayPlace } from './overlay.ts';
import type { PhabricatorConfig, StartConfig } from './phabricator.ts';
import type { PowerConfig } from './power.ts';
import { type ConfigProblem, keyName } from './problem.ts';
import type { ReservationsConfig } from './reservations.ts';
import { type Config, configSchema, type TestbedConfig } from './schema.ts';
import type { GuestImage, OfficialImage } from './virtual-testbed.ts';
import { readYaml } from './yaml.ts';

/** An invalid ppsgate.yml; the message has one line per problem, in the order of the file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly conclusion = 'usage';
  readonly problems: readonly ConfigProblem[];

  constructor(path: string, problems: readonly ConfigProblem[]) {
    super(problems.map((problem) => sentence(path, problem)).join('\n'));
    this.problems = problems;
  }
}

/** Throws a ConfigError, also for an unreadable file. */
export async function loadConfig(path: string, home = homedir()): Promise<Config> {
  const config = parseConfig(await readText(path), { path, home });
  // The file is in the current folder, which may be far from the repository.
  return { ...config, overlay: { ...config.overlay, beside: resolve(dirname(path)) } };
}

/** Throws only ConfigErrors. `path` is for messages; relative paths in the text start at its folder, `~/` at `home`. */
export function parseConfig(text: string, { path, home }: { path: string; home: string }): Config {
  const source = readYaml(text);
  if (source.kind === 'refused') throw new ConfigError(path, source.problems);

  const parsed = configSchema.safeParse(source.value);
  if (parsed.success) return withPlacedPaths(parsed.data, { folder: dirname(path), home });

  const issues = parsed.error.issues.flatMap(innermost);
  const belongs: Belongs = issues.some(isUnknownKey) ? belongsIn(source.value) : () => undefined;
  const problems = issues.map(
    (issue): ConfigProblem => ({
      line: source.lineOf(issue.path),
      key: keyName(issue.path),
      message: (isUnknownKey(issue) && belongs(issue.path)) || issue.message,
    }),
  );
  throw new ConfigError(
    path,
    problems.toSorted((a, b) => a.line - b.line),
  );
}

/** Replaces the issue of a value with several forms by those within the form of the file. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const written = issue.errors.find((form) => form.every(({ path }) => path.length > 0));
  if (written === undefined || written.length === 0) return [issue];
  return written.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

const isUnknownKey = (issue: z.core.$ZodIssue): boolean =>
  issue.code === 'custom' && issue.params?.isUnknownKey === true;

function sentence(path: string, { line, key, message }: ConfigProblem): string {
  const place = line === 0 ? path : `${path}:${line}`;
  return key === '' ? `${place}: ${message}` : `${place}: ${key}: ${message}`;
}

async function readText(path: string): Promise<string> {
  const refused = (message: string) => new ConfigError(path, [{ line: 0, key: '', message }]);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw refused(whyUnreadable(error));
  });
  const why = whyNotText(bytes);
  if (why !== undefined) throw refused(`the file ${why}`);
  return bytes.toString();
}

function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return code === 'ENOENT'
    ? 'there is no such file; write one with `ppsgate init`, or name yours'
    : `the file cannot be read (${code}); check that it is a file and that this user may read it`;
}

type PathBases = { folder: string; home: string };

function withPlacedPaths(config: Config, places: PathBases): Config {
  const testbeds = Object.entries(config.testbeds).map(([name, testbed]) => [name, placedTestbed(testbed, places)]);
  const { phabricator } = config;
  return {
    ...config,
    overlay: placedOverlay(config.overlay, places),
    history: placed(config.history, places),
    reservations: placedReservations(config.reservations, places),
    github: placedGithub(config.github, places),
    ...(phabricator !== undefined && { phabricator: placedPhabricator(phabricator, places) }),
    testbeds: Object.fromEntries(testbeds),
    rules: Object.fromEntries(
      Object.entries(config.rules).map(([name, rules]) => [name, { ...rules, path: placed(rules.path, places) }]),
    ),
  };
}

const placedOverlay = (overlay: OverlayPlace, places: PathBases): OverlayPlace => ({
  ...overlay,
  ...('path' in overlay && { path: fromHome(overlay.path, places) }),
  beside: places.folder,
});

function placedImage(image: GuestImage | OfficialImage, places: PathBases): GuestImage | OfficialImage {
  const path = placed(image.path, places);
  if (image.hostKey === undefined) return { ...image, path };
  const { privateKeyPath } = image;
  return {
    ...image,
    path,
    ...(privateKeyPath !== undefined && { privateKeyPath: placed(privateKeyPath, places) }),
  };
}

function placedTestbed(testbed: TestbedConfig, places: PathBases): TestbedConfig {
  if (testbed.kind === 'embedded-linux') return testbed;
  if (testbed.kind === 'virtual' && testbed.system === 'freebsd') {
    const { image, builder } = testbed;
    return {
      ...testbed,
      image: placedImage(image, places),
      ...(builder !== undefined && { builder: placedHost(builder, places) }),
    };
  }
  if (testbed.kind === 'virtual') {
    const { kernelPath, builder } = testbed;
    return {
      ...testbed,
      ...(kernelPath !== undefined && { kernelPath: placed(kernelPath, places) }),
      ...(builder !== undefined && { builder: placedBuilder(builder, places) }),
    };
  }
  if (testbed.kind === 'freebsd') {
    const { dut, senders, receiver, builder } = testbed;
    const { power, console } = dut;
    return {
      ...testbed,
      dut: {
        ...placedHost(dut, places),
        ...(power !== undefined && { power: placedPower(power, places) }),
        ...(console !== undefined && { console: placedConsole(console, places) }),
      },
      senders: senders.map((sender) => placedHost(sender, places)),
      receiver: placedHost(receiver, places),
      ...(builder !== undefined && { builder: placedHost(builder, places) }),
    };
  }
  return {
    ...testbed,
    sender: placedHost(testbed.sender, places),
    dut: placedHost(testbed.dut, places),
    receiver: placedHost(testbed.receiver, places),
  };
}

function placedBuilder(builder: LinuxBuilder, places: PathBases): LinuxBuilder {
  const { recipe } = builder;
  return {
    ...placedHost(builder, places),
    ...(recipe.kind === 'linux' && {
      recipe: { ...recipe, configPath: placed(recipe.configPath, places) },
    }),
  };
}

function placedHost<Machine extends Omit<HostConfig, 'host'>>(machine: Machine, places: PathBases): Machine {
  const { privateKeyPath, knownHostsPath } = machine;
  return {
    ...machine,
    knownHostsPath: placed(knownHostsPath, places),
    ...(privateKeyPath !== undefined && { privateKeyPath: placed(privateKeyPath, places) }),
  };
}

function placedPower(power: PowerConfig, places: PathBases): PowerConfig {
  if (power.kind === 'command') return power;
  if (power.kind === 'ipmi') return withPassword(power, places);
  const { caPath } = power;
  return {
    ...withPassword(power, places),
    ...(caPath !== undefined && { caPath: placed(caPath, places) }),
  };
}

const placedConsole = (console: ConsoleConfig, places: PathBases): ConsoleConfig =>
  console.kind === 'ipmi' ? withPassword(console, places) : console;

function withPassword<Bmc extends { passwordPath?: string }>(bmc: Bmc, places: PathBases): Bmc {
  const { passwordPath } = bmc;
  if (passwordPath === undefined) return bmc;
  return { ...bmc, passwordPath: placed(passwordPath, places) };
}

function placedReservations(store: ReservationsConfig, places: PathBases): ReservationsConfig {
  if (store.store === 'sqlite') return { ...store, path: placed(store.path, places) };
  const { caPath, certificatePath, keyPath, passwordPath } = store;
  return {
    ...store,
    ...(caPath !== undefined && { caPath: placed(caPath, places) }),
    ...(certificatePath !== undefined && { certificatePath: placed(certificatePath, places) }),
    ...(keyPath !== undefined && { keyPath: placed(keyPath, places) }),
    ...(passwordPath !== undefined && { passwordPath: placed(passwordPath, places) }),
  };
}

function placedGithub(github: GithubConfig, places: PathBases): GithubConfig {
  const { directory } = github.data;
  if (directory === undefined) return github;
  return { ...github, data: { ...github.data, directory: placed(directory, places) } };
}

function placedPhabricator(phabricator: PhabricatorConfig, places: PathBases): PhabricatorConfig {
  const { relay, tokenPath, caPath } = phabricator;
  const { start, webhookKeyPath, buildPasswordPath } = relay;
  return {
    ...phabricator,
    ...(tokenPath !== undefined && { tokenPath: placed(tokenPath, places) }),
    ...(caPath !== undefined && { caPath: placed(caPath, places) }),
    relay: {
      ...relay,
      directory: placed(relay.directory, places),
      start: placedStart(start, places),
      ...(webhookKeyPath !== undefined && { webhookKeyPath: placed(webhookKeyPath, places) }),
      ...(buildPasswordPath !== undefined && {
        buildPasswordPath: placed(buildPasswordPath, places),
      }),
    },
  };
}

function placedStart(start: StartConfig, places: PathBases): StartConfig {
  if (start.kind === 'here') return { ...start, repository: placed(start.repository, places) };
  const { tokenPath } = start;
  return { ...start, ...(tokenPath !== undefined && { tokenPath: placed(tokenPath, places) }) };
}

function placed(written: string, places: PathBases): string {
  const path = fromHome(written, places);
  return isAbsolute(path) ? path : join(places.folder, path);
}

const fromHome = (path: string, { home }: PathBases): string =>
  /^~(\/|$)/.test(path) ? join(home, path.slice(1)) : path;
