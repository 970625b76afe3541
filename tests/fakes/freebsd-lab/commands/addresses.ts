// Computes with addresses of interfaces, as in the lines of ifconfig(8).

export const maskOf = (bits: number): number => (bits === 0 ? 0 : -1 << (32 - bits));

export const numberOf = (address: string): number =>
  address.split('.').reduce((sum, byte) => (sum << 8) | Number(byte), 0);

export const dotted = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');

/** Context of an `inet …` or `inet6 …` line of ifconfig(8). */
export function networkOf(line: string): string {
  const [family, address = '', , bits] = line.split(' ');
  if (family === 'inet6') {
    const [, prefix, zone = ''] = /^(.*?)::[^%]*(%.*)?$/.exec(address) ?? [];
    return `${prefix ?? address}::${zone}/${bits}`;
  }
  const mask = Number(bits);
  const length = (mask >>> 0).toString(2).replaceAll('0', '').length;
  return `${dotted(numberOf(address) & mask)}/${length}`;
}
