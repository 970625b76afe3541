// Outputs of FreeBSD 14.2 in QEMU, copied by hand from two machines with vtnet(4) cards.

/** States in which commands have other outputs; the test creates each. */
export type State = 'without addresses' | 'with addresses';

type RealAnswer = {
  command: string;
  code?: number;
  stdout?: string;
  stderr?: string;
  in?: State;
};

const noPf = 'pfctl: /dev/pf: No such file or directory\n';
const noSysctl = (name: string) => `sysctl: unknown oid '${name}'\n`;

/** In the order of the commands. */
export const realAnswers: readonly RealAnswer[] = [
  { command: 'sysctl -n kern.cp_times', stdout: '2080 0 1045 37 4214\n' },
  { command: 'sysctl -n kern.cp_time', stdout: '4351 0 1657 56 3998\n' },
  { command: 'kenv -q smbios.system.product', stdout: 'Standard PC (Q35 + ICH9, 2009)\n' },
  {
    command: 'sysctl -n dev.cpu.0.freq',
    code: 1,
    stderr: noSysctl('dev.cpu.0.freq'),
  },
  {
    command: 'sysctl -n dev.vtnet.1.fw_version',
    code: 1,
    stderr: noSysctl('dev.vtnet.1.fw_version'),
  },
  { command: 'sysctl debug.debugger_on_panic=0', stdout: 'debug.debugger_on_panic: 0 -> 0\n' },
  { command: 'sysctl net.inet.ip.forwarding=1', stdout: 'net.inet.ip.forwarding: 0 -> 1\n' },
  { command: 'sysctl net.inet.ip.redirect=0', stdout: 'net.inet.ip.redirect: 1 -> 0\n' },
  { command: 'sysctl net.inet6.ip6.forwarding=1', stdout: 'net.inet6.ip6.forwarding: 0 -> 1\n' },
  { command: 'sysctl net.inet6.ip6.redirect=0', stdout: 'net.inet6.ip6.redirect: 1 -> 0\n' },
  { command: 'uname -s -r', stdout: 'FreeBSD 14.2-BETA1\n' },
  { command: 'ls -1 /boot/loader.conf.d' },
  { command: 'ifconfig -l', stdout: 'vtnet0 vtnet1 vtnet2 lo0\n' },
  {
    command: 'ifconfig lo0',
    stdout:
      'lo0: flags=1008049<UP,LOOPBACK,RUNNING,MULTICAST,LOWER_UP> metric 0 mtu 16384\n\toptions=680003<RXCSUM,TXCSUM,LINKSTATE,RXCSUM_IPV6,TXCSUM_IPV6>\n\tinet 127.0.0.1 netmask 0xff000000\n\tinet6 ::1 prefixlen 128\n\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x4\n\tgroups: lo\n\tnd6 options=21<PERFORMNUD,AUTO_LINKLOCAL>\n',
  },
  { command: 'sysctl -n hw.model', stdout: 'QEMU TCG CPU version 2.5+\n' },
  { command: 'sysctl -n kern.random.harvest.mask', stdout: '590303\n' },
  {
    command: 'sysctl kern.random.harvest.mask=351',
    stdout: 'kern.random.harvest.mask: 590303 -> 590175\n',
  },
  {
    command: 'pciconf -lv',
    stdout:
      'virtio_pci1@pci0:0:2:0:\tclass=0x020000 rev=0x00 hdr=0x00 vendor=0x1af4 device=0x1000 subvendor=0x1af4 subdevice=0x0001\n    class      = network\n    subclass   = ethernet\n',
  },
  {
    command: 'ifconfig vtnet1',
    in: 'without addresses',
    stdout:
      'vtnet1: flags=1008802<BROADCAST,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500\n\toptions=4c07bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,TSO4,TSO6,LRO,VLAN_HWTSO,LINKSTATE,TXCSUM_IPV6>\n\tether 02:70:70:00:00:01\n\tmedia: Ethernet autoselect (10Gbase-T <full-duplex>)\n\tstatus: active\n\tnd6 options=29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>\n',
  },
  {
    command: 'route add -inet 198.18.0.0/16 198.18.0.2',
    in: 'without addresses',
    code: 1,
    stdout: 'add net 198.18.0.0: gateway 198.18.0.2 fib 0: Invalid argument\n',
  },
  {
    command: 'route add -inet6 2001:2::/49 2001:2::2',
    in: 'without addresses',
    code: 1,
    stdout: 'add net 2001:2::/49: gateway 2001:2::2 fib 0: Invalid argument\n',
  },
  {
    command: 'arp -S 198.18.0.2 02:70:70:00:ff:01',
    in: 'without addresses',
    stderr: 'arp: delete: cannot locate 198.18.0.2\narp: delete: cannot locate 198.18.0.2\n',
  },
  {
    command: 'ndp -s 2001:2::2 02:70:70:00:ff:01',
    in: 'without addresses',
    stderr: 'ndp: delete: cannot locate 2001:2::2\n',
  },
  {
    command: 'ifconfig vtnet1',
    in: 'with addresses',
    stdout:
      'vtnet1: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500\n\toptions=4800bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,LINKSTATE,TXCSUM_IPV6>\n\tether 02:70:70:00:00:01\n\tinet 198.18.0.1 netmask 0xfffffffc broadcast 198.18.0.3\n\tinet6 fe80::70:70ff:fe00:1%vtnet1 prefixlen 64 scopeid 0x2\n\tinet6 2001:2::1 prefixlen 126\n\tmedia: Ethernet autoselect (10Gbase-T <full-duplex>)\n\tstatus: active\n',
  },
  { command: 'ifconfig vtnet1 -tso4 -tso6 -lro -vlanhwtso' },
  { command: 'ifconfig vtnet1 up' },
  {
    command: 'route add -inet 198.18.0.0/16 198.18.0.2',
    stdout: 'add net 198.18.0.0: gateway 198.18.0.2\n',
  },
  {
    command: 'route add -inet6 2001:2::/49 2001:2::2',
    stdout: 'add net 2001:2::/49: gateway 2001:2::2\n',
  },
  {
    command: 'arp -S 198.18.0.2 02:70:70:00:ff:01',
    stderr: 'arp: delete 198.18.0.2: No such file or directory\n',
  },
  { command: 'ndp -s 2001:2::2 02:70:70:00:ff:01' },
  {
    command: 'netstat -rn -f inet',
    stdout:
      'Routing tables\n\nInternet:\nDestination        Gateway            Flags         Netif Expire\n127.0.0.1          link#4             UH              lo0\n198.18.0.0/30      link#2             U            vtnet1\n198.18.0.0/16      198.18.0.2         UGS          vtnet1\n198.18.0.1         link#4             UHS             lo0\n',
  },
  {
    command: 'netstat -rn -f inet6',
    stdout:
      'Routing tables\n\nInternet6:\nDestination                       Gateway                       Flags         Netif Expire\n::/96                             link#4                        URS             lo0\n::1                               link#4                        UHS             lo0\n2001:2::/126                      link#2                        U            vtnet1\n2001:2::/49                       2001:2::2                     UGS          vtnet1\nfe80::%lo0/64                     link#4                        U               lo0\nfe80::%vtnet1/64                  link#2                        U            vtnet1\n',
  },
  {
    command: 'arp -an',
    stdout:
      '? (198.18.0.1) at 02:70:70:00:00:01 on vtnet1 permanent [ethernet]\n? (198.18.0.2) at 02:70:70:00:ff:01 on vtnet1 permanent [ethernet]\n',
  },
  {
    command: 'ndp -an',
    stdout:
      'Neighbor                             Linklayer Address  Netif Expire    S Flags\n2001:2::1                            02:70:70:00:00:01 vtnet1 permanent R \nfe80::70:70ff:fe00:1%vtnet1          02:70:70:00:00:01 vtnet1 permanent R \n',
  },
  {
    command: 'netstat -i -b -n -W',
    stdout:
      'Name     Mtu Network        Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll\nvtnet1  1500 <Link#2>       00:00:5e:00:53:02   796698     0     0   47801880        1     0         42     0\nvtnet1     - 198.18.0.0/24  198.18.0.8               0     -     -          0        0     -          0     -\n',
  },
  {
    command: 'vmstat -i',
    stdout:
      'interrupt                          total       rate\ncpu0:timer                          5733         97\nTotal                               7286        123\n',
  },
  { command: 'pfctl -d', code: 1, stderr: noPf },
  { command: 'pfctl -F all', code: 1, stderr: noPf },
  { command: 'pfctl -si', code: 1, stderr: noPf },
  { command: 'kldload -n pf' },
  { command: 'pfctl -e', stderr: 'pf enabled\n' },
  {
    command: 'pfctl -si',
    stdout:
      'Status: Enabled for 0 days 00:00:00           Debug: Urgent\n\nState Table                          Total             Rate\n  current entries                        0               \n  searches                              47               \n  inserts                                0               \n  removals                               0               \nCounters\n  match                                 47               \n  bad-offset                             0               \n  map-failed                             0               \n',
  },
  {
    command: 'pfctl -F all',
    stderr:
      'Ethernet rules cleared\nrules cleared\nnat cleared\n0 tables deleted.\n4000 states cleared\nsource tracking entries cleared\npf: statistics cleared\npf: interface flags reset\n',
  },
  { command: 'pfctl -d', stderr: 'pf disabled\n' },
  { command: 'pfctl -d', code: 1, stderr: 'pfctl: pf not enabled\n' },
  {
    command: 'pfctl -si',
    stdout:
      'Status: Disabled for 0 days 00:00:00          Debug: Urgent\n\nState Table                          Total             Rate\n  inserts                                0               \n',
  },
  {
    command: 'ipfw -q -f flush',
    code: 69,
    stderr: 'ipfw: setsockopt(IP_FW_XDEL): Protocol not available\n',
  },
  {
    command: 'ipfw list',
    code: 71,
    stderr: 'ipfw: retrieving config failed: Protocol not available\n',
  },
  {
    command: 'sysctl -n net.inet.ip.fw.enable',
    code: 1,
    stderr: noSysctl('net.inet.ip.fw.enable'),
  },
  {
    command: 'kenv net.inet.ip.fw.default_to_accept=1',
    stdout: 'net.inet.ip.fw.default_to_accept="1"\n',
  },
  { command: 'kldload -n ipfw' },
  { command: 'sysctl -n net.inet.ip.fw.enable', stdout: '1\n' },
  { command: 'sysctl -n net.inet6.ip6.fw.enable', stdout: '1\n' },
  { command: 'sysctl -n net.inet.ip.fw.dyn_count', stdout: '0\n' },
  { command: 'sysctl net.inet.ip.fw.enable=1', stdout: 'net.inet.ip.fw.enable: 1 -> 1\n' },
  { command: 'sysctl net.inet6.ip6.fw.enable=1', stdout: 'net.inet6.ip6.fw.enable: 1 -> 1\n' },
  { command: 'ipfw -q add 3000 allow ip from any to any keep-state' },
  {
    command: 'ipfw list',
    stdout: '03000 allow ip from any to any keep-state :default\n65535 allow ip from any to any\n',
  },
  { command: 'ipfw -q -f flush' },
  { command: 'ipfw list', stdout: '65535 allow ip from any to any\n' },
  { command: 'ipfw -q -f flush' },
  {
    command: 'kldstat',
    stdout: 'Id Refs Address                Size Name\n 1    6 0xffffffff80200000  1039d40 kernel\n',
  },
  { command: 'kldload -n ksyms' },
  { command: 'cp /dev/ksyms /var/tmp/ppsgate.ksyms' },
  { command: 'kldload -n hwpmc' },
  { command: 'mkdir -p /var/tmp/ppsgate' },
  {
    command: 'pmcstat -S CLOCK.HARD -l 1 -O /var/tmp/ppsgate/pmc.out',
    stderr:
      'pmcstat: WARNING: at least 16 events were discarded while running.\nPlease consider tuning the "kern.hwpmc.nbuffers_pcpu" tunable.\n',
  },
  {
    command: 'pmcstat -S cpu_clk_unhalted.thread_p -l 1 -O /var/tmp/ppsgate/pmc.out',
    code: 71,
    stderr:
      'pmcstat: ERROR: Cannot allocate system-mode pmc with specification "cpu_clk_unhalted.thread_p": Invalid argument\n',
  },
  {
    command: 'pmcstat -R /var/tmp/ppsgate/pmc.out -z 100 -G /var/tmp/ppsgate/pmc.graph',
    stdout: 'CONVERSION STATISTICS:\n',
  },
  { command: 'cat /var/tmp/ppsgate/pmc.graph' },
  { command: 'savecore -C', code: 1 },
  { command: 'pgrep -x pkt-gen', code: 1 },
  { command: 'pkill -STOP -x sshd', code: 1 },
  { command: 'uname -r', stdout: '14.2-BETA1\n' },
  {
    command: 'shutdown -r now',
    stdout: 'Shutdown NOW!\nShutdown NOW!\n\r\nSystem shutdown time has arrived\u0007\u0007\r\n',
    stderr: 'shutdown: [pid 783]\n',
  },
];

/**
 * pkt-gen's lines on stderr: of a sender with `-R 50000`, and of a receiver that is interrupted before its first
 * packet.
 */
export const pktGenLines = {
  sender: [
    '158.371844 main [3347] --- SPECIAL OPTIONS: copy',
    '158.373256 main [3369] Sending 166 packets every  0.003320000 s',
    '158.376109 start_threads [2696] Ready...',
    '158.380145 sender_body [1701] start, fd 3 main_fd 3',
    '159.390914 main_thread [2785] 0 pps (0 pkts 0 bps in 1010999 usec) 0.00 avg_batch 0 min_space',
    '160.000477 sender_body [1759] frags 1 frag_size 60',
    '178.327131 sigint_h [573] received control-C on thread 0x342d69c12000',
    '178.346680 sender_body [1849] flush tail 185 head 96 on thread 0x342d69c12700',
  ],
  receiver: [
    '156.879194 receiver_body [1939] reading from netmap:vtnet1 fd 3 main_fd 3',
    '157.948259 receiver_body [1954] waiting for initial packets, poll returns 0 0',
    '312.075058 sigint_h [573] received control-C on thread 0x369786012000',
    '312.075324 receiver_body [1946] poll() error: Interrupted system call',
    '313.097509 main_thread [2785] 0 pps (0 pkts 0 bps in 1019541 usec) 0.00 avg_batch 99999 min_space',
    '313.103921 main_thread [2812] ouch, thread 0 exited with error',
  ],
} as const;
