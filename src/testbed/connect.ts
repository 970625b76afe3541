// Logs in to a machine of the configuration.
import { readFile } from 'node:fs/promises';
import type { HostConfig } from '../config/fields.ts';
import type { ConnectOptions } from '../host/login.ts';
import { connect, type Host } from '../host/ssh.ts';

/** `label` is how people call the machine. Throws a HostError where that does not succeed. */
export async function connectTo(
  config: HostConfig,
  label: string,
  // A busy CPU answers late: only a host that is silent for 15 s is lost.
  options: ConnectOptions = { keepaliveSeconds: 5 },
): Promise<Host> {
  const { host, port, user, privateKeyPath, knownHostsPath } = config;
  const knownHosts = await readFile(knownHostsPath, 'utf8');
  const identity =
    privateKeyPath === undefined
      ? { agent: true }
      : { privateKey: await readFile(privateKeyPath, 'utf8') };
  return connect({ host, port, user, knownHosts, label, ...identity }, options);
}
