// Values found by the bytes of a text.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteTable } from '../../../src/analysis/profile/byte-table.ts';

test('every text keeps its own value, however often it is looked up', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 100 }), (texts) => {
      const table = new ByteTable((one) => `value of ${one}`);
      const bytes = Buffer.from(texts.join(''));
      for (let turn = 0; turn < 2; turn += 1) {
        let start = 0;
        for (const one of texts) {
          const end = start + Buffer.byteLength(one);
          expect(table.get(bytes, start, end)).toBe(`value of ${one}`);
          start = end;
        }
      }
    }),
  );
});

test('more texts than slots have their own values', () => {
  const table = new ByteTable((one) => one);
  for (let turn = 0; turn < 2; turn += 1) {
    for (let number = 0; number < 40_000; number += 1) {
      const bytes = Buffer.from(`f${number}`);
      expect(table.get(bytes, 0, bytes.length)).toBe(`f${number}`);
    }
  }
});
