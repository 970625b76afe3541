// Explains a failed login and its fix, from the host's key or ssh2's error.

import { reasonOf } from '../../model/one-line.ts';
import { HostError } from './host-error.ts';
import { fingerprint, type HostAddress, type HostKeyVerdict, type KnownHosts, keyType } from './known-hosts.ts';

export function hostKeyError(
  verdict: HostKeyVerdict,
  key: Buffer,
  ignored: KnownHosts['ignored'],
  { host, port }: HostAddress,
  name: string,
): HostError | undefined {
  const shown = `${name} shows the ${keyType(key)} key ${fingerprint(key)}`;
  switch (verdict.kind) {
    case 'known':
      return undefined;
    case 'unknown': {
      const unused = ignored.map(({ line, reason }) => ` (line ${line} is ignored: ${reason})`);
      return new HostError(
        'host-key',
        `${shown}, but its known hosts file has no line for it${unused.join('')}; compare the fingerprint on the machine itself, then add what "ssh-keyscan -p ${port} ${host}" prints.`,
      );
    }
    case 'changed': {
      const expected = verdict.expected.map((one) => `${one.fingerprint} (line ${one.line})`);
      return new HostError(
        'host-key',
        `${shown}, but its known hosts file has ${expected.join(' and ')}; another machine may be answering, so replace the line only once you know why the key changed.`,
      );
    }
    case 'revoked':
      return new HostError(
        'host-key',
        `${shown}, which line ${verdict.line} of its known hosts file revokes; give the machine a new host key.`,
      );
  }
}

/** Explains ssh2's error; its `level` names the stage of the login. */
export function loginError(error: Error & { level?: string }, name: string, user: string): HostError {
  if (error.level === 'agent') {
    return new HostError(
      'login',
      `Cannot log in to ${name} with the agent: ${reasonOf(error)}; check that it runs at SSH_AUTH_SOCK and holds the key.`,
      { cause: error },
    );
  }
  if (error.level === 'client-authentication') {
    return new HostError(
      'login-refused',
      `${name} refused the login of ${user} with this key; add its public half to the authorized_keys of ${user} there.`,
      { cause: error },
    );
  }
  if (error.message.includes('no matching host key format')) {
    return new HostError(
      'host-key',
      `${name} has no key of a type in its known hosts file; find out why it changed before you add the new one.`,
      { cause: error },
    );
  }
  return new HostError(
    'lost',
    `${name} ended the login: ${reasonOf(error)}; check that sshd answers there, and its log.`,
    { cause: error },
  );
}
