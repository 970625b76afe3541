// Parses `overlay` of ppsgate.yml: a folder of files for the DUT, or such files anywhere in the repository.
import { z } from 'zod';
import { type InterfaceRoles, interfaceRoles, overlayFiles } from '../model/overlay-files.ts';
import { expected } from '../model/units.ts';
import { closed, path, text, wrongName } from './fields.ts';

/** Located by the repository's `pathOf`. */
export type RepositoryPlace = {
  path: string;
  /** Folder of ppsgate.yml; if read from a commit, its path in the repository. */
  beside: string;
};

/** Repository files that are installed over the DUT's. */
export type OverlayPlace =
  /** All files of a folder. */
  (
    | RepositoryPlace
    /** Paths by the files' names in the overlay. */
    | { files: Readonly<Record<string, string>>; beside: string }
  ) & { interfaces?: InterfaceRoles };

const file = text(/^(?![/~])\P{Cc}{1,500}$/u, 'a path in the repository like etc/nftables.conf');

const [nftables, sysctl, pf, ipfw] = [...overlayFiles.linux, ...overlayFiles.freebsd];
const files = closed({
  [nftables]: file.exactOptional(),
  [sysctl]: file.exactOptional(),
  [pf]: file.exactOptional(),
  [ipfw]: file.exactOptional(),
})
  .refine((named) => Object.keys(named).length > 0, 'expected at least one file, found none')
  .meta({ minProperties: 1 })
  .describe('Paths in the repository, by the names that the files have in the overlay.');

const maxInterfaces = 100;

const interfaces = z
  .record(z.string().regex(/^[a-zA-Z0-9][\w.-]{0,14}$/), z.enum(interfaceRoles, { error: wrongName(interfaceRoles) }), {
    error: wrongInterfaces,
  })
  .refine((named) => Object.keys(named).length <= maxInterfaces, {
    error: `expected at most ${maxInterfaces} interfaces`,
  })
  .describe(
    "Names in the files, and the testbed's interfaces that they stand for: `ingress` and `egress`, or `unused` for one that rules need and packets do not.",
  );

function wrongInterfaces({ code, input }: z.core.$ZodRawIssue): string {
  return code === 'invalid_key'
    ? 'expected names of interfaces like eth0, of up to 15 letters'
    : expected('names of interfaces like `{ eth0: ingress, eth1: egress }`')({ input });
}

const folder = path.describe('A folder, of which every file is taken.');

export const overlaySchema = z
  .union(
    [
      path,
      closed({
        folder: folder.exactOptional(),
        files: files.exactOptional(),
        interfaces: interfaces.exactOptional(),
      }),
    ],
    {
      error: expected('a folder like dut, or `{ files: { nftables.conf: etc/nftables.conf } }`'),
    },
  )
  .superRefine((written, { addIssue }) => {
    if (typeof written === 'string') return;
    if ('folder' in written && 'files' in written) {
      addIssue('expected either `folder` or `files`, found both');
    }
  })
  .transform((written): OverlayPlace => {
    if (typeof written === 'string') return { path: written, beside: '' };
    const { folder: path = usualFolder, files, interfaces } = written;
    return {
      ...(files === undefined ? { path, beside: '' } : { files, beside: '' }),
      ...(interfaces !== undefined && { interfaces }),
    };
  });

/** Beside ppsgate.yml. */
export const usualFolder = 'dut';
