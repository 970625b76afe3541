// Records a self-test: its request, the consents to accidents, and its diagnostics.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { runSelfTest } from '../self-test/self-test.ts';
import type { SelfTestDeps, SelfTestRequest } from '../self-test/self-test-request.ts';
import { recordable } from './record.ts';
import type { Recorder } from './recorder.ts';

/** Runs the self-test; `deps` are the recorder's, `token` is that of the lease. */
export async function* recordedSelfTest(
  recorder: Recorder,
  request: SelfTestRequest,
  deps: SelfTestDeps,
  token?: number,
): AsyncGenerator<Diagnostic> {
  const { name, testbed, config, rules, skip, journal } = request;
  const { scenarios, families, frameSizes, traffic, profile, gate } = config;
  recorder.begin('self-test', {
    ...recordable({ name, testbed }),
    config: { scenarios, families, frameSizes, traffic, profile, gate },
    rules,
    skip: [...skip],
    journal: journal.lines(),
    token,
  });
  const agrees = async (question: string) => {
    const agreed = await deps.agrees(question);
    recorder.log('self-test', { agreed });
    return agreed;
  };
  for await (const diagnostic of runSelfTest(request, { ...deps, agrees })) {
    recorder.log('self-test', { diagnostic });
    yield diagnostic;
  }
}
