// Checks that the file of a token, key or password exists, and is readable only by its owner.
import { stat } from 'node:fs/promises';
import { isExposed, readSecret, type SecretPlace } from '../config/secret.ts';
import { ok, typed, wrong } from '../lab/check/diagnostic.ts';
import { shell } from '../system/shell.ts';
import { type SetUpDiagnostic, type SetUpStep, warning } from './setup-check-item.ts';

/** @param key of ppsgate.yml that names the file */
export const secretStep = (key: string, place: SecretPlace): SetUpStep => ({
  what: key,
  async run(what) {
    const { path, variable } = place;
    const exposed = path === undefined ? [] : await exposure(what, path);
    if (exposed.length > 0) return exposed;
    await readSecret(place);
    return path === undefined ? [ok(what, `${variable} in the environment`)] : keeping(what, path);
  },
});

/** Returns nothing for a missing file, which its reader reports. */
async function exposure(what: string, path: string): Promise<SetUpDiagnostic[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !isExposed(found)) return [];
  const whose = found.mode & 0o007 ? 'all on this machine' : 'its group';
  return [wrong(what, `${withMode(path, found)}, so ${whose} can read it`, fixOf(path))];
}

async function keeping(what: string, path: string): Promise<SetUpDiagnostic[]> {
  const found = await stat(path);
  if (found.mode & 0o070) {
    return [warning(what, `${withMode(path, found)}, so its group can read it`, fixOf(path))];
  }
  return [ok(what, `${path} is readable only by its owner`)];
}

const withMode = (path: string, { mode }: { mode: number }): string =>
  `${path} has the mode ${(mode & 0o777).toString(8)}`;

const fixOf = (path: string): string => typed(shell`chmod 600 ${path}`);
