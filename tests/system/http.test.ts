import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '../../src');

test('is the only HTTP client', () => {
  const clients = globSync('**/*.ts', { cwd: source }).filter((path) => {
    const text = readFileSync(join(source, path), 'utf8').replaceAll(/^import type [^;]*;/gm, '');
    const isServer = /^import \{[^}]*\bcreateServer\b[^}]*\} from 'node:http';/m.test(text);
    return (/from 'node:https?'|\bawait fetch\(/.test(text) && !isServer) || /'undici'/.test(text);
  });
  expect(clients.map((path) => basename(path))).toEqual(['http.ts']);
});
