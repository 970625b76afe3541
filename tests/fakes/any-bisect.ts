// Generates random results of bisections: every kind of conclusion, and any texts.
import fc from 'fast-check';
import type {
  BisectAnswer,
  BisectForm,
  BisectResult,
  BisectRevision,
  LocatedChange,
  RevisionFault,
} from '../../src/model/bisect-result.ts';
import { metricSchema } from '../../src/model/result.ts';
import { aBisectResult, aChange, commitAt } from './bisect-result.ts';
import { aRun, unfit } from './result.ts';

/** Foreign texts are drawn from `text`. */
export const anyBisect = (text: fc.Arbitrary<string>): fc.Arbitrary<BisectResult> =>
  fc
    .integer({ min: 2, max: 130 })
    .chain((count) =>
      fc.record({
        revisions: fc.array(anyRevision(text), { minLength: count, maxLength: count }),
        answer: anyAnswer(count),
        text,
        metric: fc.constantFrom(...metricSchema.options),
        isShared: fc.boolean(),
        hasHistory: fc.boolean(),
        revert: fc.option(text, { nil: undefined }),
      }),
    )
    .map(({ text, revisions, hasHistory, revert, ...rest }) => ({
      ...aBisectResult(rest),
      good: text,
      bad: text,
      fixUps: [text],
      generator: { name: 'ppsgate', version: text },
      testbed: { name: text, fingerprint: { cpu: text, [text]: text }, warnings: [text] },
      runs: [aRun({ variant: text, validity: unfit(text) })],
      revisions: revisions.map((revision, place) => ({
        ...revision,
        place,
        commit: commitAt(place),
      })),
      ...(hasHistory && { history }),
      ...(revert !== undefined && { revert: { kind: 'impossible', why: revert } }),
      profiles: [{ kind: 'missing', variant: 'base', reason: text }],
    }));

const history = {
  runs: 20,
  typical: 1e6,
  typicalRuns: 20,
  sumOfSquares: 0.001,
  degreesOfFreedom: 9,
};

const anyFault = (text: fc.Arbitrary<string>): fc.Arbitrary<RevisionFault> =>
  fc.oneof(
    text.map((message): RevisionFault => ({ kind: 'forwards-nothing', message })),
    text.map((message): RevisionFault => ({ kind: 'build-failed', message })),
    text.map(
      (said): RevisionFault => ({
        kind: 'boot-failed',
        message: said,
        panic: said,
        console: said,
      }),
    ),
  );

const anyForm = (text: fc.Arbitrary<string>): fc.Arbitrary<BisectForm> =>
  fc.record(
    {
      variant: text,
      fixUps: fc.array(fc.nat(99).map(commitAt), { maxLength: 3 }),
      values: fc.array(
        fc.oneof(fc.double({ min: 8e5, max: 1e6, noNaN: true }), fc.double({ min: 0, max: 1e12, noNaN: true })),
        { maxLength: 4 },
      ),
      fault: anyFault(text),
    },
    { requiredKeys: ['variant', 'fixUps', 'values'] },
  );

/** Most were never tried. */
const anyRevision = (text: fc.Arbitrary<string>): fc.Arbitrary<BisectRevision> =>
  fc.record({
    place: fc.constant(0),
    commit: fc.constant(commitAt(0)),
    subject: text,
    author: text,
    alike: fc.nat(2),
    isSkipped: fc.boolean(),
    isAssumedFailed: fc.boolean(),
    probability: fc.double({ min: 0, max: 1, noNaN: true }).map((chance) => chance ** 6),
    forms: fc.oneof(
      { weight: 2, arbitrary: fc.constant<BisectForm[]>([]) },
      { weight: 1, arbitrary: fc.array(anyForm(text), { maxLength: 3 }) },
    ),
  });

function anyAnswer(count: number): fc.Arbitrary<BisectAnswer> {
  const last = fc.integer({ min: 1, max: count - 1 });
  const change = fc
    .tuple(fc.double({ min: -0.99, max: 3, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([ratio, half]) => aChange(ratio, half));
  const probability = fc.double({ min: 0, max: 1, noNaN: true });
  const stretch = fc.tuple(last, fc.nat(count)).map(([end, long]) => ({
    after: Math.max(end - 1 - long, 0),
    last: end,
  }));
  const found: fc.Arbitrary<LocatedChange> = fc.oneof(
    fc.tuple(last, probability, change, fc.boolean()).map(
      ([revision, probability, change, isFixed]): LocatedChange => ({
        kind: 'culprit',
        revision,
        probability,
        change,
        measuredWith: isFixed ? [commitAt(7)] : [],
      }),
    ),
    fc.tuple(stretch, probability, change).map(
      ([ends, probability, change]): LocatedChange => ({
        kind: 'group',
        ...ends,
        probability,
        change,
      }),
    ),
  );
  return fc.oneof(
    found,
    fc
      .tuple(fc.array(found, { minLength: 1, maxLength: 6 }), fc.array(stretch, { maxLength: 3 }))
      .map(([all, open]): BisectAnswer => ({ kind: 'several', found: all, open })),
    change.map((one): BisectAnswer => ({ kind: 'not-reproduced', change: one })),
    fc.constant<BisectAnswer>({ kind: 'not-reproduced' }),
    fc
      .tuple(change, fc.array(last, { maxLength: 9 }))
      .map(([change, steps]): BisectAnswer => ({ kind: 'slide', change, steps })),
    fc.tuple(change, fc.array(fc.record({ revision: last, probability }), { maxLength: 3 })).map(
      ([change, best]): BisectAnswer => ({
        kind: 'inconclusive',
        change,
        best,
        bootsExpected: 9,
      }),
    ),
  );
}
