import { describe, expect, onTestFinished, test } from 'vitest';
import type { Diagnostic } from '../../src/lab/check/diagnostic.ts';
import { checkFreebsdTestbed } from '../../src/lab/check/freebsd-check.ts';
import { type CommandOutputs, waived } from '../../src/lab/freebsd/dut/setting.ts';
import { checkSettings, settingsCommands } from '../../src/lab/freebsd/dut/settings.ts';
import { readAll, settingsContext } from '../../src/lab/freebsd/preflight.ts';
import { connect, type Host } from '../../src/system/host/ssh.ts';
import { aBench, type Bench, type BenchName, benches, filesOf, withInstalled } from '../fakes/freebsd-lab/benches.ts';
import { writeFile } from '../fakes/freebsd-lab/file-system.ts';
import type { FreebsdLabOptions } from '../fakes/freebsd-lab/lab.ts';
import { startUp } from '../fakes/freebsd-lab/lifecycle.ts';
import { depsOf } from '../fakes/freebsd-testbed.ts';

async function bench(name: BenchName, options: FreebsdLabOptions = {}): Promise<Bench> {
  const made = await aBench(name, options);
  onTestFinished(() => made.lab.stop());
  return made;
}

async function check({ lab, testbed, config }: Bench, sends = true): Promise<Diagnostic[]> {
  const { families, traffic } = config;
  const request = { name: 'bench', testbed, families, traffic, sends, cycles: false };
  const deps = { ...depsOf(lab), notify: () => {}, signal: new AbortController().signal };
  return Array.fromAsync(checkFreebsdTestbed(request, deps));
}

const of = (diagnostics: readonly Diagnostic[], wanted: Diagnostic['kind']): string[] =>
  diagnostics.filter(({ kind }) => kind === wanted).map(({ what, why }) => `${what}: ${why}`);

const whatOf = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.filter(({ kind }) => kind === 'skipped').map(({ what }) => what);

/** Checks that these benches cannot run: the builder is outside the laboratory and tested elsewhere. */
const untried: Readonly<Record<BenchName, readonly string[]>> = {
  'rcc-ve-i350': ['the builder', 'the ceiling of the sender past the DUT'],
  'two-senders-40g': [
    'the builder',
    'the console of the DUT',
    'the ceiling of sender 1 past the DUT',
    'the ceiling of sender 2 past the DUT',
  ],
  'xeon-t540': ['the builder', 'the ceiling of the sender past the DUT'],
  'xeon-t580-connectx4': ['the builder', 'the console of the DUT', 'the ceiling of the sender past the DUT'],
};

describe.each(benches)('the page of %s', (name) => {
  test('sets up a laboratory in which nothing is wrong', async () => {
    const diagnostics = await check(await bench(name));
    expect(of(diagnostics, 'wrong')).toEqual([]);
    expect(whatOf(diagnostics).toSorted()).toEqual(untried[name].toSorted());
  });

  test('has only lines for the DUT that a check needs, or that no check covers', async () => {
    // Reason for the lines of netisr.
    const made = await bench(name, { kernel: { ident: 'own', options: ['options RSS'] } });
    await using host = await connect(made.lab.dut.target);
    const files = filesOf(name).DUT ?? {};
    const idle: string[] = [];
    for (const [path, text] of Object.entries(files)) {
      for (const line of text.split('\n').filter(Boolean)) {
        setUp(made, { ...files, [path]: text.replace(`${line}\n`, '') });
        if ((await problemsOf(made, host)).length === 0) idle.push(line);
      }
    }
    setUp(made, files);
    expect(await problemsOf(made, host)).toEqual([]);
    expect(idle.filter((line) => whyIdle(line) === undefined)).toEqual([]);
  });
});

test.each([
  ['hw.cxgbe.num_vis="2"', 'vcxl0 of the sender: cxl0 exists, but its interface for netmap'],
  ['hw.cxgbe.pause_settings="0"', 'dev.cxl.0.pause_settings: is 7<RX,TX,AUTO> instead of 0'],
  ['ifconfig_vcxl0="inet 198.18.0.108/24"\nifconfig_vcxl0_ipv6=', 'vcxl0 of the sender: it is down'],
])('a sender without %s is found', async (lines, why) => {
  const files = filesOf('xeon-t580-connectx4');
  const spoilt = Object.entries(files.sender ?? {}).map(([path, text]) => [path, text.replace(lines, '#')]);
  const sender1 = withInstalled('sender1', Object.fromEntries(spoilt));
  const receiver = withInstalled('receiver', files.receiver);
  const made = await bench('xeon-t580-connectx4', { generatorFiles: { sender1, receiver } });
  const [first] = of(await check(made, false), 'wrong');
  expect(first).toContain(why);
});

test('without the lines for the console the check does not find it', async () => {
  const made = await bench('xeon-t540');
  const { '/boot/loader.conf': loader = '', ...files } = filesOf('xeon-t540').DUT ?? {};
  const silent = loader.replaceAll(/^(?:boot_\w+|\w*console\w*)=.*\n/gm, '');
  setUp(made, { ...files, '/boot/loader.conf': silent });
  expect(of(await check(made, false), 'wrong')).toEqual([
    'the console of the DUT: the DUT writes only to ttyv0, not to a serial port',
  ]);
});

/** The DUT with these files, as if it had been up for a day. */
function setUp({ lab }: Bench, files: Readonly<Record<string, string>>): void {
  const { machine } = lab.dut;
  for (const [path, text] of Object.entries(withInstalled('dut', files))) {
    writeFile(machine.files, path, text);
  }
  startUp(machine, { clock: lab.clock, faults: lab.faults });
}

async function problemsOf({ testbed, config }: Bench, host: Host): Promise<string[]> {
  const context = settingsContext(testbed, config.families);
  const said: CommandOutputs = await readAll(host, settingsCommands(context));
  return waived(checkSettings(said, context), testbed.waive)
    .filter(({ isWaived }) => !isWaived)
    .map(({ message }) => message);
}

const whyIdle = (line: string): string | undefined =>
  Object.entries(uncheckable).find(([, lines]) => lines.some((some) => some.test(line)))?.[0];

/** Lines whose lack no check of a healthy DUT can detect, by their purpose. */
const uncheckable: Readonly<Record<string, readonly RegExp[]>> = {
  'only a file system that was not unmounted shows what becomes of it': [/^fsck_y_enable=/, /^background_fsck=/],
  'devmatch(8) loads the driver of a card that is there, later': [/^(?:if_cxgbe|t5fw_cfg|mlx5en)_load=/],
  'either makes the serial port the first console, by what the loader was started from': [
    /^boot_(?:multicons|serial)=/,
    /^console=/,
  ],
  'the other end of the serial line decides': [/^comconsole_/],
  'interrupts do not say which thread of a core they might have had': [/^machdep\.hyperthreading_intr_allowed=/],
  'the driver takes so many by itself where there are so many CPUs': [
    /^hw\.cxgbe\.n[rt]xq10g="8"$/,
    /^dev\.mce\.0\.conf\.channels=32$/,
  ],
  'em(4) reads one number for all of its ports': [/^dev\.igb\.\d\.fc=/],
};
