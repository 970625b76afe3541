// Starts the longest files first, so that no CPU waits for the last one: a fresh clone has no recorded times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take about half a minute or more each, in the order in which they begin: first those that start hundreds
 * of programs, because a process that has loaded little yet does that in a tenth of the time; then the longest; and the
 * next one with the lab when the one before is about to leave it.
 */
const first = [
  'e2e/events.lab',
  'forge/patch/repository.slow',
  'kernel/kernel.slow',
  'forge/patch/revision.slow',
  'lab/freebsd/faults-machines.slow',
  'kernel/linux-kernels.slow',
  'lab/freebsd/faults-kernels.slow',
  'lab/qemu/gate.lab',
  'jenkins/library.slow',
  'e2e/chaos.slow',
  'lab/freebsd/faults-rules.slow',
  'e2e/demo.lab',
  'gate/bisect/bisect.slow',
  'analysis/stats/simulate.slow',
  'publish/nightly.slow',
  'lab/qemu/vm/image.lab',
  'lab/freebsd/freebsd-testbed.slow',
  'gate/self-test/self-test.slow',
  'lab/freebsd/prepare.slow',
  'lab/power/ipmi-guest.lab',
  'action/step.slow',
  'publish/site/build-site.browser.slow',
  'publish/data-branch/branch.slow',
  'e2e/action.lab',
  'action/publish.slow',
  'studies/mellanox-search.slow',
  'forge/github/answers-storm.slow',
  'lab/netns/netns-testbed.lab',
  'gate/recording/replay.slow',
  'lab/qemu/freebsd-guests-faults.slow',
  'cli/commands/bisect.slow',
  'e2e/relay.lab',
  'cli/commands/mistakes.slow',
  'cli/commands/simulate.slow',
  'lab/netns/profile.lab',
  'forge/github/storm.slow',
  'action/changed-of-gate.slow',
  'lab/freebsd/study.slow',
  'lab/freebsd/dut/freebsd-dut.slow',
  'gate/bisect/range.slow',
  'lab/freebsd/boot/boot-nanobsd.slow',
  'cli/demo/demo-repository.slow',
  'lab/freebsd/lab-time.slow',
  'relay/answers-storm.slow',
  'action/report-trend.slow',
  'lab/freebsd/paths.slow',
  'lab/freebsd/kernels.slow',
  'action/nightly.slow',
  'fakes/freebsd-lab/serve.slow',
  'studies/small-losses.slow',
  'publish/reporters/alerts.slow',
  'studies/revisions.slow',
  'kernel/unchanged.slow',
  'studies/no-change.slow',
  'lab/check/health.slow',
  'lab/power/ipmi.slow',
  'gate/reserve/store/etcd.slow',
  'report/html.browser.slow',
  'action/bisect.slow',
  'gate/reserve/store/sqlite.slow',
  'lab/check/freebsd-check.slow',
  'gate/gate.slow',
  'lab/power/redfish.slow',
  'studies/mellanox-bisection.slow',
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
