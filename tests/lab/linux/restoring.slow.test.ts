// Restores machines as their owners may have set them up, each in a network namespace.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linuxDutScript } from '../../../src/lab/linux/linux-script.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith } from '../../needs.ts';

const needs = ['root', 'nft', 'unshare', 'flock', 'ip', 'iptables-nft', 'iptables-legacy'];

const inNetwork = (...args: string[]) =>
  spawnSync('unshare', ['--net', 'bash', ...args], { encoding: 'utf8', cwd: temporaryFolder() });

function uploaded(): string {
  const path = join(temporaryFolder(), 'dut.bash');
  writeFileSync(path, linuxDutScript);
  return path;
}

describeWith(needs, 'a Linux DUT', () => {
  const places = ['unshare *', 'nft -f */patched/forwarding.nft', 'nft -f */before/rules/*', 'rm -f */before/done'];

  test.for([
    ['mixed', 'rules of iptables-nft and -legacy, NAT like Docker’s, and a table that a running program owns', places],
    ['native', 'sets, quotas, counters, an ingress hook and a sleeping table of nft', [places[2] ?? '']],
  ] as const)(
    'is byte for byte as before, also after kill -9: %s (%s)',
    { timeout: 120_000 },
    ([machine, , killed]) => {
      const program = join(import.meta.dirname, 'restoring.bash');
      const { stdout } = inNetwork(program, uploaded(), machine, ...killed);
      expect(stdout.trimEnd().split('\n')).toEqual([
        'exit 0: the same',
        ...killed.map((place) => `killed (137) at ${place}, restored (0): the same`),
      ]);
    },
  );

  /** Runs words of bash beside which `dut` is the program; `$1` is the folder of a variant that has `settings`. */
  const run = (words: string, settings = '') => {
    const path = uploaded();
    const variant = join(path, '../patched');
    mkdirSync(variant);
    writeFileSync(join(variant, 'sysctl.conf'), settings);
    writeFileSync(join(variant, 'forwarding.nft'), 'flush ruleset\n');
    const setUp = `dut() { bash ${path} "$@"; }; ip link set lo up; ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up`;
    const { stdout, stderr } = inNetwork('-c', `${setUp}; ${words}`, 'bash', variant);
    return { stdout, stderr };
  };

  test('leaves rules alone that neither nft nor an installed manager can write', () => {
    const { stdout, stderr } = run(
      'iptables-nft -A FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT; mkdir bin; ln -s $(command -v nft grep sed cut cat mkdir mv rm dirname flock unshare head bash ip) bin; PATH=$PWD/bin dut remember </dev/null; echo $?; iptables-nft-save | grep ^-A; dut restore; rm -r bin',
    );
    expect(stdout).toBe('1\n-A FORWARD -m conntrack --ctstate ESTABLISHED -j ACCEPT\n');
    expect(stderr).toMatch(/prove: the table ip filter would not come back as it is/);
  });

  test('leaves rules alone whose match "recent" remembers addresses', () => {
    const { stdout, stderr } = run(
      'iptables-nft -A INPUT -m recent --name bad --set; echo +192.0.2.1 >/proc/net/xt_recent/bad; dut remember </dev/null; echo $?; dut restore; wc -l </proc/net/xt_recent/bad',
    );
    expect(stdout).toBe('1\n1\n');
    expect(stderr).toContain('the lists of the match "recent" hold addresses');
  });

  /** Has a program own the table inet held, as firewalld owns its own. */
  const hold =
    'exec 5> >(exec nft -i >/dev/null 2>&1); echo "add table inet held { flags owner; }" >&5; until nft list tables | grep -q held; do :; done';

  test('leaves rules alone that would be restored behind a table with an owner', () => {
    const { stdout, stderr } = run(
      `nft add table ip first; ${hold}; nft add table ip last; dut remember </dev/null; echo $?; dut provable 2>/dev/null; echo $?; nft list tables; dut restore`,
    );
    expect(stdout).toBe('1\n1\ntable ip first\ntable inet held\ntable ip last\n');
    expect(stderr).toMatch(/^prove: a running program owns the table inet held, .* and the table ip first, /);
  });

  test.for(['net/ipv6/conf/all/disable_ipv6', 'net/ipv6/conf/d0/disable_ipv6', 'net/ipv6/conf/all/addr_gen_mode'])(
    'refuses a setting that drops more than a value, before anything is flushed: %s',
    (name) => {
      const { stdout, stderr } = run(
        `nft add table inet ours; ip address add 2001:db8::8/64 dev d0 nodad; echo ${name} | dut remember; dut check $1; echo $?; dut lay $1 forwarding; echo $?; cat /proc/sys/${name}; nft list tables; ip -6 address show dev d0 | grep -c 2001:db8; dut restore`,
        `${name} = 1\n`,
      );
      expect(stdout).toBe('1\n1\n0\ntable inet ours\n1\n');
      expect(stderr).toContain(`\nsetting ${name}\n`);
    },
  );

  test('refuses to turn on forwarding where that drops routes that a router advertised', () => {
    // SIOCADDRT with RTF_UP, RTF_ADDRCONF and RTF_DEFAULT, as the kernel adds them itself.
    const route = `perl -e 'socket(S, 10, 2, 0); ioctl(S, 0x890B, pack("x16 x16 a16 L S S L x4 Q L l", pack("n8", 0xfe80, 0, 0, 0, 0, 0, 0, 9), 0, 0, 0, 1024, 0, 0x50003, $ARGV[0])) or die' $(cat /sys/class/net/d0/ifindex 2>/dev/null || ip -o link show d0 | cut -d: -f1)`;
    const { stdout, stderr } = run(
      `${route}; echo net/ipv6/conf/all/forwarding | dut remember; dut check $1; echo $?; ip -6 route show default | grep -c fe80::9`,
      'net/ipv6/conf/all/forwarding = 1\n',
    );
    expect(stdout).toBe('1\n1\n');
    expect(stderr).toContain('turning it on drops the routes that routers advertised');
  });

  // It would stay in force for base, and after the gate.
  test.for([
    ['it does not exist', 'net/ipv4/conf/late/rp_filter', 'No such file or directory'],
    ['it has no value yet', 'net/ipv6/conf/d0/stable_secret', 'Input/output error'],
  ] as const)('refuses a setting that cannot be read: %s', ([, name, why]) => {
    const { stdout, stderr } = run(`echo ${name} | dut remember; echo $?`);
    expect(stdout).toBe('1\n');
    expect(stderr).toMatch(new RegExp(`: ${why}\nsetting ${name}\n$`));
  });

  test('brings back every setting of this kernel that a variant may change, with all that each changes', () => {
    const paths = "find /proc/sys/net -type f -perm -u=rw -printf '%P\\n' | sed 's,^,net/,'";
    const lasting = "grep -v 'disable_ipv6\\|addr_gen_mode\\|stable_secret\\|nf_hooks_lwtunnel'";
    const accepted = run(
      `${paths} | ${lasting} | while read -r name; do read -r old </proc/sys/$name || continue; for new in $((old + 1)) $((old - 1)) 0; do [[ $new != "$old" ]] && echo $new >/proc/sys/$name && read -r now </proc/sys/$name && [[ $now == $new ]] && { echo "$name = $new"; break; }; done; echo "$old" >/proc/sys/$name; done 2>/dev/null`,
    ).stdout;
    expect(accepted.split('\n').length).toBeGreaterThan(100);
    const state = `{ grep -rsH '' /proc/sys/net | grep -v nf_conntrack_count; ip address; ip route show table all; ip neighbour show nud permanent; } | sed 's/ tentative//'`;
    const { stdout, stderr } = run(
      `ip address add 2001:db8::8/64 dev d0 nodad; ip -6 neighbour add 2001:db8::9 lladdr 02:00:5e:00:53:01 dev d0 nud permanent; ip -6 route add 2001:db8:1::/64 via 2001:db8::9; ip address add 198.18.0.1/24 dev d0; until ! ip address | grep -q tentative; do :; done; ${state} >before; cut -d ' ' -f 1 $1/sysctl.conf | dut remember && dut lay $1 forwarding; echo $?; ${state} | cmp -s - before; echo $?; dut lay $1 forwarding; dut restore; echo $?; ${state} | diff before -`,
      accepted,
    );
    expect({ stdout, stderr }).toEqual({ stdout: '0\n1\n0\n', stderr: '' });
  });

  test('writes limits in an order that the kernel accepts, after any variant', () => {
    const limits = '/proc/sys/net/ipv4/ipfrag_{low,high}_thresh';
    const { stdout, stderr } = run(
      `cat ${limits} >before; printf '%s\\n' net/ipv4/ipfrag_{low,high}_thresh | dut remember; dut lay $1 forwarding; cat ${limits}; dut restore; cat ${limits} | cmp - before && echo the same; rm before`,
      'net/ipv4/ipfrag_high_thresh = 2000\nnet/ipv4/ipfrag_low_thresh = 1000\n',
    );
    expect({ stdout, stderr }).toEqual({ stdout: '1000\n2000\nthe same\n', stderr: '' });
  });
});
