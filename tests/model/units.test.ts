import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { duration, excerpt, type QuantityLimit, rate, ratio, size } from '../../src/model/units.ts';
import { anyCharacter } from '../random.ts';

const anything: QuantityLimit = { description: 'anything', holds: () => true };

const problemOf = (quantity: z.ZodType, written: unknown) =>
  quantity.safeParse(written).error?.issues.map((issue) => issue.message);

test.each<[string, (limit: QuantityLimit) => z.ZodType, number]>([
  ['2%', ratio, 0.02],
  ['0.5 %', ratio, 0.005],
  ['14.88 Mpps', rate, 14_880_000],
  ['2.01 Mpps', rate, 2_010_000],
  ['3000000 pps', rate, 3_000_000],
  ['800kpps', rate, 800_000],
  ['1 Gpps', rate, 1_000_000_000],
  ['500 ms', duration, 0.5],
  ['12s', duration, 12],
  ['2 min', duration, 120],
  ['30 d', duration, 2_592_000],
  ['64 bytes', size, 64],
  ['1 byte', size, 1],
  ['64B', size, 64],
  ['100 MiB', size, 104_857_600],
])('%s', (written, quantity, expected) => {
  expect(quantity(anything).parse(written)).toBe(expected);
});

test.each([2, 0.02, '2', '-2%', '2 percent', '2%%', ' 2%', '1e1%', '.5%', '', true])(
  'a percentage is not written %j',
  (written) => {
    expect(problemOf(ratio(anything), written)).toEqual([
      `expected a percentage like 2%, found ${JSON.stringify(written)}`,
    ]);
  },
);

test.each(['3 mpps', '3 MPPS', '3M', '3,000,000 pps', '3_000_000 pps', '3 Mpps/s'])(
  'a rate is not written %j',
  (written) => {
    expect(problemOf(rate(anything), written)).toEqual([
      `expected a rate like 3 Mpps, 800 kpps or 500 pps, found "${written}"`,
    ]);
  },
);

test('a well-formed quantity outside its limit is refused with the limit', () => {
  const small: QuantityLimit = { description: 'at most 1%', holds: (value) => value <= 0.01 };
  expect(problemOf(ratio(small), '1.5%')).toEqual(['expected at most 1%, found "1.5%"']);
  expect(ratio(small).parse('1%')).toBe(0.01);
});

test('a quantity that is missing, empty, a list or an object is called so', () => {
  const found = [undefined, null, [], {}].flatMap((value) => problemOf(size(anything), value));
  expect(found).toEqual([
    'missing; expected a size like 64 bytes or 100 MiB',
    'expected a size like 64 bytes or 100 MiB, found nothing',
    'expected a size like 64 bytes or 100 MiB, found a list',
    'expected a size like 64 bytes or 100 MiB, found keys and values',
  ]);
});

// Decimal shifts of whole numbers: people write a few digits, and each must survive exactly.
const shifted = (whole: number, digits: number) => Number(`${whole}e${-digits}`).toFixed(digits);

test('a rate survives formatting and parsing in every unit', () => {
  fc.assert(
    fc.property(fc.nat(2_000_000_000), fc.constantFrom('', ' '), (pps, space) => {
      expect(rate(anything).parse(`${pps}${space}pps`)).toBe(pps);
      expect(rate(anything).parse(`${shifted(pps, 3)}${space}kpps`)).toBe(pps);
      expect(rate(anything).parse(`${shifted(pps, 6)}${space}Mpps`)).toBe(pps);
      expect(rate(anything).parse(`${shifted(pps, 9)}${space}Gpps`)).toBe(pps);
    }),
  );
});

test('a duration survives formatting and parsing in every unit', () => {
  fc.assert(
    fc.property(fc.nat(100_000_000), (milliseconds) => {
      const seconds = milliseconds / 1000;
      expect(duration(anything).parse(`${milliseconds} ms`)).toBe(seconds);
      expect(duration(anything).parse(`${shifted(milliseconds, 3)} s`)).toBe(seconds);
      expect(duration(anything).parse(`${milliseconds} min`)).toBe(milliseconds * 60);
    }),
  );
});

test('a ratio survives formatting, to the hundred-thousandth of a percent', () => {
  fc.assert(
    fc.property(fc.nat(100_000_000), (tenMillionths) => {
      const percent = `${shifted(tenMillionths, 5)}%`;
      expect(ratio(anything).parse(percent)).toBe(tenMillionths / 1e7);
    }),
  );
});

test('an excerpt is one line of at most 40 characters that steers no terminal', () => {
  expect(excerpt('a\nb\u001b[31m\u202e\u2028"`')).toBe('a?b?[31m????');
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), (text) => {
      expect(excerpt(text).length).toBeLessThanOrEqual(40);
      expect(excerpt(text)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}"`]/u);
    }),
  );
});
