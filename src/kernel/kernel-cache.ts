// Caches built kernels on the builder: an archive and a note for each, under a key of their sources.
import { z } from 'zod';
import type { CacheBounds } from '../config/builder.ts';
import * as bounded from '../model/bounds.ts';
import type { OperatingSystem } from '../model/scenario.ts';
import { isGood } from '../system/host/execute.ts';
import type { Host } from '../system/host/ssh.ts';
import { type Command, shell } from '../system/shell.ts';
import { commandsOf, sumIn } from './system-commands.ts';

const noteSchema = z.object({
  schemaVersion: z.literal(1),
  sha256: bounded.name,
  bytes: bounded.total,
  unpackedBytes: bounded.total,
  seconds: bounded.seconds,
  uname: bounded.line.optional(),
});

export type KernelNote = Omit<z.infer<typeof noteSchema>, 'schemaVersion'>;

export type KernelCache = {
  readonly archive: (key: string) => string;
  find(key: string, signal: AbortSignal): Promise<KernelNote | undefined>;
  /** Moves an archive within its file system, and writes the note last. */
  keep(key: string, archive: string, note: KernelNote): Promise<void>;
  /**
   * Removes the least recently used kernels, but never `own`. Requires the build slot, as a partial entry looks
   * abandoned.
   */
  prune(own: ReadonlySet<string>, bounds: CacheBounds): Promise<void>;
};

export function kernelCache(host: Host, folder: string, system: OperatingSystem): KernelCache {
  const archive = (key: string) => `${folder}/${key}${archiveSuffix}`;
  const note = (key: string) => `${folder}/${key}${noteSuffix}`;
  return {
    archive,

    async find(key, signal) {
      const written = parseNote(await textOf(host, shell`cat ${note(key)}`, signal));
      if (written === undefined) return undefined;
      const sha256 = await textOf(host, commandsOf[system].sha256(archive(key)), signal);
      if (sumIn(sha256) !== written.sha256) return undefined;
      await host.run(shell`touch ${note(key)}`, { signal });
      return written;
    },

    async keep(key, built, content) {
      await host.output(shell`mv -f ${built} ${archive(key)}`);
      const text = JSON.stringify({ schemaVersion: 1, ...content });
      await host.upload(Buffer.from(`${text}\n`), note(key), 0o644);
    },

    async prune(own, bounds) {
      const names = (await host.output(shell`ls -1t ${folder}`)).split('\n').filter(Boolean);
      // Lines of kilobytes, a tab, and the path.
      const lines = (await host.output(shell`du -a -k ${folder}`)).split('\n').map((line) => line.split('\t'));
      const sizes = new Map(
        lines.map(([kilobytes, path = '']) => [path.slice(folder.length + 1), Number(kilobytes) * 1024] as const),
      );
      const kept = keptNames(own, names, sizes, bounds);
      const rubbish = names.filter((name) => !kept.has(name));
      for (const name of rubbish) await host.output(shell`rm -f ${`${folder}/${name}`}`);
    },
  };
}

const archiveSuffix = '.tar.zst';
const noteSuffix = '.json';

async function textOf(host: Host, command: Command, signal: AbortSignal): Promise<string> {
  const outcome = await host.run(command, { signal });
  return isGood(outcome) ? outcome.stdout : '';
}

function parseNote(text: string): KernelNote | undefined {
  try {
    const { schemaVersion: _, ...note } = noteSchema.parse(JSON.parse(text));
    return note;
  } catch {
    return undefined;
  }
}

/** `names` are sorted by last use, most recent first. */
function keptNames(
  own: ReadonlySet<string>,
  names: readonly string[],
  sizes: ReadonlyMap<string, number>,
  { maxKernels, maxBytes }: CacheBounds,
): Set<string> {
  const keys = names.filter((name) => name.endsWith(noteSuffix)).map((name) => name.slice(0, -noteSuffix.length));
  const kept = new Set<string>();
  let kernels = 0;
  let bytes = 0;
  for (const each of own.union(new Set(keys))) {
    const size = sizes.get(each + archiveSuffix);
    if (size === undefined) continue;
    kernels += 1;
    bytes += size;
    if (!own.has(each) && (kernels > maxKernels || bytes > maxBytes)) break;
    kept.add(each + archiveSuffix).add(each + noteSuffix);
  }
  return kept;
}
