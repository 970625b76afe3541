// The reference of ppsgate.yml is built from its schema, and each of its examples is a ppsgate.yml.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { configurationPage } from '../../docs/generators/configuration.ts';
import { aTestbed, configurationExamples } from '../../docs/generators/configuration-examples.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configKeys } from '../../src/config/schema.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aPcap, udp4 } from '../fakes/pcap.ts';

const schema = z.toJSONSchema(configKeys, { io: 'input', unrepresentable: 'any' });
const page = configurationPage(schema, configurationExamples);

test('docs/reference/configuration.md is built from the schema of ppsgate.yml', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/reference/configuration.md');
});

const examples = Object.entries(configurationExamples).flatMap(([name, texts]) =>
  texts.map((text): [string, string] => [name, text]),
);

describe('An example', () => {
  test.each(examples)('of %s is loaded as ppsgate.yml', async (_, text) => {
    const folder = temporaryFolder();
    const path = join(folder, 'ppsgate.yml');
    writeFileSync(join(folder, 'dns.pcap'), aPcap([udp4()]));
    writeFileSync(path, text.includes('testbeds:') ? text : `${aTestbed}${text}`);
    await expect(loadConfig(path)).resolves.toHaveProperty('testbeds');
  });

  test.each(examples)('of %s is on the page', (_, text) => {
    expect(page).toContain(text.trim());
  });
});

test('Every setting is in an example', () => {
  const used = new Set(examples.flatMap(([, text]) => keysIn(parse(text))));
  const keys = new Set(propertiesIn(schema));
  expect([...keys].filter((key) => !used.has(key))).toEqual([]);
});

test('Every setting of the schema is in a table of the page', () => {
  const keys = new Set(propertiesIn(schema));
  expect([...keys].filter((key) => !page.includes(`\n| \`${key}\` | `))).toEqual([]);
});

function keysIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const children = Object.values(value).flatMap(keysIn);
  return Array.isArray(value) ? children : [...Object.keys(value), ...children];
}

/** The keys that a schema knows by name. */
function propertiesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) =>
    key === 'properties' && typeof child === 'object' && child !== null
      ? [...Object.keys(child), ...propertiesIn(child)]
      : propertiesIn(child),
  );
}
