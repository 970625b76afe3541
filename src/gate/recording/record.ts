// `--record FILE`: what everybody who records begins with.
import packageJson from '../../../package.json' with { type: 'json' };
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { TestbedConfig } from '../../config/schema.ts';
import { UsageError } from '../../model/usage-error.ts';
import { knownOf } from './known.ts';
import { type Recorder, startRecording } from './recorder.ts';

/**
 * A recorder that knows the secrets of all these testbeds; `command` is what is run, like `testbeds check`. Its `world`
 * is the one to be used from then on. Throws a UsageError where nothing can be recorded.
 */
export async function recordTo(
  path: string,
  command: string,
  testbeds: readonly TestbedConfig[],
  now = () => Date.now() / 1000,
): Promise<Recorder> {
  const recordable = testbeds.filter((testbed) => testbed.kind === 'freebsd');
  if (recordable.length === 0) {
    throw new UsageError(
      '--record: only testbeds of `kind: freebsd` can be recorded; leave it out.',
    );
  }
  const known = await Promise.all(recordable.map((testbed) => knownOf(testbed)));
  return startRecording(path, {
    ...{ command, now, ppsgate: packageJson.version },
    known: {
      secrets: known.flatMap(({ secrets }) => secrets),
      hosts: known.flatMap(({ hosts }) => hosts),
      users: known.flatMap(({ users }) => users),
      others: new Map(known.flatMap(({ others }) => [...(others ?? [])])),
    },
  });
}

/** A request as a recording has it: how the power and the console are reached is nobody's business, and may hold a password. */
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
