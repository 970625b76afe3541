// Builds paths of the data branch from a testbed's name, which may hold any character.
import { createHash } from 'node:crypto';
import { type Cell, cellName } from '../../model/scenario.ts';

type SeriesKey = { testbed: string; cell: Cell };

/** Omits the extension: `badges/hp-t540/forwarding-inet4`. */
export const badgePath = ({ testbed, cell }: SeriesKey): string => `badges/${folderOf(testbed)}/${fileOf(cell)}`;

/** `hp-t540 forwarding inet4`. */
export const badgeLabel = ({ testbed, cell }: SeriesKey): string => `${testbed} ${cellName(cell)}`;

/** The A/A badge, without its extension: `badges/hp-t540/same`. */
export const samePath = (testbed: string): string => `badges/${folderOf(testbed)}/same`;

/** `trend/hp-t540/forwarding-inet4/2026.jsonl`. */
export const nightlyRunsPath = ({ testbed, cell }: SeriesKey, year: number): string =>
  `trend/${folderOf(testbed)}/${fileOf(cell)}/${year}.jsonl`;

/** `trend/hp-t540/sparklines.svg`. */
export const sparklinesPath = (testbed: string): string => `trend/${folderOf(testbed)}/sparklines.svg`;

const fileOf = (cell: Cell): string => cellName(cell).replace(/ B$/, 'B').replaceAll(' ', '-');

/** Keeps names from ppsgate.yml as they are. Other names in results must not collide with them. */
function folderOf(testbed: string): string {
  const word = plain(testbed);
  const isOwn = word !== '' && word === testbed;
  return isOwn ? word : [word, nameHash(testbed)].filter(Boolean).join('-');
}

/** Forty digits, like a git id, so that texts with equal digits cannot be constructed. */
export const nameHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40);

export const plain = (text: string): string =>
  text
    .replaceAll(/[^a-z0-9._-]+/gi, '-')
    .slice(0, 63)
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/gi, '');
