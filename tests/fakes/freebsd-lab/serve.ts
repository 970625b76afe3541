// Serves the FreeBSD lab to other processes: `serve.ts FOLDER` writes everything that `ppsgate gate` needs there,
// prints `ready`, and runs until its stdin ends or SIGTERM. A wait for a boot needs real time.

// Must precede every import of ssh2.
import '../../quick-ciphers.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import type { HostConfig } from '../../../src/config/fields.ts';
import type { FreebsdTestbed, GeneratorConfig } from '../../../src/config/freebsd-testbed.ts';
import { builtVariant, testbedOf } from '../freebsd-testbed.ts';
import { commit, git } from '../repository.ts';
import { type FreebsdLab, keepTime, startFreebsdLab } from './lab.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Forwarding rate of patched, as a ratio to base. */
    'patched-ratio': { type: 'string', default: '0.9' },
  },
});

const [folder] = positionals;
if (folder === undefined) throw new TypeError('serve.ts needs a folder to install its files in.');

const basePps = 5e6;
const patchedRatio = Number(values['patched-ratio']);

await using lab = await startFreebsdLab({
  truth: ({ ident }) => (ident === 'patched' ? basePps * patchedRatio : basePps),
  // So little that every order of runs has the same verdict.
  noise: { perBoot: 0.001 },
});
layFolder(resolve(folder), lab);

const over = new AbortController();
const stop = () => over.abort();
process.stdin.on('end', stop).on('error', stop).resume();
process.on('SIGTERM', stop);
process.stdout.write('ready\n');
await keepTime(lab, 10, over.signal);
process.stdin.destroy();

/** Configuration, keys, both kernels, and a repository with the patch on branch `patch` against `main`. */
function layFolder(folder: string, lab: FreebsdLab): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ppsgate.yml'), stringify(configOf(testbedOf(lab, folder), folder)));
  for (const ident of ['base', 'patched']) builtVariant(ident, { ident }, folder);

  const repository = join(folder, 'repository');
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  commit(repository, { 'sys/netinet/ip_fastfwd.c': '/* looks up once */\n' });
  git(repository, 'checkout', '--quiet', '-b', 'patch');
  commit(repository, { 'sys/netinet/ip_fastfwd.c': '/* looks up twice */\n' });
}

/** A user's configuration, with few and short runs. */
function configOf({ dut, senders, receiver }: FreebsdTestbed, folder: string) {
  return {
    testbeds: {
      shelf: {
        kind: 'freebsd',
        dut: {
          ...sshOf(dut),
          ingress: dut.ingress,
          egress: dut.egress,
          power: { kind: 'command', on: ['true'], off: ['true'], state: ['echo', 'on'] },
        },
        senders: senders.map(generatorOf),
        receiver: generatorOf(receiver),
      },
    },
    scenarios: ['forwarding'],
    families: ['inet4'],
    traffic: { measure: '10 s' },
    gate: { design: 'fixed', maxRuns: 4 },
    profile: { enabled: false },
    history: join(folder, 'history.jsonl'),
    reservations: { file: join(folder, 'reservations.sqlite') },
  };
}

function generatorOf({ addresses, interface: name, mac, threads, ...host }: GeneratorConfig) {
  return {
    ...sshOf(host),
    ...addresses,
    interface: name,
    mac,
    threads,
  };
}

function sshOf({ host, port, user, privateKeyPath, knownHostsPath }: HostConfig) {
  return {
    host,
    port,
    user,
    key: privateKeyPath,
    knownHosts: knownHostsPath,
  };
}
