import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * Modules of `src/`, from the bottom up, each with its greatest number of lines of TypeScript and the modules that it
 * imports from, types included. docs/explanation/architecture.md describes them. None imports from a later one, and no
 * file imports itself through others: tests/modules.test.ts checks all this. A number of lines only falls: a change that
 * adds lines removes as many.
 */
export const modules: Readonly<Record<string, { readonly lines: number; readonly imports: readonly string[] }>> = {
  model: { lines: 2344, imports: [] },
  config: { lines: 4098, imports: ['model'] },
  system: { lines: 2348, imports: ['model'] },
  analysis: { lines: 5687, imports: ['model', 'system'] },
  report: { lines: 6043, imports: ['model', 'config', 'system', 'analysis'] },
  forge: { lines: 4523, imports: ['model', 'config', 'system', 'analysis'] },
  kernel: { lines: 2736, imports: ['model', 'config', 'system', 'forge'] },
  lab: { lines: 16320, imports: ['model', 'config', 'system', 'analysis', 'kernel'] },
  gate: { lines: 9946, imports: ['model', 'config', 'system', 'analysis', 'report', 'forge', 'kernel', 'lab'] },
  publish: { lines: 5427, imports: ['model', 'config', 'system', 'analysis', 'report', 'forge', 'lab', 'gate'] },
  relay: { lines: 3654, imports: ['model', 'config', 'system', 'forge', 'kernel', 'lab', 'gate', 'publish'] },
  action: {
    lines: 3525,
    imports: ['model', 'config', 'system', 'analysis', 'report', 'forge', 'kernel', 'lab', 'gate', 'publish'],
  },
  cli: {
    lines: 7192,
    imports: [
      'model',
      'config',
      'system',
      'analysis',
      'report',
      'forge',
      'kernel',
      'lab',
      'gate',
      'publish',
      'relay',
      'action',
    ],
  },
};

/** Greatest sizes of what is not a module of `src/`; they only fall, too. */
export const otherSizes = {
  /** Lines of the scripts, styles and programs of `src/` in other languages than TypeScript. */
  scriptsOfSource: 3617,
  /** Lines of TypeScript in `tests/`. */
  tests: 73448,
  /** Bytes of Markdown in `docs/`. */
  docsBytes: 211012,
};

/** Sizes of the modules and of `otherSizes` as they are. */
export function presentSizes(): Record<string, number> {
  const linesBelow = (folder: string, pattern: string) =>
    globSync(pattern, { cwd: join(root, folder) }).reduce(
      (sum, name) => sum + (readFileSync(join(root, folder, name), 'utf8').match(/\n/g)?.length ?? 0),
      0,
    );
  return {
    ...Object.fromEntries(Object.keys(modules).map((name) => [name, linesBelow(`src/${name}`, '**/*.ts')])),
    scriptsOfSource: linesBelow('src', '**/*.{js,css,sh,c}'),
    tests: linesBelow('tests', '**/*.ts'),
    docsBytes: globSync('docs/**/*.md', { cwd: root }).reduce(
      (sum, path) => sum + readFileSync(join(root, path)).length,
      0,
    ),
  };
}

const root = import.meta.dirname;
const source = join(root, 'src');

const imported = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

/** Files of `src/` with those that each imports, types included, as paths below `src/`. */
export function importsOfFiles(): Map<string, readonly string[]> {
  const names = globSync('**/*.ts', { cwd: source }).toSorted();
  return new Map(names.map((name) => [name, importsOf(join(source, name))]));
}

function importsOf(path: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(imported)]
    .map(([, target = '']) => relative(source, join(dirname(path), target)))
    .filter((target) => !target.startsWith('..'));
}
