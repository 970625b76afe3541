import { expect, test } from 'vitest';
import { parseArp, parseIfconfig, parseNdp, parseRoutes } from '../../../../src/lab/freebsd/dut/network.ts';

const cxl1 = `\
cxl1: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
	description: to the receiver
	options=6ac00bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,RXCSUM_IPV6,TXCSUM_IPV6>
	ether 00:07:43:2E:e4:78
	inet 198.19.0.201 netmask 0xffffff00 broadcast 198.19.0.255
	inet6 fe80::207:43ff:fe2e:e478%cxl1 prefixlen 64 scopeid 0x4
	media: Ethernet 10Gbase-LR <full-duplex,rxpause,txpause>
	status: active
	nd6 options=21<PERFORMNUD,AUTO_LINKLOCAL>
`;

const withMedia = (media: string) => cxl1.replace(/media: .*/, `media: ${media}`);

test('an interface is read with its properties', () => {
  expect(parseIfconfig(cxl1)).toEqual({
    name: 'cxl1',
    flags: ['UP', 'BROADCAST', 'RUNNING', 'SIMPLEX', 'MULTICAST', 'LOWER_UP'],
    options: [
      'RXCSUM',
      'TXCSUM',
      'VLAN_MTU',
      'VLAN_HWTAGGING',
      'JUMBO_MTU',
      'VLAN_HWCSUM',
      'RXCSUM_IPV6',
      'TXCSUM_IPV6',
    ],
    mtu: 1500,
    mac: '00:07:43:2e:e4:78',
    media: 'Ethernet 10Gbase-LR <full-duplex,rxpause,txpause>',
    gigabits: 10,
    isActive: true,
  });
});

test.for([
  ['Ethernet autoselect (1000baseT <full-duplex>)', 1],
  ['Ethernet autoselect (2500Base-T <full-duplex>)', 2.5],
  ['Ethernet autoselect <full-duplex> (100GBase-SR4 <full-duplex>)', 100],
  ['Ethernet 10Gbase-T (1000baseT <full-duplex>)', 1],
  ['Ethernet 40Gbase-CR4 <full-duplex>', 40],
] as const)('the speed is that of the link as it is: %s', ([media, gigabits]) => {
  expect(parseIfconfig(withMedia(media))?.gigabits).toBe(gigabits);
});

test('a link that is down has no speed', () => {
  const down = withMedia('Ethernet autoselect (none)').replace('active', 'no carrier');
  expect(parseIfconfig(down)).toMatchObject({ isActive: false });
  expect(parseIfconfig(down)).not.toHaveProperty('gigabits');
});

test('routes are read by the header of their columns', () => {
  const text = `\
Routing tables

Internet:
Destination        Gateway            Flags         Netif Expire
default            192.168.1.254      UGS            igb0
127.0.0.1          link#5             UH              lo0
198.18.0.0/16      198.18.0.203       UGS            cxl0
192.168.1.2        link#1             UHS             lo0     12
`;
  expect(parseRoutes(text)).toEqual([
    { destination: 'default', gateway: '192.168.1.254', flags: 'UGS', interface: 'igb0' },
    { destination: '127.0.0.1', gateway: 'link#5', flags: 'UH', interface: 'lo0' },
    { destination: '198.18.0.0/16', gateway: '198.18.0.203', flags: 'UGS', interface: 'cxl0' },
    { destination: '192.168.1.2', gateway: 'link#1', flags: 'UHS', interface: 'lo0' },
  ]);
});

test('ARP’s entries are permanent, expire, or lack an address', () => {
  const text = `\
? (198.19.0.203) at 00:07:43:2e:E5:9a on cxl1 permanent [ethernet]
? (192.168.1.254) at 00:0d:b9:41:ca:3c on igb0 expires in 1193 seconds [ethernet]
? (192.168.1.7) at (incomplete) on igb0 expired [ethernet]
`;
  expect(parseArp(text)).toEqual([
    { address: '198.19.0.203', mac: '00:07:43:2e:e5:9a', interface: 'cxl1', isPermanent: true },
    { address: '192.168.1.254', mac: '00:0d:b9:41:ca:3c', interface: 'igb0', isPermanent: false },
    { address: '192.168.1.7', interface: 'igb0', isPermanent: false },
  ]);
});

test('NDP’s entries are permanent, expire, or lack an address', () => {
  const text = `\
Neighbor                             Linklayer Address  Netif Expire    S Flags
2001:2:0:8000::203                   00:07:43:2e:E5:9a   cxl1 permanent R
fe80::207:43ff:fe2e:e478%cxl1        00:07:43:2e:e4:78   cxl1 permanent R
2001:2::203                          00:07:43:2e:e5:92   cxl0 23h59m58s S R
2001:2::7                            (incomplete)        cxl0 1s        I  3
`;
  expect(parseNdp(text)).toEqual([
    {
      address: '2001:2:0:8000::203',
      mac: '00:07:43:2e:e5:9a',
      interface: 'cxl1',
      isPermanent: true,
    },
    {
      address: 'fe80::207:43ff:fe2e:e478%cxl1',
      mac: '00:07:43:2e:e4:78',
      interface: 'cxl1',
      isPermanent: true,
    },
    { address: '2001:2::203', mac: '00:07:43:2e:e5:92', interface: 'cxl0', isPermanent: false },
    { address: '2001:2::7', interface: 'cxl0', isPermanent: false },
  ]);
});
