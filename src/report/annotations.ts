// What kept a patch from being measured, at the lines that it says are wrong: GitHub shows them among the changes.
import type { Result } from '../words/result.ts';

type Annotation = {
  /** Path in the repository. */
  path: string;
  start_line: number;
  end_line: number;
  annotation_level: 'failure';
  /** Plain text: GitHub gives it no markup. */
  message: string;
};

const mostAnnotations = 20;

/** Made of the lines of compilers, `git apply` and rule parsers, which begin with a file's path and a line's number. */
export function annotationsOf({ outcome }: Pick<Result, 'outcome'>): Annotation[] {
  if (outcome.kind === 'judged') return [];
  return outcome.message
    .split('\n')
    .flatMap((line) => annotation(line) ?? [])
    .slice(0, mostAnnotations);
}

/** `/usr/src/sys/netinet/ip.c:12:3: error: …`, `error: patch failed: sys/netinet/ip.c:12`, `pf.conf:3: syntax error`. */
function annotation(line: string): Annotation | undefined {
  const text = line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const [, found = '', digits] =
    /^(?:error: patch failed: )?([\w./+-]{1,300}):(\d{1,7})(?::|$|\s)/.exec(text) ?? [];
  const path = withinTree(found);
  const isPath = /[a-z]/i.test(path) && !path.split('/').includes('..');
  if (digits === undefined || !isPath || !/error/i.test(text)) return undefined;
  const number = Math.max(1, Number(digits));
  return {
    path,
    start_line: number,
    end_line: number,
    annotation_level: 'failure',
    // The cut may go through a surrogate pair.
    message: text.slice(0, 1000).replace(/\p{Cs}/gu, ''),
  };
}

/** A builder's tree lies anywhere; FreeBSD's kernel sources lie in `sys/` of it. */
function withinTree(path: string): string {
  const kernel = /(?:^|\/)(sys\/.+)$/.exec(path)?.[1];
  return (kernel ?? path.replace(/^\/+/, '')).replace(/^(?:\.\/)+/, '');
}
