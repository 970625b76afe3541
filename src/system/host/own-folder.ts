// Creates a folder of ours in a place like /var/tmp, where any user may have created one before.
import { type Command, shell } from '../shell.ts';

/**
 * Creates or reuses the folder, closed to other users. Fails if it is another user's, a link, or was open to others:
 * root would follow a link in it to any file that they chose.
 */
export const ownFolder = (folder: string): Command =>
  shell`sh -c ${ownFolderScript} ppsgate ${folder}`;

/**
 * Checks type, mode and owner once, without following a link: in a sticky folder no other user can move
 * ours. One line without `!`, as root's login shell may be csh; ls(1), as stat(1) differs between systems.
 */
export const ownFolderScript =
  '[ -h "$1" ] || mkdir -p -m 700 "$1" || exit 1; ' +
  'set -- "$1" $(ls -ldn "$1"); ' +
  'case "$2/$4" in d????-??-*/"$(id -u)") exec chmod 700 "$1";; esac; ' +
  'echo "ppsgate: $1 could be written by others than its user: see who made it, and remove it" >&2; exit 1';
