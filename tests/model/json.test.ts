import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonLines, parseJson } from '../../src/model/json.ts';

test('Lines of JSON are those that begin as an object', () => {
  const line = fc.constantFrom('', '{}', '{', '{"a":1}', '[1]', ' {}', '<<<<', '{}\r');
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const expected = lines.filter((one) => one.startsWith('{')).map(parseJson);
      expect([...jsonLines(lines.join('\n'), 1000)]).toEqual(expected);
    }),
  );
});

test('No more lines are parsed than may be', () => {
  expect([...jsonLines('{"a":1}\n\n\n{"a":2}\n{"a":3}', 4)]).toEqual([{ a: 1 }, { a: 2 }]);
});
