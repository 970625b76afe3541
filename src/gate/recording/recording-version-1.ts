// Maps the names that recordings of version 1 use in requests and outcomes to those of version 2.
import { parseJson } from '../../model/json.ts';

const names = new Map([
  ['blast', 'trial'],
  ['blasts', 'trials'],
  ['blastSeconds', 'trialSeconds'],
  ['runsPerBlast', 'runsPerTrial'],
  ['finding', 'diagnostic'],
  ['findings', 'diagnostics'],
  ['mend', 'fix'],
  ['rehearsal', 'self-test'],
]);

/** Renames keys and whole strings; a line of a journal is JSON within a string. */
export function fromVersion1(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith('{')) return names.get(value) ?? value;
    return JSON.stringify(fromVersion1(parseJson(value)));
  }
  if (Array.isArray(value)) return value.map(fromVersion1);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [names.get(key) ?? key, fromVersion1(one)]));
}
