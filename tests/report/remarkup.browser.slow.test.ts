// A comment as a phone shows it, in the HTML that Phabricator makes of Remarkup.
import { expect, test } from 'vitest';
import { replyText } from '../../src/relay/relay.ts';
import { renderRemarkup } from '../../src/report/reports.ts';
import { useBrowser } from '../fakes/browser.ts';
import { judgeCell } from '../fakes/cell.ts';
import { anExperiment } from '../fakes/report.ts';
import { aCell, aResult, pairedRuns, revision } from '../fakes/result.ts';
import { describeWith } from '../needs.ts';

const phonePixels = 420;
/** Space on either side of a comment: the margin of its frame, the frame, and its padding. */
const asidePixels = 8 + 1 + 16;

/** The widths of Phabricator's style, in rules of our own. */
const style = `
  body { margin: 0; font: 13px sans-serif }
  .comment { margin: 0 8px; border: 1px solid; padding: 16px; word-break: break-word }
  .wrap { overflow-x: auto }
  table { border-collapse: separate; border-spacing: 1px; word-break: normal }
  th { padding: 4px 6px }
  td { padding: 3px 6px }
  tt { padding: 1px 4px; white-space: pre-wrap }
  ul { margin: 12px 0 12px 30px; padding: 0 }
`;

/** Converts tables, lists and paragraphs, and markup within lines. */
function htmlOf(remarkup: string): string {
  const blocks = remarkup.replace(/^```[\s\S]*?^```$/gm, '').split(/\n\n+/);
  const body = blocks.map((block) => {
    const lines = block.split('\n').map(inline);
    if (block.startsWith('|')) return `<div class="wrap"><table>${rows(lines)}</table></div>`;
    if (block.startsWith('- ')) return `<ul><li>${lines.map((line) => line.slice(2)).join('<li>')}</ul>`;
    return `<p>${lines.join('<br>')}</p>`;
  });
  return `<!doctype html><meta charset="utf-8"><style>${style}</style><div class="comment">${body.join('')}</div>`;
}

function rows([head = '', , ...body]: readonly string[]): string {
  const row = (line: string, tag: string) =>
    `<tr>${line
      .split('|')
      .slice(1, -1)
      .map((text) => `<${tag}>${text.trim()}`)
      .join('')}</tr>`;
  return [row(head, 'th'), ...body.map((line) => row(line, 'td'))].join('');
}

const inline = (line: string): string =>
  line
    .replaceAll('<', '&lt;')
    .replace(/`(.+?)`/g, '<tt>$1</tt>')
    .replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>');

const loss = judgeCell(
  pairedRuns(
    new Array(5).fill([801e3, 805e3, 799e3, 803e3]).flat(),
    new Array(5).fill([721e3, 718e3, 722e3, 719e3]).flat(),
  ).map((run) => ({ ...run, nsPerPacket: 1e9 / run.pps })),
);
const earlier = { ...loss, others: [{ variant: 'diff 80654', comparisons: loss.comparisons }] };
const open = aCell({ kind: 'inconclusive' });
const unlike = aResult({
  patch: revision,
  outcome: { kind: 'judged', verdict: 'regression', cells: [earlier, open] },
});

describeWith(['chromium'], 'on a phone', () => {
  const show = useBrowser();

  test.each([
    ['of an experiment', anExperiment().result],
    ['of a loss, with an earlier diff and CPU time', unlike],
  ])('the tables %s are in sight, with verdict, change and all else', async (_, result) => {
    const { page } = await show('comment.html', htmlOf(renderRemarkup(result)), {
      widthPixels: phonePixels,
    });
    expect(await page.locator('td', { hasText: /regression|improvement/ }).count()).toBeGreaterThan(0);
    const hidden = '[...document.querySelectorAll(".wrap")].map((each) => each.scrollWidth - each.clientWidth)';
    expect(new Set(await page.evaluate<number[]>(hidden))).toEqual(new Set([0]));
  });

  test.each([
    ['help', ''],
    ['mistaken', 'there is no command "rnu"; write @ppsgate run'],
  ] as const)('the reply %s is in sight, with the longest command', async (topic, why) => {
    const { page } = await show('reply.html', htmlOf(replyText(topic, why)), {
      widthPixels: phonePixels,
    });
    expect(await page.locator('li').count()).toBeGreaterThan(5);
    expect(await page.locator('table').count()).toBe(0);
    const widest =
      'Math.max(...[...document.querySelectorAll("li, tt")].map((each) => each.getBoundingClientRect().right))';
    expect(await page.evaluate(widest)).toBeLessThanOrEqual(phonePixels - asidePixels);
  });
});
