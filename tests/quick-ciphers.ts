// ssh2 creates a cipher for every packet, from raw bytes. Node detects that these are not a key object through an error
// that it throws and catches, a third of the cost of whole gates in the fake FreeBSD lab. It also draws the few random
// bytes that pad a packet from OpenSSL each time.
import crypto, { type CipherKey, type KeyObject } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const keys = new WeakMap<Buffer, KeyObject>();

function keyOf(key: CipherKey): CipherKey {
  if (!Buffer.isBuffer(key)) return key;
  const known = keys.get(key) ?? crypto.createSecretKey(key);
  keys.set(key, known);
  return known;
}

const pool = Buffer.alloc(2 ** 16);
let used = pool.length;

/** Random bytes from a pool, each used once. */
function drawInto(
  fill: typeof crypto.randomFillSync,
  buffer: NodeJS.ArrayBufferView,
  offset: number,
  size: number,
): NodeJS.ArrayBufferView {
  if (used + size > pool.length) {
    fill(pool);
    used = 0;
  }
  pool.copy(new Uint8Array(buffer.buffer, buffer.byteOffset), offset, used, used + size);
  used += size;
  return buffer;
}

// Test files share processes, and this runs before each: once is enough.
const isQuick = Symbol.for('ppsgate quick ciphers');
if (!(isQuick in crypto)) {
  const { createCipheriv, createDecipheriv, randomFillSync } = crypto;
  Object.assign(crypto, {
    [isQuick]: true,
    createCipheriv: (name: string, key: CipherKey, ...rest: [Buffer]) => createCipheriv(name, keyOf(key), ...rest),
    createDecipheriv: (name: string, key: CipherKey, ...rest: [Buffer]) => createDecipheriv(name, keyOf(key), ...rest),
    randomFillSync: (buffer: NodeJS.ArrayBufferView, offset = 0, size?: number) =>
      Buffer.isBuffer(buffer) && size !== undefined && size <= 64
        ? drawInto(randomFillSync, buffer, offset, size)
        : randomFillSync(buffer, offset, size),
  });
  syncBuiltinESMExports();
}
