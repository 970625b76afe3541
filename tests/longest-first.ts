// Starts the longest files first, so that no CPU waits for the last one: a fresh clone has no recorded times.
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { labInTurn } from './lab-in-turn.ts';

/** Seconds of a file beside others on two CPUs, if these are twenty or more. */
const seconds: Readonly<Record<string, number>> = {
  'e2e/events.lab': 195,
  'e2e/demo.lab': 178,
  'jenkins/library.slow': 168,
  'e2e/chaos.slow': 160,
  'analysis/stats/simulate.law': 157,
  'lab/qemu/gate.lab': 151,
  'lab/qemu/vm/image.lab': 133,
  'gate/estimate/estimates.slow': 121,
  'kernel/linux-kernels.slow': 120,
  'e2e/action.lab': 116,
  'publish/site/build-site.browser.slow': 105,
  'lab/netns/netns-testbed.lab': 102,
  'publish/data-branch/branch.slow': 90,
  'forge/github/storm.slow': 84,
  'lab/power/ipmi-guest.slow': 77,
  'cli/commands/mistakes.slow': 76,
  'action/step.slow': 74,
  'gate/bisect/range.slow': 61,
  'forge/patch/repository.slow': 58,
  'kernel/cross-build.slow': 58,
  'action/report-trend.slow': 53,
  'lab/linux/restoring.slow': 53,
  'cli/commands/simulate.slow': 52,
  'publish/nightly.slow': 51,
  'relay/answers-storm.slow': 51,
  'action/publish.slow': 49,
  'gate/reserve/store/etcd.slow': 48,
  'gate/reserve/model.slow': 47,
  'publish/reporters/alerts.slow': 44,
  'action/nightly.slow': 41,
  'e2e/relay.lab': 41,
  'cli/commands/bisect.slow': 39,
  'cli/demo/demo-repository.slow': 39,
  'action/changed-of-gate.slow': 38,
  'gate/bisect/bisect.slow': 34,
  'action/admit.slow': 33,
  'analysis/profile/flamegraph.browser.slow': 32,
  'forge/patch/revision.slow': 32,
  'gate/estimate/durations.slow': 32,
  'lab/power/redfish.slow': 32,
  'report/html.browser.slow': 32,
  'fakes/freebsd-lab/serve.slow': 31,
  'gate/gate.slow': 31,
  'lab/power/ipmi.slow': 31,
  'lab/freebsd/faults-machines.slow': 30,
  'relay/relay.slow': 30,
  'studies/mellanox-search.slow': 30,
  'cli/commands/completion.slow': 28,
  'gate/recording/replay.slow': 28,
  'cli/commands/plan.slow': 26,
  'fakes/freebsd-lab/real-answers.slow': 26,
  'lab/console/console.slow': 25,
  'lab/netns/profile.lab': 25,
  'analysis/extreme-numbers.law': 24,
  'gate/reserve/store/sqlite.slow': 24,
  'lab/freebsd/kernels.slow': 23,
  'action/bisect.slow': 22,
  'cli/commands/resume.slow': 22,
  'lab/netns/requirements.slow': 21,
  'relay/setup-check.slow': 21,
  'report/bisect.browser.slow': 21,
  'gate/reserve/store/store.slow': 20,
  'kernel/unchanged.slow': 20,
  'lab/qemu/vm/kernel-files.slow': 20,
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
