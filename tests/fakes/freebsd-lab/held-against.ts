// Compares the fake lab with a recording of a real one. Reports commands that the fake rejects, or whose output has
// another shape. Each recording from a user makes the fake more realistic.

import { unexpectedOutput } from '../../../src/gate/recording/output-formats.ts';
import { outputOf, type RecordedRequest, type Recording } from '../../../src/gate/recording/read-recording.ts';
import { parseInterfaceCounters } from '../../../src/lab/freebsd/dut/counters.ts';
import { parseArp, parseIfconfig, parseNdp, parseRoutes } from '../../../src/lab/freebsd/dut/network.ts';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import type { FreebsdLab, LabMachine } from './lab.ts';
import { splitWords } from './shell.ts';

export type Unlike =
  /** A real machine replied, but the fake does not. */
  | { kind: 'refused'; host: string; command: string; says: string }
  /** Beginnings of lines, or fields read from them, that only one of the two has. */
  | { kind: 'shape'; host: string; command: string; onlyReal: string[]; onlyFake: string[] };

/** Runs the recorded commands on the fake's machines, each once, except those that change anything. */
export async function heldAgainst(recording: Recording, lab: FreebsdLab): Promise<Unlike[]> {
  const unlike: Unlike[] = [];
  const asked = new Map(
    recording.requests.filter(isRead).map((request) => [`${request.host} ${textOf(request)}`, request]),
  );
  for (const request of asked.values()) {
    const { host: label } = request;
    const command = textOf(request);
    const split = splitWords(command);
    if (split.kind === 'refused') {
      unlike.push({ kind: 'refused', host: label, command, says: split.reason });
      continue;
    }
    await using host = await connect(machineOf(lab, label).target);
    const outcome = await host.run(shell`${split.words}`);
    if (outcome.kind !== 'exited' || outcome.code !== 0) {
      const says = outcome.stderr.trim();
      unlike.push({ kind: 'refused', host: label, command, says });
      continue;
    }
    const [real, fake] = [shapeOf(request, outputOf(request, 'stdout')), shapeOf(request, outcome.stdout)];
    const onlyReal = [...real].filter((one) => !fake.has(one));
    const onlyFake = [...fake].filter((one) => !real.has(one));
    if (onlyReal.length + onlyFake.length === 0) continue;
    unlike.push({ kind: 'shape', host: label, command, onlyReal, onlyFake });
  }
  return unlike;
}

/** Programs that change nothing, with the arguments used here. */
const reads =
  /^(?:ifconfig (?:-l|'?\w+'?)|netstat |arp -an|ndp -an|vmstat -i|sysctl (?:-n )?'?[\w.%]+'?$|df -k|uname |sha256 -q|pciconf -lv|dmesg -a|kldstat|kenv -q|pfctl -s|ipfw list|bectl list|ls -1 |cat '?\/etc\/fstab)/;

const isRead = (request: RecordedRequest): boolean =>
  request.call.what === 'run' &&
  reads.test(textOf(request)) &&
  request.ended?.outcome.kind === 'exited' &&
  request.ended.outcome.code === 0;

const textOf = ({ call }: RecordedRequest): string => (call.what === 'run' ? (call.shown ?? call.command) : '');

function machineOf(lab: FreebsdLab, label: string): LabMachine {
  if (label === 'DUT') return lab.dut;
  const [, number = '1'] = /^sender (\d)/.exec(label) ?? [];
  return (label.startsWith('sender') ? lab.senders[Number(number) - 1] : undefined) ?? lab.receiver;
}

/** Names, without their values. */
function shapeOf(request: RecordedRequest, text: string): Set<string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const output = [{ at: 0, line: 0, turn: 0, stream: 'stdout' as const, text }];
  const why = unexpectedOutput({ ...request, output });
  return new Set([
    ...lines.map((line) => `line ${beginningOf(line)}`),
    ...fieldsOf(textOf(request), text),
    ...(why === undefined ? [] : ['not understood']),
  ]);
}

/** Indent and first word of a line; a machine's own names and numbers count as equal. */
function beginningOf(line: string): string {
  const [, indent = '', word = ''] = /^(\s*)(\S*)/.exec(line) ?? [];
  const plain = word.replace(/(?:[0-9a-f]*[:.]){2,}[0-9a-f:.]*(?:\/\d+)?/gi, 'ADDRESS').replace(/\d+/g, '#');
  const isOwn = indent === '' && /[/#]/.test(plain) && !plain.includes('ADDRESS');
  return `${indent === '' ? '' : '→'}${isOwn ? '…' : plain}`;
}

function fieldsOf(command: string, text: string): string[] {
  const [program] = command.split(' ');
  const one = (what: string, value: object | undefined) =>
    value === undefined ? [`no ${what}`] : Object.keys(value).map((key) => `${what} with ${key}`);
  switch (program) {
    case 'ifconfig':
      return command.includes('-l') ? [] : one('interface', parseIfconfig(text));
    case 'netstat':
      return command.includes('-r')
        ? one('route', parseRoutes(text)[0])
        : one('counter', parseInterfaceCounters(text).values().next().value);
    case 'arp':
      return one('neighbour', parseArp(text)[0]);
    case 'ndp':
      return one('neighbour', parseNdp(text)[0]);
    default:
      return [];
  }
}
