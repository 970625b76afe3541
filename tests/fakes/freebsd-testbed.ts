// The fake lab as a testbed of ppsgate.yml, and the dependencies to open the testbed with.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleConfig } from '../../src/config/console.ts';
import type { HostConfig } from '../../src/config/fields.ts';
import type { FreebsdTestbed, GeneratorConfig } from '../../src/config/freebsd-testbed.ts';
import type { Traffic } from '../../src/config/schema.ts';
import type { Variant } from '../../src/kernel/variant.ts';
import { connectTo } from '../../src/lab/connect.ts';
import { openConsole, realConsoleDeps } from '../../src/lab/console/console.ts';
import type { FreebsdDeps } from '../../src/lab/freebsd/freebsd-deps.ts';
import type { KeepLog, PrepareRequest } from '../../src/lab/testbed.ts';
import type { Cell } from '../../src/model/scenario.ts';
import type { SshTarget } from '../../src/system/host/login.ts';
import { leadsTo } from './freebsd-lab/direct-host.ts';
import { type KernelText, kernelArchive } from './freebsd-lab/kernel.ts';
import type { FreebsdLab } from './freebsd-lab/lab.ts';

/** Defaults of a FreeBSD testbed in ppsgate.yml. */
export const usualTraffic = {
  flows: 2000,
  frameBytes: 64,
  warmUpSeconds: 0,
  settleSeconds: 4,
  measureSeconds: 60,
  measureAtLeastSeconds: 12,
  runsPerTrial: 1,
} satisfies Traffic;

/** Keys and host keys are files in `folder`. */
export function testbedOf(lab: FreebsdLab, folder: string, changes: Partial<FreebsdTestbed> = {}): FreebsdTestbed {
  const { cabling } = lab;
  const generator = (
    { interface: name, mac }: { interface: string; mac: string },
    target: SshTarget,
    network: { inet4: string; inet6: string },
  ): GeneratorConfig => ({
    ...hostOf(target, folder),
    interface: name.replace(/^v/, ''),
    mac,
    addresses: network,
    threads: 2,
  });
  return {
    kind: 'freebsd',
    dut: {
      ...hostOf(lab.dut.target, folder),
      ingress: { interface: cabling.entries[0] ?? '' },
      egress: { interface: cabling.exit },
      boot: { method: 'nextboot', limitSeconds: 600 },
      power: { kind: 'command', on: ['true'], off: ['true'], state: ['true'] },
    },
    senders: cabling.senders.map((port, index) => ({
      ...generator(port, lab.senders[index]?.target ?? lab.receiver.target, {
        inet4: `198.18.0.${108 + index}`,
        inet6: `2001:2::${108 + index}`,
      }),
      ...(index === 0 && cabling.loopback.from !== '' && { backToBack: cabling.loopback }),
    })),
    receiver: generator(cabling.receiver, lab.receiver.target, {
      inet4: '198.19.0.108',
      inet6: '2001:2:0:8000::108',
    }),
    preflight: 'warn',
    ...changes,
  };
}

export function hostOf({ host, port, user, privateKey = '', knownHosts }: SshTarget, folder: string): HostConfig {
  const [privateKeyPath, knownHostsPath] = [`${host}.${port}.key`, `${host}.${port}.known_hosts`].map((name) =>
    join(folder, name),
  ) as [string, string];
  writeFileSync(privateKeyPath, privateKey, { mode: 0o600 });
  writeFileSync(knownHostsPath, knownHosts);
  return { host, port, user, privateKeyPath, knownHostsPath };
}

/** Console of the fake lab's DUT, in `depsOf`. */
export const labConsole: ConsoleConfig = { kind: 'command', command: ['console-of-lab'] };

/** Time, power, console and the connections to its machines are the fake lab's. */
export const depsOf = (lab: FreebsdLab): FreebsdDeps => ({
  async connect(host, label) {
    const machine = [lab.dut, ...lab.senders, lab.receiver].find(({ target }) => leadsTo(host, target));
    return machine?.connect(label) ?? connectTo(host, label, { keepaliveSeconds: 0 });
  },
  openPower: async () => lab.power,
  async openConsole(_name, config, onOutput) {
    if (config.kind !== 'command' || config.command[0] !== 'console-of-lab') {
      return openConsole('the DUT', config, onOutput, realConsoleDeps);
    }
    const { console } = lab.dut.machine;
    const leave = console.listen(onOutput);
    return { ended: new Promise<string>(() => {}), close: async () => leave() };
  },
  sleep: (seconds) => lab.clock.sleep(seconds),
  now: () => lab.clock.now(),
});

/** A variant whose kernel was built before. */
export function builtVariant(variant: string, kernel: KernelText, folder: string): Variant {
  const archive = kernelArchive(kernel);
  const path = join(folder, `${variant}.tar`);
  writeFileSync(path, archive);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  return { variant, commit: kernel.ident, files: [], kernel: { kind: 'archive', path, sha256 } };
}

export const forwarding: Cell = { scenario: 'forwarding', family: 'inet4' };

/** Prepares these variants for `forwarding`, without rules or logs. */
export const prepareRequest = (
  variants: readonly Variant[],
  changes: Partial<PrepareRequest> = {},
): PrepareRequest => ({
  variants,
  cells: [forwarding],
  rules: {},
  keepLog: async () => {},
  notify() {},
  signal: new AbortController().signal,
  ...changes,
});

/** Keeps logs by their names. */
export function keptLogs(): { logs: Map<string, string>; keepLog: KeepLog } {
  const logs = new Map<string, string>();
  return { logs, keepLog: async (name, content) => void logs.set(name, String(content)) };
}
