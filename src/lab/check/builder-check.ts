// Checks the machine that builds kernels: its programs, its jail, and its free space.
import { posix } from 'node:path';
import type { BuilderConfig } from '../../config/builder.ts';
import { jailProblem, socketsInJail } from '../../kernel/jail.ts';
import { outsideOptions } from '../../kernel/kernel-key.ts';
import { gitIn } from '../../kernel/kernel-tree.ts';
import { lastLine } from '../../model/one-line.ts';
import { isGood } from '../../system/host/execute.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { fileSystemsOf } from '../freebsd/boot/boot-system.ts';
import {
  type CheckedMachine,
  type CheckStep,
  type Diagnostic,
  does,
  inGigabytes,
  limits,
  ok,
  on,
  skipped,
  sshTo,
  typed,
  wrong,
} from './diagnostic.ts';

export type BuilderMachine = CheckedMachine & { config: BuilderConfig };

export function builderSteps(builder: BuilderMachine | undefined): CheckStep[] {
  if (builder === undefined) return [noBuilder];
  const { config } = builder;
  const { repository, folder, recipe } = config;
  const usesFilemon = recipe.kind === 'make' && recipe.metaMode;
  return [
    on(builder, 'git on the builder', async (host, what) =>
      (await does(host, shell`git --version`))
        ? [ok(what, 'it is installed')]
        : [wrong(what, 'it is not installed', 'run `pkg install git` on the builder')],
    ),
    {
      ...on(builder, `the clone ${repository}`, (host, what) => clone(host, repository, what)),
      needs: [sshTo(builder), 'git on the builder'],
    },
    on(builder, 'the compiler on the builder', async (host, what) => {
      const outcome = await host.run(shell`cc --version`, limits);
      if (isGood(outcome)) return [ok(what, outcome.stdout.split('\n')[0]?.trim() ?? '')];
      return [wrong(what, 'it has no cc', 'install the base system with its compiler on the builder')];
    }),
    ...(usesFilemon ? [on(builder, 'filemon on the builder', filemon)] : []),
    on(builder, 'the builds on the builder', (host, what) => builds(host, config, what)),
    on(builder, 'the space on the builder', async (host, what) => {
      const { path, bytes } = await spaceFor(host, folder);
      const free = `${inGigabytes(bytes)} free in ${path}`;
      if (bytes >= config.minFreeBytes) return [ok(what, free)];
      const why = `${free}, but a build needs ${inGigabytes(config.minFreeBytes)}`;
      return [wrong(what, why, 'free some space there, or name another `folder` in ppsgate.yml')];
    }),
  ];
}

const noBuilder: CheckStep = {
  what: 'the builder',
  needs: [],
  run: async () => [skipped('the builder', '`builder` is not configured: only prebuilt kernels can be measured')],
};

async function clone(host: Host, repository: string, what: string): Promise<Diagnostic[]> {
  const outcome = await host.run(gitIn(repository, shell`rev-parse --verify HEAD`), limits);
  if (isGood(outcome)) return [ok(what, `at ${outcome.stdout.trim().slice(0, 12)}`)];
  const why = `git says: ${lastLine(outcome.stderr) ?? 'nothing'}`;
  const get = shell`git clone ${'https://git.freebsd.org/src.git'} ${repository}`;
  return [wrong(what, why, `${typed(get)} there`)];
}

/** Reports the user and the jail that confine a build, which runs code of the patch. */
async function builds(host: Host, config: BuilderConfig, what: string): Promise<Diagnostic[]> {
  const { jail, user, recipe } = config;
  const problem = await jailProblem(host, config, limits.timeoutSeconds);
  if (problem !== undefined) return [wrong(what, problem.why, problem.fix)];
  const confinement =
    jail === undefined
      ? `as ${user}, who can change the whole machine: a jail would confine builds (\`jail\` in ppsgate.yml)`
      : `as ${jail.user} in the jail ${jail.name}, without network`;
  const diagnostics = [ok(what, confinement)];
  const [socket] = jail === undefined ? [] : await socketsInJail(host, config, limits.timeoutSeconds);
  if (socket !== undefined) {
    const why = `builds can reach ${socket}, because their jail shares the folders of its host: give the jail its own /var/run and /tmp`;
    diagnostics.push(ok('the sockets on the builder', why));
  }
  const outside = outsideOptions(recipe);
  if (outside.length === 0) return diagnostics;
  const why = `it is not used, because ${outside.join(' and ')} may refer to files outside the tree`;
  return [...diagnostics, ok('the cache of kernels', why)];
}

async function filemon(host: Host, what: string): Promise<Diagnostic[]> {
  if (await does(host, shell`kldstat -q -m filemon`)) return [ok(what, 'it is loaded')];
  return [wrong(what, 'it is not loaded', 'run `kldload filemon` and `sysrc kld_list+=filemon` on the builder')];
}

async function spaceFor(host: Host, folder: string): Promise<{ path: string; bytes: number }> {
  let path = folder;
  while (path !== '/' && !(await does(host, shell`test -d ${path}`))) {
    path = posix.dirname(path);
  }
  const [disk] = await fileSystemsOf(host, [path]);
  return { path, bytes: disk?.availableBytes ?? 0 };
}
