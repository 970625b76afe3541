// What takes longest begins first, so that no CPU waits for the last file at the end: a fresh clone knows no times of its own.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take more than a quarter of a minute each, in the order in which they begin: first those that start hundreds
 * of programs, because a process that has loaded little yet does that in a tenth of the time; then the longest; and the
 * next one with the lab when the one before is about to leave it.
 */
const first = [
  ...['e2e/events.lab', 'patch/repository.slow', 'build/kernel.slow', 'patch/revision.slow'],
  ...['jenkins/library.slow', 'testbed/freebsd/faults-machines.slow', 'e2e/chaos.slow'],
  ...['e2e/demo.lab', 'testbed/freebsd/faults-kernels.slow', 'testbed/freebsd/faults-rules.slow'],
  ...['data-branch/branch.slow', 'github/storm.slow', 'studies/revisions.slow'],
  ...['studies/mellanox-bisection.slow', 'e2e/action.lab', 'testbed/freebsd/study.slow'],
  ...['gate.slow', 'testbed/freebsd/testbed.slow', 'action/step.slow', 'linux-lab/testbed.lab'],
  ...['self-test/self-test.slow', 'recording/replay.slow', 'testbed/freebsd/paths.slow'],
  ...['profile/flamegraph.browser.slow', 'studies/small-losses.slow', 'reservation/model.slow'],
  ...['power/redfish.slow', 'e2e/relay.lab', 'linux-lab/profile.lab', 'reservation/etcd.slow'],
  ...['studies/no-change.slow', 'commands/simulate.slow', 'check/health.slow'],
  ...['linux-lab/lab.lab', 'linux-lab/health.lab', 'testbed/freebsd/lab-time.slow'],
  ...['fakes/freebsd-lab/serve.slow', 'dut/freebsd.slow', 'relay/check.slow'],
  ...['dut/freebsd-boot-nanobsd.slow', 'commands/self-test.slow', 'docs/lab-benches.slow'],
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
