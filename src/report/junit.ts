// Renders a result as JUnit test cases: one per cell, with stable names across builds.

import { outcomeName } from '../model/conclusion.ts';
import { plainBlock, plainLine } from '../model/escape.ts';
import {
  formatChange,
  formatInterval,
  formatMetric,
  formatPercent,
  formatSigned,
  metricName,
} from '../model/format.ts';
import type { Rejection } from '../model/rejection.ts';
import type { CellResult, Comparison, Policy, Result } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { escaped } from '../model/xml.ts';
import { headline, isSilent, lossThatMatters, marginsOf, rejectionText, silenceOf } from './headline.ts';
import { unchangedMeaning } from './next-steps.ts';

/** JUnit XML for Jenkins' `junit` step; see junit-10.xsd of its xUnit plugin. Times are seconds of traffic. */
export function renderJunit(result: Result): string {
  const { testbed, startedAt } = result;
  const cases = casesOf(result);
  const count = (conclusion: CaseOutcome): string =>
    String(cases.filter((one) => one.conclusion === conclusion).length);
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  const suite = attributes({
    name: `ppsgate ${testbed.name}`,
    timestamp: startedAt,
    hostname: testbed.name,
    tests: String(cases.length),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds.toFixed(3),
  });
  return [
    `<testsuite${suite}>`,
    ...cases.map((one) => caseElement(one, `ppsgate.${testbed.name}`)),
    systemOut(headline(result)),
    '</testsuite>',
    '',
  ].join('\n');
}

type CaseOutcome = 'passed' | 'failure' | 'error' | 'skipped';

type TestCase = {
  name: string;
  seconds: number;
  conclusion: CaseOutcome;
  type: string;
  message: string;
  text: string;
};

function casesOf(result: Result): TestCase[] {
  const { outcome } = result;
  switch (outcome.kind) {
    case 'judged':
      return judgedCases(result, outcome.cells);
    case 'unchanged':
      return [unchanged(unchangedMeaning(outcome))];
    default:
      return [refusal(outcome)];
  }
}

const unchanged = (message: string): TestCase => ({
  name: 'unchanged',
  seconds: 0,
  conclusion: 'skipped',
  type: 'unchanged',
  message,
  text: '',
});

function judgedCases({ policy, trials }: Result, cells: readonly CellResult[]): TestCase[] {
  const trialsOf = Map.groupBy(trials, ({ cell }) => cellName(cell));
  return cells.map((cell) => {
    const name = cellName(cell.cell);
    const its = trialsOf.get(name) ?? [];
    return {
      name,
      seconds: its.reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0),
      type: cell.verdict.kind,
      ...caseOutcome(cell, policy),
      text: comparisonLines(cell, policy).join('\n'),
    };
  });
}

function caseOutcome(cell: CellResult, policy: Policy): Pick<TestCase, 'conclusion' | 'message'> {
  const {
    verdict,
    comparisons: [judged],
  } = cell;
  const margin = formatSigned(marginsOf(policy).loss);
  switch (verdict.kind) {
    case 'regression':
      return {
        conclusion: 'failure',
        message: isSilent(cell)
          ? silenceOf(cell)
          : `${judged ? changeText(judged, policy) : 'regression'}; ${margin} or more matters`,
      };
    case 'invalid':
      return { conclusion: 'error', message: verdict.reason };
    case 'inconclusive':
      return {
        conclusion: 'skipped',
        message: verdict.isStopped
          ? 'not decided: the loss of another cell ended the experiment'
          : `may ${lossThatMatters(policy)} or not: more runs would decide`,
      };
    default:
      return { conclusion: 'passed', message: '' };
  }
}

/** Omits changes and the costs of packets for a patch that forwards no packets. */
const comparisonLines = (cell: CellResult, policy: Policy): string[] =>
  isSilent(cell)
    ? cell.comparisons
        .filter(({ metric }) => metric === 'pps')
        .map(
          ({ base, baseRuns, patchedRuns }) =>
            `base ${formatMetric(base, 'pps')}, patched nothing, ${baseRuns} + ${patchedRuns} runs`,
        )
    : cell.comparisons.map((one) => comparisonText(one, policy));

/** `packets per second (more is better): base 805.3 kpps, patched 721.5 kpps, −10.4 % (…), 8 + 8 runs`. */
function comparisonText(comparison: Comparison, policy: Policy): string {
  const { metric, base, patched, baseRuns, patchedRuns } = comparison;
  const values = `base ${formatMetric(base, metric)}, patched ${formatMetric(patched, metric)}`;
  const runs = `${baseRuns} + ${patchedRuns} runs`;
  return `${metricName(metric)}: ${values}, ${changeText(comparison, policy)}, ${runs}`;
}

const changeText = ({ interval: { change, low, high } }: Comparison, policy: Policy): string =>
  `${formatChange(change)} (${formatPercent(policy.confidenceRatio)} interval ${formatInterval(low, high)})`;

/** The single test case explains why nothing was measured. */
const refusal = (outcome: Rejection): TestCase => ({
  name: outcomeName({ outcome }),
  seconds: 0,
  conclusion: outcome.kind === 'out-of-disk' ? 'error' : 'failure',
  type: outcome.kind,
  message: rejectionText(outcome),
  text: [
    'scenario' in outcome ? outcome.scenario : '',
    'panic' in outcome ? (outcome.panic ?? '') : '',
    outcome.message,
    'console' in outcome ? (outcome.console ?? '') : '',
  ]
    .filter(Boolean)
    .join('\n'),
});

function caseElement({ name, seconds, conclusion, ...details }: TestCase, classname: string): string {
  const start = `<testcase${attributes({ classname, name, time: seconds.toFixed(3) })}>`;
  return `${start}${outcomeElement(conclusion, details)}</testcase>`;
}

/** Jenkins shows the text of failures and errors, but only the message of skipped cases. */
function outcomeElement(
  conclusion: CaseOutcome,
  { type, message, text }: Pick<TestCase, 'type' | 'message' | 'text'>,
): string {
  switch (conclusion) {
    case 'passed':
      return systemOut(text);
    case 'skipped':
      return `<skipped${attributes({ message })}/>${systemOut(text)}`;
    default:
      return `<${conclusion}${attributes({ message, type })}>${lines(text)}</${conclusion}>`;
  }
}

const systemOut = (text: string): string => `<system-out>${lines(text)}</system-out>`;

/** Keeps untrusted text within its line. */
const lines = (text: string): string => plainBlock(text).split('\n').map(escaped).join('\n');

const attributes = (all: Record<string, string>): string =>
  Object.entries(all)
    .map(([name, value]) => ` ${name}="${escaped(plainLine(value, 1000))}"`)
    .join('');
