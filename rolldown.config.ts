import { defineConfig } from 'rolldown';

export default defineConfig({
  input: { cli: 'src/cli.ts', action: 'src/action.ts', 'action-post': 'src/action-post.ts' },
  platform: 'node',
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
