// Images that guests cannot boot or be reached on, and kernels that come from a builder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import type { BuilderConfig } from '../../../src/config/builder.ts';
import type { Variant } from '../../../src/kernel/variant.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { freebsdBuilder } from '../../fakes/freebsd-builder.ts';
import { type FakeGuests, type FakeGuestsOptions, fakeGuests } from '../../fakes/freebsd-guests.ts';
import { forwarding, isGivenBack, openGuests, prepare } from '../../fakes/freebsd-guests-testbed.ts';
import { newKey } from '../../fakes/freebsd-lab/open-machine.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';

const own: Variant[] = ['base', 'patched'].map((variant) => ({ variant, commit: '', files: [] }));

/** The sentence that refuses an image, without its beginning and its end. */
async function whyUnfit(options: FakeGuestsOptions, meanwhile?: (guests: FakeGuests) => void): Promise<string> {
  await using guests = fakeGuests(options);
  const testbed = await openGuests(guests);
  const { path } = guests.config.image;
  const preparing = prepare(testbed, [forwarding], own);
  meanwhile?.(guests);
  const error: unknown = await preparing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  // Nothing of it remains, even before the testbed is released.
  expect(guests.running()).toEqual([]);
  expect(guests.open).toEqual(new Set());
  await testbed.restore();
  isGivenBack(guests);
  const [, why] =
    /^The image (?:\S+) cannot be used for guests: (.*); see docs\/how-to\/virtual\.md for what it needs\.$/.exec(
      String((error as Error).message).replaceAll(guests.config.image.privateKeyPath ?? '', 'KEY'),
    ) ?? [];
  return why ?? String((error as Error).message).replaceAll(path, 'PATH');
}

const withoutDhcp = 'hostname="freebsd"\nsshd_enable="YES"\n';
const firmware = 'SeaBIOS (version 1.16.2-debian-1.16.2-1) | Booting from Hard Disk...';
const onSerialLine = 'console="comconsole"\n';

test('an unreachable image is reported, with a way to make its console show more', async () => {
  const files = { '/etc/rc.conf': withoutDhcp };
  expect(await whyUnfit({ image: { files } })).toBe(
    `root could not log in within 120 s, and its console ends with "${firmware}" (set \`console="comconsole"\` in its /boot/loader.conf to see its kernel there)`,
  );
  const seen = { ...files, '/boot/loader.conf': onSerialLine };
  expect(await whyUnfit({ image: { files: seen } })).toBe(
    'root could not log in within 120 s, and its console shows a login prompt, so check its network, and ends with "Starting sshd. | FreeBSD/amd64 (freebsd) (ttyu0) | login:"',
  );
});

test('an image that refuses root reports the refused key, with the remedy', async () => {
  expect(await whyUnfit({ says: { key: newKey() } })).toBe(
    "its sshd refuses root with the key KEY: append the public half to root's authorized_keys, and set `PermitRootLogin prohibit-password` in its /etc/ssh/sshd_config",
  );
});

test('an image that switches its machine off is not waited for', async () => {
  let [before, after] = [0, 0];
  const why = await whyUnfit({}, (guests) => {
    before = guests.clock.now();
    guests.clock.after(7, () => {
      after = guests.clock.now();
      for (const copy of guests.copies) void copy.end('it said nothing');
    });
  });
  expect(why).toBe(
    'its QEMU ended before root could log in (it said nothing), for example because it powered itself off',
  );
  expect(after - before).toBe(7);
});

test('without a builder and without kernels the image’s own is what base and patched boot', async () => {
  await using guests = fakeGuests();
  const testbed = await openGuests(guests);
  await prepare(testbed, [forwarding], own);
  const runs = ['base', 'patched'].map((variant, index) => ({
    number: index + 1,
    variant,
    pair: 1,
  }));
  const planned = { number: 1, cell: forwarding, runs };
  const outcome = await testbed.trial(planned, async () => {}, new AbortController().signal);
  expect(outcome).toMatchObject({
    summary: { kernels: { base: 'FreeBSD 14.0-CURRENT #0 image', patched: expect.any(String) } },
  });
  await testbed.restore();
});

describeWith(['sshd', 'ssh-keygen', 'git', 'flock', 'zstd'], 'kernels from a builder', () => {
  const pf: Cell = { scenario: 'pf-stateful', family: 'inet4' };

  test('are installed on guests and measured, with the modules that were built beside them', async () => {
    const home = mkdtempSync(join(tmpdir(), 'ppsgate-builder-'));
    await using builderHost = await startSshd(undefined, [freebsdBuilder(home).bin, process.env.PATH].join(delimiter));
    const truth = ({ ident }: { ident: string }) => (ident === 'patched' ? 9900 : 9000);
    const { repository, variants } = treesOf();
    const builder = builderAt(builderHost, repository);
    await using guests = fakeGuests({ truth, says: { builder } });
    const testbed = await openGuests(guests);
    const logs = new Map<string, string>();
    const keepLog = async (name: string, text: string | Uint8Array) => void logs.set(name, String(text));
    await prepare(testbed, [pf], variants, { keepLog });
    const runs = variants.map(({ variant }, index) => ({ number: index + 1, variant, pair: 1 }));
    const outcome = await testbed.trial({ number: 1, cell: pf, runs }, keepLog, new AbortController().signal);
    expect(outcome).toMatchObject({
      kind: 'measured',
      summary: { kernels: { patched: 'FreeBSD 15.0-CURRENT #0 main-n1' } },
    });
    const perPacket =
      outcome.kind === 'measured'
        ? outcome.runs.map(({ instructionsPerPacket = 0 }) => Math.round(instructionsPerPacket / 100))
        : [];
    expect(perPacket).toEqual([90, 99]);
    await testbed.restore();
    isGivenBack(guests);
    rmSync(home, { recursive: true });
  });

  /** A tree with the two loaded modules, and a patch of it that needs more instructions. */
  function treesOf(): { repository: string; variants: Variant[] } {
    const repository = newRepository();
    const baseCommit = commit(repository, {
      'sys/amd64/conf/GENERIC': 'ident GENERIC\n',
      'sys/net/if.c': '#pragma ident base\n',
      'sys/modules/pf/Makefile': 'KMOD=\tpf\n',
      'sys/modules/ksyms/Makefile': 'KMOD=\tksyms\n',
    });
    writeFileSync(join(repository, 'sys/net/if.c'), '#pragma ident patched\n');
    const diff = Buffer.from(`${git(repository, 'diff')}\n`).toString('base64');
    git(repository, 'checkout', '--quiet', '.');
    const tree = { kind: 'tree', baseCommit } as const;
    const variant = (name: string, kernel: Variant['kernel']): Variant => ({
      variant: name,
      commit: name,
      files: [],
      ...(kernel !== undefined && { kernel }),
    });
    return {
      repository,
      variants: [variant('base', tree), variant('patched', { ...tree, diff })],
    };
  }

  function builderAt(
    { host, port, user, privateKey, knownHosts }: Awaited<ReturnType<typeof startSshd>>,
    repository: string,
  ): BuilderConfig {
    const folder = temporaryFolder();
    const [privateKeyPath, knownHostsPath] = [join(folder, 'key'), join(folder, 'known_hosts')];
    writeFileSync(privateKeyPath, privateKey, { mode: 0o600 });
    writeFileSync(knownHostsPath, knownHosts);
    return {
      system: 'freebsd',
      host,
      port,
      user,
      privateKeyPath,
      knownHostsPath,
      folder: join(folder, 'work'),
      repository,
      remote: 'origin',
      recipe: {
        kind: 'make',
        kernelConfig: 'GENERIC',
        clean: true,
        metaMode: false,
        toolchain: false,
        modules: 'all',
        options: [],
      },
      layoutVariants: 1,
      limitSeconds: 60,
      turnSeconds: 60,
      minFreeBytes: 0,
      cache: { maxKernels: 50, maxBytes: 1e9 },
    };
  }
});
