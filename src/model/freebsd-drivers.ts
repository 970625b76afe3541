// Lists the settings of FreeBSD's network drivers on a testbed: how to read and fix each, with its source.

export type DriverSetting = {
  ports: readonly string[];
  /** Read with sysctl(8). `PORT` and `N` stand for the port's name and number. */
  name: string;
  /** `queues` is the port's number of queues in ppsgate.yml. */
  expected: '0' | 'queues';
  /** Clause on the effect of any other value. */
  why: string;
  /** `sysctl`: with sysctl(8) at any time. Otherwise before boot, by this line of loader.conf(5). */
  fix: 'sysctl' | { loader: string };
  /** Keeps the setting permanently; absent: a line of sysctl.conf(5) does. */
  permanent?: string;
  /** Printed by sysctl(8) in place of the number. */
  alias?: string;
  /** A generator that obeys or sends pause frames slows down. */
  appliesToGenerators?: true;
  /** Some releases lack it, and need no setting. */
  isOptional?: true;
  /** Manual page, or file of FreeBSD's sources. */
  source: string;
};

const chelsio = ['cxl', 'cxgbe', 'cc'];
const holdsBack = 'a full port then holds back its senders';
const queuesDecide = 'the queues decide how many CPUs forward';

/** `hw.cxgbe.nrxq10g` is no sysctl since FreeBSD 12. em(4) keeps one `fc` for all of its ports. */
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
    ports: ['bnxt'],
    name: 'dev.PORT.N.fc.rx',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/bnxt/bnxt_en/bnxt_sysctl.c',
  },
  {
    ports: ['bnxt'],
    name: 'dev.PORT.N.fc.tx',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/bnxt/bnxt_en/bnxt_sysctl.c',
  },
  {
    ports: ['igc'],
    name: 'dev.PORT.N.fc',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/igc/if_igc.c',
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
  {
    ports: ['mxge'],
    name: 'dev.PORT.N.flow_control_enabled',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    permanent: 'hw.mxge.flow_control_enabled="0"',
    appliesToGenerators: true,
    source: 'mxge(4), sys/dev/mxge/if_mxge.c',
  },
  {
    ports: ['lio'],
    name: 'dev.PORT.N.fc',
    expected: '0',
    why: holdsBack,
    fix: 'sysctl',
    appliesToGenerators: true,
    source: 'sys/dev/liquidio/lio_sysctl.c',
  },
];

/** Fills in the port's name and number. Empty for an unknown driver. */
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

/** Virtual ports send no pause frames. */
const withoutPauseFrames = ['vtnet', 'vmx', 'ena', 'gve', 'hn', 'xn', 'epair', 'tap', 'ixv', 'iavf'];

/** Its pause frames, if it sends any, can be neither read nor fixed here. */
export const isFlowControlUnknown = (port: string): boolean =>
  !withoutPauseFrames.includes(port.replace(/\d+$/, '')) &&
  !driverSettingsOf(port).some(({ appliesToGenerators }) => appliesToGenerators);

/** Sysctls of the firmware. A Chelsio card has several ports, and a number of its own. */
export function firmwareNames(port: string): string[] {
  const [, driver = '', unit = ''] = /^(\D+)(\d+)$/.exec(port) ?? [];
  const nexus = new Map([
    ['cxgbe', 't4nex'],
    ['cxl', 't5nex'],
    ['cc', 't6nex'],
  ]).get(driver);
  if (nexus !== undefined) return [0, 1].map((card) => `dev.${nexus}.${card}.firmware_version`);
  return [driver === 'mce' ? `dev.mlx5_core.${unit}.hw.fw_version` : `dev.${driver}.${unit}.fw_version`];
}
