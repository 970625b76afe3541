// `ppsgate lab`: controls the embedded lab by hand.
import type { Command } from 'commander';
import { labDown, labLeftovers, labUp } from '../../lab/netns/embedded-lab.ts';
import { requireLab } from '../../lab/netns/requirements.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { runToExit } from '../../system/exit.ts';

export function define(lab: Command): void {
  lab.addHelpText('after', '\nExample:\n  sudo ppsgate lab up && ip netns exec ppsgate-dut ip route');

  lab
    .command('up')
    .description('set up the three namespaces, their cables and their sshd; replaces an earlier lab')
    .action(() => runToExit(up, lab.optsWithGlobals()));
  lab
    .command('down')
    .description('remove the lab, and every process in it')
    .action(() => runToExit(down, lab.optsWithGlobals()));
  lab
    .command('check')
    .description('check that this machine can run the lab, and show what exists of one')
    .action(() => runToExit(check, lab.optsWithGlobals()));
}

async function up(): Promise<number> {
  await requireLab();
  const { sender, dut, receiver } = await labUp();
  for (const [role, { host, user, privateKeyPath, knownHostsPath }] of Object.entries({
    sender,
    DUT: dut,
    receiver,
  })) {
    print(`${role}: ssh -i ${privateKeyPath} -o UserKnownHostsFile=${knownHostsPath} ${user}@${host}`);
  }
  return exitCodes.pass;
}

async function down(): Promise<number> {
  await requireLab('embedded-linux', ['ip']);
  await labDown();
  return exitCodes.pass;
}

async function check(): Promise<number> {
  await requireLab();
  const { namespaces, processes } = await labLeftovers();
  print('This machine can run the lab.');
  print(
    namespaces.length === 0
      ? 'No lab exists.'
      : `The lab exists: ${namespaces.join(', ')}, with ${processes.length} processes.`,
  );
  return exitCodes.pass;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);
