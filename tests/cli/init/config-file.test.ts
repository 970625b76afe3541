// Tests that the initial ppsgate.yml loads, and so does the example in its comments.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hostedConfig, labConfig } from '../../../src/cli/init/config-file.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Config, whyUnfit } from '../../../src/config/schema.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

function load(text: string): Promise<Config> {
  const path = join(temporaryFolder(), 'ppsgate.yml');
  writeFileSync(path, text);
  return loadConfig(path, '/home/alice');
}

const commit = '0123456789abcdef0123456789abcdef01234567';
const configs = [
  ['GitHub’s own runner', hostedConfig(`example/ppsgate@${commit} # v0.1.0`)],
  ['a runner beside a lab', labConfig(`example/ppsgate@${commit}`)],
] as const;

test.for(configs)('the one for %s points editors to the schema of the pinned ppsgate', ([, text]) => {
  expect(text.split('\n')[0]).toBe(
    `# yaml-language-server: $schema=https://raw.githubusercontent.com/example/ppsgate/${commit}/docs/ppsgate.schema.json`,
  );
});

test('the lab in its comments can be measured on instead of the embedded lab', async () => {
  const withoutEmbedded = configs[1][1].replace(/^ {2}this-machine:\n.*\n/m, '');
  const config = await load(withoutEmbedded.replaceAll(/^ {2}# (?=rack-1:| )/gm, '  '));
  expect(Object.keys(config.testbeds)).toEqual(['rack-1']);
  expect(whyUnfit(config, 'rack-1')).toBeUndefined();
});
