// Summarizes, at the end of a recording, the replaced texts by kinds and counts, never by value.
import { commandText, shell } from '../../system/shell.ts';
import { type Mask, maskedKinds } from './mask.ts';

export function maskSummary(path: string, counts: ReturnType<Mask['counts']>): string {
  const lines = maskedKinds.flatMap((kind) => {
    const { times, distinct } = counts.get(kind) ?? { times: 0, distinct: 0 };
    if (times === 0) return [];
    return `  ${distinct} ${distinct === 1 ? kind : plural[kind]} (${times === 1 ? 'once' : `${times} times`})`;
  });
  return [
    `${path} is written. Replaced in it:`,
    ...(lines.length === 0 ? ['  nothing'] : lines),
    `The rest is as the machines printed it; look at it before you send it: ${commandText(shell`zcat ${path}`)} | less`,
    '',
  ].join('\n');
}

const plural: Readonly<Record<(typeof maskedKinds)[number], string>> = {
  secret: 'secrets',
  key: 'keys',
  UUID: 'UUIDs',
  'serial number': 'serial numbers',
  'host name': 'host names',
  'user name': 'user names',
  address: 'addresses',
  path: 'paths of keys and passwords',
};
