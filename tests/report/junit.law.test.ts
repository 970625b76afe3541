// JUnit XML with any text of others in it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CellResult, Result } from '../../src/model/result.ts';
import { renderJunit } from '../../src/report/junit.ts';
import { aCell, aResult } from '../fakes/result.ts';
import { readXml, type XmlElement } from '../fakes/xml.ts';
import { anyCharacter, times } from '../random.ts';

const endings: CellResult['verdict'][] = [
  { kind: 'regression' },
  { kind: 'no-regression' },
  { kind: 'improvement' },
  { kind: 'inconclusive' },
  { kind: 'invalid', reason: 'the sender was the limit' },
];

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 20 }),
      fc.constantFrom(
        ...['</failure>', '</system-out>', '<testcase name="x"/>', ']]>', '<![CDATA[', '<!--'],
        ...['"', "'", '&', '&#10;', '&x;', '<?x?>', '\0', '\ufffe', '\uffff', '\ud800', '\x1b[31m'],
        '\r\n',
        '\n\n',
        '\t',
        '\u202e',
        '\u2028',
      ),
      fc.integer({ min: 1, max: 9000 }).map((count) => '<&>"'.repeat(count)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

type Texts = Record<'testbed' | 'scenario' | 'reason' | 'message' | 'panic', string>;

const withTexts = ({ testbed, scenario, reason, message, panic }: Texts): Result[] => {
  const cell = { scenario, family: 'inet4' as const };
  const outcomes: Result['outcome'][] = [
    {
      kind: 'judged',
      verdict: 'invalid',
      cells: endings
        .map((verdict) => (verdict.kind === 'invalid' ? { ...verdict, reason } : verdict))
        .map((verdict) => aCell(verdict, undefined, cell)),
    },
    { kind: 'boot-failed', message, panic },
    { kind: 'does-not-load', scenario, message },
  ];
  const result = aResult();
  return outcomes.map((outcome) => ({
    ...result,
    outcome,
    testbed: { ...result.testbed, name: testbed },
  }));
};

/** Returns an element with the names of its attributes, without their values. */
const structure = ({ name, attributes, elements }: XmlElement): unknown => [
  name,
  Object.keys(attributes),
  elements.map(structure),
];

const harmless = withTexts({ testbed: 'shelf-3', scenario: 'forwarding', reason: 'no', message: 'no', panic: 'no' });

test('text of others never changes the structure, and never grows beyond bounds', () => {
  const texts = fc.record({ testbed: hostile, scenario: hostile, reason: hostile, message: hostile, panic: hostile });
  fc.assert(
    fc.property(texts, (some) => {
      for (const [index, result] of withTexts(some).entries()) {
        const xml = renderJunit(result);
        expect(structure(readXml(xml))).toEqual(structure(readXml(renderJunit(harmless[index] ?? result))));
        expect(xml.length).toBeLessThan(200_000);
      }
    }),
    { numRuns: times(50) },
  );
});
