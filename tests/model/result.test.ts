import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isLoss, resultSchema, runSchema } from '../../src/model/result.ts';
import { aCell, aResult, aRun, pairedRuns, revision } from '../fakes/result.ts';

const file = '../../docs/result.schema.json';

test('docs/result.schema.json describes result.json to programs in any language', async () => {
  const described = {
    $id: 'https://raw.githubusercontent.com/ppsgate/ppsgate/v1/docs/result.schema.json',
    title: 'result.json',
    description: 'What a gate of ppsgate measured of one patch on one testbed, and its verdicts.',
    ...z.toJSONSchema(resultSchema),
  };
  await expect(`${JSON.stringify(described, null, 2)}\n`).toMatchFileSnapshot(file);
});

const regression = { kind: 'regression' } as const;
// A site names its own rules freely.
const office = aCell(regression, undefined, { scenario: 'Office', family: 'inet6' });
const runs = pairedRuns([800_000, 801_000], [700_000, 702_000]);

test.each([
  ['of a pull request', aResult()],
  ['of a revision', aResult({ patch: revision })],
  [
    'with runs, of rules with a capital',
    aResult({ outcome: { kind: 'judged', verdict: 'regression', cells: [{ ...office, runs }] } }),
  ],
])('a result.json %s fits docs/result.schema.json', async (_, result) => {
  const schema = JSON.parse(await readFile(new URL(file, import.meta.url), 'utf8')) as object;
  const isDateTime = (value: string): boolean => !Number.isNaN(Date.parse(value));
  const ajv = new Ajv2020({ formats: { uri: URL.canParse, 'date-time': isDateTime } });
  expect(ajv.validate(schema, JSON.parse(JSON.stringify(result))), ajv.errorsText()).toBe(true);
  expect(ajv.validate(schema, { ...result, seed: 'none' })).toBe(false);
});

test('less of a rate is a loss, and more of a cost', () => {
  expect(isLoss({ metric: 'pps' }, -0.01)).toBe(true);
  expect(isLoss({ metric: 'pps' }, 0.01)).toBe(false);
  for (const metric of ['nsPerPacket', 'instructionsPerPacket'] as const) {
    expect(isLoss({ metric }, 0.01)).toBe(true);
    expect(isLoss({ metric }, -0.01)).toBe(false);
  }
});

test('a run may have counted instructions, and one of before they were counted is read', () => {
  const sample = { seconds: 1, receivedPackets: 1000, forwardedPackets: 1000 };
  const counted = aRun({
    instructionsPerPacket: 8314.2,
    samples: [{ ...sample, instructions: 8_314_200 }],
  });
  expect(runSchema.parse(counted)).toEqual(counted);
  expect(runSchema.parse(aRun())).toEqual(aRun());
});
