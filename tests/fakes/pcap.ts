// Writes captures as tcpdump(8) would, and some that it would not.

type PcapOptions = {
  order?: 'little' | 'big';
  link?: number;
  /** Bytes that each packet lacks. */
  missing?: number;
};

export function aPcap(frames: readonly Buffer[], options: PcapOptions = {}): Buffer {
  const { order = 'little', link = 1, missing = 0 } = options;
  const numbers = (...all: number[]): Buffer => {
    const bytes = Buffer.alloc(4 * all.length);
    for (const [index, value] of all.entries()) {
      if (order === 'little') bytes.writeUInt32LE(value, 4 * index);
      else bytes.writeUInt32BE(value, 4 * index);
    }
    return bytes;
  };
  const version = order === 'little' ? 0x0004_0002 : 0x0002_0004;
  return Buffer.concat([
    numbers(0xa1b2c3d4, version, 0, 0, 262_144, link),
    ...frames.flatMap((frame) => [numbers(0, 0, frame.length, frame.length + missing), frame]),
  ]);
}

export const ethernetFrame = (type: number, packet: Buffer): Buffer =>
  Buffer.concat([Buffer.alloc(12, 0xee), Buffer.from([type >>> 8, type & 0xff]), packet]);

const datagram = (from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16BE(from, 0);
  bytes.writeUInt16BE(to, 2);
  bytes.writeUInt16BE(8, 4);
  bytes.writeUInt16BE(1, 6);
  return bytes;
};

/** A DNS request without content from 10.0.0.HOST to 192.0.2.53; its checksums are wrong, as before an offload. */
export function udp4(host = 1, port = 53): Buffer {
  const header = Buffer.from([0x45, 0, 0, 28, 0, 0, 0x40, 0, 3, 17, 0, 0, 10, 0, 0, host]);
  const destination = Buffer.from([192, 0, 2, 53]);
  return ethernetFrame(0x0800, Buffer.concat([header, destination, datagram(40_000, port)]));
}

export function udp6(): Buffer {
  const header = Buffer.from([0x60, 0, 0, 0, 0, 8, 17, 3]);
  const addresses = Buffer.alloc(32, 0x20);
  return ethernetFrame(0x86dd, Buffer.concat([header, addresses, datagram(40_000, 53)]));
}
