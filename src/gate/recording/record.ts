// Starts the recording of `--record FILE`.
import packageJson from '../../../package.json' with { type: 'json' };
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { TestbedConfig } from '../../config/schema.ts';
import { UsageError } from '../../model/usage-error.ts';
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
  const freebsd = testbeds.filter((testbed) => testbed.kind === 'freebsd');
  if (freebsd.length === 0) {
    throw new UsageError(
      '--record: only testbeds of `kind: freebsd` can be recorded; leave it out.',
    );
  }
  const terms = await Promise.all(freebsd.map((testbed) => sensitiveTermsOf(testbed)));
  return startRecording(path, {
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
}

/** Removes the access data of power control and console, which may hold a password. */
export const recordable = <Request extends { testbed: FreebsdTestbed }>(request: Request) => {
  const { testbed } = request;
  const { power, console, ...dut } = testbed.dut;
  const kept = {
    ...dut,
    ...(power !== undefined && { power: { kind: power.kind } }),
    ...(console !== undefined && { console: { kind: console.kind } }),
  };
  return { ...request, testbed: { ...testbed, dut: kept } };
};
