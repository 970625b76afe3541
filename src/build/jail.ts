// A jail on the builder for what a patch brings along: its makefiles run there as a user who owns nothing of ours.
import type { BuilderConfig } from '../config/builder.ts';
import type { CommandOutcome } from '../host/execute.ts';
import { type Command, shell } from '../host/shell.ts';
import type { Host } from '../host/ssh.ts';
import { lastLine } from '../words/one-line.ts';

/** Where there is no jail it runs as who logs in. */
export const inJail = ({ jail }: Pick<BuilderConfig, 'jail'>, command: Command): Command =>
  jail === undefined ? command : shell`jexec -u ${jail.user} ${jail.name} ${command}`;

/** A new folder, or one that is there, into which the build may write. */
export const buildFolder = ({ jail }: Pick<BuilderConfig, 'jail'>, path: string): Command =>
  jail === undefined
    ? shell`mkdir -p ${path}`
    : shell`mkdir -p ${path} && chown ${jail.user} ${path}`;

/** `why` begins with its name. */
type JailProblem = { readonly why: string; readonly mend: string };

/** The first thing for which the jail would not keep a build from the network, the cache and the clone. */
export async function jailProblem(
  host: Host,
  config: Pick<BuilderConfig, 'jail' | 'folder' | 'repository'>,
  timeoutSeconds = 60,
): Promise<JailProblem | undefined> {
  const { jail, folder, repository } = config;
  if (jail === undefined) return undefined;
  const limits = { timeoutSeconds };
  const named = `the jail ${jail.name}`;
  const network = await host.run(shell`jls -j ${jail.name} ip4 ip6`, limits);
  if (!isGood(network)) {
    const mend = `write it into /etc/jail.conf of ${host.name}, and \`service jail start ${jail.name}\``;
    return { why: `${named} does not run`, mend };
  }
  if (network.stdout.trim() !== 'disable disable') {
    const mend = `\`ip4 = disable; ip6 = disable;\` in its /etc/jail.conf, and \`service jail restart ${jail.name}\``;
    return { why: `${named} has a network`, mend };
  }
  const id = await host.run(inJail(config, shell`id -u`), limits);
  const add = `\`pw useradd ${jail.user} -d /nonexistent -s /usr/sbin/nologin\` on ${host.name}`;
  if (!isGood(id)) {
    return { why: `${named} does not know ${jail.user}: ${lastLine(id.stderr) ?? ''}`, mend: add };
  }
  if (Number(id.stdout) === 0) return { why: `${jail.user} in ${named} is root`, mend: add };
  const places = [folder, `${folder}/cache`, repository, `${repository}/.git`];
  const writable = await host.run(
    inJail(config, shell`sh -c ${writableScript} w ${places}`),
    limits,
  );
  const [place] = writable.stdout.split('\n').filter(Boolean);
  if (place !== undefined) {
    const mend = `\`chown -R root ${place}\` and \`chmod -R go-w ${place}\` on ${host.name}`;
    return { why: `${jail.user} in ${named} may write to ${place}`, mend };
  }
  const isThere = isGood(await host.run(shell`test -d ${folder}`, limits));
  if (isThere && !isGood(await host.run(inJail(config, shell`test -x ${folder}`), limits))) {
    return { why: `${jail.user} in ${named} cannot see ${folder}`, mend: 'give it `path = "/";`' };
  }
  return undefined;
}

const writableScript = 'for place do if test -w "$place"; then echo "$place"; fi; done';

const isGood = (outcome: CommandOutcome): boolean =>
  outcome.kind === 'exited' && outcome.code === 0;
