// Describes differences between a recording and its replay by the current code.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { formatShortOrdinal } from '../../model/format.ts';
import { oneLine, reasonOf } from '../../model/one-line.ts';
import { type RecordedRequest, requestText } from './read-recording.ts';
import type { ReplayedMachines } from './replay-machines.ts';

export type ReplayDifference = {
  kind: 'not-understood' | 'asked-otherwise' | 'made-otherwise' | 'incomplete';
  number?: number;
  sentence: string;
};

export type ReplayPart = {
  name: string;
  request: unknown;
  /** Each with the number of requests before it. */
  outcomes: { value: unknown; after: number }[];
  requests: readonly RecordedRequest[];
};

export type PartReplay = { diagnostics: Diagnostic[]; differences: ReplayDifference[] };

export const differenceAt = (
  kind: ReplayDifference['kind'],
  request: RecordedRequest,
  why: string,
): ReplayDifference => ({
  kind,
  number: request.number,
  sentence: oneLine(`the recording's ${formatShortOrdinal(request.number)} question, ${requestText(request)}: ${why}`),
});

export const unreadable = (part: string): PartReplay => ({
  diagnostics: [],
  differences: [
    {
      kind: 'incomplete',
      sentence: `the recorded ${part} cannot be read, so it is not repeated`,
    },
  ],
});

export const broken = (error: unknown): ReplayDifference => ({
  kind: 'made-otherwise',
  sentence: oneLine(`the current code fails on it: ${reasonOf(error)}`),
});

export function requestDifferences({ unrecorded, incomplete }: ReplayedMachines): ReplayDifference[] {
  return [
    ...unrecorded.map(({ text, after }): ReplayDifference => {
      const position =
        after === undefined ? 'at the start' : `after the recording's ${formatShortOrdinal(after.number)} question`;
      return {
        kind: 'asked-otherwise',
        ...(after !== undefined && { number: after.number }),
        sentence: oneLine(`${position} the current code asks a question that is not in the recording: ${text}`),
      };
    }),
    ...incomplete.map((request) =>
      differenceAt(
        'incomplete',
        request,
        request.ended === undefined
          ? 'the recording ends before its reply'
          : 'a part of its output is not in the recording',
      ),
    ),
  ];
}

/** Compares diagnostics in their order for each `what`; `normalized` removes texts that may differ. */
export function diagnosticDifferences(
  then: readonly Diagnostic[],
  now: readonly Diagnostic[],
  normalized = (text: string) => text,
): ReplayDifference[] {
  const unmatched = [...now];
  return then.flatMap((recorded) => {
    const index = unmatched.findIndex(({ what }) => what === recorded.what);
    const [replayed] = index === -1 ? [] : unmatched.splice(index, 1);
    const before = textOf(recorded);
    const after = replayed === undefined ? 'not compared' : textOf(replayed);
    if (normalized(before) === normalized(after)) return [];
    const sentence = oneLine(`${recorded.what} was ${before} when recorded, but is ${after} now`);
    return [{ kind: 'made-otherwise', sentence } as const];
  });
}

const textOf = ({ kind, why }: Diagnostic): string => `${kind} (${why})`;
