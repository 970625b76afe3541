// Builds a Linux kernel from a tree on the builder into one archive.

import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import { type BuildOutput, cleanEnvironment, type LinuxMake, type PlacedRequest, stepsOf, take } from './build-step.ts';
import { inTree } from './build-tree.ts';
import type { GuardOptions } from './guard.ts';
import { buildFolder } from './jail.ts';
import { commandsOf } from './system-commands.ts';

/** Packs `boot/vmlinuz-RELEASE`, its System.map and config, and `lib/modules/RELEASE` for depmod(8). */
export function buildLinux(
  host: Host,
  recipe: LinuxMake,
  request: PlacedRequest,
  guard: GuardOptions,
): Promise<BuildOutput> {
  return inTree(host, recipe, request, async (tree) => ({
    built: await makeKernel(host, recipe, request, tree, guard),
    isOfOld: false,
  }));
}

async function makeKernel(
  host: Host,
  recipe: LinuxMake,
  request: PlacedRequest,
  tree: string,
  guard: GuardOptions,
): Promise<BuildOutput> {
  const jobs = recipe.jobs ?? Number(await host.output(commandsOf.linux.cpus));
  const [objects, stage] = [`${tree}/obj`, `${tree}/stage`];
  // Allows only these folders: a build that could change sources would change the next build.
  for (const path of [objects, stage]) await host.output(buildFolder(request, path));
  const config = `${tree}/config`;
  await host.upload(Buffer.from(recipe.kernelConfig + nameless), config, 0o644);
  const steps = stepsOf(host, request, `${tree}/src`, guard);
  const modules = [`INSTALL_MOD_PATH=${stage}/root`, 'INSTALL_MOD_STRIP=1', 'DEPMOD=true'];
  for (const [heading, command] of [
    ['configuration', shell`cp ${config} ${`${objects}/.config`}`],
    ['make olddefconfig', make(recipe, tree, 1, ['olddefconfig'])],
    ['make bzImage modules', make(recipe, tree, jobs, ['bzImage', 'modules'])],
    ['make modules_install', make(recipe, tree, 1, [...modules, 'modules_install'])],
    ['archive', shell`sh -c ${packScript} pack ${objects} ${stage}`],
  ] as const) {
    guard.onLine(`>>> ${heading}`);
    const failed = await steps.run(command);
    if (failed !== undefined) return failed;
  }
  for (const { output } of request.layouts) await take(host, request, `${stage}/packed`, output);
  return { kind: 'built', log: steps.log, uname: undefined };
}

/** A commit in the release would give each variant its own folders, and different bytes to equal kernels. */
const nameless = '\n# CONFIG_LOCALVERSION_AUTO is not set\n';

/** Pins the builder, time and build number that a kernel contains. The last option wins, over the site's. */
const make = ({ options }: LinuxMake, tree: string, jobs: number, words: readonly string[]): Command =>
  shell`${cleanEnvironment} make -C ${`${tree}/src`} -j ${jobs} ${[
    ...options,
    `O=${tree}/obj`,
    'KBUILD_BUILD_TIMESTAMP=Thu Jan 1 00:00:00 UTC 1970',
    'KBUILD_BUILD_USER=ppsgate',
    'KBUILD_BUILD_HOST=ppsgate',
    'KBUILD_BUILD_VERSION=1',
    'LOCALVERSION=',
    ...words,
  ]}`;

/** The links `build` and `source` lead to folders of the builder. */
const packScript = `
set -e
objects=$1
stage=$2
release=$(cat "$objects/include/config/kernel.release")
mkdir -p "$stage/root/boot"
cd "$stage/root"
cp "$objects/arch/x86/boot/bzImage" "boot/vmlinuz-$release"
cp "$objects/System.map" "boot/System.map-$release"
cp "$objects/.config" "boot/config-$release"
rm -f "lib/modules/$release/build" "lib/modules/$release/source"
rm -rf "$stage/packed"
tar --zstd --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$stage/packed" .
`;
