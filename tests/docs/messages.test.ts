import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { messagesPage } from '../../docs/generators/messages.ts';

const folder = join(import.meta.dirname, '../../src');

test('docs/reference/messages.md is built from the errors of src/', async () => {
  const files = globSync('**/*.ts', { cwd: folder })
    .toSorted()
    .map((path) => ({ path, source: readFileSync(join(folder, path), 'utf8') }));
  await expect(messagesPage(files)).toMatchFileSnapshot('../../docs/reference/messages.md');
});

const classes = `
class UsageError extends Error {
  readonly conclusion = 'usage';
}
class PathError extends UsageError {}
class HostError extends Error {}
`;

test.each([
  ["new UsageError('Name a file.')", 'Name a file. | 2'],
  ["new PathError('Name a file.')", 'Name a file. | 2'],
  ["new HostError('The host is down.')", 'The host is down. | 4 (default)'],
  [`new HostError(\`Host \${f({ a })} is down.\`)`, 'Host … is down. | 4 (default)'],
])('The message of %s is listed with its exit code', (thrown, row) => {
  const page = messagesPage([{ path: 'lab/a.ts', source: `${classes}throw ${thrown};\n` }]);
  expect(page).toContain(`\n| ${row} |\n`);
});

test.each(["new HostError('has no kernel')", 'new HostError(text)', "new RangeError('Two ends.')"])(
  'No message is listed of %s',
  (thrown) => {
    const page = messagesPage([{ path: 'lab/a.ts', source: `${classes}throw ${thrown};\n` }]);
    expect(page).not.toContain('\n| ');
  },
);
