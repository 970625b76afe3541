import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isSigned } from '../../src/relay/server.ts';
import { describeWith, sharedFolder } from '../needs.ts';

const key = 'Jefe';
const body = Buffer.from('what do ya want for nothing?');
// RFC 4231, test case 2.
const signature = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';

test('a body is signed by the hexadecimal HMAC-SHA256 of its bytes, in small or capital letters', () => {
  expect(isSigned(body, signature, key)).toBe(true);
  expect(isSigned(body, signature.toUpperCase(), key)).toBe(true);
});

test('another key, another byte or another digit is no signature', () => {
  expect(isSigned(body, signature, 'jefe')).toBe(false);
  expect(isSigned(Buffer.concat([body, Buffer.from('\n')]), signature, key)).toBe(false);
  fc.assert(
    fc.property(fc.nat({ max: 63 }), fc.nat({ max: 14 }), (place, step) => {
      const digit = (Number.parseInt(signature.charAt(place), 16) + 1 + step) % 16;
      const other = signature.slice(0, place) + digit.toString(16) + signature.slice(place + 1);
      expect(isSigned(body, other, key)).toBe(false);
    }),
  );
});

test.each([
  ['none', undefined],
  ['an empty one', ''],
  ['one that begins like it', signature.slice(0, 62)],
  ['one that goes on after it', `${signature}00`],
  ['one with a blank', ` ${signature}`],
  ['one with a line end', `${signature}\n`],
  ['one that ends as no hexadecimal', `${signature.slice(0, 62)}zz`],
  ['two', `${signature}, ${signature}`],
  ['letters beyond Latin', 'ß'.repeat(64)],
])('%s is no signature, and no error', (_, given) => {
  expect(isSigned(body, given, key)).toBe(false);
});

test('bytes that are no text are signed as they are', () => {
  const bytes = Uint8Array.of(0xff, 0xfe, 0x00);
  // printf '\377\376\0' | openssl dgst -sha256 -hmac Jefe
  const good = 'a9934cc9eae9152961ae162cb4573e0e4f8775dd6182fa8a3009d19400f01e02';
  expect(isSigned(bytes, good, key)).toBe(true);
  expect(isSigned(Buffer.from(Buffer.from(bytes).toString()), good, key)).toBe(false);
});

describeWith(['shared/phabricator/webhook-hmac-fixture.json'], 'webhooks of a real server', () => {
  const recording = z.object({
    deliveries: z
      .array(z.object({ hmac_key: z.string(), body_base64: z.base64(), signature_header: z.string() }))
      .min(1),
  });
  const path = sharedFolder('phabricator/webhook-hmac-fixture.json');
  const { deliveries } = recording.parse(JSON.parse(readFileSync(path, 'utf8')));

  test.each(deliveries)('are signed: $signature_header', (delivery) => {
    const sent = Buffer.from(delivery.body_base64, 'base64');
    expect(isSigned(sent, delivery.signature_header, delivery.hmac_key)).toBe(true);
    expect(isSigned(sent.subarray(0, -1), delivery.signature_header, delivery.hmac_key)).toBe(false);
  });
});
