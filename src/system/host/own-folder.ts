// A folder of ours on a machine, in a place like /var/tmp where every user of it may have made one before us.
import { type Command, shell } from '../shell.ts';

/**
 * Makes the folder, or takes the one of an earlier time, so that nobody but its user gets into it; fails where it is
 * somebody else's, a link, or was open to others: root would follow a link in it to whatever file they chose.
 */
export const ownFolder = (folder: string): Command =>
  shell`sh -c ${ownFolderScript} ppsgate ${folder}`;

/**
 * One look at type, mode and owner, without following a link, is enough: in a sticky folder nobody else can take away
 * what is ours. One line without `!`, as root's login shell may be csh; ls(1), for stat(1) is another on each system.
 */
export const ownFolderScript =
  '[ -h "$1" ] || mkdir -p -m 700 "$1" || exit 1; ' +
  'set -- "$1" $(ls -ldn "$1"); ' +
  'case "$2/$4" in d????-??-*/"$(id -u)") exec chmod 700 "$1";; esac; ' +
  'echo "ppsgate: $1 could be written by others than its user: see who made it, and remove it" >&2; exit 1';
