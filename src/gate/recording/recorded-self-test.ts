// A self-test that is recorded beside what its machines say: what it was asked for, what was agreed to, and what it found.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { runSelfTest } from '../self-test/self-test.ts';
import type { SelfTestDeps, SelfTestRequest } from '../self-test/self-test-request.ts';
import { recordable } from './record.ts';
import type { Recorder } from './recorder.ts';

/** See `self-test`; `world` is one of the recorder's, and `token` that of the lease. */
export async function* recordedSelfTest(
  recorder: Recorder,
  request: SelfTestRequest,
  deps: SelfTestDeps,
  token?: number,
): AsyncGenerator<Diagnostic> {
  const { name, testbed, config, rules, skip, journal } = request;
  const { scenarios, families, frameSizes, traffic, profile, gate } = config;
  recorder.begins('self-test', {
    ...recordable({ name, testbed }),
    config: { scenarios, families, frameSizes, traffic, profile, gate },
    ...{ rules, skip: [...skip], journal: journal.lines(), token },
  });
  const agrees = async (question: string) => {
    const agreed = await deps.agrees(question);
    recorder.tells('self-test', { agreed });
    return agreed;
  };
  for await (const diagnostic of runSelfTest(request, { ...deps, agrees })) {
    recorder.tells('self-test', { diagnostic });
    yield diagnostic;
  }
}
