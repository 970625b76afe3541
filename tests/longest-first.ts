// What takes longest begins first, so that no CPU waits for the last file at the end: a fresh clone knows no times of its own.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than a quarter of a minute each, the longest first. */
const longest = [
  ...[
    'jenkins/library',
    'testbed/freebsd-faults-machines',
    'testbed/freebsd-faults-kernels',
    'e2e/chaos',
    'commands/reserve',
  ],
  ...[
    'testbed/freebsd-faults-rules',
    'testbed/freebsd-study',
    'relay/inbox',
    'action/step',
    'testbed/health',
    'action/admit',
  ],
  ...['power/redfish', 'reservation/etcd', 'studies/revisions', 'publish/data-branch'],
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((path) => moduleId.endsWith(`/${path}.slow.test.ts`));
  return index === -1 ? longest.length : index;
}
