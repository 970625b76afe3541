// The manual of a testbed of `kind: freebsd` in ppsgate.yml.
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type FreebsdTestbed, freebsdTestbedSchema, lacksAddresses } from '../../src/config/freebsd-testbed.ts';

type Written = Record<'dut' | 'receiver', object> & { senders: unknown };

const written = {
  kind: 'freebsd',
  dut: { host: 'dut', ingress: { interface: 'cxl0' }, egress: { interface: 'cxl1' } },
  senders: [{ host: 'tx', interface: 'cxl0', mac: '00:07:43:2e:e5:92', inet4: '198.18.0.110' }],
  receiver: { host: 'rx', interface: 'cxl0', mac: '00:07:43:2e:e5:9a', inet4: '198.19.0.110' },
} satisfies Written & { kind: string };

const [sender] = written.senders;
const secondSender = {
  host: 'tx2',
  interface: 'cxl0',
  mac: '00:07:43:2e:e5:a2',
  inet4: '198.18.0.111',
};

const parse = (change: object = {}): FreebsdTestbed => freebsdTestbedSchema.parse({ ...written, ...change });

/** `key: message` of every problem. */
const problemsOf = (change: object): string[] =>
  freebsdTestbedSchema
    .safeParse({ ...written, ...change })
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

const ofDut = (change: object) => problemsOf({ dut: { ...written.dut, ...change } });
const ofSender = (change: object) => problemsOf({ senders: [{ ...sender, ...change }] });
const ofReceiver = (change: object) => problemsOf({ receiver: { ...written.receiver, ...change } });
const ofSenders = (second: object) => problemsOf({ senders: [sender, { ...secondSender, ...second }] });

const ssh = { port: 22, user: 'root', knownHostsPath: '~/.ssh/known_hosts' };

test('a testbed is a DUT with two ports, senders and a receiver; the rest has a value that works', () => {
  expect(parse()).toEqual({
    kind: 'freebsd',
    dut: {
      host: 'dut',
      ...ssh,
      ingress: { interface: 'cxl0' },
      egress: { interface: 'cxl1' },
      boot: { method: 'nextboot', limitSeconds: 600 },
    },
    senders: [
      {
        host: 'tx',
        ...ssh,
        interface: 'cxl0',
        mac: '00:07:43:2e:e5:92',
        addresses: { inet4: '198.18.0.110' },
        threads: 1,
      },
    ],
    receiver: {
      host: 'rx',
      ...ssh,
      interface: 'cxl0',
      mac: '00:07:43:2e:e5:9a',
      addresses: { inet4: '198.19.0.110' },
      threads: 1,
    },
    preflight: 'warn',
  });
});

test('all of it may be written', () => {
  const all = parseYaml(`
kind: freebsd
dut:
  host: dut
  key: ~/.ssh/lab
  knownHosts: ./known_hosts
  ingress: { interface: mce0, speed: 40 Gbit/s, queues: 16 }
  egress: { interface: mce1, speed: 2.5Gbit/s }
  boot: { method: boot-environment, limit: 5 min }
  power: { kind: ipmi, host: bmc, user: lab, passwordFile: ./bmc }
senders:
  - { host: tx, port: 2222, user: lab, interface: ix0, mac: 00:07:43:2E:E5:92, inet4: 198.18.0.110,
      inet6: "2001:2::110", threads: 4 }
receiver: { host: rx, interface: ix0, mac: "00:07:43:2e:e5:9a", inet6: "2001:2:0:8000::110" }
builder: { host: builder }
preflight: fix
nic: { vendor: Mellanox }
cpu: { cores: 16 }
labels: [quiet]
`);
  expect(freebsdTestbedSchema.parse(all)).toMatchObject({
    dut: {
      privateKeyPath: '~/.ssh/lab',
      knownHostsPath: './known_hosts',
      ingress: { interface: 'mce0', gigabits: 40, queues: 16 },
      egress: { interface: 'mce1', gigabits: 2.5 },
      boot: { method: 'boot-environment', limitSeconds: 300 },
      power: { kind: 'ipmi', host: 'bmc', passwordPath: './bmc' },
    },
    senders: [
      {
        port: 2222,
        user: 'lab',
        mac: '00:07:43:2e:e5:92',
        addresses: { inet4: '198.18.0.110', inet6: '2001:2::110' },
        threads: 4,
      },
    ],
    receiver: { addresses: { inet6: '2001:2:0:8000::110' } },
    builder: { host: 'builder', repository: '/usr/src' },
    preflight: 'fix',
    capabilities: { nic: { vendor: 'Mellanox' }, cpu: { cores: 16 }, labels: ['quiet'] },
  });
});

test('an address becomes what ifconfig prints of it', () => {
  const senders = [{ ...sender, inet6: '2001:0002:0:0:0:0:0:0A10' }];
  expect(parse({ senders }).senders[0]?.addresses.inet6).toBe('2001:2::a10');
});

test.each(['cxl0', 'cxgbe1', 'cc0', 'mce1', 'mlxen0', 'ix1', 'igb3', 'vtnet0', 'nf10bmac0'])(
  '%s is a port of FreeBSD',
  (name) => {
    expect(ofSender({ interface: name })).toEqual([]);
  },
);

const noPort = (name: string) => `expected an Ethernet port of FreeBSD like cxl0 or mce1, found "${name}"`;

test.each([
  ['clx0', `${noPort('clx0')}; did you mean \`cxl0\`?`],
  ['mec0', `${noPort('mec0')}; did you mean \`mce0\`?`],
  ['igbb12', `${noPort('igbb12')}; did you mean \`igb12\`?`],
  ['IX0', `${noPort('IX0')}; did you mean \`ix0\`?`],
  ['eth0', noPort('eth0')],
  ['cxl', noPort('cxl')],
  ['lagg0', noPort('lagg0')],
  ['cxl0.100', noPort('cxl0.100')],
  ['$(id)0', noPort('$(id)0')],
  ['vcxl0', 'expected the port itself, `cxl0`: the generator opens `vcxl0` automatically'],
])('a DUT with the port %s is refused with the port to name', (name, problem) => {
  expect(ofDut({ egress: { interface: name } })).toEqual([`dut.egress.interface: ${problem}`]);
});

test('a port must be named', () => {
  expect(ofDut({ egress: {} })).toEqual([
    'dut.egress.interface: missing; expected an Ethernet port of FreeBSD like cxl0 or mce1',
  ]);
});

test.each([
  ['10', '10'],
  ['10 Gbps', '10 Gbps'],
  ['15 Gbit/s', '15 Gbit/s'],
])('the speed %s is not a speed of Ethernet', (speed, shown) => {
  expect(ofDut({ ingress: { interface: 'cxl0', speed } })).toEqual([
    `dut.ingress.speed: expected a speed of Ethernet like 10 Gbit/s, found "${shown}"`,
  ]);
});

test('ingress and egress are two ports', () => {
  expect(ofDut({ egress: { interface: 'cxl0' } })).toEqual([
    'dut.egress.interface: cxl0 is the ingress already; expected the port that is wired to the receiver',
  ]);
});

test.each([
  [
    { method: 'nexboot' },
    'dut.boot.method: expected one of nextboot, nanobsd, boot-environment, found "nexboot"; did you mean `nextboot`?',
  ],
  [{ limit: '10 s' }, 'dut.boot.limit: expected a duration from 1 min to 60 min, found "10 s"'],
])('booting by %j is refused', (boot, problem) => {
  expect(ofDut({ boot })).toEqual([problem]);
});

test('a setting of the DUT may be waived, with a reason', () => {
  const waive = {
    'machdep.hyperthreading_allowed': '32 queues need the threads',
    "cxl1's link": 'it is a 1 Gbit/s bench',
    'dev.cxl.0.pause_settings': 'the switch needs it',
  };
  expect(parse({ waive }).waive).toEqual(waive);
});

test.each([
  ['machdep.hyperthreading_alowed', 'unknown setting; did you mean `machdep.hyperthreading_allowed`?'],
  ['dev.mce.0.conf.channels', /^unknown setting; known here: .*dev\.cxl\.0\.nrxq/],
  ['The route to 198.19.0.0/16', /^cannot be waived: without it a trial could leave/],
  ['The blackhole route for 198.18.0.0/15', /^cannot be waived/],
  ['the MAC address of 198.19.0.110', /^cannot be waived/],
  ['The MTU of cxl0', /^cannot be waived/],
])('%s is nothing to waive', (name, message) => {
  const [problem = '', ...others] = problemsOf({ waive: { [name]: 'why not' } });
  expect(others).toEqual([]);
  expect(problem.replace(`waive.${name}: `, '')).toEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
});

test.each(['', '   ', 'one line\nand another', 'x'.repeat(201), 7])('%j is no reason', (reason) => {
  expect(problemsOf({ waive: { 'kern.boottime': reason } })).toEqual([
    expect.stringContaining('expected a reason of one line'),
  ]);
});

test('a preflight warns, fixes or fails', () => {
  expect(problemsOf({ preflight: 'fixx' })).toEqual([
    'preflight: expected one of warn, fix, fail, found "fixx"; did you mean `fix`?',
  ]);
});

const anyMac = 'a MAC address like "00:07:43:2e:e5:92"';

test.each([
  [undefined, `missing; expected ${anyMac}`],
  [7432, `expected ${anyMac}, found 7432`],
  ['00:07:43:2e:e5', `expected ${anyMac}, found "00:07:43:2e:e5"`],
  ['00-07-43-2e-e5-92', `expected ${anyMac}, found "00-07-43-2e-e5-92"`],
  ['00:00:00:00:00:00', "expected the port's own MAC address, found only zeros"],
  ['01:00:5e:00:00:01', "expected the port's own MAC address, found one of a group: its first byte is odd"],
  ['FF:ff:ff:ff:ff:ff', "expected the port's own MAC address, found one of a group: its first byte is odd"],
])('the MAC address %j is refused', (mac, problem) => {
  expect(ofReceiver({ mac })).toEqual([`receiver.mac: ${problem}`]);
});

test.each([
  [{ inet4: '198.18.0.256' }, 'inet4: expected an address of inet4 like "198.18.0.110", found "198.18.0.256"'],
  [{ inet4: '198.18.0.1/24' }, 'inet4: expected an address of inet4 like "198.18.0.110", found "198.18.0.1/24"'],
  [{ inet4: '192.0.2.1' }, 'inet4: expected an address of 198.18.0.0/16, the sender\'s network, found "192.0.2.1"'],
  [
    { inet4: '198.19.0.110' },
    'inet4: expected an address of 198.18.0.0/16, the sender\'s network, found "198.19.0.110"',
  ],
  [{ inet6: '2001:2::110%cxl0' }, 'inet6: expected an address of inet6 like "2001:2::110", found "2001:2::110%cxl0"'],
  [
    { inet6: '2001:2:0:8000::110' },
    'inet6: expected an address of 2001:2::/49, the sender\'s network, found "2001:2:0:8000::110"',
  ],
])('a sender with %j is refused', (addresses, problem) => {
  expect(ofSender(addresses)).toEqual([`senders.0.${problem}`]);
});

test("a receiver's addresses are of the upper halves", () => {
  expect(ofReceiver({ inet4: '198.18.0.110', inet6: '2001:2::110' })).toEqual([
    'receiver.inet4: expected an address of 198.19.0.0/16, the receiver\'s network, found "198.18.0.110"',
    'receiver.inet6: expected an address of 2001:2:0:8000::/49, the receiver\'s network, found "2001:2::110"',
  ]);
});

test.each([
  ['none', [], 'found none'],
  ['five', Array(5).fill(sender), 'found more'],
])('of senders there are 1 to 4, not %s', (_count, senders, found) => {
  expect(problemsOf({ senders })).toEqual([`senders: expected a list of 1 to 4 senders, ${found}`]);
});

test('one sender is a list too', () => {
  expect(problemsOf({ senders: sender })).toEqual([
    'senders: expected a list of 1 to 4 senders, found keys and values',
  ]);
});

test('two senders differ in port, MAC address and addresses', () => {
  expect(ofSenders({})).toEqual([]);
  expect(ofSenders({ ...sender, host: 'TX' })).toEqual([
    'senders.1.interface: senders[0] has cxl0 already; expected that of another port',
    'senders.1.mac: senders[0] has 00:07:43:2e:e5:92 already; expected that of another port',
    'senders.1.inet4: senders[0] has 198.18.0.110 already; expected that of another port',
  ]);
});

test('an IPv6 address is the same however it is written', () => {
  const senders = [
    { ...sender, inet6: '2001:2::110' },
    { ...secondSender, inet6: '2001:2:0:0::110' },
  ];
  expect(problemsOf({ senders })).toEqual([
    'senders.1.inet6: senders[0] has 2001:2::110 already; expected that of another port',
  ]);
});

test('sender and receiver may be two ports of one machine', () => {
  expect(ofReceiver({ host: 'tx', interface: 'cxl1' })).toEqual([]);
  expect(ofReceiver({ host: 'tx', mac: sender?.mac.toUpperCase() })).toEqual([
    'receiver.interface: senders[0] has cxl0 already; expected that of another port',
    'receiver.mac: senders[0] has 00:07:43:2e:e5:92 already; expected that of another port',
  ]);
});

test('the DUT neither sends nor receives', () => {
  expect(ofReceiver({ host: 'DUT' })).toEqual([
    'receiver.host: dut is the DUT; expected another machine as the receiver',
  ]);
});

test('machines with one name are distinguished by their ssh ports', () => {
  expect(ofReceiver({ host: 'dut', port: 2222 })).toEqual([]);
});

test('a family that is measured needs an address of each generator', () => {
  const testbed = parse({ senders: [{ ...sender, inet6: '2001:2::110' }, secondSender] });
  expect(lacksAddresses(testbed, ['inet4'])).toEqual([]);
  expect(lacksAddresses(testbed, ['inet4', 'inet6'])).toEqual([
    {
      path: ['senders', 1, 'inet6'],
      message: 'missing; `families` asks for inet6, so this sender needs an address like "2001:2::110"',
    },
    {
      path: ['receiver', 'inet6'],
      message: 'missing; `families` asks for inet6, so this receiver needs an address like "2001:2:0:8000::110"',
    },
  ]);
});

test('ports that reach each other without the DUT are two', () => {
  const joined = { from: 'cxl2', to: 'cxl3' };
  const { senders } = parse({ senders: [{ ...sender, backToBack: joined }] });
  expect(senders[0]?.backToBack).toEqual(joined);

  const itself = { from: 'cxl2', to: 'cxl2' };
  expect(ofSender({ backToBack: itself })).toEqual([]);
  expect(ofSender({ host: 'RX', interface: 'cxl1', backToBack: itself })).toEqual([
    'senders.0.backToBack.to: cxl2 is the other end already; expected another port of that machine',
  ]);
  expect(ofReceiver({ backToBack: joined })).toEqual([expect.stringContaining('backToBack')]);
});
