// Starts the longest files first, so that no CPU waits for the last one: a fresh clone has no recorded times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds of a file beside others on two CPUs, if these are thirty or more. */
const seconds: Readonly<Record<string, number>> = {
  'jenkins/library.slow': 60,
  'e2e/chaos.slow': 60,
  'e2e/demo.lab': 80,
  'publish/site/build-site.browser.slow': 30,
  'gate/bisect/bisect.slow': 73,
  'e2e/action.lab': 80,
  'lab/qemu/gate.lab': 62,
  'action/step.slow': 59,
  'lab/netns/netns-testbed.lab': 58,
  'gate/reserve/store/etcd.slow': 57,
  'gate/bisect/range.slow': 50,
  'action/publish.slow': 48,
  'lab/qemu/vm/image.lab': 45,
  'kernel/kernel.slow': 45,
  'kernel/linux-kernels.slow': 40,
  'fakes/freebsd-lab/real-answers.slow': 40,
  'gate/reserve/model.slow': 40,
  'lab/freebsd/faults-machines.slow': 36,
  'lab/netns/limits.lab': 36,
  'studies/designs.law': 34,
  'kernel/cross-build.slow': 31,
  'lab/console/console.slow': 31,
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
