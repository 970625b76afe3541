// Names of folders and files of the data branch that tell of a testbed: of our own making, whatever it is called.
import { createHash } from 'node:crypto';
import { type Cell, cellName } from '../../model/scenario.ts';

type SeriesKey = { testbed: string; cell: Cell };

/** `badges/hp-t540/forwarding-inet4`, to which `.svg` or `.json` is added. */
export const badgePath = ({ testbed, cell }: SeriesKey): string =>
  `badges/${folderOf(testbed)}/${fileOf(cell)}`;

/** `hp-t540 forwarding inet4`. */
export const badgeLabel = ({ testbed, cell }: SeriesKey): string => `${testbed} ${cellName(cell)}`;

/** `badges/hp-t540/same`, likewise: how often a commit against itself was called changed. */
export const samePath = (testbed: string): string => `badges/${folderOf(testbed)}/same`;

/** `trend/hp-t540/forwarding-inet4/2026.jsonl`. */
export const nightlyRunsPath = ({ testbed, cell }: SeriesKey, year: number): string =>
  `trend/${folderOf(testbed)}/${fileOf(cell)}/${year}.jsonl`;

/** `trend/hp-t540/sparklines.svg`. */
export const sparklinesPath = (testbed: string): string =>
  `trend/${folderOf(testbed)}/sparklines.svg`;

const fileOf = (cell: Cell): string => cellName(cell).replace(/ B$/, 'B').replaceAll(' ', '-');

/** Names of a ppsgate.yml stay as they are; what else a result may say must not be taken for one of them. */
function folderOf(testbed: string): string {
  const word = plain(testbed);
  const isOwn = word !== '' && word === testbed;
  return isOwn ? word : [word, shortHash(testbed)].filter(Boolean).join('-');
}

export const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 10);

export const plain = (text: string): string =>
  text
    .replaceAll(/[^a-z0-9._-]+/gi, '-')
    .slice(0, 63)
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/gi, '');
