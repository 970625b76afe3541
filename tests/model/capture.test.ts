import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flowOf, maxCaptureBytes, parseCapture } from '../../src/model/capture.ts';
import { aPcap, ethernetFrame, udp4, udp6 } from '../fakes/pcap.ts';
import { times } from '../random.ts';

const whyRefused = (file: Buffer): string => {
  const read = parseCapture(file);
  return read.kind === 'refused' ? read.why : expect.fail('It is read.');
};

const packetsOf = (file: Buffer) => {
  const read = parseCapture(file);
  return read.kind === 'read' ? read.packets : expect.fail(read.why);
};

test.for(['little', 'big'] as const)('packets of a %s-endian file are read in order', (order) => {
  const packets = packetsOf(aPcap([udp4(), udp6()], { order }));
  expect(packets.map(({ family, protocol }) => [family, protocol])).toEqual([
    ['inet4', 17],
    ['inet6', 17],
  ]);
});

test('padding of Ethernet is no part of a packet', () => {
  const [packet] = packetsOf(aPcap([Buffer.concat([udp4(), Buffer.alloc(30)])]));
  expect(packet?.bytes).toHaveLength(28);
});

test('frames without IP, fragments and extension headers are left out', () => {
  const fragment = udp4();
  fragment.writeUInt16BE(0x2000, 14 + 6);
  const hopByHop = udp6();
  hopByHop[14 + 6] = 0;
  const arp = ethernetFrame(0x0806, Buffer.alloc(28));
  expect(packetsOf(aPcap([arp, fragment, udp4(), hopByHop]))).toHaveLength(1);
});

test.for<[string, (packet: Buffer) => unknown]>([
  ['longer than its frame', (packet) => packet.writeUInt16BE(1000, 14 + 2)],
  ['shorter than its header', (packet) => packet.writeUInt16BE(19, 14 + 2)],
  ['of another version', (packet) => packet.writeUInt8(0x65, 14)],
  ['with a header of less than 20 bytes', (packet) => packet.writeUInt8(0x44, 14)],
  ['with half of a TCP header', (packet) => packet.writeUInt8(6, 14 + 9)],
])('a packet %s is left out', ([, change]) => {
  const strange = udp4();
  change(strange);
  expect(packetsOf(aPcap([strange, udp4()]))).toHaveLength(1);
});

// Attack forge/capture: A malformed capture sends other packets than it holds. Defence: The parser compares each number
// with the bytes that are there, and refuses the file by name.
test.for<[string, Buffer, string]>([
  ['cut within a packet', aPcap([udp4()]).subarray(0, -1), 'ends within packet 1: copy it again'],
  ['cut within a record', aPcap([udp4(), udp4()]).subarray(0, 92), 'ends within packet 2'],
  ['with half a packet', aPcap([udp4()], { missing: 1 }), 'has packet 1 only in part'],
  ['of nothing', Buffer.alloc(0), 'is too short for a pcap file'],
  ['of text', Buffer.alloc(100, 'x'), 'is no pcap file: write one with `tcpdump -w`'],
  ['of pcapng', Buffer.concat([Buffer.from('0a0d0d0a', 'hex'), Buffer.alloc(28)]), 'editcap'],
  ['of another link', aPcap([udp4()], { link: 101 }), 'has the link type 101, and not Ethernet'],
  ['of a frame too long', aPcap([Buffer.alloc(1515)]), 'has a packet 1 of 1515 bytes'],
  ['of too many bytes', Buffer.alloc(maxCaptureBytes + 1), 'keep fewer packets'],
  ['of too many packets', aPcap(new Array(20_001).fill(udp4())), 'has more than 20000 packets'],
  ['without IP', aPcap([ethernetFrame(0x0806, Buffer.alloc(28))]), 'has no whole packet'],
])('a capture %s is refused', ([, file, why]) => {
  expect(whyRefused(file)).toContain(why);
});

// Attack forge/capture
test('no bytes of a capture make its reader throw', () => {
  const valid = aPcap([udp4(), udp6(), udp4()]);
  const anyChange = fc.tuple(fc.nat(valid.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 8 }), fc.nat(valid.length), (changes, end) => {
      const file = Buffer.from(valid.subarray(0, end));
      for (const [at, value] of changes) if (at < end) file[at] = value;
      const read = parseCapture(file);
      if (read.kind === 'read') for (const packet of read.packets) flowOf(packet);
    }),
    { numRuns: times(300) },
  );
});
