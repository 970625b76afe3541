// The reference of ppsgate.yml is built from its schema.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { configurationPage } from '../../docs/generators/configuration.ts';
import { configKeys } from '../../src/config/schema.ts';

const schema = z.toJSONSchema(configKeys, { io: 'input', unrepresentable: 'any' });
const page = configurationPage(schema);

test('docs/reference/configuration.md is built from the schema of ppsgate.yml', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/reference/configuration.md');
});

test('Every setting of the schema is in a list of the page', () => {
  const keys = new Set(propertiesIn(schema));
  expect([...keys].filter((key) => !page.includes(`\n- \`${key}\``))).toEqual([]);
});

/** The keys that a schema knows by name. */
function propertiesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) =>
    key === 'properties' && typeof child === 'object' && child !== null
      ? [...Object.keys(child), ...propertiesIn(child)]
      : propertiesIn(child),
  );
}
