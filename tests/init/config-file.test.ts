// The ppsgate.yml to start from: it loads, and so does what it keeps as an example in comments.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { type Config, whyUnfit } from '../../src/config/schema.ts';
import { hostedConfig, labConfig } from '../../src/init/config-file.ts';
import { temporaryFolder } from '../fakes/folder.ts';

function load(text: string): Promise<Config> {
  const path = join(temporaryFolder(), 'ppsgate.yml');
  writeFileSync(path, text);
  return loadConfig(path, '/home/alice');
}

test.for([
  ['GitHub’s own runner', hostedConfig],
  ['a runner beside a lab', labConfig],
] as const)('the one for %s measures in the embedded lab', async ([, text]) => {
  const config = await load(text);
  expect(config.testbeds).toMatchObject({ 'this-machine': { kind: 'embedded-linux' } });
  expect(whyUnfit(config, 'this-machine')).toBeUndefined();
});

test('the rack in its comments can be measured on when it takes the place of the embedded lab', async () => {
  const withoutEmbedded = labConfig.replace(/^ {2}this-machine:\n.*\n/m, '');
  const config = await load(withoutEmbedded.replaceAll(/^ {2}# (?=rack-1:| )/gm, '  '));
  expect(Object.keys(config.testbeds)).toEqual(['rack-1']);
  expect(whyUnfit(config, 'rack-1')).toBeUndefined();
});
