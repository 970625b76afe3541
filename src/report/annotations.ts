// Finds the source lines that prevented a measurement, for GitHub annotations.

import { posix } from 'node:path';
import type { Result } from '../model/result.ts';

type Annotation = {
  path: string;
  start_line: number;
  end_line: number;
  annotation_level: 'failure';
  /** Plain text: GitHub does not render markup here. */
  message: string;
};

const maxAnnotations = 20;

/** Parses output of compilers, `git apply` and rule parsers with a path and a line number. */
export function annotationsOf({ outcome, variants }: Pick<Result, 'outcome' | 'variants'>): Annotation[] {
  if (!('message' in outcome)) return [];
  const patched = variants.find(({ name }) => name === 'patched');
  return outcome.message
    .split('\n')
    .flatMap((line) => annotation(line, patched) ?? [])
    .slice(0, maxAnnotations);
}

type Patched = Result['variants'][number] | undefined;

/**
 * Matches `/usr/src/sys/netinet/ip.c:12:3: error: …`, `error: patch failed: sys/netinet/ip.c:12`, `nftables.conf:3:1:
 * Error: …`.
 */
function annotation(line: string, patched: Patched): Annotation | undefined {
  const text = line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const [, ofGit, found = '', digits] =
    /^(error: patch failed: )?([\w./+-]{1,300}):(\d{1,7})(?::|$|\s)/.exec(text) ?? [];
  if (digits === undefined || !/error/i.test(text)) return undefined;
  const path = ofGit === undefined ? pathOf(found, patched) : found;
  if (path === undefined || !isPlain(path)) return undefined;
  const number = Math.max(1, Number(digits));
  return {
    path,
    start_line: number,
    end_line: number,
    annotation_level: 'failure',
    // The cut may split a surrogate pair.
    message: text.slice(0, 1000).replace(/\p{Cs}/gu, ''),
  };
}

/** Returns undefined outside the repository: GitHub would not show the annotation. */
function pathOf(found: string, patched: Patched): string | undefined {
  const file = patched?.files.find(({ path }) => path === found);
  if (file?.source !== undefined) return file.source;
  if (patched?.folder === undefined) return kernelPath(found);
  return file && [patched.folder, file.path].filter(Boolean).join('/');
}

/**
 * Kernel sources are in `sys/` of a builder's tree, anywhere on disk; modules name them relative to their own folder.
 * Build products are in folders like `obj/usr/src/amd64.amd64/sys/GENERIC`; if that is `sys/amd64/compile/GENERIC`,
 * `../../..` is `sys`.
 */
function kernelPath(found: string): string | undefined {
  const [, before = '', source] = /^(|.*?\/)(sys\/.+)$/.exec(found.replace(/^(?:\.\.\/){3}(?!\.\.\/)/, 'sys/')) ?? [];
  if (source === undefined || objectFolder.test(before)) return undefined;
  const path = posix.normalize(source);
  return path.startsWith('sys/') ? path : undefined;
}

const objectFolder = /(?:^|\/)(?:obj\/|(?:amd64|arm|arm64|i386|powerpc|riscv)\.\w+\/$)/;

/** Accepts plain paths only: a patch can make a compiler print anything, and a job may forge its result. */
const isPlain = (path: string): boolean =>
  path.length <= 500 &&
  /^(?:[^\p{C}/\\]+\/)*[^\p{C}/\\]+$/u.test(path) &&
  path.split('/').every((part) => /[^.]/.test(part));
