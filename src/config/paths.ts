// Parses `paths` of ppsgate.yml: files of the tree that can change a measurement, beyond FreeBSD's own list.
import { z } from 'zod';
import { type Family, scenarioSchema } from '../model/scenario.ts';
import { expected } from '../model/units.ts';
import { closed, text } from './fields.ts';

/** A file, or a folder that ends with a slash; `*` matches anything except a slash. */
type PathPatterns = readonly string[];

/** The first matching entry counts; an unmatched file can change everything. */
export type Paths = {
  everything: PathPatterns;
  nothing: PathPatterns;
  /** By driver of the DUT's ports, as `cxl` for `cxl0`; irrelevant for other ports. */
  byDriver: Readonly<Record<string, PathPatterns>>;
  byScenario: Readonly<Record<string, PathPatterns>>;
  byFamily: Readonly<Partial<Record<Family, PathPatterns>>>;
};

const place = text(/^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[\w+.*@/-]{1,200}$/, 'a place in the tree like sys/netpfil/pf/');
const places = z
  .array(place, { error: expected('a list like [sys/netpfil/pf/]') })
  .min(1, 'expected at least one place, found an empty list');
const driverName = z.string().regex(/^[a-z][a-z\d]{0,14}$/);

export const pathsSchema = closed({
  everything: places.optional().describe('Files that can change every cell, first of all.'),
  nothing: places.optional().describe('Files that can change no cell.'),
  byDriver: z
    .record(driverName, places, {
      error: expected('places by the drivers of ports, like cxl'),
    })
    .prefault({})
    .describe('Files that can change cells only where the DUT forwards through such a port.'),
  byScenario: z
    .record(scenarioSchema, places, { error: expected('places by the names of scenarios') })
    .prefault({})
    .describe('Files for which the cells of a scenario come first.'),
  byFamily: closed({ inet4: places.exactOptional(), inet6: places.exactOptional() })
    .prefault({})
    .describe('Files for which the cells of a family come first.'),
}).transform(({ everything = [], nothing = [], ...rest }): Paths => ({ everything, nothing, ...rest }));
