// Tests that docs/ppsgate.schema.json describes ppsgate.yml to editors, and accepts all valid files.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { hostedConfig, labConfig } from '../../src/cli/init/config-file.ts';
import { configSchema } from '../../src/config/schema.ts';
import { documented, ppsgateSchema, rare } from './documents.ts';

const fits = new Ajv2020({ code: { optimize: false } }).compile(ppsgateSchema);
const inDocs = [...documented('example'), ...documented('lab')];

test('docs/ppsgate.schema.json is made of what is read', async () => {
  await expect(`${JSON.stringify(ppsgateSchema, null, 2)}\n`).toMatchFileSnapshot('../../docs/ppsgate.schema.json');
});

test.each(inDocs)('%s points editors to the schema', (_, text) => {
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../ppsgate.schema.json');
});

const action = `OWNER/ppsgate@${'a'.repeat(40)}`;

test.each([
  ...inDocs,
  ...rare,
  ['of `init` for a runner of GitHub', hostedConfig(action)],
  ['of `init` for a lab', labConfig(action)],
])('the ppsgate.yml %s is read, and fits the schema', (_, text) => {
  const config: unknown = parse(text);
  expect(configSchema.safeParse(config).error?.issues).toBeUndefined();
  expect(fits(config), JSON.stringify(fits.errors)).toBe(true);
});
