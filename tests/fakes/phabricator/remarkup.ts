// remarkup.process: HTML for the elements of ppsgate's comments.
import { asList, type Call, ConduitError, isText, type Methods } from './conduit.ts';
import { dataUriOf, pngSizeOf } from './files.ts';
import { type Block, blocksOf, replaced } from './remarkup-rules.ts';
import { maySee } from './state.ts';

export const remarkupMethods: Methods = {
  'remarkup.process': {
    params: ['context', 'contents'],
    run: (call) => {
      const { context, contents } = call.params;
      if (!isText(context) || !contexts.includes(context)) {
        throw new ConduitError('ERR-INVALID-ENGINE', 'Invalid markup engine.');
      }
      return (asList(contents) ?? []).map((text) => ({
        content: blocksOf(isText(text) ? text : '')
          .map((block) => blockHtml(block, call))
          .join('\n\n'),
      }));
    },
  },
};

const contexts = ['phriction', 'maniphest', 'differential', 'phame', 'feed', 'diffusion'];

function blockHtml(block: Block, call: Call): string {
  switch (block.kind) {
    case 'code':
      return codeHtml(block.text, block.options);
    case 'table': {
      const rows = block.rows.map((row, index) => {
        const tag = block.hasHead && index === 0 ? 'th' : 'td';
        return `<tr>${row.map((text) => `<${tag}>${inline(text, call)}</${tag}>`).join('')}</tr>\n`;
      });
      return `<div class="remarkup-table-wrap"><table class="remarkup-table">\n${rows.join('')}</table></div>`;
    }
    case 'list': {
      const items = block.text.split('\n').map((line) => line.replace(/^\s*\S+\s/, ''));
      return `<ul class="remarkup-list">\n${items.map((item) => `<li class="remarkup-list-item">${inline(item, call)}</li>\n`).join('')}</ul>`;
    }
    default:
      return `<p>${inline(block.text.trim(), call).replaceAll('\n', '<br />\n')}</p>`;
  }
}

/** A scroll box is never lower. */
const minLines = 8;

function codeHtml(text: string, { name, lines, lang = 'text' }: Record<string, string>): string {
  const head = name === undefined ? '' : `<div class="remarkup-code-header">${escaped(name)}</div>`;
  const height = Math.max(Number(lines), minLines) * 1.5;
  const style = lines === undefined ? '' : ` style=" max-height: ${height}em; overflow: auto;"`;
  return `<div class="remarkup-code-block" data-code-lang="${lang}" data-sigil="remarkup-code-block">${head}<pre class="remarkup-code"${style}>${escaped(text)}</pre></div>`;
}

function inline(text: string, call: Call): string {
  const tokens: string[] = [];
  const rest = replaced(text, (kind, found) => {
    const html = kind === 'code' ? mono(found) : effectHtml(found, call);
    return `\0${tokens.push(html) - 1}\0`;
  });
  return escaped(rest)
    .replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replace(/\0(\d+)\0/g, (_, index: string) => tokens[Number(index)] ?? '');
}

const mono = (code: string): string => `<tt class="remarkup-monospaced">${escaped(code)}</tt>`;

/** Text that is not a link, a file or a known object stays as written. */
function effectHtml(found: string, call: Call): string {
  const [, url, named] = /^\[\[ *(https?:\S+?) *(?:\| *(.*?) *)?\]\]$/.exec(found) ?? [];
  if (url !== undefined) {
    return `<a href="${escaped(url)}" class="remarkup-link remarkup-link-ext" target="_blank" rel="noreferrer">${escaped(named ?? url)}</a>`;
  }
  const [, embedded, options = ''] = /^\{F(\d+)(?:, *(.*))?\}$/.exec(found) ?? [];
  if (embedded !== undefined) return embedHtml(Number(embedded), options, call) ?? escaped(found);
  const isThere = objectsOf(call).includes(found);
  return isThere ? tag(found) : escaped(found);
}

const objectsOf = ({ state, viewer }: Call): string[] => [
  ...state.files.filter((file) => maySee(file, viewer)).map(({ id }) => `F${id}`),
  ...state.revisions.filter((one) => maySee(one, viewer)).map(({ id }) => `D${id}`),
];

const tag = (name: string): string =>
  `<a href="/${name}" class="phui-tag-view phui-tag-type-object " data-sigil="hovercard" data-meta="0_0"><span class="phui-tag-core phui-tag-color-object">${name}</span></a>`;

/** An image in full size; for any other file, the note that it is not an image. */
function embedHtml(id: number, options: string, { state, viewer }: Call): string | undefined {
  const file = state.files.find((one) => one.id === id && maySee(one, viewer));
  if (file === undefined) return undefined;
  const size = pngSizeOf(file);
  if (size === undefined) return `<div class="phabricator-remarkup-embed-layout-link ">${file.name}</div>`;
  const { alt = '' } = Object.fromEntries(options.split(/, */).map((pair) => pair.split('=')));
  const uri = dataUriOf(file, state);
  return `<div class="phabricator-remarkup-embed-layout-left"><a href="${uri}" class="phabricator-remarkup-embed-image-full" data-sigil="lightboxable" data-meta="0_0"><img src="${uri}" height="${size.height}" width="${size.width}" loading="lazy" alt="${escaped(alt)}" /></a></div>`;
}

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#039;');
