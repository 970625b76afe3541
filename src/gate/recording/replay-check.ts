// A check done again on what the machines said then.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { checkFreebsdTestbed } from '../../lab/check/freebsd-check.ts';
import { oneLine, reasonOf } from '../../model/one-line.ts';
import { checkRequest } from './read-recording-request.ts';
import { type Difference, differenceAt, ordinal, type Part, type PartAgain } from './replay.ts';
import { type ReplayDeps, replayDeps } from './replay-machines.ts';

export async function replayCheck({ request, questions, told }: Part): Promise<PartAgain> {
  const { data: check } = checkRequest.safeParse(request);
  if (check === undefined) return { diagnostics: [], differences: [unreadable('check')] };
  const replayed = replayDeps(questions);
  const diagnostics: Diagnostic[] = [];
  const differences: Difference[] = [];
  const deps = { ...replayed.deps, notify() {}, signal: new AbortController().signal };
  try {
    for await (const diagnostic of checkFreebsdTestbed(check, deps)) diagnostics.push(diagnostic);
  } catch (error) {
    differences.push(broken(error));
  }
  return {
    diagnostics,
    differences: [
      ...differences,
      ...differencesOf(replayed),
      ...changes(told as Diagnostic[], diagnostics),
    ],
  };
}

export const unreadable = (part: string): Difference => ({
  kind: 'incomplete',
  sentence: `what the recording says of its ${part} cannot be read here, so that it is not done again`,
});

export const broken = (error: unknown): Difference => ({
  kind: 'made-otherwise',
  sentence: oneLine(`the code of today breaks on it: ${reasonOf(error)}`),
});

/** What was asked otherwise, or cannot be answered whole. */
export function differencesOf({ strangers, unanswered }: ReplayDeps): Difference[] {
  return [
    ...strangers.map(({ text, after }): Difference => {
      const place =
        after === undefined
          ? 'first of all'
          : `after the recording's ${ordinal(after.number)} question`;
      return {
        kind: 'asked-otherwise',
        ...(after !== undefined && { number: after.number }),
        sentence: oneLine(`${place} the code of today asks what the recording has not: ${text}`),
      };
    }),
    ...unanswered.map((question) =>
      differenceAt(
        'incomplete',
        question,
        question.ended === undefined
          ? 'the recording ends before it did'
          : 'a part of what it wrote is not in the recording',
      ),
    ),
  ];
}

/** What is found otherwise now, for each thing and each time that it was looked at. */
export function changes(
  then: readonly Diagnostic[],
  now: readonly Diagnostic[],
  compared = (words: string) => words,
): Difference[] {
  const left = [...now];
  return then.flatMap((diagnostic) => {
    const index = left.findIndex(({ what }) => what === diagnostic.what);
    const [found] = index === -1 ? [] : left.splice(index, 1);
    const isSame =
      found !== undefined && compared(wordsOf(found)) === compared(wordsOf(diagnostic));
    if (isSame) return [];
    const is = found === undefined ? 'not looked at' : wordsOf(found);
    const sentence = oneLine(
      `${diagnostic.what} was ${wordsOf(diagnostic)} then, and is ${is} now`,
    );
    return [{ kind: 'made-otherwise', sentence } as const];
  });
}

const wordsOf = ({ kind, why }: Diagnostic): string => `${kind} (${why})`;
