// Starts the longest files first, so that no CPU waits for the last one: a fresh clone has no recorded times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { labInTurn } from './lab-in-turn.ts';

/** Seconds of a file beside others on two CPUs, if these are twenty or more, or five of the lab's. */
const seconds: Readonly<Record<string, number>> = {
  'jenkins/library.slow': 60,
  'e2e/chaos.slow': 60,
  'e2e/demo.lab': 80,
  'lab/power/ipmi-guest.slow': 60,
  'publish/site/build-site.browser.slow': 30,
  'gate/bisect/bisect.slow': 73,
  'e2e/action.lab': 80,
  'lab/qemu/gate.lab': 62,
  'action/step.slow': 59,
  'lab/linux/restoring.slow': 25,
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
  'fakes/freebsd-lab/serve.slow': 35,
  'studies/designs.law': 34,
  'kernel/cross-build.slow': 31,
  'lab/console/console.slow': 31,
  'lab/power/redfish.slow': 29,
  'publish/nightly.slow': 29,
  'forge/patch/revision.slow': 28,
  'action/admit.slow': 27,
  'studies/mellanox-search.slow': 27,
  'action/report-trend.slow': 26,
  'gate/estimate/estimates.slow': 26,
  'cli/commands/plan.slow': 25,
  'bundle.slow': 24,
  'e2e/relay.lab': 24,
  'forge/patch/repository.slow': 24,
  'lab/power/ipmi.slow': 24,
  'gate/reserve/store/store.slow': 23,
  'analysis/profile/flamegraph.browser.slow': 22,
  'lab/netns/described-traffic.lab': 22,
  'action/bisect.slow': 21,
  'lab/netns/profile.lab': 19,
  'lab/netns/routers.lab': 7,
  'lab/netns/embedded-lab.lab': 5,
  'lab/netns/health.lab': 5,
  'lab/qemu/windows.lab': 5,
};

const otherSeconds = 4;

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
