// The examples of docs/how-to/lab.md are named there, and the reference of settings is that of the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { driverSettings } from '../../src/model/freebsd-drivers.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const page = readFileSync(join(docs, 'how-to', 'lab.md'), 'utf8');
const examples = readdirSync(join(docs, 'lab')).filter((name) => name.endsWith('.yml'));

test.each(examples)('the guide names the page of %s, which names that file', (name) => {
  const its = name.replace('.yml', '.md');
  expect(page).toContain(`(../lab/${its})`);
  expect(readFileSync(join(docs, 'lab', its), 'utf8')).toContain(`(${name})`);
});

/** A row of the table of settings, without its bars. */
const driverRow = ({
  ports,
  name,
  expected,
  fix,
  permanent,
  source,
  ...rest
}: (typeof driverSettings)[number]): string => {
  const named = (text: string) => text.replace('PORT', ports[0] ?? '');
  const file = fix === 'sysctl' && permanent === undefined ? '/etc/sysctl.conf' : '/boot/loader.conf';
  const line = fix === 'sysctl' ? (permanent ?? `${name}=${expected}`) : `${fix.loader}="${expected}"`;
  return [
    ports.map((port) => `\`${port}\``).join(', '),
    `\`${named(name)}\``,
    expected === 'queues' ? '`queues`' : expected,
    `${file}: \`${named(line)}\``,
    rest.appliesToGenerators ? 'yes' : '',
    source,
  ].join(' | ');
};

test('docs/reference/freebsd-settings.md has the settings that are checked', async () => {
  const text = `# Settings of FreeBSD drivers

Generated from src/model/freebsd-drivers.ts by \`vitest run tests/docs/lab.test.ts --update\`; do not edit.

ppsgate checks these on the DUT, and some on the generators too. \`N\` is the number of the port.

| ports | sysctl | expected | permanent setting | generators too | source |
| --- | --- | --- | --- | --- | --- |
${driverSettings.map((row) => `| ${driverRow(row)} |`).join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../docs/reference/freebsd-settings.md');
});
