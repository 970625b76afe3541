// Compares the fake lab with outputs of FreeBSD 14.2 in QEMU, copied by hand from two machines with vtnet(4) cards: exit
// codes and every line, without numbers, addresses and names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shell } from '../../../src/system/shell.ts';
import { makeFolder } from './file-system.ts';
import { type FreebsdLab, startFreebsdLab } from './lab.ts';
import { splitWords } from './shell.ts';

/** `lines` begin with `>` on stdout, `!` on stderr, and `=` for an exit code. */
type Answer = { command: string; state: string | undefined; lines: readonly string[] };

const real: readonly Answer[] = readFileSync(join(import.meta.dirname, 'real-answers.txt'), 'utf8')
  .split(/^(?=[#$])/m)
  .map((block): Answer => {
    const [title = '', ...lines] = block.trimEnd().split('\n');
    return { command: title.slice(2), state: title.startsWith('#') ? title.slice(2) : undefined, lines };
  });

/** Two machines with cards of QEMU's, as the recorded ones. */
const startGuests = (): Promise<FreebsdLab> =>
  startFreebsdLab({
    kernel: { ident: 'base', release: '14.2-BETA1' },
    product: 'Standard PC (Q35 + ICH9, 2009)',
    hasPciNames: false,
    hardware: { 'hw.model': 'QEMU TCG CPU version 2.5+', 'hw.ncpu': '1' },
    cabling: {
      ports: [
        { name: 'vtnet0', card: 'virtio' },
        { name: 'vtnet1', card: 'virtio' },
      ],
    },
  });

/** Creates the state in which the real outputs were recorded. */
function bringTo({ dut: { machine } }: FreebsdLab, isBare: boolean): void {
  machine.routes.length = 0;
  machine.neighbours.length = 0;
  for (const one of machine.interfaces) {
    if (isBare) one.addresses = [];
    if (one.name !== 'vtnet1') continue;
    one.isUp = !isBare;
    if (isBare) continue;
    one.addresses = ['inet 198.18.0.1 netmask 0xfffffffc broadcast 198.18.0.3', 'inet6 2001:2::1 prefixlen 126'];
  }
}

const linesOf = (mark: string, text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `${mark} ${line.replaceAll('\u0007', '').trimEnd()}`);

test('every line of a real FreeBSD is one of the fake lab, too', async () => {
  await using lab = await startGuests();
  makeFolder(lab.dut.machine.files, '/boot/loader.conf.d', true);
  await using dut = await lab.dut.connect('DUT');
  const unlike: string[] = [];
  for (const { command, state, lines } of real) {
    if (state !== undefined) bringTo(lab, state === 'without addresses');
    if (state !== undefined) continue;
    const split = splitWords(command);
    const outcome = await dut.run(shell`${split.kind === 'words' ? split.words : []}`);
    if (outcome.kind !== 'exited') throw new TypeError(`${command} was killed.`);
    const code = outcome.code === 0 ? [] : [`= ${outcome.code}`];
    const fake = new Set([...linesOf('>', outcome.stdout), ...linesOf('!', outcome.stderr)].map(shapeOf).concat(code));
    const missing = lines.filter((line) => !fake.has(line.startsWith('=') ? line : shapeOf(line)));
    const extra = lines.some((line) => line.startsWith('=')) ? [] : code;
    unlike.push(...[...missing, ...extra].map((line) => `${command}: ${line}`));
  }
  expect(unlike).toEqual([]);
});

/** Treats numbers, addresses, checksums, devices, and names of machines and interfaces as equal. */
const shapeOf = (line: string): string =>
  line
    .trimEnd()
    .replace(/\boptions=[0-9a-f]+<[^>]*>$/, (options) => (options.includes('PERFORMNUD') ? options : 'options=…'))
    .replace(/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, 'MAC')
    .replace(/\bv?(?:cxl|vtnet|igb)\d+\b/g, 'IF')
    .replace(/(?:\b[0-9a-f]{1,4}:|::)[0-9a-f:.]*(?:%\w+)?(?:\/\d+)?/gi, 'ADDRESS')
    .replace(/\b\d+\.\d+\.\d+\.\d+(?:\/\d+)?/g, 'ADDRESS')
    .replace(/0x[0-9a-f]+|\b[0-9a-f]{7,}\b|\d+(?:\.\d+)*/g, 'N')
    .replace(/ {2,}/g, ' ');
