// Logs in to a configured machine.
import { readFile } from 'node:fs/promises';
import type { HostConfig } from '../config/fields.ts';
import { fileReasonOf } from '../model/one-line.ts';
import { HostError, type HostFailure } from '../system/host/host-error.ts';
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
  const read = (path: string, kind: HostFailure) =>
    readFile(path, 'utf8').catch((error: unknown) => {
      throw new HostError(kind, `Cannot log in to ${name}: ${path} cannot be read (${fileReasonOf(error)}).`, {
        cause: error,
      });
    });
  const knownHosts = await read(knownHostsPath, 'host-key');
  const identity = privateKeyPath === undefined ? { agent: true } : { privateKey: await read(privateKeyPath, 'login') };
  return connect({ host, port, user, knownHosts, label, ...identity }, options);
}
