import { expect, test } from 'vitest';
import { whyNotText, withoutMark } from '../../src/model/text-file.ts';

test.for([
  ['UTF-16 of little end', Buffer.from([0xff, 0xfe, 0x61, 0]), /^has the encoding UTF-16: save it as UTF-8$/],
  ['UTF-16 of big end', Buffer.from([0xfe, 0xff, 0, 0x61]), /^has the encoding UTF-16: save it as UTF-8$/],
  ['a binary', Buffer.from([0x7f, 0x45, 0]), /^is binary: name a text file$/],
] as const)('A file in %s is told from text', ([, bytes, why]) => {
  expect(whyNotText(bytes)).toMatch(why);
});

test('Text of any language is text, with a byte order mark or without', () => {
  for (const text of ['', 'straße\r\n', '\ufeffa']) {
    expect(whyNotText(Buffer.from(text))).toBeUndefined();
  }
});

test('A byte order mark is left out, and nothing else', () => {
  expect(withoutMark(Buffer.from('\ufeff1\n')).toString()).toBe('1\n');
  expect(withoutMark(Buffer.from('1\ufeff\n')).toString()).toBe('1\ufeff\n');
});
