// Opens the Phabricator of ppsgate.yml as its bot.

import type { PhabricatorConfig } from '../config/phabricator.ts';
import type { Config } from '../config/schema.ts';
import { readSecret } from '../config/secret.ts';
import { UsageError } from '../words/usage-error.ts';
import { type Conduit, type ConduitOptions, openConduit } from './conduit.ts';

export const tokenVariable = 'PPSGATE_CONDUIT_TOKEN';

/** Throws a `UsageError` where the configuration has none. */
export function phabricatorOf({ phabricator }: Pick<Config, 'phabricator'>): PhabricatorConfig {
  if (phabricator !== undefined) return phabricator;
  throw new UsageError(
    'ppsgate.yml has no `phabricator`: write at least `phabricator: { url: https://reviews.example.org }` there.',
  );
}

/** Throws a `UsageError` where there is no token. */
export async function openPhabricator(
  { url, tokenPath }: Pick<PhabricatorConfig, 'url' | 'tokenPath'>,
  options: Pick<ConduitOptions, 'log' | 'signal'>,
): Promise<Conduit> {
  const place = { what: 'The Conduit token', path: tokenPath, variable: tokenVariable };
  return openConduit({ ...options, url, token: await readSecret(place) });
}
