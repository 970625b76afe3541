// Logs in to a configured machine.
import { readFile } from 'node:fs/promises';
import type { HostConfig } from '../config/fields.ts';
import { reasonOf } from '../model/one-line.ts';
import { HostError } from '../system/host/host-error.ts';
import type { ConnectOptions } from '../system/host/login.ts';
import { connect, type Host } from '../system/host/ssh.ts';

/** `label` names the machine to people. Throws a HostError. */
export async function connectTo(
  config: HostConfig,
  label: string,
  // A busy CPU replies late, so a host counts as lost only after 15 s of silence.
  options: ConnectOptions = { keepaliveSeconds: 5 },
): Promise<Host> {
  const { host, port, user, privateKeyPath, knownHostsPath } = config;
  const name = `${label} (${host}:${port})`;
  const knownHosts = await readFile(knownHostsPath, 'utf8').catch((error: unknown) => {
    const make = `create it with 'ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}', and compare the fingerprint with the machine's console`;
    throw new HostError(
      'host-key',
      `The key of ${name} cannot be checked, because ${knownHostsPath} cannot be read (${codeOf(error)}): ${fixOf(error, make)}.`,
      { cause: error },
    );
  });
  const identity =
    privateKeyPath === undefined ? { agent: true } : { privateKey: await readPrivateKey(privateKeyPath, name) };
  return connect({ host, port, user, knownHosts, label, ...identity }, options);
}

const readPrivateKey = (path: string, name: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    const make = `create it with 'ssh-keygen -t ed25519 -f ${path}' and append ${path}.pub to that machine's authorized_keys, or correct \`key\` in ppsgate.yml`;
    throw new HostError(
      'login',
      `Cannot log in to ${name}, because the key ${path} cannot be read (${codeOf(error)}): ${fixOf(error, make)}.`,
      { cause: error },
    );
  });

const fixOf = (error: unknown, make: string): string =>
  codeOf(error) === 'ENOENT' ? make : 'make it a file that this user may read';

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : reasonOf(error);
