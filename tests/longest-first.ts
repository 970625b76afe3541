// Starts the longest files first, so that no CPU waits for the last one: a fresh clone has no recorded times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds beside others on two CPUs: of files of fifty or more, and of the lab's, which follow each other. */
const seconds: Readonly<Record<string, number>> = {
  'lab/qemu/gate.lab': 130,
  'e2e/action.lab': 100,
  'e2e/demo.lab': 80,
  'lab/qemu/vm/image.lab': 72,
  'lab/netns/netns-testbed.lab': 65,
  'lab/power/ipmi-guest.lab': 45,
  'e2e/relay.lab': 29,
  'lab/netns/described-traffic.lab': 24,
  'lab/netns/limits.lab': 15,
  'lab/qemu/windows.lab': 14,
  'lab/netns/profile.lab': 12,
  'kernel/kernel.slow': 110,
  'gate/bisect/range.slow': 90,
  'lab/linux/restoring.slow': 88,
  'e2e/chaos.slow': 80,
  'jenkins/library.slow': 79,
  'kernel/linux-kernels.slow': 75,
  'action/publish.slow': 74,
  'publish/site/build-site.browser.slow': 70,
  'forge/patch/repository.slow': 58,
  'gate/bisect/bisect.slow': 58,
  'publish/nightly.slow': 55,
  'gate/reserve/store/etcd.slow': 50,
};

const otherSeconds = 5;

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timed = (await super.sort(files)).map((file) => ({
      file,
      seconds: secondsOf(nameOf(file)),
      isInLab: file.project.name === 'lab',
    }));
    const longest = timed.toSorted((one, other) => other.seconds - one.seconds);
    const isBesideLab = ({ file }: { file: TestSpecification }) =>
      file.project.name === 'slow' || file.project.name === 'lab';
    // The others have ended before.
    const computing = longest.filter((one) => !isBesideLab(one));
    return [...computing, ...labInTurn(longest.filter(isBesideLab))].map(({ file }) => file);
  }
}

const nameOf = ({ moduleId }: TestSpecification): string =>
  moduleId.replace(/^.*\/tests\//, '').replace(/\.test\.ts$/, '');

const secondsOf = (name: string): number => seconds[name] ?? otherSeconds;

/**
 * Keeps the order, but a file of the lab comes when the one before it is about to end, on so many processes: a process that
 * waits for the lab does nothing else.
 */
function labInTurn<File extends { seconds: number; isInLab: boolean }>(files: readonly File[], processes = 4): File[] {
  const inLab = files.filter(({ isInLab }) => isInLab);
  const others = files.filter(({ isInLab }) => !isInLab);
  const ordered: File[] = [];
  const busyUntil = Array.from({ length: processes }, () => 0);
  let labUntil = 0;
  for (;;) {
    busyUntil.sort((one, other) => one - other);
    const [now = 0] = busyUntil;
    const isFree = labUntil <= now;
    const next = (isFree ? inLab.shift() : undefined) ?? others.shift() ?? inLab.shift();
    if (next === undefined) return ordered;
    ordered.push(next);
    busyUntil[0] = (next.isInLab ? Math.max(now, labUntil) : now) + next.seconds;
    if (next.isInLab) labUntil = busyUntil[0];
  }
}
