// Masks secrets, addresses and names in every notation.
import { isIPv6, SocketAddress } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEscapes } from '../../../src/gate/recording/decode-escapes.ts';
import { maskFor } from '../../../src/gate/recording/mask.ts';
import { maskSummary } from '../../../src/gate/recording/mask-summary.ts';
import { OutputLines } from '../../../src/gate/recording/output-lines.ts';

const nothing = { secrets: [], hosts: [], users: [] };
const mask = (text: string) => maskFor(nothing)(text);
const hex = (value: number, digits = 0) => value.toString(16).padStart(digits, '0');

describe('a mask', () => {
  // Attack read/recorded-names: A recording reveals host names, serial numbers, host ids, carp passwords, encoded
  // secrets or key paths. Defence: Each machine is asked for its names first; these and known forms are replaced
  // consistently, and the end prints counts.
  test.each([
    ['192.168.1.7', '192.0.2.1'],
    ['10.1.2.3:22', '192.0.2.1:22'],
    ['tcp4 0 0 10.1.2.3.22 10.9.9.9.4711', 'tcp4 0 0 192.0.2.1.22 192.0.2.2.4711'],
    ['192.168.1.0/24 link#1', '192.0.2.1/24 link#1'],
    ['00:07:43:2e:e1:70', '00:00:5e:00:53:00'],
    ['00-07-43-2E-E1-70', '00-00-5E-00-53-00'],
    ['a0:b1:c2:d3:e4:f5 and A0-B1-C2-D3-E4-F5', '00:00:5e:00:53:00 and 00-00-5E-00-53-00'],
    ['0:7:43:2e:e1:70', '00:00:5e:00:53:00'],
    ['2a01:4f8::7%cxl0', '2001:db8::1%cxl0'],
    ['[2A01:04F8:0:0:0:0:0:7]:22', '[2001:db8::1]:22'],
    ['2a01:4f8::7 2a01:04f8:0000:0000:0000:0000:0000:0007', '2001:db8::1 2001:db8::1'],
    ['fe80::207:43ff:fe2e:e170%cxl0 prefixlen 64', 'fe80::1%cxl0 prefixlen 64'],
    ['::ffff:10.1.2.3 10.1.2.3 ::ffff:a01:203', '::ffff:192.0.2.1 192.0.2.1 ::ffff:192.0.2.1'],
    ['10%2e1%2E2%2e3', '192.0.2.1'],
    ['2a01%3A4f8%3a%3A7', '2001:db8::1'],
    ['{"a":"\\u0031\\u0030.1.2.3"}', '{"a":"192.0.2.1"}'],
    ['%2531%2530.1.2.3', '192.0.2.1'],
    ['kern.hostuuid: 564d7a24-0a5c-11ee-be56-0242ac120002', 'kern.hostuuid: 00000000-0000-4000-8000-000000000001'],
    ['smbios.system.serial="PT7A-0042"', 'smbios.system.serial="SERIAL1"'],
    ['\tSerial Number: S4EWNX0R', '\tSerial Number: SERIAL1'],
    ['ecap 0003[140] = Serial 1 0007432ee170ffff', 'ecap 0003[140] = Serial 1 SERIAL1'],
    ['dev.t5nex.0.sn: PT17150123', 'dev.t5nex.0.sn: SERIAL1'],
    ['root@build.corp.example:/usr/obj', 'root@host-1.example:/usr/obj'],
    ['alice@lab7 and /home/alice/key', 'user-1@host-1.example and /home/user-1/key'],
    ['search lab.corp.internal', 'search host-1.example'],
    ['Authorization: Basic cm9vdDpjYWx2aW4=', 'Authorization: Basic secret-1'],
    ['password=calvin7', 'password=secret-1'],
    ['{"token": "abc.def-77"}', '{"token": "secret-1"}'],
    ['ghp_0123456789abcdefghijABCDEFGHIJ', 'secret-1'],
    ['root:$6$saltsalt$hashhashhash:0', 'root:secret-1:0'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n', 'secret-1\n'],
    ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB alice@desk', 'ssh-ed25519 AAAA-public-key-1'],
    ['Gave up on "ping 192.168.1…"', 'Gave up on "ping …"'],
    ['Setting hostname: dut7.', 'Setting hostname: host-1.example.'],
    ['FreeBSD/amd64 (dut7) (ttyu0)', 'FreeBSD/amd64 (host-1.example) (ttyu0)'],
    ['dut7 login: ', 'host-1.example login: '],
    ['Nov 26 01:02:03 dut7 kernel: igb0: up', 'Nov 26 01:02:03 host-1.example kernel: igb0: up'],
    ['Nov  6 01:02:03 d7 sshd[812]: bye', 'Nov  6 01:02:03 host-1.example sshd[812]: bye'],
    ['FreeBSD dut7 15.0-CURRENT #0', 'FreeBSD host-1.example 15.0-CURRENT #0'],
    ['hostname="dut7"', 'hostname="host-1.example"'],
    ['dut7 dumped core - see /var/crash', 'host-1.example dumped core - see /var/crash'],
    ['Setting hostid: 0x3f1f9d4c.', 'Setting hostid: SERIAL1.'],
    ['kern.hostid: 1059036492', 'kern.hostid: SERIAL1'],
    ['/dev/diskid/DISK-S4EWNX0Rp2', '/dev/diskid/DISK-SERIAL1p2'],
    ['diskid/DISK-%20%20WD-WCC4N1 is it', 'diskid/DISK-%20%20SERIAL1 is it'],
    ['   ident: S4EWNX0R', '   ident: SERIAL1'],
    ['   lunid: 5000c500a1b2c3d4', '   lunid: SERIAL1'],
    ['label: naa.5000c500a1b2c3d4', 'label: naa.SERIAL1'],
    ['WWPN 21:00:00:24:ff:01:02:03', 'WWPN SERIAL1'],
    ['LU WWN Device Id: 5 0014ee 2b1234567', 'LU WWN Device Id: SERIAL1'],
    ['ada0: Serial Number S4EWNX0R', 'ada0: Serial Number SERIAL1'],
    ['inet vhid 1 advskew 100 pass mekmitasdigoat alias', 'inet vhid 1 advskew 100 pass secret-1 alias'],
    ['ifconfig_igb0="vhid 1 pass \'ab cd\'"', 'ifconfig_igb0="vhid 1 pass \'secret-1 cd\'"'],
    ['pass mekmitasdigoat vhid 1', 'pass secret-1 vhid 1'],
    ['password = "correct horse \\" battery"', 'password = "secret-1"'],
    ["passphrase: 'two words'", "passphrase: 'secret-1'"],
    ['"{\\"token\\": \\"two words\\"}"', '"{\\"token\\": \\"secret-1\\"}"'],
    ['add 10.1.2.3 10.1.2.4 esp 1 -E aes-cbc "sixteen letters!"', 'add 192.0.2.1 192.0.2.2 esp 1 -E aes-cbc secret-1'],
  ])('masks %j as %j', (text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  test.each([
    'cxl0@pci0:2:0:0:\tclass=0x020000 rev=0x00',
    'pkt-gen -s 198.18.10.1:2000-198.18.10.20 -d 198.19.10.1:2000-198.19.10.100',
    '[2001:2:0:10::1]-[2001:2:0:10::14] 2001:2:0:8010::1',
    'inet 127.0.0.1 netmask 255.255.255.0 ::1 fe80::%lo0/10 ff02::/16',
    '{ sec = 1700000000, usec = 12 } Tue Nov 14 22:13:20 2023',
    '892.123456 main_thread [2781] 14880952 pps (14895833 pkts 7149999840 bps in 1001000 usec)',
    'sysctl -n net.inet.ip.forwarding kern.conftxt hw.ncpu',
    'root logs in; /usr/src/x; user@',
    'ident GENERIC',
    'pass in quick on cxl0 inet proto carp keep state',
    'pass quick proto carp',
    'ident:\tGENERIC',
    'host-id: 0x0000',
    'Last login: Tue Nov 14 22:13:20 2023',
    'Tue Nov 14 22:13:20 UTC 2023',
    'FreeBSD 15.0-CURRENT GENERIC amd64',
    '0xffffffff80e0a1b0 T ip_input',
    'Filesystem 1024-blocks Used Avail Capacity Mounted on',
    '0000000000000000000000000000000000000000000000000000000000000000',
  ])('keeps %j', (text) => {
    expect(mask(text)).toBe(text);
  });

  test('masks given names as whole words, and given secrets anywhere and in base64', () => {
    const terms = {
      secrets: ['hunter2!'],
      hosts: ['dut3.lab.example.org', 'dut3'],
      users: ['alice'],
    };
    const text = `DUT3 dut3.lab.example.org alice's xhunter2!x ${btoa('hunter2!')} malice`;
    expect(maskFor(terms)(text)).toBe("host-1.example host-2.example user-1's xsecret-1x secret-2= malice");
  });
});

describe('a machine’s own names in its output', () => {
  // Attack read/recorded-names
  test.each([
    ['long', 'Setting hostname: dut7.lab.example.org.\n', 'dut7.lab.example.org'],
    ['short', 'Setting hostname: dut7.lab.example.org.\n', 'dut7'],
    ['of its domain', 'Setting hostname: dut7.lab.example.org.\n', 'lab.example.org'],
    ['in its banner', 'FreeBSD/amd64 (dut7) (ttyu0)\n', 'dut7'],
  ])('is a name that is masked from there on: %s', (_, text, name) => {
    const hide = maskFor(nothing);
    const before = hide(text);
    const masked = hide(`savecore: ${name} has crashed, says ${name.toUpperCase()}`);
    expect(masked.toLowerCase()).not.toContain(name);
    const [standIn = ''] = /host-\d+\.example/.exec(masked) ?? [];
    expect(masked).toBe(`savecore: ${standIn} has crashed, says ${standIn}`);
    if (text.includes(`: ${name}.\n`)) expect(before).toContain(standIn);
  });

  // Attack read/recorded-names
  test('that was learnt before is masked in the first line, and within longer words', () => {
    const hide = maskFor(nothing);
    hide.learn({ hosts: ['dut7'], serials: ['S4EWNX0R', '3f1f9d4c'], secrets: ['mekmita'] });
    expect(hide('motd of dut7: ata-SSD_S4EWNX0R_x, id 0x3f1f9d4c, mekmita')).toBe(
      'motd of host-1.example: ata-SSD_SERIAL1_x, id 0xSERIAL2, secret-1',
    );
  });

  test.each(['Not Specified', '', '0123456789', '00000000', 'None'])(
    'in place of a serial number is no serial number: %j',
    (serial) => {
      const hide = maskFor({ ...nothing, serials: [serial] });
      expect(hide(`it says ${serial}`)).toBe(`it says ${serial}`);
    },
  );
});

describe('a secret', () => {
  const secret = `it's "5 < 6"`;
  const bytes = Buffer.from(secret);
  // Attack read/recorded-names
  test.each([
    ['plain', secret],
    ['in JSON', JSON.stringify({ a: secret })],
    ['in a shell', `'${secret.replaceAll("'", `'\\''`)}'`],
    ['in XML', 'it&#39;s &quot;5 &lt; 6&quot;'],
    ['in hex', bytes.toString('hex')],
    ['in upper-case hex', bytes.toString('hex').toUpperCase()],
    ['in hex with colons', [...bytes].map((byte) => hex(byte, 2)).join(':')],
    ['in hex with blanks', [...bytes].map((byte) => hex(byte, 2)).join(' ')],
    ['in base64', bytes.toString('base64')],
    ['in base64 for URLs', bytes.toString('base64url')],
    ['in percent', encodeURIComponent(secret)],
  ])('is masked %s', (_, text) => {
    const masked = maskFor({ ...nothing, secrets: [secret] })(`x ${text} x`);
    expect(masked).toMatch(/^x \W*(?:"a":")?secret-\d\W* x$/);
  });

  // Attack read/recorded-names
  test('is masked in base64 of a longer text, no matter where it begins', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]{8,40}$/), fc.string(), fc.string(), (secret, before, after) => {
        const text = Buffer.from(before + secret + after).toString('base64');
        const masked = maskFor({ ...nothing, secrets: [secret] })(text);
        expect(masked).toContain('secret-');
      }),
    );
  });
});

// Attack read/recorded-names
test('counts its replacements, by kinds, and keeps none of them', () => {
  const hide = maskFor({ ...nothing, hosts: ['dut7', 'dut8'], secrets: ['hunter2!'] });
  hide('dut7 DUT7 dut8 10.1.2.3 127.0.0.1 hunter2!');
  hide('dut7');
  expect(Object.fromEntries(hide.counts())).toEqual({
    secret: { times: 1, distinct: 1 },
    'host name': { times: 4, distinct: 2 },
    address: { times: 1, distinct: 1 },
  });
  expect(maskSummary('a b.gz', hide.counts())).toBe(`a b.gz is written. Replaced in it:
  1 secret (once)
  2 host names (4 times)
  1 address (once)
The rest is as the machines printed it; look at it before you send it: zcat 'a b.gz' | less
`);
});

const octet = fc.integer({ min: 0, max: 255 });
const inet4 = fc
  .tuple(fc.integer({ min: 1, max: 223 }), octet, octet, octet)
  .filter(([a, b]) => a !== 127 && !(a === 198 && (b === 18 || b === 19)))
  .filter(
    ([a, b, c]) =>
      ![
        [192, 0, 2],
        [198, 51, 100],
        [203, 0, 113],
      ].some(([x, y, z]) => a === x && b === y && c === z),
  );
const inet6 = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 7, maxLength: 7 })
  .map((groups) => [0x2a00, ...groups]);
const mac = fc.array(octet, { minLength: 5, maxLength: 5 }).map((bytes) => [0x3c, ...bytes]);

type Written = { needle: string; text: string };

/** Generates an address and one of its notations. */
const address: fc.Arbitrary<Written> = fc.oneof(
  inet4.map((octets) => ({ needle: octets.join('.'), text: octets.join('.') })),
  inet4.map((octets) => ({ needle: octets.join('.'), text: `::ffff:${octets.join('.')}` })),
  inet6.map((groups) => compressed(groups.map((group) => hex(group)).join(':'))),
  inet6.map((groups) => ({
    ...compressed(groups.map((group) => hex(group)).join(':')),
    text: groups
      .map((group) => hex(group, 4))
      .join(':')
      .toUpperCase(),
  })),
  inet6.map((groups) => {
    const written = compressed(groups.map((group) => hex(group)).join(':'));
    return { ...written, text: `${written.text}%igb0` };
  }),
  fc.tuple(mac, fc.constantFrom(':', '-'), fc.boolean()).map(([bytes, separator, isUpper]) => {
    const text = bytes.map((byte) => hex(byte, 2)).join(separator);
    return {
      needle: bytes.map((byte) => hex(byte, 2)).join(''),
      text: isUpper ? text.toUpperCase() : text,
    };
  }),
);

function compressed(text: string): Written {
  const { address: written } = new SocketAddress({ address: text, family: 'ipv6' });
  return { needle: written, text: written };
}

const percent = (text: string) => text.replace(/[\s\S]/g, (sign) => `%${hex(sign.charCodeAt(0), 2)}`);
const json = (text: string) => text.replace(/[\s\S]/g, (sign) => `\\u${hex(sign.charCodeAt(0), 4)}`);
const writings = [(text: string) => text, percent, json, (text: string) => percent(percent(text))];

/** Searches as a reader who knows the notation does. */
function holds(text: string, { needle }: Written): boolean {
  const plain = decodeEscapes(text).text.toLowerCase();
  const pressed = plain.replace(/(?<=[0-9a-f]{2})[:-](?=[0-9a-f]{2})/g, '');
  const addresses = plain.match(/[0-9a-f:.]{3,}/g) ?? [];
  return (
    plain.includes(needle) ||
    pressed.includes(needle) ||
    addresses.some((one) => isIPv6(one) && compressed(one).needle === needle)
  );
}

const around = fc.constantFrom(
  ' ',
  '\n',
  '"',
  '[',
  ']',
  '(',
  ')',
  ',',
  '=',
  '/',
  '@',
  ' at ',
  "'",
  '\t',
  '<',
  '>',
  ';',
);

describe('any output of a host', () => {
  // Attack secret/recorded-address: A recording contains addresses of a lab, in any notation. Defence: Each gets a
  // placeholder of its form, except well-known addresses.
  test('keeps no address except well-known ones, in any notation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), around, address, around, fc.constantFrom(...writings)), {
          minLength: 1,
          maxLength: 5,
        }),
        (pieces) => {
          const text = pieces
            .map(([before, left, { text: written }, right, write]) => before + left + write(written) + right)
            .join('');
          const masked = mask(text);
          for (const [, , written] of pieces) expect(holds(masked, written)).toBe(false);
        },
      ),
    );
  });

  // Attack secret/recorded-secret: A recording attached to a bug report contains passwords, keys or tokens, perhaps
  // encoded. Defence: Known and likely secrets are replaced in whole lines before anything is written.
  test('masks every secret, in chunks of any size', () => {
    const secret = fc
      .stringMatching(/^[!-~]{8,40}$/)
      .filter((text) => !text.startsWith('-----') && !text.includes('%') && !text.includes('\\'));
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        (secrets, noise, sizes) => {
          const output = Buffer.from(
            secrets.map((one, index) => `${noise[index % noise.length]?.replaceAll('\0', '')}${one}\n`).join(''),
          );
          const lines = new OutputLines();
          const hide = maskFor({ ...nothing, secrets });
          const kept: string[] = [];
          for (let from = 0, turn = 0; from < output.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            kept.push(hide(lines.add(output.subarray(from, from + size))));
            from += size;
          }
          kept.push(hide(lines.end().rest));
          for (const one of secrets) expect(kept.join('')).not.toContain(one);
        },
      ),
    );
  });

  test('gives an address the same stand-in in each notation', () => {
    fc.assert(
      fc.property(inet6, (groups) => {
        const [short, long] = [
          compressed(groups.map((group) => hex(group)).join(':')).text,
          groups.map((group) => hex(group, 4)).join(':'),
        ];
        const [one, other] = mask(`${short} ${long}`).split(' ');
        expect(one).toBe(other);
      }),
    );
  });

  // Attack secret/replay
  test('reads endless beginnings of addresses in linear time', () => {
    for (const piece of ['a:', '1.', 'a.', '::', '%25', 'x@', 'ab-', '\\u0031', '-----BEGIN ']) {
      const text = piece.repeat(40_000 / piece.length);
      // CPU time of this thread, because a starved machine may suspend it for long.
      const begun = process.threadCpuUsage();
      mask(text);
      expect(process.threadCpuUsage(begun).user).toBeLessThan(20e6);
    }
  });
});

describe('the recorded lines of a stream', () => {
  test('end before a partial line and before binary output, and count that', () => {
    const lines = new OutputLines();
    expect(lines.add(Buffer.from('one\ntw'))).toBe('one\n');
    expect(lines.add(Buffer.from('o\n'))).toBe('two\n');
    expect(lines.add(Buffer.from('\0\x01'))).toBe('');
    expect(lines.add(Buffer.from('more\n'))).toBe('');
    expect(lines.end()).toMatchObject({ rest: '', omitted: { bytes: 7 } });
  });

  test('keep a private key together until its last line', () => {
    const lines = new OutputLines();
    expect(lines.add(Buffer.from('-----BEGIN EC PRIVATE KEY-----\nMHcC\n'))).toBe('');
    const key = lines.add(Buffer.from('AQE=\n-----END EC PRIVATE KEY-----\n'));
    expect(maskFor(nothing)(key)).toBe('secret-1\n');
  });
});
