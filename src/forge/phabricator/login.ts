// Connects to the Phabricator of ppsgate.yml as its bot.

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { PhabricatorConfig } from '../../config/phabricator.ts';
import type { Config } from '../../config/schema.ts';
import { readSecret } from '../../config/secret.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { type Conduit, type ConduitOptions, openConduit } from './conduit.ts';

export const tokenVariable = 'PPSGATE_CONDUIT_TOKEN';

export function phabricatorOf({ phabricator }: Pick<Config, 'phabricator'>): PhabricatorConfig {
  if (phabricator !== undefined) return phabricator;
  throw new UsageError(
    'The configuration has no `phabricator`: write at least `phabricator: { url: https://reviews.example.org }` there.',
  );
}

/** Throws a `UsageError` if the token, or a configured authority, is missing. */
export async function openPhabricator(
  { url, tokenPath, caPath }: Pick<PhabricatorConfig, 'url' | 'tokenPath' | 'caPath'>,
  options: Pick<ConduitOptions, 'log' | 'signal'>,
): Promise<Conduit> {
  const place = { what: 'The Conduit token', path: tokenPath, variable: tokenVariable };
  const ca = await readAuthority(caPath);
  return openConduit({ ...options, url, ca, token: await readSecret(place) });
}

/** PEM; undefined if no file is configured. Throws a `UsageError` that names the file. */
export async function readAuthority(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unfit(path, 'cannot be read', error);
  });
  try {
    // With an invalid certificate, Node would silently trust no server.
    new X509Certificate(pem);
  } catch (error) {
    throw unfit(path, 'contains no certificate', error);
  }
  return pem;
}

const unfit = (path: string, fault: string, error: unknown): UsageError =>
  new UsageError(
    `\`phabricator.ca\` ${fault} (${path}: ${reasonOf(error)}): name a file with the certificate of the server's authority in PEM format.`,
  );
