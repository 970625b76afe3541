// Repeats a recorded check.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { checkFreebsdTestbed } from '../../lab/check/freebsd-check.ts';
import { checkRequest } from './recording-schemas.ts';
import { diagnosticDifferences, type PartReplay, type ReplayPart, unreadable } from './replay-difference.ts';
import { replayWork } from './stand-in-kernels.ts';

export async function replayCheck({ request, requests, outcomes }: ReplayPart): Promise<PartReplay> {
  const { data: check } = checkRequest.safeParse(request);
  if (check === undefined) return unreadable('check');
  const diagnostics: Diagnostic[] = [];
  const differences = await replayWork(requests, { testbed: check.testbed }, [], async ({ deps }) => {
    const checkDeps = { ...deps, notify() {}, signal: new AbortController().signal };
    for await (const diagnostic of checkFreebsdTestbed(check, checkDeps)) {
      diagnostics.push(diagnostic);
    }
  });
  const recorded = outcomes.map(({ value }) => value as Diagnostic);
  differences.push(...diagnosticDifferences(recorded, diagnostics));
  return { diagnostics, differences };
}
