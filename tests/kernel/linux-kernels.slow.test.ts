// Builds kernels from a tree whose makefiles have Linux's targets; gcc, make and git are this machine's own.
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type LinuxBuilder, linuxBuilderSchema } from '../../src/config/linux-builder.ts';
import { BuilderError } from '../../src/kernel/builder-error.ts';
import { type KernelSums, kernelSums } from '../../src/kernel/kernel-sums.ts';
import { buildLinuxKernel } from '../../src/kernel/linux-kernels.ts';
import { connect, type Host } from '../../src/system/host/ssh.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { linuxTree } from '../fakes/linux-tree.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';
import { startSshd } from '../fakes/sshd.ts';
import { describeWith } from '../needs.ts';

const tools = ['gcc', 'make', 'git', 'zstd', 'flock', 'bash'];
/** Debian's and Ubuntu's numbers of `nobody` and `nogroup`, FreeBSD's too. */
const nobody = 65_534;

let folder: string;
let repository: string;
let base: string;
let configPath: string;
let sums: KernelSums;
let logs: Map<string, string>;
let told: string[];

beforeEach(() => {
  folder = join(openFolder(), 'builder');
  repository = newRepository();
  base = commit(repository, linuxTree);
  configPath = join(temporaryFolder(), 'guest.config');
  writeFileSync(configPath, 'CONFIG_NET=y\nCONFIG_LOCALVERSION_AUTO=y\n');
  sums = kernelSums(temporaryFolder());
  logs = new Map();
  told = [];
});

/** A folder that every user can enter. */
function openFolder(): string {
  const path = temporaryFolder();
  chmodSync(path, 0o755);
  return path;
}

type Change = {
  builder?: LinuxBuilder;
  diff?: Buffer;
  signal?: AbortSignal;
  notify?: (text: string) => void;
  connect?: () => Promise<Host>;
};

const written = (kernel: object = {}, more: object = {}): LinuxBuilder =>
  linuxBuilderSchema.parse({
    user: 'nobody',
    folder,
    repository,
    freeSpace: '0 GB',
    kernel: { kind: 'linux', config: configPath, ...kernel },
    ...more,
  });

function build({ builder = written(), diff, signal, notify, connect: reach }: Change = {}) {
  return buildLinuxKernel(builder, {
    variant: diff === undefined ? 'base' : 'patched',
    kernel: {
      kind: 'tree',
      baseCommit: base,
      ...(diff !== undefined && { diff: diff.toString('base64') }),
    },
    path: join(temporaryFolder(), 'kernel.tar.zst'),
    owner: 'ppsgate for the tests',
    now: () => 0,
    sums,
    keepLog: async (name, text) => void logs.set(name, text),
    notify: notify ?? ((text) => told.push(text)),
    signal: signal ?? new AbortController().signal,
    connect: reach ?? (() => Promise.reject(new Error('It is built here.'))),
  });
}

async function built(change: Change = {}) {
  const kernel = await build(change);
  if (kernel.kind !== 'archive') throw new Error(kernel.rejection.message);
  return kernel;
}

async function whyRejected(change: Change) {
  const kernel = await build(change);
  return kernel.kind === 'rejected' ? kernel.rejection : kernel;
}

/** The diff that installs files over the base. */
function diffTo(files: Record<string, string>): Buffer {
  git(repository, 'switch', '--quiet', '--detach', base);
  const head = commit(repository, files);
  return execFileSync('git', ['-C', repository, 'diff', base, head]);
}

/** A patch whose makefile runs a command during the build of the kernel. */
const running = (command: string): Buffer => diffTo({ 'net/Makefile': `bzImage: own\nown: ; @${command}\n` });

const filesIn = (path: string): string[] =>
  execFileSync('tar', ['-tf', path]).toString().split('\n').filter(Boolean).toSorted();
const inArchive = (path: string, file: string): string => execFileSync('tar', ['-xOf', path, file]).toString();
const imageIn = (path: string): string => inArchive(path, './boot/vmlinuz-6.1.0');

const log = (): string => [...logs.values()].join('');
const compiled = (): string[] => log().match(/(?<=^ {2}CC {6}).+/gm) ?? [];

describeWith(['root', 'setpriv', 'unshare', ...tools], 'a kernel of Linux that is built here', () => {
  test('is the image, its symbols, its configuration and its modules, under the names of its release', async () => {
    const own = ['LOCALVERSION=-of-alice', 'KBUILD_BUILD_USER=alice', 'KBUILD_BUILD_VERSION=7'];
    const { path, sha256, cached } = await built({ builder: written({ options: own }) });
    expect(filesIn(path).filter((name) => !name.endsWith('/'))).toEqual([
      './boot/System.map-6.1.0',
      './boot/config-6.1.0',
      './boot/vmlinuz-6.1.0',
      './lib/modules/6.1.0/kernel/net/route.ko',
    ]);
    expect(inArchive(path, './boot/System.map-6.1.0')).toContain(' net_base\n');
    expect(inArchive(path, './boot/config-6.1.0')).toMatch(/^CONFIG_NET=y\n.*\nCONFIG_COMPLETED=y/s);
    expect(imageIn(path)).toMatch(/6\.1\.0 \(ppsgate@ppsgate\) #1 Thu Jan 1 00:00:00 UTC 1970\n$/);
    expect(execFileSync('sha256sum', [path]).toString()).toContain(sha256);
    expect(cached).toBe(false);
    expect(told.map((line) => line.replace(/.*>>> /, ''))).toEqual([
      ...['building the kernel of base', 'configuration', 'make olddefconfig', 'make bzImage modules'],
      ...['make modules_install', 'archive'],
    ]);
    expect([...logs.keys()]).toEqual([expect.stringMatching(/^base-kernel-[0-9a-f]{64}\.log$/)]);
    expect(compiled().toSorted()).toEqual(['net/core.o', 'net/route.o']);
  });

  test('has the same bytes for another commit without an effect, and others for another configuration', async () => {
    const { sha256 } = await built();
    const other = await built({ diff: diffTo({ README: 'Other words.\n' }) });
    expect(other).toMatchObject({ sha256, cached: false });
    writeFileSync(configPath, 'CONFIG_NET=y\nCONFIG_IPV6=y\n');
    const { path, cached } = await built();
    expect(cached).toBe(false);
    expect(inArchive(path, './boot/config-6.1.0')).toContain('CONFIG_IPV6=y\n');
    expect((await built()).cached).toBe(true);
  });

  test('that does not compile is rejected with the first errors', async () => {
    const diff = diffTo({ 'net/core.c': 'int net_patched\nint x;\n' });
    expect(await whyRejected({ diff })).toEqual({
      kind: 'build-failed',
      message: expect.stringMatching(/^net\/core\.c:1:16: error: expected .* before .int.$/),
    });
    expect(readdirSync(join(folder, 'cache'))).toEqual([]);
    expect(existsSync(join(folder, 'tree'))).toBe(false);
  });

  test('from the objects of the one before has only what differs compiled', async () => {
    const builder = written({ clean: false });
    await built({ builder });
    logs.clear();
    const { path } = await built({ builder, diff: diffTo({ 'net/core.c': 'int net_patched;\n' }) });
    expect(compiled()).toEqual(['net/core.o']);
    expect(inArchive(path, './boot/System.map-6.1.0')).toMatch(/ net_patched\n.* route_base\n/);
  });

  describe('whose patch is hostile', () => {
    // Each line is a try of a makefile: to write, to read and to send what root may, and to become root.
    test('writes, reads and sends nothing of root, finds no temporary files, and leaves nothing', async () => {
      const { port, close } = await helloOnLoopback();
      const own = [repository, join(folder, 'tree/src'), folder, join(folder, 'cache'), '/root'].map((place) =>
        join(place, 'ppsgate-own'),
      );
      const places = ['/run', '/tmp', '/var/tmp', '/dev/shm'];
      const found = places.map((place) => join(place, 'ppsgate-found'));
      const left = places.map((place) => join(place, 'ppsgate-left'));
      for (const path of found) writeFileSync(path, 'hello\n', { mode: 0o666 });
      process.env.PPSGATE_TEST_TOKEN = 'the secret';
      onTestFinished(() => {
        delete process.env.PPSGATE_TEST_TOKEN;
        close();
        for (const path of [...found, ...left]) rmSync(path, { force: true });
      });
      const tries = [
        ...own.map((place) => `touch ${place}`),
        `cat ${secretFile()}`,
        'env',
        `bash -c 'cat </dev/tcp/127.0.0.1/${port}'`,
        'grep NoNewPrivs /proc/self/status; id -u; id -G',
        'cat /proc/[0-9]*/cmdline',
        'echo devices: `ls /dev`; head -c 1 /dev/urandom >/dev/null',
        `ls -a ${places.join(' ')}; touch ${left.join(' ')}`,
        'setsid sleep 299.25 >/dev/null 2>&1 &',
      ];
      await built({ diff: running(`${tries.join('; ')} true`) });
      for (const place of own) {
        expect(log()).toMatch(new RegExp(`touch: .*${place}.*: Permission denied`));
        expect(existsSync(place)).toBe(false);
      }
      expect(log()).toMatch(/^PATH=/m);
      expect(log()).not.toMatch(/the secret|hello|vitest|ppsgate-found/);
      expect(log()).toMatch(/Network is unreachable/);
      expect(log()).toMatch(/NoNewPrivs:\t1\n65534\n65534\n/);
      expect(log()).toContain('devices: fd full null random shm stderr stdin stdout tty urandom zero\n');
      for (const place of places) expect(log()).toContain(`${place}:\n`);
      expect(left.filter((path) => existsSync(path))).toEqual([]);
      expect(runningNow('sleep 299.25')).toBe(false);
    });

    test('reaches no unix socket of this machine', async () => {
      const names = [
        '/run/ppsgate-test.sock',
        '/tmp/ppsgate-test.sock',
        '/var/tmp/ppsgate-test.sock',
        '/dev/shm/ppsgate-test.sock',
        // The folder of another service.
        '/var/lib/ppsgate-test.sock',
        '@ppsgate-test',
      ];
      const reach = join(openFolder(), 'reach.pl');
      writeFileSync(reach, reachScript);
      for (const name of names) {
        await serve(name);
        // Not execFileSync: this process is the server.
        const others = ['--reuid', `${nobody}`, '--clear-groups', 'perl', reach, name];
        const { stdout } = await promisify(execFile)('setpriv', others);
        expect(stdout).toBe(`hello from ${name}\n`);
      }
      const reaches = names.map((name) => `perl net/reach.pl ${name};`).join(' ');
      const files = {
        'net/Makefile': `bzImage: own\nown: ; @${reaches}\n`,
        'net/reach.pl': reachScript,
      };
      await built({ diff: diffTo(files) });
      for (const name of names) expect(log()).toContain(`no way to ${name}: `);
      expect(log()).not.toContain('hello');
    });

    test('does not get to the old folders by where it is started', async () => {
      const here = process.cwd();
      onTestFinished(() => process.chdir(here));
      process.chdir(openFolder());
      writeFileSync('ppsgate-found', '');
      const kernel = { kind: 'command', argv: ['sh', '-c', 'ls -a; exit 1'] };
      await whyRejected({ builder: written({}, { kernel }) });
      expect(log()).not.toContain('ppsgate-found');
    });

    test('has root neither read an image that is a link, nor wait for a pipe in place of the archive', async () => {
      const image = '$(objects)/arch/x86/boot/bzImage';
      const link = `modules_install: own\nown: ; @ln -sf ${secretFile()} ${image}\n`;
      expect(await whyRejected({ diff: diffTo({ 'net/Makefile': link }) })).toEqual({
        kind: 'build-failed',
        message: expect.stringMatching(/bzImage.*Permission denied/),
      });
      const pipe = 'modules_install: own\nown: ; @mkfifo $(INSTALL_MOD_PATH)/../packed\n';
      const modules = 'own: | $(modules)\n$(modules): ; @mkdir -p $@\n';
      await built({ diff: diffTo({ 'net/Makefile': `${pipe}${modules}` }) });
    });
  });

  test("may be built by a site's own command, in the same place", async () => {
    const script = [
      'id -un >"$(dirname "$OUTPUT")/who"',
      'echo "$BASE_COMMIT" >"$(dirname "$OUTPUT")/commit"',
      'tar -cf "$OUTPUT" -C "$(dirname "$OUTPUT")" who commit',
    ];
    const builder = written({}, { kernel: { kind: 'command', argv: ['sh', '-c', script.join('\n')] } });
    const { path } = await built({ builder });
    expect(inArchive(path, 'who')).toBe('nobody\n');
    expect(inArchive(path, 'commit')).toBe(`${base}\n`);
    expect((await built({ builder })).cached).toBe(true);
  });

  test.each([
    ['a user that is not there', 'ppsgate-nobody', /no user ppsgate-nobody/],
    ['root, under any name', '0', /0 is root/],
  ])('is not built as %s', async (_, user, why) => {
    const failed = build({ builder: { ...written(), jail: { user } } });
    await expect(failed).rejects.toThrow(BuilderError);
    await expect(failed).rejects.toThrow(why);
  });

  test('of a missing configuration is not built', async () => {
    configPath = '/nonexistent/guest.config';
    await expect(build()).rejects.toThrow(BuilderError);
  });
});

// Path on Debian.
const sftpServer = '/usr/lib/openssh/sftp-server';

describeWith(
  ['root', 'setpriv', 'sshd', 'ssh-keygen', sftpServer, ...tools],
  'a kernel of Linux that is built over ssh',
  () => {
    const there = (user: string) => written({}, { host: '127.0.0.1', user });

    test('is built as the user who logs in, and fetched', async () => {
      const become = `env --chdir=/ HOME=/ setpriv --reuid ${nobody} --regid ${nobody} --clear-groups sh`;
      await using sshd = await startSshd(sftpServer, undefined, become);
      const diff = running('id -u');
      giveToNobody();
      const change = { builder: there('nobody'), connect: () => connect(sshd) };
      const { path, sha256 } = await built({ ...change, diff });
      expect(imageIn(path)).toContain('6.1.0 (ppsgate@ppsgate)');
      expect(execFileSync('sha256sum', [path]).toString()).toContain(sha256);
      expect(log()).toContain(`\n${nobody}\n`);
      expect((await built({ ...change, diff })).cached).toBe(true);
      // Its own build could have written the sum.
      sums = kernelSums(temporaryFolder());
      expect((await built({ ...change, diff })).cached).toBe(false);
    });

    test('is not built as root', async () => {
      await using sshd = await startSshd();
      const failed = build({ builder: there('admin'), connect: () => connect(sshd) });
      await expect(failed).rejects.toThrow(/: the login user is root; name another `user`/);
    });

    function giveToNobody(): void {
      mkdirSync(folder);
      chownSync(folder, nobody, nobody);
      execFileSync('chown', ['-R', `${nobody}:${nobody}`, repository]);
    }
  },
);

/** A file of root's, in a folder that every user may enter and no build loses sight of. */
function secretFile(): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'secret');
  writeFileSync(path, 'the secret\n', { mode: 0o600 });
  return path;
}

/** Prints what a unix socket sends, or why it cannot be reached. */
const reachScript = `use Socket;
socket(my $to, PF_UNIX, SOCK_STREAM, 0) or die;
connect($to, pack("S a*", AF_UNIX, $ARGV[0] =~ s/^@/\\0/r)) or print "no way to $ARGV[0]: $!\\n" and exit;
print <$to>, "\\n";
`;

/** Serves every user `hello from` the socket's name until the test ends; `@` is an abstract one. */
async function serve(name: string): Promise<void> {
  const path = name.replace(/^@/, '\0');
  const server = createServer((socket) => socket.end(`hello from ${name}`));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, ...(path === name && { writableAll: true }) }, resolve);
  });
}

async function helloOnLoopback() {
  const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  return { port: typeof address === 'object' ? address?.port : undefined, close: () => void server.close() };
}

function runningNow(command: string): boolean {
  const processes = execFileSync('ps', ['-e', '-o', 'args='], { encoding: 'utf8' }).split('\n');
  return processes.some((line) => line.startsWith(command));
}
