import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FlowsRequest, trafgenFlows } from '../../../src/lab/traffic/flows.ts';
import { times } from '../../random.ts';

const request: FlowsRequest = {
  family: 'inet4',
  flows: 1,
  frameBytes: 64,
  sourceMac: '02:00:00:00:00:01',
  destinationMac: '02:00:00:00:00:0a',
};

/** The frames as trafgen would send them, the CRC left to the network card. */
const framesOf = (text: string): Buffer[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => Buffer.from(line.replace(/[{} ]/g, '').split(',').map(Number)));

const frames = (changes: Partial<FlowsRequest>) => framesOf(trafgenFlows({ ...request, ...changes }));

/** RFC 1071: data with its checksum in place sums up to all ones. */
function sumOf(bytes: Buffer): number {
  const even = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)]);
  let sum = 0;
  for (let offset = 0; offset < even.length; offset += 2) sum += even.readUInt16BE(offset);
  while (sum > 0xffff) sum = (sum % 0x10000) + Math.floor(sum / 0x10000);
  return sum;
}

/** Offsets of each family's addresses and UDP datagram, from the start of the frame. */
const layout = {
  inet4: { addresses: [26, 34], udp: 34, headers: 42 },
  inet6: { addresses: [22, 54], udp: 54, headers: 62 },
} as const;

const addressesOf = (frame: Buffer, family: 'inet4' | 'inet6') => frame.subarray(...layout[family].addresses);

function datagramOf(frame: Buffer, family: 'inet4' | 'inet6'): Buffer {
  const start = layout[family].udp;
  return frame.subarray(start, start + frame.readUInt16BE(start + 4));
}

/** RFC 768's and RFC 8200's come to the same sum. */
const pseudoHeader = (frame: Buffer, family: 'inet4' | 'inet6') =>
  Buffer.concat([
    addressesOf(frame, family),
    Buffer.from([0, 17]),
    frame.subarray(layout[family].udp + 4, layout[family].udp + 6),
  ]);

const anyMac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/..(?!$)/g, '$&:'),
);

const anyRequest = fc.record({
  family: fc.constantFrom('inet4', 'inet6'),
  flows: fc.integer({ min: 1, max: 300 }),
  frameBytes: fc.integer({ min: 66, max: 1518 }),
  sourceMac: anyMac,
  destinationMac: anyMac,
});

test('every flow has a frame of the requested size without the CRC, with its MAC addresses and the type of its family', () => {
  fc.assert(
    fc.property(anyRequest, (wanted) => {
      const type = wanted.family === 'inet4' ? '0800' : '86dd';
      const head = `${wanted.destinationMac}${wanted.sourceMac}`.replaceAll(':', '') + type;
      const made = frames(wanted).map((frame) => [frame.length, frame.toString('hex', 0, 14)]);
      expect(made).toEqual(Array(wanted.flows).fill([wanted.frameBytes - 4, head]));
    }),
    { numRuns: times(20) },
  );
});

test('every checksum is right, as a receiver would check it', () => {
  fc.assert(
    fc.property(anyRequest, (wanted) => {
      for (const frame of frames(wanted)) {
        const datagram = datagramOf(frame, wanted.family);
        expect(sumOf(Buffer.concat([pseudoHeader(frame, wanted.family), datagram]))).toBe(0xffff);
        expect(datagram.readUInt16BE(6)).not.toBe(0);
        if (wanted.family === 'inet4') expect(sumOf(frame.subarray(14, 34))).toBe(0xffff);
      }
    }),
    { numRuns: times(20) },
  );
});

test('TCP packets are SYN segments with a right checksum', () => {
  fc.assert(
    fc.property(anyRequest, fc.integer({ min: 78, max: 1518 }), (wanted, frameBytes) => {
      const made = frames({ ...wanted, frameBytes, packets: { protocol: 'tcp' } });
      for (const frame of made) {
        const isOld = wanted.family === 'inet4';
        const start = layout[wanted.family].udp;
        const end = isOld ? 14 + frame.readUInt16BE(16) : start + frame.readUInt16BE(18);
        const segment = frame.subarray(start, end);
        const length = Buffer.from([0, 6, segment.length >>> 8, segment.length & 0xff]);
        const pseudo = Buffer.concat([addressesOf(frame, wanted.family), length]);
        expect(frame[isOld ? 23 : 20]).toBe(6);
        expect(segment.readUInt16BE(12)).toBe(0x5002);
        expect(sumOf(Buffer.concat([pseudo, segment]))).toBe(0xffff);
        expect(frame.length).toBe(frameBytes - 4);
      }
    }),
    { numRuns: times(20) },
  );
});

test('a mix sends each size in exactly its share, evenly spread', () => {
  const sizes = [
    { frameBytes: 64, weight: 7 },
    { frameBytes: 594, weight: 4 },
    { frameBytes: 1518, weight: 1 },
  ];
  const made = frames({ flows: 2000, packets: { sizes } }).map((frame) => frame.length + 4);
  const count = (lengths: number[], bytes: number) => lengths.filter((length) => length === bytes).length;
  expect(made).toHaveLength(2004);
  for (let start = 0; start < 2004; start += 12) {
    const dozen = made.slice(start, start + 12);
    expect(sizes.map(({ frameBytes }) => count(dozen, frameBytes))).toEqual([7, 4, 1]);
  }
  expect(count(made.slice(0, 6), 594)).toBe(2);
  const ofEvenFlows = made.slice(0, 144).filter((_, index) => index % 2 === 0);
  expect(sizes.map(({ frameBytes }) => count(ofEvenFlows, frameBytes))).toEqual([42, 24, 6]);
});

test('every flow is in a mix', () => {
  const size = fc.record({ frameBytes: fc.integer({ min: 64, max: 1518 }), weight: fc.integer({ min: 1, max: 9 }) });
  const anySizes = fc.uniqueArray(size, { minLength: 2, maxLength: 10, selector: ({ frameBytes }) => frameBytes });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), anySizes, (flows, sizes) => {
      const made = frames({ flows, packets: { sizes } });
      expect(new Set(made.map((frame) => addressesOf(frame, 'inet4').toString('hex'))).size).toBe(flows);
      expect(made.length % sizes.reduce((sum, { weight }) => sum + weight, 0)).toBe(0);
    }),
    { numRuns: times(20) },
  );
});

test('flows take the ports of a range in turn', () => {
  const source = { first: 65_533, last: 65_535 };
  const packets = { ports: { source, destination: { first: 53, last: 53 } } };
  const made = frames({ flows: 4, packets });
  const pairs = made.map((frame) => [frame.readUInt16BE(34), frame.readUInt16BE(36)]);
  expect(pairs).toEqual([65_533, 65_534, 65_535, 65_533].map((port) => [port, 53]));
});

test.for(['inet4', 'inet6'] as const)(
  'no two flows of %s have the same addresses, up to the most there may be',
  (family) => {
    const addresses = frames({ family, flows: 65_536, frameBytes: 66 }).map((frame) =>
      addressesOf(frame, family).toString('hex'),
    );
    expect(new Set(addresses).size).toBe(65_536);
  },
);

test('flows of IPv6 are in 2001:2::/49 and 2001:2:0:8000::/49', () => {
  const [first = Buffer.alloc(0)] = frames({ family: 'inet6', frameBytes: 66 });
  expect(addressesOf(first, 'inet6').toString('hex')).toBe(
    '20010002000000000000000000' + '0a0001' + '20010002000080000000000000' + '0a0001',
  );
});

test("each flow has a pair of addresses of the site's networks", () => {
  const inet4 = { source: '192.168.1.16/28', destination: '203.0.113.0/24' };
  const pairs = frames({ flows: 2000, packets: { addresses: { inet4 } } }).map((frame) => [
    frame.subarray(26, 30).join('.'),
    frame.subarray(30, 34).join('.'),
  ]);
  expect(new Set(pairs.map(String)).size).toBe(2000);
  const sources = [...new Set(pairs.map(([source]) => source))];
  expect(sources).toEqual(Array.from({ length: 14 }, (_, index) => `192.168.1.${17 + index}`));
  const isHost = /^203\.0\.113\.([1-9]|\d\d|1\d\d|2[0-4]\d|25[0-4])$/;
  expect(pairs.filter(([, destination = '']) => !isHost.test(destination))).toEqual([]);
});
