import { dirname, join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { ChunkingContext, CodeSplittingNameFunction, Plugin, PreRenderedChunk, RolldownOptions } from 'rolldown';
import { minify } from 'rolldown/utils';
import { importsOfFiles, modules } from './modules.ts';
import { licenses, packageOf } from './rolldown-licenses.ts';

/** The last two levels take seven times as long for a tenth of the size. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };

/**
 * Compresses WebAssembly, which is a large part of what is committed, to a third of its size; src/report/png.ts reads
 * both.
 */
const compressWebAssembly: Plugin = {
  name: 'compress-web-assembly',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      const isWebAssembly = file.type === 'asset' && file.fileName.endsWith('.wasm');
      if (isWebAssembly) file.source = brotliCompressSync(file.source, { params });
    }
  },
};

/** Imports of packages that ppsgate never needs: programs for commands that are files, and ssh2's server. */
const unneeded: readonly [packageName: string, source: string][] = [
  ['commander', 'node:child_process'],
  ['ssh2', './server.js'],
  ['ssh2', './http-agents.js'],
  ['ssh2', './keygen.js'],
];

const withoutUnneeded: Plugin = {
  name: 'without-unneeded',
  resolveId(source, importer = '') {
    const found = unneeded.find(([name, one]) => source === one && importer.includes(`/node_modules/${name}/`));
    return found && `\0no-${found[0]}-${source}`;
  },
  load: (id) => (id.startsWith('\0no-') ? 'export default {};' : null),
};

/**
 * Gets built-in modules without an import, which would read all that they export. For node:http, that loads a client for
 * WebSockets, and takes longer than to start Node.
 */
const builtinsWithoutImports: Plugin = {
  name: 'builtins-without-imports',
  renderChunk: (code) =>
    code
      .replace(/^import (?:\* as )?(.+) from "(node:.+)";$/gm, (_, names: string, module: string) => {
        const [declared, found] = [names.replaceAll(' as ', ': '), builtin(module)];
        return `const ${declared} = ${found};`;
      })
      .replace(/\bimport\("(node:.+?)"\)/g, (_, module: string) => builtin(module)),
};

const builtin = (module: string): string => `globalThis.process.getBuiltinModule("${module}")`;

/** Makes packages small; our own code stays as it reads. */
const minifyPackages: Plugin = {
  name: 'minify-packages',
  async renderChunk(code, { fileName }) {
    if (!fileName.startsWith('vendor/')) return null;
    const { code: minified, errors } = await minify(fileName, code, { module: true });
    if (errors.length > 0) throw new Error(`${fileName}: ${errors[0]?.message}`);
    return minified;
  },
};

/** Each package of others that is not loaded by `import()` is a file, too. */
const packages = [
  ...['zod', 'yaml', 'commander', 'simple-statistics', '@actions/core', 'yauzl', 'pure-rand'],
  ...['fastest-levenshtein', '@octokit', 'string-width'],
];

/** Loaded by `import()` from within its folder, whose file would load the packages in it at once. */
const apart = 'forge/github/octokit.ts';

/** Files of their own: help, a mistyped command or a gate load them, and not what else uses them. */
const alone = ['model/excerpt.ts', 'config/did-you-mean.ts', 'config/parameters.ts', 'cli/table.ts'];

/** Files of their own: only the command that was called is loaded. */
const loadedAlone = [
  '.',
  'action',
  'cli',
  ...['gate', 'lab', 'relay', 'reports', 'tools'].map((name) => `cli/${name}`),
];

/**
 * Returns the folders of `src/`, those that others import from first: a group gets all imports of its files that no
 * earlier group has. Each becomes a file of dist/, as one file per source file would take the action twice as long to
 * load.
 */
function foldersFromTheBottomUp(): string[] {
  const imports = importsOfFiles();
  const found = new Set<string>();
  const done: string[] = [];
  const visit = (folder: string) => {
    if (found.has(folder) || loadedAlone.includes(folder)) return;
    found.add(folder);
    for (const [name, targets] of imports) {
      if (dirname(name) === folder) for (const target of targets) visit(dirname(target));
    }
    done.push(folder);
  };
  const level = (name: string) => Object.keys(modules).indexOf(name.split('/')[0] ?? '');
  for (const name of [...imports.keys()].toSorted((a, b) => level(a) - level(b))) visit(dirname(name));
  return done;
}

/** A gate loads these before its first connection, and all that they import. */
const first = ['cli/gate/gate.ts', 'gate/reserve/store/sqlite.ts'];

/** What needs no schema is in files apart, as schemas take longer to make than all else to load. */
const parts = ['first-plain', 'first', 'plain', ''];

function partOf(id: string, graph: ChunkingContext): string {
  const isFirst = firstOf(graph).has(id);
  return [isFirst && 'first', !needsSchemas(id, graph) && 'plain'].filter(Boolean).join('-');
}

const groups = [
  ...packages.map((name) => ({ name: vendorName(name), test: `/node_modules/${name}/` })),
  { name: 'package', test: (id: string) => ownName(id) === 'package.json' },
  ...alone.map((name) => ({
    name: name.replace(/\.ts$/, ''),
    test: (id: string) => ownName(id) === name,
  })),
  // A part imports from itself and those before it, so none gets files of another with its own imports.
  ...parts.flatMap((part) =>
    foldersFromTheBottomUp().map((folder) => {
      const name: CodeSplittingNameFunction = (id, graph) => {
        if (partOf(id, graph) !== part) return null;
        return folder === 'system' ? ownName(id).replace(/\.ts$/, '') : join(folder, part);
      };
      return {
        name,
        debugName: join(folder, part),
        test: (id: string) => isIn(folder, ownName(id)),
      };
    }),
  ),
];

const needing = new Map<string, boolean>();

function needsSchemas(id: string, graph: ChunkingContext): boolean {
  const known = needing.get(id);
  if (known !== undefined) return known;
  needing.set(id, false);
  const imported = graph.getModuleInfo(id)?.importedIds ?? [];
  const needs = id.includes('/node_modules/zod/') || imported.some((one) => needsSchemas(one, graph));
  needing.set(id, needs);
  return needs;
}

let firstFiles: ReadonlySet<string> | undefined;

function firstOf(graph: ChunkingContext): ReadonlySet<string> {
  if (firstFiles !== undefined) return firstFiles;
  const found = new Set(first.map((name) => join(import.meta.dirname, 'src', name)));
  for (const id of found) for (const one of graph.getModuleInfo(id)?.importedIds ?? []) found.add(one);
  firstFiles = found;
  return found;
}

function vendorName(name: string): string {
  return `vendor/${name.replace('@', '').replace('/', '-')}`;
}

/** The path of a module below `src/`, such as `report/badge.ts`. */
function ownName(id: string): string {
  return relative(import.meta.dirname, id).replace(/^src\//, '');
}

const isIn = (folder: string, name: string): boolean => name !== apart && dirname(name) === folder;

/** The name of a file that no group makes: by its package, or the place of the module that it is made for. */
function fileName({ name, facadeModuleId, moduleIds }: PreRenderedChunk): string {
  const id = facadeModuleId ?? moduleIds.at(-1) ?? '';
  const isGroup =
    facadeModuleId === null &&
    groups.some((group) => group.name === name || ('debugName' in group && group.debugName === name));
  if (isGroup || id.startsWith('\0')) return `${name}.js`;
  const found = packageOf(id);
  return found === undefined ? ownName(id).replace(/\.ts$/, '.js') : `${vendorName(found.name)}.js`;
}

export default {
  input: { cli: 'src/cli.ts', action: 'src/action.ts', 'action-post': 'src/action-post.ts' },
  platform: 'node',
  plugins: [withoutUnneeded, builtinsWithoutImports, compressWebAssembly, minifyPackages, licenses],
  // ssh2's native accelerators are optional: without them it runs on node:crypto.
  external: [/\.node$/, 'cpu-features'],
  // ssh2 is CommonJS, and reads its own path.
  transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
  // Files that are read at run time, written as `new URL('…', import.meta.url)`, are installed beside the bundle.
  experimental: { resolveNewUrlToAsset: true },
  // @actions/core asks for tokens by a HTTP client of its own, which we never do.
  treeshake: {
    moduleSideEffects: [{ test: /node_modules\/(@actions|undici|tunnel)\//, sideEffects: false }],
  },
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    codeSplitting: { groups },
    chunkFileNames: fileName,
    assetFileNames: '[name][extname]',
    minifyInternalExports: false,
    minify: false,
  },
} satisfies RolldownOptions;
