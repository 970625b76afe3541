import { relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin, PreRenderedChunk, RolldownOptions } from 'rolldown';
import { minify } from 'rolldown/utils';
import { licenses, packageOf } from './rolldown-licenses.ts';
import { rooms } from './rooms.ts';

/** The last two levels take seven times as long for a tenth of the size. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };

/** WebAssembly is a good part of what is committed, and a third of its size when it is compressed; src/report/png.ts reads both. */
const compressWebAssembly: Plugin = {
  name: 'compress-web-assembly',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      const isWebAssembly = file.type === 'asset' && file.fileName.endsWith('.wasm');
      if (isWebAssembly) file.source = brotliCompressSync(file.source, { params });
    }
  },
};

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

/** Loaded by `import()` from within its room, whose file would load the packages in it at once. */
const apart = 'github/octokit.ts';

/**
 * Each of these rooms is a file: one for each module would take the action twice as long to load. Of commands only the
 * one that was asked for is loaded.
 */
const whole = Object.keys(rooms).filter(
  (room) => !['commands', 'action', 'cli', 'action-post'].includes(room),
);

const groups = [
  ...packages.map((name) => ({ name: vendorName(name), test: `/node_modules/${name}/` })),
  ...['package', ...whole].map((name) => ({ name, test: (id: string) => isIn(name, ownName(id)) })),
];

function vendorName(name: string): string {
  return `vendor/${name.replace('@', '').replace('/', '-')}`;
}

/** The path of a module below `src/`, such as `report/badge.ts`. */
const ownName = (id: string): string => relative(import.meta.dirname, id).replace(/^src\//, '');

const isIn = (room: string, name: string): boolean =>
  name !== apart && (name.startsWith(`${room}/`) || name.startsWith(`${room}.`));

/** The name of a file that no group makes: by its package, or the place of the module that it is made for. */
function fileName({ name, facadeModuleId, moduleIds }: PreRenderedChunk): string {
  const id = facadeModuleId ?? moduleIds.at(-1) ?? '';
  const isGroup = facadeModuleId === null && groups.some((group) => group.name === name);
  if (isGroup || id.startsWith('\0')) return `${name}.js`;
  const found = packageOf(id);
  return found === undefined ? ownName(id).replace(/\.ts$/, '.js') : `${vendorName(found.name)}.js`;
}

export default {
  input: { cli: 'src/cli.ts', action: 'src/action.ts', 'action-post': 'src/action-post.ts' },
  platform: 'node',
  plugins: [compressWebAssembly, minifyPackages, licenses],
  // ssh2's native accelerators are optional: without them it runs on node:crypto.
  external: [/\.node$/, 'cpu-features'],
  // ssh2 is CommonJS, and asks where it lies.
  transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
  // Files that are read at run time, written as `new URL('…', import.meta.url)`, are laid beside the bundle.
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
