// The examples of docs/how-to/lab.md are named there, and the reference of settings is that of the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import type { Fix } from '../../src/lab/freebsd/dut/setting.ts';
import { checkSettings, settingsCommands } from '../../src/lab/freebsd/dut/settings.ts';
import { settingsContext } from '../../src/lab/freebsd/preflight.ts';
import { driverSettings } from '../../src/model/freebsd-drivers.ts';
import { commandText } from '../../src/system/shell.ts';
import { filesOf } from '../fakes/lab-pages.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const page = readFileSync(join(docs, 'how-to', 'lab.md'), 'utf8');
const examples = readdirSync(join(docs, 'lab')).filter((name) => name.endsWith('.yml'));

test.each(examples)('the guide names the page of %s, which names that file', (name) => {
  const its = name.replace('.yml', '.md');
  expect(page).toContain(`(../lab/${its})`);
  expect(readFileSync(join(docs, 'lab', its), 'utf8')).toContain(`(${name})`);
});

/** Lines of a page, each of which would make a fix permanent. */
function permanentLines(fix: Fix): string[] {
  if (fix.kind === 'loader') return [fix.line];
  if (fix.kind !== 'command') return [];
  const [program, ...words] = commandText(fix.command).replaceAll("'", '').split(' ');
  if (program !== 'sysctl') return [words.slice(program === 'route' ? 2 : 1).join(' ')];
  const [name = '', value] = words[0]?.split('=') ?? [];
  const others = Object.entries(elsewhere).flatMap(([setting, line]) => (name.endsWith(setting) ? line : []));
  return [`${name}=${value}\n`, `${name}="${value}"`, ...others];
}

const elsewhere: Readonly<Record<string, string>> = {
  'net.inet.ip.forwarding': '\ngateway_enable="YES"',
  'net.inet6.ip6.forwarding': 'ipv6_gateway_enable="YES"',
  'kern.random.harvest.mask': 'harvest_mask="351"',
  '.pause_settings': 'hw.cxgbe.pause_settings="0"',
};

test.each(examples)('the page of %s has a line for each setting that a check of the DUT asks for', (name) => {
  const path = join(docs, 'lab', name);
  const { testbeds, families } = parseConfig(readFileSync(path, 'utf8'), { path, home: '/home/me' });
  const [testbed] = Object.values(testbeds);
  if (testbed?.kind !== 'freebsd') throw new TypeError(`${name} has no FreeBSD testbed.`);
  const context = settingsContext(testbed, families);
  const said = new Map(settingsCommands(context).map((command) => [commandText(command), '?']));
  said.set('sysctl -n kern.conftxt', 'options\tRSS\n');
  const text = `\n${Object.values(filesOf(name.replace('.yml', '')).DUT ?? {}).join('\n')}`;
  const asked = checkSettings(said, context)
    .filter(({ setting }) => testbed.waive?.[setting] === undefined)
    .map(({ fix }) => permanentLines(fix))
    .filter((lines) => lines.length > 0);
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((lines) => !lines.some((line) => text.includes(line)))).toEqual([]);
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
