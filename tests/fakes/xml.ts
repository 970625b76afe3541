// Parses XML as strictly as a browser does a file: only XML's five entities, every element closed in order.

import fc from 'fast-check';
import { anyCharacter } from '../random.ts';

export type XmlElement = {
  name: string;
  attributes: Record<string, string>;
  elements: XmlElement[];
  /** Text of the element itself, excluding its child elements. */
  text: string;
};

/** The document's element. Throws if it is not well-formed. */
export function readXml(xml: string): XmlElement {
  const stranger = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(xml);
  if (stranger) throw new Error(`XML has no place for what is at ${stranger.index}`);
  const document: XmlElement = { name: '', attributes: {}, elements: [], text: '' };
  const open = [document];
  for (let at = 0; at < xml.length; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(xml)?.groups;
    const parent = open.at(-1);
    if (!found || !parent) throw new Error(`not well-formed: ${xml.slice(at, at + 100)}`);
    parent.text += found.cdata ?? unescaped(found.text ?? '');
    if (found.end !== undefined && open.pop()?.name !== found.end) {
      throw new Error(`</${found.end}> closes what is not open`);
    }
    if (found.name === undefined) continue;
    const element = elementOf(found.name, found.attributes ?? '');
    parent.elements.push(element);
    if (found.empty === undefined) open.push(element);
  }
  const [root, ...more] = document.elements;
  if (!root || more.length > 0 || open.length > 1) throw new Error('not one element');
  return root;
}

const reference = '&(?:amp|lt|gt|quot|apos|#39);';
const token = new RegExp(
  [
    `<(?<name>[a-zA-Z-]+)(?<attributes>(?: [\\w:-]+="(?:[^<&"]|${reference})*")*)(?<empty>/)?>`,
    '</(?<end>[a-zA-Z-]+)>',
    '<!\\[CDATA\\[(?<cdata>(?:(?!\\]\\]>)[^])*)\\]\\]>',
    `(?<text>(?:(?!\\]\\]>)[^<&]|${reference})+)`,
  ].join('|'),
  'y',
);

function elementOf(name: string, written: string): XmlElement {
  const pairs = [...written.matchAll(/ ([\w:-]+)="([^"]*)"/g)];
  const names = pairs.map(([, key = '']) => key);
  if (new Set(names).size < names.length) throw new Error(`<${name}> has an attribute twice`);
  const attributes = pairs.map(([, key = '', value = '']) => [key, unescaped(value)]);
  return { name, attributes: Object.fromEntries(attributes), elements: [], text: '' };
}

const characters: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#39;': "'",
};

const unescaped = (text: string): string => text.replace(/&[^;]+;/g, (one) => characters[one] ?? one);

/** Foreign text that would end or begin an element, or is forbidden in XML. */
export const hostileToXml = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.constantFrom('</text><script>', '"/><image href="x"/>', ']]>', '&lt;&#0;', '\ufffe', '\ud83d'),
);
