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
import { forwarding, isGivenBack, openGuests, prepare, trialOf } from '../../fakes/freebsd-guests-testbed.ts';
import { newKey } from '../../fakes/freebsd-lab/open-machine.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';
import { builderAt } from '../builder-config.ts';

const own: Variant[] = ['base', 'patched'].map((variant) => ({ variant, commit: '', files: [] }));

/** The sentence that refuses an image, without what differs from run to run. */
async function whyUnfit(options: FakeGuestsOptions, meanwhile?: (guests: FakeGuests) => void): Promise<string> {
  await using guests = fakeGuests(options);
  const testbed = await openGuests(guests);
  const preparing = prepare(testbed, [forwarding], own);
  meanwhile?.(guests);
  const error: unknown = await preparing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UsageError);
  // Nothing of it remains, even before the testbed is released.
  expect(guests.running()).toEqual([]);
  expect(guests.open).toEqual(new Set());
  await testbed.restore();
  isGivenBack(guests);
  const { path, privateKeyPath = '' } = guests.config.image;
  return `${String((error as Error).message)
    .replaceAll(privateKeyPath, 'KEY')
    .replaceAll(path, 'PATH')}\n`;
}

const withoutDhcp = 'hostname="freebsd"\nsshd_enable="YES"\n';
const onSerialLine = 'console="comconsole"\n';

test('an image without a login is reported, with what to change', async () => {
  const files = { '/etc/rc.conf': withoutDhcp };
  const unfit: Record<string, FakeGuestsOptions> = {
    'without a network': { image: { files } },
    'without a network, on the serial line': { image: { files: { ...files, '/boot/loader.conf': onSerialLine } } },
    'with another key': { says: { key: newKey() } },
  };
  const texts = await Promise.all(Object.entries(unfit).map(async ([name, of]) => `${name}: ${await whyUnfit(of)}`));
  await expect(texts.join('')).toMatchFileSnapshot('golden/unfit-image.txt');
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
  expect(why).toContain('its QEMU ended before root could log in (it said nothing)');
  expect(after - before).toBe(7);
});

describeWith(['sshd', 'ssh-keygen', 'git', 'flock', 'zstd'], 'kernels from a builder', () => {
  const pf: Cell = { scenario: 'pf-stateful', family: 'inet4' };

  test('are installed on guests and measured, with the modules that were built beside them', async () => {
    const home = mkdtempSync(join(tmpdir(), 'ppsgate-builder-'));
    await using builderHost = await startSshd(undefined, [freebsdBuilder(home).bin, process.env.PATH].join(delimiter));
    const truth = ({ ident }: { ident: string }) => (ident === 'patched' ? 9900 : 9000);
    const { repository, variants } = treesOf();
    const builder = builderOn(builderHost, repository);
    await using guests = fakeGuests({ truth, says: { builder } });
    const testbed = await openGuests(guests);
    await prepare(testbed, [pf], variants);
    const outcome = await testbed.trial(trialOf(1, 1, pf, []), async () => {}, new AbortController().signal);
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

  function builderOn(sshd: Awaited<ReturnType<typeof startSshd>>, repository: string): BuilderConfig {
    const folder = temporaryFolder();
    const [privateKeyPath, knownHostsPath] = [join(folder, 'key'), join(folder, 'known_hosts')];
    writeFileSync(privateKeyPath, sshd.privateKey, { mode: 0o600 });
    writeFileSync(knownHostsPath, sshd.knownHosts);
    const { host, port, user } = sshd;
    const { recipe, ...builder } = builderAt({ host, port, user, privateKeyPath, knownHostsPath });
    const without = { clean: true, metaMode: false, toolchain: false };
    return { ...builder, folder: join(folder, 'work'), repository, recipe: { ...recipe, ...without } as typeof recipe };
  }
});
