// Builds the reference of the GitHub Action from action.yml.
import { parse } from 'yaml';
import { z } from 'zod';
import { code, table } from './markdown.ts';

const actionSchema = z.object({
  description: z.string(),
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string() })),
  outputs: z.record(z.string(), z.object({ description: z.string() })),
});

export function actionPage(written: string): string {
  const { description, inputs, outputs } = actionSchema.parse(parse(written));
  return `${[
    '# GitHub Action',
    'Generated from `action.yml` by `vitest run tests/docs/reference.test.ts --update`; do not edit.',
    description,
    '`ppsgate init` writes a workflow with all jobs and permissions; [outcomes.md](outcomes.md) lists the exit codes.',
    '## Inputs',
    table(
      ['input', 'default', 'meaning'],
      Object.entries(inputs).map(([name, input]) => [code(name), code(input.default), input.description]),
    ),
    '## Outputs',
    table(
      ['output', 'meaning'],
      Object.entries(outputs).map(([name, output]) => [code(name), output.description]),
    ),
  ].join('\n\n')}\n`;
}
