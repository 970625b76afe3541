// Lists the settings of a FreeBSD DUT that may be waived: all but those that keep packets on their path.
import { driverSettingsOf } from './freebsd-drivers.ts';

export const waivableSettings = (ports: readonly string[]): string[] => [
  ...general,
  ...new Set(
    ports.flatMap((port) => [
      `${port}'s LRO and TSO`,
      `${port}'s link`,
      ...driverSettingsOf(port).map(({ name }) => name),
    ]),
  ),
];

const general = [
  'debug.debugger_on_panic',
  'kern.shutdown.dumpdevname',
  'kern.random.harvest.mask',
  'machdep.hyperthreading_allowed',
  'net.isr.maxthreads',
  'net.isr.bindthreads',
  'net.inet.ip.forwarding',
  'net.inet.ip.redirect',
  'net.inet6.ip6.forwarding',
  'net.inet6.ip6.redirect',
  'kern.cp_time',
  'kern.boottime',
];

/** Takes names as in messages; see freebsd-ports.ts. */
export const isForwardingPathSetting = (name: string): boolean =>
  /^the (?:route|blackhole route|mac address|mtu) /i.test(name);
