import { brotliCompressSync, constants } from 'node:zlib';
import { defineConfig, type Plugin } from 'rolldown';

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

export default defineConfig({
  input: { cli: 'src/cli.ts', action: 'src/action.ts', 'action-post': 'src/action-post.ts' },
  platform: 'node',
  plugins: [compressWebAssembly],
  // ssh2's native accelerators are optional: without them it runs on node:crypto.
  external: [/\.node$/, 'cpu-features'],
  // ssh2 is CommonJS, and asks where it lies.
  transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
  // Files that are read at run time, written as `new URL('…', import.meta.url)`, are laid beside the bundle.
  experimental: { resolveNewUrlToAsset: true },
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    chunkFileNames: '[name].js',
    assetFileNames: '[name][extname]',
    minify: false,
  },
});
