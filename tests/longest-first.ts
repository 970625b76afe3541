// Starts the longest files first, so that no CPU waits for the last one: a fresh clone has no recorded times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take more than a quarter of a minute each, in the order in which they begin: first those that start hundreds
 * of programs, because a process that has loaded little yet does that in a tenth of the time; then the longest; and the
 * next one with the lab when the one before is about to leave it.
 */
const first = [
  'analysis/stats/simulate.law',
  'analysis/extreme-numbers.law',
  'e2e/events.lab',
  'forge/patch/repository.slow',
  'kernel/kernel.slow',
  'forge/patch/revision.slow',
  'jenkins/library.slow',
  'lab/freebsd/faults-machines.slow',
  'e2e/chaos.slow',
  'e2e/demo.lab',
  'lab/freebsd/faults-kernels.slow',
  'lab/freebsd/faults-rules.slow',
  'publish/data-branch/branch.slow',
  'forge/github/storm.slow',
  'studies/revisions.slow',
  'studies/mellanox-bisection.slow',
  'e2e/action.lab',
  'lab/freebsd/study.slow',
  'gate/gate.slow',
  'lab/freebsd/freebsd-testbed.slow',
  'action/step.slow',
  'lab/netns/netns-testbed.lab',
  'gate/self-test/self-test.slow',
  'gate/recording/replay.slow',
  'lab/freebsd/paths.slow',
  'analysis/profile/flamegraph.browser.slow',
  'studies/small-losses.slow',
  'gate/reserve/model.slow',
  'lab/power/redfish.slow',
  'e2e/relay.lab',
  'lab/netns/profile.lab',
  'gate/reserve/store/etcd.slow',
  'studies/no-change.slow',
  'cli/commands/simulate.slow',
  'lab/check/health.slow',
  'lab/netns/embedded-lab.lab',
  'lab/netns/health.lab',
  'lab/freebsd/lab-time.slow',
  'fakes/freebsd-lab/serve.slow',
  'lab/freebsd/dut/freebsd-dut.slow',
  'relay/setup-check.slow',
  'lab/freebsd/boot/boot-nanobsd.slow',
  'cli/commands/self-test.slow',
  'docs/lab-benches.slow',
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = first.findIndex((path) => moduleId.endsWith(`/${path}.test.ts`));
  return index === -1 ? first.length : index;
}
