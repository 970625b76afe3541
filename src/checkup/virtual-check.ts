// Looks whether this machine carries virtual machines that boot, count and panic as a testbed needs: by one of them.
import { readFile } from 'node:fs/promises';
import type { VirtualTestbed } from '../config/virtual-testbed.ts';
import { lastWords } from '../console/shown.ts';
import { shell } from '../host/shell.ts';
import { LabInUseError } from '../linux-lab/owner.ts';
import { LabImpossibleError, requireLab } from '../linux-lab/requirements.ts';
import { connectTo } from '../testbed/connect.ts';
import { bootTogether } from '../testbed/virtual/boots.ts';
import { GuestEndedError } from '../virtual-lab/guest.ts';
import { KernelFilesError } from '../virtual-lab/kernel-files.ts';
import { guestCpu, type VirtualLab, virtualLabUp } from '../virtual-lab/lab.ts';
import { grouped } from '../words/format.ts';
import { reasonOf } from '../words/one-line.ts';
import { type Finding, lookAgain, ok, type Step, walk, wrong } from './finding.ts';

/** Finding after finding, as each is made; the laboratory is made for it, and taken down. */
export async function* checkVirtualTestbed(
  testbed: VirtualTestbed,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<Finding> {
  await using opened = new AsyncDisposableStack();
  const steps: Step[] = [
    {
      what: programs,
      async look(what) {
        await requireLab('virtual');
        return [ok(what, 'all are there, and this process may use them')];
      },
    },
    {
      what: 'a guest',
      needs: [programs],
      async look(what) {
        const lab = await virtualLabUp(testbed);
        opened.defer(() => lab.down());
        return bootAndPanic(what, lab, testbed, signal);
      },
    },
  ];
  yield* walk(steps, { signal, failed });
}

const programs = 'the programs of this machine';

async function bootAndPanic(
  what: string,
  lab: VirtualLab,
  { kernelPath, accelerator }: VirtualTestbed,
  signal: AbortSignal,
): Promise<Finding[]> {
  const kernel = await lab.kernel(kernelPath);
  const startedAt = performance.now();
  // A check boots no patch, so that the variant is but a name.
  const variant = { variant: 'base', commit: '', files: [] };
  const world = { lab, connect: connectTo, cpus: [guestCpu], signal };
  const [booted] = await bootTogether(world, [{ variant, kernel }]);
  if (booted?.kind !== 'booted') {
    const why = booted === undefined ? 'nothing was booted' : `it did not boot: ${booted.reason}`;
    return [wrong(what, why, lookAgain)];
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const findings = [ok(what, `${booted.kernel} was up after ${seconds} s`)];
  const { guest, host } = booted;
  if (guest.counts !== undefined) {
    const counted = Number((await readFile(guest.counts)).readBigUInt64LE());
    findings.push(ok('its instructions', `${grouped(counted)} were counted by then`));
  } else {
    const why = `with \`accelerator: ${accelerator}\` nobody counts them: its CPU time is told instead`;
    findings.push({ kind: 'skipped', what: 'its instructions', why });
  }
  // It dies of it, and the connection with it.
  await host.run(shell`echo c > /proc/sysrq-trigger`, { timeoutSeconds: 30 }).catch(() => {});
  await host.close();
  const { panic } = lastWords(guest.console(), false);
  findings.push(
    panic === undefined
      ? wrong('its console', 'it was told to panic, and shows none', lookAgain)
      : ok('its console', `told to panic, it shows "${panic}"`),
  );
  await guest.stop();
  return findings;
}

function failed(what: string, error: unknown): Finding {
  const isOurs = [LabImpossibleError, LabInUseError, KernelFilesError, GuestEndedError].some(
    (kind) => error instanceof kind,
  );
  if (!isOurs) throw error;
  return wrong(what, reasonOf(error), lookAgain);
}
