// The examples of docs/how-to/lab.md are valid, and so are the lines that people copy from it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FreebsdTestbed, GeneratorConfig } from '../../src/config/freebsd-testbed.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { checkSettings, type SettingsContext, settingsCommands } from '../../src/lab/freebsd/dut/settings.ts';
import { driverSettings } from '../../src/model/freebsd-drivers.ts';
import { commandText } from '../../src/system/shell.ts';
import { filesOf } from '../fakes/freebsd-lab/benches.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const page = readFileSync(join(docs, 'how-to', 'lab.md'), 'utf8');
const examples = readdirSync(join(docs, 'lab')).filter((name) => name.endsWith('.yml'));

function configOf(name: string): Config {
  const path = join(docs, 'lab', name);
  return parseConfig(readFileSync(path, 'utf8'), { path, home: '/home/me' });
}

function testbedOf(name: string): FreebsdTestbed {
  const [testbed] = Object.values(configOf(name).testbeds);
  if (testbed?.kind !== 'freebsd') throw new Error(`${name} has no FreeBSD testbed`);
  return testbed;
}

test('all four benches are found', () => {
  expect(examples).toHaveLength(4);
});

test.each(examples)('%s alone is a configuration of one FreeBSD testbed', (name) => {
  const kinds = Object.values(configOf(name).testbeds).map(({ kind }) => kind);
  expect(kinds).toEqual(['freebsd']);
});

test.each(examples)('%s measures as a FreeBSD lab does', (name) => {
  expect(configOf(name).traffic).toMatchObject({
    frameBytes: 64,
    measureSeconds: 60,
    measureAtLeastSeconds: 12,
    settleSeconds: 6,
    runsPerTrial: 1,
  });
  expect(configOf(name).traffic.offeredPps).toBeUndefined();
});

test.each(examples)('%s can be powered, and builds kernels that do not debug', (name) => {
  const { dut, builder } = testbedOf(name);
  expect(dut.power).toBeDefined();
  expect(builder?.recipe.kernelConfig).toBe('GENERIC-NODEBUG');
});

test.each(examples)('the guide names the page of %s, which names that file', (name) => {
  const its = name.replace('.yml', '.md');
  expect(page).toContain(`(../lab/${its})`);
  expect(readFileSync(join(docs, 'lab', its), 'utf8')).toContain(`(${name})`);
});

function settingsOf({ dut, senders, receiver }: FreebsdTestbed): SettingsContext {
  const [sender = receiver] = senders;
  return {
    families: ['inet4', 'inet6'],
    ingress: { ...dut.ingress, neighbour: neighbour(sender) },
    egress: { ...dut.egress, neighbour: neighbour(receiver) },
  };
}

function neighbour({ mac, addresses: { inet4 = '', inet6 = '' } }: GeneratorConfig) {
  return { mac, addresses: { inet4, inet6 } };
}

const linesToCopy = Object.values(filesOf('xeon-t540').DUT ?? {}).join('\n');

const wrongValues: Readonly<Record<string, string>> = {
  'sysctl -n kern.conftxt': '',
  'sysctl -n hw.ncpu': '8',
  'netstat -rn -f inet': withDefaultRoute('192.0.2.1'),
  'netstat -rn -f inet6': withDefaultRoute('fe80::1%igb0'),
  'ifconfig cxl0': withOffloads('cxl0'),
  'ifconfig cxl1': withOffloads('cxl1'),
};

function withOffloads(name: string): string {
  return `${name}: flags=8843<UP> metric 0 mtu 1500\n\toptions=1<TSO4,LRO>\n\tstatus: active\n`;
}

function withDefaultRoute(gateway: string): string {
  return `Destination Gateway Flags Netif\ndefault ${gateway} UGS igb0\n`;
}

/** Settings that have their own words in rc.conf(5) and loader.conf(5). */
const wordsOfRcConf: Readonly<Record<string, string>> = {
  'sysctl kern.random.harvest.mask=351': 'harvest_mask="351"',
  'sysctl debug.debugger_on_panic=0': 'debug.debugger_on_panic="0"',
  'sysctl net.inet.ip.forwarding=1': 'gateway_enable="YES"',
  'sysctl net.inet6.ip6.forwarding=1': 'ipv6_gateway_enable="YES"',
  'sysctl dev.cxl.0.pause_settings=0': 'hw.cxgbe.pause_settings="0"',
  'sysctl dev.cxl.1.pause_settings=0': 'hw.cxgbe.pause_settings="0"',
};

const plain = (command: string): string => command.replaceAll("'", '');

/** Returns the line, or a part of one, by which a file does the same as the command. */
const written = (command: string): string =>
  wordsOfRcConf[command] ?? command.replace(/^sysctl |^ifconfig \S+ |^(?:\S+ -[sS]|route .*-inet6?) /, '');

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

test('the lines to copy fix every problem of a DUT without settings', () => {
  const context = settingsOf(testbedOf('xeon-t540.yml'));
  const commands = settingsCommands(context).map(commandText);
  const said = new Map(commands.map((command) => [command, wrongValues[plain(command)] ?? '255']));
  const fixes = checkSettings(said, context).flatMap(({ fix }) => {
    if (fix.kind === 'command') return [written(plain(commandText(fix.command)))];
    return fix.kind === 'loader' ? [fix.line] : [];
  });
  expect(fixes.length).toBeGreaterThan(20);
  expect(fixes.filter((fix) => !linesToCopy.includes(fix))).toEqual([]);
});
