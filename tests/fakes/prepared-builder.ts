// A builder whose own command returns prepared kernels, or fails, and the repository of its patch.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuilderConfig } from '../../src/config/builder.ts';
import type { Repository } from '../../src/forge/patch/repository.ts';
import { temporaryFolder } from './folder.ts';
import { commit, newRepository } from './repository.ts';
import type { Sshd } from './sshd.ts';

export type Builds = {
  diff?: string;
  base?: 'fails' | 'finds a full disk';
  patched?: 'fails' | 'finds a full disk';
  isAway?: true;
};

export const diffOf = (from: string, to: string): string =>
  [
    'diff --git a/sys/net/if.c b/sys/net/if.c',
    '--- a/sys/net/if.c',
    '+++ b/sys/net/if.c',
    '@@ -1 +1 @@',
    `-${from}`,
    `+${to}`,
    '',
  ].join('\n');

export function builderOf(
  { diff = diffOf('int if_base;', 'int if_patched;'), base, patched, isAway }: Builds,
  kernels: { base: string; patched: string },
  { host, port, user, privateKey, knownHosts }: Sshd,
  folder: string,
): { config: BuilderConfig; repository: Repository } {
  const clone = newRepository();
  const commitId = commit(clone, { 'sys/net/if.c': 'int if_base;\n' });
  const [keyPath, knownHostsPath, script] = ['key', 'known_hosts', 'build.sh'].map((name) =>
    join(folder, `builder-${name}`),
  ) as [string, string, string];
  writeFileSync(keyPath, privateKey, { mode: 0o600 });
  writeFileSync(knownHostsPath, knownHosts);
  const words = {
    fails: "echo 'sys/net/if.c:1:2: error: pf is gone'; exit 1",
    'finds a full disk': "echo 'No space left on device'; exit 1",
  };
  const step = (kernel: string, fault: keyof typeof words | undefined) =>
    fault === undefined ? `cp '${kernel}' "$OUTPUT"` : words[fault];
  writeFileSync(
    script,
    `if [ -z "$DIFF" ]; then ${step(kernels.base, base)}; else ${step(kernels.patched, patched)}; fi\n`,
  );
  const config: BuilderConfig = {
    system: 'freebsd',
    host,
    port: isAway ? 1 : port,
    user,
    privateKeyPath: keyPath,
    knownHostsPath,
    folder: temporaryFolder(),
    repository: clone,
    remote: 'origin',
    recipe: { kind: 'command', argv: ['sh', script], kernelConfig: 'GENERIC' },
    layoutVariants: 1,
    limitSeconds: 600,
    turnSeconds: 600,
    minFreeBytes: 0,
    cache: { maxKernels: 50, maxBytes: 1e9 },
  };
  return { config, repository: repositoryOf(commitId, diff) };
}

export const repositoryOf = (base: string, diff: string): Repository => ({
  resolve: async (name) => name,
  mergeBase: async (first) => base || first,
  pathOf: async ({ path }) => path,
  list: async () => [],
  entriesAt: async () => [],
  read: async () => '',
  idAt: async () => undefined,
  changedPaths: async () => ['sys/net/if.c'],
  diff: async () => Buffer.from(diff),
  describe: async () => ({ subject: 'Drop protocol 254 early', author: 'alice' }),
});
