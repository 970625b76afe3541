import { expect, test } from 'vitest';
import { pngOf } from '../../src/report/png.ts';

const picture = (inside = ''): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><rect width="60" height="20" fill="#fff"/>${inside}</svg>`;

const said = (text: string, weight = 400): string =>
  picture(`<text x="4" y="15" font-size="13" font-weight="${weight}">${text}</text>`);

test('a picture has two pixels for each of its own, both ways', async () => {
  const png = await pngOf(picture());
  expect(Buffer.from(png).subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
  const header = Buffer.from(png).subarray(16);
  expect([header.readUInt32BE(0), header.readUInt32BE(4)]).toEqual([120, 40]);
});

// The same pixels are the same bytes, so other bytes are other pixels.
test('text is drawn, and bold text otherwise', async () => {
  const [nothing, normal, other, bold] = await Promise.all(
    [picture(), said('inet4'), said('inet6'), said('inet4', 600)].map(pngOf),
  );
  expect(normal).not.toEqual(nothing);
  expect(normal).not.toEqual(other);
  expect(normal).not.toEqual(bold);
});

test('the font has every character of a plot', async () => {
  const missing = [await pngOf(picture()), await pngOf(said('\u4e00'))];
  for (const character of 'azAZ019+−±…–·%#,.:()') {
    const drawn = await pngOf(said(character));
    for (const none of missing) expect(drawn, character).not.toEqual(none);
  }
});

test('the same picture is the same bytes', async () => {
  expect(await pngOf(said('twice'))).toEqual(await pngOf(said('twice')));
});

test('an invalid SVG is refused, and the next picture is drawn', async () => {
  await expect(pngOf('<svg')).rejects.toThrow();
  expect((await pngOf(picture())).length).toBeGreaterThan(0);
});
