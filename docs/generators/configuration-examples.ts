// Examples of ppsgate.yml for its reference; tests/docs/configuration.test.ts loads each.
import type { Examples } from './configuration.ts';

/** Completes an example that is about something else than testbeds. */
export const aTestbed = 'testbeds: { here: { kind: embedded-linux } }\n';

export const configurationExamples: Examples = {
  top: [
    `
overlay: dut
each: [chelsio and not release, cores>=8]
scenarios: [forwarding, nftables-stateful]
families: [inet4, inet6]
history: ~/.local/state/ppsgate/history.jsonl
`,
  ],
  overlay: [
    `
overlay:
  files: { nftables.conf: etc/nftables.conf, sysctl.conf: etc/sysctl.conf }
  interfaces: { lan0: ingress, wan0: egress, wg0: unused }
`,
    `
overlay:
  files: { pf.conf: etc/pf.conf }
`,
    `
overlay:
  files: { ipfw.rules: etc/ipfw.rules }
`,
  ],
  'embedded-linux': [
    `
testbeds:
  this-machine:
    kind: embedded-linux
    nic: { vendor: Mellanox, model: ConnectX-4 Lx, speed: 25 Gbit/s, driver: mlx5 }
    cpu: { model: Xeon E5-2650, cores: 8 }
    labels: [release, quiet]
`,
  ],
  linux: [
    `
testbeds:
  rack-4:
    kind: linux
    sender:
      host: 192.0.2.10
      port: 22
      user: root
      key: ~/.ssh/lab
      knownHosts: ./known_hosts
      interface: tx0
      cpu: 0
    dut: { host: 192.0.2.11, ingress: in0, egress: out0, cpu: 1 }
    receiver: { host: 192.0.2.12, interface: rx0 }
`,
  ],
  freebsd: [
    `
testbeds:
  hp-t540:
    kind: freebsd
    dut:
      host: 192.0.2.11
      ingress: { interface: cxl0, speed: 10 Gbit/s, queues: 8 }
      egress: { interface: cxl1, speed: 10 Gbit/s, queues: 8 }
      boot: { method: nextboot, limit: 10 min }
      power: { kind: ipmi, host: 192.0.2.21, port: 623, user: lab, passwordFile: ipmi.password, cipherSuite: 17 }
      console: { kind: ipmi, host: 192.0.2.21, user: lab, passwordFile: ipmi.password }
    senders:
      - host: 192.0.2.12
        interface: cxl0
        mac: "00:07:43:2e:e4:71"
        inet4: 198.18.0.110
        inet6: "2001:2::110"
        threads: 2
        backToBack: { from: cxl2, to: cxl3 }
    receiver:
      host: 192.0.2.12
      interface: cxl1
      mac: "00:07:43:2e:e4:79"
      inet4: 198.19.0.110
      inet6: "2001:2:0:8000::110"
    builder:
      host: 192.0.2.13
      folder: /var/db/ppsgate
      repository: /usr/src
      remote: origin
      kernel:
        kind: make
        kernelConfig: LAB
        kernelConfigFolder: /usr/local/etc/kernels
        jobs: 8
        clean: false
        metaMode: true
        toolchain: false
        modules: needed
        options: [CFLAGS=-O2]
      layoutVariants: 8
      limit: 120 min
      turn: 240 min
      jail: { name: ppsgate, user: ppsgate }
      freeSpace: 10 GB
      keep: { kernels: 50, size: 20 GB }
    preflight: fix
    waive: { machdep.hyperthreading_allowed: 32 queues need the threads }
`,
    // Other ways to switch power, to read the console, and to build.
    `
testbeds:
  redfish:
    kind: freebsd
    dut:
      host: 192.0.2.31
      ingress: { interface: ix0 }
      egress: { interface: ix1 }
      power:
        kind: redfish
        url: https://bmc.lab/redfish/v1/Systems/1
        user: admin
        passwordFile: bmc.password
        certificateSha256: ${'0f'.repeat(32)} # or ca: bmc.pem
      console: { kind: conserver, console: dut-3, host: consoles.lab, port: 782 }
    senders: [{ host: 192.0.2.32, interface: ix0, mac: "00:07:43:2e:e4:81", inet4: 198.18.0.110 }]
    receiver: { host: 192.0.2.32, interface: ix1, mac: "00:07:43:2e:e4:89", inet4: 198.19.0.110 }
  power-strip:
    kind: freebsd
    dut:
      host: 192.0.2.41
      ingress: { interface: ix0 }
      egress: { interface: ix1 }
      power: { kind: command, on: [pdu, on, "4"], off: [pdu, off, "4"], state: [pdu, show, "4"], cycle: [pdu, cycle, "4"] }
      console: { kind: command, command: [cu, -l, /dev/ttyu3] }
    senders: [{ host: 192.0.2.42, interface: ix0, mac: "00:07:43:2e:e4:91", inet4: 198.18.0.110 }]
    receiver: { host: 192.0.2.42, interface: ix1, mac: "00:07:43:2e:e4:99", inet4: 198.19.0.110 }
    builder: { host: 192.0.2.43, kernel: { kind: command, argv: [/usr/local/bin/build-kernel], kernelConfig: GENERIC } }
`,
  ],
  virtual: [
    `
testbeds:
  guests:
    kind: virtual
    accelerator: tcg
    memory: 256
    modules: [act_mirred]
    builder:
      user: kernels
      repository: /usr/src/linux
      kernel: { kind: linux, config: guest.config, jobs: 8, clean: true, options: [LLVM=1] }
`,
    `
testbeds:
  given-kernel: { kind: virtual, accelerator: kvm, kernel: guest.deb }
`,
    `
testbeds:
  freebsd-guests:
    kind: virtual
    image: { path: freebsd.qcow2, key: ~/.ssh/guests, hostKey: ssh-ed25519 ${'A'.repeat(68)}, limit: 5 min }
    builder: { kind: cross, host: builder.lab, user: kernels, modules: all, tools: /usr/lib/llvm-18/bin }
  official-image:
    kind: virtual
    image: { path: FreeBSD-14.3-RELEASE-amd64.raw.xz, sha512: ${'0f'.repeat(64)} }
`,
  ],
  rules: [
    `
scenarios: [office]
rules:
  office: { firewall: pf, file: office.pf.conf, keepsStates: true }
testbeds:
  lab:
    kind: freebsd
    dut: { host: 192.0.2.11, ingress: { interface: ix0 }, egress: { interface: ix1 } }
    senders: [{ host: 192.0.2.12, interface: ix0, mac: "00:07:43:2e:e4:71", inet4: 198.18.0.110 }]
    receiver: { host: 192.0.2.12, interface: ix1, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110 }
`,
  ],
  paths: [
    `
paths:
  everything: [sys/dev/netmap/]
  nothing: [tools/, "sys/*/conf/NOTES"]
  byDriver: { mlxen: [sys/dev/mlx4/] }
  byScenario: { nftables-stateful: [dut/nftables.conf] }
  byFamily: { inet4: [sys/netinet/], inet6: ["sys/netinet6/*.c"] }
`,
  ],
  traffic: [
    `
traffic:
  flows: 2000
  frameSize: 64 bytes
  rate: 3 Mpps
  warmUp: 500 ms
  settle: 5 ms
  measure: 30 ms
  runsPerTrial: 52
`,
    `
traffic: { protocol: tcp, ports: { source: 1024-65535, destination: 443 }, frameSize: imix }
`,
    `
traffic: { frameSize: [{ bytes: 128 bytes, weight: 3 }, { bytes: 1518 bytes, weight: 1 }] }
`,
    `
traffic:
  addresses: { inet4: { source: 192.168.1.0/24, destination: 203.0.113.0/24 } }
`,
    `
traffic: { pcap: dns.pcap }
`,
    `
traffic: { frameSizes: [64 bytes, 1518 bytes], measure: 60 s, measureAtLeast: 12 s, runsPerTrial: 1 }
`,
    `
testbeds: { guests: { kind: virtual } }
traffic: { windows: 8, windowPackets: 10000 }
`,
  ],
  gate: [
    `
gate:
  metric: nsPerPacket
  margin: 5%
  falseAlarms: 1%
  power: 95%
  confidence: 90%
  design: group-sequential
  maxRuns: 130
  stopAtFirst: true
`,
  ],
  profile: ['profile: { enabled: true, window: 3 s, event: cpu_clk_unhalted.thread_p }'],
  reservations: [
    `
reservations: { store: sqlite, file: ~/.local/state/ppsgate/reservations.sqlite, lease: 30 s }
`,
    `
reservations:
  store: etcd
  endpoints: [https://etcd1.lab:2379, https://etcd2.lab:2379]
  prefix: /ppsgate/
  ca: etcd-ca.pem
  certificate: client.pem
  key: client.key
  user: ppsgate
  passwordFile: etcd.password
  lease: 30 s
`,
  ],
  github: [
    `
github:
  people: [alice, bob]
  label: ppsgate
  undecided: neutral
  unasked: none
  status: true
  data:
    branch: ppsgate-data
    directory: /srv/www/ppsgate
    pages: https://example.github.io/router
    keep: { results: 1000, age: 365 d, size: 100 MiB }
    stale: 30 d
`,
  ],
  trend: [
    `
trend: { bisect: true, issues: true, compare: "https://cgit.example.org/src/log/?qt=range&q={from}..{to}" }
`,
  ],
  phabricator: [
    `
phabricator:
  url: https://reviews.example.org
  tokenFile: phabricator.token
  ca: site.pem
  branch: main
  repositories: [src]
  paths: [sys/net/, sys/netinet/]
  people: [alice, bob]
  projects: [network]
  undecided: failure
  relay:
    directory: ~/.local/state/ppsgate/relay
    host: 127.0.0.1
    port: 8642
    webhookKeyFile: webhook.key
    buildPasswordFile: build.password
    on: [builds, diffs, comments]
    start: { kind: here, repository: ., most: 4, site: https://ci.example.org/ppsgate }
`,
    `
phabricator:
  url: https://reviews.example.org
  relay:
    start: { kind: github, repository: example/src, tokenFile: github.token, api: https://api.github.com, event: ppsgate }
`,
    `
phabricator:
  url: https://reviews.example.org
  relay:
    start: { kind: jenkins, job: https://ci.example.org/job/ppsgate, user: ppsgate, tokenFile: jenkins.token }
`,
  ],
};
