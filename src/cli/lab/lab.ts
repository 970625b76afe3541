// `ppsgate lab`: controls the embedded lab by hand.
import { labDown, labLeftovers, labUp } from '../../lab/netns/embedded-lab.ts';
import { requireLab } from '../../lab/netns/requirements.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { print } from '../table.ts';

export async function up(): Promise<number> {
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

export async function down(): Promise<number> {
  await requireLab('embedded-linux', ['ip']);
  await labDown();
  return exitCodes.pass;
}

export async function check(): Promise<number> {
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
