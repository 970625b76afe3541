import { expect, test } from 'vitest';
import { z } from 'zod';
import { resultSchema } from '../../src/words/result.ts';

test('docs/result.schema.json describes result.json to programs in any language', async () => {
  const schema = `${JSON.stringify(z.toJSONSchema(resultSchema), null, 2)}\n`;
  await expect(schema).toMatchFileSnapshot('../../docs/result.schema.json');
});
