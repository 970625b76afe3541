// Checks three Linux hosts before their use as a testbed: logins, programs and interfaces.
import type { LinuxTestbed } from '../../config/schema.ts';
import { type Program, packagesOf } from '../../model/packages.ts';
import { missingOn } from '../../system/host/programs.ts';
import { shell } from '../../system/shell.ts';
import { findLeftovers, whyUnrestorable } from '../linux/linux-leftovers.ts';
import { neededPrograms } from '../netns/netns-testbed.ts';
import {
  type CheckedMachine,
  type CheckStep,
  type Connect,
  type Diagnostic,
  loginStep,
  ok,
  on,
  sshTo,
  testbedFailed,
  walk,
  wrong,
} from './diagnostic.ts';

export async function* checkLinuxTestbed(
  testbed: LinuxTestbed,
  { connect, signal }: { connect: Connect; signal: AbortSignal },
): AsyncGenerator<Diagnostic> {
  await using opened = new AsyncDisposableStack();
  const { sender, dut, receiver } = linuxMachinesOf(testbed);
  const machines = [sender, dut, receiver];
  for (const machine of machines) opened.defer(async () => machine.host?.close());
  const steps = [
    ...machines.map((machine) => loginStep(machine, connect)),
    programsStep(sender, neededPrograms.sender),
    programsStep(dut, neededPrograms.dut),
    ...machines.flatMap((machine) => machine.names.map((name) => interfaceStep(machine, name))),
    rulesStep(dut),
    leftoversStep(dut),
  ];
  yield* walk(steps, { signal, failed: testbedFailed });
}

type LinuxMachine = CheckedMachine & { names: string[] };

export function linuxMachinesOf({
  sender,
  dut,
  receiver,
}: LinuxTestbed): Record<'sender' | 'dut' | 'receiver', LinuxMachine> {
  const machine = (label: string, config: CheckedMachine['config'], ...names: string[]): LinuxMachine => ({
    label,
    config,
    host: undefined,
    names,
  });
  return {
    sender: machine('the sender', sender, sender.interface),
    dut: machine('the DUT', dut, dut.ingress, dut.egress),
    receiver: machine('the receiver', receiver, receiver.interface),
  };
}

const withPrograms = (machine: LinuxMachine, what: string, look: Parameters<typeof on>[2]): CheckStep => ({
  ...on(machine, what, look),
  needs: [sshTo(machine), programsOf(machine)],
});

const programsOf = ({ label }: CheckedMachine): string => `the programs of ${label}`;

const programsStep = (machine: CheckedMachine, programs: readonly Program[]): CheckStep =>
  on(machine, programsOf(machine), async (host, what) => {
    const missing = await missingOn(host, programs);
    if (missing.length === 0) return [ok(what, 'all are installed')];
    const fix = `\`apt-get install ${packagesOf(missing).join(' ')}\` on it, or the equivalent packages of its system`;
    return [wrong(what, `${missing.join(' and ')} not found`, fix)];
  });

const rulesStep = (dut: LinuxMachine): CheckStep =>
  withPrograms(dut, 'preexisting rules of the DUT', async (host, what) => {
    const why = await whyUnrestorable(host);
    if (why === undefined) return [ok(what, 'a gate can restore them')];
    const fix =
      'remove them, install the program that manages them, stop the program that owns them, or use another machine as the DUT';
    return [wrong(what, why, fix)];
  });

const leftoversStep = (dut: LinuxMachine): CheckStep =>
  withPrograms(dut, 'other filters of the DUT', async (host, what) => {
    const found = await findLeftovers(host, dut.names);
    if (found.length === 0) return [ok(what, 'none is active')];
    return found.map(({ why, fix }) => wrong(what, why, fix));
  });

export function interfaceStep(machine: CheckedMachine, name: string): CheckStep {
  const what = `${name} of ${machine.label}`;
  return {
    what,
    needs: [sshTo(machine)],
    async run() {
      const outcome = await machine.host?.run(shell`test -e ${`/sys/class/net/${name}`}`);
      if (outcome?.kind === 'exited' && outcome.code === 0) return [ok(what, 'it exists')];
      const fix = `correct \`${name}\` in ppsgate.yml: \`ip link\` on ${machine.label} lists its interfaces`;
      return [wrong(what, 'there is no such interface', fix)];
    },
  };
}
