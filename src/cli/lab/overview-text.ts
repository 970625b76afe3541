// Renders the overview of testbeds: a table, or one line per change.

import {
  aimOf,
  type QueuedRequest,
  stateNames,
  type TestbedState,
  type TestbedsOverview,
} from '../../gate/reserve/testbeds-overview.ts';
import { formatEstimate } from '../../model/format.ts';
import { columns } from '../columns.ts';
import { clockText, oneLine } from '../table.ts';

export function overviewText({ at, testbeds, queue }: TestbedsOverview, isColoured: boolean): string {
  const now = new Date(at);
  const paint = (text: string, row: number, column: number) =>
    isColoured && column === 1 ? coloured(text, testbeds[row - 1]) : text;
  const [title = '', ...rows] = columns(
    [
      ['TESTBED', 'STATE', 'WHO', 'FOR', 'SINCE', 'UNTIL ABOUT'],
      ...testbeds.map((testbed) => rowOf(testbed, now).map(oneLine)),
    ],
    paint,
  );
  const lines = testbeds.flatMap((testbed, index) => [
    rows[index] ?? '',
    ...notesOn(testbed).map((note) => `    ${oneLine(note)}`),
  ]);
  return [title, ...lines, '', ...queueText(queue, now)].join('\n');
}

function rowOf(testbed: TestbedState, now: Date): string[] {
  const { name, state, held, quarantine, leftBy = [] } = testbed;
  const words = stateText(testbed);
  const clock = (iso: string) => clockText(iso, now);
  const [left] = leftBy;
  switch (state) {
    case 'held':
      if (held === undefined) return [name, words];
      return [name, words, held.who, aimOf(held), clock(held.since), untilText(held, now)];
    case 'quarantine':
      return [name, words, quarantine?.by ?? '', '', clock(quarantine?.since ?? '')];
    case 'left-behind':
      return left === undefined ? [name, words] : [name, words, left.who, aimOf(left), clock(left.since)];
    case 'free':
      return [name, words];
  }
}

const stateText = ({ state, quarantine }: TestbedState): string =>
  state === 'held' && quarantine !== undefined ? 'held, in quarantine' : stateNames[state];

const untilText = ({ expectedUntil }: { expectedUntil: string }, now: Date): string =>
  Date.parse(expectedUntil) < now.getTime() ? 'longer than usual' : clockText(expectedUntil, now);

function notesOn({ name, state, held, quarantine, leftBy = [] }: TestbedState): string[] {
  return [
    ...(held !== undefined && held.testbed !== name ? [`as ${held.testbed}, which shares a machine with it`] : []),
    ...(quarantine === undefined
      ? []
      : [state === 'held' ? `${quarantine.by}: ${quarantine.reason}` : quarantine.reason]),
    ...(state === 'left-behind' && leftBy.length > 0
      ? ['its holder has ended; the next holder first restores its base']
      : []),
  ];
}

/** ECMA-48 select graphic rendition: green, yellow, red, yellow. */
const colours = { free: 32, held: 33, quarantine: 31, 'left-behind': 33 } as const;

const coloured = (text: string, testbed: TestbedState | undefined): string =>
  testbed === undefined ? text : `\x1b[${colours[testbed.state]}m${text}\x1b[0m`;

function queueText(queue: readonly QueuedRequest[], now: Date): string[] {
  if (queue.length === 0) return ['The queue is empty.'];
  return columns([
    ['QUEUE', 'WHO', 'FOR', 'PRIORITY', 'WANTS', 'SINCE', 'EXPECTED WAIT'],
    ...queue.map((waiting) =>
      [
        `${waiting.place} of ${waiting.of}`,
        waiting.who,
        aimOf(waiting),
        waiting.priority,
        waiting.wants.join(' or '),
        clockText(waiting.since, now),
        waitText(waiting),
      ].map(oneLine),
    ),
  ]);
}

function waitText({ expectedSeconds }: QueuedRequest): string {
  if (expectedSeconds === undefined) return 'no testbed in sight';
  return expectedSeconds === 0 ? 'next' : formatEstimate(expectedSeconds);
}

/** Prints a line per changed testbed, and one for a changed queue; initially all. */
export function changedLines(before: TestbedsOverview | undefined, after: TestbedsOverview): string[] {
  const known = new Set(before === undefined ? [] : sentencesOf(before));
  const at = new Date(after.at).toLocaleString('sv-SE');
  return sentencesOf(after)
    .filter((sentence) => !known.has(sentence))
    .map((sentence) => `${at} ${sentence}`);
}

/** Omits expected times, which always change. */
function sentencesOf({ testbeds, queue }: TestbedsOverview): string[] {
  const line = queue.map((one) => `${one.who} (${aimOf(one)}) for ${one.wants.join(' or ')}`);
  return [
    ...testbeds.map((testbed) => `${testbed.name}: ${sentenceOn(testbed)}`),
    line.length === 0 ? 'the queue is empty' : `in the queue: ${line.join(', ')}`,
  ].map(oneLine);
}

function sentenceOn(testbed: TestbedState): string {
  const { state, held, leftBy: [left] = [] } = testbed;
  const by = state === 'left-behind' ? left : held;
  const who = by === undefined ? '' : ` by ${by.who} (${aimOf(by)})`;
  const notes = notesOn(testbed).map((note) => `; ${note}`);
  return `${stateText(testbed)}${who}${notes.join('')}`;
}
