// Confines a patch's makefiles: they run as an unprivileged user in a jail(8) of FreeBSD, or in namespaces of Linux.
import type { BuildPlace } from '../config/builder.ts';
import { lastLine } from '../model/one-line.ts';
import type { CommandOutcome } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import { privatePlaces } from './private-places.ts';

type JailPlace = Pick<BuildPlace, 'jail' | 'folder' | 'repository'>;

/** Without a jail, runs the command as the login's user. */
export function inJail({ jail, folder, repository }: JailPlace, command: Command): Command {
  if (jail === undefined) return command;
  const { name, user } = jail;
  if (name !== undefined) return shell`jexec -u ${user} ${name} ${command}`;
  const become = shell`setpriv --reuid $(id -u ${user}) --regid $(id -g ${user}) --clear-groups --no-new-privs`;
  const confined = shell`${become} sh -c ${firstProcess} build ${command}`;
  return shell`${namespaces} sh -c ${privatePlaces} private ${folder} ${repository} ${confined}`;
}

/** Has no network. All processes, including daemons, end with the first one. */
const namespaces = shell`unshare --net --ipc --mount --pid --fork --kill-child`;

/** The first process of a PID namespace ignores signals without a handler. */
const firstProcess = 'trap "exit 143" TERM; "$@" & wait "$!"';

/** Creates or reuses a folder that the build may write to. */
export const buildFolder = ({ jail }: Pick<BuildPlace, 'jail'>, path: string): Command =>
  jail === undefined ? shell`mkdir -p ${path}` : shell`mkdir -p ${path} && chown ${jail.user} ${path}`;

/** `why` begins with the jail's name. */
type JailProblem = { readonly why: string; readonly fix: string };

/** Returns the first gap through which a build could reach the network, the cache or the clone. */
export async function jailProblem(
  host: Host,
  place: Pick<BuildPlace, 'system' | 'jail' | 'folder' | 'repository'>,
  timeoutSeconds = 60,
): Promise<JailProblem | undefined> {
  const { system, jail, folder, repository } = place;
  const limits = { timeoutSeconds };
  if (jail === undefined) return system === 'linux' ? whyRoot(host, limits) : undefined;
  const { name, user } = jail;
  const problem = await (name === undefined
    ? whyNoNamespaces(host, user, place, limits)
    : whyNoJail(host, { name, user }, place, limits));
  if (problem !== undefined) return problem;
  const named = name === undefined ? user : `${user} in the jail ${name}`;
  const places = [folder, `${folder}/cache`, repository, `${repository}/.git`];
  const writable = await host.run(inJail(place, shell`sh -c ${writableScript} w ${places}`), limits);
  const [writablePlace] = writable.stdout.split('\n').filter(Boolean);
  if (writablePlace !== undefined) {
    const fix = `run \`chown -R root ${writablePlace}\` and \`chmod -R go-w ${writablePlace}\` on ${host.name}`;
    return { why: `${named} may write to ${writablePlace}`, fix };
  }
  const isThere = isGood(await host.run(shell`test -d ${folder}`, limits));
  if (isThere && !isGood(await host.run(inJail(place, shell`test -x ${folder}`), limits))) {
    const fix = name === undefined ? 'give all users access to its path' : 'give it `path = "/";`';
    return { why: `${named} cannot see ${folder}`, fix };
  }
  return undefined;
}

/** Returns sockets that any user may write to. A jail(8) whose path is / has those of its host. */
export async function socketsInJail(host: Host, place: JailPlace, timeoutSeconds: number): Promise<string[]> {
  const find = shell`find /var/run/ /tmp/ /var/tmp/ -xdev -type s -perm -0002`;
  const { stdout } = await host.run(inJail(place, find), { timeoutSeconds });
  return stdout.split('\n').filter(Boolean);
}

type JailLimits = { readonly timeoutSeconds: number };

async function whyNoJail(
  host: Host,
  jail: { name: string; user: string },
  place: JailPlace,
  limits: JailLimits,
): Promise<JailProblem | undefined> {
  const { name, user } = jail;
  const named = `the jail ${name}`;
  const network = await host.run(shell`jls -j ${name} ip4 ip6`, limits);
  if (!isGood(network)) {
    const fix = `add it to /etc/jail.conf of ${host.name}, and run \`service jail start ${name}\``;
    return { why: `${named} is not running`, fix };
  }
  if (network.stdout.trim() !== 'disable disable') {
    const fix = `set \`ip4 = disable; ip6 = disable;\` in its /etc/jail.conf, and run \`service jail restart ${name}\``;
    return { why: `${named} has a network`, fix };
  }
  const memory = await host.run(shell`jls -j ${name} allow.sysvipc`, limits);
  if (memory.stdout.trim() === 'true') {
    const fix = `remove \`allow.sysvipc\` from its /etc/jail.conf, and run \`service jail restart ${name}\``;
    return { why: `${named} shares memory with ${host.name}`, fix };
  }
  const id = await host.run(inJail(place, shell`id -u`), limits);
  const add = `run \`pw useradd ${user} -d /nonexistent -s /usr/sbin/nologin\` on ${host.name}`;
  if (!isGood(id)) {
    return { why: `${named} does not know ${user}: ${lastLine(id.stderr) ?? ''}`, fix: add };
  }
  return Number(id.stdout) === 0 ? { why: `${user} in ${named} is root`, fix: add } : undefined;
}

async function whyNoNamespaces(
  host: Host,
  user: string,
  place: JailPlace,
  limits: JailLimits,
): Promise<JailProblem | undefined> {
  const fix = `run \`useradd --system --shell /usr/sbin/nologin ${user}\` on ${host.name}`;
  const id = await host.run(shell`id -u ${user}`, limits);
  if (!isGood(id)) return { why: `there is no user ${user}`, fix };
  if (Number(id.stdout) === 0) return { why: `${user} is root`, fix };
  const inside = await host.run(inJail(place, shell`id -u`), limits);
  if (isGood(inside) && inside.stdout === id.stdout) return undefined;
  return {
    why: `a build cannot be confined to ${user} without network: ${lastLine(inside.stderr) ?? ''}`,
    fix: 'run ppsgate as root, and install unshare, setpriv and mount (util-linux)',
  };
}

/** Without a jail, a site may trust its users; a build never runs as root. */
async function whyRoot(host: Host, limits: JailLimits): Promise<JailProblem | undefined> {
  const id = await host.run(shell`id -u`, limits);
  return isGood(id) && Number(id.stdout) !== 0
    ? undefined
    : { why: 'the login user is root', fix: 'name another `user` in ppsgate.yml' };
}

const writableScript = 'for place do if test -w "$place"; then echo "$place"; fi; done';

const isGood = (outcome: CommandOutcome): boolean => outcome.kind === 'exited' && outcome.code === 0;
