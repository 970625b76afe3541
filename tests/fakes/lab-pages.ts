// Reads the pages of docs/lab.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'lab');

/** Blocks of a page, one per file, by path; for example below `## The DUT`. */
export function filesOf(name: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const page = readFileSync(join(folder, `${name}.md`), 'utf8');
  return Object.fromEntries(
    sectionsOf(page, '## The ').map(([of, text]) => [
      of,
      Object.fromEntries(
        sectionsOf(text, '### ').map(([path, section]) => [path, /^```\w*\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '']),
      ),
    ]),
  );
}

const sectionsOf = (text: string, heading: string): [string, string][] =>
  text
    .split(new RegExp(`^${heading}`, 'm'))
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      return [title, lines.join('\n')];
    });
