import { expect, test } from 'vitest';
import { importsOfFiles, modules, otherSizes, presentSizes } from '../modules.ts';

const imports = importsOfFiles();

/** Folder of `src/` that contains a file; undefined for an entry. */
const moduleOf = (name: string): string | undefined => (name.includes('/') ? name.split('/')[0] : undefined);

test('src/ has the folders of modules.ts and no others', () => {
  const found = new Set([...imports.keys()].flatMap((name) => moduleOf(name) ?? []));
  expect([...found].toSorted()).toEqual(Object.keys(modules).toSorted());
});

test('every module imports from those that modules.ts names, and from no others', () => {
  const found = Object.fromEntries(Object.keys(modules).map((name) => [name, new Set<string>()]));
  for (const [name, targets] of imports) {
    const own = moduleOf(name);
    for (const target of targets.map(moduleOf)) {
      if (own !== undefined && target !== undefined && target !== own) found[own]?.add(target);
    }
  }
  const sorted = Object.entries(found).map(([name, targets]) => [name, [...targets].toSorted()]);
  const named = Object.entries(modules).map(([name, { imports: targets }]) => [name, targets.toSorted()]);
  expect(Object.fromEntries(sorted)).toEqual(Object.fromEntries(named));
});

test('no module imports from one above it', () => {
  const names = Object.keys(modules);
  const above = names.flatMap((name, level) =>
    (modules[name]?.imports ?? []).filter((target) => names.indexOf(target) >= level).map((target) => [name, target]),
  );
  expect(above).toEqual([]);
});

test('no file imports itself through others', () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (name: string, path: readonly string[]) => {
    if (path.includes(name)) cycles.push([...path.slice(path.indexOf(name)), name].join(' > '));
    if (done.has(name) || path.includes(name)) return;
    for (const target of imports.get(name) ?? []) visit(target, [...path, name]);
    done.add(name);
  };
  for (const name of imports.keys()) visit(name, []);
  expect(cycles).toEqual([]);
});

const present = presentSizes();

const greatest = {
  ...Object.fromEntries(Object.entries(modules).map(([name, { lines }]) => [name, lines])),
  ...otherSizes,
};

test.each(Object.entries(greatest))('%s is as large as modules.ts allows, and hardly smaller', (name, size) => {
  const now = present[name] ?? 0;
  expect(
    now,
    `${name} grew to ${now}, ${now - size} above modules.ts: remove as much of it, by a better design or by what nothing needs`,
  ).toBeLessThanOrEqual(size);
  expect(now, `${name} shrank: write ${now} into modules.ts`).toBeGreaterThanOrEqual(size - Math.max(100, size / 100));
});
