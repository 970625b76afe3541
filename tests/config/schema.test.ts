// Documents ppsgate.yml by tests: the values of each key, their results, and the errors.
import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from '../../src/config/load.ts';
import { type Config, frameBytesFor, type Traffic, whyUnfit, withFrameSize } from '../../src/config/schema.ts';

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

test('a wrong key in a list of frame sizes is named, with its place', () => {
  const written = 'traffic: { frameSize: [{ size: 64B, weight: 7 }, { bytes: 128B, weigth: 1 }] }';
  expect(problemsOf(written)).toEqual(
    expect.arrayContaining([
      'traffic.frameSize[0].size: unknown key `size`; did you mean `bytes`?',
      'traffic.frameSize[1].weigth: unknown key `weigth`; did you mean `weight`?',
    ]),
  );
});

test('packets may have the networks of a site, each in one form', () => {
  const written =
    'traffic: { addresses: { inet4: { destination: 203.0.113.7 }, inet6: { source: "2001:DB8:0::/64" } } }';
  expect(parse(written).traffic.packets).toEqual({
    addresses: {
      inet4: { destination: '203.0.113.7/32' },
      inet6: { source: '2001:db8::/64' },
    },
  });
});

test('An overlay may map the interfaces that its files name.', () => {
  expect(parse('overlay: { interfaces: { eth0: ingress, wg0: unused } }').overlay).toEqual({
    path: 'dut',
    beside: '/lab',
    interfaces: { eth0: 'ingress', wg0: 'unused' },
  });
  expect(parse('overlay: { folder: etc, interfaces: { br-lan: egress } }').overlay).toMatchObject({
    path: 'etc',
  });
});

test('the overlay may be files of any place', () => {
  expect(parse('overlay: { files: { nftables.conf: etc/nftables.conf } }').overlay).toEqual({
    files: { 'nftables.conf': 'etc/nftables.conf' },
    beside: '/lab',
  });
});

test('all but the testbeds has a default', () => {
  expect(parse('')).toEqual({
    overlay: { path: 'dut', beside: '/lab' },
    testbeds: { here: { kind: 'embedded-linux' } },
    scenarios: ['forwarding'],
    rules: {},
    families: ['inet4'],
    traffic: {
      flows: 2000,
      frameBytes: 64,
      offeredPps: 3_000_000,
      warmUpSeconds: 0.5,
      settleSeconds: 0.005,
      measureSeconds: 0.03,
      measureAtLeastSeconds: 0.03,
      runsPerTrial: 52,
    },
    gate: {
      metric: 'pps',
      marginRatio: 0.02,
      confidenceRatio: 0.9,
      falseAlarmRatio: 0.01,
      missRatio: 0.05,
    },
    profile: { seconds: 1.8 },
    history: '/home/me/.local/state/ppsgate/history.jsonl',
    reservations: {
      store: 'sqlite',
      path: '/home/me/.local/state/ppsgate/reservations.sqlite',
      leaseSeconds: 30,
    },
    github: {
      people: [],
      label: 'ppsgate',
      undecided: 'failure',
      unasked: 'none',
      status: false,
      data: {
        branch: 'ppsgate-data',
        keep: { results: 1000, seconds: 31_536_000, bytes: 104_857_600 },
        staleSeconds: 2_592_000,
      },
    },
    trend: { bisect: false, issues: true },
  });
});

test('a key that is set leaves the defaults of its neighbours', () => {
  expect(parse('gate: { margin: 5% }').gate).toEqual({
    ...parse('').gate,
    marginRatio: 0.05,
  });
});

test('a run that has a trial of its own may end between two bounds', () => {
  const { traffic } = parse('traffic: { measure: 1 min, measureAtLeast: 10 s, runsPerTrial: 1 }');
  expect(traffic).toMatchObject({ measureSeconds: 60, measureAtLeastSeconds: 10, runsPerTrial: 1 });
});

const read = (text: string): Config => parseConfig(text, place);

const shelf = `testbeds:
  shelf:
    kind: freebsd
    dut: { host: dut, ingress: { interface: cxl0 }, egress: { interface: cxl1 } }
    senders: [{ host: tx, interface: cxl0, mac: "00:07:43:2e:e4:71", inet4: 198.18.0.110 }]
    receiver: { host: rx, interface: cxl0, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110 }
`;

test('a FreeBSD testbed is measured for up to a minute, a boot for each run, as fast as the sender can', () => {
  expect(read(shelf).traffic).toEqual({
    flows: 2000,
    frameBytes: 64,
    warmUpSeconds: 0,
    settleSeconds: 4,
    measureSeconds: 60,
    measureAtLeastSeconds: 12,
    runsPerTrial: 1,
  });
});

test('several sizes of frames are kept beside the first', () => {
  const config = read(`${shelf}traffic: { frameSizes: [64 bytes, 1518 bytes] }`);
  expect(config).toMatchObject({ frameSizes: [64, 1518], traffic: { frameBytes: 64 } });
});

test('a site’s own rules are a scenario of its FreeBSD testbeds', () => {
  const rules = 'rules: { office: { firewall: pf, file: office.conf } }\nscenarios: [office]';
  expect(read(`${shelf}${rules}`)).toMatchObject({
    scenarios: ['office'],
    rules: { office: { firewall: 'pf', path: '/lab/office.conf', keepsStates: false } },
  });
});

test.for([
  ['scenarios: [nftables-stateful]', 'scenarios[0]: expected one of forwarding, pf-stateless,'],
  ['scenarios: [offise]\nrules: { office: { firewall: pf, file: x } }', 'did you mean `office`?'],
  ['rules: { forwarding: { firewall: pf, file: x } }', 'ppsgate has a scenario of that name'],
  ['families: [inet6]', 'testbeds.shelf.senders[0].inet6: missing; `families` asks for inet6'],
  ['traffic: { frameSize: 64B, frameSizes: [64B] }', 'instead of `frameSize`, not beside it'],
  ['traffic: { frameSizes: [63B] }', 'traffic.frameSizes[0]: expected a whole number of bytes'],
] as const)('on a FreeBSD testbed %s is refused', ([text, message]) => {
  expect(() => read(`${shelf}${text}`)).toThrow(message);
});

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
  [{ packets: { protocol: 'tcp' } }, 'shelf sends with pkt-gen, which has UDP only: leave out `traffic.protocol`'],
  [{ packets: { ports: { source: { first: 1024, last: 65_535 } } } }, 'name one port in `traffic.ports.source`'],
])('a FreeBSD testbed that is chosen carries no traffic like %j', ([changes, message]) => {
  const config = read(shelf);
  const traffic = { ...config.traffic, ...changes };
  expect(whyUnfit({ ...config, traffic }, 'shelf')).toContain(message);
  expect(whyUnfit(config, 'shelf')).toBeUndefined();
});

test('a testbed that counts no instructions is not judged by them', () => {
  const config = read('testbeds: { lab: { kind: embedded-linux } }\ngate: { metric: instructionsPerPacket }');
  expect(whyUnfit(config, 'lab')).toBe(
    'lab counts no instructionsPerPacket, unlike virtual testbeds with `accelerator: tcg`: judge it by pps or nsPerPacket.',
  );
});

test('one port of UDP is sent by a FreeBSD testbed', () => {
  const config = read(`${shelf}traffic: { protocol: udp, ports: { destination: 53 } }`);
  const packets = { ports: { destination: { first: 53, last: 53 } } };
  expect(config.traffic).toMatchObject({ packets });
  expect(whyUnfit(config, 'shelf')).toBeUndefined();
});

test('UDP without ports is the usual traffic', () => {
  expect(parse('traffic: { protocol: udp, ports: {} }').traffic).toEqual(parse('').traffic);
});

test('a Linux testbed sends TCP to ranges of ports', () => {
  const { traffic } = parse('traffic: { protocol: tcp, ports: { source: 1024-65535, destination: 443 } }');
  expect(traffic.packets).toEqual({
    protocol: 'tcp',
    ports: { source: { first: 1024, last: 65_535 }, destination: { first: 443, last: 443 } },
  });
});

test('imix is the sizes 64, 594 and 1518 as 7 to 4 to 1', () => {
  const { traffic } = parse('traffic: { frameSize: imix }');
  expect(traffic).toMatchObject({
    frameBytes: 362,
    packets: {
      sizes: [
        { frameBytes: 64, weight: 7 },
        { frameBytes: 594, weight: 4 },
        { frameBytes: 1518, weight: 1 },
      ],
    },
  });
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

test('a FreeBSD testbed routes no network of one address', () => {
  const config = read(`${shelf}traffic: { flows: 100, addresses: { inet4: { destination: 203.0.113.7 } } }`);
  expect(whyUnfit(config, 'shelf')).toBe(
    'shelf routes the halves of a network, and 203.0.113.7/32 has one address: name a larger network in `traffic.addresses`.',
  );
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
  runsPerTrial: 8
`;
  expect(parse(written).traffic).toEqual({
    flows: 100,
    frameBytes: 1518,
    offeredPps: 14_880_000,
    warmUpSeconds: 12,
    settleSeconds: 0,
    measureSeconds: 120,
    measureAtLeastSeconds: 120,
    runsPerTrial: 8,
  });
});

test('every key of github can be set', () => {
  const written = `
github:
  people: [alice, "renovate[bot]"]
  label: measure this
  undecided: neutral
  unasked: neutral
  status: true
  data:
    branch: bench/results
    directory: results
    pages: https://example.github.io/router/
    keep: { results: 20, age: 90 d, size: 10 MiB }
    stale: 7 d
`;
  expect(parse(written).github).toEqual({
    people: ['alice', 'renovate[bot]'],
    label: 'measure this',
    undecided: 'neutral',
    unasked: 'neutral',
    status: true,
    data: {
      branch: 'bench/results',
      directory: '/lab/results',
      pages: 'https://example.github.io/router',
      keep: { results: 20, seconds: 7_776_000, bytes: 10_485_760 },
      staleSeconds: 604_800,
    },
  });
});

test('a bound of what is kept leaves the defaults of the others', () => {
  expect(parse('github: { data: { keep: { results: 20 } } }').github.data.keep).toEqual({
    ...parse('').github.data.keep,
    results: 20,
  });
});

test('no branch is one way to keep nothing on GitHub', () => {
  const { data } = parse('github: { data: { branch: false } }').github;
  expect(data).not.toHaveProperty('branch');
});

test.each([
  ['people: alice', 'people: expected a list like [alice, bob], found "alice"'],
  ['people: [bob, "@alice"]', 'people[1]: expected a login on GitHub, without the @, found "@alice"'],
  ['label: "a,b"', 'label: expected the name of a label like ppsgate, found "a,b"'],
  ['undecided: success', 'undecided: expected one of failure, neutral, found "success"'],
  ['unasked: success', 'unasked: expected one of none, neutral, found "success"'],
  ['status: yes', 'status: expected true or false, found "yes"'],
  [
    'data: { branch: true }',
    'data.branch: expected the name of a branch like ppsgate-data, or false for none, found true',
  ],
  ['data: { branch: a..b }', 'data.branch: expected the name of a branch like ppsgate-data, found "a..b"'],
  ['data: { branch: -d }', 'data.branch: expected the name of a branch like ppsgate-data, found "-d"'],
  [
    'data: { pages: http://example.org }',
    'data.pages: expected a URL like https://example.github.io/router, found "http://example.org"',
  ],
  ['data: { keep: { results: 0 } }', 'data.keep.results: expected a whole number from 1 to 100000, found 0'],
  ['data: { keep: { age: 4000 d } }', 'data.keep.age: expected a duration from 1 d to 3650 d, found "4000 d"'],
  ['data: { keep: { size: 2048 MiB } }', 'data.keep.size: expected a size from 1 MiB to 1024 MiB, found "2048 MiB"'],
  ['data: { stale: 1 min }', 'data.stale: expected a duration from 1 d to 3650 d, found "1 min"'],
  ['data: { page: x }', 'data.page: unknown key `page`; did you mean `pages`?'],
])('of github, %s is refused', (written, problem) => {
  expect(problemsOf(`github: { ${written} }`)).toEqual([`github.${problem}`]);
});

test('every key of trend can be set', () => {
  const compare = 'https://cgit.example.org/src/log/?qt=range&q={from}..{to}';
  const { trend } = parse(`trend: { bisect: true, issues: false, compare: "${compare}" }`);
  expect(trend).toEqual({ bisect: true, issues: false, compare });
});

test.for(['https://cgit.example.org/src', 'src/{from}..{to}', 'javascript:{from}{to}'])(
  'a page of the commits between two is an address with both: %s',
  (compare) => {
    const likeThis = 'https://cgit.example.org/src/log/?qt=range&q={from}..{to}';
    expect(problemsOf(`trend: { compare: "${compare}" }`)).toEqual([
      `trend.compare: expected a URL like ${likeThis}, found "${compare}"`,
    ]);
  },
);

test('of phabricator only the address is required', () => {
  expect(parse('phabricator: { url: https://reviews.example.org }').phabricator).toEqual({
    url: 'https://reviews.example.org',
    branch: 'main',
    people: [],
    projects: [],
    undecided: 'failure',
    relay: {
      directory: '/home/me/.local/state/ppsgate/relay',
      host: '127.0.0.1',
      port: 8642,
      on: ['builds', 'diffs', 'comments'],
      start: { kind: 'here', repository: '/lab', most: 4 },
    },
  });
});

test('every key of phabricator can be set', () => {
  const written = `
phabricator:
  url: https://reviews.example.org/
  tokenFile: token
  ca: site.pem
  branch: stable/15
  repositories: [SRC, ports]
  paths: [sys/net/, sbin/ipfw/]
  people: [alice, bob]
  projects: [network, "transport_(tcp)"]
  undecided: neutral
  relay:
    directory: /var/db/ppsgate
    host: "::1"
    port: 9000
    webhookKeyFile: webhook.key
    buildPasswordFile: build.password
    on: [comments]
    start: { kind: here, repository: /usr/src, most: 2 }
`;
  expect(parse(written).phabricator).toEqual({
    url: 'https://reviews.example.org',
    tokenPath: '/lab/token',
    caPath: '/lab/site.pem',
    branch: 'stable/15',
    repositories: ['SRC', 'ports'],
    paths: ['sys/net/', 'sbin/ipfw/'],
    people: ['alice', 'bob'],
    projects: ['network', 'transport_(tcp)'],
    undecided: 'neutral',
    relay: {
      directory: '/var/db/ppsgate',
      host: '::1',
      port: 9000,
      webhookKeyPath: '/lab/webhook.key',
      buildPasswordPath: '/lab/build.password',
      on: ['comments'],
      start: { kind: 'here', repository: '/usr/src', most: 2 },
    },
  });
});

test.each([
  [
    'kind: github, repository: example/src, tokenFile: token, api: "https://ghe.example.org/api/v3/", event: pps',
    {
      kind: 'github',
      repository: 'example/src',
      tokenPath: '/lab/token',
      apiUrl: 'https://ghe.example.org/api/v3',
      event: 'pps',
    },
  ],
  [
    'kind: github, repository: example/src',
    {
      kind: 'github',
      repository: 'example/src',
      apiUrl: 'https://api.github.com',
      event: 'ppsgate',
    },
  ],
  [
    'kind: jenkins, job: "https://ci.example.org/job/ppsgate/", user: ppsgate, tokenFile: token',
    {
      kind: 'jenkins',
      url: 'https://ci.example.org/job/ppsgate',
      user: 'ppsgate',
      tokenPath: '/lab/token',
    },
  ],
])('revisions are measured by %s', (start, expected) => {
  const written = `phabricator: { url: "https://x.org", relay: { start: { ${start} } } }`;
  expect(parse(written).phabricator?.relay.start).toEqual(expected);
});

test('a phabricator without its address is refused', () => {
  expect(problemsOf('phabricator: { people: [alice] }')).toEqual([
    'phabricator.url: missing; expected a URL like https://reviews.freebsd.org',
  ]);
});

test.each([
  ['url: reviews.example.org', 'url: expected a URL like https://reviews.freebsd.org, found "reviews.example.org"'],
  ['url: "ftp://x.org"', 'url: expected a URL like https://reviews.freebsd.org, found "ftp://x.org"'],
  [
    'url: "https://alice@x.org"',
    'url: expected a URL like https://reviews.freebsd.org, without a user or a query, found "https://alice@x.org"',
  ],
  [
    'url: "https://x.org/?a=b"',
    'url: expected a URL like https://reviews.freebsd.org, without a user or a query, found "https://x.org/?a=b"',
  ],
  ['branch: -f', 'branch: expected the name of a branch like main, found "-f"'],
  ['repositories: src', 'repositories: expected a list like [src], found "src"'],
  ['repositories: [a b]', 'repositories[0]: expected the callsign or short name of a repository, found "a b"'],
  ['paths: [/sys]', 'paths[0]: expected a folder of the repository like sys/net/, found "/sys"'],
  ['people: alice', 'people: expected a list like [alice, bob], found "alice"'],
  ['people: ["@alice"]', 'people[0]: expected a user name of Phabricator, without the @, found "@alice"'],
  ['projects: ["#network"]', 'projects[0]: expected the hashtag of a project, without the #, found "#network"'],
  ['projects: network', 'projects: expected a list like [network], found "network"'],
  ['undecided: pass', 'undecided: expected one of failure, neutral, found "pass"'],
  [
    'token: api-x',
    'token: unknown key `token`; known here: url, tokenFile, ca, branch, repositories, paths, people, projects, undecided, relay',
  ],
  ['relay: { port: 70000 }', 'relay.port: expected a whole number from 0 to 65535, found 70000'],
  ['relay: { host: "a b" }', 'relay.host: expected a host name or an address, found "a b"'],
  ['relay: { on: [] }', 'relay.on: expected at least one of builds, diffs, comments, found an empty list'],
  [
    'relay: { on: [diffs, comment] }',
    'relay.on[1]: expected one of builds, diffs, comments, found "comment"; did you mean `comments`?',
  ],
  [
    'relay: { webhook: x }',
    'relay.webhook: unknown key `webhook`; known here: directory, host, port, webhookKeyFile, buildPasswordFile, on, start',
  ],
  [
    'relay: { start: { kind: gitlab } }',
    'relay.start.kind: expected one of here, github, jenkins, found "gitlab"; did you mean `github`?',
  ],
  ['relay: { start: { kind: here, most: 0 } }', 'relay.start.most: expected a whole number from 1 to 100, found 0'],
  [
    'relay: { start: { kind: github } }',
    'relay.start.repository: missing; expected a repository of GitHub like freebsd/freebsd-src',
  ],
  [
    'relay: { start: { kind: github, repository: src } }',
    'relay.start.repository: expected a repository of GitHub like freebsd/freebsd-src, found "src"',
  ],
  [
    'relay: { start: { kind: jenkins, job: "https://ci.example.org/job/x" } }',
    'relay.start.user: missing; expected a user of Jenkins',
  ],
  [
    'relay: { start: { kind: jenkins, job: "https://ci.example.org/job/x", user: "a:b" } }',
    'relay.start.user: expected a user of Jenkins, found "a:b"',
  ],
  [
    'relay: { start: { repository: ., token: x } }',
    'relay.start.token: unknown key `token`; known here: kind, repository, most, site',
  ],
])('of phabricator, %s is refused', (written, problem) => {
  const url = written.startsWith('url:') ? '' : 'url: "https://x.org", ';
  expect(problemsOf(`phabricator: { ${url}${written} }`)).toEqual([`phabricator.${problem}`]);
});

test('every key of gate can be set', () => {
  const written = 'gate: { metric: nsPerPacket, margin: 0.5 %, confidence: 99.5%, maxRuns: 10 }';
  expect(parse(written).gate).toEqual({
    metric: 'nsPerPacket',
    marginRatio: 0.005,
    confidenceRatio: 0.995,
    falseAlarmRatio: 0.01,
    missRatio: 0.0025,
    maxRunsPerVariant: 10,
  });
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

test('a profile has a window and an event of its own where they are set', () => {
  const { profile } = parse('profile: { window: 500 ms, event: "cycles:k" }');
  expect(profile).toEqual({ seconds: 0.5, event: 'cycles:k' });
});

test('no profile is taken where they are switched off', () => {
  expect(parse('profile: { enabled: false }')).not.toHaveProperty('profile');
});

test.each([
  ['window: 61 s', 'profile.window: expected a duration from 0.5 s to 60 s, found "61 s"'],
  [
    'event: --all-cpus',
    'profile.event: expected the name of an event like cpu_clk_unhalted.thread_p, found "--all-cpus"',
  ],
  ['enabled: maybe', 'profile.enabled: expected true or false, found "maybe"'],
])('a profile is not asked for as `%s`', (written, problem) => {
  expect(problemsOf(`profile: { ${written} }`)).toEqual([problem]);
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
  const host = 'host: h, port: 2222, user: lab, key: /keys/lab, knownHosts: ./known, interface: tx0, cpu: 0';
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

const here = (keys: string) => `testbeds: { here: { kind: embedded-linux, ${keys} } }`;

test('a testbed requires its kind', () => {
  const nic = 'nic: { vendor: Chelsio, model: T540-CR, speed: 10 Gbit/s, driver: cxgbe }';
  const cpu = 'cpu: { model: Xeon E5-2650, cores: 8 }';
  const { testbeds } = read(here(`${nic}, ${cpu}, labels: [release, quiet]`));
  expect(testbeds.here).toEqual({
    kind: 'embedded-linux',
    capabilities: {
      nic: { vendor: 'Chelsio', model: 'T540-CR', gigabits: 10, driver: 'cxgbe' },
      cpu: { model: 'Xeon E5-2650', cores: 8 },
      labels: ['release', 'quiet'],
    },
  });
});

test.each([
  ['nic: { speed: 2.5Gbit/s }', { nic: { gigabits: 2.5 }, labels: [] }],
  ['cpu: { cores: 4 }', { cpu: { cores: 4 }, labels: [] }],
  ['labels: [quiet]', { labels: ['quiet'] }],
])('of a testbed, %s may be said alone', (written, capabilities) => {
  expect(read(here(written)).testbeds.here).toEqual({ kind: 'embedded-linux', capabilities });
});

test.each([
  ['nic: { model: 82599 }', 'nic.model: expected a model like T540-CR, a number in quotes, found 82599'],
  ['nic: { vendor: "" }', 'nic.vendor: expected a vendor like Chelsio, found ""'],
  ['nic: { driver: "?" }', 'nic.driver: expected a driver like cxgbe, found "?"'],
  ['nic: { speed: 10G }', 'nic.speed: expected a speed of Ethernet like 10 Gbit/s, found "10G"'],
  ['nic: { sped: 10 }', 'nic.sped: unknown key `sped`; did you mean `speed`?'],
  ['cpu: { cores: 0 }', 'cpu.cores: expected a whole number from 1 to 4096, found 0'],
  ['labels: quiet', 'labels: expected a list like [quiet, release], found "quiet"'],
  ['labels: [a, a]', 'labels: a label is in this list twice'],
  ['labels: ["a b"]', 'labels[0]: expected a word like quiet, found "a b"'],
  ['labels: [Not]', 'labels[0]: expected a word other than and, or, not, found "Not"'],
])('a testbed with %s is refused', (written, problem) => {
  expect(problemsIn(here(written))).toEqual([`testbeds.here.${problem}`]);
});

test('a patch is judged on one testbed of each selector', () => {
  expect(parse('each: [chelsio, mellanox and 40G, cores>=8]').each).toEqual([
    'chelsio',
    'mellanox and 40G',
    'cores>=8',
  ]);
});

test.each([
  ['each: chelsio', 'each: expected a list like [chelsio, mellanox], found "chelsio"'],
  ['each: []', 'each: expected at least one selector, found an empty list'],
  ['each: [chelsio, 10]', 'each[1]: expected a selector like `mellanox and 40G`, found 10'],
  ['each: [10G or 25G, 10g  OR 25g]', 'each: a selector is in this list twice'],
  [
    'each: [chelsio and]',
    'each[0]: expected words joined by and, or, not, like `mellanox and 40G` or `freebsd and not release`, found "chelsio and": a word is missing',
  ],
])('%s is no list of selectors', (written, problem) => {
  expect(problemsOf(written)).toEqual([problem]);
});

test('a frame too small for IPv6 and UDP is 66 bytes there and as requested elsewhere', () => {
  const { traffic } = parse('traffic: { frameSize: 64 bytes }');
  expect(frameBytesFor(traffic, { family: 'inet4' })).toBe(64);
  expect(frameBytesFor(traffic, { family: 'inet6' })).toBe(66);
  expect(frameBytesFor({ ...traffic, frameBytes: 128 }, { family: 'inet6' })).toBe(128);
  const tcp = { ...traffic, packets: { protocol: 'tcp' } } as const;
  expect(frameBytesFor(tcp, { family: 'inet4' })).toBe(64);
  expect(frameBytesFor(tcp, { family: 'inet6' })).toBe(78);
});

test.each([
  ['gate: { margin: 2 }', 'gate.margin: expected a percentage like 2%, found 2'],
  ['gate: { margin: 0.02 }', 'gate.margin: expected a percentage like 2%, found 0.02'],
  ['gate: { margin: }', 'gate.margin: expected a percentage like 2%, found nothing'],
  ['gate: { margin: 0% }', 'gate.margin: expected a percentage above 0% and up to 50%, found "0%"'],
  ['gate: { margin: 50.1% }', 'gate.margin: expected a percentage above 0% and up to 50%, found "50.1%"'],
  ['gate: { confidence: 97% }', 'gate.confidence: expected one of 80%, 90%, 95%, 98%, 99%, 99.5%, found "97%"'],
  [
    'paths: { byScenario: { nftables-statefull: [dut/] } }',
    'paths.byScenario.nftables-statefull: expected one of forwarding, nftables-stateless, nftables-stateful, found "nftables-statefull"; did you mean `nftables-stateful`?',
  ],
  [
    'paths: { nothing: [/usr/src/] }',
    'paths.nothing[0]: expected a place in the tree like sys/netpfil/pf/, found "/usr/src/"',
  ],
  ['paths: { nothing: [] }', 'paths.nothing: expected at least one place, found an empty list'],
  ['paths: { byDriver: [sys/] }', 'paths.byDriver: expected places by the drivers of ports, like cxl, found a list'],
  ['gate: { maxRuns: 1 }', 'gate.maxRuns: expected a whole number from 2 to 10000, found 1'],
  ['gate: { maxRuns: "8" }', 'gate.maxRuns: expected a whole number from 2 to 10000, found "8"'],
  ['gate: { falseAlarms: 30% }', 'gate.falseAlarms: expected a percentage from 0.01% to 20%, found "30%"'],
  ['gate: { power: 20% }', 'gate.power: expected a percentage from 50% to 99.9%, found "20%"'],
  [
    'gate: { design: sequential }',
    'gate.design: expected one of fixed, group-sequential, found "sequential"; did you mean `group-sequential`?',
  ],
  ['gate: on', 'gate: expected keys and values, found "on"'],
  ['gate:', 'gate: expected keys and values, found nothing'],
  ['traffic: { flows: 0 }', 'traffic.flows: expected a whole number from 1 to 65536, found 0'],
  ['traffic: { flows: 65537 }', 'traffic.flows: expected a whole number from 1 to 65536, found 65537'],
  ['traffic: { flows: 1.5 }', 'traffic.flows: expected a whole number from 1 to 65536, found 1.5'],
  [
    'traffic: { frameSize: 63B }',
    'traffic.frameSize: expected a whole number of bytes from 64 to 1518, imix, or a list like [{ bytes: 64 bytes, weight: 7 }, { bytes: 1518 bytes, weight: 1 }], found "63B"',
  ],
  [
    'traffic: { frameSize: jumbo }',
    'traffic.frameSize: expected a whole number of bytes from 64 to 1518, imix, or a list like [{ bytes: 64 bytes, weight: 7 }, { bytes: 1518 bytes, weight: 1 }], found "jumbo"',
  ],
  [
    'traffic: { frameSize: [{ bytes: 64B, weight: 7 }] }',
    'traffic.frameSize: expected at least two sizes; write one as `frameSize: 64 bytes`',
  ],
  [
    'traffic: { frameSize: [{ bytes: 64B, weight: 7 }, { bytes: 64B, weight: 1 }] }',
    'traffic.frameSize: a size is in this list twice',
  ],
  [
    'traffic: { frameSize: [{ bytes: 64B, weight: 7 }, { bytes: 128B, weight: 101 }] }',
    'traffic.frameSize[1].weight: expected a whole number from 1 to 100, found 101',
  ],
  [
    'traffic: { addresses: { inet4: { source: 2001:db8::/32 } } }',
    'traffic.addresses.inet4.source: expected a network of inet4 like "192.168.1.0/24", found "2001:db8::/32"',
  ],
  [
    'traffic: { addresses: { inet4: { source: 192.168.1.5/24 } } }',
    'traffic.addresses.inet4.source: 192.168.1.5/24 is an address within a network: write 192.168.1.0/24',
  ],
  [
    'traffic: { addresses: { inet6: { destination: "2001:db8::1/32" } } }',
    'traffic.addresses.inet6.destination: 2001:db8::1/32 is an address within a network: write 2001:db8::/32',
  ],
  [
    'traffic: { addresses: { inet4: { source: 192.168.1.0/33 } } }',
    'traffic.addresses.inet4.source: expected a network of inet4 like "192.168.1.0/24", found "192.168.1.0/33"',
  ],
  [
    'traffic: { addresses: { inet4: { source: 127.0.0.0/8 } } }',
    'traffic.addresses.inet4.source: 127.0.0.0/8 overlaps 127.0.0.0/8, the loopback network: choose another network',
  ],
  [
    'traffic: { addresses: { inet4: { source: 0.0.0.0/0 } } }',
    'traffic.addresses.inet4.source: 0.0.0.0/0 overlaps 0.0.0.0/8, which has unspecified addresses: choose another network',
  ],
  [
    'traffic: { addresses: { inet6: { source: "ff02::/16" } } }',
    'traffic.addresses.inet6.source: ff02::/16 overlaps ff00::/8, the multicast network: choose another network',
  ],
  [
    'traffic: { addresses: { inet4: { source: 198.18.0.0/24 } } }',
    "traffic.addresses.inet4.source: 198.18.0.0/24 overlaps 198.18.0.0/15, which has the addresses of the testbed's own ports: choose another network",
  ],
  [
    'traffic: { addresses: { inet4: { source: 10.0.0.0/8, destination: 10.1.0.0/16 } } }',
    'traffic.addresses.inet4.destination: overlaps the network of `source`',
  ],
  [
    'traffic: { addresses: { inet4: { source: 10.0.0.0/28, destination: 10.1.0.0/28 } } }',
    'traffic.addresses.inet4: 2000 flows need as many pairs of addresses, and these networks have 14 × 14: lower `traffic.flows`, or name larger networks',
  ],
  ['traffic: { protocol: icmp }', 'traffic.protocol: expected one of udp, tcp, found "icmp"'],
  ['traffic: { ports: { source: 0 } }', 'traffic.ports.source: expected a whole number from 1 to 65535, found 0'],
  ...['80-79', '0-5', '1-65536'].map((port) => [
    `traffic: { ports: { source: ${port} } }`,
    'traffic.ports.source: expected a port from 1 to 65535, or a range like 1024-65535',
  ]),
  ...['http', '80-', '-'].map((port) => [
    `traffic: { ports: { source: "${port}" } }`,
    `traffic.ports.source: expected a port from 1 to 65535, or a range like 1024-65535, found "${port}"`,
  ]),
  ['traffic: { rate: 0.5 pps }', 'traffic.rate: expected a whole number of pps from 1 to 1000000000, found "0.5 pps"'],
  ['traffic: { measure: 1 ms }', 'traffic.measure: expected a duration from 0.01 s to 600 s, found "1 ms"'],
  ['traffic: { settle: 2 min }', 'traffic.settle: expected a duration from 0 s to 60 s, found "2 min"'],
  [
    'traffic: { measure: 60 s, measureAtLeast: 10 s }',
    'traffic.measureAtLeast: only a run that has a trial of its own can end early; set `runsPerTrial: 1`',
  ],
  [
    'traffic: { measure: 10 s, measureAtLeast: 60 s, runsPerTrial: 1 }',
    'traffic.measureAtLeast: expected at most what `measure` allows',
  ],
  ['traffic: { runsPerTrial: 6 }', 'traffic.runsPerTrial: expected 1, 2, or a multiple of 4 from 4 to 1000, found 6'],
  ['scenarios: forwarding', 'scenarios: expected a list like [forwarding], found "forwarding"'],
  ['families: []', 'families: expected at least one of inet4, inet6, found an empty list'],
  ['families: [inet4, inet4]', 'families: a name is in this list twice'],
  ['overlay: ~alice/dut', 'overlay: expected a path (of home folders only ~/ is known), found "~alice/dut"'],
  ['overlay: 3', 'overlay: expected a folder like dut, or `{ files: { nftables.conf: etc/nftables.conf } }`, found 3'],
  [
    'overlay: { files: { nftable.conf: etc/nftables.conf } }',
    'overlay.files.nftable.conf: unknown key `nftable.conf`; did you mean `nftables.conf`?',
  ],
  [
    'overlay: { files: { nftables.conf: /etc/nftables.conf } }',
    'overlay.files.nftables.conf: expected a path in the repository like etc/nftables.conf, found "/etc/nftables.conf"',
  ],
  [
    'overlay: { files: { nftables.conf: ~/nftables.conf } }',
    'overlay.files.nftables.conf: expected a path in the repository like etc/nftables.conf, found "~/nftables.conf"',
  ],
  [
    'overlay: { interfaces: { eth0: lan } }',
    'overlay.interfaces.eth0: expected one of ingress, egress, unused, found "lan"',
  ],
  ['overlay: { folder: dut, files: { nftables.conf: a } }', 'overlay: expected either `folder` or `files`, found both'],
  ['overlay: { files: {} }', 'overlay.files: expected at least one file, found none'],
])('%s is refused', (written, problem) => {
  expect(problemsOf(written)).toEqual([problem]);
});

test.each([
  ['gate: { marign: 2% }', 'gate.marign: unknown key `marign`; did you mean `margin`?'],
  [
    'traffic: { runs_per_trial: 8 }',
    'traffic.runs_per_trial: unknown key `runs_per_trial`; did you mean `runsPerTrial`?',
  ],
  ['gates: {}', 'gates: unknown key `gates`; did you mean `gate`?'],
  [
    'gate: { colour: red }',
    'gate.colour: unknown key `colour`; known here: metric, margin, confidence, falseAlarms, power, design, maxRuns, stopAtFirst',
  ],
  [
    'gate: { metric: nsperpacket }',
    'gate.metric: expected one of pps, nsPerPacket, instructionsPerPacket, found "nsperpacket"; did you mean `nsPerPacket`?',
  ],
  [
    'gate: { metric: instructions }',
    'gate.metric: expected one of pps, nsPerPacket, instructionsPerPacket, found "instructions"; did you mean `instructionsPerPacket`?',
  ],
  ['families: [inet4, Inet-6]', 'families[1]: expected one of inet4, inet6, found "Inet-6"; did you mean `inet6`?'],
  ['scenarios: [pf]', 'scenarios[0]: expected one of forwarding, nftables-stateless, nftables-stateful, found "pf"'],
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
  ['testbeds: { a: {} }', 'testbeds.a.kind: missing; expected one of embedded-linux, linux, freebsd, virtual'],
  [
    'testbeds: { a: { kind: embeded-linux } }',
    'testbeds.a.kind: expected one of embedded-linux, linux, freebsd, virtual, found "embeded-linux"; did you mean `embedded-linux`?',
  ],
  [
    'testbeds: { a: { kind: embedded-linux, sender: {} } }',
    'testbeds.a.sender: unknown key `sender`; known here: kind, nic, cpu, labels',
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

test('all faults of a host are reported at once', () => {
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
