// Creates our folder in a place like /var/tmp, where any user may have created one before.
import { type Command, shell } from '../shell.ts';

/**
 * Creates the folder, or reuses it, closed to other users. Fails if it belongs to another user, is a link, or was open
 * to others: root would follow a link in it to any file of their choice.
 */
export const ownFolder = (folder: string): Command => shell`sh -c ${ownFolderScript} ppsgate ${folder}`;

/**
 * Checks type, mode and owner once, without following a link: other users cannot move our files in a sticky folder. One
 * line without `!`, as root's login shell may be csh. Uses ls(1), as stat(1) differs between systems.
 */
export const ownFolderScript =
  '[ -h "$1" ] || mkdir -p -m 700 "$1" || exit 1; ' +
  'set -- "$1" $(ls -ldn "$1"); ' +
  'case "$2/$4" in d????-??-*/"$(id -u)") exec chmod 700 "$1";; esac; ' +
  'echo "ppsgate: $1 could be written by others than its user: see who made it, and remove it" >&2; exit 1';
