// A self-test done again on what the machines said then.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { fencedDeps } from '../../lab/lease/testbed-fence.ts';
import { runSelfTest } from '../self-test/self-test.ts';
import { journalIn, resumeJournal } from '../self-test/self-test-journal.ts';
import { selfTestReport, selfTestRequest } from './read-recording-request.ts';
import type { Difference, Part, PartAgain } from './replay.ts';
import { broken, changes, differencesOf, unreadable } from './replay-check.ts';
import { replayDeps } from './replay-machines.ts';
import { renamed, standInKernel } from './replay-testbed.ts';

/** A stand-in takes the place of the kernel, which no recording holds: how that came to be is not done again. */
export async function replaySelfTest({
  request,
  questions,
  told,
  toldAfter,
}: Part): Promise<PartAgain> {
  const { data: asked } = selfTestRequest.safeParse(request);
  if (asked === undefined) return { diagnostics: [], differences: [unreadable('self-test')] };
  const said = told.flatMap((value, index) => {
    const { data } = selfTestReport.safeParse(value);
    return data === undefined ? [] : [{ ...data, after: toldAfter[index] ?? 0 }];
  });
  const agreed = said.flatMap((one) => ('agreed' in one ? one.agreed : []));
  const found = said.flatMap((one) => ('diagnostic' in one ? one : []));
  const then = found.map(({ diagnostic }) => diagnostic as Diagnostic);
  const directory = await mkdtemp(join(tmpdir(), 'ppsgate-replay-'));
  const diagnostics: Diagnostic[] = [];
  const differences: Difference[] = [];
  try {
    const kernel = await standInKernel('base', questions, directory, 0);
    const replayed = replayDeps(renamed(questions, [kernel]));
    const { name, testbed, config, rules, skip, journal, token } = asked;
    const lease = { token: token ?? 0, assertHeld() {}, prove: async () => {} };
    const machines =
      token === undefined ? replayed.deps : fencedDeps(replayed.deps, testbed, lease);
    await writeFile(journalIn(directory), journal.join('\n'));
    const again = runSelfTest(
      {
        ...{ name, testbed, config, rules, directory, baseKernel: kernel.path },
        skip: new Set(skip),
        journal: resumeJournal(directory, name),
      },
      {
        ...machines,
        agrees: async () => agreed.shift() ?? false,
        notify() {},
        keepLog: async () => {},
        history: { append: async () => {} },
        signal: new AbortController().signal,
      },
    );
    try {
      for await (const diagnostic of again) {
        diagnostics.push(diagnostic);
        // What comes next is not to suffer from what this one did not ask.
        const before = found.find(({ diagnostic: { what } }) => what === diagnostic.what);
        if (before !== undefined) replayed.skipTo(before.after);
      }
    } catch (error) {
      differences.push(broken(error));
    }
    const isHere = ({ what }: Diagnostic) => what !== 'the kernel of base';
    differences.push(...differencesOf(replayed));
    differences.push(...changes(then.filter(isHere), diagnostics.filter(isHere), withoutTimes));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return { diagnostics, differences };
}

/** The time between two questions is not that of then. */
const withoutTimes = (words: string): string =>
  words.replace(/\b(?:under )?\d+ (?:min|s|h|days)\b/g, '…');
