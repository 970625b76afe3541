// Lists in pages, like GitHub's.
import type { Answer } from './state.ts';

/** Items of a page, at most 100 (30 by default), and headers whose `Link` leads to the others. */
export function pageOf<T>(items: readonly T[], url: URL): { items: T[] } & Pick<Answer, 'headers'> {
  const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 100);
  const page = Number(url.searchParams.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const links = [
    ...(page > 1 ? [linkTo(url, 'prev', page - 1), linkTo(url, 'first', 1)] : []),
    ...(page < last ? [linkTo(url, 'next', page + 1), linkTo(url, 'last', last)] : []),
  ];
  return {
    items: items.slice((page - 1) * size, page * size),
    ...(links.length > 0 && { headers: { link: links.join(', ') } }),
  };
}

/** A list that is the whole response. */
export function onePage(documents: readonly object[], url: URL): Answer {
  const { items, ...others } = pageOf(documents, url);
  return { status: 200, body: items, ...others };
}

function linkTo(url: URL, relation: string, page: number): string {
  const target = new URL(url);
  target.searchParams.set('page', String(page));
  return `<${target}>; rel="${relation}"`;
}
