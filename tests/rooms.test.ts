import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { rooms } from '../rooms.ts';

const source = join(import.meta.dirname, '../src');

/** The folder of a file of `src/`, or the name of one that is in none. */
const roomOf = (path: string): string =>
  relative(source, path).split('/')[0]?.replace(/\.ts$/, '') ?? '';

/** The rooms that each room imports from, types included; what is not in `src/` is nobody's. */
function importsOfRooms(): Map<string, Set<string>> {
  const found = new Map(Object.keys(rooms).map((room) => [room, new Set<string>()]));
  for (const name of globSync('**/*.ts', { cwd: source })) {
    const path = join(source, name);
    const known = found.get(roomOf(path)) ?? found.set(roomOf(path), new Set()).get(roomOf(path));
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(imported)) {
      const room = roomOf(join(dirname(path), target));
      if (room !== '..' && room !== roomOf(path)) known?.add(room);
    }
  }
  return found;
}

const imported = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

test('every room imports from those that rooms.ts says it knows, and from no others', () => {
  const found = [...importsOfRooms()].map(([room, known]) => [room, [...known].toSorted()]);
  const said = Object.entries(rooms).map(([room, known]) => [room, known.toSorted()]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(said));
});

test('no room knows one that is above it, so there are no circles', () => {
  const names = Object.keys(rooms);
  const above = names.flatMap((room, level) =>
    (rooms[room] ?? [])
      .filter((known) => names.indexOf(known) >= level)
      .map((known) => [room, known]),
  );
  expect(above).toEqual([]);
});
