// Lists what ppsgate.yml means, by golden files, and what it is refused for. A paragraph of golden/refusals.txt has a document (`| `), and changes that are
// written in place of its `…`; the lines below a change are its problems, which --update writes. ⏎ ends a line.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError, parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { documentsIn } from './documents.ts';

const place = { path: '/lab/ppsgate.yml', home: '/home/me' };
const golden = join(import.meta.dirname, 'golden/refusals.txt');
const isDocument = (line: string): boolean => line.startsWith('| ');

/** `    line: key: message` of every problem. */
function problemsIn(text: string): string[] {
  try {
    parseConfig(text, { path: 'ppsgate.yml', home: '/home/me' });
    return ['    (none)'];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').map((line) => `    ${line.replace(/^ppsgate\.yml: ?/, '')}`);
  }
}

test('refuses a change of a document with the line, the key and the reason of each problem', async () => {
  const paragraphs = readFileSync(golden, 'utf8')
    .trim()
    .split(/\n\n+/)
    .map((paragraph) => {
      const lines = paragraph.split('\n').filter((line) => !line.startsWith('    '));
      const document = lines.filter(isDocument).map((line) => line.slice(2));
      return lines.flatMap((line) => {
        if (isDocument(line)) return [line];
        return [
          line,
          ...problemsIn(
            document
              .join('\n')
              .replace('…', () => line)
              .replaceAll('⏎', '\n'),
          ),
        ];
      });
    });
  await expect(`${paragraphs.map((lines) => lines.join('\n')).join('\n\n')}\n`).toMatchFileSnapshot(golden);
});

test.each(['defaults.yml', 'documents.yml'])('each key has the value of golden/%s', async (file) => {
  const plain = parseConfig('testbeds: { here: { kind: embedded-linux } }', place);
  const parsed = documentsIn(file).map(([name, text], index) => {
    const config = Object.entries(parseConfig(text, place));
    const own = config.filter(([key, value]) => !isDeepStrictEqual(value, plain[key as keyof Config]));
    return `# ${name}\n${stringify(Object.fromEntries(file + index === 'defaults.yml0' ? config : own), { lineWidth: 0 })}`;
  });
  await expect(parsed.join('---\n')).toMatchFileSnapshot(join(import.meta.dirname, 'golden', file));
});
