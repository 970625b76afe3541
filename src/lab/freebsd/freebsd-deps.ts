// What a FreeBSD testbed touches of the world.

import type { HostConfig } from '../../config/fields.ts';
import type { KernelSums } from '../../kernel/kernel-sums.ts';
import type { ConnectOptions } from '../../system/host/login.ts';
import type { Host } from '../../system/host/ssh.ts';
import type { ConsoleConfig, OnOutput, OpenedConsole } from '../console/console.ts';
import type { Power, PowerConfig } from '../power/power.ts';

export type FreebsdDeps = {
  /** Throws a HostError where a machine does not let us in. */
  connect(host: HostConfig, label: string, options?: ConnectOptions): Promise<Host>;
  openPower(name: string, config: PowerConfig): Promise<Pick<Power, 'state' | 'cycle'>>;
  /** Throws a ConsoleError where it cannot be opened. */
  openConsole(name: string, config: ConsoleConfig, onOutput: OnOutput): Promise<OpenedConsole>;
  sleep(seconds: number): Promise<void>;
  /** The time in seconds since 1970. */
  now(): number;
  /** What this machine remembers of kernels that were built for it; absent: nothing. */
  kernelSums?: KernelSums;
};

/** No command takes so long, but one that a kernel has locked up. */
const stuckSeconds = 900;

/** A machine on which no command takes longer than that, where nothing else was said. */
export const bounded = (host: Host, timeoutSeconds = stuckSeconds): Host => ({
  ...host,
  run: (command, options) => host.run(command, { timeoutSeconds, ...options }),
  output: (command, options) => host.output(command, { timeoutSeconds, ...options }),
});
