import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * The modules of `src/`, from the bottom up, each with the modules that it imports from, types included;
 * docs/explanation/architecture.md describes them. None imports from a later one: tests/modules.test.ts checks the
 * imports against this table, and that no file imports itself through others.
 */
export const modules: Readonly<Record<string, readonly string[]>> = {
  model: [],
  config: ['model'],
  system: ['model'],
  analysis: ['model', 'system'],
  report: ['model', 'config', 'system', 'analysis'],
  forge: ['model', 'config', 'system', 'analysis'],
  kernel: ['model', 'config', 'system', 'forge'],
  lab: ['model', 'config', 'system', 'analysis', 'kernel'],
  gate: ['model', 'config', 'system', 'analysis', 'report', 'forge', 'kernel', 'lab'],
  publish: ['model', 'config', 'system', 'analysis', 'report', 'forge', 'lab', 'gate'],
  relay: ['model', 'config', 'system', 'forge', 'kernel', 'lab', 'gate', 'publish'],
  action: ['model', 'config', 'system', 'analysis', 'report', 'forge', 'kernel', 'lab', 'gate', 'publish'],
  cli: [
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
};

const source = join(import.meta.dirname, 'src');

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
