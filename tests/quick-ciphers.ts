// ssh2 makes a cipher for every packet, from raw bytes. Node finds out that these are no key object by an error that it
// throws and catches: that was a third of what whole gates in the FreeBSD laboratory cost.
import crypto, { type CipherKey, type KeyObject } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const keys = new WeakMap<Buffer, KeyObject>();

function keyOf(key: CipherKey): CipherKey {
  if (!Buffer.isBuffer(key)) return key;
  const known = keys.get(key) ?? crypto.createSecretKey(key);
  keys.set(key, known);
  return known;
}

// Files of tests share processes, and this runs before each: once is enough.
const isQuick = Symbol.for('ppsgate quick ciphers');
if (!(isQuick in crypto)) {
  const { createCipheriv, createDecipheriv } = crypto;
  Object.assign(crypto, {
    [isQuick]: true,
    createCipheriv: (name: string, key: CipherKey, ...rest: [Buffer]) =>
      createCipheriv(name, keyOf(key), ...rest),
    createDecipheriv: (name: string, key: CipherKey, ...rest: [Buffer]) =>
      createDecipheriv(name, keyOf(key), ...rest),
  });
  syncBuiltinESMExports();
}
