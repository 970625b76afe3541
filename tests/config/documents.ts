// Configurations for tests. Documents of ppsgate.yml have `---` between them in a file; the comment in the first line of
// each is its name.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configKeys } from '../../src/config/schema.ts';

const docs = join(import.meta.dirname, '../../docs');

/** Name and text of each document of a file. */
export const documentsIn = (file: string): [string, string][] =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .split('---\n')
    .map((text) => [/(?<=^# ).+/.exec(text)?.[0] ?? '', text]);

/** Small configurations with keys that the documented ones lack. */
export const rare = documentsIn('documents.yml');

/** Names and texts of the configurations in a folder of docs/. */
export const documented = (folder: string): [string, string][] =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => [`docs/${folder}/${name}`, readFileSync(join(docs, folder, name), 'utf8')]);

/** The JSON Schema of ppsgate.yml for editors. */
export const ppsgateSchema: object = {
  $id: 'https://raw.githubusercontent.com/ppsgate/ppsgate/v1/docs/ppsgate.schema.json',
  title: 'ppsgate.yml',
  description: 'What ppsgate measures, and where. A quantity carries its unit: 2%, 3 Mpps, 500 ms.',
  ...z.toJSONSchema(configKeys, {
    io: 'input',
    // Keys that are not known; see `closed`.
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { patterns = [] } = zodSchema._zod.bag as { patterns?: Iterable<RegExp> };
      for (const { flags, source } of patterns) {
        if (flags.includes('i')) throw new Error(`JSON Schema minds case: spell it out in ${source}`);
      }
      // URL accepts more than RFC 3986 calls a URI.
      if (jsonSchema.format === 'uri') delete jsonSchema.format;
    },
  }),
};
