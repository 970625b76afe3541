// The manual of ppsgate.yml: what each key takes, what it becomes, and what is said where it is wrong.
import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from '../../src/config/load.ts';
import { type Config, frameBytesFor } from '../../src/config/schema.ts';

const place = { path: '/lab/ppsgate.yml', home: '/home/me' };
const testbeds = 'testbeds: { here: { kind: embedded-linux } }';

const parse = (text: string): Config => parseConfig(`${testbeds}\n${text}`, place);

/** `key: message` of every problem. */
function problemsIn(text: string): string[] {
  try {
    parseConfig(text, place);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ key, message }) => `${key}: ${message}`);
  }
}

const problemsOf = (text: string): string[] => problemsIn(`${testbeds}\n${text}`);

test('all but the testbeds has a default', () => {
  expect(parse('')).toEqual({
    overlay: '/lab/dut',
    testbeds: { here: { kind: 'embedded-linux' } },
    scenarios: ['forwarding'],
    families: ['inet4'],
    traffic: {
      flows: 2000,
      frameBytes: 64,
      offeredPps: 3_000_000,
      warmUpSeconds: 0.5,
      settleSeconds: 0.005,
      measureSeconds: 0.03,
      runsPerBlast: 52,
    },
    gate: { metric: 'pps', marginRatio: 0.02, confidenceRatio: 0.95, runsPerVariant: 100 },
  });
});

test('a key that is set leaves the defaults of its neighbours', () => {
  expect(parse('gate: { margin: 5% }').gate).toEqual({
    ...parse('').gate,
    marginRatio: 0.05,
  });
});

test('every key of traffic has a unit, or is a count', () => {
  const written = `
traffic:
  flows: 100
  frameSize: 1518B
  rate: 14.88 Mpps
  warmUp: 12s
  settle: 0 ms
  measure: 2 min
  runsPerBlast: 8
`;
  expect(parse(written).traffic).toEqual({
    flows: 100,
    frameBytes: 1518,
    offeredPps: 14_880_000,
    warmUpSeconds: 12,
    settleSeconds: 0,
    measureSeconds: 120,
    runsPerBlast: 8,
  });
});

test('every key of gate can be set', () => {
  const written = 'gate: { metric: nsPerPacket, margin: 0.5 %, confidence: 99.5%, runs: 10 }';
  expect(parse(written).gate).toEqual({
    metric: 'nsPerPacket',
    marginRatio: 0.005,
    confidenceRatio: 0.995,
    runsPerVariant: 10,
  });
});

test('scenarios and families are lists of names', () => {
  const config = parse('scenarios: [nftables-stateful, forwarding]\nfamilies: [inet6, inet4]');
  expect(config.scenarios).toEqual(['nftables-stateful', 'forwarding']);
  expect(config.families).toEqual(['inet6', 'inet4']);
});

test('a Linux testbed is three hosts, with port 22, root and the known hosts of home', () => {
  const written = `
testbeds:
  rack-4:
    kind: linux
    sender: { host: tx.lab, interface: tx0, cpu: 0 }
    dut: { host: 192.0.2.11, ingress: in0, egress: out0.100, cpu: 1 }
    receiver: { host: "2001:db8::12", interface: rx0 }
`;
  const ssh = { port: 22, user: 'root', knownHostsPath: '/home/me/.ssh/known_hosts' };
  expect(parseConfig(written, place).testbeds).toEqual({
    'rack-4': {
      kind: 'linux',
      sender: { host: 'tx.lab', ...ssh, interface: 'tx0', cpu: 0 },
      dut: { host: '192.0.2.11', ...ssh, ingress: 'in0', egress: 'out0.100', cpu: 1 },
      receiver: { host: '2001:db8::12', ...ssh, interface: 'rx0' },
    },
  });
});

test('a host names its port, user, key and known hosts', () => {
  const host =
    'host: h, port: 2222, user: lab, key: /keys/lab, knownHosts: ./known, interface: tx0, cpu: 0';
  const written = `
testbeds:
  rack-4:
    kind: linux
    sender: { ${host} }
    dut: { host: d, ingress: a, egress: b, cpu: 1 }
    receiver: { host: r, interface: rx0 }
`;
  expect(parseConfig(written, place).testbeds['rack-4']).toMatchObject({
    sender: {
      host: 'h',
      port: 2222,
      user: 'lab',
      privateKeyPath: '/keys/lab',
      knownHostsPath: '/lab/known',
    },
  });
});

test('a frame too small for IPv6 and UDP is 66 bytes there and as asked for elsewhere', () => {
  const { traffic } = parse('traffic: { frameSize: 64 bytes }');
  expect(frameBytesFor(traffic, 'inet4')).toBe(64);
  expect(frameBytesFor(traffic, 'inet6')).toBe(66);
  expect(frameBytesFor({ ...traffic, frameBytes: 128 }, 'inet6')).toBe(128);
});

test.each([
  ['gate: { margin: 2 }', 'gate.margin: expected a percentage like 2%, found 2'],
  ['gate: { margin: 0.02 }', 'gate.margin: expected a percentage like 2%, found 0.02'],
  ['gate: { margin: }', 'gate.margin: expected a percentage like 2%, found nothing'],
  ['gate: { margin: 0% }', 'gate.margin: expected a percentage above 0% and up to 50%, found "0%"'],
  [
    'gate: { margin: 50.1% }',
    'gate.margin: expected a percentage above 0% and up to 50%, found "50.1%"',
  ],
  [
    'gate: { confidence: 97% }',
    'gate.confidence: expected one of 80%, 90%, 95%, 98%, 99%, 99.5%, found "97%"',
  ],
  ['gate: { runs: 11 }', 'gate.runs: expected a multiple of 2 from 10 to 10000, found 11'],
  ['gate: { runs: 8 }', 'gate.runs: expected a multiple of 2 from 10 to 10000, found 8'],
  ['gate: { runs: "8" }', 'gate.runs: expected a multiple of 2 from 10 to 10000, found "8"'],
  ['gate: on', 'gate: expected keys and values, found "on"'],
  ['gate:', 'gate: expected keys and values, found nothing'],
  ['traffic: { flows: 0 }', 'traffic.flows: expected a whole number from 1 to 65536, found 0'],
  [
    'traffic: { flows: 65537 }',
    'traffic.flows: expected a whole number from 1 to 65536, found 65537',
  ],
  ['traffic: { flows: 1.5 }', 'traffic.flows: expected a whole number from 1 to 65536, found 1.5'],
  [
    'traffic: { frameSize: 63B }',
    'traffic.frameSize: expected a whole number of bytes from 64 to 1518, found "63B"',
  ],
  [
    'traffic: { rate: 0.5 pps }',
    'traffic.rate: expected a whole number of pps from 1 to 1000000000, found "0.5 pps"',
  ],
  [
    'traffic: { measure: 1 ms }',
    'traffic.measure: expected a duration from 0.01 s to 600 s, found "1 ms"',
  ],
  [
    'traffic: { settle: 2 min }',
    'traffic.settle: expected a duration from 0 s to 60 s, found "2 min"',
  ],
  [
    'traffic: { runsPerBlast: 6 }',
    'traffic.runsPerBlast: expected a multiple of 4 from 4 to 1000, found 6',
  ],
  ['scenarios: forwarding', 'scenarios: expected a list like [forwarding], found "forwarding"'],
  ['families: []', 'families: expected at least one of inet4, inet6, found an empty list'],
  ['families: [inet4, inet4]', 'families: a name is in this list twice'],
  [
    'overlay: ~alice/dut',
    'overlay: expected a path (of home folders only ~/ is known), found "~alice/dut"',
  ],
])('%s is refused', (written, problem) => {
  expect(problemsOf(written)).toEqual([problem]);
});

test.each([
  ['gate: { marign: 2% }', 'gate.marign: unknown key `marign`; did you mean `margin`?'],
  [
    'traffic: { runs_per_blast: 8 }',
    'traffic.runs_per_blast: unknown key `runs_per_blast`; did you mean `runsPerBlast`?',
  ],
  ['gates: {}', 'gates: unknown key `gates`; did you mean `gate`?'],
  [
    'gate: { colour: red }',
    'gate.colour: unknown key `colour`; known here: metric, margin, confidence, runs',
  ],
  [
    'gate: { metric: nsperpacket }',
    'gate.metric: expected one of pps, nsPerPacket, found "nsperpacket"; did you mean `nsPerPacket`?',
  ],
  [
    'families: [inet4, Inet-6]',
    'families[1]: expected one of inet4, inet6, found "Inet-6"; did you mean `inet6`?',
  ],
  [
    'scenarios: [pf]',
    'scenarios[0]: expected one of forwarding, nftables-stateless, nftables-stateful, found "pf"',
  ],
])('%s is answered with the names there are', (written, problem) => {
  expect(problemsOf(written)).toEqual([problem]);
});

test.each([
  ['traffic: {}', 'testbeds: missing; expected testbeds by their names'],
  ['testbeds: {}', 'testbeds: expected at least one testbed, found none'],
  ['testbeds: [a]', 'testbeds: expected testbeds by their names, found a list'],
  [
    'testbeds: { "a b": { kind: embedded-linux } }',
    'testbeds.a b: expected a name of up to 63 letters, digits, dots, dashes and underscores',
  ],
  ['testbeds: { a: linux }', 'testbeds.a: expected keys and values, found "linux"'],
  ['testbeds: { a: {} }', 'testbeds.a.kind: missing; expected one of embedded-linux, linux'],
  [
    'testbeds: { a: { kind: embeded-linux } }',
    'testbeds.a.kind: expected one of embedded-linux, linux, found "embeded-linux"; did you mean `embedded-linux`?',
  ],
  [
    'testbeds: { a: { kind: embedded-linux, sender: {} } }',
    'testbeds.a.sender: unknown key `sender`; known here: kind',
  ],
])('%s is no inventory', (written, problem) => {
  expect(problemsIn(written)).toEqual([problem]);
});

const rackWithReceiver = (host: string) => `
testbeds:
  rack-4:
    kind: linux
    sender: { host: tx, interface: tx0, cpu: 0 }
    dut: { host: dut, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: "${host}", interface: rx0 }
`;

test.each(['rx', 'rx-4.lab.example', '192.0.2.12', '2001:db8::12', '::1', 'fe80::1%eth0'])(
  'the host %s can be reached',
  (host) => {
    expect(problemsIn(rackWithReceiver(host))).toEqual([]);
  },
);

test.each(['rx:22', 'root@rx', '-oProxyCommand=id', 'rx lab', '192.0.2.12:22', '', '$(id)'])(
  'the host %j is refused',
  (host) => {
    expect(problemsIn(rackWithReceiver(host))).toEqual([
      `testbeds.rack-4.receiver.host: expected a host name or an address, without user or port, found "${host}"`,
    ]);
  },
);

test('a host is told all that is wrong with it at once', () => {
  const written = `
testbeds:
  rack-4:
    kind: linux
    sender: { host: root@tx, port: 0, user: -l, interface: a/b, cpu: -1 }
    dut: { host: d, ingress: in0, egres: out0, cpu: 1 }
`;
  expect(problemsIn(written)).toEqual([
    'testbeds.rack-4.receiver: missing; expected keys and values',
    'testbeds.rack-4.sender.host: expected a host name or an address, without user or port, found "root@tx"',
    'testbeds.rack-4.sender.port: expected a whole number from 1 to 65535, found 0',
    'testbeds.rack-4.sender.user: expected a user name, found "-l"',
    'testbeds.rack-4.sender.interface: expected the name of a network interface like eth0, found "a/b"',
    'testbeds.rack-4.sender.cpu: expected a whole number from 0 to 8191, found -1',
    'testbeds.rack-4.dut.egress: missing; expected the name of a network interface like eth0',
    'testbeds.rack-4.dut.egres: unknown key `egres`; did you mean `egress`?',
  ]);
});
