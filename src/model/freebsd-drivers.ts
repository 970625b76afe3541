// Lists the settings of FreeBSD's network drivers on a bench: how each is read and fixed, with its source.

export type DriverSetting = {
  /** Names of its ports, without their numbers. */
  ports: readonly string[];
  /** Read with sysctl(8); `PORT` and `N` stand for the name and the number of a port. */
  name: string;
  /** `queues` is the number that ppsgate.yml has for the port. */
  expected: '0' | 'queues';
  /** Consequence of another value: a clause. */
  why: string;
  /** With sysctl(8) at any time, or before the boot by a line of loader.conf(5) that has this name. */
  fix: 'sysctl' | { loader: string };
  /** Permanent setting, where that is no line of sysctl.conf(5). */
  permanent?: string;
  /** Value that is printed instead of the number that was set. */
  alias?: string;
  /** A sender that heeds the pause frames of others is slow, and one that sends them is no better. */
  appliesToGenerators?: true;
  /** Releases that lack it have nothing to set. */
  isOptional?: true;
  /** A manual page, or a file of FreeBSD's sources. */
  source: string;
};

const chelsio = ['cxl', 'cxgbe', 'cc'];
const holdsBack = 'a full port then holds back its senders';
const queuesDecide = 'the queues decide how many CPUs forward';

/**
 * `hw.cxgbe.nrxq10g` is no sysctl since FreeBSD 12, and one number for all ports. em(4) keeps one `fc` for what all of
 * its ports read, whichever was set: they are to be set together.
 */
export const driverSettings: readonly DriverSetting[] = [
  {
    ports: chelsio,
    name: 'dev.PORT.N.pause_settings',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    permanent: 'hw.cxgbe.pause_settings="0"',
    appliesToGenerators: true,
    source: 'cxgbe(4)',
  },
  {
    ports: chelsio,
    name: 'hw.cxgbe.toecaps_allowed',
    expected: '0',
    why: 'the card then keeps resources for TCP offload',
    fix: { loader: 'hw.cxgbe.toecaps_allowed' },
    source: 'cxgbe(4)',
  },
  {
    ports: chelsio,
    name: 'hw.cxgbe.fw_install',
    expected: '0',
    why: 'a kernel with a newer firmware in it then flashes the card, for good and for all who come later',
    fix: { loader: 'hw.cxgbe.fw_install' },
    isOptional: true,
    source: 'cxgbe(4)',
  },
  {
    ports: chelsio,
    name: 'dev.PORT.N.nrxq',
    expected: 'queues',
    why: queuesDecide,
    fix: { loader: 'hw.cxgbe.nrxq10g' },
    source: 'cxgbe(4)',
  },
  {
    ports: chelsio,
    name: 'dev.PORT.N.ntxq',
    expected: 'queues',
    why: queuesDecide,
    fix: { loader: 'hw.cxgbe.ntxq10g' },
    source: 'cxgbe(4)',
  },
  {
    ports: ['mce'],
    name: 'dev.PORT.N.rx_pauseframe_control',
    expected: '0',
    why: holdsBack,
    fix: { loader: 'dev.PORT.N.rx_pauseframe_control' },
    appliesToGenerators: true,
    source: 'sys/dev/mlx5/mlx5_en/mlx5_en_main.c',
  },
  {
    ports: ['mce'],
    name: 'dev.PORT.N.tx_pauseframe_control',
    expected: '0',
    why: holdsBack,
    fix: { loader: 'dev.PORT.N.tx_pauseframe_control' },
    appliesToGenerators: true,
    source: 'sys/dev/mlx5/mlx5_en/mlx5_en_main.c',
  },
  {
    ports: ['mce'],
    name: 'dev.PORT.N.conf.channels',
    expected: 'queues',
    why: queuesDecide,
    fix: 'sysctl',
    source: 'sys/dev/mlx5/mlx5_en/mlx5_en_ethtool.c',
  },
  {
    ports: ['igb', 'em'],
    name: 'dev.PORT.N.fc',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/e1000/if_em.c',
  },
  {
    ports: ['ix'],
    name: 'dev.PORT.N.fc',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/ixgbe/if_ix.c',
  },
  {
    ports: ['ixl'],
    name: 'dev.PORT.N.fc',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/ixl/ixl_pf_main.c',
  },
  {
    ports: ['ice'],
    name: 'dev.PORT.N.fc',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    alias: 'None',
    appliesToGenerators: true,
    source: 'ice(4)',
  },
];

/** The settings of a port, with its name and number in them; none of a driver that is not known. */
export function driverSettingsOf(port: string): DriverSetting[] {
  const [, driver = '', unit = ''] = /^(\D+)(\d+)$/.exec(port) ?? [];
  const named = (text: string) => text.replace('PORT.N', `${driver}.${unit}`);
  return driverSettings
    .filter(({ ports }) => ports.includes(driver))
    .map(({ name, fix, ...rest }) => ({
      ...rest,
      name: named(name),
      fix: fix === 'sysctl' ? fix : { loader: named(fix.loader) },
    }));
}

/** Sysctls of a card's firmware: a card of Chelsio has several ports, and a number of its own. */
export function firmwareNames(port: string): string[] {
  const [, driver = '', unit = ''] = /^(\D+)(\d+)$/.exec(port) ?? [];
  const nexus = new Map([
    ['cxgbe', 't4nex'],
    ['cxl', 't5nex'],
    ['cc', 't6nex'],
  ]).get(driver);
  if (nexus !== undefined) return [0, 1].map((card) => `dev.${nexus}.${card}.firmware_version`);
  return [
    driver === 'mce' ? `dev.mlx5_core.${unit}.hw.fw_version` : `dev.${driver}.${unit}.fw_version`,
  ];
}
