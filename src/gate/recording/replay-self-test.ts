// Repeats a recorded self-test, with a stand-in for the kernel of base.
import { writeFile } from 'node:fs/promises';
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { runSelfTest } from '../self-test/self-test.ts';
import { journalIn, resumeJournal } from '../self-test/self-test-journal.ts';
import { selfTestReport, selfTestRequest } from './recording-schemas.ts';
import { diagnosticDifferences, type PartReplay, type ReplayPart, unreadable } from './replay-difference.ts';
import { replayWork } from './stand-in-kernels.ts';

export async function replaySelfTest({ request, requests, outcomes }: ReplayPart): Promise<PartReplay> {
  const { data: selfTest } = selfTestRequest.safeParse(request);
  if (selfTest === undefined) return unreadable('self-test');
  const reports = outcomes.flatMap(({ value, after }) => {
    const { data } = selfTestReport.safeParse(value);
    return data === undefined ? [] : [{ ...data, after }];
  });
  const consents = reports.flatMap((report) => ('agreed' in report ? report.agreed : []));
  const recorded = reports.flatMap((report) => ('diagnostic' in report ? report : []));
  const diagnostics: Diagnostic[] = [];
  const differences = await replayWork(requests, selfTest, ['base'], async (run) => {
    const { machines, deps, kernels, folder } = run;
    const { name, testbed, config, rules, skip, journal } = selfTest;
    await writeFile(journalIn(folder), journal.join('\n'));
    const replayed = runSelfTest(
      {
        name,
        testbed,
        config,
        rules,
        directory: folder,
        baseKernel: kernels[0]?.path,
        skip: new Set(skip),
        journal: resumeJournal(folder, name),
      },
      {
        ...deps,
        agrees: async () => consents.shift() ?? false,
        notify() {},
        keepLog: async () => {},
        history: { append: async () => {} },
        signal: new AbortController().signal,
      },
    );
    for await (const diagnostic of replayed) {
      diagnostics.push(diagnostic);
      // A request that was not made does not shift later ones.
      const same = recorded.find(({ diagnostic: { what } }) => what === diagnostic.what);
      if (same !== undefined) machines.skipTo(same.after);
    }
  });
  const then = recorded.map(({ diagnostic }) => diagnostic as Diagnostic);
  const isReplayed = ({ what }: Diagnostic) => what !== 'the kernel of base';
  differences.push(...diagnosticDifferences(then.filter(isReplayed), diagnostics.filter(isReplayed), withoutDurations));
  return { diagnostics, differences };
}

/** A replay does not keep the time between two requests. */
const withoutDurations = (text: string): string => text.replace(/\b(?:under )?\d+ (?:min|s|h|days)\b/g, '…');
