// Holds docs/*.schema.json to the schemas of results, and sample results to the files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bisectResultSchema } from '../../src/model/bisect-result.ts';
import { resultSchema } from '../../src/model/result.ts';
import { bisectResults, mellanoxBroken, mellanoxFixed } from '../fakes/bisect-result.ts';
import { aCell, aResult, pairedRuns, revision } from '../fakes/result.ts';

// A site names its own rules freely.
const office = aCell({ kind: 'regression' }, undefined, { scenario: 'Office', family: 'inet6' });
const runs = pairedRuns([800_000, 801_000], [700_000, 702_000]);
const ofOffice = aResult({ outcome: { kind: 'judged', verdict: 'regression', cells: [{ ...office, runs }] } });

describe.each([
  {
    file: 'result.schema.json',
    schema: resultSchema,
    title: 'result.json',
    description: 'What a gate of ppsgate measured of one patch on one testbed, and its verdicts.',
    results: { 'pull request': aResult(), revision: aResult({ patch: revision }), ofOffice },
    wrong: { ...aResult(), seed: 'none' },
  },
  {
    file: 'bisect.schema.json',
    schema: bisectResultSchema,
    title: 'result.json of a bisection',
    description: 'Which commit of a range changed the packet rate, and all that was tried to tell.',
    results: { ...bisectResults, mellanoxFixed, mellanoxBroken },
    wrong: { ...mellanoxFixed, kind: 'gate' },
  },
])('docs/$file', ({ file, schema, title, description, results, wrong }) => {
  const path = join(import.meta.dirname, '../../docs', file);

  test('describes a result.json to programs in any language', async () => {
    const $id = `https://raw.githubusercontent.com/ppsgate/ppsgate/v1/docs/${file}`;
    const described = { $id, title, description, ...z.toJSONSchema(schema) };
    await expect(`${JSON.stringify(described, null, 2)}\n`).toMatchFileSnapshot(path);
  });

  test('accepts each sample, and no other value', () => {
    const isDateTime = (value: string): boolean => !Number.isNaN(Date.parse(value));
    const ajv = new Ajv2020({ formats: { uri: URL.canParse, 'date-time': isDateTime }, code: { optimize: false } });
    const isValid = ajv.compile(JSON.parse(readFileSync(path, 'utf8')));
    for (const [name, result] of Object.entries(results)) {
      expect(isValid(JSON.parse(JSON.stringify(result))), `${name}: ${ajv.errorsText(isValid.errors)}`).toBe(true);
      expect(schema.parse(result)).toEqual(result);
    }
    expect(isValid(wrong)).toBe(false);
  });
});
