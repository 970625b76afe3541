// Tests finding filters in addition to a variant's rules, each in force in a network namespace.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLeftovers } from '../../../src/lab/linux/linux-leftovers.ts';
import { linuxDutScript } from '../../../src/lab/linux/linux-script.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith, testWith } from '../../needs.ts';

const bpfCall = { x64: 321, arm64: 280 }[process.arch as string];
const attach = `perl ${join(import.meta.dirname, 'attach-bpf.pl')} ${bpfCall}`;

/** Runs the words in a namespace with the ports d0 and d1, then the script; returns what it prints. */
function leftoversAfter(words: string, { lookAs = '' } = {}): string {
  const setUp = 'ip link set lo up; ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up';
  const program = `${setUp}; ${words}; ${lookAs} bash -s leftovers d0 d1; kill $! 2>/dev/null`;
  const { stdout, stderr } = spawnSync('unshare', ['--net', 'bash', '-c', program], {
    input: linuxDutScript,
    encoding: 'utf8',
    cwd: temporaryFolder(),
  });
  expect(stderr).toBe('');
  return stdout;
}

describeWith(['root', 'unshare', 'ip', 'tc', 'nft', 'perl'], 'a Linux DUT', () => {
  const number = '$(ip -o link show dev d0 | cut -d : -f 1)';

  test('reports nothing where nothing filters', () => {
    expect(leftoversAfter('nft add table inet own')).toBe('');
  });

  // A filter that survives `flush ruleset` slows base and patched alike, and hides a loss.
  testWith(
    bpfCall === undefined ? ['a known number of bpf(2)'] : [],
    'reports BPF programs of tcx and of netfilter, which ip, tc and nft show nowhere',
    () => {
      const words = `${attach} tcx ${number} >/dev/null; exec 5< <(exec ${attach} netfilter); read -ru 5`;
      const text = leftoversAfter(words);
      expect(text).toBe('tcx d0 ingress\nbpf 2 2\n');
      expect(readLeftovers(text).map(({ why }) => why)).toEqual([
        expect.stringContaining('a BPF program at the tcx ingress of d0 stays active'),
        expect.stringContaining('a netfilter BPF program, at the forward hook of ip, stays'),
      ]);
    },
  );

  test('reports a BPF program of tc(8) by its discipline', () => {
    const filter = `bpf bytecode '1,6 0 0 4294967295,'`;
    expect(leftoversAfter(`tc qdisc add dev d1 clsact; tc filter add dev d1 ingress ${filter}`)).toBe('tc d1 clsact\n');
  });
});

test('names tables of ebtables-legacy and IPVS, as the script prints them on a kernel of Debian', () => {
  expect(readLeftovers('legacy arp filter\nlegacy eb filter nat\nipvs\n').map(({ why }) => why)).toEqual([
    expect.stringContaining('the tables filter of arptables-legacy stays active'),
    expect.stringContaining('the tables filter nat of ebtables-legacy stays active'),
    expect.stringContaining('the IPVS service table stays active'),
  ]);
});
