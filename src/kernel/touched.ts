// Finds the cells that a patch can affect on a testbed, from its changed files.

import type { FreebsdBuilder } from '../config/cross-builder.ts';
import type { FreebsdTestbed } from '../config/freebsd-testbed.ts';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { FreebsdGuestsConfig } from '../config/virtual-testbed.ts';
import { driversOf } from '../model/freebsd-port.ts';
import type { Cell } from '../model/scenario.ts';
import { isOfBuild } from './kernel-sources.ts';

type TreePaths = Paths['nothing'];
type TreePath = {
  config: Pick<Config, 'paths' | 'rules' | 'testbeds'>;
  testbed: string;
};

/**
 * Returns the place (of ppsgate.yml or the tables below) that keeps a file from affecting the testbed: a driver of
 * unused ports, or files of another machine. Undefined if it may affect it: a needless measurement costs an hour, a
 * missing one hides a regression.
 */
export function placeLeftAlone(path: string, on: TreePath): string | undefined {
  const known = reachOf(path, on);
  return known.kind === 'nothing' ? known.by : undefined;
}

/** Checks that such a place does not count on the testbed. */
export function isPlaceLeftAlone(place: string, on: TreePath): boolean {
  const { nothing, drivers, machines } = pathsOn(on);
  const owned = [drivers, machines].flatMap(({ places }) => Object.values(places));
  return [nothing, ...owned].some((places) => places.includes(place));
}

/** Returns the cells that a changed file can affect; all cells for a file that may affect all. */
export function touchedCells(changed: readonly string[], cells: readonly Cell[], on: TreePath): readonly Cell[] {
  const reaches = changed.map((path) => reachOf(path, on));
  if (reaches.some(({ kind }) => kind === 'everything')) return cells;
  return cells.filter((cell) => reaches.some((reach) => reach.kind === 'cells' && reach.names.has(cell[reach.of])));
}

type Reach =
  | { kind: 'everything' }
  | { kind: 'nothing'; by: string }
  | { kind: 'cells'; of: 'scenario' | 'family'; names: ReadonlySet<string> };

function reachOf(path: string, on: TreePath): Reach {
  const { everything, nothing, drivers, machines, byScenario, byFamily } = pathsOn(on);
  const all = { kind: 'everything' } as const;
  if (placeIn(everything, path) !== undefined) return all;
  const named = placeIn(nothing, path);
  if (named !== undefined) return { kind: 'nothing', by: named };
  if (isOfBuild(path)) return all;
  for (const { places, ours } of [drivers, machines]) {
    const owners = Object.entries(places).filter(([, its]) => placeIn(its, path) !== undefined);
    const [[, its] = []] = owners;
    if (its === undefined) continue;
    const isOurs = ours === undefined || owners.some(([name]) => ours.has(name));
    return isOurs ? all : { kind: 'nothing', by: placeIn(its, path) ?? path };
  }
  for (const [of, places] of [
    ['scenario', byScenario],
    ['family', byFamily],
  ] as const) {
    const names = Object.keys(places).filter((name) => placeIn(places[name] ?? [], path));
    if (names.length > 0) return { kind: 'cells', of, names: new Set(names) };
  }
  return all;
}

const placeIn = (places: TreePaths, path: string): string | undefined => places.find((place) => isIn(place, path));

function isIn(place: string, path: string): boolean {
  if (!place.includes('*')) return place.endsWith('/') ? path.startsWith(place) : path === place;
  const pattern = place.split('*').map(RegExp.escape).join('[^/]*');
  return new RegExp(`^${pattern}${place.endsWith('/') ? '' : '$'}`).test(path);
}

// The firewalls' files in freebsd-src; sys/net/pf* would include those of pfil(9) and pfkey(4).
const pf = ['sys/netpfil/pf/', 'sys/net/pfvar.h', 'sys/net/if_pf*'];
const ipfw = ['sys/netpfil/ipfw/', 'sys/netinet/ip_fw*', 'sys/netinet6/ip_fw*'];
const firewalls = { pf, ipfw };

const chelsio = ['sys/dev/cxgbe/'];

/** Folders that belong only to the driver of these ports. A folder that two drivers share is listed for both. */
const freebsdDrivers: Paths['byDriver'] = {
  ...Object.fromEntries(['cxgbe', 'cxl', 'cc', 'che', 'cxgbev', 'cxlv', 'ccv'].map((driver) => [driver, chelsio])),
  mce: ['sys/dev/mlx5/'],
  mlxen: ['sys/dev/mlx4/'],
  ix: ['sys/dev/ixgbe/'],
  ixv: ['sys/dev/ixgbe/'],
  ixl: ['sys/dev/ixl/'],
  ixlv: ['sys/dev/ixl/', 'sys/dev/iavf/'],
  iavf: ['sys/dev/ixl/', 'sys/dev/iavf/'],
  ice: ['sys/dev/ice/'],
  em: ['sys/dev/e1000/'],
  igb: ['sys/dev/e1000/'],
  lem: ['sys/dev/e1000/'],
  igc: ['sys/dev/igc/'],
  bnxt: ['sys/dev/bnxt/'],
  ena: ['sys/dev/ena/'],
  vtnet: ['sys/dev/virtio/network/'],
  vmx: ['sys/dev/vmware/vmxnet3/'],
  // Its packets may use a card's virtual function.
  hn: ['sys/dev/hyperv/', 'sys/dev/mlx4/', 'sys/dev/mlx5/'],
};

/** Folders of kernels for a single machine, by make's TARGET. 64-bit kernels use 32-bit files, too. */
const machines: Readonly<Record<string, TreePaths>> = {
  amd64: ['sys/amd64/', 'sys/i386/', 'sys/x86/'],
  i386: ['sys/i386/', 'sys/x86/'],
  arm64: ['sys/arm64/', 'sys/arm/'],
  arm: ['sys/arm/'],
  powerpc: ['sys/powerpc/'],
  riscv: ['sys/riscv/'],
};

type Owned = {
  places: Readonly<Record<string, TreePaths>>;
  ours?: ReadonlySet<string>;
};

type KnownPaths = Pick<Paths, 'everything' | 'nothing' | 'byScenario'> & {
  drivers: Owned;
  machines: Owned;
  byFamily: Readonly<Record<string, TreePaths>>;
};

/** Paths of ppsgate.yml; FreeBSD's tables for the drivers, scenarios and families that it omits. */
function pathsOn({ config, testbed }: TreePath): KnownPaths {
  const { paths = noPaths, rules } = config;
  const of = config.testbeds[testbed];
  const isFreebsd = of?.kind === 'freebsd' || (of?.kind === 'virtual' && of.system === 'freebsd');
  if (!isFreebsd) return { ...paths, drivers: noOwners, machines: noOwners };
  const driver = of.capabilities?.nic?.driver ?? [];
  const ports = portsOf(of).flatMap(driversOf);
  const machine = machineOf(of);
  const own = Object.entries(rules).map(([name, { firewall }]) => [name, firewalls[firewall]]);
  return {
    ...paths,
    drivers: {
      places: { ...freebsdDrivers, ...paths.byDriver },
      ours: new Set(ports.concat(driver)),
    },
    machines: { places: machines, ...(machine !== undefined && { ours: new Set([machine]) }) },
    byScenario: {
      'pf-stateless': pf,
      'pf-stateful': pf,
      'ipfw-stateless': ipfw,
      'ipfw-stateful': ipfw,
      ...Object.fromEntries(own),
      ...paths.byScenario,
    },
    // Both families share headers.
    byFamily: { inet4: ['sys/netinet/*.c'], inet6: ['sys/netinet6/*.c'], ...paths.byFamily },
  };
}

/** Guests have virtio cards. */
const portsOf = (testbed: FreebsdTestbed | FreebsdGuestsConfig): string[] =>
  testbed.kind === 'virtual'
    ? ['vtnet0']
    : [testbed.dut.ingress, testbed.dut.egress].map(({ interface: name }) => name);

const noPaths: Paths = {
  everything: [],
  nothing: [],
  byDriver: {},
  byScenario: {},
  byFamily: {},
};
const noOwners: Owned = { places: {} };

/** Target machine of the kernels; undefined if the configuration does not specify it. */
function machineOf({ builder }: { builder?: FreebsdBuilder }): string | undefined {
  if (builder?.recipe.kind !== 'make') return undefined;
  if (builder.recipe.cross !== undefined) return 'amd64';
  const target = builder.recipe.options.findLast((option) => option.startsWith('TARGET='));
  const name = target?.slice('TARGET='.length);
  return name !== undefined && Object.hasOwn(machines, name) ? name : undefined;
}
