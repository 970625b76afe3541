// Defines steps and diagnostics of the set-up check for Phabricator.

import { stat } from 'node:fs/promises';
import type { OverlayPlace } from '../config/overlay.ts';
import { isExposed, readSecret, type SecretPlace } from '../config/secret.ts';
import type { ConduitOptions } from '../forge/phabricator/conduit.ts';
import type { CheckStep, Diagnostic as Plain } from '../lab/check/diagnostic.ts';
import { ok, typed, wrong } from '../lab/check/diagnostic.ts';
import { shell } from '../system/shell.ts';

export type SetUpDiagnostic =
  | Plain
  /** A `warning` does not stop ppsgate. An `unreachable` item may recover without a fix. */
  | { kind: 'warning' | 'unreachable'; what: string; why: string; fix: string };

export type SetUpStep = CheckStep<SetUpDiagnostic>;

export type SetUpCheckDeps = Pick<ConduitOptions, 'log' | 'pause'> & {
  signal: AbortSignal;
  now(): Date;
  onLook(what: string): void;
  overlay?: OverlayPlace;
};

export const warning = (what: string, why: string, fix: string): SetUpDiagnostic => ({
  kind: 'warning',
  what,
  why,
  fix,
});

export const unreachable = (what: string, why: string, fix: string): SetUpDiagnostic => ({
  kind: 'unreachable',
  what,
  why,
  fix,
});

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
