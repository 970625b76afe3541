import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commandText, shell } from '../../../src/system/shell.ts';
import { splitWords } from './shell.ts';

/** csh breaks even quoted words at these. */
const word = fc.string({ unit: 'grapheme' }).filter((text) => !/[\n\r!\0]/.test(text));

test('every word that src/system/shell.ts quotes comes out as it went in', () => {
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const line = commandText(shell`tar -x ${words}`).trimEnd();
      expect(splitWords(line)).toEqual({ kind: 'words', words: ['tar', '-x', ...words] });
    }),
  );
});

test.each([
  'uname -r; uname -v',
  'cat /etc/rc.conf | head',
  'sysctl -n kern.ostype > /tmp/x',
  'cd /tmp && ls',
  'ls *.ko',
  'echo $HOME',
  'echo "quoted"',
  'echo `date`',
  'ls -1 ~root',
  "echo 'two\nlines'",
  "echo 'history!'",
  "echo 'open",
  '',
])('%j is refused', (line) => {
  expect(splitWords(line)).toMatchObject({ kind: 'refused' });
});
