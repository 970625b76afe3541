// A builder whose builds end on request: real ssh and locks, and a replacement for make.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BuilderConfig } from '../../src/config/builder.ts';
import { kernelSums } from '../../src/kernel/kernel-sums.ts';
import type { Variant } from '../../src/kernel/variant.ts';
import { connectTo } from '../../src/lab/connect.ts';
import type { KernelBuilder } from '../../src/lab/freebsd/kernels.ts';
import { freebsdBuilder } from './freebsd-builder.ts';
import { kernelArchive } from './freebsd-lab/kernel.ts';
import { commit, newRepository } from './repository.ts';
import { type Sshd, startSshd } from './sshd.ts';

export const patientBuilderNeeds = ['sshd', 'ssh-keygen', 'git', 'flock'];

export type PatientBuilder = {
  readonly config: BuilderConfig;
  readonly builder: KernelBuilder;
  /** A variant whose kernel is built from a separate commit. */
  variant(name: string): Variant;
  /** Lets this and every later build of a variant succeed, or fail with a compiler error. */
  finish(name: string, how?: 'built' | 'fails'): void;
  /** Names of the variants whose builds were begun, in order. */
  begun(): string[];
  /** Names of folders of builds that continue, or were left. */
  folders(): string[];
  /** No build runs or waits. */
  isFree(): boolean;
};

/** Starts the host of `patientBuilder`s; call `stop` when all tests are done. */
export async function startBuildHost(): Promise<Sshd & { home: string }> {
  const home = mkdtempSync(join(tmpdir(), 'ppsgate-builder-'));
  const sshd = await startSshd(undefined, [freebsdBuilder(home).bin, process.env.PATH].join(delimiter));
  const stop = async () => {
    await sshd.stop();
    rmSync(home, { recursive: true });
  };
  return { ...sshd, home, stop, [Symbol.asyncDispose]: stop };
}

/** A builder with a private folder, removed with the host. */
export function patientBuilder(host: Sshd & { home: string }): PatientBuilder {
  const home = mkdtempSync(join(host.home, 'patient-'));
  const at = (name: string) => join(home, name);
  const repository = newRepository();
  const names = new Map<string, string>();
  writeFileSync(at('key'), host.privateKey, { mode: 0o600 });
  writeFileSync(at('known_hosts'), host.knownHosts);
  writeFileSync(at('begun'), '');
  writeFileSync(
    at('build'),
    `[ "$LAYOUT" != 1 ] || echo "$BASE_COMMIT" >>${at('begun')}
until [ -e ${home}/$BASE_COMMIT ]; do sleep 0.02; done
[ -s ${home}/$BASE_COMMIT ] || { echo 'sys/net/if.c:1:2: error: pf is gone'; exit 1; }
[ "$LAYOUT" = 1 ] || BASE_COMMIT=$BASE_COMMIT.$LAYOUT
cp ${home}/$BASE_COMMIT "$OUTPUT"
`,
  );
  const config: BuilderConfig = {
    system: 'freebsd',
    host: host.host,
    port: host.port,
    user: host.user,
    privateKeyPath: at('key'),
    knownHostsPath: at('known_hosts'),
    folder: at('work'),
    repository,
    remote: 'origin',
    recipe: { kind: 'command', argv: ['sh', at('build')], kernelConfig: 'GENERIC' },
    layoutVariants: 1,
    limitSeconds: 600,
    turnSeconds: 600,
    minFreeBytes: 0,
    cache: { maxKernels: 50, maxBytes: 1e9 },
  };
  const folders = () => readdirSync(at('work/builds'));
  return {
    config,
    builder: {
      config,
      connect: () => connectTo(config, 'builder'),
      now: () => 0,
      sums: kernelSums(at('sums')),
      owner: 'a test',
    },
    variant(name) {
      const id = commit(repository, { 'sys/net/if.c': `int ${name};\n` }, {}, name);
      names.set(id, name);
      return { variant: name, commit: id, files: [], kernel: { kind: 'tree', baseCommit: id } };
    },
    finish(name, how = 'built') {
      const [id = ''] = [...names].find((entry) => entry[1] === name) ?? [];
      const built = how === 'built' ? kernelArchive({ ident: name }) : '';
      for (const layout of [2, 3, 4, 5, 6]) {
        writeFileSync(at(`${id}.${layout}`), kernelArchive({ ident: name, layout }));
      }
      writeFileSync(at('ready'), built);
      execFileSync('mv', [at('ready'), at(id)]);
    },
    begun: () =>
      readFileSync(at('begun'), 'utf8')
        .split('\n')
        .flatMap((id) => names.get(id) ?? []),
    folders,
    isFree() {
      appendFileSync(at('work/lock'), '');
      try {
        execFileSync('flock', ['-n', at('work/lock'), 'true']);
        return true;
      } catch {
        return false;
      }
    },
  };
}
