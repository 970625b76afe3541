// Builds the page of outcomes and exit codes from the table of src/model/conclusion.ts.
import type { BisectResult } from '../../src/model/bisect-result.ts';
import {
  type Conclusion,
  conclusionOfBisection,
  conclusionOfResult,
  conclusionOfVerdict,
  exitCodes,
} from '../../src/model/conclusion.ts';
import type { CellVerdict, Outcome } from '../../src/model/result.ts';
import { code, table } from './markdown.ts';

const meanings: Readonly<Record<Conclusion, string>> = {
  pass: 'The patch passes, or the command succeeded.',
  patchAtFault: 'The patch is at fault.',
  usage: 'The usage or the configuration is wrong.',
  undecided: 'The result is inconclusive or invalid.',
  infrastructure: 'The lab, or another service, failed.',
  cancelled: 'It was cancelled.',
};

export const exitMeanings: readonly { code: number; meaning: string }[] = keysOf(meanings).map((conclusion) => ({
  code: exitCodes[conclusion],
  meaning: meanings[conclusion],
}));

type Unjudged = Exclude<Outcome['kind'], 'judged'>;

const verdicts: Readonly<Record<CellVerdict['kind'], string>> = {
  regression: 'A significant loss, and a loss of the margin is not excluded.',
  'no-regression': 'A loss of the margin is excluded.',
  improvement: 'A significant gain, and a gain of the margin is not excluded.',
  inconclusive: 'The permitted runs show none of these.',
  invalid: 'Too few runs count, for the reason in the report.',
};

const unjudged: Readonly<Record<Unjudged, string>> = {
  unchanged: 'Nothing that the testbed installs differs from base; nothing was measured.',
  'does-not-apply': 'git cannot apply the diff to the base.',
  'build-failed': 'The kernel of the patch does not compile; base does.',
  'does-not-load': 'The rules or settings of the patch are refused twice.',
  'boot-failed': 'The kernel of the patch did not boot twice in a row.',
  'panics-under-load': 'The kernel of the patch died twice while rules were installed or traffic ran.',
  'out-of-disk': 'The builder or the DUT has too little free space.',
};

const bisections: Readonly<Record<BisectResult['answer']['kind'], string>> = {
  culprit: 'One commit causes the loss.',
  group: 'Several consecutive commits, which cannot be measured apart, cause the loss.',
  several: 'More than one commit changes the rate.',
  'not-reproduced': 'Good and bad do not differ within the permitted boots, or one cannot be measured.',
  slide: 'The rate is lost gradually.',
  inconclusive: 'The permitted boots do not suffice.',
};

export function outcomesPage(): string {
  return `${[
    head,
    '## Exit codes',
    table(
      ['exit code', 'meaning'],
      exitMeanings.map(({ code, meaning }) => [String(code), meaning]),
    ),
    'A gate on several testbeds exits with the first of 1, 4, 3 and 0 that one of them has.',
    '## Verdicts',
    'Each cell has a verdict, and a judged patch has the worst verdict of its cells.',
    tableOf('verdict', verdicts, conclusionOfVerdict),
    '## Other outcomes of a gate',
    tableOf('outcome', unjudged, (kind) => conclusionOfResult({ outcome: { kind } })),
    '## Outcomes of a bisection',
    tableOf('outcome', bisections, (kind) => conclusionOfBisection({ answer: { kind } })),
  ].join('\n\n')}\n`;
}

const head = `# Outcomes and exit codes

Generated from the code by \`vitest run tests/docs/reference.test.ts --update\`; do not edit.`;

function tableOf<Kind extends string>(
  head: string,
  meanings: Readonly<Record<Kind, string>>,
  conclusionOfKind: (kind: Kind) => Conclusion,
): string {
  return table(
    [head, 'meaning', 'exit code'],
    keysOf(meanings).map((kind) => [code(kind), meanings[kind], String(exitCodes[conclusionOfKind(kind)])]),
  );
}

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(record).filter((key): key is Key => key in record);
}
