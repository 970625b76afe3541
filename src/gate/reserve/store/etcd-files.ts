// Reads the credentials for etcd from files: certificates, a key, a password.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { EtcdConfig as EtcdReservationsConfig } from '../../../config/reservations.ts';
import { ExposedError, readGuarded } from '../../../config/secret.ts';
import { reasonOf } from '../../../model/one-line.ts';
import type { Certificates } from '../../../system/certificate.ts';
import { StoreError } from './store.ts';

export type EtcdConfig = Omit<EtcdReservationsConfig, 'store' | 'leaseSeconds'>;

export type EtcdAccount = { user: string; password: string };

/** Throws a StoreError that names the file. */
export async function readCertificates(config: EtcdConfig): Promise<Certificates> {
  const { caPath, certificatePath, keyPath } = config;
  const ca = caPath === undefined ? {} : { ca: await readText('authority', caPath) };
  const cert = certificatePath === undefined ? {} : { cert: await readText('certificate', certificatePath) };
  const key = keyPath === undefined ? {} : { key: await readText('key', keyPath, readGuarded) };
  // Node ignores invalid authorities, and would trust no server.
  refuseUnfit(`the authority file ${caPath}`, () => ca.ca && new X509Certificate(ca.ca));
  const pair = `the certificate ${certificatePath} and the key ${keyPath}`;
  refuseUnfit(pair, () => createSecureContext({ ...cert, ...key }));
  return { ...ca, ...cert, ...key };
}

/** Returns undefined without a password. Throws a StoreError that names the file but quotes nothing of it. */
export async function readAccount({ user, passwordPath }: EtcdConfig): Promise<EtcdAccount | undefined> {
  if (user === undefined || passwordPath === undefined) return undefined;
  const password = (await readText('password', passwordPath, readGuarded)).replace(/\r?\n$/, '');
  if (/^\P{Cc}+$/u.test(password)) return { user, password };
  throw new StoreError(
    `etcd cannot be used with the password file ${passwordPath}: it is empty or has more than a line; write the password there and nothing else.`,
  );
}

async function readText(what: string, path: string, read = (path: string) => readFile(path, 'utf8')): Promise<string> {
  try {
    return await read(path);
  } catch (error) {
    if (error instanceof ExposedError) {
      throw new StoreError(`etcd cannot be used: ${error.message}.`);
    }
    throw new StoreError(
      `etcd cannot be used without its ${what} file: ${reasonOf(error)}; check the path, and that this user may read it.`,
      { cause: error },
    );
  }
}

function refuseUnfit(what: string, use: () => unknown): void {
  try {
    use();
  } catch (error) {
    throw new StoreError(
      `etcd cannot be used with ${what} (${reasonOf(error)}); they must be PEM, and the key must match its certificate.`,
      { cause: error },
    );
  }
}
