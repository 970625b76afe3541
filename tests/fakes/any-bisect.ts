// Generates random results of bisections: every kind of conclusion, and any texts.
import fc from 'fast-check';
import type { BisectForm, BisectResult, BisectRevision, RevisionFault } from '../../src/model/bisect-result.ts';
import { metricSchema } from '../../src/model/result.ts';
import { aChange, bisectResults, commitAt, mellanoxBroken, mellanoxFixed } from './bisect-result.ts';
import { aRun, unfit } from './result.ts';

const examples = [...Object.values(bisectResults), mellanoxFixed, mellanoxBroken];
/** The last place that a conclusion of the examples names. */
const lastPlace = 12;

const ratio = fc.double({ min: 0, max: 1, noNaN: true });

/** Foreign texts are drawn from `text`. */
export const anyBisect = (text: fc.Arbitrary<string>): fc.Arbitrary<BisectResult> =>
  fc
    .record({
      example: fc.constantFrom(...examples),
      revisions: fc.array(anyRevision(text), { minLength: lastPlace + 1, maxLength: 130 }),
      change: fc
        .tuple(fc.double({ min: -0.99, max: 3, noNaN: true }), ratio)
        .map(([change, half]) => aChange(change, half)),
      text,
      metric: fc.constantFrom(...metricSchema.options),
      isShared: fc.boolean(),
      isReverted: fc.boolean(),
    })
    .map(({ example, revisions, change, text, isReverted, ...rest }) => ({
      ...example,
      ...rest,
      answer: 'change' in example.answer ? { ...example.answer, change } : example.answer,
      good: text,
      bad: text,
      fixUps: [text],
      generator: { name: 'ppsgate', version: text },
      testbed: { name: text, fingerprint: { cpu: text, [text]: text }, warnings: [text] },
      runs: [aRun({ variant: text, validity: unfit(text) })],
      revisions: revisions.map((revision, place) => ({ ...revision, place, commit: commitAt(place) })),
      ...(isReverted && { revert: { kind: 'impossible', why: text } }),
      profiles: [{ kind: 'missing', variant: 'base', reason: text }],
    }));

const anyFault = (text: fc.Arbitrary<string>): fc.Arbitrary<RevisionFault> =>
  fc.oneof(
    fc.record({ kind: fc.constantFrom('forwards-nothing', 'build-failed'), message: text }),
    text.map((said): RevisionFault => ({ kind: 'boot-failed', message: said, panic: said, console: said })),
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
    probability: ratio.map((chance) => chance ** 6),
    forms: fc.oneof(
      { weight: 2, arbitrary: fc.constant<BisectForm[]>([]) },
      { weight: 1, arbitrary: fc.array(anyForm(text), { maxLength: 3 }) },
    ),
  });
