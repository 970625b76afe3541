// Looks at a file with a token, a key or a password: whether it is there, and for whom.
import { stat } from 'node:fs/promises';
import { ok, typed, wrong } from '../checkup/finding.ts';
import { readSecret, type SecretPlace } from '../config/secret.ts';
import { shell } from '../host/shell.ts';
import { type Point, type SetUpFinding, warning } from './checkup-point.ts';

/** @param key of ppsgate.yml that names the file. */
export const secretPoint = (key: string, place: SecretPlace): Point => ({
  what: key,
  async look(what) {
    await readSecret(place);
    const { path, variable } = place;
    return path === undefined ? [ok(what, `${variable} in the environment`)] : keeping(what, path);
  },
});

async function keeping(what: string, path: string): Promise<SetUpFinding[]> {
  const mode = (await stat(path)).mode & 0o777;
  const mend = typed(shell`chmod 600 ${path}`);
  const found = `${path} has the mode ${mode.toString(8)}`;
  if (mode & 0o007) return [wrong(what, `${found}, so all on this machine can get at it`, mend)];
  if (mode & 0o070) return [warning(what, `${found}, so its group can get at it`, mend)];
  return [ok(what, `${path} is for its owner alone`)];
}
