// Names the rule of pf or ipfw that drops packets.
import { expect, test } from 'vitest';
import { ipfwDrops, pfDrops } from '../../../src/lab/freebsd/rule-drops.ts';

test('Of pf the blocking rules that counted packets are named.', () => {
  const text = `@0 block drop log all
  [ Evaluations: 30000     Packets: 29990     Bytes: 1200000     States: 0     ]
  [ Inserted: uid 0 pid 1234 State Creations: 0     ]
@1 pass in on vtnet0 all flags S/SA keep state
  [ Evaluations: 30000     Packets: 10        Bytes: 800         States: 1     ]
  [ Inserted: uid 0 pid 1234 State Creations: 1     ]
@2(100) block return in quick on vtnet1 proto udp all
  [ Evaluations: 30000     Packets: 0         Bytes: 0           States: 0     ]
`;
  expect(pfDrops(text)).toEqual([{ firewall: 'pf', rule: 'block drop log all', packets: 29_990 }]);
});

test('Of ipfw the denying rules that counted packets are named by number.', () => {
  const text = `00100     10       800 allow ip from any to any via vtnet0
00200  29990   1200000 deny udp from any to any 2000
00300      0         0 unreach host ip from any to 192.0.2.0/24
65535      7       420 deny ip from any to any
`;
  expect(ipfwDrops(text)).toEqual([
    { firewall: 'ipfw', rule: '00200 deny udp from any to any 2000', packets: 29_990 },
    { firewall: 'ipfw', rule: '65535 deny ip from any to any', packets: 7 },
  ]);
});

test('Other output names nothing.', () => {
  expect(pfDrops('pfctl: /dev/pf: No such file or directory\n')).toEqual([]);
  expect(ipfwDrops('ipfw: getsockopt(IP_FW_XGET): Protocol not available\n')).toEqual([]);
});
