// Gives a recording to the code of today: what it does not understand, asks otherwise, or makes something else of.
import type { Diagnostic } from '../../lab/check/diagnostic.ts';
import { oneLine } from '../../model/one-line.ts';
import { type Mark, type Question, questionText, type Recording } from './read-recording.ts';
import { replayCheck } from './replay-check.ts';
import { replaySelfTest } from './replay-self-test.ts';
import { replayTestbed } from './replay-testbed.ts';
import { whyNotUnderstood } from './understood.ts';

/** Something that is not as it was, or that nobody here understands; `number` is that of the question. */
export type Difference = {
  kind: 'not-understood' | 'asked-otherwise' | 'made-otherwise' | 'incomplete';
  number?: number;
  sentence: string;
};

export type Replay = {
  head: Recording['head'];
  isTorn: boolean;
  /** What was said by machines: commands, logins, uploads, power. */
  questions: number;
  hosts: string[];
  /** All that is not as it was, in the order of the recording. */
  differences: Difference[];
  /** What the code of today finds where a check or a self-test was recorded. */
  diagnostics: Diagnostic[];
};

/** One part of a recording, from its beginning to its end. */
export type Part = {
  name: string;
  request: unknown;
  told: unknown[];
  /** After how many questions of the recording each of them was told. */
  toldAfter: number[];
  questions: readonly Question[];
};

/** Does again what was recorded, part by part. */
export async function replay(recording: Recording): Promise<Replay> {
  const { head, isTorn, questions } = recording;
  const differences = questions.flatMap((question) => {
    const why = whyNotUnderstood(question);
    return why === undefined ? [] : [differenceAt('not-understood', question, why)];
  });
  const diagnostics: Diagnostic[] = [];
  for (const part of partsOf(recording)) {
    const again = await partAgain(part);
    diagnostics.push(...again.diagnostics);
    differences.push(...again.differences);
  }
  return {
    ...{ head, isTorn, diagnostics },
    questions: questions.filter(({ asked }) => asked.what !== 'sleep').length,
    hosts: [...new Set(questions.map(({ host }) => host))].filter((host) => host !== 'clock'),
    differences: differences.toSorted((one, other) => (one.number ?? 1e9) - (other.number ?? 1e9)),
  };
}

export const differenceAt = (
  kind: Difference['kind'],
  question: Question,
  why: string,
): Difference => ({
  kind,
  number: question.number,
  sentence: oneLine(
    `the recording's ${ordinal(question.number)} question, ${questionText(question)}: ${why}`,
  ),
});

export function ordinal(number: number): string {
  const isTeen = number % 100 > 10 && number % 100 < 14;
  return `${number}${(isTeen ? undefined : ['th', 'st', 'nd', 'rd'][number % 10]) ?? 'th'}`;
}

export type PartAgain = { diagnostics: Diagnostic[]; differences: Difference[] };

function partAgain(part: Part): Promise<PartAgain> | PartAgain {
  switch (part.name) {
    case 'check':
      return replayCheck(part);
    case 'self-test':
      return replaySelfTest(part);
    case 'testbed':
      return replayTestbed(part);
    default:
      return { diagnostics: [], differences: [] };
  }
}

/** A part lasts until its last word, or until the next one begins. */
function partsOf({ marks, questions }: Recording): Part[] {
  const begins = marks.filter(({ kind }) => kind === 'begins');
  return begins.map((mark) => {
    const own = marks.slice(marks.indexOf(mark) + 1);
    const next = own.findIndex(({ kind }) => kind === 'begins');
    const mine = (next === -1 ? own : own.slice(0, next)).filter(({ part }) => part === mark.part);
    const end = ends(mark, own, questions.length);
    return {
      name: mark.part,
      request: mark.value,
      told: mine.map(({ value }) => value),
      toldAfter: mine.map(({ after }) => after),
      questions: questions.slice(mark.after, end),
    };
  });
}

const ends = (mark: Mark, own: readonly Mark[], last: number): number =>
  own.find(({ kind, part }) => kind === 'begins' && part === mark.part)?.after ?? last;
