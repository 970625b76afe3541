import { describe, expect, test } from 'vitest';
import type { Rejection } from '../../src/model/rejection.ts';
import type { CellResult, Result } from '../../src/model/result.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { anExperiment } from '../fakes/report.ts';
import { aCell, aResult, judged, unchanged } from '../fakes/result.ts';
import { readXml, type XmlElement } from '../fakes/xml.ts';

const suiteOf = (result: Result): XmlElement => readXml(renderJunit(result));

const casesOf = (result: Result): XmlElement[] => suiteOf(result).elements.filter(({ name }) => name === 'testcase');

/** Returns the only case, and its content. */
function onlyCase(result: Result) {
  const [one, ...others] = casesOf(result);
  if (one === undefined || others.length > 0) expect.fail('There is one case.');
  return { attributes: one.attributes, elements: one.elements, first: one.elements[0] };
}

const endings: CellResult['verdict'][] = [
  { kind: 'regression' },
  { kind: 'no-regression' },
  { kind: 'improvement' },
  { kind: 'inconclusive' },
  { kind: 'invalid', reason: 'the sender was the limit' },
];

const rejections: Rejection[] = [
  { kind: 'does-not-apply', message: 'error: patch failed: sys/netinet/ip.c:12' },
  { kind: 'build-failed', message: 'ip.c:12: error\nip.c:13: error' },
  { kind: 'does-not-load', scenario: 'pf-stateful', message: 'pf.conf:3: syntax error' },
  { kind: 'boot-failed', message: 'It was silent for 600 s.', panic: 'page fault' },
  { kind: 'panics-under-load', message: 'It died in trial 2.', console: 'db>' },
  { kind: 'out-of-disk', message: 'No space left on device.' },
];

describe("Jenkins' schema of JUnit XML (junit-10.xsd of its xUnit plugin)", () => {
  const all: [string, Result][] = [
    ['an experiment', anExperiment().result],
    ...endings.map((verdict): [string, Result] => [verdict.kind, judged([aCell(verdict)])]),
    ['nothing to measure', unchanged],
    ['all verdicts', judged(endings.map((verdict) => aCell(verdict)))],
    ...rejections.map((outcome): [string, Result] => [outcome.kind, aResult({ outcome })]),
  ];

  /** Content of an element, and its attributes; required ones end with `!`. */
  const grammar: Record<string, { elements: string[]; attributes: string[]; isText?: true }> = {
    testsuite: {
      elements: ['testsuite', 'properties', 'testcase', 'system-out', 'system-err'],
      attributes: ['name!', 'tests!', 'failures!', 'errors!', 'time', 'skipped', 'timestamp', 'hostname'],
    },
    testcase: {
      elements: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
      attributes: ['name!', 'time', 'classname', 'group'],
    },
    ...Object.fromEntries(
      ['skipped', 'error', 'failure'].map((name) => [
        name,
        { elements: [], attributes: ['type', 'message'], isText: true as const },
      ]),
    ),
    'system-out': { elements: [], attributes: [], isText: true },
  };

  function check({ name, elements, attributes, text }: XmlElement): void {
    const rules = grammar[name];
    if (rules === undefined) expect.fail(`<${name}> is unknown.`);
    const allowed = rules.attributes.map((one) => one.replace('!', ''));
    const required = rules.attributes.flatMap((one) => /(.*)!/.exec(one)?.[1] ?? []);
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(attributes)));
    expect(Object.keys(attributes)).toEqual(expect.arrayContaining(required));
    expect(rules.elements).toEqual(expect.arrayContaining(elements.map((one) => one.name)));
    if (rules.isText === undefined) expect(text.trim()).toBe('');
    if (attributes.time !== undefined) expect(attributes.time).toMatch(/^\d+\.\d{3}$/);
    elements.forEach(check);
  }

  test.for(all)('%s: elements, attributes and counts agree, and a case ends in one way at most', ([, result]) => {
    const suite = suiteOf(result);
    expect(suite.name).toBe('testsuite');
    check(suite);
    const cases = casesOf(result);
    const ending = (name: string): string =>
      String(cases.filter(({ elements }) => elements.some((one) => one.name === name)).length);
    expect(suite.attributes).toMatchObject({
      tests: String(cases.length),
      failures: ending('failure'),
      errors: ending('error'),
      skipped: ending('skipped'),
    });
    const seconds = cases.reduce((sum, one) => sum + Number(one.attributes.time), 0);
    expect(Number(suite.attributes.time)).toBeCloseTo(seconds, 2);
    for (const { elements } of cases) {
      expect(elements.filter(({ name }) => name !== 'system-out').length).toBeLessThanOrEqual(1);
    }
  });
});

test('text of others keeps its lines, and loses what colours a terminal', () => {
  const message = 'ip.c:12: \u001b[31merror\u001b[0m: <x>\r\nip.c:13: "y" & z';
  const { first } = onlyCase(aResult({ outcome: { kind: 'build-failed', message } }));
  expect(first?.text).toBe('ip.c:12: error: <x>\nip.c:13: "y" & z');
});
