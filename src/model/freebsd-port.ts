// Derives the driver and the netmap port from the name of a FreeBSD network port.

/**
 * The interface for pkt-gen. A Chelsio port has a second, virtual one for netmap: see `hw.cxgbe.num_vis` in cxgbe(4).
 */
export const netmapPort = (name: string): string => name.replace(/^(?:cxgbe|cxl|cc)\d+$/, 'v$&');

/** Driver names as in ifconfig(8) and in the manual: `cxl` and `cxgbe`. */
export function driversOf(port: string): string[] {
  const driver = port.replace(/\d+$/, '');
  return [driver, driverOfPort[driver] ?? driver];
}

/** Drivers whose ports have another name; see section 4 of the manual. */
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
