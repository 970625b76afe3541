// Names the variants of an experiment in reports and paths.

/** Base and patched, of which a verdict is given; all others are shown beside them. */
export const isJudged = (variant: string): boolean => variant === 'base' || variant === 'patched';

/** Name of an earlier diff of a revision: `diff 80345`. */
export const diffName = (diff: number): string => `diff ${diff}`;

/** Name of a variant's kernel where it was linked several times; see `Run`. */
export const layoutName = (variant: string, layout: number | undefined): string =>
  layout === undefined ? variant : `${variant} layout ${layout}`;

/** As a part of a path, or of the name of a boot environment: `diff-80345`. */
export const pathName = (variant: string): string => variant.replaceAll(' ', '-');
