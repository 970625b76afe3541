// Reports what stays in force on a Linux DUT beside the rules of every variant, and whether its own rules can be restored.
import { lastLine } from '../../model/one-line.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { linuxDutScript } from './linux-script.ts';

export type Leftover = { why: string; fix: string };

/** `interfaces` are those that forward. Changes nothing on the DUT, not even a file. */
export async function findLeftovers(
  host: Host,
  interfaces: readonly string[],
): Promise<Leftover[]> {
  const command = shell`bash -s leftovers ${interfaces}`;
  const text = await host.output(command, { stdin: linuxDutScript });
  return text.split('\n').flatMap((line) => leftover(line.slice(0, mostShown).split(' ')) ?? []);
}

/** Returns why the DUT's own rules could not be restored; undefined if they could. */
export async function whyUnrestorable(host: Host): Promise<string | undefined> {
  const outcome = await host.run(shell`bash -s provable`, { stdin: linuxDutScript });
  if (outcome.kind === 'exited' && outcome.code === 0) return undefined;
  return lastLine(outcome.stderr)?.replace(/^prove: /, '') ?? 'the DUT said nothing';
}

const mostShown = 300;

function leftover([kind, name = '', ...rest]: string[]): Leftover | undefined {
  const words = rest.join(' ');
  switch (kind) {
    case 'legacy':
      return inForce(
        `the tables ${words} of ${name}tables-legacy`,
        'flush them, and unload their modules',
      );
    case 'owned':
      return inForce(
        `the nftables table ${name} ${words}, which a running program owns,`,
        'stop that program: firewalld, for one',
      );
    case 'xdp':
      return inForce(`an XDP program of ${name}`, `\`ip link set dev ${name} xdp off\``);
    case 'tc':
      return inForce(`the discipline ${words} of ${name}`, `\`tc qdisc del dev ${name} …\``);
    case 'unseen':
      return {
        why: `XDP programs and filters of tc(8) are not looked for, as the DUT lacks ${name}`,
        fix: 'install iproute2 there',
      };
    default:
      return undefined;
  }
}

const inForce = (what: string, fix: string): Leftover => ({
  why: `${what} stays in force beside the rules of every variant, and takes its time from every number`,
  fix,
});
