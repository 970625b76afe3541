// Compares the fake lab with outputs of a real FreeBSD: exit code and every line, without numbers, addresses and names.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { type Answer, type Shapes, shapesOf, unlikeParts } from './answers.ts';
import { makeFolder } from './file-system.ts';
import { type FreebsdLab, startFreebsdLab } from './lab.ts';
import { pktGenLines, realAnswers, type State } from './real-answers.ts';
import { splitWords } from './shell.ts';
import { sendTrial } from './trial.ts';

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
function bringTo({ dut: { machine } }: FreebsdLab, state: State): void {
  const card = machine.interfaces.find(({ name }) => name === 'vtnet1');
  if (card === undefined) throw new TypeError('There is no vtnet1.');
  const isBare = state === 'without addresses';
  machine.routes.length = 0;
  machine.neighbours.length = 0;
  for (const one of machine.interfaces) if (isBare) one.addresses = [];
  card.isUp = !isBare;
  if (isBare) return;
  card.addresses = ['inet 198.18.0.1 netmask 0xfffffffc broadcast 198.18.0.3', 'inet6 2001:2::1 prefixlen 126'];
}

async function ask(lab: FreebsdLab, command: string): Promise<Answer> {
  const split = splitWords(command);
  if (split.kind === 'refused') throw new TypeError(split.reason);
  await using dut = await connect(lab.dut.target);
  const outcome = await dut.run(shell`${split.words}`);
  if (outcome.kind !== 'exited') throw new TypeError(`${command} was killed.`);
  return { command, code: outcome.code, stdout: outcome.stdout, stderr: outcome.stderr };
}

const written = realAnswers.map(
  ({ command, code = 0, stdout = '', stderr = '' }): Answer => ({ command, code, stdout, stderr }),
);

/** The simulated lab's output for the same commands, in the same order. */
const said: Answer[] = [];
let lab: FreebsdLab;

beforeAll(async () => {
  lab = await startGuests();
  makeFolder(lab.dut.machine.files, '/boot/loader.conf.d', true);
  for (const { command, in: state } of realAnswers) {
    if (state !== undefined) bringTo(lab, state);
    said.push(await ask(lab, command));
  }
}, 60_000);
afterAll(() => lab.stop());

describe('answers of a real FreeBSD that are written down here', () => {
  test.each(realAnswers.map(({ command }, index) => ({ command, index })))(
    '$command ($index)',
    ({ command, index }) => {
      const [real, fake] = [written[index], said[index]];
      if (real === undefined || fake === undefined) throw new TypeError(command);
      expect(unlikeParts(shapesOf([real]), shapesOf([fake]))).toEqual([]);
    },
  );

  test('pkt-gen prints its lines', async () => {
    await using guests = await startGuests();
    const { outcomes } = await sendTrial(guests, { ratePps: 50_000, ends: 'nowhere' });
    const [receiver, sender] = outcomes.map(({ stderr }) => shapesOfLines(stderr.split('\n')));
    expect(unlikeParts(shapesOfLines(pktGenLines.sender), sender ?? new Map())).toEqual([]);
    expect(unlikeParts(shapesOfLines(pktGenLines.receiver), receiver ?? new Map())).toEqual([]);
  });
});

const shapesOfLines = (lines: readonly string[]): Shapes =>
  shapesOf([{ command: 'pkt-gen', code: 0, stdout: '', stderr: lines.join('\n') }]);
