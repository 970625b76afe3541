import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { bisectResultSchema } from '../../src/model/bisect-result.ts';
import { bisectResults, mellanoxBroken, mellanoxFixed } from '../fakes/bisect-result.ts';

const file = '../../docs/bisect.schema.json';

test('docs/bisect.schema.json describes the result.json of a bisection to programs in any language', async () => {
  const described = {
    $id: 'https://raw.githubusercontent.com/ppsgate/ppsgate/v1/docs/bisect.schema.json',
    title: 'result.json of a bisection',
    description: 'Which commit of a range changed the packet rate, and all that was tried to tell.',
    ...z.toJSONSchema(bisectResultSchema),
  };
  await expect(`${JSON.stringify(described, null, 2)}\n`).toMatchFileSnapshot(file);
});

test.each(Object.entries({ ...bisectResults, mellanoxFixed, mellanoxBroken }))(
  'a result.json fits docs/bisect.schema.json: %s',
  async (_, result) => {
    const schema = JSON.parse(await readFile(new URL(file, import.meta.url), 'utf8')) as object;
    const isDateTime = (value: string): boolean => !Number.isNaN(Date.parse(value));
    const ajv = new Ajv2020({ formats: { uri: URL.canParse, 'date-time': isDateTime } });
    expect(ajv.validate(schema, JSON.parse(JSON.stringify(result))), ajv.errorsText()).toBe(true);
    expect(ajv.validate(schema, { ...result, kind: 'gate' })).toBe(false);
    expect(bisectResultSchema.parse(result)).toEqual(result);
  },
);
