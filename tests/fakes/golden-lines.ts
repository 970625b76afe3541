// Golden files of inputs, a line each, with the outputs of each indented below it; --update writes the outputs.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** Inputs stand below headings (`# …`), which may say what is done with them. */
export async function expectOutputs(
  path: string,
  outputsOf: (input: string, heading: string) => readonly string[],
): Promise<void> {
  let heading = '';
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('    '));
  const written = lines.flatMap((line) => {
    if (line.startsWith('# ')) heading = line.slice(2);
    if (line === '' || line.startsWith('# ')) return [line];
    return [line, ...outputsOf(line, heading).map((output) => `    ${output}`)];
  });
  await expect(written.join('\n')).toMatchFileSnapshot(path);
}
