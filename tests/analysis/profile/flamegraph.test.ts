import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FlamegraphOptions,
  flamegraph,
  flamegraphScript,
  flamegraphStyle,
} from '../../../src/analysis/profile/flamegraph.ts';
import { type Profile, samplesOf } from '../../../src/analysis/profile/profile.ts';
import { readXml, type XmlElement } from '../../fakes/xml.ts';
import { anyCharacter } from '../../random.ts';

/** Profile of folded stacks; a frame is written as NAME or MODULE`NAME. */
function profileOf(...stacks: string[]): Profile {
  return {
    format: 'folded',
    stacks: stacks.map((line) => {
      const [, path = '', samples] = /^(.*) (\d+)$/.exec(line) ?? [];
      const frames = path.split(';').map((text) => {
        const [name = '', module] = text.split('`').toReversed();
        return module === undefined ? { name } : { name, module };
      });
      return { frames, samples: Number(samples) };
    }),
  };
}

/** A drawn frame; `looks` are its classes. */
type Drawn = {
  name: string;
  about: string;
  looks: string[];
  x: number;
  width: number;
  /** Measured from the top. */
  y: number;
  label: string;
};

const draw = (profile: Profile, options: Partial<FlamegraphOptions> = {}): XmlElement =>
  readXml(flamegraph(profile, { title: 'a title', ...options }));

const allOf = (element: XmlElement): XmlElement[] => [element, ...element.elements.flatMap(allOf)];

const textOf = (element: XmlElement): string =>
  allOf(element)
    .filter(({ name }) => name === 'text')
    .map(({ text }) => text)
    .join('\n');

const flamesIn = (svg: XmlElement): XmlElement[] =>
  allOf(svg).filter(({ attributes }) => attributes.class === 'flames');

/** Rows of the flames, and of the lane below if there is one; from the root up. */
const framesOf = (svg: XmlElement): Drawn[][] => flamesIn(svg).map(({ elements }) => elements.flatMap(framesOfRow));

const framesOfRow = (row: XmlElement): Drawn[] => {
  const drawn = row.elements.filter(({ name }) => name === 'g').map((one) => frameOf(one, row));
  const narrow = row.elements.filter(({ name }) => name === 'metadata');
  const lines = narrow.flatMap(({ text }) => text.split('\n'));
  return [...drawn, ...lines.map((line) => narrowFrameOf(line, row))].toSorted((a, b) => a.x - b.x);
};

/** A frame that the script draws. */
function narrowFrameOf(line: string, row: XmlElement): Drawn {
  const [looks = '', x, width, name = '', about = ''] = line.split('\t');
  const y = topOf(row);
  return { name, about, looks: looks.split(' '), x: Number(x), width: Number(width), y, label: '' };
}

const topOf = ({ attributes }: XmlElement): number => Number(/\(0 (\d+)\)/.exec(attributes.transform ?? '')?.[1]);

function frameOf({ attributes, elements }: XmlElement, row: XmlElement): Drawn {
  const [title, box, label] = elements;
  const [name = '', about = ''] = title?.text.split('\n') ?? [];
  return {
    name,
    about,
    looks: attributes.class?.split(' ') ?? [],
    x: Number(box?.attributes.x),
    width: Number(box?.attributes.width),
    y: topOf(row),
    label: label?.text ?? '',
  };
}

function frame(svg: XmlElement, name: string): Drawn {
  const found = framesOf(svg)
    .flat()
    .find((one) => one.name === name);
  return found ?? expect.fail(`No frame ${name} is drawn.`);
}

/** Width of a picture of 1,200 pixels, without its margins. */
const full = 1180;

/** One element a line, as a page holds it: without the style and the script. */
const drawingOf = (profile: Profile, options: Partial<FlamegraphOptions> = {}): string =>
  `${flamegraph(profile, { title: 'a title', standalone: false, ...options }).replaceAll(/>(?=<)/g, '>\n')}\n`;

test('a profile with kernel, modules, a program, narrow frames and odd names is golden/profile.svg.txt', async () => {
  const profile = profileOf(
    '/boot/kernel/kernel`ip_input;/boot/kernel/pf.ko`pf_test;/boot/kernel/pf.ko`pf_find_state 7000',
    '/boot/kernel/kernel`ip_input;/boot/kernel/ipfw.ko`ipfw_chk 1990',
    '/boot/kernel/kernel`ip_input;/lib/libc.so.7`memcpy 990',
    '/boot/kernel/kernel`ip_input;/boot/kernel/pf.ko`a\tb<&> 4',
    '/boot/kernel/kernel`ip_input;<script>alert("1")</script>;__proto__;a & b]]>\u202e 15',
    `/boot/kernel/kernel\`ip_input;${'long_name'.repeat(30)} 1`,
  );
  await expect(drawingOf(profile, { subtitle: 'of a router' })).toMatchFileSnapshot('golden/profile.svg.txt');
});

test('a difference with more, less, new and gone frames is golden/difference.svg.txt', async () => {
  const base = profileOf('/boot/base/kernel`main;old;deep 100', '/boot/base/kernel`main;same 500', 'main;less 400');
  const patched = profileOf('/boot/patched/kernel`main;new 50', '/boot/patched/kernel`main;same 102', 'main;less 48');
  await expect(drawingOf(patched, { base })).toMatchFileSnapshot('golden/difference.svg.txt');
});

describe('a flamegraph', () => {
  const svg = draw(profileOf('main;read;copy 60', 'main;read 20', 'main;work 20'));

  test('cuts labels to the width of their frames, and leaves out those of a letter or two', () => {
    const labels = draw(profileOf(`main;${'long_name'.repeat(30)} 900`, 'main;short_name 80', 'main;x 20'));
    const found = framesOf(labels)[0]?.slice(2) ?? [];
    for (const { label, width } of found) expect(label.length * 6.6).toBeLessThan(width);
    expect(found.map(({ label }) => label)).toEqual([expect.stringMatching(/^long_name.*…$/), 'short_name', '']);
  });

  test('omits frames too narrow to see, and shows their share', () => {
    const narrow = draw(profileOf('main;f 99990', 'main;a 4', 'main;b;c 6'));
    expect(framesOf(narrow)[0]?.map(({ name }) => name)).toEqual(['all', 'main', 'f']);
    expect(textOf(narrow)).toContain('Too narrow to be drawn: frames with 0.01 % of samples');
    expect(textOf(svg)).not.toContain('Too narrow');
  });

  test('reports that there are no samples', () => {
    expect(textOf(draw(profileOf()))).toContain('No samples.');
    expect(textOf(draw(profileOf('f 0')))).toContain('No samples.');
  });
});

test.each([
  ['kernel', /^kernel$/],
  ['/boot/patched/kernel', /^kernel$/],
  ['[kernel.kallsyms]', /^kernel$/],
  ['[kernel.kallsyms]_text', /^kernel$/],
  ['/boot/modules/pf.ko', /^m\d+$/],
  ['nf_tables', /^m\d+$/],
  ['[nf_tables]', /^m\d+$/],
  ['/lib/modules/6.1/nf.ko.xz', /^m\d+$/],
])('%s has a colour like %s: of a kernel, or of a loadable module', (module, look) => {
  expect(frame(draw(profileOf(`${module}\`f 1`)), 'f').looks[0]).toMatch(look);
});

test.each([
  [500, 'even'],
  [501, 'more1'],
  [504, 'more2'],
  [511, 'more3'],
  [531, 'more4'],
  [601, 'more5'],
  [469, 'less4'],
])('a difference has a colour for 50 %% that become %s ‰', (now, look) => {
  const half = profileOf('f 500', 'g 500');
  expect(frame(draw(profileOf(`f ${now}`, `g ${1000 - now}`), { base: half }), 'f').looks).toEqual([look]);
});

test('an element for a page leaves style and script to the page', () => {
  expect(draw(profileOf('f 1'), { standalone: false }).elements.map(({ name }) => name)).toEqual(['g', 'g']);
  expect(`${flamegraphScript()}${flamegraphStyle()}`).not.toMatch(/<\/|<!--|]]>/);
});

test('text of a profile never becomes markup', () => {
  const parts = fc.constantFrom(
    ...['<script>alert(1)</script>', ']]>', '"><img src=x onerror=alert(1)>', "' onload='alert(1)", '&lt;&#60;'],
    ...['\u001b[31m', '\u202egnp.exe', '\ud800', '\ufffe', '__proto__', 'constructor'],
  );
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.array(parts, { maxLength: 4 }).map((all) => all.join('')),
  );
  const pieces = (svg: XmlElement) =>
    new Set(
      allOf(svg).flatMap(({ name, attributes }) => [name, ...Object.keys(attributes).map((key) => `${name} ${key}`)]),
    );
  const plain = profileOf('kernel`main 1', 'gone 1');
  const known = [...pieces(draw(plain, { subtitle: 's' })), ...pieces(draw(plain, { base: profileOf('main;x 1') }))];
  fc.assert(
    fc.property(hostile, hostile, fc.boolean(), (name, module, compared) => {
      const profile: Profile = { format: 'perf', stacks: [{ frames: [{ name, module }, { name }], samples: 3 }] };
      const options = { title: name, subtitle: module, ...(compared && { base: profile }) };
      expect(known).toEqual(expect.arrayContaining([...pieces(draw(profile, options))]));
    }),
  );
});

describe('by any profile', () => {
  const names = fc.constantFrom('a', 'b', 'c', '__proto__');
  const stacks = fc.array(
    fc.record({
      frames: fc.array(
        names.map((name) => ({ name })),
        { minLength: 1, maxLength: 6 },
      ),
      samples: fc.integer({ min: 1, max: 50 }),
    }),
    { minLength: 1, maxLength: 12 },
  );
  const profiles = stacks.map((all): Profile => ({ format: 'folded', stacks: all }));

  const shareAt = ({ stacks: all }: Profile, path: string[]): number =>
    samplesOf(all.filter(({ frames }) => path.every((name, at) => frames[at]?.name === name))) / samplesOf(all);

  const prefixesOf = (profile: Profile): string[] =>
    profile.stacks.flatMap(({ frames }) =>
      frames.map((_, at) => JSON.stringify(frames.slice(0, at + 1).map(({ name }) => name))),
    );

  /** Returns every frame with the names from the root's callee to it, found by its position. */
  const pathsOf = (frames: Drawn[]) =>
    frames.map((one) => {
      const middle = one.x + one.width / 2;
      const below = frames.filter(({ x, width, y }) => y > one.y && x <= middle && middle <= x + width);
      const callers = below.toSorted((a, b) => b.y - a.y).map(({ name }) => name);
      return { ...one, path: [...callers, one.name].slice(1) };
    });

  test('a frame is as wide as its share of samples, within its caller and beside its siblings', () => {
    fc.assert(
      fc.property(profiles, (profile) => {
        const [frames = []] = framesOf(draw(profile));
        const paths = pathsOf(frames);
        for (const { path, width } of paths) {
          expect(width).toBeCloseTo(shareAt(profile, path) * full, 1);
        }
        const drawn = paths.map(({ path }) => JSON.stringify(path));
        expect(drawn.slice(1).toSorted()).toEqual([...new Set(prefixesOf(profile))].toSorted());
      }),
    );
  });

  test('a difference shows every path of both profiles once', () => {
    fc.assert(
      fc.property(profiles, profiles, (profile, base) => {
        const [flames = [], lane = []] = framesOf(draw(profile, { base }));
        const drawn = [...pathsOf(flames), ...pathsOf(lane)].filter(({ looks }) => !looks.includes('caller'));
        for (const { path, looks, width } of drawn) {
          const [before, now] = [shareAt(base, path), shareAt(profile, path)];
          expect(looks.includes('gone')).toBe(now === 0);
          expect(width).toBeCloseTo((now || before) * full, 1);
        }
        const told = drawn.map(({ path }) => JSON.stringify(path));
        expect(new Set(told).size).toBe(told.length);
        expect(new Set(told)).toEqual(new Set(['[]', ...prefixesOf(profile), ...prefixesOf(base)]));
      }),
    );
  });
});
