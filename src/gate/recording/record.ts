// Starts the recording of `--record FILE`.
import packageJson from '../../../package.json' with { type: 'json' };
import type { TestbedConfig } from '../../config/schema.ts';
import { UsageError } from '../../model/usage-error.ts';
import { giveNew } from '../../system/give-to-caller.ts';
import { isRecordable, type RecordableTestbed } from './recordable-testbed.ts';
import { type Recorder, startRecording } from './recorder.ts';
import { sensitiveTermsOf } from './sensitive-terms.ts';

/** Masks the secrets of all these testbeds; `command` is like `testbeds check`. Throws a UsageError. */
export async function recordTo(
  path: string,
  command: string,
  testbeds: readonly TestbedConfig[],
  now = () => Date.now() / 1000,
  report = (summary: string): void => void process.stderr.write(summary),
): Promise<Recorder> {
  const some = testbeds.filter((testbed) => isRecorded(testbed, command));
  if (some.length === 0) {
    const kinds = command === 'gate' ? '`kind: freebsd` or `kind: virtual`' : '`kind: freebsd`';
    throw new UsageError(`--record: \`ppsgate ${command}\` records testbeds of ${kinds} only; leave it out.`);
  }
  const terms = await Promise.all(some.map((testbed) => sensitiveTermsOf(testbed)));
  const recorder = startRecording(path, {
    command,
    now,
    report,
    ppsgate: packageJson.version,
    sensitive: {
      secrets: terms.flatMap(({ secrets }) => secrets),
      hosts: terms.flatMap(({ hosts }) => hosts),
      users: terms.flatMap(({ users }) => users),
      serials: terms.flatMap(({ serials = [] }) => serials),
      others: new Map(terms.flatMap(({ others }) => [...(others ?? [])])),
    },
  });
  await giveNew(path);
  return recorder;
}

/** Excludes a check of virtual machines, which makes its own recording. */
const isRecorded = (testbed: TestbedConfig, command: string): testbed is RecordableTestbed =>
  isRecordable(testbed) && (testbed.kind === 'freebsd' || command === 'gate');

/** Removes the credentials of power control and console, which may hold a password. */
export const recordable = <Request extends { testbed: RecordableTestbed }>(request: Request) => {
  const { testbed } = request;
  if (testbed.kind === 'virtual') return request;
  const { power, console, ...dut } = testbed.dut;
  const kept = {
    ...dut,
    ...(power !== undefined && { power: { kind: power.kind } }),
    ...(console !== undefined && { console: { kind: console.kind } }),
  };
  return { ...request, testbed: { ...testbed, dut: kept } };
};
