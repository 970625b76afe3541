import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { HostError, type HostFailure } from '../../../src/system/host/host-error.ts';
import type { ConnectOptions, SshTarget } from '../../../src/system/host/login.ts';
import { connect, type Host } from '../../../src/system/host/ssh.ts';
import { uploadOverBreaks } from '../../../src/system/host/upload.ts';
import { shell } from '../../../src/system/shell.ts';
import { makeKey, publicKey, type Sshd, startSshd } from '../../fakes/sshd.ts';
import { describeWith, testWith } from '../../needs.ts';

// Path on Debian.
const sftpServer = '/usr/lib/openssh/sftp-server';

describeWith(['sshd', 'ssh-keygen', 'ssh-agent'], 'a host over a real sshd', () => {
  let sshd: Sshd;
  let target: SshTarget;
  let host: Host;

  beforeAll(async () => {
    sshd = await startSshd();
    target = { ...sshd, label: 'DUT' };
    host = await connect(target);
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(async () => {
    await host.close();
    await sshd.stop();
  });

  test('a command returns its exit code, stdout and stderr', async () => {
    const outcome = await host.run(shell`echo out; echo err >&2; exit ${3}`);
    expect(outcome).toEqual({ kind: 'exited', code: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('a command reads stdin of any bytes and size, and letters that lie across two packets stay whole', async () => {
    const stdin = randomBytes(5_000_000);
    expect(await host.output(shell`sha256sum`, { stdin })).toBe(`${sha256(stdin)}  -\n`);
    const text = 'é€😀'.repeat(50_000);
    expect(await host.output(shell`cat`, { stdin: text })).toBe(text);
  });

  test('a command reads a stream as it comes, and its end when the stream ends', async () => {
    const stdin = new PassThrough();
    let all = '';
    const running = host.run(shell`echo ready; cat; echo over`, {
      stdin,
      onStdout: (chunk) => {
        all += Buffer.from(chunk);
        if (all === 'ready\n') stdin.write('more\n');
        if (all === 'ready\nmore\n') stdin.end();
      },
    });
    expect(await running).toMatchObject({ kind: 'exited', code: 0 });
    expect(all).toBe('ready\nmore\nover\n');
  });

  test('streams stderr beside stdout if the caller wants it', async () => {
    let said = '';
    const outcome = await host.run(shell`echo fine; echo 'not so' >&2`, {
      onStderr: (chunk) => {
        said += Buffer.from(chunk);
      },
    });
    expect(outcome).toEqual({ kind: 'exited', code: 0, stdout: 'fine\n', stderr: '' });
    expect(said).toBe('not so\n');
  });

  test('an error of the stream or of the output handler of the caller ends the run', async () => {
    const stdin = new PassThrough();
    const running = host.run(shell`cat`, { stdin });
    stdin.destroy(new RangeError('torn'));
    await expect(running).rejects.toThrow(new RangeError('torn'));
    const onStdout = () => {
      throw new RangeError('enough');
    };
    await expect(host.run(shell`yes`, { onStdout })).rejects.toThrow(new RangeError('enough'));
  });

  test('more output than allowed ends the command with an error', async () => {
    const running = host.run(shell`yes`, { maxOutputBytes: 1_000_000 });
    await expectFailure(running, 'too-much-output', 'DUT');
    expect(await host.output(shell`echo still here`)).toBe('still here\n');
  });

  test('output of a failing command is an error with the last line of its stderr', async () => {
    const running = host.output(shell`printf 'a\\nNo \\033[31msuch rule\\n\\n' >&2; exit 4`);
    await expectFailure(running, 'command-failed', 'DUT', 'exited with 4', ': No [31msuch rule');
  });

  test('more commands at once than sshd allows sessions share one connection', async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const answers = await Promise.all(numbers.map((n) => host.output(shell`echo ${n}`)));
    expect(answers).toEqual(numbers.map((n) => `${n}\n`));
  });

  test('a command that exceeds its time limit or is cancelled is abandoned, the connection stays', async () => {
    const late = host.run(shell`exec sleep 20`, { timeoutSeconds: 0.1 });
    await expectFailure(late, 'timeout', '"exec sleep 20"', 'DUT', 'after 0.1 s');
    const controller = new AbortController();
    const running = host.run(shell`echo ready; exec sleep 20`, {
      signal: controller.signal,
      onStdout: () => controller.abort(),
    });
    await expectFailure(running, 'aborted', '"echo ready; exec sleep 20"', 'DUT');
    expect(await host.output(shell`echo still here`)).toBe('still here\n');
  });

  test('an upload of bytes or of a file is complete, has its mode and replaces what was there', async () => {
    const bytes = randomBytes(5_000_000);
    writeFileSync(place('replaced'), 'old');
    await host.upload(bytes, place('bytes'), 0o751);
    await host.upload(place('bytes'), place('replaced'), 0o644);
    for (const name of ['bytes', 'replaced']) expect(sha256(readFileSync(place(name)))).toBe(sha256(bytes));
    expect(statSync(place('bytes')).mode & 0o7777).toBe(0o751);
    expect(readdirSync(sshd.folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test('an upload that fails at its first or last step leaves the target and nothing else', async () => {
    const uploading = host.upload(place('absent'), place('target'), 0o600);
    await expectFailure(uploading, 'upload-failed', place('absent'), 'ENOENT');
    await host.output(shell`mkdir -p ${place('folder/inside')}`);
    await expectFailure(host.upload(Buffer.from('x'), place('folder'), 0o600), 'upload-failed', place('folder'));
    expect(readdirSync(sshd.folder).filter((name) => name.startsWith('folder'))).toEqual(['folder']);
  });

  test.for(['bytes', 'a file'])('an upload of %s can be cancelled, and removes its partial file', async (source) => {
    const bytes = Buffer.alloc(20_000_000);
    writeFileSync(place('large'), bytes);
    const begun = partialIn(sshd.folder);
    const controller = new AbortController();
    const { signal } = controller;
    const from = source === 'bytes' ? bytes : place('large');
    const uploading = failureOf(host.upload(from, place('cancelled'), 0o600, { signal }));
    const partial = await begun;
    controller.abort();
    const error = await uploading;
    expect(error.kind).toBe('aborted');
    expect(error.message).toContain(place('cancelled'));
    await expect.poll(() => existsSync(partial)).toBe(false);
    expect(existsSync(place('cancelled'))).toBe(false);
    expect(await host.output(shell`echo still here`)).toBe('still here\n');
  });

  testWith([sftpServer], 'an upload whose server dies in the middle has failed', async () => {
    const script = place('dying-sftp');
    writeFileSync(script, `#!/bin/sh\ndd bs=1 count=40000 | ${sftpServer}\n`, { mode: 0o755 });
    await using dying = await startSshd(script);
    await using other = await connect({ ...dying, label: 'DUT' });
    const uploading = other.upload(Buffer.alloc(1_000_000), place('half'), 0o600);
    await expectFailure(uploading, 'upload-failed', 'DUT', place('half'));
    expect(existsSync(place('half'))).toBe(false);
  });

  test('closing a host ends what still runs over it', async () => {
    const closing = await connect(target);
    const running = failureOf(closing.run(shell`exec sleep 20`));
    await closing.output(shell`true`);
    await closing.close();
    await closing.close();
    expect((await running).kind).toBe('lost');
    await expectFailure(closing.run(shell`true`), 'lost', 'DUT', 'this side closed');
  });

  test('a host that has several keys shows the one that is pinned', async () => {
    const [, ecdsa = ''] = sshd.knownHosts.split('\n');
    await using other = await connect({ ...target, knownHosts: ecdsa });
    expect(await other.output(shell`echo hello`)).toBe('hello\n');
  });

  test('a host that is unknown, or shows another key than the known one, is refused with fingerprints', async () => {
    const key = publicKey(makeKey(sshd.folder, 'ed25519', 'impostor'));
    for (const [index, knownHosts] of ['', `[127.0.0.1]:${sshd.port} ${key}`].entries()) {
      const error = await failureOf(connect({ ...target, knownHosts }));
      expect(error.kind).toBe('host-key');
      expect(error.message.match(/SHA256:\S+/g)).toHaveLength(index + 1);
    }
  });

  test('a login with a key that the host does not accept is refused', async () => {
    const privateKey = readFileSync(makeKey(sshd.folder, 'ed25519', 'stranger'), 'utf8');
    const connecting = connect({ ...target, privateKey });
    await expectFailure(connecting, 'login-refused', 'DUT', target.user, 'authorized_keys');
  });

  test.for([
    ['no key at all', {}, 'no key'],
    ['an agent that is not there', { agent: true }, 'SSH_AUTH_SOCK'],
    ['a text that is no key', { privateKey: 'hello' }, 'cannot be used'],
  ] as const)('a login with %s fails with advice', async ([, login, words]) => {
    vi.stubEnv('SSH_AUTH_SOCK', undefined);
    const { privateKey: _, ...rest } = target;
    await expectFailure(connect({ ...rest, ...login }), 'login', 'DUT', words);
  });

  test('a login may use the keys of an agent', async () => {
    await using agent = await startAgent(place('agent'), target.privateKey ?? '');
    vi.stubEnv('SSH_AUTH_SOCK', agent.socket);
    const { privateKey: _, ...rest } = target;
    await using other = await connect({ ...rest, agent: true });
    expect(await other.output(shell`echo hello`)).toBe('hello\n');
  });

  test('a closed port is an unreachable host', async () => {
    const proxy = await startProxy(sshd.port);
    await proxy.stop();
    const connecting = connect({ ...target, port: proxy.port });
    await expectFailure(connecting, 'unreachable', 'DUT', 'ECONNREFUSED');
  });

  test('a host that drops the connection in mid-command is lost, with every command on it', async () => {
    await using proxy = await startProxy(sshd.port);
    await using behind = await connectThrough(proxy);
    const silent = failureOf(behind.run(shell`exec sleep 20`));
    const talking = behind.run(shell`echo ready; exec sleep 20`, { onStdout: proxy.drop });
    await expectFailure(talking, 'lost', 'DUT', '"echo ready; exec sleep 20"');
    expect((await silent).message).toContain('"exec sleep 20"');
    await expectFailure(behind.run(shell`true`), 'lost', 'DUT', '"true"');
  });

  test('a host that falls silent is lost when it owes its signs of life', async () => {
    await using proxy = await startProxy(sshd.port);
    await using behind = await connectThrough(proxy, { keepaliveSeconds: 0.05 });
    const running = behind.run(shell`echo ready; exec sleep 20`, { onStdout: proxy.swallow });
    await expectFailure(running, 'lost', 'DUT', 'Keepalive timeout');
  });

  test('a silent port is abandoned after the time limit', async () => {
    await using proxy = await startProxy(sshd.port);
    proxy.swallow();
    const connecting = connectThrough(proxy, { timeoutSeconds: 0.2 });
    await expectFailure(connecting, 'timeout', 'the login', 'DUT', '0.2 s');
  });

  test('a login can be cancelled', async () => {
    await using proxy = await startProxy(sshd.port);
    proxy.swallow();
    const controller = new AbortController();
    const connecting = connectThrough(proxy, { signal: controller.signal });
    await proxy.visited;
    controller.abort();
    await expectFailure(connecting, 'aborted', 'the login', 'DUT');
  });

  test('a resumed upload sends only what is not there yet', async () => {
    writeFileSync(place('whole'), `${'a'.repeat(100_000)}${'b'.repeat(3_000_000)}`);
    writeFileSync(place('resumed.part'), 'A'.repeat(100_000));
    await host.upload(place('whole'), place('resumed'), 0o640, { resume: true });
    const text = readFileSync(place('resumed'), 'utf8');
    expect(text).toBe(`${'A'.repeat(100_000)}${'b'.repeat(3_000_000)}`);
    expect(statSync(place('resumed')).mode & 0o777).toBe(0o640);
    expect(existsSync(place('resumed.part'))).toBe(false);
    // A partial file that is longer than the file is another one.
    writeFileSync(place('short'), 'short');
    writeFileSync(place('resumed.part'), 'much longer');
    await host.upload(place('short'), place('resumed'), 0o600, { resume: true });
    expect(readFileSync(place('resumed'), 'utf8')).toBe('short');
  });

  test('an interrupted upload continues over new connections', async () => {
    const bytes = randomBytes(30_000_000);
    writeFileSync(place('big'), bytes);
    const sizes: number[] = [];
    const remotePath = place('big-there');
    await using proxy = await startProxy(sshd.port);
    const dropping = dropAtGrowth(`${remotePath}.part`, proxy);
    await uploadOverBreaks(await connectThrough(proxy), {
      path: place('big'),
      remotePath,
      mode: 0o600,
      sha256: sha256(bytes),
      sumOf: sumOnHost,
      async reconnect() {
        sizes.push(statSync(`${remotePath}.part`).size);
        return host;
      },
    });
    await dropping;
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeGreaterThan(0);
    expect(sizes[0]).toBeLessThan(bytes.length);
    expect(sha256(readFileSync(remotePath))).toBe(sha256(bytes));
  });

  test('an upload over breaks that finds the beginning of another file sends all once more', async () => {
    writeFileSync(place('right'), 'right');
    writeFileSync(place('mixed.part'), 'wr');
    await uploadOverBreaks(host, {
      ...uploadOf('right', 'mixed'),
      sha256: sha256(Buffer.from('right')),
    });
    expect(readFileSync(place('mixed'), 'utf8')).toBe('right');
  });

  test('an upload over breaks is given up with the fifth connection', async () => {
    writeFileSync(place('unlucky'), 'unlucky');
    let connections = 1;
    const closed = await connect(target);
    await closed.close();
    const uploading = uploadOverBreaks(closed, {
      ...uploadOf('unlucky', 'never'),
      sha256: 'f00d',
      async reconnect() {
        connections += 1;
        return closed;
      },
    });
    await expectFailure(uploading, 'lost', 'DUT', place('never'));
    expect(connections).toBe(5);
  });

  const uploadOf = (name: string, remoteName: string) => ({
    path: place(name),
    remotePath: place(remoteName),
    mode: 0o600,
    sumOf: sumOnHost,
    reconnect: async () => host,
  });

  const place = (name: string): string => join(sshd.folder, name);

  /** The host's own name is kept, its key is pinned for the proxy's port. */
  function connectThrough(proxy: Proxy, options: ConnectOptions = {}): Promise<Host> {
    const knownHosts = sshd.knownHosts.replaceAll(`:${sshd.port} `, `:${proxy.port} `);
    return connect({ ...target, port: proxy.port, knownHosts }, options);
  }
});

const sumOnHost = async (to: Host, path: string): Promise<string> =>
  (await to.output(shell`sha256sum ${path}`)).slice(0, 64);

/** Drops the connection once the file begins to grow. */
async function dropAtGrowth(path: string, proxy: Proxy): Promise<void> {
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  await expect.poll(size, { interval: 1 }).toBeGreaterThan(0);
  proxy.drop();
}

/** The path of the next file that an upload begins in this folder. */
function partialIn(folder: string): Promise<string> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_, name) => {
      if (name?.endsWith('.part') !== true) return;
      watcher.close();
      resolve(join(folder, name));
    });
  });
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function failureOf(task: Promise<unknown>): Promise<HostError> {
  const error = await task.then(
    () => new Error('nothing failed'),
    (reason: unknown) => reason,
  );
  if (error instanceof HostError) return error;
  throw error;
}

async function expectFailure(task: Promise<unknown>, kind: HostFailure, ...words: string[]): Promise<void> {
  const error = await failureOf(task);
  expect(error.kind).toBe(kind);
  for (const word of words) expect(error.message).toContain(word);
}

/** An ssh-agent that holds one key. */
async function startAgent(socket: string, privateKey: string): Promise<{ socket: string } & AsyncDisposable> {
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  // It prints its address once it listens.
  await once(agent.stdout, 'data');
  execFileSync('ssh-add', ['-q', '-'], {
    input: privateKey,
    env: { ...process.env, SSH_AUTH_SOCK: socket },
  });
  const stop = async () => {
    agent.kill();
    await once(agent, 'exit');
  };
  return { socket, [Symbol.asyncDispose]: stop };
}

interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Settles when a client connects. */
  readonly visited: Promise<unknown>;
  drop(): void;
  /** Reads and discards everything from now on, in both directions. */
  swallow(): void;
  stop(): Promise<void>;
}

/** A proxy before sshd, for faults that sshd itself does not have. */
async function startProxy(port: number): Promise<Proxy> {
  const sockets: Socket[] = [];
  let swallowing = false;
  const server = createServer((near) => {
    const far = connectTcp(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.push(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (bytes) => swallowing || to.write(bytes));
    }
  });
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  const stop = async () => {
    drop();
    server.close();
    if (server.listening) await once(server, 'close');
  };
  const visited = once(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    visited,
    drop,
    swallow: () => {
      swallowing = true;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
