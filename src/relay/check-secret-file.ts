// Looks at a file with a token, a key or a password: whether it is there, and for whom.
import { stat } from 'node:fs/promises';
import { isExposed, readSecret, type SecretPlace } from '../config/secret.ts';
import { ok, typed, wrong } from '../lab/check/diagnostic.ts';
import { shell } from '../system/shell.ts';
import { type Point, type SetUpDiagnostic, warning } from './setup-check-item.ts';

/** @param key of ppsgate.yml that names the file. */
export const secretPoint = (key: string, place: SecretPlace): Point => ({
  what: key,
  async run(what) {
    const { path, variable } = place;
    const exposed = path === undefined ? [] : await exposure(what, path);
    if (exposed.length > 0) return exposed;
    await readSecret(place);
    return path === undefined ? [ok(what, `${variable} in the environment`)] : keeping(what, path);
  },
});

/** Nothing where the file is not there, which whoever reads it says. */
async function exposure(what: string, path: string): Promise<SetUpDiagnostic[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !isExposed(found)) return [];
  const whose = found.mode & 0o007 ? 'all on this machine' : 'its group';
  return [wrong(what, `${withMode(path, found)}, so ${whose} can get at it`, fixOf(path))];
}

async function keeping(what: string, path: string): Promise<SetUpDiagnostic[]> {
  const found = await stat(path);
  if (found.mode & 0o070) {
    return [warning(what, `${withMode(path, found)}, so its group can get at it`, fixOf(path))];
  }
  return [ok(what, `${path} is for its owner alone`)];
}

const withMode = (path: string, { mode }: { mode: number }): string =>
  `${path} has the mode ${(mode & 0o777).toString(8)}`;

const fixOf = (path: string): string => typed(shell`chmod 600 ${path}`);
