// Provides connections to the machines, power and consoles of FreeBSD testbeds, and a clock.

import type { HostConfig } from '../../config/fields.ts';
import type { KernelSums } from '../../kernel/kernel-sums.ts';
import type { ConnectOptions } from '../../system/host/login.ts';
import type { Host } from '../../system/host/ssh.ts';
import type { ConsoleConfig, OnOutput, OpenedConsole } from '../console/console.ts';
import type { Power, PowerConfig } from '../power/power.ts';

export type FreebsdDeps = {
  connect(host: HostConfig, label: string, options?: ConnectOptions): Promise<Host>;
  openPower(name: string, config: PowerConfig): Promise<Pick<Power, 'state' | 'cycle'>>;
  openConsole(name: string, config: ConsoleConfig, onOutput: OnOutput): Promise<OpenedConsole>;
  sleep(seconds: number): Promise<void>;
  now(): number;
  /** This machine's record of the kernels built for it. */
  kernelSums?: KernelSums;
  /** Folder of the official images that were prepared for guests; absent if there is none. */
  imagesFolder?: string;
  /** Reports work that lasts minutes, such as `booting the image …`. */
  notify?(text: string): void;
  /** Ends work that lasts minutes. */
  signal?: AbortSignal;
};

/** Longer than any command, unless a kernel has locked it up. */
const stuckSeconds = 900;

export const bounded = (host: Host, timeoutSeconds = stuckSeconds): Host => ({
  ...host,
  run: (command, options) => host.run(command, { timeoutSeconds, ...options }),
  output: (command, options) => host.output(command, { timeoutSeconds, ...options }),
});
