// Confines a patch's makefiles: they run as an unprivileged user in a jail(8) of FreeBSD, or in namespaces of Linux.
import type { BuildPlace } from '../config/builder.ts';
import { lastLine } from '../model/one-line.ts';
import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';

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
  if (jail === undefined) {
    if (system !== 'linux') return undefined;
    // Without a jail, a site may trust its users; a build never runs as root.
    const id = await host.run(shell`id -u`, limits);
    const isUser = isGood(id) && Number(id.stdout) !== 0;
    return isUser ? undefined : { why: 'the login user is root', fix: 'name another `user` in ppsgate.yml' };
  }
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

const writableScript = 'for place do if test -w "$place"; then echo "$place"; fi; done';

/**
 * Runs as root in new namespaces. Its arguments are two folders, which stay in place, and a command, which gets its own
 * /run, /tmp, /var/tmp, /dev and /proc. Fails rather than run the command without them.
 *
 * A network namespace separates abstract sockets only. Sockets bound elsewhere are covered one by one, those of all
 * network namespaces. The working directory still leads to the old folders, so the script enters it again.
 */
const privatePlaces = String.raw`
set -e
umask 022
folder=$1 repository=$2
shift 2
sockets=$(find /proc/[0-9]*/ns/net -maxdepth 0 -printf '%l %h\n' 2>/dev/null | sort -u -k 1,1 |
  sed 's/.* //; s/ns$/net\/unix/' | xargs cat 2>/dev/null |
  sed -n 's/^[^/]* \(\/.*\)/\1/p' | sort -u) || true
exec 3<&- 4<&-
if test -d "$folder"; then exec 3<"$folder"; fi
if test -d "$repository"; then exec 4<"$repository"; fi

for place in /run /tmp /var/tmp; do
  mount -t tmpfs -o nosuid,nodev,mode=1777 private "$place"
done
chmod 755 /run
mount -t tmpfs -o nosuid,mode=755 private /dev
mkdir -m 1777 /dev/shm
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/zero c 1 5
mknod -m 666 /dev/full c 1 7
mknod -m 666 /dev/random c 1 8
mknod -m 666 /dev/urandom c 1 9
mknod -m 666 /dev/tty c 5 0
ln -s /proc/self/fd /dev/fd
ln -s fd/0 /dev/stdin
ln -s fd/1 /dev/stdout
ln -s fd/2 /dev/stderr

restore() {
  test -d "/proc/self/fd/$1" || return 0
  mkdir -p "$2"
  mount --no-canonicalize --rbind "/proc/self/fd/$1" "$2"
}
restore 3 "$folder"
restore 4 "$repository"
exec 3<&- 4<&-

echo "$sockets" | while IFS= read -r socket; do
  if test -S "$socket"; then mount --bind /dev/null "$socket"; fi
done
mount -t proc private /proc
cd "$PWD" 2>/dev/null || cd /
exec "$@"
`;
