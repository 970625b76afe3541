// Derives the driver and the netmap port from the name of a FreeBSD network port.

/**
 * The name by which pkt-gen opens an interface: a Chelsio port has a second, virtual one for netmap, see
 * cxgbe(4) on `hw.cxgbe.num_vis`.
 */
export const netmapPort = (name: string): string => name.replace(/^(?:cxgbe|cxl|cc)\d+$/, 'v$&');

/** The names of its driver, by which ifconfig(8) and by which the manual calls it: `cxl` and `cxgbe`. */
export function driversOf(port: string): string[] {
  const driver = port.replace(/\d+$/, '');
  return [driver, driverOfPort[driver] ?? driver];
}

/** FreeBSD's drivers whose ports are called otherwise, see section 4 of its manual. */
const driverOfPort: Readonly<Record<string, string>> = {
  cxl: 'cxgbe',
  cc: 'cxgbe',
  che: 'cxgbe',
  cxlv: 'cxgbev',
  ccv: 'cxgbev',
  mce: 'mlx5en',
  mlxen: 'mlx4en',
  ix: 'ixgbe',
  ixv: 'ixgbe',
  ql: 'qlxgbe',
};
