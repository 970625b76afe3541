// Separates a Linux build from the sockets, processes and shared folders of its machine.

/**
 * Runs as root in new namespaces. Its arguments are two folders, which stay in place, and a command, which gets its own
 * /run, /tmp, /var/tmp, /dev and /proc. Fails rather than run the command without them.
 *
 * A network namespace separates abstract sockets only. Sockets bound elsewhere are covered one by one, those of all
 * network namespaces. The working directory still leads to the old folders, so the script enters it again.
 */
export const privatePlaces = String.raw`
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
