// Compares the fake lab with outputs of a real FreeBSD: each is equal, or a row of docs/explanation/lab-fake.md
// explains why not.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unexpectedOutput } from '../../../src/gate/recording/output-formats.ts';
import { readRecording } from '../../../src/gate/recording/read-recording.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { recordCheck, recordSelfTest, recordTestbed, trialOf } from '../../gate/recording/record-lab.ts';
import { describeWith, sharedFolder } from '../../needs.ts';
import {
  type Answer,
  answersOf,
  commandShape,
  readAnswers,
  type Shapes,
  shapesOf,
  type Unlike,
  unlikeParts,
} from './answers.ts';
import { makeFolder } from './file-system.ts';
import { type FreebsdLab, startFreebsdLab } from './lab.ts';
import { pktGenLines, realAnswers, type State } from './real-answers.ts';
import { splitWords } from './shell.ts';
import { sendTrial } from './trial.ts';

type Row = { command: string; uses: number };

/** First column of each row: a command, or its beginning. */
const rows: readonly Row[] = readFileSync(join(import.meta.dirname, '../../../docs/explanation/lab-fake.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, command] = /^\| `([^`]+)` \|/.exec(line) ?? [];
    return command === undefined ? [] : [{ command: commandShape(command), uses: 0 }];
  });

/** Differences that no row explains. */
const unexplained = (unlike: readonly Unlike[]): Unlike[] =>
  unlike.filter(({ command }) => {
    const row = rows.find((one) => command.startsWith(one.command));
    if (row !== undefined) row.uses += 1;
    return row === undefined;
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
      expect(unexplained(unlikeParts(shapesOf([real]), shapesOf([fake])))).toEqual([]);
    },
  );

  test.each(written.map((answer, index) => ({ ...answer, index })))('$command ($index) is understood', (answer) =>
    expect(whyUnexpected(answer)).toBeUndefined(),
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

/** A clause of the reader of recordings that knows each command's format. */
const whyUnexpected = ({ command, code, stdout, stderr }: Answer): string | undefined =>
  unexpectedOutput({
    number: 1,
    host: 'DUT',
    call: { what: 'run', command },
    at: 0,
    output: [
      { at: 0, line: 1, turn: 1, stream: 'stdout', text: stdout },
      { at: 0, line: 2, turn: 2, stream: 'stderr', text: stderr },
    ],
    cut: new Set(),
    ended: { at: 0, line: 3, turn: 3, outcome: { kind: 'exited', code } },
  });

describeWith(['shared/freebsd'], 'recordings of a real FreeBSD', () => {
  const [virtual, labFolder] = [sharedFolder('freebsd/virtual'), sharedFolder('freebsd/lab')];
  const guests = readdirSync(virtual)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => join(virtual, name));
  const recordings = readdirSync(labFolder)
    .filter((name) => name.endsWith('.rec.gz'))
    .map((name) => join(labFolder, name));
  test('are understood by the reader of recordings', () => {
    const unlike = [
      ...guests.flatMap((path) => readAnswers(path).flatMap((one) => whyUnexpected(one) ?? [])),
      ...recordings.flatMap((path) =>
        readRecording(path).requests.flatMap((request) => unexpectedOutput(request) ?? []),
      ),
    ];
    expect(unlike).toEqual([]);
  });

  test('have no answer that the simulated lab lacks, but for those of docs/explanation/lab-fake.md', async () => {
    const real = shapesOf([
      ...guests.flatMap(readAnswers),
      ...recordings.flatMap((path) => answersOf(readRecording(path).requests)),
    ]);
    const fake = shapesOf([...said, ...(await simulatedAnswers())]);
    expect(unexplained(unlikeParts(real, fake))).toEqual([]);
    expect(rows.filter(({ uses }) => uses === 0)).toEqual([]);
  });
});

/** To a check, a self-test and a gate. */
async function simulatedAnswers(): Promise<Answer[]> {
  const send = async (testbed: Testbed) => {
    for (const [pair, variant] of ['base', 'patched'].entries()) {
      await testbed.trial(trialOf(variant, pair + 1), async () => {}, signal);
    }
  };
  const paths = [
    (await recordCheck()).path,
    (await recordSelfTest({ kernel: { ident: 'base', release: '14.2-BETA1' } })).path,
    await recordTestbed(send),
  ];
  return paths.flatMap((path) => answersOf(readRecording(path).requests));
}

const { signal } = new AbortController();
