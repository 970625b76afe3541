// Renders an SVG as PNG, for places that accept no other pictures.

import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';

/** Doubles the resolution for dense screens; deterministic. Throws for an invalid SVG. */
export async function pngOf(svg: string): Promise<Uint8Array> {
  loading ??= load();
  const { Resvg, fontBuffers } = await loading;
  const picture = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: 2 },
    font: { fontBuffers, defaultFontFamily: 'Open Sans' },
  });
  try {
    const image = picture.render();
    const png = image.asPng();
    image.free();
    return png;
  } finally {
    picture.free();
  }
}

/** WebAssembly is initialized once per process. */
let loading: ReturnType<typeof load> | undefined;

async function load() {
  const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
    import('@resvg/resvg-wasm'),
    readFile(wasmFile),
    ...fontFiles.map((file) => readFile(file)),
  ]);
  // Raw from npm, or compressed by the build.
  await initWasm(isWebAssembly(wasm) ? wasm : brotliDecompressSync(wasm));
  return { Resvg, fontBuffers };
}

const isWebAssembly = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString() === '\0asm';

// Literal paths, so that the build finds them.
const wasmFile = new URL('../../node_modules/@resvg/resvg-wasm/index_bg.wasm', import.meta.url);
const fontFiles = [
  new URL('../../node_modules/@fontsource/open-sans/files/open-sans-latin-400-normal.woff2', import.meta.url),
  new URL('../../node_modules/@fontsource/open-sans/files/open-sans-latin-600-normal.woff2', import.meta.url),
];
