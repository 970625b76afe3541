// Rules of ppsgate.yml beyond the values of its keys, which golden.test.ts lists.
import { expect, test } from 'vitest';
import { type FreebsdTestbed, lacksAddresses } from '../../src/config/freebsd-testbed.ts';
import { parseConfig } from '../../src/config/load.ts';
import { type Config, frameBytesFor, type Traffic, whyUnfit, withFrameSize } from '../../src/config/schema.ts';

const read = (text: string): Config => parseConfig(text, { path: '/lab/ppsgate.yml', home: '/home/me' });
const parse = (text: string): Config => read(`testbeds: { here: { kind: embedded-linux } }\n${text}`);

const shelf = `testbeds:
  shelf:
    kind: freebsd
    dut: { host: dut, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:2e:e4:71", inet4: 198.18.0.110 }]
    receiver: { host: rx, interface: cxl0, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110 }
`;

test.for<[Partial<Traffic>, string]>([
  [{ runsPerTrial: 52 }, 'boots its variants'],
  [{ measureSeconds: 3 }, 'too few samples'],
  [{ flows: 65_521 }, 'sources'],
  [
    {
      packets: {
        sizes: [
          { frameBytes: 64, weight: 1 },
          { frameBytes: 1518, weight: 1 },
        ],
      },
    },
    'name one in `traffic.frameSize`',
  ],
  [{ packets: { protocol: 'tcp' } }, 'leave out `traffic.protocol`'],
  [{ packets: { ports: { source: { first: 1024, last: 65_535 } } } }, 'name one port in `traffic.ports.source`'],
  [{ flows: 100, packets: { addresses: { inet4: { destination: '203.0.113.7/32' } } } }, 'name a larger network'],
])('a FreeBSD testbed that is chosen carries no traffic like %j', ([changes, message]) => {
  const config = read(shelf);
  const traffic = { ...config.traffic, ...changes };
  expect(whyUnfit({ ...config, traffic }, 'shelf')).toContain(message);
  expect(whyUnfit(config, 'shelf')).toBeUndefined();
});

test('one port of UDP is sent by a FreeBSD testbed', () => {
  const config = read(`${shelf}traffic: { protocol: udp, ports: { destination: 53 } }`);
  expect(config.traffic).toMatchObject({ packets: { ports: { destination: { first: 53, last: 53 } } } });
  expect(whyUnfit(config, 'shelf')).toBeUndefined();
});

test('a family that is measured needs an address of each generator', () => {
  const testbed = read(shelf).testbeds.shelf as FreebsdTestbed;
  expect(lacksAddresses(testbed, ['inet4'])).toEqual([]);
  expect(lacksAddresses(testbed, ['inet4', 'inet6']).map(({ path }) => path)).toEqual([
    ['senders', 0, 'inet6'],
    ['receiver', 'inet6'],
  ]);
});

test('a mix has one form, however its sizes and weights are written', () => {
  const written =
    'traffic: { frameSize: [{ bytes: 1518B, weight: 2 }, { bytes: 594B, weight: 8 }, { bytes: 64B, weight: 14 }] }';
  expect(parse(written)).toEqual(parse('traffic: { frameSize: imix }'));
});

test('one size instead of a mix leaves its other packets as they are', () => {
  const config = parse('traffic: { frameSize: imix, protocol: tcp }');
  const one = withFrameSize(config, 128);
  expect(one.frameSizes).toEqual([128]);
  expect(one.traffic).toMatchObject({ frameBytes: 128, packets: { protocol: 'tcp' } });
  expect(one.traffic.packets).not.toHaveProperty('sizes');
});

test.each([
  ['', 0.05, 0.9],
  ['power: 99%', 0.01, 0.98],
  ['confidence: 95%', 0.025, 0.95],
  ['power: 80%, confidence: 98%', 0.01, 0.98],
  ['power: 99%, confidence: 80%', 0.01, 0.98],
])(
  'the interval is the one that the verdict rests on, the stricter of what is asked for: {%s}',
  (written, missRatio, confidenceRatio) => {
    expect(parse(`gate: { ${written} }`).gate).toMatchObject({ missRatio, confidenceRatio });
  },
);

test('a frame too small for IPv6 and UDP is 66 bytes there and as requested elsewhere', () => {
  const { traffic } = parse('traffic: { frameSize: 64 bytes }');
  expect(frameBytesFor(traffic, { family: 'inet4' })).toBe(64);
  expect(frameBytesFor(traffic, { family: 'inet6' })).toBe(66);
  expect(frameBytesFor({ ...traffic, frameBytes: 128 }, { family: 'inet6' })).toBe(128);
  const tcp = { ...traffic, packets: { protocol: 'tcp' } } as const;
  expect(frameBytesFor(tcp, { family: 'inet4' })).toBe(64);
  expect(frameBytesFor(tcp, { family: 'inet6' })).toBe(78);
});
