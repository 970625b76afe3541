import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BisectResult } from '../../src/model/bisect-result.ts';
import { remarkupAlt, remarkupBlock, remarkupCell, remarkupText } from '../../src/model/remarkup.ts';
import type { CellResult, Result } from '../../src/model/result.ts';
import { renderRemarkup, renderRemarkupFailure } from '../../src/report/reports.ts';
import { anyBisect } from '../fakes/any-bisect.ts';
import { anyResult, loss } from '../fakes/any-result.ts';
import {
  type Block,
  blocksOf,
  type Effect,
  effectsOf,
  inlineOf,
  tablesOf,
  textsOf,
} from '../fakes/phabricator/remarkup-rules.ts';
import { aCell, judged, revision } from '../fakes/result.ts';
import { describeWith, sharedFolder } from '../needs.ts';
import { anyCharacter, times } from '../random.ts';

const links = {
  image: 'F123',
  details: 'https://ci.example/job/1',
  history: 'https://ci.example/history',
  rerun: '@ppsgate rerun',
};

const noTraffic: CellResult = {
  ...aCell({ kind: 'invalid', reason: '0 of 8 pairs of runs count: no traffic' }),
  comparisons: [],
};

test('what came to no result, as its reader sees it', async () => {
  const heading = { symbol: '⚪', text: 'not measured: the request cannot be carried out' };
  const message = 'D7 names no base: tell it with `arc diff`, @alice.';
  await expect(renderRemarkupFailure({ ...heading, message }, links)).toMatchFileSnapshot('golden/failure.remarkup');
});

test('without an image there is no place for one', () => {
  expect(renderRemarkup(judged([loss], { patch: revision }))).not.toContain('{');
});

test('of many invalid cells the first reasons are shown, and the rest is counted', () => {
  const text = renderRemarkup(judged(new Array<CellResult>(30).fill(noTraffic)));
  expect(text.match(/ is invalid: /g)).toHaveLength(20);
  expect(text).toContain('- 10 more cells are invalid\n');
});

test('drops ministat first if not all fits, with a note', () => {
  const text = renderRemarkup(judged(new Array<CellResult>(100).fill(loss)), links);
  const names = blocksOf(text).flatMap((block) => (block.kind === 'code' ? [block.options.name ?? ''] : []));
  expect(names).toEqual(['runs', 'environment', 'statistics']);
  const shown = text.match(/^ministat: /gm)?.length ?? 0;
  expect(shown).toBeGreaterThan(10);
  expect(text).toContain(`\n\n${100 - shown} more parts are in the full report`);
  expect(text.trimEnd()).toMatch(/history \]\]$/);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100_000);
});

describe('text within a line', () => {
  test.for([
    ['plain words', 'plain words', '`plain words`'],
    ['a mention', 'ping @alice', '`ping @alice`'],
    ['a backtick', 'a `b` c', "`a 'b' c`"],
    ['line breaks', 'a\n\n= b\r\n\tc', '`a = b c`'],
    ['colours of a terminal', '\u001b[31mred\u001b[0m', '`red`'],
    ['what is replaced even in code', '\x24{{{strings.platform}}}', '`$ {{{strings.platform}}}`'],
    ['nothing to see', ' \n\u200b', ''],
  ] as const)('with %s', ([, text, shown]) => {
    expect(remarkupText(text)).toBe(shown);
  });

  test('is cut to the requested length', () => {
    expect(remarkupText('abcdefgh', 5)).toBe('`abcd…`');
  });

  test('in a table has nothing that ends its column or hides the end of one', () => {
    expect(remarkupCell('a | [[ b ]] | [[[c')).toBe('`a ¦ [ [ b ]] ¦ [ [ [c`');
  });
});

describe('the text of an image', () => {
  test.for([
    ['a commit', 'c10f270148b9 costs 34 ± 2 %', 'c10f27 0148b9 costs 34 ± 2 %'],
    ['a revision', 'D24, rSRC12', 'D 24; r SRC 12'],
    ['what ends it', 'a} {b, c=d "e" \\', 'a b; c d e'],
    ['links and mentions', '[[ https://x.example ]] @alice #tag', 'https x.example alice tag'],
  ] as const)('with %s names no object', ([, text, shown]) => {
    expect(remarkupAlt(text)).toBe(shown);
  });

  test('shows the image for any text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const image = `{F123, size=full, alt=${remarkupAlt(text)}}`;
        expect(effectsOf(image)).toEqual([{ kind: 'object', text: image }]);
      }),
      { numRuns: times(200) },
    );
  });
});

describe('a block', () => {
  test('has its options before anything that looks like some', () => {
    expect(remarkupBlock('ministat: a, b=c', 'lang=c\nx ```\n', 7)).toBe(
      "```lang=text, name=ministat a bc, lines=7\nlang=c\nx '''\n```",
    );
  });

  test('leaves out the middle of a long text', () => {
    const block = remarkupBlock('log', 'a'.repeat(10_000));
    expect(block).toContain('… 4000 characters left out …');
    expect(block.length).toBeLessThan(6200);
  });
});

/** A comment without the text of its code. */
const skeleton = (remarkup: string): unknown =>
  blocksOf(remarkup).map((block) => {
    if (block.kind === 'code') return { ...block.options, name: 'name' in block.options };
    if (block.kind === 'table') return block.rows.map((row) => row.map((text) => inlineOf(text).rest));
    return { kind: block.kind, rest: inlineOf(block.text).rest };
  });

const recorded = 'shared/phabricator/remarkup-rendered.json';

describeWith([recorded], 'the model of Remarkup agrees with Phabricator', () => {
  const pairsSchema = z.record(z.string(), z.object({ remarkup: z.string(), html: z.string() }));
  const pairs = () =>
    Object.entries(
      pairsSchema.parse(JSON.parse(readFileSync(sharedFolder('phabricator/remarkup-rendered.json'), 'utf8'))),
    );

  const entities = { lt: '<', gt: '>', quot: '"', '#039': "'", amp: '&' };
  const textOf = (html: string) =>
    html
      .replace(/<[^>]*>/g, '')
      .replace(/&(lt|gt|quot|#039|amp);/g, (_, name: keyof typeof entities) => entities[name]);
  const all = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map(([, inside = '']) => textOf(inside));

  test('on code', () => {
    for (const [name, { remarkup, html }] of pairs()) {
      const blocks = blocksOf(remarkup);
      const ofBlocks = blocks.flatMap((block) => (block.kind === 'code' ? block.text : []));
      expect(ofBlocks, name).toEqual(all(html, /<pre class="remarkup-code[^>]*>(.*?)<\/pre>/gs));
      const inLines = textsOf(blocks).flatMap((text) => inlineOf(text).code);
      expect(inLines, name).toEqual(all(html, /<tt class="remarkup-monospaced">(.*?)<\/tt>/gs));
      const names = blocks.flatMap((block) => (block.kind === 'code' ? (block.options.name ?? []) : []));
      expect(names, name).toEqual(all(html, /<div class="remarkup-code-header">(.*?)<\/div>/gs));
    }
  });

  test('on tables', () => {
    for (const [name, { remarkup, html }] of pairs()) {
      const rows = all(html.replace(/<\/?t[dh]>/g, '|'), /<tr>(.+?)<\/tr>/gs);
      const modelled = tablesOf(remarkup).flat();
      expect(
        modelled.map((row) => row.length),
        name,
      ).toEqual(rows.map((row) => row.split('||').length));
      const heads = blocksOf(remarkup).flatMap((block) => (block.kind === 'table' ? block.hasHead : []));
      expect(heads.some(Boolean), name).toBe(html.includes('<th>'));
    }
  });

  test('on what takes effect, or sees more', () => {
    for (const [name, { remarkup, html }] of pairs()) {
      const seen = effectsOf(remarkup);
      const effectCount = (kind: Effect['kind']) => seen.filter((one) => one.kind === kind).length;
      const inHtml = (pattern: RegExp) => html.match(pattern)?.length ?? 0;
      const mentions = inHtml(/phui-tag-type-person/g);
      const cards = inHtml(/data-sigil="hovercard"/g);
      const files = inHtml(/class="phabricator-remarkup-embed-layout-(?:left|inline|link)/g);
      const boxes = blocksOf(remarkup).map(({ kind }) => kind);
      const blockCount = (kind: Block['kind']) => boxes.filter((one) => one === kind).length;
      expect(effectCount('mention'), name).toBe(mentions);
      expect(effectCount('object'), name).toBeGreaterThanOrEqual(cards - mentions + files);
      expect(effectCount('macro'), name).toBeGreaterThanOrEqual(
        inHtml(/<img id|<kbd>|class="visual-only phui-icon-view phui-font-fa (?!fa-briefcase|fa-file)/g),
      );
      expect(effectCount('link'), name).toBeGreaterThanOrEqual(inHtml(/class="(?:remarkup-link|phriction-link)/g));
      expect(blockCount('note'), name).toBe(inHtml(/<div class="remarkup-(?:note|warning|important)"/g));
      expect(blockCount('header'), name).toBe(inHtml(/class="remarkup-header"/g));
      expect(blockCount('quote'), name).toBe(inHtml(/<blockquote/g));
      expect(blockCount('rule'), name).toBe(inHtml(/<hr/g));
      expect(blockCount('literal'), name).toBe(inHtml(/class="remarkup-literal"/g));
      expect(blockCount('interpreter'), name).toBe(inHtml(/<div class="PhabricatorMonospaced/g));
      expect(blockCount('list') > 0, name).toBe(/<[uo]l /.test(html));
    }
  });
});

/** Texts that have an effect in Remarkup, or could end the code around them. */
const pieces = [
  '`§``§```§````§ ```§```\n§\n```\n§##§%%%§\n%%%\n§**§//§|§||§[[§]]§{§}§\x24{{{§}}}§\\§\'§"§&lt;§<b>',
  '@alice§@bob.§ D1 § T2, §{F3}§{D4}§{P5§rSRC§rSRC830dce812dee§#network§abcdef0123§[[ x | y ]]',
  'https://x.example/§<https://x.example>§[x](https://x.example)§{icon check}§{image https://x.example}',
  '\x24{{{strings.platform.server.name}}}§cowsay{{{x}}}§lang=c§, counterexample§name=x, lines=1',
  '\n| a | b |\n§| --- |§\nNOTE: x§\n> x§\n= x =\n§\n---\n§\n- x§<table>\n<tr><td>§</table>',
  '\n§\r\n§\r§\n\n§\t§\v§ §    §\0§\u0001§\u0085§\u00a0§\u200b§\u2028§\u202e§\ud83d§🚦§é',
].flatMap((several) => several.split('§'));

/** Text of an attacker who knows Remarkup. */
const hostileText = fc
  .array(
    fc.oneof(
      { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 10 }) },
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => `x${parts.join('')}`);

/** Names of rules that the schema allows. */
const hostileName = fc.constantFrom(...'D1 T2 rSRC abcdef0 a__b__c x-y F1.png r--x'.split(' '));

/** Foreign text, recognizable in every place. */
const marked = hostileText.map((text) => `ZQX${text}`);

/** A result with texts in every place that a revision has. */
const anyRevision = (text: fc.Arbitrary<string>): fc.Arbitrary<Result> =>
  fc.tuple(anyResult(text, hostileName), text).map(([result, own]) => ({
    ...result,
    patch: { ...revision, title: own, author: own, missingBase: own, notes: [own, own] },
    leftOut: [{ variant: own, rejection: { kind: 'boot-failed', message: own, panic: own } }],
  }));

const ours: Effect[] = [
  { kind: 'link', text: '[[ https://ci.example/job/1 | details ]]' },
  { kind: 'link', text: '[[ https://ci.example/history | history ]]' },
];

const isPicture = ({ text }: Effect): boolean => /^\{F123, size=full, alt=[^{}[\]@#]*\}$/.test(text);

/** Throws where a foreign text is outside of code, has an effect, or begins a block or a column. */
function expectHarmlessRemarkup(remarkup: string): void {
  const effects = effectsOf(remarkup);
  // Our numbers may look like the beginning of a commit's id; a foreign one has its mark.
  expect(effects.filter((one) => !isPicture(one) && !/^\d+$/.test(one.text))).toEqual(ours);
  expect(effects.filter(isPicture).length).toBeLessThanOrEqual(1);
  expect(JSON.stringify(skeleton(remarkup.replace(/^\{F123, .*\}$/m, '')))).not.toContain('ZQX');
  const kinds = new Set(blocksOf(remarkup).map(({ kind }) => kind));
  expect(kinds.difference(new Set(['text', 'list', 'code', 'table']))).toEqual(new Set());
  for (const rows of tablesOf(remarkup)) expect(new Set(rows.map((row) => row.length)).size).toBe(1);
  expect(remarkup).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/u);
}

describe('no text of others gets out of code', () => {
  test.each<[string, fc.Arbitrary<Result | BisectResult>]>([
    ['a gate', anyRevision(marked)],
    ['a bisection', anyBisect(marked)],
  ])('in the report of %s', (_, results) => {
    fc.assert(
      fc.property(results, (result) => expectHarmlessRemarkup(renderRemarkup(result, links))),
      { numRuns: times(100) },
    );
  });

  test('in that of a failure, including its title', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (text, message) => {
        const remarkup = renderRemarkupFailure({ symbol: '⚪', text, message }, links);
        expect(effectsOf(remarkup)).toEqual(ours);
        expect(blocksOf(remarkup).map(({ kind }) => kind)).toEqual(['text', 'code', 'text']);
      }),
      { numRuns: times(100) },
    );
  });

  test('the report is never longer than 100 kB, however long they are', () => {
    const long = fc
      .tuple(fc.constantFrom('`', '|', '\u4e2d', '🚦', '\n', 'a b '), fc.integer({ min: 1, max: 9_000 }))
      .map(([part, count]) => part.repeat(count));
    fc.assert(
      fc.property(anyRevision(long), (result) => {
        expect(Buffer.byteLength(renderRemarkup(result, links))).toBeLessThanOrEqual(100_000);
      }),
      { numRuns: times(20) },
    );
  });
});
