// A real OpenSSH sshd on a loopback port: the tests' user logs in, with a key for this server only.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Sshd extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** A key that the server accepts. */
  readonly privateKey: string;
  /** known_hosts with the server's keys, one per line: ed25519, then ECDSA. */
  readonly knownHosts: string;
  /** Empty at first; removed when the server stops. */
  readonly folder: string;
  stop(): Promise<void>;
}

/**
 * Starts the server and waits until it listens. `sftp` is the command that serves uploads, `path` the PATH of its
 * sessions if not sshd's own. A `loginShell`, such as `csh -f`, gets each command after `-c`; `sftp` must then be a
 * program.
 */
export async function startSshd(sftp = 'internal-sftp', path?: string, loginShell?: string): Promise<Sshd> {
  const home = mkdtempSync(join(tmpdir(), 'ppsgate-sshd-'));
  const folder = join(home, 'files');
  mkdirSync(folder);
  const hostKeys = ['ed25519', 'ecdsa'].map((type) => makeKey(home, type));
  const user = makeKey(home, 'ed25519', 'user');
  const port = await freePort();
  const config = join(home, 'sshd_config');
  writeFileSync(config, configText({ sftp, path, loginShell, port, hostKeys, user }));

  // Its privilege separation needs this folder, which only a boot creates.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  // sshd requires its absolute path.
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(server, 'exit');
  const stop = async () => {
    server.kill();
    await exited;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await listening(createInterface(server.stderr));
  } catch (error) {
    await stop();
    // Another process has taken the port that was free a moment ago.
    if (String(error).includes('Address already in use')) return startSshd(sftp, path, loginShell);
    throw error;
  }
  return {
    host: '127.0.0.1',
    port,
    user: userInfo().username,
    privateKey: readFileSync(user, 'utf8'),
    knownHosts: hostKeys.map((key) => `[127.0.0.1]:${port} ${publicKey(key)}`).join(''),
    folder,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Path of a new private key; its public half is next to it, as `.pub`. */
export function makeKey(folder: string, type: string, name: string = type): string {
  const path = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'test', '-f', path]);
  return path;
}

/** Reads a public key on one line, with its newline: type, base64, comment. */
export const publicKey = (privateKeyPath: string): string => readFileSync(`${privateKeyPath}.pub`, 'utf8');

type Settings = {
  sftp: string;
  path: string | undefined;
  loginShell: string | undefined;
  port: number;
  hostKeys: readonly string[];
  user: string;
};

function configText({ sftp, path, loginShell, port, hostKeys, user }: Settings): string {
  return [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    ...hostKeys.map((key) => `HostKey ${key}`),
    `AuthorizedKeysFile ${user}.pub`,
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    // An inner bash reads no .bashrc: the user's may be slow, and must not affect tests.
    `SetEnv SHLVL=9${path === undefined ? '' : ` PATH=${path}`}`,
    'StrictModes no',
    'PidFile none',
    `Subsystem sftp ${sftp}`,
    ...(loginShell === undefined ? [] : [`ForceCommand exec ${loginShell} -c "$SSH_ORIGINAL_COMMAND"`]),
    '',
  ].join('\n');
}

/** Finds a free TCP port on 127.0.0.1; another process may take it before its use. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free TCP port.');
  return address.port;
}

/** Reads the lines to the end even afterwards, as the server would otherwise wait for a reader. */
function listening(lines: ReturnType<typeof createInterface>): Promise<void> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line);
      if (line.includes('Server listening')) resolve();
    });
    lines.on('close', () => reject(new Error(`sshd did not start: ${said.join('; ')}`)));
  });
}
