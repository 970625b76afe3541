// A badge: what was last judged of one cell of the default branch, while that is news.
import { makeBadge } from 'badge-maker';
import { formatPps } from './format.ts';

/** What a cell, or the whole patch before any cell, was last found to be. */
export const badgeVerdicts = [
  'regression',
  'no-regression',
  'improvement',
  'inconclusive',
  'invalid',
  'does-not-apply',
  'build-failed',
  'does-not-load',
  'boot-failed',
  'panics-under-load',
] as const;

export type BadgeVerdict = (typeof badgeVerdicts)[number];

export type BadgeSubject = {
  /** `hp-t540 forwarding inet4`. */
  label: string;
  /** The last one; absent where nothing was ever judged. `pps` is what was measured with the patch, if anything. */
  last?: { verdict: BadgeVerdict; pps?: number | undefined; at: Date };
};

export type Badge = {
  /** What shields.io reads from a URL: "Endpoint badge" at shields.io. */
  endpoint: { schemaVersion: 1; label: string; message: string; color: string };
  svg: string;
};

/** `no-regression · 4.980 Mpps`, or `no data` where the last verdict is older than `staleSeconds`. */
export function renderBadge(
  { label, last }: BadgeSubject,
  { now, staleSeconds }: { now: Date; staleSeconds: number },
): Badge {
  const isStale = last !== undefined && now.getTime() - last.at.getTime() > staleSeconds * 1000;
  const shown = {
    label: readable(label),
    ...(last === undefined || isStale
      ? noData
      : { message: messageOf(last), color: colorOf(last) }),
  };
  return { endpoint: { schemaVersion: 1, ...shown }, svg: `${makeBadge(shown)}\n` };
}

const noData = { message: 'no data', color: 'lightgrey' };

type Last = NonNullable<BadgeSubject['last']>;

const messageOf = ({ verdict, pps }: Last): string =>
  pps === undefined ? verdict : `${verdict} · ${formatPps(pps)}`;

function colorOf({ verdict }: Last): string {
  switch (verdict) {
    case 'no-regression':
    case 'improvement':
      return 'brightgreen';
    case 'inconclusive':
      return 'yellow';
    case 'invalid':
      return 'lightgrey';
    default:
      return 'red';
  }
}

const mostCharacters = 100;

/** badge-maker escapes markup; XML has no place for control characters at all, not even escaped. */
const readable = (text: string): string =>
  [...text.replace(/[\s\p{C}]+/gu, ' ').trim()].slice(0, mostCharacters).join('');
