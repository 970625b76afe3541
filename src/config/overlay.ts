// Parses `overlay` of ppsgate.yml: a folder of files for the DUT, or such files at any place of the repository.
import { z } from 'zod';
import { overlayFiles } from '../model/overlay-files.ts';
import { expected } from '../model/units.ts';
import { closed, path, text } from './fields.ts';
import { keyName } from './problem.ts';

/** Located by the repository's `pathOf`. */
export type RepositoryPlace = {
  path: string;
  /** Folder of ppsgate.yml; if read from a commit, its path in the repository. */
  beside: string;
};

/** Files of a repository that are installed over the DUT's. */
export type OverlayPlace =
  /** All files of a folder. */
  | RepositoryPlace
  /** Paths by the names that the files have in the overlay. */
  | { files: Readonly<Record<string, string>>; beside: string };

const file = text(/^(?![/~])\P{Cc}{1,500}$/u, 'a path in the repository like etc/nftables.conf');

const [nftables, sysctl, pf, ipfw] = [...overlayFiles.linux, ...overlayFiles.freebsd];
const files = closed({
  [nftables]: file.exactOptional(),
  [sysctl]: file.exactOptional(),
  [pf]: file.exactOptional(),
  [ipfw]: file.exactOptional(),
})
  .refine((named) => Object.keys(named).length > 0, 'expected at least one file, found none')
  .meta({ minProperties: 1 });

export const overlaySchema = z
  .union([path, closed({ files })], { error: wrongOverlay })
  .transform(
    (written): OverlayPlace =>
      typeof written === 'string'
        ? { path: written, beside: '' }
        : { files: written.files, beside: '' },
  );

/** Names the wrong key of an object, as a union has one place for all of its forms. */
function wrongOverlay({ code, input, errors }: z.core.$ZodRawIssue): string {
  const of: unknown = typeof input === 'object' && code === 'invalid_union' ? errors : [];
  const [, [first] = []] = of as z.core.$ZodIssue[][];
  if (first === undefined || first.path.length === 0) {
    return expected('a folder like dut, or `{ files: { nftables.conf: etc/nftables.conf } }`')({
      input,
    });
  }
  return `${keyName(first.path)}: ${first.message}`;
}
