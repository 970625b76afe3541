// The embedded lab as a person at a shell meets it.

import { labDown, labLeftovers, labUp } from '../linux-lab/lab.ts';
import { LabImpossibleError, missingPackages, requireRights } from '../linux-lab/requirements.ts';
import { exitCodes } from '../words/upshot.ts';

export async function up(): Promise<number> {
  await requireAll();
  const { sender, dut, receiver } = await labUp();
  for (const [role, { host, user, privateKeyPath, knownHostsPath }] of Object.entries({
    sender,
    DUT: dut,
    receiver,
  })) {
    say(
      `${role}: ssh -i ${privateKeyPath} -o UserKnownHostsFile=${knownHostsPath} ${user}@${host}`,
    );
  }
  return exitCodes.pass;
}

export async function down(): Promise<number> {
  await requireRights();
  await labDown();
  return exitCodes.pass;
}

export async function check(): Promise<number> {
  await requireAll();
  const { namespaces, processes } = await labLeftovers();
  say('This machine can carry the lab.');
  say(
    namespaces.length === 0
      ? 'Nothing of a lab is there.'
      : `There are ${namespaces.join(', ')}, with ${processes.length} processes.`,
  );
  return exitCodes.pass;
}

async function requireAll(): Promise<void> {
  await requireRights();
  const packages = await missingPackages();
  if (packages.length === 0) return;
  const names = packages.join(' ');
  throw new LabImpossibleError(
    `The embedded lab needs ${names}: run 'apt-get install ${names}', or 'ppsgate demo', which does.`,
  );
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
