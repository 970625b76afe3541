// Documents of ppsgate.yml in files with `---` between them; the comment in the first line of each is its name.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name and text of each document. */
export const documentsIn = (file: string): [string, string][] =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .split('---\n')
    .map((text) => [/(?<=^# ).+/.exec(text)?.[0] ?? '', text]);
