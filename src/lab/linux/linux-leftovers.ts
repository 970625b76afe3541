// Reports what stays in force on a Linux DUT in addition to each variant's rules, and whether its own rules can be
// restored.
import { lastLine } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { linuxDutScript } from './linux-script.ts';

export type Leftover = { why: string; fix: string };

/** `interfaces` are those that forward. Changes nothing on the DUT, not even a file. */
export async function findLeftovers(host: Host, interfaces: readonly string[]): Promise<Leftover[]> {
  const command = shell`bash -s leftovers ${interfaces}`;
  return readLeftovers(await host.output(command, { stdin: linuxDutScript }));
}

/** Reads what the script's `leftovers` prints. */
export const readLeftovers = (text: string): Leftover[] =>
  text.split('\n').flatMap((line) => leftover(line.slice(0, maxShown).split(' ')) ?? []);

/** Returns why the DUT's own rules could not be restored; undefined if they could. */
export async function whyUnrestorable(host: Host): Promise<string | undefined> {
  const outcome = await host.run(shell`bash -s provable`, { stdin: linuxDutScript });
  if (outcome.kind === 'exited' && outcome.code === 0) return undefined;
  return lastLine(outcome.stderr)?.replace(/^prove: /, '') ?? 'the DUT said nothing';
}

const maxShown = 300;

function leftover([kind, name = '', ...rest]: string[]): Leftover | undefined {
  const words = rest.join(' ');
  switch (kind) {
    case 'legacy':
      return inForce(`the tables ${words} of ${name}tables-legacy`, 'flush them, and unload their modules');
    case 'owned':
      return inForce(
        `the nftables table ${name} ${words}, owned by a running program,`,
        'stop that program, for example firewalld',
      );
    case 'xdp':
      return inForce(`an XDP program on ${name}`, `\`ip link set dev ${name} xdp off\``);
    case 'tc':
      return inForce(`the queueing discipline ${words} on ${name}`, `\`tc qdisc del dev ${name} …\``);
    case 'tcx':
      return inForce(`a BPF program at the tcx ${words} of ${name}`, stopItsProgram);
    case 'bpf':
      return inForce(
        `a netfilter BPF program, at the ${hookNames[Number(words)] ?? words} hook of ${familyNames[name] ?? `family ${name}`},`,
        stopItsProgram,
      );
    case 'ipvs':
      return inForce('the IPVS service table', '`ipvsadm --clear`');
    case 'xfrm':
      return inForce('an IPsec policy', '`ip xfrm policy flush`');
    case 'unseen':
      return unseen[name];
    default:
      return undefined;
  }
}

const stopItsProgram =
  'stop the program that attached it: `bpftool link show` and `bpftool net show` of the kernel’s version list it';

/** Names hooks by their numbers in <linux/netfilter.h>. */
const hookNames = ['prerouting', 'input', 'forward', 'output', 'postrouting'];
const familyNames: Readonly<Record<string, string>> = { 1: 'inet', 2: 'ip', 10: 'ip6' };

const unseenWithout = (program: string, what: string, itsPackage: string): Leftover => ({
  why: `${what} are not checked, because the DUT lacks ${program}`,
  fix: `install ${itsPackage} on it`,
});

const unseen: Readonly<Record<string, Leftover>> = {
  ip: unseenWithout('ip', 'XDP programs and filters of tc(8)', 'iproute2'),
  tc: unseenWithout('tc', 'XDP programs and filters of tc(8)', 'iproute2'),
  perl: unseenWithout('perl', 'BPF programs of tcx and netfilter', 'perl'),
  bpf: {
    why: 'BPF programs of tcx and netfilter are not checked, because the DUT’s kernel does not list them for this login',
    fix: 'log in as root, with the system call bpf(2) allowed',
  },
};

const inForce = (what: string, fix: string): Leftover => ({
  why: `${what} stays active beside the rules of every variant and slows every measurement`,
  fix,
});
